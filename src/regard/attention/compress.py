"""What is looked at, made shorter before it is looked at (S11, S13).

- none: every key.
- strided: a mix of every few keys that follow each other, standing where its last key stood, and the first key. A mix
  with padding in it is hidden.
- projected: a few mixes of all keys. Padding counts for nothing in them; the future cannot be hidden, so a causal
  pattern is refused.
"""

import torch
from torch import nn

from regard.place import Place
from regard.shapes import Float, Tensor


class Compression(nn.Module):
    """The neutral answer: look at every key."""

    reach = 0

    def forward(
        self, key: Float[Tensor, "b h k d"], value: Float[Tensor, "b h k e"], at: Place
    ) -> tuple[Tensor, Tensor, Place]:
        return key, value, at

    def names(self, tokens: list[str]) -> list[str] | None:
        """What is looked at, where that is not the tokens themselves."""
        return None


class Strided(Compression):
    """A convolution over every `reach` keys and values, a step as long as itself (Liu et al., 2018, section 4.2.3).

    It stands at the last of them, so that a causal pattern shows no query its own future; an unfinished one at the end
    is not looked at. The first key is there as it is: before the first step is complete there is nothing else to see.
    """

    def __init__(self, heads: int, width: int, stride: int):
        super().__init__()
        self.reach = stride
        self.keys, self.values = (nn.Parameter(torch.empty(heads, stride * width, width)) for _ in range(2))
        for weight in (self.keys, self.values):
            nn.init.normal_(weight, std=(stride * width) ** -0.5)

    def forward(self, key, value, at):
        def last(field: Tensor) -> Tensor:
            return torch.cat((field[:, :1], field[:, self.reach - 1 :: self.reach]), dim=1)

        return self._mixed(key, self.keys), self._mixed(value, self.values), at.map(last)

    def names(self, tokens):
        steps = range(0, len(tokens) - len(tokens) % self.reach, self.reach)
        return [tokens[0], *(" ".join(tokens[i : i + self.reach]) for i in steps)]

    def _mixed(self, x: Float[Tensor, "b h k d"], weight: Float[Tensor, "h sd d"]) -> Float[Tensor, "b h n d"]:
        whole = x.shape[2] - x.shape[2] % self.reach
        steps = x[:, :, :whole].unflatten(2, (-1, self.reach)).flatten(3)
        mixed = torch.einsum("bhni,hio->bhno", steps, weight.to(x.dtype))
        return torch.cat((x[:, :, :1], mixed.to(x.dtype)), dim=2)


class Projected(Compression):
    """`size` mixes of all keys, and as many of the values, with a learned weight for each place (Wang et al., 2020).

    `shared` takes the same weights for both. Padding is left out of the mixes, and a text shorter than `limit` uses the
    weights of its places.
    """

    def __init__(self, limit: int, size: int, *, shared: bool):
        super().__init__()
        self.keys = nn.Parameter(torch.empty(size, limit))
        self.values = self.keys if shared else nn.Parameter(torch.empty(size, limit))
        for weight in {self.keys, self.values}:
            nn.init.normal_(weight, std=limit**-0.5)

    def forward(self, key, value, at):
        size, length = len(self.keys), key.shape[2]
        if at.present is not None:
            absent = ~at.present[:, None, :, None]
            key, value = key.masked_fill(absent, 0.0), value.masked_fill(absent, 0.0)
        key, value = (w[:, :length].to(x.dtype) @ x for w, x in ((self.keys, key), (self.values, value)))
        return key, value, Place(at.index.new_zeros(len(key), size))

    def names(self, tokens):
        return [f"mix {i + 1}" for i in range(len(self.keys))]
