"""A text seen through windows of words (O3, O4, S5; Kim, 2014).

c_t = ReLU(W [x_{t-k}, ..., x_{t+k}] + b) for windows of several sizes; c_t tells the tag of a word, and the largest c_t
of every feature the label of a text.
"""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.convolution import Centred
from regard.blocks.embedding import word_vectors
from regard.errors import UserError, at_least, share
from regard.systems.encoder import Encoder, Encoding
from regard.systems.heads import Asked, Ground, largest
from regard.tap import Tap


@dataclass(frozen=True, kw_only=True)
class WindowEncoder(Encoding):
    """Word vectors and, for each of the `windows` (so many words, odd), as many features as a vector is wide."""

    width: int = 128
    windows: tuple[int, ...] = (3, 5, 7)
    context: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        at_least(1, "system", self, "width", "context")
        share("system", self, "dropout")
        if not self.windows or min(self.windows) < 1:
            raise UserError(f"system.windows = {list(self.windows)}; give at least one, each of at least 1 word")

    def build(self, vocabulary: int, asked: Asked = Asked()) -> "ConvolutionalEncoder":
        return ConvolutionalEncoder(self, vocabulary, asked)


class ConvolutionalEncoder(Encoder):
    """Taps: `features` after the ReLU, [b t w] with the windows side by side."""

    def __init__(self, settings: WindowEncoder, vocabulary: int, asked: Asked):
        super().__init__(settings, vocabulary)
        width, windows = settings.width, settings.windows
        self.embedding = word_vectors(vocabulary, width)
        self.windows = nn.ModuleList([Centred(width, width, window) for window in windows])
        self.drop = nn.Dropout(settings.dropout)
        self.features = Tap()
        self.finish(asked.on(Ground(self.embedding, len(windows) * width, largest, settings.dropout)))

    def embed(self, tokens, at):
        x = self.drop(self.embedding(tokens, at))
        features = torch.cat([window(x, at) for window in self.windows], dim=-1).relu()
        self.features(lambda: features)
        return features
