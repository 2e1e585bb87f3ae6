"""Byte-pair encoding written out (B1; Sennrich et al., 2016): the algorithm that `tokenizers` runs fast.

Training counts neighbouring pairs in the words of a text and joins the commonest pair into a new symbol, again and
again. Encoding a new word replays the joins in the order in which they were learnt. A test shows both equal to
`tokenizers`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

Pair = tuple[str, str]


def learn(words: Iterable[str], joins: int) -> tuple[list[str], list[Pair]]:
    """The alphabet and the first `joins` pairs to join, commonest first; ties go to the pair of older symbols."""
    counts = Counter(words)
    spelled = {word: list(word) for word in counts}
    alphabet = sorted({letter for word in counts for letter in word})
    age = {symbol: i for i, symbol in enumerate(alphabet)}
    learnt: list[Pair] = []
    pairs, homes = count_pairs(spelled, counts)
    while len(learnt) < joins and pairs:
        best = min(pairs, key=lambda pair: (-pairs[pair], age[pair[0]], age[pair[1]]))
        learnt.append(best)
        age.setdefault("".join(best), len(age))
        for word in homes.pop(best):
            before, after = spelled[word], join(spelled[word], best)
            spelled[word] = after
            for pair in neighbours(before):
                pairs[pair] -= counts[word]
            for pair in neighbours(after):
                pairs[pair] += counts[word]
                homes[pair].add(word)
        pairs = +pairs  # drops what no longer occurs
    return alphabet, learnt


def encode(word: str, learnt: list[Pair]) -> list[str]:
    """The word in pieces: of all pairs in it, the one learnt first is joined, until none is left."""
    rank = {pair: i for i, pair in enumerate(learnt)}
    pieces = list(word)
    while known := [pair for pair in neighbours(pieces) if pair in rank]:
        pieces = join(pieces, min(known, key=rank.__getitem__))
    return pieces


def join(pieces: list[str], pair: Pair) -> list[str]:
    """Every occurrence of the pair, from the left, made one piece."""
    joined: list[str] = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def neighbours(pieces: list[str]) -> list[Pair]:
    return list(pairwise(pieces))


def count_pairs(spelled: dict[str, list[str]], counts: Counter[str]) -> tuple[Counter[Pair], dict[Pair, set[str]]]:
    pairs: Counter[Pair] = Counter()
    homes: dict[Pair, set[str]] = defaultdict(set)
    for word, pieces in spelled.items():
        for pair in neighbours(pieces):
            pairs[pair] += counts[word]
            homes[pair].add(word)
    return pairs, homes
