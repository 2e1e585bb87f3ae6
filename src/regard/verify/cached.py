"""cached = full: a text fed to a cache, however it is cut, gives the logits of the text read at once."""

from itertools import pairwise

import torch

from regard.checkpoint import Run
from regard.decode import score
from regard.decode.beam import beam_search
from regard.decode.session import Session, table
from regard.decode.settings import Decode
from regard.shapes import Tensor
from regard.systems import System
from regard.verify.check import Finding, memory, needs_text, read, unpadded
from regard.verify.inputs import Inputs
from regard.verify.texts import MOST


def check(run: Run, inputs: Inputs) -> Finding:
    needs_text(run)
    model, found = run.model, Finding(inputs.lengths)
    full = read(model, inputs)
    longest = max(map(len, inputs.texts))
    for how, cuts in {
        "at once": [0, longest],
        "token by token": list(range(longest + 1)),
        "in uneven pieces": sorted({0, 1, longest // 3, longest // 3 + 1, 3 * longest // 4, longest}),
    }.items():
        found.compare_rows(in_pieces(model, inputs, cuts), full, how)
    for row, logits in enumerate(after_prompts(model, inputs)):
        found.compare(logits, full[row][: len(logits)], f"after prompts of different lengths: row {row}", along="token")
    reordered_and_cut(model, inputs, full, found)
    in_a_beam(run, inputs, found)
    return found


def in_pieces(model: System, inputs: Inputs, cuts: list[int]) -> list[Tensor]:
    """Every row cut at the same places."""
    tokens, _ = table(inputs.texts, model.device)
    seen, cache = memory(model, inputs), model.start(len(tokens), tokens.shape[1])
    return unpadded(torch.cat([model.decode(tokens[:, a:b], seen, cache) for a, b in pairwise(cuts)], 1), inputs)


def after_prompts(model: System, inputs: Inputs) -> list[Tensor]:
    """The first half of each row read together, then all rows go on, each from its own end."""
    halves = [len(text) - len(text) // 2 for text in inputs.texts]
    steps = min(len(text) // 2 for text in inputs.texts)
    prompts, present = table([text[:half] for text, half in zip(inputs.texts, halves, strict=True)], model.device)
    seen, cache = memory(model, inputs), model.start(len(prompts), prompts.shape[1] + steps)
    first = model.decode(prompts, seen, cache, cache.places(prompts, present))
    parts = []
    for step in range(steps):
        newest = [[text[half + step]] for text, half in zip(inputs.texts, halves, strict=True)]
        parts.append(model.decode(torch.tensor(newest, device=model.device), seen, cache))
    return [torch.cat([first[i, :half], *(part[i] for part in parts)]) for i, half in enumerate(halves)]


def reordered_and_cut(model: System, inputs: Inputs, full: list[Tensor], found: Finding) -> None:
    """Rows that change places, as in a beam, and then go on from an earlier token."""
    rows, short = [*range(1, len(full)), 0], min(map(len, inputs.texts))
    tokens = torch.tensor([text[:short] for text in inputs.texts], device=model.device)
    seen, cache = memory(model, inputs), model.start(len(full), short)
    model.decode(tokens, seen, cache)
    index = torch.tensor(rows, device=model.device)
    cache.reorder(index)
    cache.trim(short // 2)
    moved = seen.reorder(index) if seen is not None else None
    logits = model.decode(tokens[index, short // 2 :], moved, cache)
    for mine, row in zip(logits, rows, strict=True):
        found.compare(mine, full[row][short // 2 : short], f"reordered and cut back: row {row}", along="token")


def in_a_beam(run: Run, inputs: Inputs, found: Finding) -> None:
    """The probabilities that a beam saw while its rows changed places, against those of its texts read at once.

    No token ends a text here, so that even a model that soon ends goes on long enough.
    """
    halves = [text[: len(text) - len(text) // 2] for text in inputs.texts]
    prompts = halves if inputs.sources is None else [text[:1] for text in inputs.texts]
    limit = run.model.limit
    most = MOST if limit is None else min(MOST, limit - max(map(len, prompts)))
    session = Session(run.model, [list(prompt) for prompt in prompts], room=most, sources=inputs.sources)
    for row, hypotheses in enumerate(beam_search(session, Decode(beam=4), ends=(), most=most)):
        begin = prompts[row][1:]
        sources = [inputs.unended[row]] * len(hypotheses) if inputs.unended is not None else None
        whole = score(run.model, run.tokenizer, [begin + each.tokens for each in hypotheses], sources)
        for each, values in zip(hypotheses, whole, strict=True):
            expected = torch.tensor(values[len(begin) : len(begin) + most])
            found.compare(torch.tensor(each.log_probabilities), expected, f"in a beam: row {row}", along="token")
