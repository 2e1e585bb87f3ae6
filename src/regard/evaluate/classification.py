"""Scores of a classifier: how often it is right, and what it takes for what."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from regard.data.rows import Texts, laid_out, room
from regard.errors import UserError, suggest
from regard.evaluate.job import Job
from regard.longer import way_to_read
from regard.shapes import Float, Tensor
from regard.systems import System
from regard.text import Tokenizer

TOGETHER = 64  # texts read side by side
POLICY = "each text once, between a start and an end symbol; loss in nats per example"


def log_probabilities(
    model: System,
    tokenizer: Tokenizer,
    texts: list[list[int]],
    on_done: Callable[[int], None] = lambda done: None,
    *,
    seconds: list[list[int]] | None = None,
) -> Float[Tensor, "n labels"]:
    """Of each label, for each text (tokens without start and end symbol), or for it and the second one beside it."""
    found = torch.zeros(len(texts), model.labels)
    columns = (texts,) if seconds is None else (texts, seconds)
    for number, values in answered(model, tokenizer, list(zip(*columns, strict=True)), on_done):
        found[number] = values
    return found


@torch.inference_mode()
def answered(
    model: System, tokenizer: Tokenizer, rows: Sequence[Texts], on_done: Callable[[int], None]
) -> Iterator[tuple[int, Float[Tensor, "..."]]]:
    """The number of each row, and the log-probabilities of its labels or, for each of its tokens, of their tags.

    A row has one text or two, between their symbols. Rows of like length are read together, with padding at their ends.
    """
    lengths = [sum(map(len, texts)) + room(len(texts), tokenizer.habits.parted) for texts in rows]
    for texts, length in zip(rows, lengths, strict=True):
        model.fits(length, "a text with its start and end" if len(texts) == 1 else "a pair with its start and ends")
    order = sorted(range(len(rows)), key=lambda i: -lengths[i])
    for begin in range(0, len(order), TOGETHER):
        numbers = order[begin : begin + TOGETHER]
        tokens, at = laid_out([rows[i] for i in numbers], tokenizer)
        at = at.map(lambda field: field.to(model.device))
        values = model.answer(tokens.to(model.device), at).float().log_softmax(-1).cpu()
        yield from zip(numbers, values, strict=True)
        on_done(begin + len(numbers))


def classified(job: Job) -> dict[str, Any]:
    """The scores of a run on labelled texts, or pairs of them."""
    run, source = job.run, job.source
    wanted, records = [], []
    for number, (*texts, name) in enumerate(source, 1):
        if name not in run.labels:
            raise UserError(
                f"{source.name}: record {number} has the label '{name}', which the run does not know"
                f"{suggest(name, list(run.labels))}"
            )
        records.append(texts)
        wanted.append(run.labels.index(name))
    columns = [run.tokenizer.encode_batch(list(column)) for column in zip(*records, strict=True)]
    limit, symbols = run.model.limit, room(len(columns), run.tokenizer.habits.parted)
    sizes = [sum(map(len, row)) + symbols for row in zip(*columns, strict=True)]
    kept = [i for i, size in enumerate(sizes) if limit is None or size <= limit]
    if len(kept) < len(sizes):
        job.say(f"{len(sizes) - len(kept)} of {len(sizes)} texts are longer than {limit} tokens: not measured")
    if not kept:
        raise UserError(
            f"{source.name}: no text is left that the context of {limit} tokens holds; the shortest has {min(sizes)}, "
            f"and {way_to_read(run, max(sizes))}"
        )
    wanted, (first, *others) = [wanted[i] for i in kept], [[column[i] for i in kept] for column in columns]
    with job.counting(len(kept), "classified") as on_done:
        values = log_probabilities(run.model, run.tokenizer, first, on_done, seconds=others[0] if others else None)
    said = values.argmax(-1).tolist()
    job.keep("reference", [run.labels[i] for i in wanted])
    job.keep("hypothesis", [run.labels[i] for i in said])
    return {
        "loss": -float(values[torch.arange(len(wanted)), torch.tensor(wanted)].double().mean()),
        **scores(wanted, said, run.labels),
        "policy": POLICY,
        "examples": len(wanted),
        "unknown": sum(ids.count(run.tokenizer.unknown) for column in (first, *others) for ids in column),
    }


def scores(wanted: Sequence[int], said: Sequence[int], labels: Sequence[str]) -> dict[str, Any]:
    """`accuracy`; `baseline`, what always saying the commonest label would get; `f1`, the mean over the labels that
    are wanted or said; `confusion`, for each label wanted how often each was said."""
    pairs, asked, told = Counter(zip(wanted, said, strict=True)), Counter(wanted), Counter(said)
    right = {i: pairs[i, i] for i in range(len(labels))}
    met = sorted(asked | told)
    return {
        "accuracy": sum(right.values()) / len(wanted),
        "baseline": max(asked.values()) / len(wanted),
        "f1": sum(2 * right[i] / (asked[i] + told[i]) for i in met) / len(met),
        "confusion": {one: {other: pairs[i, j] for j, other in enumerate(labels)} for i, one in enumerate(labels)},
    }
