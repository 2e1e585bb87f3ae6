"""A trace as plain numbers, lists and strings, for a file or a page."""

from typing import Any

import numpy as np

from regard.explain.trace import Map, Side, Trace
from regard.explain.words import words

DIGITS = 6


def to_json(trace: Trace) -> dict[str, Any]:
    """What `json.dumps` takes. `written` names the rows of cross-attention; a score of minus infinity is null."""
    return {
        "run": trace.run,
        "source": side(trace.source) if trace.source is not None else None,
        "target": side(trace.target),
        "written": side(trace.looking("cross")[0]) if trace.source is not None else None,
        "log_probability": [round(float(value), DIGITS) for value in trace.log_probability],
        "maps": [attention(each) for each in trace.maps],
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


def attention(each: Map) -> dict[str, Any]:
    out = {"name": each.name, "kind": each.kind, "layer": each.layer, "weights": rounded(each.weights).tolist()}
    if each.scores is not None:
        scores = each.scores.astype(float).round(DIGITS).astype(object)
        scores[~np.isfinite(each.scores)] = None
        out["scores"] = scores.tolist()
    return out


def rounded(weights: np.ndarray) -> np.ndarray:
    """To six digits with the sum of each row kept: what is cut off goes to those that lost most, one unit each.

    Plain rounding would take all weight from a row that looks at thousands of tokens a little.
    """
    units = weights.astype(float) * 10**DIGITS
    whole = np.floor(units)
    lost = units - whole
    missing = np.rint(lost.sum(-1, keepdims=True))
    rank = np.argsort(np.argsort(-lost, axis=-1, kind="stable"), axis=-1)
    return (whole + (rank < missing)) / 10**DIGITS
