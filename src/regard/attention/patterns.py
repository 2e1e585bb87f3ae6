"""Who may look at whom: rules on places, combined with `&` and `|`.

Two rules hold under every pattern: nobody looks at padding, and nobody looks out of its own document.
"""

from collections.abc import Callable
from dataclasses import dataclass

from regard.place import Place
from regard.shapes import Bool, Tensor


@dataclass(frozen=True, eq=False)
class Pattern:
    """`rule(q, k)` sees places whose fields broadcast to one value per pair of query and key.

    `reach` is the largest distance that the rule names; checks run on inputs longer than it. `ahead` is False where
    nobody may look at what follows.
    """

    rule: Callable[[Place, Place], Tensor]
    reach: int = 0
    ahead: bool = True

    def __and__(self, other: "Pattern") -> "Pattern":
        reach, ahead = max(self.reach, other.reach), self.ahead and other.ahead
        return Pattern(lambda q, k: self.rule(q, k) & other.rule(q, k), reach, ahead)

    def __or__(self, other: "Pattern") -> "Pattern":
        reach, ahead = max(self.reach, other.reach), self.ahead or other.ahead
        return Pattern(lambda q, k: self.rule(q, k) | other.rule(q, k), reach, ahead)


everyone = Pattern(lambda q, k: k.index == k.index)
causal = Pattern(lambda q, k: k.index <= q.index, ahead=False)


def window(size: int) -> Pattern:
    """Keys at most `size` places away, before or after."""
    return Pattern(lambda q, k: (q.index - k.index).abs() <= size, reach=size)


@dataclass(frozen=True)
class Sight:
    """A pattern over actual places: what the kernels ask."""

    pattern: Pattern
    q: Place
    k: Place

    @property
    def unbounded(self) -> bool:
        """Every query sees every key, known without looking at a tensor."""
        return self.pattern is everyone and self.k.present is None and not self._documents

    @property
    def causal(self) -> bool:
        """The lower triangle and nothing else: the same tokens look at themselves in one document per row.

        Padding need not be hidden here: it stands at the right, so no present token looks at it.
        """
        return self.pattern is causal and self.q is self.k and not self._documents

    def allow(self) -> Bool[Tensor, "b 1 q k"]:
        """One truth value per pair, the same for all heads."""
        if self.pattern is everyone and self.k.present is not None and not self._documents:
            return self.k.present[:, None, None].expand(-1, 1, self.q.index.shape[1], -1)
        q = self.q.map(lambda field: field[:, None, :, None])
        k = self.k.map(lambda field: field[:, None, None, :])
        allow = self.pattern.rule(q, k).expand(-1, -1, q.index.shape[2], k.index.shape[3])
        if self._documents:
            allow = allow & (q.document == k.document)
        if k.present is not None:
            allow = allow & k.present
        return allow

    @property
    def _documents(self) -> bool:
        return self.q.document is not None and self.k.document is not None
