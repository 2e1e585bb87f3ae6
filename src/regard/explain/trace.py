"""What went on in a model while it read one text: what it looked at, how far its gates were open, what it depended on.

seen = trace(run, source="It was tired.", target="Es war müde.")
seen.maps[0].weights    # [heads, queries, keys], the running model's own
seen.gates[0].mean      # [gates, tokens], of a recurrent model
"""

from dataclasses import dataclass, field

import numpy as np

from regard.attention.look import ROLES
from regard.blocks.recurrent import RecurrentLayer
from regard.checkpoint import Run
from regard.data.parse import Parse
from regard.errors import UserError
from regard.explain.influence import Influence, influence_of, outputs_of
from regard.explain.listening import Heard, along, array, every, every_look, experts, gated, listen, numbered, shown
from regard.explain.sides import Side, looking, sides, written

LEAST = 1e-12  # stands for a weight that is no more than rounding: 0 itself means "may not look"
CLOSED, OPEN = 0.1, 0.9  # a gate beyond them is all but closed, or open (Karpathy et al., 2016)


@dataclass(frozen=True, eq=False)
class Map:
    """One attention: `weights[h, q, k]` is how much query q of head h looks at key k. Scores only if asked for.

    `keys` names what is looked at where that is not the tokens themselves but mixes of them, those that the text has.
    `blocks` where a rule hides some blocks of them. `head` is the number of the only head that was kept. `allow` is
    True where a query may look; a weight there may still be 0, where its score is far below the others.
    """

    name: str
    kind: str  # one of ROLES
    layer: int
    weights: np.ndarray
    scores: np.ndarray | None = None
    keys: tuple[str, ...] | None = None
    blocks: bool = False
    head: int | None = None
    allow: np.ndarray | None = None

    @property
    def visible(self) -> np.ndarray:
        """The weights to be drawn, 0 only where a query may not look."""
        return self.weights if self.allow is None else np.where(self.allow & (self.weights == 0), LEAST, self.weights)

    @property
    def heads(self) -> list[int]:
        return list(range(len(self.weights))) if self.head is None else [self.head]


@dataclass(frozen=True, eq=False)
class Gates:
    """The gates of one layer in one direction: `units[g, t, u]` is how far unit u of gate g is open at token t.

    `cell` is "lstm", "gru" or, of a gated convolution, which reads in no direction, "glu". `side` is the text that the
    layer reads, "source" or "target"; `direction` is "onward" or "backward".
    """

    name: str
    side: str
    layer: int
    direction: str | None
    cell: str
    gates: tuple[str, ...]
    units: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Over the units, `[gate, token]`."""
        return self.units.mean(-1)


@dataclass(frozen=True, eq=False)
class Routing:
    """A mixture of experts: `weights[t, e]` is how much expert e counts for token t, 0 where it was not chosen."""

    name: str
    side: str
    layer: int
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Trace:
    """One reading. A language model has no source; its text is the target, and so is that of an encoder.

    `answers` is "text" where one is written, else what is said of the text that is read: "labels", "tags", "words" or,
    where nothing is said, "vectors". `log_probability[i]` is that of `written` token i, of label i, of the likeliest
    tag of token i (which `tags` names), or of token i in its place. `influence` has the same rows. `lacks` says what
    this model has nothing of.
    """

    run: str
    source: Side | None
    target: Side
    maps: list[Map]
    log_probability: np.ndarray
    answers: str = "text"
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    gates: list[Gates] = field(default_factory=list)
    experts: list[Routing] = field(default_factory=list)
    influence: Influence | None = None
    lacks: tuple[str, ...] = ()

    @property
    def kinds(self) -> list[str]:
        return [kind for kind in ROLES if self.of(kind)]

    def of(self, kind: str) -> list[Map]:
        """The maps of one kind, lowest layer first."""
        return sorted((each for each in self.maps if each.kind == kind), key=lambda each: each.layer)

    def looking(self, kind: str) -> tuple[Side, Side]:
        return looking(kind, self.source, self.target)

    def names(self, each: Map) -> tuple[list[str], list[str]]:
        """Names for the rows and the columns of a map."""
        looks, seen = self.looking(each.kind)
        return looks.labels, list(each.keys) if each.keys is not None else seen.labels

    def side(self, name: str) -> Side:
        """The text that is called "source" or "target"."""
        found = self.source if name == "source" else self.target
        assert found is not None
        return found

    @property
    def written(self) -> Side | None:
        """The tokens that were written, or each of which something is said; of a label there are none."""
        if self.answers in ("labels", "vectors"):
            return None
        return written(self.source, self.target) if self.answers == "text" else self.target

    @property
    def label(self) -> int:
        """The likeliest."""
        return int(self.log_probability.argmax())


def trace(
    run: Run,
    *,
    text: str | Parse | None = None,
    second: str | None = None,
    source: str | None = None,
    target: str | None = None,
    scores: bool = False,
    influence: bool = False,
) -> Trace:
    """Read a text (language model, classifier), two together (classifier of pairs) or a source and its target
    (translator) once, and keep what was seen.

    Influence is measured if asked for, and of a model without attention in any case.
    """
    reads, writes = sides(run, text=text, second=second, source=source, target=target)
    looks, cells, mixtures = every_look(run), gated(run), experts(run)
    if not (looks or cells or mixtures) and run.model.answers == "vectors":
        raise UserError(f"{run.path} has a vector for each word and nothing to look into; use 'regard neighbours'")
    wants_influence = run.model.answers != "vectors" and (influence or not looks)
    wanted = [f"{look}.{each}" for look, _ in looks.values() for each in ("weights", "scores")]
    heard = listen(run, reads, writes, *wanted, *(f"{name}.gates" for name in (*cells, *mixtures)))
    return Trace(
        run=run.path.resolve().name,
        source=reads,
        target=writes,
        maps=maps_of(run, heard, scores, reads, writes),
        log_probability=chances(run, reads, writes, heard),
        answers="text" if run.model.writes_text else run.model.answers,
        labels=run.labels if run.model.answers == "labels" else (),
        tags=tags_of(run, heard),
        gates=gates_of(run, heard),
        experts=experts_of(run, heard),
        influence=influence_of(run, reads, writes, heard) if wants_influence else None,
        lacks=tuple(lacking(run)),
    )


def maps_of(run: Run, heard: Heard, scores: bool, source: Side | None, target: Side) -> list[Map]:
    found = []
    for (kind, layer), (name, look) in every_look(run).items():
        keys = look.compress.names(looking(kind, source, target)[1].labels)
        count = len(keys) if keys is not None else None
        seen = array(shown(heard, f"{name}.scores"))[..., :count]
        weights = array(shown(heard, f"{name}.weights"))[..., :count]
        mixes, blocks = tuple(keys) if keys is not None else None, look.pattern.blocks is not None
        kept, allow = seen if scores else None, seen > -np.inf
        found.append(Map(f"{name}.weights", kind, layer, weights, kept, mixes, blocks, allow=allow))
    return found


def gates_of(run: Run, heard: Heard) -> list[Gates]:
    cells = gated(run)
    layer = numbered(list(cells), lambda name: heard.side(f"{name}.gates"))
    found = []
    for name, (cell, gates) in cells.items():
        tap, part = f"{name}.gates", run.model.get_submodule(name)
        opened = array(along(heard, tap))
        units = opened.reshape(len(opened), len(gates), -1).swapaxes(0, 1)
        way = ("backward" if part.backward else "onward") if isinstance(part, RecurrentLayer) else None
        found.append(Gates(tap, heard.side(tap), layer[name], way, cell, gates, units))
    return found


def experts_of(run: Run, heard: Heard) -> list[Routing]:
    names = experts(run)
    layer = numbered(names, lambda name: heard.side(f"{name}.gates"))
    taps = {name: f"{name}.gates" for name in names}
    return [Routing(tap, heard.side(tap), layer[name], array(along(heard, tap))) for name, tap in taps.items()]


def chances(run: Run, source: Side | None, target: Side, heard: Heard) -> np.ndarray:
    """The log-probability of what was said: of each token written, of each label, of the best tags, of each word."""
    if not run.model.writes_text and run.model.answers == "vectors":
        return np.zeros(0)
    found = array(heard.scores.log_softmax(-1))
    if run.model.answers == "labels":
        return found
    said = outputs_of(run, source, target, heard)
    return found[np.arange(len(said)), said]


def tags_of(run: Run, heard: Heard) -> tuple[str, ...]:
    """The likeliest tag of each token."""
    if run.model.answers != "tags":
        return ()
    return tuple(run.labels[best] for best in heard.scores.argmax(-1).tolist())


def lacking(run: Run) -> list[str]:
    """What cannot be shown, in words."""
    found = []
    if not every_look(run):
        found.append("no attention: what each output depends on is shown instead")
    if any(not part.cell.gates for part in every(run, RecurrentLayer).values()):
        found.append("no gates: an Elman cell ('rnn') has none")
    return found
