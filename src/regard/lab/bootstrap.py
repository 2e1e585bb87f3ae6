"""Paired bootstrap (Koehn, 2004): is the best member better with other test sentences and other seeds too?

A score is a function of sums over examples: of n-grams for BLEU, of nats and tokens for a loss. Where no reference is
long enough for BLEU, which is then 0 for all or the doing of its smoothing, translations are right or wrong. Examples
are drawn again, with return, the same ones for all members; then each member's seeds are drawn again, on their own, and
its score in one draw is the mean over those. The p-value is the share of draws in which the member is at least as good
as the best, counted with the observed sample itself so that it is never 0. Of one seed nothing can be drawn: then it
tells about the choice of test examples alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from regard.evaluate.translation import beyond_bleu, metrics

DRAWS = 1000
ORDER = 4  # of the longest n-grams of BLEU
FEWEST = 25  # examples in a bucket of lengths
MOST = 5  # buckets


@dataclass(frozen=True)
class Score:
    """`of` turns sums over examples into the score."""

    name: str
    of: Callable[[np.ndarray], float]
    higher_is_better: bool


def bleu_of(sums: np.ndarray) -> float:
    """Corpus BLEU from lengths and n-gram counts, as sacrebleu computes it."""
    from sacrebleu.metrics import BLEU

    hypothesis, reference, *counts = (int(number) for number in sums)
    return BLEU.compute_bleu(counts[:ORDER], counts[ORDER:], hypothesis, reference, smooth_method="exp").score


def ratio_of(sums: np.ndarray) -> float:
    return float(sums[0] / sums[1])


BLEU_SCORE, EXACT, LOSS, ACCURACY = (
    Score("bleu", bleu_of, True),
    Score("exact_match", ratio_of, True),
    Score("loss", ratio_of, False),
    Score("accuracy", ratio_of, True),
)


def bleu_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """For each sentence its length, the reference's, and its right and all n-grams: `[sentences, 2 + 4 + 4]`."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True)  # counts are the same; without it sacrebleu warns of single sentences
    found = [metric.sentence_score(h, [r]) for h, r in zip(hypotheses, references, strict=True)]
    return np.array([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in found])


def statistics(examples: dict[str, list[Any]]) -> tuple[Score, np.ndarray] | None:
    """The score to compare by, and the numbers of each example it is made from; None where nothing was kept."""
    said, wanted = (examples.get(name, []) for name in ("hypothesis", "reference"))
    if "source" in examples:
        if beyond_bleu(wanted, metrics(lowercase=False, tokenize="13a")[0]):
            return EXACT, right_and_all([text.strip() for text in said], [text.strip() for text in wanted])
        return BLEU_SCORE, bleu_statistics(said, wanted)
    if "hypothesis" in examples:
        return ACCURACY, right_and_all(said, wanted)
    if "nats" in examples:
        return LOSS, np.array(examples["nats"], dtype=float)
    return None


def right_and_all(said: Sequence[Any], wanted: Sequence[Any]) -> np.ndarray:
    """Of each example how many answers are right, and how many there are: one label, or a tag for each word."""
    pairs = [
        ([one], [other]) if isinstance(one, str) else (one, other) for one, other in zip(said, wanted, strict=True)
    ]
    return np.array([[sum(map(str.__eq__, *pair)), len(pair[0])] for pair in pairs], dtype=float)


@dataclass(frozen=True)
class Drawn:
    """A member's mean over seeds on the examples as they are, and in each draw."""

    observed: float
    draws: np.ndarray


def draw(seeds: list[np.ndarray], score: Score, *, member: int = 0, draws: int = DRAWS) -> Drawn:
    """All members get the same draws of examples; the number of the member decides which of its seeds are drawn."""
    chance, count = np.random.default_rng(0), len(seeds[0])
    found = np.empty((draws, len(seeds)))
    for i in range(draws):
        times = chance.multinomial(count, np.full(count, 1 / count))
        found[i] = [score.of(times @ numbers) for numbers in seeds]
    picked = np.random.default_rng([1, member]).integers(len(seeds), size=found.shape)
    observed = float(np.mean([score.of(numbers.sum(0)) for numbers in seeds]))
    return Drawn(observed, np.take_along_axis(found, picked, 1).mean(1))


def against(best: Drawn, other: Drawn, score: Score) -> dict[str, float]:
    """How much worse a member is than the best, with the interval that holds 95 % of the draws."""
    sign = 1 if score.higher_is_better else -1
    worse = sign * (best.draws - other.draws)
    low, high = np.percentile(worse, [2.5, 97.5])
    p = (1 + int((worse <= 0).sum())) / (1 + len(worse))
    return {"worse_by": sign * (best.observed - other.observed), "low": float(low), "high": float(high), "p": p}


def buckets(lengths: Sequence[int] | np.ndarray) -> list[tuple[int, int]]:
    """First and last length of each bucket: about equally many examples in each, none torn, enough in all."""
    ordered = np.sort(np.asarray(lengths))
    wanted = max(1, min(MOST, len(ordered) // FEWEST))
    cuts = sorted({int(ordered[len(ordered) * i // wanted]) for i in range(1, wanted)} - {int(ordered[0])})
    borders = [int(ordered[0]), *cuts, int(ordered[-1]) + 1]
    return [(begin, end - 1) for begin, end in pairwise(borders)]


def by_length(sources: Sequence[str], seeds: list[np.ndarray], score: Score) -> list[dict[str, Any]]:
    """The score of each seed by the number of words in the source."""
    lengths = np.array([len(text.split()) for text in sources])
    found = []
    for first, last in buckets(lengths):
        inside = (lengths >= first) & (lengths <= last)
        scores = [score.of(numbers[inside].sum(0)) for numbers in seeds]
        found.append({"from": first, "to": last, "texts": int(inside.sum()), score.name: scores})
    return found
