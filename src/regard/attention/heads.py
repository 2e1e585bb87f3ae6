"""Several attentions side by side (B4, B5, B10): projections, heads, and the four places where systems differ."""

import torch
from torch import nn

from regard.attention.attend import Attended, attend, serve
from regard.attention.cache import Layer
from regard.attention.compress import Compression
from regard.attention.kernels import fastest
from regard.attention.patterns import Pattern, Sight, everyone
from regard.attention.positions import Position
from regard.attention.scores import ScaledDot, Score
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Tensor
from regard.tap import Tap


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

    The score, the pattern, the position scheme and the compression are passed in. `groups` key-value heads serve all
    `heads` query heads (grouped-query attention); as many of them as heads is the attention of 2017.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        groups: int | None = None,
        pattern: Pattern = everyone,
        score: Score | None = None,
        position: Position | None = None,
        compress: Compression | None = None,
        dropout: float = 0.0,
        bias: bool = True,
    ):
        super().__init__()
        self.heads, self.groups = heads, groups or heads
        each = head_width(width, heads)
        if heads % self.groups:
            raise UserError(f"{heads} heads cannot share {self.groups} key-value heads evenly")
        self.to_query = nn.Linear(width, heads * each, bias=bias)
        self.to_key = nn.Linear(width, self.groups * each, bias=bias)
        self.to_value = nn.Linear(width, self.groups * each, bias=bias)
        self.output = nn.Linear(heads * each, width, bias=bias)
        self.score = score or ScaledDot()
        self.pattern, self.position = pattern, position or Position()
        self.compress, self.dropout = compress or Compression(), dropout
        self.kernel = fastest
        self.query, self.key, self.value = Tap(), Tap(), Tap()
        self.scores, self.weights, self.context = Tap(), Tap(), Tap()

    @property
    def reach(self) -> int:
        """The largest distance, block or stride named in it: checks use longer inputs."""
        return max(self.pattern.reach, self.position.reach, self.compress.reach)

    def forward(self, x: Float[Tensor, "b q w"], at: Place, *, cache: Layer | None = None) -> Float[Tensor, "b q w"]:
        """Self-attention. With a cache, `x` may be only the newest tokens."""
        query = self._split(self.to_query(x), self.heads)
        key, value = self.key_value(x)
        query, key, value = self.position.on_heads(query, key, value, at, at)
        k = at
        if cache is not None:
            key, value, k = cache.extend(key, value, at)
        return self._look(query, key, value, at, k)

    def across(
        self, x: Float[Tensor, "b q w"], at: Place, key: Tensor, value: Tensor, k: Place
    ) -> Float[Tensor, "b q w"]:
        """Cross-attention to keys and values that `key_value` made of a memory standing at `k`."""
        return self._look(self._split(self.to_query(x), self.heads), key, value, at, k)

    def key_value(self, x: Float[Tensor, "b k w"]) -> tuple[Tensor, Tensor]:
        return self._split(self.to_key(x), self.groups), self._split(self.to_value(x), self.groups)

    def _look(self, query: Tensor, key: Tensor, value: Tensor, q: Place, k: Place) -> Tensor:
        key, value, k = self.compress(key, value, k)
        sight = Sight(self.pattern, q, k)
        bias = self.position.on_scores(query, q, k)
        dropout = self.dropout if self.training else 0.0
        context = self.kernel(query, key, value, sight=sight, score=self.score, bias=bias, dropout=dropout)
        self._show(query, key, value, sight, bias, context)
        return self.output(context.transpose(1, 2).flatten(2))

    def _show(self, query, key, value, sight: Sight, bias, context) -> None:
        """Offer everything to the taps; the weights are computed beside the kernel, from what the kernel was given."""

        def seen(heads: list[int] | None) -> Attended:
            parts = [query, serve(key, self.heads), serve(value, self.heads)]
            apart = heads is not None and not any(True for _ in self.score.parameters())
            if apart:  # a score with a matrix for each head is computed whole
                parts = [x[:, heads] for x in parts]
            here = bias[:, heads] if apart and bias is not None and bias.shape[1] > 1 else bias
            found = attend(*parts, allow=sight.allow(), bias=here, score=self.score)
            return found if apart or heads is None else Attended(*(x[:, heads] for x in found))

        self.query(lambda: query)
        self.key(lambda: key)
        self.value(lambda: value)
        self.scores(lambda: seen(self.scores.heads).scores)
        self.weights(lambda: seen(self.weights.heads).weights)
        self.context(lambda: context)

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
