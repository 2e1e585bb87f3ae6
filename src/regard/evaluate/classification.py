"""Scores of a classifier: how often it is right, and what it takes for what."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from regard.decode.session import table
from regard.errors import UserError, suggest
from regard.evaluate.job import Job
from regard.place import Place
from regard.shapes import Float, Tensor
from regard.systems import System
from regard.text import Tokenizer

TOGETHER = 64  # texts read side by side
POLICY = "each text once, between a start and an end symbol; loss in nats per example"


def log_probabilities(
    model: System, tokenizer: Tokenizer, texts: list[list[int]], on_done: Callable[[int], None] = lambda done: None
) -> Float[Tensor, "n labels"]:
    """Of each label, for each text (tokens without start and end symbol)."""
    found = torch.zeros(len(texts), model.labels)
    for number, values in answered(model, tokenizer, texts, on_done):
        found[number] = values
    return found


@torch.inference_mode()
def answered(
    model: System, tokenizer: Tokenizer, texts: list[list[int]], on_done: Callable[[int], None]
) -> Iterator[tuple[int, Float[Tensor, "..."]]]:
    """The number of each text, and the log-probabilities of its labels or, for each of its tokens, of their tags.

    A text stands between its start and end symbol. Texts of like length are read together, with padding at their ends.
    """
    rows = [[tokenizer.start, *ids, tokenizer.end] for ids in texts]
    for row in rows:
        model.fits(len(row), "a text with its start and end")
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    for begin in range(0, len(order), TOGETHER):
        numbers = order[begin : begin + TOGETHER]
        tokens, present = table([rows[i] for i in numbers], model.device)
        values = model.answer(tokens, Place.line(tokens, present)).float().log_softmax(-1).cpu()
        yield from zip(numbers, values, strict=True)
        on_done(begin + len(numbers))


def classified(job: Job) -> dict[str, Any]:
    """The scores of a run on labelled texts."""
    run, source = job.run, job.source
    wanted, texts = [], []
    for number, (text, name) in enumerate(source, 1):
        if name not in run.labels:
            raise UserError(
                f"{source.name}: record {number} has the label '{name}', which the run does not know"
                f"{suggest(name, list(run.labels))}"
            )
        texts.append(text)
        wanted.append(run.labels.index(name))
    encoded = run.tokenizer.encode_batch(texts)
    limit = run.model.limit
    kept = [i for i, ids in enumerate(encoded) if limit is None or len(ids) + 2 <= limit]
    if len(kept) < len(encoded):
        job.say(f"{len(encoded) - len(kept)} of {len(encoded)} texts are longer than {limit} tokens: not measured")
    wanted, encoded = [wanted[i] for i in kept], [encoded[i] for i in kept]
    if not kept:
        raise UserError(f"{source.name}: no text is left that the context of {limit} tokens holds")
    with job.counting(len(encoded), "classified") as on_done:
        values = log_probabilities(run.model, run.tokenizer, encoded, on_done)
    said = values.argmax(-1).tolist()
    job.keep("reference", [run.labels[i] for i in wanted])
    job.keep("hypothesis", [run.labels[i] for i in said])
    return {
        "loss": -float(values[torch.arange(len(wanted)), torch.tensor(wanted)].double().mean()),
        **scores(wanted, said, run.labels),
        "policy": POLICY,
        "examples": len(wanted),
        "unknown": sum(ids.count(run.tokenizer.unknown) for ids in encoded),
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
