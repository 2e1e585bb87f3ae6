"""One attention without its projections: the four places where systems differ, the kernel, and the taps.

`MultiHead` puts projections around it. The attention of an encoder-decoder RNN or of a convolutional decoder is the
same call with one head.
"""

from torch import nn

from regard.attention.attend import Attended, attend, serve
from regard.attention.cache import Layer
from regard.attention.compress import Compression
from regard.attention.kernels import fastest
from regard.attention.patterns import Pattern, Sight, everyone
from regard.attention.positions import Position
from regard.attention.scores import ScaledDot, Score
from regard.place import Place
from regard.shapes import Float, Tensor
from regard.tap import Tap

ROLES = ("encoder", "decoder", "cross")  # a source looks at itself, a text at its past, a text at a source


def parted(model: nn.Module) -> bool:
    """Whether all that looks sees its own block alone: what stands in one is never known in another."""
    looks = [part for part in model.modules() if isinstance(part, Look)]
    return bool(looks) and all(look.pattern.parted for look in looks)


class Look(nn.Module):
    """Queries look at keys and take home a mix of values. `role` is one of `ROLES`.

    Taps: what was given (after compression), `scores` and `weights` for each query and key, `context` what is taken
    home, `added` what of that comes from places and not from values, where there is such a thing.
    """

    def __init__(
        self,
        role: str,
        *,
        pattern: Pattern = everyone,
        score: Score | None = None,
        position: Position | None = None,
        compress: Compression | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        assert role in ROLES
        self.role, self.score = role, score or ScaledDot()
        self.pattern, self.position = pattern, position or Position()
        self.compress, self.dropout = compress or Compression(), dropout
        self.kernel = fastest
        self.query, self.key, self.value = Tap(), Tap(), Tap()
        self.scores, self.weights, self.context = Tap(), Tap(), Tap()
        if self.position.on_values:
            self.added = Tap()

    @property
    def reach(self) -> int:
        """The largest distance, block or stride named in it: checks use longer inputs."""
        return max(self.pattern.reach, self.position.reach, self.compress.reach)

    def forward(
        self,
        query: Float[Tensor, "b h q d"],
        key: Float[Tensor, "b g k d"],
        value: Float[Tensor, "b g k e"],
        q: Place,
        k: Place,
        layer: Layer | None = None,
    ) -> Float[Tensor, "b h q e"]:
        """With a `layer` of a cache, keys and values are all of its own, and it may remember what they are made to."""
        if layer is None:
            key, value, k = self.compress(key, value, k)
        else:
            key, value, k = self.compress.carried(key, value, q, k, layer)
        sight = Sight(self.pattern, q, k)
        dropout = self.dropout if self.training else 0.0
        context = self.kernel(query, key, value, sight=sight, score=self.score, position=self.position, dropout=dropout)
        self._show(query, key, value, sight, context)
        return context

    def _show(self, query, key, value, sight: Sight, context) -> None:
        """Offer everything to the taps; the weights are computed beside the kernel, from what the kernel was given."""

        def seen(heads: list[int] | None) -> Attended:
            bias = self.position.on_scores(query, sight.q, sight.k, self.score)
            parts = [query, serve(key, query.shape[1]), serve(value, query.shape[1])]
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
        if self.position.on_values:
            self.added(lambda: self.position.on_context(seen(None).weights, sight.q, sight.k))
        self.context(lambda: context)
