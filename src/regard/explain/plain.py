"""A trace as plain numbers, lists and strings, for a file or a page.

- `run`, `lacks`: the run's name; in words, what it has nothing of
- `source`, `target`, `written`: texts with `text`, `tokens` and `words`; null where there is none
- `tree`: of a model that looks at trees, else null: each word of the target, its tokens, and the number of the word
  that it hangs on, counted from 0; that of the root is null. `parsed`: whether the run's own parser made it
- `answers`: "text" where one is written, else what is said of the text: "labels", "tags", "words", "vectors"
- `labels`: of a classifier, else empty; `tags`: of a tagger, the likeliest of each token
- `log_probability`: of each written token, of each label, of each tag, or of each token in its place
- `maps`: attention, `weights[head][query][key]`, with its name, kind and layer; a weight of 0 means that the query may
  not look there, one that rounds to 0 is 1e-12; a score of minus infinity is null
- `gates`: of each layer and direction `mean[gate][token]` over its units, and the share of units that are all but
  `closed` (under 0.1) or `open` (over 0.9), with its name, side, layer, direction, cell and the names of its gates;
  the units themselves are in the trace alone
- `experts`: `weights[token][expert]`, 0 where an expert was not chosen, with its name, side and layer
- `influence`: null, or `source[output][token]` and `target[output][token]` as measured, and the `measure` in words

Rows of cross-attention and of influence are named by `written`, those of a classifier's influence by `labels`.
"""

from typing import Any

import numpy as np

from regard.explain.influence import MEASURE, Influence
from regard.explain.sides import Side
from regard.explain.trace import CLOSED, LEAST, OPEN, Gates, Map, Routing, Trace
from regard.explain.tree import hung
from regard.explain.words import words

DIGITS = 6


def to_json(trace: Trace) -> dict[str, Any]:
    """What `json.dumps` takes."""
    return {
        "run": trace.run,
        "lacks": list(trace.lacks),
        "source": side(trace.source) if trace.source is not None else None,
        "target": side(trace.target),
        "written": side(trace.written) if trace.written is not None else None,
        "tree": tree(trace.target) if trace.target.tree is not None else None,
        "parsed": trace.target.parsed,
        "answers": trace.answers,
        "labels": list(trace.labels),
        "tags": list(trace.tags),
        "log_probability": trace.log_probability.astype(float).round(DIGITS).tolist(),
        "maps": [attention(each) for each in trace.maps],
        "gates": [opening(each) for each in trace.gates],
        "experts": [routing(each) for each in trace.experts],
        "influence": dependence(trace.influence) if trace.influence is not None else None,
    }


def side(side: Side) -> dict[str, Any]:
    return {
        "text": side.text,
        "tokens": [
            {
                "id": token.id,
                "piece": token.piece,
                "label": label,
                "offset": list(token.offset) if token.offset else None,
            }
            for token, label in zip(side.tokens, side.labels, strict=True)
        ],
        "words": [{"text": word.text, "tokens": list(word.tokens)} for word in words(side)],
    }


def tree(side: Side) -> list[dict[str, Any]]:
    return [{"text": each.word.text, "tokens": list(each.word.tokens), "head": each.head} for each in hung(side)]


def attention(each: Map) -> dict[str, Any]:
    out = {"name": each.name, "kind": each.kind, "layer": each.layer, "weights": rounded(each.visible).tolist()}
    if each.keys is not None:
        out["keys"] = list(each.keys)
    if each.scores is not None:
        scores = each.scores.astype(float).round(DIGITS).astype(object)
        scores[~np.isfinite(each.scores)] = None
        out["scores"] = scores.tolist()
    return out


def opening(each: Gates) -> dict[str, Any]:
    shares = {"mean": each.mean, "closed": (each.units < CLOSED).mean(-1), "open": (each.units > OPEN).mean(-1)}
    return {
        "name": each.name,
        "side": each.side,
        "layer": each.layer,
        "direction": each.direction,
        "cell": each.cell,
        "gates": list(each.gates),
        **{name: values.astype(float).round(DIGITS).tolist() for name, values in shares.items()},
    }


def routing(each: Routing) -> dict[str, Any]:
    return {"name": each.name, "side": each.side, "layer": each.layer, "weights": rounded(each.weights).tolist()}


def dependence(found: Influence) -> dict[str, Any]:
    """Significant digits are kept, not decimals: the derivative of a sure answer is tiny."""

    def kept(values: np.ndarray) -> list[list[float]]:
        return [[float(f"{value:.{DIGITS}g}") for value in row] for row in values]

    source = kept(found.source) if found.source is not None else None
    return {"measure": MEASURE, "source": source, "target": kept(found.target)}


def rounded(weights: np.ndarray) -> np.ndarray:
    """To six digits with the sum of each row kept: what is cut off goes to those that lost most, one unit each.

    Plain rounding would take all weight from a row that looks at thousands of tokens a little. What was more than 0
    stays so, or it would read as "may not look".
    """
    units = weights.astype(float) * 10**DIGITS
    whole = np.floor(units)
    lost = units - whole
    missing = np.rint(lost.sum(-1, keepdims=True))
    rank = np.argsort(np.argsort(-lost, axis=-1, kind="stable"), axis=-1)
    kept = (whole + (rank < missing)) / 10**DIGITS
    return np.where((kept == 0) & (weights > 0), LEAST, kept)
