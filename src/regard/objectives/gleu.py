"""GLEU (Wu et al., 2016, section 4): how much of a translation is right and how much of the right one is there.

Of all n-grams of one to four tokens, those in both over those in the translation is the precision, over those in the
reference the recall; GLEU is the smaller of the two. Unlike BLEU it means something for a single sentence.
"""

from collections import Counter
from collections.abc import Sequence

LONGEST = 4  # tokens of an n-gram


def ngrams(tokens: Sequence[int]) -> Counter[tuple[int, ...]]:
    """How often each n-gram stands in the text."""
    return Counter(
        tuple(tokens[begin : begin + n]) for n in range(1, LONGEST + 1) for begin in range(len(tokens) - n + 1)
    )


def gleu(tokens: Sequence[int], reference: Sequence[int]) -> float:
    """From 0, nothing in common, to 1, the same; two empty texts are the same."""
    ours, theirs = ngrams(tokens), ngrams(reference)
    most = max(ours.total(), theirs.total())  # the smaller of precision and recall has the larger divisor
    return (ours & theirs).total() / most if most else 1.0
