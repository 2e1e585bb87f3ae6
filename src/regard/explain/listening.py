"""One reading of a text with the taps on, and what it showed of attention, gates and experts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.attention.look import Look
from regard.blocks.convolution import Gated
from regard.blocks.experts import Experts
from regard.blocks.recurrent import RecurrentLayer
from regard.checkpoint import Run
from regard.data.trees import planted
from regard.errors import UserError
from regard.explain.sides import Side
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.tap import Recording, record


@dataclass(frozen=True, eq=False)
class Heard:
    """What the taps showed while the source was read, and while the target was; what the model said of the target.

    `scores` has one row for each target token, or one number for each label.
    """

    source: Recording
    target: Recording
    scores: Tensor

    def all(self, name: str) -> list[Tensor]:
        """Every showing of a tap, in order."""
        return [*self.source.all(name), *self.target.all(name)]

    def side(self, name: str) -> str:
        """Which text was read when a tap showed something: where its module stands says nothing reliable."""
        return "source" if name in self.source else "target"


def listen(run: Run, source: Side | None, target: Side, *patterns: str) -> Heard:
    """Run the model once."""
    model, read, memory = run.model, Recording(), None
    with torch.no_grad():
        if source is not None:
            with record(model, *patterns) as read:
                memory = model.encode(batch(run, source))
        with record(model, *patterns) as own:
            tokens = batch(run, target)
            scores = model.decode(tokens, memory) if model.writes_text else model.answer(tokens, place(target, tokens))
    return Heard(read, own, scores[0].float())


def batch(run: Run, side: Side, rows: int = 1) -> Int[Tensor, "b t"]:
    """A text as the model takes it, several times over where asked."""
    return torch.tensor([[token.id for token in side.tokens]], device=run.model.device).repeat(rows, 1)


def place(side: Side, tokens: Int[Tensor, "b t"]) -> Place:
    """Where the tokens stand, in the tree too, and of which text they are where two share a row."""
    line = Place.line(tokens)
    if side.tree is not None:
        return planted(line, [side.tree] * len(tokens))
    return line if side.second is None else replace(line, segment=(line.index >= side.second).long())


def shown(heard: Heard, name: str) -> Float[Tensor, "h q d"]:
    """All queries of one tap, for a model that reads at once and for one that looks anew at every token."""
    return torch.cat(heard.all(name), dim=2)[0]


def along(heard: Heard, name: str) -> Float[Tensor, "t ..."]:
    """All tokens of one tap, whether they were read at once or one after the other."""
    return torch.cat(heard.all(name), dim=1)[0]


def every_look(run: Run) -> dict[tuple[str, int], tuple[str, Look]]:
    """Every attention of the model, with its name, by kind and layer."""
    found: dict[tuple[str, int], tuple[str, Look]] = {}
    for name, part in run.model.named_modules():
        if isinstance(part, Look):
            layer = sum(kind == part.role for kind, _ in found)
            found[part.role, layer] = (name, part)
    return found


def check_layer(kind: str, layer: int, there: Iterable[int]) -> None:
    if layer not in (layers := list(there)):
        names = ", ".join(map(str, layers))
        raise UserError(f"no layer {layer}; the {kind} attention of this run has layers {names}")


def check_head(name: str, head: int, heads: int) -> None:
    if not 0 <= head < heads:
        raise UserError(f"no head {head}; {name.removesuffix('.look')} has heads 0 to {heads - 1}")


def every(run: Run, *kinds: type[nn.Module]) -> dict[str, Any]:
    """All parts of these kinds by name."""
    return {name: part for name, part in run.model.named_modules() if isinstance(part, kinds)}


def gated(run: Run) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every part with gates, by name: the kind of cell, and what its gates are called."""
    found = {}
    for name, part in every(run, RecurrentLayer, Gated).items():
        cell, gates = ("glu", ("glu",)) if isinstance(part, Gated) else (part.cell.name, tuple(part.cell.gates))
        if gates:
            found[name] = (cell, gates)
    return found


def experts(run: Run) -> list[str]:
    return list(every(run, Experts))


def numbered(names: list[str], side: Callable[[str], str]) -> dict[str, int]:
    """Layers counted from 0 on each side; the two directions of a layer, which are named so, are one layer."""
    seen: dict[str, list[str]] = {}
    found = {}
    for name in names:
        both = ".".join(part for part in name.split(".") if part not in ("onward", "backward"))
        layers = seen.setdefault(side(name), [])
        if both not in layers:
            layers.append(both)
        found[name] = layers.index(both)
    return found


def array(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy()
