"""Tensors under the names they have elsewhere, beside ours: one table, read in both directions.

    Line("h.{}.attn.c_proj", "decoder.blocks.{}.attention.output", TURNED)

{} is the number of a layer, and what stands behind the last dot ("weight", "bias") is the same on both sides, unless
a line names a whole tensor of ours ("output.rows.bias"). The tensors of the model that is to be filled decide which
lines there are: one of them that the file lacks is missing, one of the file's that no line speaks of is unused.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

import torch

from regard.errors import UserError
from regard.shapes import Tensor

Shape = tuple[int, ...]
NUMBER = re.compile(r"\.(\d+)(?=\.)")
SHOWN = 8  # names of tensors in one message
QUANTISED = ("*.qweight", "*.qzeros", "*.scales", "*.g_idx", "*.SCB", "*.absmax", "*.quant_map")  # GPTQ, AWQ and others


class Change(NamedTuple):
    """How a tensor there becomes one or several here, of these shapes; and back."""

    into: Callable[[Tensor, list[Shape]], list[Tensor]]
    back: Callable[[list[Tensor]], Tensor]

    def then(self, other: "Change") -> "Change":
        """This change of one tensor into one, then the other."""
        return Change(
            lambda there, shapes: other.into(self.into(there, [])[0], shapes),
            lambda here: self.back([other.back(here)]),
        )


def one(into: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Change:
    """A change of one tensor into one."""
    return Change(lambda there, shapes: [into(there)], lambda here: back(here[0]))


SAME = one(lambda x: x, lambda x: x)
TURNED = one(lambda x: turned(x), lambda x: turned(x))
FLIPPED = one(lambda x: x.flip(0), lambda x: x.flip(0))
ROW = one(lambda x: x.flatten(), lambda x: x[None])  # a bias that is kept as a matrix of one row
FUSED = Change(lambda there, shapes: list(there.split([shape[0] for shape in shapes])), torch.cat)  # rows of several


def turned(x: Tensor) -> Tensor:
    """A matrix whose columns are what we call its rows; a bias stays."""
    return x.T if x.ndim == 2 else x


def after(rows: int) -> Change:
    """Without the first rows, which nothing uses."""
    return one(lambda x: x[rows:], lambda x: torch.cat((x.new_zeros(rows, *x.shape[1:]), x)))


def paired(each: int) -> Change:
    """Rotary heads of width `each`: there the first half of a head turns with the second, here neighbours turn."""

    def regroup(x: Tensor, *halves: int) -> Tensor:
        return x.unflatten(0, (-1, *halves)).transpose(1, 2).flatten(0, 2)

    return one(lambda x: regroup(x, 2, each // 2), lambda x: regroup(x, each // 2, 2))


@dataclass(frozen=True)
class Line:
    """What one module is called there, and the modules here that it is made into."""

    theirs: str
    ours: str | tuple[str, ...]
    change: Change = SAME


class Pair(NamedTuple):
    """One tensor there and the tensors here that it is made into."""

    theirs: str
    ours: tuple[str, ...]
    change: Change


@dataclass(frozen=True)
class Table:
    """How the tensors of one model are called elsewhere.

    `tied` are more names that a tensor has there, each with its own; `idle` patterns of names that hold nothing learnt.
    What a file lacks may be the `same` as another of its tensors. What is `spare` is left out where the model has no
    place for it. A file may leave out the `prefix` of its names, or end them as in `old`. `order`, where it is given,
    is where each component of our vectors stands in theirs.
    """

    lines: tuple[Line, ...]
    words: str  # our name of the word vectors
    tied: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    prefix: str = ""
    old: Mapping[str, str] = field(default_factory=dict)
    order: Tensor | None = None

    def pairs(self, ours: Iterable[str]) -> list[Pair]:
        """For each of these tensors of ours, the one there; a tensor that no line speaks of stops."""
        known = {name: line for line in self.lines for name in names_of(line)}
        found: dict[str, Pair] = {}
        for name in ours:
            module, _, kind = name.rpartition(".")
            numbers = NUMBER.findall(f".{module}.")
            line, ending = known.get(name), ""
            if line is None:
                line, ending = known.get(NUMBER.sub(".{}", f".{module}.")[1:-1]), f".{kind}"
            if line is None:
                raise UserError(f"'{name}' has no name there")
            parts = tuple(part.format(*numbers) + ending for part in names_of(line))
            theirs = line.theirs.format(*numbers) + ending
            found[theirs] = Pair(theirs, parts, line.change)
        return list(found.values())

    def whole(self, theirs: Mapping[str, Tensor], known: Iterable[str], where: str) -> dict[str, Tensor]:
        """The tensors of a file under their whole names, without what is idle. Two of one name that differ stop."""
        names = {*known, *self.tied}
        found: dict[str, Tensor] = {}
        spelt: dict[str, str] = {}
        for name, tensor in theirs.items():
            if matches(name, self.idle):
                continue
            full = self.spelled_out(name, names)
            if full in found and not same(found[full], tensor):
                raise UserError(f"{where}: '{full}' is there twice, as '{spelt[full]}' and '{name}'; keep one of them")
            found[full], spelt[full] = tensor, name
        return found

    def spelled_out(self, name: str, known: Container[str]) -> str:
        """The whole name of a tensor, with today's ending."""
        for ending, now in self.old.items():
            name = name.removesuffix(ending) + now if name.endswith(ending) else name
        longer = self.prefix + name
        return longer if name not in known and longer in known else name

    def left_out(self, theirs: Mapping[str, Tensor], ours: Iterable[str]) -> list[str]:
        """The names of those tensors of a file that a model has no place for."""
        known = {pair.theirs for pair in self.pairs(ours)}
        return [name for name in self.whole(theirs, known, "") if name not in known and name not in self.tied]


def names_of(line: Line) -> tuple[str, ...]:
    return (line.ours,) if isinstance(line.ours, str) else line.ours


def translated(
    table: Table,
    theirs: Mapping[str, Tensor],
    shapes: Mapping[str, Shape],
    where: str,
    *,
    allowed: Iterable[str] = (),
    why: str = "",
) -> dict[str, Tensor]:
    """The tensors of a file under our names, for a model whose tensors have these shapes.

    A tensor that is missing, unused or of another shape stops, unless its name there is `allowed` by a pattern; one
    that is missing is then left out of the result. `why` is what is known of those that are unused.
    """
    pairs, may = table.pairs(shapes), tuple(allowed)
    known = {pair.theirs for pair in pairs}
    tied = {name: main for name, main in table.tied.items() if name not in known}
    given = untied(table.whole(theirs, known, where), tied, where, may)
    given |= {name: given[main] for name, main in table.same.items() if name not in given and main in given}
    if few := sorted(name for name in given.keys() - known if matches(name, QUANTISED)):
        raise UserError(
            f"{where} has quantised weights, such as '{few[0]}': not supported; give the model as it was before, "
            "or as GGUF or CTranslate2"
        )
    missing = [pair.theirs for pair in pairs if not (pair.theirs in given or matches(pair.theirs, may))]
    if missing:
        new = "a new one" if len(missing) == 1 else "new ones"
        raise UserError(f"{where}: {listed(missing)} missing; '--allow PATTERN' goes on with {new}, never trained")
    if unused := [name for name in sorted(set(given) - known) if not matches(name, (*may, *table.spare))]:
        because = f": {why}" if why else ""
        raise UserError(f"{where}: {listed(unused)} unused{because}; '--allow PATTERN' goes on without")
    found: dict[str, Tensor] = {}
    for theirs_name, ours, change in pairs:
        if theirs_name in given:
            made = fitting(given[theirs_name], change, [shapes[name] for name in ours], f"{where}: '{theirs_name}'")
            found |= dict(zip(ours, made, strict=True))
    return found if table.order is None else {n: reordered(n, x, table.order) for n, x in found.items()}


def spelled(table: Table, mine: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our tensors under their names."""
    if table.order is not None:
        mine = {name: reordered(name, x, table.order.argsort()) for name, x in mine.items()}
    return {p.theirs: p.change.back([mine[name] for name in p.ours]).contiguous() for p in table.pairs(mine)}


def fitting(tensor: Tensor, change: Change, wanted: list[Shape], where: str) -> list[Tensor]:
    """What a tensor is made into, if that has the shapes which are wanted."""
    if not tensor.is_floating_point():
        raise UserError(
            f"{where} is of {tensor.dtype}: quantised weights are not supported; give the model as it was before"
        )
    expected = list(change.back([torch.empty(shape, device="meta") for shape in wanted]).shape)
    if list(tensor.shape) != expected:
        raise UserError(f"{where} has shape {list(tensor.shape)}, the configuration asks for {expected}")
    return change.into(tensor, wanted)


def untied(
    given: dict[str, Tensor], tied: Mapping[str, str], where: str, allowed: tuple[str, ...]
) -> dict[str, Tensor]:
    """Each tensor once, under its main name. Two that are one here and differ there stop."""
    found = {name: tensor for name, tensor in given.items() if name not in tied}
    for name, main in tied.items():
        if name not in given or (main in found and matches(name, allowed)):
            continue
        if main in found and not same(found[main], given[name]):
            raise UserError(
                f"{where}: '{name}' differs from '{main}', and here they are one; '--allow {name}' leaves it out"
            )
        found.setdefault(main, given[name])
    return found


def same(a: Tensor, b: Tensor) -> bool:
    return (a.data_ptr() == b.data_ptr() and a.shape == b.shape) or torch.equal(a, b)


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def listed(names: list[str]) -> str:
    """`tensor 'a' is`, `12 tensors ('a', 'b', ... ) are`."""
    shown = ", ".join(f"'{name}'" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"tensor {shown} is" if len(names) == 1 else f"{len(names)} tensors are ({shown}{more})"


ACROSS = ("to_query", "to_key", "to_value", "widen", "gate", "rows", "dense", "segments")  # modules that read vectors


def reordered(name: str, x: Tensor, order: Tensor) -> Tensor:
    """A tensor of ours as it is where the components of the vectors between modules stand in another order.

    What reads such vectors has a column for each component, what writes them a row, a norm one number; a bias of what
    reads them is of something else.
    """
    module, _, kind = name.rpartition(".")
    reads = module.rpartition(".")[2] in ACROSS
    if reads:
        return x.index_select(1, order) if kind == "weight" else x
    return x.index_select(0, order)
