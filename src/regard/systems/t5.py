"""T5 (S10; Raffel et al., 2020): the encoder-decoder of 2017, made simpler.

Norms stand before the sublayers and only scale, nothing has a bias, scores are plain dot products, and order is a
learned number for each distance that all layers of a stack add to their scores. Version 1.1 has a gated feed-forward
layer and an output of its own.
"""

from dataclasses import dataclass

from torch import nn

from regard.attention.heads import MultiHead, initialise
from regard.blocks.block import Block, Stack
from regard.blocks.embedding import Embedding, Unembedding
from regard.errors import UserError, at_least
from regard.systems.layers import Layers
from regard.systems.transformer import EncoderDecoder, encoder_and_decoder


@dataclass(frozen=True, kw_only=True)
class T5(Layers):
    """Source and target share their word vectors; the output too when `tied`, and its scores are then made smaller.

    `decoder_depth` 0 means as many layers as the encoder has.
    """

    decoder_depth: int = 0
    context: int = 512
    position: str = "buckets"
    normalizer: str = "rms"
    epsilon: float = 1e-6
    score: str = "dot"
    bias: bool = False
    tied: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(0, "system", self, "decoder_depth")

    def build(self, vocabulary: int) -> EncoderDecoder:
        source, target = (self._embedding(vocabulary, ahead) for ahead in (True, False))
        source.rows = target.rows
        if self.tied and target.position.takes:
            raise UserError("concatenated positions make word vectors narrower than the output; set system.tied=false")
        encoder, decoder = encoder_and_decoder(self, source, target, self.decoder_depth)
        rows, scale = (target.rows, self.width**-0.5) if self.tied else (None, 1.0)
        output = Unembedding(vocabulary, self.width, tied=rows, scale=scale)
        self._initialise(encoder.blocks)
        self._initialise(decoder.blocks)
        return EncoderDecoder(self, encoder, decoder, output)

    def stack(self, embedding: Embedding, blocks: list[Block]) -> Stack:
        """What leaves a stack is subject to dropout too."""
        made = super().stack(embedding, blocks)
        made.norm = nn.Sequential(made.norm, nn.Dropout(self.dropout))
        return made

    def _embedding(self, vocabulary: int, ahead: bool) -> Embedding:
        return Embedding(vocabulary, self.width, self.positions(1.0, ahead=ahead), std=1.0, dropout=self.dropout)

    def _initialise(self, blocks: nn.Module) -> None:
        """Every matrix keeps the size of what it is given, and a query's makes it small: its score has no root."""
        for part in blocks.modules():
            if isinstance(part, nn.Linear):
                initialise(part, part.in_features**-0.5)
        for part in blocks.modules():
            if isinstance(part, MultiHead):
                initialise(part.to_query, (self.width * self.each) ** -0.5)
