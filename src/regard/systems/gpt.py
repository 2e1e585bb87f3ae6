"""The decoder-only Transformer (S9): GPT and, with other settings, Llama."""

import math
from dataclasses import dataclass

from torch import nn

from regard.attention.heads import initialise
from regard.blocks.embedding import Embedding, Unembedding
from regard.errors import UserError
from regard.systems.layers import Layers, StackSystem


@dataclass(frozen=True, kw_only=True)
class Gpt(Layers):
    """Blocks that see the past alone, read out by the embedding itself when `tied` (Radford et al., 2019)."""

    depth: int = 4
    position: str = "learned"
    feedforward: str = "gelu-tanh"
    tied: bool = True

    def build(self, vocabulary: int) -> StackSystem:
        std = 0.02 * math.sqrt(768 / self.width)  # GPT-2's at its own width; a narrow model starts deaf with less
        embedding = Embedding(vocabulary, self.width, self.positions(std, ahead=False), std=std, dropout=self.dropout)
        if self.tied and embedding.position.takes:
            raise UserError("concatenated positions make word vectors narrower than the output; set system.tied=false")
        blocks = [self.block_of("decoder", sees, embedding.position) for sees in self.long(ahead=False)]
        decoder = self.stack(embedding, blocks)
        output = Unembedding(vocabulary, self.width, tied=embedding.rows if self.tied else None)
        initialise(decoder.blocks, std)
        for block in blocks:  # what is added to the stream, so that its size does not grow with depth
            for layer in (part.output for part in (block.attention, block.feedforward) if part is not None):
                weight = layer.weight if isinstance(layer, nn.Linear) else layer
                nn.init.normal_(weight, std=std / math.sqrt(2 * self.depth))
        return StackSystem(self, decoder, output)
