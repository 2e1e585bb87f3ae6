"""What convolutional systems share: their settings, and a text read through windows."""

from dataclasses import dataclass

from regard.blocks.convolution import Tails
from regard.systems.reader import Reader, Writing


@dataclass(frozen=True, kw_only=True)
class Convolutional(Writing):
    """Layers of convolutions."""

    depth: int = 4


class ConvolutionalSystem(Reader):
    """A decoder that sees its past through windows."""

    def start(self, rows, capacity):
        return Tails(self.settings.depth, rows, capacity, self.device)
