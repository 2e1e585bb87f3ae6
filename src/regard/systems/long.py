"""How the layers of a Transformer look at a long text (S11-S13)."""

from dataclasses import dataclass
from typing import NamedTuple

from regard.attention.blocks import BigBird
from regard.attention.compress import Compression, Projected, Strided
from regard.attention.patterns import Pattern, bigbird, causal, everyone, local
from regard.errors import UserError, at_least, one_of, unused

ATTENTIONS = {  # each with its settings
    "full": (),
    "bigbird": ("block", "first", "near", "random"),
    "linformer": ("projected", "shared"),
    "local": ("block",),
    "dmca": ("block", "stride"),
}
SHARED = ("heads", "keys-values", "layers")


class Sees(NamedTuple):
    """What one layer sees of a text: which places, and how it is made shorter."""

    pattern: Pattern
    compress: Compression | None = None


@dataclass(frozen=True, kw_only=True)
class Long:
    """`attention` is how the side that reads the long text looks at it: an encoder, or a decoder that stands alone.

    - full: every token at every other
    - bigbird: blocks of `block` tokens at the `first` blocks, `near` ones on either side, and `random` others
    - linformer: at `projected` mixes of all tokens; `shared` by the heads of a layer, by its keys and values too, or by
      all layers
    - local: blocks of `block` tokens at themselves
    - dmca: layers in turn, local ones and ones that look at every `stride` tokens mixed into one
    """

    attention: str = "full"
    block: int = 64
    first: int = 2
    near: int = 1
    random: int = 3
    projected: int = 64
    shared: str = "heads"
    stride: int = 3

    def __post_init__(self) -> None:
        one_of("system.attention", self.attention, ATTENTIONS)
        one_of("system.shared", self.shared, SHARED)
        at_least(1, "system", self, "block", "projected", "stride")
        at_least(0, "system", self, "first", "near", "random")
        others = {name for names in ATTENTIONS.values() for name in names} - set(ATTENTIONS[self.attention])
        unused("system", self, others, f"system.attention is '{self.attention}'")

    def makes_sense(self, context: int) -> None:
        """Stop where another way of looking is the same for less. Asked of new recipes alone: a run that is there is
        used as it is."""
        if self.attention == "bigbird" and not (self.first or self.near or self.random):
            raise UserError(
                "system.attention = 'bigbird' with first, near and random = 0 sees its own block alone: that is "
                "system.attention = 'local'"
            )
        if self.attention == "dmca" and self.stride == 1:
            raise UserError(
                "system.stride = 1 mixes each token with no other: that costs as much as to look at every token; "
                "take 2 or more, or system.attention = 'full'"
            )
        if self.attention == "linformer" and self.projected >= context:
            raise UserError(
                f"system.projected = {self.projected} mixes of system.context = {context} tokens: that costs as much "
                "as to look at every token; take fewer, or system.attention = 'full'"
            )

    @property
    def alone(self) -> bool:
        """Whether texts must not share a row: their blocks or mixes would."""
        return self.attention != "full"

    def sees(self, ahead: bool, depth: int, *, heads: int, width: int, context: int) -> list[Sees]:
        """What each layer sees, those above it last; `ahead` where what follows may be looked at."""
        plain = everyone if ahead else causal
        self._shortens(ahead, context)
        if self.attention == "bigbird":
            return [Sees(bigbird(self._chance(layer, ahead))) for layer in range(depth)]
        if self.attention == "linformer":
            return self._projected(ahead, depth, context)
        near = local(self.block) if ahead else local(self.block) & causal
        if self.attention == "local":
            return [Sees(near)] * depth
        if self.attention == "dmca":
            self._turns(depth, context)
            return [Sees(plain, Strided(heads, width, self.stride)) if n % 2 else Sees(near) for n in range(depth)]
        return [Sees(plain)] * depth

    def _shortens(self, ahead: bool, context: int) -> None:
        """Stop where everything is seen, as by full attention, at a higher price."""
        seen = {"bigbird": self._chance(0, ahead).most, "local": 1, "dmca": 1}.get(self.attention, 0)
        if seen * self.block >= context:
            most = f"{seen} blocks of {self.block}" if seen > 1 else f"a block of {self.block}"
            raise UserError(
                f"system.attention = '{self.attention}' sees {most} tokens, and system.context = {context} is no more: "
                "take smaller blocks or a longer context"
            )

    def _turns(self, depth: int, context: int) -> None:
        if depth < 2:
            raise UserError(
                "system.attention = 'dmca' takes local and compressed layers in turn, and system.depth = 1 has none "
                "that is compressed: take 2 layers or more, or system.attention = 'local'"
            )
        if self.stride > context:
            raise UserError(
                f"system.stride = {self.stride} tokens are mixed into one, and system.context = {context}: take fewer"
            )

    def _chance(self, layer: int, ahead: bool) -> BigBird:
        """Every layer has its own."""
        return BigBird(self.block, first=self.first, near=self.near, random=self.random, seed=layer, ahead=ahead)

    def _projected(self, ahead: bool, depth: int, context: int) -> list[Sees]:
        if not ahead:
            raise UserError(
                "system.attention = 'linformer' mixes all tokens of a text, those that follow too, "
                "so a decoder cannot use it; take bigbird, local or dmca"
            )
        made = [Projected(context, self.projected, shared=self.shared != "heads") for _ in range(depth)]
        return [Sees(everyone, made[0] if self.shared == "layers" else one) for one in made]
