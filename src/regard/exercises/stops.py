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
        r"got float\b|'float' object cannot be interpreted|ints?, not float\b|^(slice|list) indices must be integers",
        "a fraction for a size",
        "a size must be a whole number: divide with //, for / gives a float",
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
