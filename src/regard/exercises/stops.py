"""Errors that come of one mistake in whatever exercise they stop, by what Python or torch says of them."""

import re

# what is said, the mistake in a few words, and what to say to whoever made it
STOPS = (
    (
        r"torch\.return_types\.(max|min)\b",
        "values and indices",
        "max and min along an axis give values and indices, two tensors: take .values of them, or use amax and amin",
    ),
    (
        r"torch\.return_types\.",
        "values and indices",
        "sort, topk and their like give values and indices, two tensors: take .values or .indices",
    ),
    (
        r"^expected Tensor as element",
        "no tensors to join",
        "torch.stack, torch.cat and their like join tensors, and something else is in the list: make it one first",
    ),
    (
        r"(ints?|integers or slices), not float$|ints, ?but got float|valid indices \(got float\)$"
        r"|'float' object cannot be interpreted",
        "a fraction for a size",
        "a size or an index must be a whole number: divide with //, for / gives a float",
    ),
    (
        r"^(list|tuple) indices must be integers or slices, not tuple$",
        "two indices at once",
        "a list or tuple takes one index at a time, rows[i][j]; only tensors take rows[i, j]",
    ),
    (
        r"^slice indices must be integers",
        "bounds of a slice",
        "where a slice begins and ends must be a whole number or None, and is something else: a float, as / gives?",
    ),
    (
        r"^view size is not compatible",
        "view after transpose",
        ".view wants numbers that lie in order, which they no longer do once axes are exchanged: take .reshape",
    ),
)


def known_stop(said: str) -> tuple[str, str] | None:
    """The mistake and its hint, where what is said tells it."""
    return next(((name, hint) for pattern, name, hint in STOPS if re.search(pattern, said)), None)
