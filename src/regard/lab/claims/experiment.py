"""An experiment: a claim of the lectures, who is compared for it, and the rule that turns numbers into a verdict.

All of it is said before anything runs. A prediction is judged seed by seed; the verdict follows from how many seeds it
held for, by one rule for all claims.
"""

import hashlib
import inspect
import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from regard.lab.claims.panels import Panel
from regard.lab.claims.reach import everything
from regard.lab.claims.trial import Arm, Row, Size, Trial
from regard.recipe import PRESETS

TRUE, HALF, NOT = "true here", "half true", "not seen at this size"
RULE = (
    f"{TRUE}: every prediction holds for every seed; {NOT}: the first holds for fewer seeds than it fails for; "
    f"{HALF}: all else"
)
SEEDS = {"small": 2, "full": 3}
ROOM, MISTAKES = "regard.lab", "regard.lab.mistakes"
SHARED = ("experiment", "panels", "running", "trial")  # every experiment takes from these
INSTRUMENTS = ("bench", "bootstrap", "chain", "mistakes")  # beside the claims; commands of their own are no part of one


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

    def has(self, arm: str) -> bool:
        return any(row["arm"] == arm for row in self.rows)

    def last(self, name: str, arm: str, by: str) -> float:
        """The number where `by` is highest: at the last step, or the greatest length."""
        return self(name, arm, **{by: max(row[by] for row in self.rows if row["arm"] == arm and by in row)})


@dataclass(frozen=True)
class Prediction:
    """What the claim says must be seen in the numbers of one seed; of those that have the arm it is `about`, if any."""

    says: str
    holds: Callable[[Found], bool]
    about: str = ""

    def judged(self, found: Found) -> dict[int, bool]:
        """By seed, where it is asked."""
        parts = {seed: found.of(seed) for seed in sorted({row["seed"] for row in found.rows})}
        return {seed: bool(self.holds(of)) for seed, of in parts.items() if not self.about or of.has(self.about)}


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

    def stands(self, results: dict[str, Any]) -> bool:
        """Whether results that were kept are measured as it is done now, and judged so: where rows are kept, again."""
        if not self.fits(results, results["size"]):
            return False
        if "rows" in results:
            return results["held"] == self.held(Found(results["rows"]))
        return [each["says"] for each in results["held"]] == [each.says for each in self.predictions]

    def held(self, found: Found) -> list[dict[str, Any]]:
        """Each prediction, with the seeds that it held for."""
        outcomes = [(each.says, each.judged(found)) for each in self.predictions]
        return [{"says": says, "seeds": {str(seed): one for seed, one in seeds.items()}} for says, seeds in outcomes]

    @property
    def code(self) -> str:
        """Another one where what `measure` reaches in its file and others of the laboratory changes, or a preset.

        Not followed are the library, the commands that an experiment calls, and what all experiments share.
        """
        file = Path(inspect.getfile(self.measure))
        here = f"{ROOM}.claims.{file.stem}"
        wanted = {here: {self.measure.__name__}}
        if any(arm.mistake for arm in self.arms.values()):
            wanted[MISTAKES] = {"MISTAKES"}
        text = everything(wanted, {**laboratory(), here: file})
        named = {arm.preset for arm in self.arms.values()}
        presets = [file for file in sorted(PRESETS.glob("*.toml")) if file.stem in named or f'"{file.stem}"' in text]
        settings = [tomllib.loads(file.read_text(encoding="utf-8")) for file in presets]
        return hashlib.blake2b((text + json.dumps(settings)).encode(), digest_size=8).hexdigest()

    def whole(self, arm: Arm, size: str) -> Arm:
        """The arm with the settings that all share before its own."""
        settings = (*self.settings, *self.at(size).settings, *arm.settings)
        return Arm(arm.preset, *settings, mistake=arm.mistake, needs=arm.needs)


def laboratory() -> dict[str, Path]:
    """The modules that a measurement is followed into, with their files."""
    claims = [file for file in Path(__file__).parent.glob("*.py") if file.stem not in SHARED]
    beside = [Path(__file__).parents[1] / f"{name}.py" for name in INSTRUMENTS]
    return {f"{ROOM}.claims.{file.stem}": file for file in claims} | {f"{ROOM}.{file.stem}": file for file in beside}


class Verdict(NamedTuple):
    """The judgement, in one sentence, and for each prediction the seeds that it held for."""

    word: str
    sentence: str
    held: list[dict[str, Any]]


def judged(experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    """By the rule alone."""
    found, seeds = Found(rows), {row["seed"] for row in rows}
    held = experiment.held(found)
    outcomes = [each["seeds"] for each in held]
    word = HALF
    if all(all(outcome.values()) for outcome in outcomes):
        word = TRUE
    elif 2 * sum(outcomes[0].values()) < len(outcomes[0]):
        word = NOT
    failed = [
        f"prediction {number} with {list(outcome.values()).count(False)} of {len(outcome)} seeds"
        for number, outcome in enumerate(outcomes, 1)
        if not all(outcome.values())
    ]
    why = f" Failed: {', '.join(failed)}." if failed else ""
    sure = " (one seed)" if len(seeds) == 1 else ""
    return Verdict(word, f"{word.capitalize()}{sure}: {experiment.tells(found)}.{why}", held)
