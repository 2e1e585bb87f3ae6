"""What a decoder remembers between calls: keys and values, written where their tokens stand.

Slot j of a row holds the token at index j, whatever the other rows do. Rows of different lengths need no padding on
the left, and what lies beyond a row's length is hidden by the causal rule until it is overwritten.
"""

import torch

from regard.place import Place
from regard.shapes import Int, Tensor

BLOCK = 64  # slots


class KeyValue:
    """The keys and values of one attention, in memory taken once."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.kept: list[Tensor] = []  # all keys and all values, from the first writing on

    def write(self, key: Tensor, value: Tensor, at: Place) -> None:
        if not self.kept:
            self.kept = [x.new_zeros(*x.shape[:2], self.capacity, x.shape[3]) for x in (key, value)]
        row = torch.arange(key.shape[0], device=key.device)[:, None]
        for kept, new in zip(self.kept, (key, value), strict=True):
            kept[row, :, at.index] = new.transpose(1, 2)

    def read(self, used: int) -> tuple[Tensor, Tensor]:
        key, value = self.kept
        return key[:, :, :used], value[:, :, :used]

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        self.kept = [kept[rows] for kept in self.kept]


class Layer:
    """One block's share of the cache: what it saw of the text and, where there is one, of the memory."""

    def __init__(self, cache: "Cache"):
        self.cache = cache
        self.own = KeyValue(cache.capacity)
        self.memory: tuple[Tensor, Tensor] | None = None

    def extend(self, key: Tensor, value: Tensor, at: Place) -> tuple[Tensor, Tensor, Place]:
        """Keep new keys and values; give back all there are and where they stand.

        Whole blocks are given, so that lengths repeat and kernels need not be planned anew for every token; what lies
        beyond a row's end is hidden by the causal rule.
        """
        self.own.write(key, value, at)
        if self.cache.used == 0:
            return key, value, at
        used = min(self.cache.capacity, -(-(self.cache.used + key.shape[2]) // BLOCK) * BLOCK)
        index = torch.arange(used, device=key.device).expand(key.shape[0], used)
        return *self.own.read(used), Place(index)

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        self.own.reorder(rows)
        if self.memory is not None:
            self.memory = (self.memory[0][rows], self.memory[1][rows])


class Cache:
    """The state of a decoder with `depth` blocks for `rows` texts of at most `capacity` tokens."""

    def __init__(self, depth: int, rows: int, capacity: int, device: torch.device | str = "cpu"):
        self.capacity = capacity
        self.length = torch.zeros(rows, dtype=torch.long, device=device)
        self.used = 0  # no row is longer; known on the host, so reading needs no word from the device
        self.layers = [Layer(self) for _ in range(depth)]

    def places(self, tokens: Int[Tensor, "b t"], present: Tensor | None = None) -> Place:
        """Where the next tokens of each row stand."""
        if self.used + tokens.shape[1] > self.capacity:
            raise ValueError(f"{self.used + tokens.shape[1]} tokens in a cache made for {self.capacity}")
        steps = torch.arange(tokens.shape[1], device=tokens.device)
        return Place(self.length[:, None] + steps, present=present)

    def advance(self, at: Place) -> None:
        """Count the tokens just written. What a row was padded with is not counted and will be overwritten."""
        count = at.index.shape[1]
        self.length = self.length + (count if at.present is None else at.present.sum(1))
        self.used += count

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        """Row i continues what row `rows[i]` was."""
        self.length = self.length[rows]
        for layer in self.layers:
            layer.reorder(rows)

    def trim(self, length: int) -> None:
        """Forget everything from index `length` on."""
        self.length = self.length.clamp(max=length)
        self.used = min(self.used, length)
