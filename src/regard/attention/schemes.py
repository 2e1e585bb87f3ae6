"""Position schemes by name, and how a system's settings make one (B7)."""

from collections.abc import Callable
from dataclasses import dataclass, field

from regard.attention.positions import (
    Added,
    AddedToHeads,
    Concatenated,
    Learned,
    Position,
    Rotary,
    Sinusoid,
    Split,
    Table,
    Turns,
)
from regard.attention.relative import Alibi, Buckets, Shaw
from regard.attention.structure import Syntax
from regard.errors import UserError, suggest

BIAS = 2.0  # the first spread of what is added to scores: AdamW moves it by a rate a step and would take thousands


@dataclass(frozen=True)
class Site:
    """What a scheme is made for.

    Vectors of `width` whose words have the scale `std`, heads of `head_width`, texts of at most `limit` tokens, of
    whom some may look `ahead`. `farthest` is the largest distance with a vector of its own, and `turns` how fast rotary
    positions turn.
    """

    width: int
    heads: int
    head_width: int
    limit: int
    std: float
    ahead: bool = True
    farthest: int = 16
    turns: Turns = field(default_factory=Turns)


class Each(Position):
    """A scheme of which every layer learns its own."""

    def __init__(self, make: Callable[[], Position]):
        super().__init__()
        self.make = make

    def inside(self) -> Position:
        return self.make()


@dataclass(frozen=True)
class Scheme:
    """How a scheme is made, and what it asks for.

    `relative` where it asks how far apart two tokens stand, `clipped` where it learns a vector for each distance up to
    the farthest, `trees` where each text needs the tree of its sentence.
    """

    make: Callable[[Site], Position]
    relative: bool = False
    clipped: bool = False
    trees: bool = False


SCHEMES = {
    "none": Scheme(lambda site: Position()),
    "rotary": Scheme(lambda site: Rotary(site.head_width, site.turns)),
    "buckets": Scheme(lambda site: Buckets(site.heads, ahead=site.ahead, std=BIAS), relative=True),
    "alibi": Scheme(lambda site: Alibi(site.heads), relative=True),
    "shaw": Scheme(lambda site: Each(lambda: Shaw(site.head_width, site.farthest)), relative=True, clipped=True),
    "syntax": Scheme(
        lambda site: Syntax(site.width, size=site.std, each=site.head_width, reach=site.farthest),
        relative=True,
        clipped=True,
        trees=True,
    ),
}
TABLES: dict[str, Callable[[Site, int, float], Table]] = {
    "sinusoidal": lambda site, columns, size: Sinusoid(columns, size),
    "sinusoidal-t2t": lambda site, columns, size: Split(columns, size),
    "sinusoidal-opennmt": lambda site, columns, size: Split(columns, size, first=1),
    "sinusoidal-fairseq": lambda site, columns, size: Split(columns, size, first=2),
    "learned": lambda site, columns, size: Learned(columns, site.limit, site.std),
}
RELATIVE = [name for name, scheme in SCHEMES.items() if scheme.relative]
CLIPPED = [name for name, scheme in SCHEMES.items() if scheme.clipped]
TREES = [name for name, scheme in SCHEMES.items() if scheme.trees]
POSITIONS = (*SCHEMES, *TABLES)
ELSEWHERE = {"rope": "rotary", "absolute": "learned", "relative": "shaw", "t5": "buckets"}  # names that others use
PLACES = ("input", "heads", "concatenated")


def position(kind: str, place: str, site: Site) -> Position:
    """The scheme that a configuration names."""
    if kind not in POSITIONS:
        raise UserError(f"system.position = '{kind}' is not known{suggest(ELSEWHERE.get(kind, kind), list(POSITIONS))}")
    if place not in PLACES:
        raise UserError(f"positions cannot enter at '{place}'{suggest(place, list(PLACES))}")
    if kind in SCHEMES:
        if place != "input":
            raise UserError(f"position '{kind}' has no table to put at '{place}'; leave position_at out")
        return SCHEMES[kind].make(site)
    table = TABLES[kind]
    if place == "input":
        return Added(table(site, site.width, site.std))
    if place == "heads":
        return AddedToHeads(table(site, site.head_width, 1.0))  # queries and keys are of the size of one
    return Concatenated(table(site, site.width // 4, site.std), takes=site.width // 4)
