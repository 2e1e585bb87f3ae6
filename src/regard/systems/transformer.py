"""The Transformer encoder-decoder (S7; Vaswani et al., 2017, figure 1)."""

import math
from dataclasses import dataclass

from regard.attention.heads import xavier
from regard.attention.patterns import causal
from regard.blocks.block import Stack
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.memory import Memory
from regard.errors import UserError, one_of
from regard.place import Place
from regard.systems.layers import Layers, StackSystem
from regard.systems.long import Sees

TIES = ("none", "output", "all")


@dataclass(frozen=True, kw_only=True)
class Transformer(Layers):
    """An encoder whose tokens all see each other, a decoder that sees its past and the encoder's top layer.

    `tied` is "none", "output" (target embedding = output layer) or "all" (source embedding too).
    """

    depth: int = 2
    context: int = 512
    tied: str = "all"

    def build(self, vocabulary: int) -> "EncoderDecoder":
        one_of("system.tied", self.tied, TIES)
        source, target = (self._embedding(vocabulary, ahead) for ahead in (True, False))
        if self.tied == "all":
            source.rows = target.rows
        if self.tied != "none" and target.position.takes:
            raise UserError("concatenated positions make word vectors narrower than the output; set system.tied='none'")
        encoder, decoder = encoder_and_decoder(self, source, target)
        output = Unembedding(vocabulary, self.width, tied=None if self.tied == "none" else target.rows)
        xavier(encoder.blocks)
        xavier(decoder.blocks)
        return EncoderDecoder(self, encoder, decoder, output)

    def _embedding(self, vocabulary: int, ahead: bool) -> Embedding:
        std, scale, where = self.width**-0.5, math.sqrt(self.width), self.positions(1.0, ahead=ahead)
        return Embedding(vocabulary, self.width, where, std=std, scale=scale, dropout=self.dropout)


def encoder_and_decoder(settings: Layers, source: Embedding, target: Embedding) -> tuple[Stack, Stack]:
    """Two stacks: one that reads the source, one whose tokens see their past and the top of the first."""
    reading = [settings.block_of("encoder", sees, source.position) for sees in settings.long(ahead=True)]
    writing = [
        settings.block_of("decoder", Sees(causal), target.position, cross=settings.attention_to("cross"))
        for _ in range(settings.depth)
    ]
    return settings.stack(source, reading), settings.stack(target, writing)


class EncoderDecoder(StackSystem):
    reads_source = True

    def __init__(self, settings: Layers, encoder: Stack, decoder: Stack, output: Unembedding):
        super().__init__(settings, decoder, output)
        self.encoder = encoder

    def encode(self, source, present=None):
        at = Place.line(source, present)
        return Memory(self.encoder(source, at), at)
