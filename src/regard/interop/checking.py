"""An imported run beside the model it came from, where `transformers` is installed: the same tokens and vectors?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import Run
from regard.decode.session import table
from regard.errors import UserError
from regard.place import Place

TEXTS = (
    "The chicken didn't cross the road because it was too tired.",
    "The chicken didn't cross the road because it was too wide.",
    "A boy is eating an apple.",
    "Déjà vu: the café's naïve façade cost $1,234.50, or <s>so</s>.",
    "東京 and Zürich",
)
RELATIVE = 1e-4  # what float32 may differ by: this part of the largest number compared


@dataclass(frozen=True)
class Comparison:
    """Whether all texts are cut alike, the largest difference between two numbers, and the one that is allowed."""

    same_tokens: bool
    difference: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return self.same_tokens and self.difference <= self.tolerance


@torch.inference_mode()
def compare(run: Run, source: Path | str) -> Comparison:
    """The vectors of a few texts, read together, in both. Nothing is downloaded, and no code of the folder is run."""
    theirs = library()
    cutter = theirs.BertTokenizer.from_pretrained(source, local_files_only=True)
    model = theirs.BertModel.from_pretrained(source, local_files_only=True).float().eval()
    limit, ends = run.model.context, (run.tokenizer.start, run.tokenizer.end)
    rows = [[ends[0], *run.tokenizer.encode(text)[: limit - 2], ends[1]] for text in TEXTS]
    same = rows == cutter(list(TEXTS), truncation=True, max_length=limit)["input_ids"]
    tokens, present = table(rows, run.model.device)
    there = present if present is not None else torch.ones_like(tokens, dtype=torch.bool)
    mine = run.model.embed(tokens, Place.line(tokens, present))[there]
    wanted = model(tokens, attention_mask=there.long()).last_hidden_state[there]
    return Comparison(same, float((mine - wanted).abs().max()), RELATIVE * max(1.0, float(wanted.abs().max())))


def library() -> Any:
    """Theirs, where it is installed."""
    try:
        import transformers
    except ImportError:
        raise UserError("--check compares with the package 'transformers', which is not installed") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers
