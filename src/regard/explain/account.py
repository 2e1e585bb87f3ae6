"""A trace in a few short tables, for a reader at a terminal: what was said, what each head looks at most, how far the
gates were open, which expert counts most, what each output depends on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.explain.trace import Map, Trace
from regard.explain.words import given_words

MOST = 24  # rows of a table
NAMED = 3  # inputs that an output depends on
DIGITS = 3
HEADINGS = {
    "encoder": "Attention of the encoder",
    "decoder": "Attention of the decoder, to itself",
    "cross": "Attention of the decoder, to the source",
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """A table: rows of the same columns."""

    heading: str
    rows: list[Row]


def account(trace: Trace) -> list[Told]:
    """What there is to tell of this model, most read first."""
    found = [said(trace), *(attention(trace, kind) for kind in trace.kinds), gates(trace), experts(trace)]
    return [told for told in (*found, influence(trace)) if told.rows]


def said(trace: Trace) -> Told:
    """The likeliest labels, or the tag of each word, which stands at its first token."""
    chances = np.exp(trace.log_probability)
    if trace.labels:
        best = np.argsort(-chances, kind="stable")
        return limited("Label", [{"label": trace.labels[i], "probability": short(chances[i])} for i in best])
    begins = tagged(trace) if trace.tags else []
    rows = [{"word": word, "tag": trace.tags[i], "probability": short(chances[i])} for i, word in begins]
    return limited("Tags", rows)


def tagged(trace: Trace) -> list[tuple[int, str]]:
    """The token with which each word begins, and the word."""
    return [(word.tokens[0], word.text) for word in given_words(trace.target)]


def attention(trace: Trace, kind: str) -> Told:
    """Each head; where they are many, of each layer the one that looks most at a single token."""
    layers = [[head(trace, each, place) for place in range(len(each.heads))] for each in trace.of(kind)]
    rows = [row for layer in layers for row in layer]
    if len(rows) <= MOST:
        return Told(HEADINGS[kind], rows)
    best = [max(layer, key=lambda row: row["weight"]) for layer in layers]
    return limited(f"{HEADINGS[kind]}: of each layer the head with the strongest look", best)


def head(trace: Trace, each: Map, place: int) -> Row:
    """Its strongest look, the one that is furthest above an even one, and what it looks at most on average; who may
    look at one token alone is left out."""
    queries, keys = trace.names(each)
    weights = each.weights[place]
    seen = (each.visible[place] > 0).sum(-1)
    rows = seen > 1 if (seen > 1).any() else seen > 0
    mean = weights[rows].mean(0) if rows.any() else weights.mean(0)
    above = np.where(rows[:, None], weights - 1 / np.maximum(seen, 1)[:, None], -np.inf)
    query, key = np.unravel_index(above.argmax(), above.shape)
    return {
        "layer": each.layer,
        "head": each.heads[place],
        "strongest look": f"{queries[query]} → {keys[key]}",
        "weight": short(weights[query, key]),
        "on average most at": keys[mean.argmax()],
        "mean weight": short(mean.max()),
    }


def gates(trace: Trace) -> Told:
    rows = []
    for each in trace.gates:
        tokens = trace.side(each.side).labels
        for gate, opened in zip(each.gates, each.mean, strict=True):
            where = {"side": each.side, "layer": each.layer, "direction": each.direction or "-", "gate": gate}
            most = {"most open at": tokens[opened.argmax()], "there": short(opened.max())}
            rows.append({**where, "open on average": short(opened.mean()), **most})
    return limited("Gates, from 0 (closed) to 1 (open)", rows)


def experts(trace: Trace) -> Told:
    rows = []
    for each in trace.experts:
        tokens, mean = trace.side(each.side).labels, each.weights.mean(0)
        best = int(mean.argmax())
        top = each.weights[:, best].argmax()
        where = {"side": each.side, "layer": each.layer, "expert": best, "mean weight": short(mean[best])}
        rows.append({**where, "most for": tokens[top], "there": short(each.weights[top, best])})
    return limited("Experts: the one that counts most in each layer", rows)


def influence(trace: Trace) -> Told:
    """What each output depends on most; of a classifier its likeliest label alone, of a tagger the tag of each word."""
    if trace.influence is None:
        return Told("", [])
    found = trace.influence.shares
    parts = [part for part in (found.source, found.target) if part is not None]
    shares = np.concatenate(parts, axis=1)
    sides = [side for side in (trace.source, trace.target) if side is not None]
    inputs = [label for side in sides[-len(parts) :] for label in side.labels]
    rows = [{"output": name, "depends most on": ", ".join(largest(shares[i], inputs))} for i, name in outputs(trace)]
    return limited("Influence: what each output depends on, in shares", rows)


def outputs(trace: Trace) -> list[tuple[int, str]]:
    """What is told of, by its row in the influence, and its name."""
    if trace.tags:
        return tagged(trace)
    if trace.written is None:
        return [(trace.label, trace.labels[trace.label])]
    return list(enumerate(trace.written.labels))


def largest(shares: np.ndarray, names: list[str]) -> Iterator[str]:
    best = np.argsort(-shares, kind="stable")[:NAMED]
    return (f"{names[i]} {shares[i]:.2f}" for i in best if shares[i] > 0)


def limited(heading: str, rows: list[Row]) -> Told:
    """At most so many rows; what is left out is said."""
    more = f", the first {MOST} of {len(rows)}" if len(rows) > MOST else ""
    return Told(heading + more, rows[:MOST])


def short(value: Any) -> float:
    return round(float(value), DIGITS)
