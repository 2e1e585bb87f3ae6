"""padding inert: neither what stands in the padding nor how much there is of it changes a result."""

import torch

from regard.blocks.memory import Memory
from regard.checkpoint import Run
from regard.shapes import Tensor
from regard.systems import System
from regard.verify.check import Finding, of_each, unpadded
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    model, found = run.model, Finding(inputs.lengths)
    short, room = shorter(inputs)
    pad, word = run.tokenizer.pad, inputs.texts[0][-1]
    ways = {"at once": at_once, "into a cache": into_cache} if model.writes_text else {"at once": answered}
    for how, read in ways.items():
        plain = read(model, short, pad, 0)
        found.compare_rows(read(model, short, word, 0), plain, f"read {how}, padded with a word")
        found.compare_rows(read(model, short, pad, room), plain, f"read {how}, {room} more of padding")
    return found


def shorter(inputs: Inputs) -> tuple[Inputs, int]:
    """All rows but the longest text and the longest source, and by how much the rest may be widened."""
    columns = [inputs.texts] if inputs.sources is None else [inputs.texts, inputs.sources]
    lengths = [[len(row) for row in column] for column in columns]
    longest = {each.index(max(each)) for each in lengths}
    kept = [i for i in range(len(inputs.texts)) if i not in longest]
    room = min(max(each) - max(each[i] for i in kept) for each in lengths)
    return inputs.some(kept), room


def at_once(model: System, inputs: Inputs, filler: int, more: int) -> list[Tensor]:
    tokens, _ = padded(model, inputs.texts, filler, more)
    return unpadded(model.decode(tokens, encoded(model, inputs, filler, more)), inputs)


def answered(model: System, inputs: Inputs, filler: int, more: int) -> list[Tensor]:
    tokens, present = padded(model, inputs.texts, filler, more)
    return of_each(model, model.answer(tokens, inputs.places(tokens, present)), inputs)


def into_cache(model: System, inputs: Inputs, filler: int, more: int) -> list[Tensor]:
    """As prompts are read: each row but for its last token, which follows by itself."""
    tokens, present = padded(model, [text[:-1] for text in inputs.texts], filler, more)
    seen, cache = encoded(model, inputs, filler, more), model.start(len(tokens), tokens.shape[1] + 1)
    first = model.decode(tokens, seen, cache, cache.places(tokens, present))
    last = model.decode(torch.tensor([text[-1:] for text in inputs.texts], device=model.device), seen, cache)
    return [torch.cat([first[i, : len(text) - 1], last[i]]) for i, text in enumerate(inputs.texts)]


def encoded(model: System, inputs: Inputs, filler: int, more: int) -> Memory | None:
    return model.encode(*padded(model, inputs.sources, filler, more)) if inputs.sources is not None else None


def padded(model: System, rows: list[list[int]], filler: int, more: int) -> tuple[Tensor, Tensor]:
    """Rows filled up to the longest of them and `more`, and where they really are."""
    width = max(map(len, rows)) + more
    tokens = torch.tensor([row + [filler] * (width - len(row)) for row in rows], device=model.device)
    lengths = torch.tensor([len(row) for row in rows], device=model.device)
    return tokens, torch.arange(width, device=model.device) < lengths[:, None]
