"""Several attentions side by side (B4, B5, B10): projections around a `Look`."""

import torch
from torch import nn

from regard.attention.cache import Layer
from regard.attention.look import Look
from regard.attention.positions import Position
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Tensor


def head_width(width: int, heads: int) -> int:
    """The width of one head, or the nearest widths that do split."""
    if width % heads:
        low = width - width % heads
        near = " and ".join(str(w) for w in (low, low + heads) if w)
        verb = "do" if "and" in near else "does"
        raise UserError(f"width {width} does not split into {heads} heads; {near} {verb}")
    return width // heads


class MultiHead(nn.Module):
    """Queries from `x`, keys and values from `x` itself or from a memory.

    `groups` key-value heads serve all `heads` query heads (grouped-query attention); as many of them as heads is the
    attention of 2017. A head is `each` wide: what the width splits into, unless told. `closing` is whether the output
    has a bias, where that is not as with queries, keys and values.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        look: Look,
        *,
        groups: int | None = None,
        each: int | None = None,
        bias: bool = True,
        closing: bool | None = None,
    ):
        super().__init__()
        self.heads, self.groups = heads, groups or heads
        each = each or head_width(width, heads)
        if heads % self.groups:
            raise UserError(f"{heads} heads cannot share {self.groups} key-value heads evenly")
        self.to_query = nn.Linear(width, heads * each, bias=bias)
        self.to_key = nn.Linear(width, self.groups * each, bias=bias)
        self.to_value = nn.Linear(width, self.groups * each, bias=bias)
        self.output = nn.Linear(heads * each, width, bias=bias if closing is None else closing)
        self.look = look

    @property
    def position(self) -> Position:
        return self.look.position

    def forward(self, x: Float[Tensor, "b q w"], at: Place, *, cache: Layer | None = None) -> Float[Tensor, "b q w"]:
        """Self-attention. With a cache, `x` may be only the newest tokens."""
        query, (key, value) = self._split(self.to_query(x), self.heads), self.key_value(x)
        query, key, value = self.position.on_heads(query, key, value, at, at)
        k = at
        if cache is not None:
            key, value, k = cache.extend(key, value, at)
        return self._join(self.look(query, key, value, at, k, cache))

    def across(
        self, x: Float[Tensor, "b q w"], at: Place, key: Tensor, value: Tensor, k: Place
    ) -> Float[Tensor, "b q w"]:
        """Cross-attention to keys and values that `key_value` made of a memory standing at `k`."""
        return self._join(self.look(self._split(self.to_query(x), self.heads), key, value, at, k))

    def key_value(self, x: Float[Tensor, "b k w"]) -> tuple[Tensor, Tensor]:
        return self._split(self.to_key(x), self.groups), self._split(self.to_value(x), self.groups)

    def _join(self, context: Float[Tensor, "b h q d"]) -> Float[Tensor, "b q w"]:
        return self.output(context.transpose(1, 2).flatten(2))

    @staticmethod
    def _split(x: Float[Tensor, "b t w"], heads: int) -> Float[Tensor, "b h t d"]:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def initialise(module: nn.Module, std: float) -> None:
    """Normal weights, zero biases, for every linear layer inside."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=std)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


def xavier(module: nn.Module) -> None:
    """Glorot's uniform weights, zero biases, for every linear layer inside (the Transformer of 2017)."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            torch.nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
