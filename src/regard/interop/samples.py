"""The texts that a run and its copy elsewhere must write alike, and when two texts are as good as equal."""

from pathlib import Path

import torch
from tokenizers import Tokenizer as Backend

from regard.checkpoint import Run
from regard.data.prepare import stores
from regard.decode import Hypothesis, generate
from regard.decode.session import Session
from regard.decode.settings import Decode
from regard.train.run import TOKENS

TEXTS = (
    "The chicken didn't cross the road because it was too tired.",
    "The chicken didn't cross the road because it was too wide.",
    "A boy is eating an apple.",
    "Déjà vu: the café's naïve façade cost $1,234.50.",
    "東京 and Zürich",
)
RELATIVE = 1e-4  # what float32 may differ by: this part of the largest number compared
MOST = 32  # tokens that are written for a text
OWN = 8  # lines of the run's own data


def samples(run: Run) -> list[list[int]]:
    """The tokens of fixed texts and of lines from all over the run's held-out data, each with room to go on."""
    found = [run.tokenizer.encode(text) for text in TEXTS]
    for split in ("test", "valid"):
        if (run.path / TOKENS / split).is_dir():
            (lines,) = stores(run.path / TOKENS / split, run.recipe.objective.columns[:1])
            count = min(OWN, len(lines))
            found += [lines[i * len(lines) // count].tolist() for i in range(count)]
            break
    return [ids for ids in (row[: length(run)] for row in found) if ids]


def written_most(run: Run) -> int:
    """How many tokens are written for each of them."""
    return MOST if run.model.limit is None else min(MOST, max(1, run.model.limit // 2))


def length(run: Run) -> int | None:
    """How many tokens each of them may have."""
    return None if run.model.limit is None else max(1, run.model.limit - written_most(run) - 2)


def written(run: Run, texts: list[list[int]], *, most: int, beam: int = 1) -> list[list[Hypothesis]]:
    """What follows each text, or is its translation, best first."""
    settings = Decode(max_tokens=most, beam=beam)
    sources, prompts = (texts, None) if run.model.reads_source else (None, texts)
    return generate(run.model, run.tokenizer, settings, sources=sources, prompts=prompts)


def cut_alike(run: Run, folder: Path) -> bool:
    """The tokenizer beside the model cuts texts into the words of its vocabulary as the run does."""
    backend, lead = Backend.from_file(str(folder / "tokenizer.json")), len(run.tokenizer.lead)
    backend.encode_special_tokens = True
    mine = [run.tokenizer.encode_with_offsets(text).pieces[lead:] for text in TEXTS]
    return mine == [backend.encode(text, add_special_tokens=False).tokens for text in TEXTS]


@torch.inference_mode()
def same_greedily(run: Run, text: list[int], mine: list[int], theirs: list[int]) -> bool:
    """Whether two texts are equal, or part where the run finds both tokens equally likely: rounding decides there."""
    if mine == theirs:
        return True
    end, reads = run.tokenizer.end, run.model.reads_source
    ended = [*mine, end], [*theirs, end]
    at = next(i for i, (a, b) in enumerate(zip(*ended, strict=False)) if a != b)
    begun = run.tokenizer.begun([] if reads else text) + mine[:at]
    sources, never = [[*text, end]] if reads else None, run.tokenizer.habits.never
    session = Session(run.model, [begun], room=1, sources=sources, never=never)
    values = session.log_probabilities()[0]
    return near(float(values[ended[0][at]]), float(values[ended[1][at]]))


def near(a: float, b: float) -> bool:
    return abs(a - b) <= RELATIVE * max(1.0, abs(a))
