"""The encoder-decoder RNN with attention (S4): for each word another look at the source."""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.alignment import Alignment
from regard.blocks.memory import Memory
from regard.blocks.recurrent import Bidirectional
from regard.errors import one_of
from regard.place import Place
from regard.systems.recurrent import Recurrence, RecurrentSystem

QUERIES = ("previous", "current")


@dataclass(frozen=True, kw_only=True)
class Seq2SeqAttention(Recurrence):
    """An encoder that reads both ways, a decoder that looks back at all it read.

    The `query` is the decoder's "previous" state, and what is found enters its next one (Bahdanau et al., 2015), or its
    "current" state, after which nothing but the output depends on what is found (Luong et al., 2015). With `feeding`
    the vector that a word was chosen from enters the next step too.
    """

    score: str = "additive"
    query: str = "previous"
    feeding: bool = False

    def build(self, vocabulary: int) -> "AttentiveRnn":
        one_of("system.query", self.query, QUERIES)
        embedding = self.embedding(vocabulary)
        return AttentiveRnn(self, embedding, self.output(embedding))


class AttentiveRnn(RecurrentSystem):
    reads_source = True

    def __init__(self, settings: Seq2SeqAttention, embedding, output):
        super().__init__(settings, embedding, output)
        width, cell = settings.width, settings.cell
        self.early, self.feeding = settings.query == "previous", settings.feeding
        self.source = settings.embedding(output.rows.out_features)
        self.encoder = nn.ModuleList([Bidirectional(cell, width, width) for _ in range(settings.depth)])
        self.decoder = settings.layers(width * (1 + self.early + self.feeding))
        self.alignment = Alignment(width, settings.score)
        self.mix = nn.Linear(2 * width, width)

    def encode(self, source, present=None):
        at, states = Place.line(source, present), []
        x = self.source(source, at)
        for layer in self.encoder:
            x, state = layer(self.drop(x), present)
            states.append(state)
        if self.feeding:  # before the first word no vector was chosen from
            states.append(torch.zeros_like(state[:, :1]))
        return Memory(self.drop(x), at, state=torch.cat(states, dim=1))

    def read(self, tokens, at, state, memory, cache):
        x = self.drop(self.embedding(tokens, at))
        state = memory.state if state is None else state
        keys = self.alignment.keys(memory, cache)
        if not self.early and not self.feeding:
            states, state = self.decoder(x, state, at.present)
            return self.drop(self._written(states, self.alignment(states, keys, memory, at))), state
        tops, founds = [], []
        for word, here in zip(x.split(1, dim=1), at.each(), strict=True):
            top, found, after = self._step(word, state, keys, memory, here)
            state = after if here.present is None else torch.where(here.present[..., None], after, state)
            tops.append(top)
            founds.append(found)
        return self.drop(self._written(torch.cat(tops, dim=1), torch.cat(founds, dim=1))), state

    def _step(self, x, state, keys, memory: Memory, at: Place):
        """One word: text 000's c_i = f(h_{i-1}, encoder states) when the query is the previous state."""
        own = state[:, : len(self.decoder.layers) * self.decoder.parts]
        fed = [state[:, -1:]] if self.feeding else []
        if self.early:
            found = self.alignment(own[:, -self.decoder.parts, None], keys, memory, at)
            top, own = self.decoder(torch.cat((x, found, *fed), dim=-1), own, None)
        else:
            top, own = self.decoder(torch.cat((x, *fed), dim=-1), own, None)
            found = self.alignment(top, keys, memory, at)
        return top, found, torch.cat((own, self._written(top, found)), dim=1) if self.feeding else own

    def _written(self, top, found):
        """The vector that a word is chosen from."""
        return torch.tanh(self.mix(torch.cat((top, found), dim=-1)))
