"""The encoder-only Transformer (S8; Devlin et al., 2019): every token sees all others of its text."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import nn
from torch.nn.functional import gelu

from regard.attention.heads import initialise
from regard.attention.look import parted
from regard.attention.positions import Position
from regard.attention.schemes import TREES
from regard.blocks.block import Stack
from regard.blocks.embedding import Embedding
from regard.errors import UserError, at_least, one_of
from regard.systems.encoder import Encoder, Encoding
from regard.systems.heads import ACTIVATIONS, Asked, First, Ground, Head, Pool, largest, mean
from regard.systems.layers import EXPERTS, Layers

POOLS: dict[str, Callable[[int], Pool]] = {
    "first": First,
    "first-relu": partial(First, activation=ACTIVATIONS["relu"]),
    "first-gelu": partial(First, activation=ACTIVATIONS["gelu"]),
    "first-gelu-tanh": partial(First, activation=ACTIVATIONS["gelu-tanh"]),
    "mean": lambda width: mean,
    "max": lambda width: largest,
}


@dataclass(frozen=True, kw_only=True)
class Bert(Layers, Encoding):
    """Word, place and segment are added, normalised, and go through blocks that look both ways.

    `segments` is how many texts of a row are told apart: the first sentence is 0, the second 1; with 0 there are no
    vectors for them, and with less than 2 nothing but the symbols between them parts two texts. `pool` is what stands
    for a whole text: "first" (a layer on the start symbol's vector, with tanh or the activation that is named), "mean"
    or "max" over the tokens. A head that guesses words bends its vectors as the feed-forward layers do, or by GELU
    where those are gated.
    """

    whole: ClassVar[bool] = True
    depth: int = 4
    position: str = "learned"
    norm: str = "post"
    feedforward: str = "gelu"
    epsilon: float = 1e-12
    segments: int = 2
    pool: str = "first"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(0, "system", self, "segments")
        one_of("system.pool", self.pool, POOLS)
        if self.position_at == "concatenated":
            raise UserError("concatenated positions make word vectors narrower than the output, which is tied to them")

    def build(self, vocabulary: int, asked: Asked = Asked()) -> "BidirectionalTransformer":
        std = 0.02 * math.sqrt(768 / self.width)  # BERT's at its own width; a narrow model starts deaf with less
        embedding = SegmentEmbedding(vocabulary, self, self.positions(std), std)
        blocks = [self.block_of("encoder", sees, embedding.position) for sees in self.long(ahead=True)]
        pool, bend = POOLS[self.pool](self.width), ACTIVATIONS.get(self.feedforward, gelu)
        ground = Ground(embedding, self.width, pool, self.dropout, self.epsilon, bend)
        encoder, head = self.stack(embedding, blocks), asked.on(ground)
        if head.whole and isinstance(pool, First) and parted(encoder):
            raise UserError(
                f"system.attention = '{self.attention}' shows each token its own block alone, so the first one cannot "
                f"stand for a whole text, as system.pool = '{self.pool}' has it: take 'mean' or 'max'"
            )
        initialise(encoder.blocks, std)
        initialise(head, std)
        return BidirectionalTransformer(self, encoder, head, vocabulary)


class SegmentEmbedding(Embedding):
    """Word vectors to which place and segment are added, then normalised."""

    def __init__(self, vocabulary: int, settings: Bert, position: Position, std: float):
        super().__init__(vocabulary, settings.width, position, std=std, dropout=settings.dropout)
        self.segments = nn.Embedding(settings.segments, settings.width) if settings.segments else None
        if self.segments is not None:
            nn.init.normal_(self.segments.weight, std=std)
        self.norm = settings.normalise()

    def forward(self, tokens, at):
        x = self.position.on_input(self.rows(tokens), at)
        if self.segments is not None:
            several = at.segment is not None and len(self.segments.weight) > 1
            x = x + (self.segments(at.segment) if several else self.segments.weight[0])
        self.vectors(lambda: x)
        return self.dropout(self.norm(x))


class BidirectionalTransformer(Encoder):
    def __init__(self, settings: Bert, encoder: Stack, head: Head, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.encoder, self.trees = encoder, settings.position in TREES
        self.whole_batches = settings.feedforward == EXPERTS
        self.finish(head)

    @property
    def limit(self) -> int | None:
        return self.context

    def embed(self, tokens, at):
        return self.encoder(tokens, at)
