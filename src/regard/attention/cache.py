"""What a decoder remembers between calls.

Every cache counts the tokens of its rows; each kind keeps what its system needs. Here: keys and values, written where
their tokens stand. Slot j of a row holds the token at index j, whatever the other rows do. Rows of different lengths
need no padding on the left, and what lies beyond a row's length is hidden by the causal rule until it is overwritten.
"""

from collections.abc import Callable

import torch

from regard.place import Place
from regard.shapes import Bool, Int, Tensor

BLOCK = 64  # slots


class Cache:
    """The state of a decoder for `rows` texts of at most `capacity` tokens."""

    def __init__(self, rows: int, capacity: int, device: torch.device | str = "cpu"):
        self.capacity = capacity
        self.length = torch.zeros(rows, dtype=torch.long, device=device)
        self.used = 0  # no row is longer; known on the host, so reading needs no word from the device
        self._made: dict[str, tuple[Tensor, ...]] = {}

    def places(self, tokens: Int[Tensor, "b t"], present: Tensor | None = None) -> Place:
        """Where the next tokens of each row stand."""
        if self.used + tokens.shape[1] > self.capacity:
            raise ValueError(f"{self.used + tokens.shape[1]} tokens in a cache made for {self.capacity}")
        steps = torch.arange(tokens.shape[1], device=tokens.device)
        return Place(self.length[:, None] + steps, present=present)

    def advance(self, at: Place) -> None:
        """Count the tokens just read. What a row was padded with is not counted and will be overwritten."""
        count = at.index.shape[1]
        self.length = self.length + (count if at.present is None else at.present.sum(1))
        self.used += count

    def once(self, name: str, make: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """What is made of the memory, which does not change while decoding: made at the first asking."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        """Row i continues what row `rows[i]` was."""
        self.length = self.length[rows]
        self._made = {name: tuple(x[rows] for x in made) for name, made in self._made.items()}

    def trim(self, length: int) -> None:
        """Forget everything from index `length` on."""
        self.length = self.length.clamp(max=length)
        self.used = min(self.used, length)


class Slots:
    """Tensors of one layer along whose axis `along` there are so many slots, one for each token if not told."""

    def __init__(self, cache: Cache, along: int, room: int | None = None):
        self.cache, self.along, self.room = cache, along, room or cache.capacity
        self.kept: list[Tensor] = []

    def write(self, at: Place, *new: Tensor) -> None:
        if not self.kept:
            self.kept = [self._room(x) for x in new]
        row = torch.arange(len(at.index), device=at.index.device)[:, None]
        for kept, x in zip(self.kept, new, strict=True):
            kept.movedim(self.along, 1)[row, at.index] = x.movedim(self.along, 1)

    def read(self, used: int) -> list[Tensor]:
        return [kept.narrow(self.along, 0, used) for kept in self.kept]

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        self.kept = [kept[rows] for kept in self.kept]

    def _room(self, x: Tensor) -> Tensor:
        shape = list(x.shape)
        shape[self.along] = self.room
        return x.new_zeros(shape)


class Layer(Slots):
    """One block's keys and values of the text, `[b h t d]`."""

    def __init__(self, cache: Cache, number: int):
        super().__init__(cache, along=2)
        self.number = number
        self.mixes: Slots | None = None

    def once(self, make: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """What this block makes of the memory."""
        return self.cache.once(str(self.number), make)

    def shortened(self, stride: int) -> Slots:
        """Room for what this block makes of every `stride` tokens, and for one more."""
        if self.mixes is None:
            self.mixes = Slots(self.cache, self.along, self.cache.capacity // stride + 2)
        return self.mixes

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        super().reorder(rows)
        if self.mixes is not None:
            self.mixes.reorder(rows)

    def extend(self, key: Tensor, value: Tensor, at: Place) -> tuple[Tensor, Tensor, Place]:
        """Keep new keys and values; give back all there are and where they stand.

        Whole blocks are given, so that lengths repeat and kernels need not be planned anew for every token; what lies
        beyond a row's end is hidden by the causal rule.
        """
        self.write(at, key, value)
        if self.cache.used == 0:
            return key, value, at
        used = min(self.cache.capacity, -(-(self.cache.used + key.shape[2]) // BLOCK) * BLOCK)
        index = torch.arange(used, device=key.device).expand(key.shape[0], used)
        keys, values = self.read(used)
        return keys, values, Place(index, ordered=True)


class KeyValues(Cache):
    """The cache of a decoder with `depth` blocks of attention."""

    def __init__(self, depth: int, rows: int, capacity: int, device: torch.device | str = "cpu"):
        super().__init__(rows, capacity, device)
        self.layers = [Layer(self, i) for i in range(depth)]

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        super().reorder(rows)
        for layer in self.layers:
            layer.reorder(rows)


class Rereading(Cache):
    """A cache of one size for any length. It cannot be turned back: after `trim` it is made anew from the tokens."""

    def __init__(self, rows: int, capacity: int, device: torch.device | str = "cpu"):
        super().__init__(rows, capacity, device)
        self.tokens = torch.zeros(rows, capacity, dtype=torch.long, device=device)

    @property
    def blank(self) -> bool:
        """Nothing of the text is remembered but its tokens."""
        raise NotImplementedError

    def forget(self) -> None:
        raise NotImplementedError

    def note(self, tokens: Int[Tensor, "b t"], at: Place) -> None:
        """Keep and count the tokens just read."""
        row = torch.arange(len(tokens), device=tokens.device)[:, None]
        self.tokens[row, at.index] = tokens
        self.advance(at)

    def lost(self) -> tuple[Int[Tensor, "b t"], Bool[Tensor, "b t"]] | None:
        """The tokens from which what was forgotten is made anew, and where they are."""
        if not self.blank or not self.used:
            return None
        steps = torch.arange(self.used, device=self.tokens.device)
        return self.tokens[:, : self.used], steps < self.length[:, None]

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        super().reorder(rows)
        self.tokens = self.tokens[rows]

    def trim(self, length: int) -> None:
        if length < self.used:
            self.forget()
        super().trim(length)
