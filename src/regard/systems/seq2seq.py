"""The encoder-decoder RNN (S3): a source becomes one vector, from which the target is written."""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.memory import Memory
from regard.errors import one_of
from regard.place import Place
from regard.systems.recurrent import Recurrence, RecurrentSystem

ENTRIES = ("start", "every")


@dataclass(frozen=True, kw_only=True)
class Seq2Seq(Recurrence):
    """The last state of the encoder is the first of the decoder.

    With `enters` "start" that is all the decoder knows of the source (Sutskever et al., 2014); with "every" the
    encoder's last vector also stands beside each word that is read and each that is written (Cho et al., 2014).
    `reversed` reads the source from its end.
    """

    enters: str = "start"
    reversed: bool = False

    def build(self, vocabulary: int) -> "EncoderDecoderRnn":
        one_of("system.enters", self.enters, ENTRIES)
        return EncoderDecoderRnn(self, vocabulary)


class EncoderDecoderRnn(RecurrentSystem):
    reads_source = True

    def __init__(self, settings: Seq2Seq, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.every = settings.enters == "every"
        width = settings.width
        self.source = settings.embedding(vocabulary)
        self.encoder = settings.layers(width, backward=settings.reversed)
        self.decoder = settings.layers(2 * width if self.every else width)
        self.mix = nn.Linear(3 * width, width) if self.every else nn.Identity()

    def encode(self, source, present=None):
        at = Place.line(source, present)
        vectors, state = self.encoder(self.drop(self.source(source, at)), None, present)
        return Memory(vectors, at, state=state)

    def carry(self, tokens, at, state, memory, cache):
        x = self.drop(self.embedding(tokens, at))
        if not self.every:
            vectors, state = self.decoder(x, state, at.present)
            return self.drop(vectors), state
        top = memory.state[:, -self.decoder.parts, None].expand_as(x)
        vectors, state = self.decoder(torch.cat((x, top), -1), state, at.present)
        return self.drop(self.mix(torch.cat((vectors, top, x), -1))), state
