"""What is looked at, made shorter before it is looked at.

A compressed key stands at the place of the last token that went into it, so a causal pattern lets no query see a block
that holds its own future.
"""

from regard.place import Place
from regard.shapes import Float, Tensor


class Compression:
    """The neutral answer: look at every key."""

    reach = 0

    def __call__(
        self, key: Float[Tensor, "b h k d"], value: Float[Tensor, "b h k d"], at: Place
    ) -> tuple[Tensor, Tensor, Place]:
        return key, value, at


class Pool(Compression):
    """The mean of each complete block of `stride` keys and values; an unfinished block at the end is not looked at."""

    def __init__(self, stride: int):
        self.reach = stride

    def __call__(self, key, value, at):
        if self.reach == 1:
            return key, value, at
        blocks = key.shape[2] // self.reach

        def mean(x: Tensor) -> Tensor:
            return x[:, :, : blocks * self.reach].unflatten(2, (blocks, self.reach)).mean(3)

        def last(field: Tensor) -> Tensor:
            return field[:, self.reach - 1 : blocks * self.reach : self.reach]

        return mean(key), mean(value), at.map(last)
