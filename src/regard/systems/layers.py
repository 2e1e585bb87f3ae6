"""The settings that Transformers share, and the parts they make."""

from dataclasses import dataclass, fields
from typing import ClassVar

from torch import nn

from regard.attention.cache import KeyValues
from regard.attention.heads import MultiHead, head_width
from regard.attention.look import Look
from regard.attention.patterns import everyone
from regard.attention.positions import Position
from regard.attention.schemes import CLIPPED, RELATIVE, TREES, Site, position
from regard.attention.scores import SCORES
from regard.blocks.block import Block, Stack
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.experts import Experts, Gating
from regard.blocks.feedforward import FEEDFORWARDS, FeedForward, Gated
from regard.blocks.norms import normalizer
from regard.blocks.residual import RESIDUALS
from regard.errors import UserError, at_least, one_of, share, unused
from regard.place import Place
from regard.systems.long import Long, Sees
from regard.systems.rotation import ROTARY, Rotation
from regard.systems.system import System

EXPERTS = "experts"  # in place of a feed-forward layer
NONE = "none"  # no feed-forward layer
BIASED = {  # whether queries, keys and values, the output of attention, and feed-forward layers have biases
    "all": (True, True, True),
    "attention": (True, True, False),
    "heads": (True, False, False),
    "feedforward": (False, False, True),
}


def pick(table: dict, name: str, setting: str, *others: str):
    """The entry a setting names, or a message that lists what there is."""
    one_of(f"system.{setting}", name, [*table, *others])
    return table[name]


@dataclass(frozen=True, kw_only=True)
class Layers(Long, Gating, Rotation):
    """One layer's shape. `feedforward` is one of those of 2017 and after, "experts" (a mixture of them) or "none".

    `hidden` 0 means four times the width, `groups` 0 as many key-value heads as heads, `head_width` 0 that the heads
    split the width. `epsilon` is what norms add to the variance. `farthest` is the largest distance that positions
    with a vector for each tell apart. Only what is read whole has a tree (`whole`), which some positions need. Where
    there is a `bias`, `bias_at` says in which layers: all, those of attention, those that make queries, keys and values
    ("heads"), or those of feed-forward.
    """

    whole: ClassVar[bool] = False

    width: int = 128
    heads: int = 4
    head_width: int = 0
    groups: int = 0
    depth: int = 2
    hidden: int = 0
    context: int = 256
    position: str = "sinusoidal"
    position_at: str = "input"
    farthest: int = 16
    norm: str = "pre"
    residual: bool = True
    normalizer: str = "layer"
    epsilon: float = 1e-5
    feedforward: str = "relu"
    score: str = "scaled-dot"
    dropout: float = 0.1
    bias: bool = True
    bias_at: str = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        Gating.__post_init__(self)
        Rotation.__post_init__(self)
        at_least(1, "system", self, "width", "heads", "depth", "context", "farthest")
        share("system", self, "dropout")
        if not self.epsilon > 0:
            raise UserError(f"system.epsilon = {self.epsilon}; it must be more than 0")
        for name in ("groups", "hidden", "head_width"):
            if getattr(self, name) < 0:
                raise UserError(f"system.{name} = {getattr(self, name)}; it must be 0 (automatic) or more")
        if not self.head_width:
            head_width(self.width, self.heads)
        one_of("system.bias_at", self.bias_at, BIASED)
        self._all_used()
        if self.position in TREES and not self.whole:
            raise UserError(
                f"system.position = '{self.position}' needs trees: a text has none before it is written, and sources "
                "are given without; take system.kind = 'bert', or another position such as 'shaw'"
            )
        if self.attention == "linformer" and self.position in RELATIVE:
            raise UserError(
                f"system.position = '{self.position}' is about distances, and a mix of all tokens stands nowhere; "
                "with system.attention = 'linformer' take sinusoidal, learned or rotary"
            )

    def _all_used(self) -> None:
        """Stop where a setting would change nothing beside the others."""
        if self.feedforward != EXPERTS:
            gating = {field.name for field in fields(Gating)}
            unused("system", self, gating, f"system.feedforward is '{self.feedforward}'")
        if not self.bias:
            unused("system", self, ("bias_at",), "system.bias is false")
        if self.position != "rotary":
            unused("system", self, ROTARY, f"system.position is '{self.position}'")
        if self.position not in CLIPPED:
            unused("system", self, ("farthest",), f"system.position is '{self.position}'")

    @property
    def each(self) -> int:
        """The width of one head."""
        return self.head_width or head_width(self.width, self.heads)

    @property
    def biased(self) -> tuple[bool, bool, bool]:
        """Whether queries, keys and values, the output of attention, and feed-forward layers have biases."""
        return BIASED[self.bias_at] if self.bias else (False, False, False)

    def positions(self, std: float, *, ahead: bool = True) -> Position:
        """The scheme of a stack whose words have the scale `std`; `ahead` where they may look at what follows."""
        sizes = self.width, self.heads, self.each, self.context
        site = Site(*sizes, std, ahead=ahead, farthest=self.farthest, turns=self.turns)
        return position(self.position, self.position_at, site)

    def long(self, *, ahead: bool) -> list[Sees]:
        """What each layer sees of the long text."""
        return self.sees(ahead, self.depth, heads=self.groups or self.heads, width=self.each, context=self.context)

    def attention_to(self, role: str, sees: Sees = Sees(everyone), where: Position | None = None) -> MultiHead:
        score = pick(SCORES, self.score, "score")(self.heads, self.each)
        inside = where.inside() if where is not None else None
        look = Look(
            role, pattern=sees.pattern, score=score, position=inside, compress=sees.compress, dropout=self.dropout
        )
        made, closing, _ = self.biased
        return MultiHead(self.width, self.heads, look, groups=self.groups, each=self.each, bias=made, closing=closing)

    def around(self) -> nn.Module:
        return pick(RESIDUALS, self.norm, "norm")(self.normalise(), self.dropout, adds=self.residual)

    def normalise(self) -> nn.Module:
        return normalizer(self.normalizer, self.width, self.epsilon)

    def block_of(self, role: str, sees: Sees, where: Position, cross: MultiHead | None = None) -> Block:
        return Block(self.attention_to(role, sees, where), self.forwards(), self.around, cross=cross)

    def forwards(self) -> FeedForward | Gated | Experts | None:
        hidden, (_, _, bias) = self.hidden or 4 * self.width, self.biased
        if self.feedforward == EXPERTS:
            return Experts(self.width, hidden, self, dropout=self.dropout, bias=bias)
        if self.feedforward == NONE:
            return None
        make = pick(FEEDFORWARDS, self.feedforward, "feedforward", EXPERTS, NONE)
        return make(self.width, hidden, dropout=self.dropout, bias=bias)

    def stack(self, embedding: Embedding, blocks: list[Block]) -> Stack:
        closes = pick(RESIDUALS, self.norm, "norm").closes
        return Stack(embedding, blocks, self.normalise() if closes else None)


class StackSystem(System):
    """A system whose decoder is a stack: alone it is a language model, under an encoder a translator."""

    def __init__(self, settings: Layers, decoder: Stack, output: Unembedding):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.decoder, self.output = decoder, output
        self.vocabulary, self.packs = output.rows.out_features, not settings.alone
        self.whole_batches = settings.feedforward == EXPERTS

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        if at.document is not None and not self.packs:
            raise ValueError("this system reads one document a row: these rows are packed")
        vectors = self.decoder(tokens, at, memory=memory, cache=cache)
        if cache is not None:
            cache.advance(at)
        return vectors

    def logits(self, vectors):
        return self.output(vectors)

    def start(self, rows, capacity):
        return KeyValues(len(self.decoder.blocks), rows, capacity, self.device)
