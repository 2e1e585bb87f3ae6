"""What recurrent layers leave out in training, besides single units: units of a whole row, words, weights."""

from torch import nn

from regard.shapes import Float, Int, Tensor


class Dropping(nn.Module):
    """Something is left out in training, each time with probability `p`."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    @property
    def acts(self) -> bool:
        return self.training and self.p > 0


class Locked(Dropping):
    """Dropout with one mask for all tokens of a row (Gal and Ghahramani, 2016)."""

    def forward(self, x: Float[Tensor, "b t w"]) -> Float[Tensor, "b t w"]:
        return x * nn.functional.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.p) if self.acts else x


class WordDropout(Dropping):
    """Words left out wherever they stand in a batch (Gal and Ghahramani, 2016)."""

    def forward(self, x: Float[Tensor, "b t w"], tokens: Int[Tensor, "b t"], vocabulary: int) -> Float[Tensor, "b t w"]:
        return x * nn.functional.dropout(x.new_ones(vocabulary, 1), self.p)[tokens] if self.acts else x


class WeightDropout(Dropping):
    """Weights left out, the same ones at every token (DropConnect; Merity et al., 2018, from state to state)."""

    def forward(self, weight: Float[Tensor, "o i"]) -> Float[Tensor, "o i"]:
        return nn.functional.dropout(weight, self.p) if self.acts else weight
