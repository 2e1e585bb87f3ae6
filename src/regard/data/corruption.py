"""Texts made harder on purpose: what is hidden must be guessed (O5, O7). All chance is given from outside.

`Masking` (Devlin et al., 2019) chooses 15 % of the tokens. Of those, 80 % become a mask, 10 % another token and 10 %
stay as they are, for a model that is used without masks must have a good vector for every token, seen or hidden.

`Spans` (Raffel et al., 2020) cuts out 15 % of the tokens in runs of 3 on average. In the source a sentinel stands for
each run; the target names each sentinel and what stood there. `restored` puts them together again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.data.batch import IGNORE


@dataclass(frozen=True)
class Masking:
    """`mask` is the symbol that hides a token, `others` are the tokens that may take the place of one.

    `leads` says of each token of the vocabulary whether it begins a word: given it, words are hidden whole.
    """

    mask: int
    others: np.ndarray
    share: float = 0.15
    leads: np.ndarray | None = None

    def __call__(self, ids: np.ndarray, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The tokens as they are shown, and what was there where it is to be guessed."""
        chosen = self._chosen(ids, chance)
        fate, shown = chance.random(len(chosen)), ids.copy()
        shown[chosen[fate < 0.8]] = self.mask
        swapped = chosen[(fate >= 0.8) & (fate < 0.9)]
        shown[swapped] = chance.choice(self.others, len(swapped))
        targets = np.full(len(ids), IGNORE, np.int64)
        targets[chosen] = ids[chosen]
        return shown, targets

    def _chosen(self, ids: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        if self.leads is None:
            return chance.permutation(len(ids))[: rounded(self.share * len(ids), chance)]
        word = np.cumsum(self.leads[ids])
        names = np.unique(word)
        hidden = chance.permutation(names)[: rounded(self.share * len(names), chance)]
        return np.flatnonzero(np.isin(word, hidden))


@dataclass(frozen=True)
class Spans:
    """`sentinels` are the symbols that stand for what was cut out, in their order; no more runs are cut than there are.

    Between two runs stands at least one token.
    """

    sentinels: tuple[int, ...]
    share: float = 0.15
    mean: float = 3.0

    def __call__(self, ids: np.ndarray, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Source and target. A text of one token is cut out whole."""
        hidden = min(rounded(self.share * len(ids), chance), len(ids))
        runs = min(rounded(hidden / self.mean, chance), hidden, len(ids) - hidden + 1, len(self.sentinels))
        cut = parted(hidden, runs, chance)
        kept = parted(len(ids) - hidden + 2, runs + 1, chance)  # one more at either end, which may stay empty
        kept[0], kept[-1] = kept[0] - 1, kept[-1] - 1
        return cut_out(ids, kept, cut, self.sentinels)


def cut_out(
    ids: np.ndarray, kept: Sequence[int], cut: Sequence[int], sentinels: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Source and target where so many tokens are kept, then so many cut out, and so on; what is left is kept."""
    source: list[np.ndarray] = []
    target: list[np.ndarray] = []
    at = 0
    for sentinel, before, length in zip(sentinels, kept, cut, strict=False):
        mark = np.array([sentinel])
        source += [ids[at : at + before], mark]
        at += before
        target += [mark, ids[at : at + length]]
        at += length
    return np.concatenate([*source, ids[at:]]).astype(np.int64), np.concatenate(target).astype(np.int64)


def restored(source: list[int], target: list[int], sentinels: tuple[int, ...]) -> list[int]:
    """The text from which both were made: each sentinel of the source gives way to what the target has for it."""
    found = pieces(target, sentinels)
    return [token for place in source for token in found.get(place, [] if place in sentinels else [place])]


def pieces(target: list[int], sentinels: tuple[int, ...]) -> dict[int, list[int]]:
    """What a target has for each sentinel; what stands before the first one is lost, and of two alike the first."""
    found: dict[int, list[int]] = {}
    into: list[int] = []
    for token in target:
        if token in sentinels:
            into = []
            found.setdefault(token, into)
        else:
            into.append(token)
    return found


def rounded(number: float, chance: np.random.Generator) -> int:
    """Up or down, so that the mean is right; at least 1."""
    return max(1, int(number + chance.random()))


def parted(total: int, parts: int, chance: np.random.Generator) -> list[int]:
    """A number as the sum of so many, each at least 1, every way as likely as any other."""
    cuts = np.sort(chance.choice(np.arange(1, total), parts - 1, replace=False)) if parts > 1 else np.zeros(0, int)
    return np.diff(np.r_[0, cuts, total]).tolist()
