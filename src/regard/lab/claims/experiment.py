"""An experiment: a claim of the lectures, who is compared for it, and the rule that turns numbers into a verdict.

All of it is said before anything runs. A prediction is judged seed by seed; the verdict follows from how many seeds it
held for, by one rule for all claims.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from regard.lab.claims.panels import Panel
from regard.lab.claims.reach import reached
from regard.lab.claims.trial import Arm, Row, Size, Trial
from regard.recipe import PRESETS

TRUE, HALF, NOT = "true here", "half true", "not seen at this size"
RULE = (
    f"{TRUE}: every prediction holds for every seed; {NOT}: the first holds for fewer seeds than it fails for; "
    f"{HALF}: all else"
)
SEEDS = {"small": 2, "full": 3}
LABORATORY, ROOM = "regard.lab", Path(__file__).parents[1]
SHARED = ("claims.experiment", "claims.panels", "claims.running", "claims.trial")  # every experiment takes from these


class Found:
    """What the trials measured: rows that say which arm and which seed, at what, and the numbers there."""

    def __init__(self, rows: Sequence[Row]):
        self.rows = list(rows)

    def of(self, seed: int) -> "Found":
        return Found([row for row in self.rows if row["seed"] == seed])

    def __call__(self, name: str, arm: str, **at: Any) -> float:
        """The number of that name, of an arm and where `at` says: the mean where there are several."""
        found = [
            row[name]
            for row in self.rows
            if row["arm"] == arm and name in row and all(row.get(key) == value for key, value in at.items())
        ]
        if not found:
            raise KeyError(f"no '{name}' of '{arm}'" + "".join(f", {key} = {value}" for key, value in at.items()))
        return fmean(found)

    def last(self, name: str, arm: str, by: str) -> float:
        """The number where `by` is highest: at the last step, or the greatest length."""
        return self(name, arm, **{by: max(row[by] for row in self.rows if row["arm"] == arm and by in row)})


@dataclass(frozen=True)
class Prediction:
    """What the claim says must be seen in the numbers of one seed."""

    says: str
    holds: Callable[[Found], bool]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One claim. `measure` is called for each arm and seed, or once for all where they are `together`.

    The first prediction is the claim itself, and `refuted` says what would speak against it. `tells` puts the numbers
    of all seeds into words, `otherwise` says what would change the verdict. Columns that are `timed` are not the same
    twice, and nothing else runs beside them. The arms of a `pair` differ in exactly one thing.
    """

    id: str
    title: str
    claim: str
    method: str
    refuted: str
    arms: dict[str, Arm]
    small: Size
    full: Size
    measure: Callable[[Trial], list[Row]]
    predictions: tuple[Prediction, ...]
    tells: Callable[[Found], str]
    otherwise: str
    panels: tuple[Panel, ...]
    settings: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    together: bool = False
    pair: bool = False

    def at(self, size: str) -> Size:
        return {"small": self.small, "full": self.full}[size]

    def said(self, size: str) -> dict[str, Any]:
        """All that is said before it runs, and how it will be measured."""
        return {
            "id": self.id,
            "title": self.title,
            "claim": self.claim,
            "method": self.method,
            "refuted_by": self.refuted,
            "predictions": [each.says for each in self.predictions],
            "rule": RULE,
            **self.measured(size),
        }

    def measured(self, size: str) -> dict[str, Any]:
        """All that its numbers depend on: where this is another, trials that are done are not this experiment's."""
        return {
            "size": size,
            "arms": {name: self.whole(arm, size).told() for name, arm in self.arms.items()},
            "values": self.at(size).values,
            "code": self.code,
        }

    def fits(self, said: dict[str, Any], size: str) -> bool:
        """Whether what was said of other trials, and read from a file, is how this one measures."""
        return all(said.get(key) == value for key, value in json.loads(json.dumps(self.measured(size))).items())

    @property
    def code(self) -> str:
        """Another one where a preset changes, or what `measure` reaches in its file and others of the laboratory."""
        text, taken = reached(Path(inspect.getfile(self.measure)), self.measure.__name__)
        parts = [text]
        for module, names in sorted(taken.items()):
            name = module.removeprefix(f"{LABORATORY}.")
            if name not in (module, *SHARED):
                parts.append(reached(ROOM / f"{name.replace('.', '/')}.py", *names)[0])
        files = [PRESETS / f"{name}.toml" for name in sorted({arm.preset for arm in self.arms.values()})]
        if any(arm.mistake for arm in self.arms.values()):
            files.append(ROOM / "mistakes.py")
        parts += [file.read_text(encoding="utf-8") for file in files if file.exists()]
        return hashlib.blake2b("".join(parts).encode(), digest_size=8).hexdigest()

    def whole(self, arm: Arm, size: str) -> Arm:
        """The arm with the settings that all share before its own."""
        return Arm(arm.preset, *self.settings, *self.at(size).settings, *arm.settings, mistake=arm.mistake)


class Verdict(NamedTuple):
    """The judgement, in one sentence, and for each prediction the seeds that it held for."""

    word: str
    sentence: str
    held: list[dict[str, Any]]


def judged(experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    """By the rule alone."""
    found = Found(rows)
    seeds = sorted({row["seed"] for row in rows})
    outcomes = [[bool(each.holds(found.of(seed))) for seed in seeds] for each in experiment.predictions]
    held = [
        {"says": each.says, "seeds": dict(zip(map(str, seeds), outcome, strict=True))}
        for each, outcome in zip(experiment.predictions, outcomes, strict=True)
    ]
    word = HALF
    if all(map(all, outcomes)):
        word = TRUE
    elif 2 * sum(outcomes[0]) < len(seeds):
        word = NOT
    failed = [
        f"prediction {number} with {outcome.count(False)} of {len(seeds)} seeds"
        for number, outcome in enumerate(outcomes, 1)
        if not all(outcome)
    ]
    why = f" Failed: {', '.join(failed)}." if failed else ""
    sure = " (one seed)" if len(seeds) == 1 else ""
    return Verdict(word, f"{word.capitalize()}{sure}: {experiment.tells(found)}.{why}", held)
