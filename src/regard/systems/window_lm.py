"""The word-window language model (S5): the next word from the last few, and from windows of windows."""

from dataclasses import dataclass
from functools import partial

from regard.blocks.convolution import UNITS, Causal, ConvolutionLayer, Convolutions
from regard.errors import at_least, one_of
from regard.systems.convolutional import Convolutional, ConvolutionalSystem


@dataclass(frozen=True, kw_only=True)
class WindowLm(Convolutional):
    """Layers that each see a `window` of tokens, the newest among them, with residual connections.

    `unit` is "glu", gated linear units (Dauphin et al., 2017), or "tanh".
    """

    window: int = 5
    unit: str = "glu"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(2, "system", self, "window")
        one_of("system.unit", self.unit, UNITS)

    def build(self, vocabulary: int) -> "WindowLanguageModel":
        return WindowLanguageModel(self, vocabulary)


class WindowLanguageModel(ConvolutionalSystem):
    def __init__(self, settings: WindowLm, vocabulary: int):
        width = settings.width
        super().__init__(settings, vocabulary)
        convolution = partial(Causal, kernel=settings.window)
        self.layers = Convolutions(
            [
                ConvolutionLayer(width, convolution, settings.unit, dropout=settings.dropout)
                for _ in range(settings.depth)
            ]
        )

    def read(self, tokens, at, memory, cache):
        return self.drop(self.layers(self.drop(self.embedding(tokens, at)), at, cache=cache))
