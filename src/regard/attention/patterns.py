"""Who may look at whom: rules on places, combined with `&` and `|`.

Two rules hold under every pattern: nobody looks at padding, and nobody looks out of its own document.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from regard.attention.blocks import BigBird, Blocks, Local
from regard.place import Place
from regard.shapes import Bool, Tensor


@dataclass(frozen=True, eq=False)
class Pattern:
    """`rule(q, k)` sees places whose fields broadcast to one value per pair of query and key.

    `reach` is the largest distance that the rule names; checks run on inputs longer than it. `ahead` is False where
    nobody may look at what follows. Where the rule is one on `blocks`, few of which see each other, it holds between
    all tokens of two such blocks that `within` lets see each other too.
    """

    rule: Callable[[Place, Place], Tensor]
    reach: int = 0
    ahead: bool = True
    blocks: Blocks | None = None
    within: "Pattern | None" = None

    @property
    def parted(self) -> bool:
        """Whether each block sees itself alone: what stands in one is never known in another."""
        return self.blocks is not None and self.blocks.most == 1 and not self.blocks.everything

    def __and__(self, other: "Pattern") -> "Pattern":
        reach, ahead = max(self.reach, other.reach), self.ahead and other.ahead
        both = Pattern(lambda q, k: self.rule(q, k) & other.rule(q, k), reach, ahead)
        if (self.blocks is None) == (other.blocks is None):
            return both
        near, beside = (self, other) if self.blocks is not None else (other, self)
        return replace(both, blocks=near.blocks, within=beside if near.within is None else near.within & beside)

    def __or__(self, other: "Pattern") -> "Pattern":
        reach, ahead = max(self.reach, other.reach), self.ahead or other.ahead
        return Pattern(lambda q, k: self.rule(q, k) | other.rule(q, k), reach, ahead)


everyone = Pattern(lambda q, k: k.index == k.index)
causal = Pattern(lambda q, k: k.index <= q.index, ahead=False)


def window(size: int) -> Pattern:
    """Keys at most `size` places away, before or after."""
    return Pattern(lambda q, k: (q.index - k.index).abs() <= size, reach=size)


def local(size: int) -> Pattern:
    """Keys of the same block of `size` tokens (S13)."""
    return of_blocks(Local(size))


def bigbird(blocks: BigBird) -> Pattern:
    """Blocks near by, the first ones, and a few at random (S12)."""
    return of_blocks(blocks) if blocks.ahead else of_blocks(blocks) & causal


def of_blocks(blocks: Blocks) -> Pattern:
    return Pattern(blocks.rule, reach=blocks.reach, blocks=blocks)


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

    @property
    def blocks(self) -> Blocks | None:
        """The rule on blocks, where these places can be cut into blocks.

        They can where tokens look at themselves, in one document per row, which is numbered from its start.
        """
        return self.pattern.blocks if self.q is self.k and not self._documents else None

    @property
    def step(self) -> Blocks | None:
        """The rule on blocks where one token of each row looks back at those before it, which stand in order."""
        back = not self.pattern.ahead and self.q.index.shape[1] == 1 and self.k.ordered
        return self.pattern.blocks if back and not self._documents and self.k.present is None else None

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
