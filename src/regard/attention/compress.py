"""What is looked at, made shorter before it is looked at (S11, S13).

- none: every key.
- strided: a mix of every few keys that follow each other, standing where its last key stood, and the first key. A mix
  with padding in it is hidden.
- projected: a few mixes of all keys. Padding counts for nothing in them; the future cannot be hidden, so a causal
  pattern is refused.
"""

from itertools import pairwise

import torch
from torch import nn

from regard.attention.cache import Layer
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Bool, Float, Int, Tensor


class Compression(nn.Module):
    """The neutral answer: look at every key."""

    reach = 0

    def forward(
        self, key: Float[Tensor, "b h k d"], value: Float[Tensor, "b h k e"], at: Place
    ) -> tuple[Tensor, Tensor, Place]:
        return key, value, at

    def carried(self, key: Tensor, value: Tensor, q: Place, k: Place, layer: Layer) -> tuple[Tensor, Tensor, Place]:
        """The same of all keys in a cache, to which those of `q` were added last."""
        return self(key, value, k)

    def names(self, tokens: list[str]) -> list[str] | None:
        """What is looked at, where that is not the tokens themselves; what no token may look at is left out."""
        return None


class Strided(Compression):
    """A convolution over every `reach` keys and values, a step as long as itself (Liu et al., 2018, section 4.2.3).

    It stands at the last of them, so that a causal pattern shows no query its own future; an unfinished one at the end
    is not looked at. The first key is there as it is: before the first step is complete there is nothing else to see.
    Steps of one key are complete at once, and it is left out.
    """

    def __init__(self, heads: int, width: int, stride: int):
        super().__init__()
        self.reach = stride
        self.keys, self.values = (nn.Parameter(torch.empty(heads, stride * width, width)) for _ in range(2))
        for weight in (self.keys, self.values):
            nn.init.normal_(weight, std=(stride * width) ** -0.5)

    def forward(self, key, value, at):
        return self._mixed(key, self.keys), self._mixed(value, self.values), self._places(at)

    def carried(self, key, value, q, k, layer):
        kept = layer.shortened(self.reach)
        if q.index.shape[1] > 1 or not layer.cache.used:
            found = self(key, value, k)
            count = torch.arange(found[0].shape[2], device=key.device)
            kept.write(Place(count.expand(len(key), -1)), *found[:2])
            return found
        step = q.index // self.reach  # what it completes, or will: until then it is hidden
        slot = (step * self.reach + torch.arange(self.reach, device=key.device)).clamp(max=key.shape[2] - 1)
        row = torch.arange(len(key), device=key.device)[:, None]
        fresh = (x.transpose(1, 2)[row, slot].transpose(1, 2) for x in (key, value))
        mixes = (self._steps(x, weight) for x, weight in zip(fresh, (self.keys, self.values), strict=True))
        kept.write(Place(step + self._first), *mixes)
        at = self._places(k)
        return *kept.read(at.index.shape[1]), at

    def names(self, tokens):
        steps = range(0, len(tokens) - len(tokens) % self.reach, self.reach)
        return [*tokens[: self._first], *(" ".join(tokens[i : i + self.reach]) for i in steps)]

    @property
    def _first(self) -> int:
        """How many keys are there as they are."""
        return int(self.reach > 1)

    def _places(self, at: Place) -> Place:
        def last(field: Tensor) -> Tensor:
            return torch.cat((field[:, : self._first], field[:, self.reach - 1 :: self.reach]), dim=1)

        return at.map(last)

    def _mixed(self, x: Float[Tensor, "b h k d"], weight: Float[Tensor, "h sd d"]) -> Float[Tensor, "b h n d"]:
        whole = x.shape[2] - x.shape[2] % self.reach
        return torch.cat((x[:, :, : self._first], self._steps(x[:, :, :whole], weight)), dim=2)

    def _steps(self, x: Float[Tensor, "b h k d"], weight: Float[Tensor, "h sd d"]) -> Float[Tensor, "b h n d"]:
        steps = x.unflatten(2, (-1, self.reach)).flatten(3)
        return torch.einsum("bhni,hio->bhno", steps, weight.to(x.dtype)).to(x.dtype)


class Projected(Compression):
    """`size` mixes of all keys, and as many of the values, with learned weights for `limit` places (Wang et al., 2020).

    `shared` takes the same weights for both. The places are cut into `size` parts of neighbours. Before training mix i
    is the sum of part i, divided by the root of its length and so about as large as one key: mixes that begin as
    everything at random must first learn where anything stands. A text shorter than `limit` uses the weights of its
    places, and the mixes of those parts that it reaches. Padding counts for nothing.
    """

    begins: Int[Tensor, "n"]

    def __init__(self, limit: int, size: int, *, shared: bool):
        super().__init__()
        if size > limit:
            raise UserError(f"system.projected = {size} mixes of system.context = {limit} tokens: take at most {limit}")
        parts = torch.arange(limit) * size // limit == torch.arange(size)[:, None]
        sums = parts / parts.sum(1, keepdim=True).sqrt()
        self.keys = nn.Parameter(sums)
        self.values = self.keys if shared else nn.Parameter(sums.clone())
        self.register_buffer("begins", parts.int().argmax(1), persistent=False)  # the first place of each part

    def forward(self, key, value, at):
        size, limit, length = *self.keys.shape, key.shape[2]
        if length > limit:
            raise UserError(
                f"a text of {length} tokens; system.context = {limit}, and each place has weights of its own"
            )
        if at.present is not None:
            absent = ~at.present[:, None, :, None]
            key, value = key.masked_fill(absent, 0.0), value.masked_fill(absent, 0.0)
        key, value = (w[:, :length].to(x.dtype) @ x for w, x in ((self.keys, key), (self.values, value)))
        return key, value, Place(at.index.new_zeros(len(key), size), present=self._reached(at, length))

    def names(self, tokens):
        ends = pairwise([*self.begins.tolist(), self.keys.shape[1]])
        parts = (tokens[begin:end] for begin, end in ends if begin < len(tokens))
        return [f"mix {number}: {spanned(part)}" for number, part in enumerate(parts, 1)]

    def _reached(self, at: Place, length: int) -> Bool[Tensor, "b n"] | None:
        """Which mixes a text has: those whose part it reaches. None where all have all, known on the host."""
        if at.present is None and length == self.keys.shape[1]:
            return None
        count = at.index.new_full((len(at.index),), length) if at.present is None else at.present.sum(1)
        return self.begins < count[:, None]


def spanned(tokens: list[str]) -> str:
    """Neighbours in a few words."""
    return " ".join(tokens) if len(tokens) <= 3 else f"{tokens[0]} … {tokens[-1]}"
