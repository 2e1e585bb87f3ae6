"""The encoder-decoder RNN with attention (S4): for each word another look at the source.

Text 000's c_i = f(h_{i-1}, encoder states): the query is the decoder's previous state, and what is found is read beside
the word (Bahdanau et al., 2015). The other known choice asks with the current state, and what is found enters the
output alone (Luong et al., 2015), or with input feeding the next step as well.

Other than in Bahdanau's paper: a word is chosen from tanh(W [s_i; c_i]), Luong's, with no maxout; each direction of the
encoder has half of the width; each decoder layer starts from both last states of the encoder layer beside it.
"""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.alignment import Alignment
from regard.blocks.attentive import Attentive
from regard.blocks.memory import Memory
from regard.blocks.recurrent import Bidirectional
from regard.errors import UserError, one_of
from regard.place import Place
from regard.systems.recurrent import Recurrence, RecurrentSystem


@dataclass(frozen=True, kw_only=True)
class Seq2SeqAttention(Recurrence):
    """An encoder that reads both ways, a decoder that looks back at all it read.

    The `query` is the decoder's "previous" or "current" state. With `feeding`, and the current one, the vector that a
    word was chosen from enters the next step.
    """

    score: str = "additive"
    query: str = "previous"
    feeding: bool = False

    def build(self, vocabulary: int) -> "AttentiveRnn":
        one_of("system.query", self.query, QUERIES)
        if self.feeding and self.query == "previous":
            raise UserError(
                "system.feeding: with the previous state as query what is found is read anyway; leave it out"
            )
        return QUERIES[self.query](self, vocabulary)


class AttentiveRnn(RecurrentSystem):
    """The encoder, and how a word is chosen."""

    reads_source = True

    def __init__(self, settings: Seq2SeqAttention, vocabulary: int):
        super().__init__(settings, vocabulary)
        width = settings.width
        self.source = settings.embedding(vocabulary)
        self.encoder = nn.ModuleList([Bidirectional(settings.cell, width, width) for _ in range(settings.depth)])
        self.mix = nn.Linear(2 * width, width)

    def encode(self, source, present=None):
        at, states = Place.line(source, present), []
        x = self.source(source, at)
        for layer in self.encoder:
            x, state = layer(self.drop(x), present)
            states.append(state)
        return Memory(self.drop(x), at, state=torch.cat(states, dim=1))

    def written(self, top, found):
        """The vector that a word is chosen from."""
        return torch.tanh(self.mix(torch.cat((top, found), dim=-1)))


class LooksBefore(AttentiveRnn):
    """The previous state looks, and what it finds is read: every word waits for the one before."""

    def __init__(self, settings: Seq2SeqAttention, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.decoder = Attentive(settings.layers(2 * self.width), score=settings.score, enter=nn.Identity())

    def carry(self, tokens, at, state, memory, cache):
        words = self.drop(self.embedding(tokens, at))
        entered, top, state = self.decoder(words, state, memory, at, cache)
        return self.drop(self.written(top, entered[..., -self.width :])), state


class LooksAfter(AttentiveRnn):
    """The current state looks: all words at once, unless what one was chosen from enters the next step."""

    def __init__(self, settings: Seq2SeqAttention, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.feeding = settings.feeding
        self.decoder = settings.layers(self.width * (1 + self.feeding))
        self.alignment = Alignment(self.width, settings.score)

    def encode(self, source, present=None):
        memory = super().encode(source, present)
        if not self.feeding:
            return memory
        nothing = torch.zeros_like(memory.state[:, :1])  # before the first word no vector was chosen from
        return Memory(memory.vectors, memory.at, state=torch.cat((memory.state, nothing), dim=1))

    def carry(self, tokens, at, state, memory, cache):
        words, keys = self.drop(self.embedding(tokens, at)), self.alignment.keys(memory, cache)
        if not self.feeding:
            top, state = self.decoder(words, state, at.present)
            return self.drop(self.written(top, self.alignment(top, keys, memory, at))), state
        vectors = []
        for word, here in zip(words.split(1, dim=1), at.each(), strict=True):
            top, own = self.decoder(torch.cat((word, state[:, -1:]), dim=-1), state[:, :-1], None)
            vectors.append(self.written(top, self.alignment(top, keys, memory, here)))
            after = torch.cat((own, vectors[-1]), dim=1)
            state = after if here.present is None else torch.where(here.present[..., None], after, state)
        return self.drop(torch.cat(vectors, dim=1)), state


QUERIES = {"previous": LooksBefore, "current": LooksAfter}
