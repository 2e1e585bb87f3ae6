"""Some of Python's library in files, for experiments that train several language models on it and read it themselves.

The whole of it takes longer to prepare than a small model takes to train.
"""

from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from regard.checkpoint import Run
from regard.data.corpora import CORPORA
from regard.lab.claims.trial import Trial
from regard.shapes import Float, Int, Tensor

HELD_OUT = 20  # of so many characters of training one for validation, and one for the test


def library(trial: Trial, characters: int) -> tuple[str, ...]:
    """Settings that name files of so many characters; the first of each split's modules are in them."""
    counts = {"train": characters, "valid": characters // HELD_OUT, "test": characters // HELD_OUT}
    for split, count in counts.items():
        text = ""
        for (module,) in CORPORA["stdlib"].make(split):
            text += module
            if len(text) >= count:
                break
        (trial.folder / f"{split}.txt").write_text(text[:count], encoding="utf-8")
    return *(f"data.{split}='{trial.folder / split}.txt'" for split in counts), "data.records=0"


def windows(run: Run, characters: int, *, split: str = "test") -> Int[Tensor, "n t"]:
    """So many of them, from the beginning of a split, in rows as long as the model reads."""
    text = Path(str(getattr(run.recipe.data, split))).read_text(encoding="utf-8")[:characters]
    tokens = torch.tensor(run.tokenizer.encode(text), device=run.model.device)
    length = run.model.context
    return tokens[: len(tokens) // length * length].view(-1, length)


@torch.no_grad()
def nats(run: Run, rows: Int[Tensor, "n t"]) -> Float[Tensor, "n s"]:
    """What each character but the first of a row costs, given those before it."""
    found = []
    for some in rows.split(max(1, 8192 // rows.shape[1])):
        scores = run.model.decode(some[:, :-1])
        found.append(cross_entropy(scores.flatten(0, 1), some[:, 1:].flatten(), reduction="none").view(len(some), -1))
    return torch.cat(found)
