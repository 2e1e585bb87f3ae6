"""ROUGE-L (Lin, 2004): how much of two texts is the same words in the same order, gaps allowed.

F1 of the longest common subsequence: recall over the reference's words, precision over the hypothesis's, for each text
their harmonic mean, and the mean over texts on the scale of 100. Words are runs of letters and digits of any script, in
lower case, without stemming: for ASCII text alone that is what the package rouge_score computes. Of several references
the one that fits best counts.
"""

import re
from collections.abc import Sequence

WORD = re.compile(r"[^\W_]+")


def rouge_l(hypotheses: Sequence[str], references: Sequence[str | Sequence[str]]) -> float:
    """Each reference is one text, or several."""
    scores = [best(words(h), [r] if isinstance(r, str) else r) for h, r in zip(hypotheses, references, strict=True)]
    return 100 * sum(scores) / max(1, len(scores))


def best(hypothesis: Sequence[str], references: Sequence[str]) -> float:
    return max((f1(hypothesis, words(reference)) for reference in references), default=0.0)


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def f1(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """2 PR / (P + R), which is twice the common length over both lengths; two empty texts have nothing in common."""
    both = len(hypothesis) + len(reference)
    return 2 * common(hypothesis, reference) / both if both else 0.0


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    A row of the usual table grows by 0 or 1 from place to place. Those steps are kept as the bits of one number, where
    a 0 stands for a step up, so that a whole row is made by one addition (Hyyrö, 2004).
    """
    places: dict[str, int] = {}
    for i, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << i
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(one) - row.bit_count()
