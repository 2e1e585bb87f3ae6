"""A run beside its graphs: the same texts, written with the cache, and the same numbers."""

from collections.abc import Iterator
from pathlib import Path

import torch

from regard.checkpoint import Run
from regard.interop.checking import Comparison, farthest
from regard.interop.onnx.session import Session, table
from regard.interop.samples import cut_alike, same_greedily, samples, written, written_most
from regard.place import Place
from regard.shapes import Tensor


@torch.inference_mode()
def compare(run: Run, folder: Path) -> Comparison:
    """Both read the same texts, together."""
    there, texts = Session(folder), samples(run)
    difference, tolerance = farthest(numbers(run, there, texts))
    same = same_texts(run, there, texts) if run.model.writes_text else None
    return Comparison(cut_alike(run, folder), same, difference, tolerance)


def same_texts(run: Run, there: Session, texts: list[list[int]]) -> bool:
    mine = [row[0].tokens for row in written(run, texts, most=written_most(run))]
    found = there.write(texts, written_most(run))
    return all(same_greedily(run, *each) for each in zip(texts, mine, found, strict=True))


def numbers(run: Run, there: Session, texts: list[list[int]]) -> Iterator[tuple[Tensor, Tensor]]:
    """What both say of the texts: scores of what follows, in two calls of which the second has a past; or answers."""
    if not run.model.writes_text:
        yield from answers(run, there, texts)
        return
    symbols = run.tokenizer
    source = there.read([[*ids, symbols.end] for ids in texts]) if run.model.reads_source else {}
    tokens, present = table([[symbols.start, *ids] for ids in texts])
    half = max(1, tokens.shape[1] // 2)
    first, past = there.step(tokens[:, :half], present[:, :half], there.empty(len(texts)), source)
    parts = [first]
    if half < tokens.shape[1]:
        parts.append(there.step(tokens[:, half:], present[:, half:], past, source)[0])
    memory = None
    if source:
        memory = run.model.encode(*map(torch.from_numpy, table([[*ids, symbols.end] for ids in texts])))
    mine, shown = run.model.decode(torch.from_numpy(tokens), memory), torch.from_numpy(present)
    yield mine[shown], torch.cat([torch.from_numpy(part) for part in parts], 1)[shown]


def answers(run: Run, there: Session, texts: list[list[int]]) -> Iterator[tuple[Tensor, Tensor]]:
    symbols, found = run.tokenizer, there.answer(texts)
    tokens, present = map(torch.from_numpy, table([[symbols.start, *ids, symbols.end] for ids in texts]))
    at = Place.line(tokens, present)
    yield run.model.embed(tokens, at)[present], torch.from_numpy(found["vectors"])[present]
    if "answer" in found:
        mine, wanted = run.model.answer(tokens, at), torch.from_numpy(found["answer"])
        yield (mine, wanted) if run.model.answers == "labels" else (mine[present], wanted[present])
