"""The Transformer encoder-decoder (S7; Vaswani et al., 2017, figure 1)."""

import math
from dataclasses import dataclass

from regard.attention.heads import xavier
from regard.attention.patterns import causal
from regard.blocks.block import Stack
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.memory import Memory
from regard.errors import UserError, at_least, one_of
from regard.place import Place
from regard.systems.layers import Layers, StackSystem
from regard.systems.long import Sees

TIES = ("none", "output", "all")


@dataclass(frozen=True, kw_only=True)
class Transformer(Layers):
    """An encoder whose tokens all see each other, a decoder that sees its past and the encoder's top layer.

    `tied` is "none", "output" (target embedding = output layer) or "all" (source embedding too). `decoder_depth` 0
    means as many layers as the encoder has. What came after 2017: word vectors that are not `scaled` by the root of
    the width, a norm on them (`embedding_norm`), and a number for each token in the output (`output_bias`).
    """

    depth: int = 2
    decoder_depth: int = 0
    context: int = 512
    tied: str = "all"
    scaled: bool = True
    embedding_norm: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(0, "system", self, "decoder_depth")

    def build(self, vocabulary: int) -> "EncoderDecoder":
        one_of("system.tied", self.tied, TIES)
        source, target = (self._embedding(vocabulary, ahead) for ahead in (True, False))
        if self.tied == "all":
            source.rows = target.rows
        if self.tied != "none" and target.position.takes:
            raise UserError("concatenated positions make word vectors narrower than the output; set system.tied='none'")
        encoder, decoder = encoder_and_decoder(self, source, target, self.decoder_depth)
        tied = None if self.tied == "none" else target.rows
        output = Unembedding(vocabulary, self.width, tied=tied, bias=self.output_bias)
        xavier(encoder.blocks)
        xavier(decoder.blocks)
        return EncoderDecoder(self, encoder, decoder, output)

    def _embedding(self, vocabulary: int, ahead: bool) -> Embedding:
        std = self.width**-0.5
        size = std if self.position == "learned" and not self.scaled else 1.0  # sinusoids are as high as in 2017
        return Embedding(
            vocabulary,
            self.width,
            self.positions(size, ahead=ahead),
            std=std,
            scale=math.sqrt(self.width) if self.scaled else 1.0,
            norm=self.normalise() if self.embedding_norm else None,
            dropout=self.dropout,
        )


def encoder_and_decoder(
    settings: Layers, source: Embedding, target: Embedding, decoder_depth: int
) -> tuple[Stack, Stack]:
    """Two stacks: one that reads the source, one whose tokens see their past and the top of the first."""
    reading = [settings.block_of("encoder", sees, source.position) for sees in settings.long(ahead=True)]
    writing = [
        settings.block_of("decoder", Sees(causal), target.position, cross=settings.attention_to("cross"))
        for _ in range(decoder_depth or settings.depth)
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
