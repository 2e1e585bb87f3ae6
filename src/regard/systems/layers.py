"""The settings that Transformers share, and the parts they make."""

from dataclasses import dataclass

from torch import nn

from regard.attention.cache import KeyValues
from regard.attention.heads import MultiHead, head_width
from regard.attention.look import Look
from regard.attention.patterns import Pattern, everyone
from regard.attention.positions import Position, Site, position
from regard.attention.scores import SCORES
from regard.blocks.block import Block, Stack
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.feedforward import FEEDFORWARDS
from regard.blocks.norms import normalizer
from regard.blocks.residual import RESIDUALS
from regard.errors import UserError, at_least, one_of, share
from regard.place import Place
from regard.systems.system import System


def pick(table: dict, name: str, setting: str):
    """The entry a setting names, or a message that lists what there is."""
    one_of(f"system.{setting}", name, table)
    return table[name]


@dataclass(frozen=True, kw_only=True)
class Layers:
    """One layer's shape.

    `hidden` 0 means four times the width, `groups` 0 as many key-value heads as heads, `head_width` 0 that the heads
    split the width. `epsilon` is what norms add to the variance.
    """

    width: int = 128
    heads: int = 4
    head_width: int = 0
    groups: int = 0
    depth: int = 2
    hidden: int = 0
    context: int = 256
    position: str = "sinusoidal"
    position_at: str = "input"
    norm: str = "pre"
    normalizer: str = "layer"
    epsilon: float = 1e-5
    feedforward: str = "relu"
    score: str = "scaled-dot"
    dropout: float = 0.1
    bias: bool = True

    def __post_init__(self) -> None:
        at_least(1, "system", self, "width", "heads", "depth", "context")
        share("system", self, "dropout")
        if not self.epsilon > 0:
            raise UserError(f"system.epsilon = {self.epsilon}; it must be more than 0")
        for name in ("groups", "hidden", "head_width"):
            if getattr(self, name) < 0:
                raise UserError(f"system.{name} = {getattr(self, name)}; it must be 0 (automatic) or more")
        if not self.head_width:
            head_width(self.width, self.heads)

    @property
    def each(self) -> int:
        """The width of one head."""
        return self.head_width or head_width(self.width, self.heads)

    def positions(self, std: float, pattern: Pattern = everyone) -> Position:
        """The scheme of a stack whose words have the scale `std` and look at each other by this pattern."""
        site = Site(self.width, self.heads, self.each, self.context, std, ahead=pattern.ahead)
        return position(self.position, self.position_at, site)

    def attention(self, role: str, pattern: Pattern, where: Position | None = None) -> MultiHead:
        score = pick(SCORES, self.score, "score")(self.heads, self.each)
        look = Look(role, pattern=pattern, score=score, position=where, dropout=self.dropout)
        return MultiHead(self.width, self.heads, look, groups=self.groups, each=self.each, bias=self.bias)

    def residual(self) -> nn.Module:
        return pick(RESIDUALS, self.norm, "norm")(self.normalise(), self.dropout)

    def normalise(self) -> nn.Module:
        return normalizer(self.normalizer, self.width, self.epsilon)

    def block(self, role: str, pattern: Pattern, where: Position, cross: MultiHead | None = None) -> Block:
        feedforward = pick(FEEDFORWARDS, self.feedforward, "feedforward")(
            self.width, self.hidden or 4 * self.width, dropout=self.dropout, bias=self.bias
        )
        return Block(self.attention(role, pattern, where), feedforward, self.residual, cross=cross)

    def stack(self, embedding: Embedding, blocks: list[Block]) -> Stack:
        closes = pick(RESIDUALS, self.norm, "norm").closes
        return Stack(embedding, blocks, self.normalise() if closes else None)


class StackSystem(System):
    """A system whose decoder is a stack: alone it is a language model, under an encoder a translator."""

    def __init__(self, settings: Layers, decoder: Stack, output: Unembedding):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.decoder, self.output = decoder, output
        self.vocabulary = output.rows.out_features

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        vectors = self.decoder(tokens, at, memory=memory, cache=cache)
        if cache is not None:
            cache.advance(at)
        return vectors

    def logits(self, vectors):
        return self.output(vectors)

    def start(self, rows, capacity):
        return KeyValues(len(self.decoder.blocks), rows, capacity, self.device)
