"""The sweep: every member's learning rate and dropout are chosen alike, by validation loss, before it is compared.

Each trial is the member's training in small: a fifth of the budget, the whole schedule, one seed. First three rates
around the preset's with its own dropout, and up to two more where the best stands at the edge; then other dropouts at
the best rate. All trials are recorded. A choice that is recorded stands, for runs may rest on it: only a member without
one is swept again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.checkpoint import read_json, read_tokenizer, write_json
from regard.errors import Diverged
from regard.lab.plan import PREPARED, Member
from regard.lab.units import Hands, Unit
from regard.recipe import Recipe
from regard.train.run import make_trainer, settle
from regard.train.watch import Watcher, bar, interactive, plain

SWEEP = "sweep.json"
PART = 0.2  # of the budget
RATES = (1 / 3, 1, 3)  # times the preset's
WIDER = 2  # rates more, at most, while the best stands at the edge
DROPOUTS = (0.0, 0.1, 0.3)


@dataclass(frozen=True)
class Choice:
    """What the sweep decides; a system without dropout has None."""

    rate: float
    dropout: float | None

    @staticmethod
    def of(recipe: Recipe) -> "Choice":
        return Choice(recipe.train.rate, getattr(recipe.system, "dropout", None))

    def within(self, recipe: Recipe) -> Recipe:
        system = recipe.system if self.dropout is None else replace(recipe.system, dropout=self.dropout)
        return replace(recipe, system=system, train=replace(recipe.train, rate=self.rate))

    def __str__(self) -> str:
        return f"rate {self.rate:g}" + ("" if self.dropout is None else f", dropout {self.dropout:g}")


Trials = dict[str, list[Choice]]
Attempt = Callable[[], dict[str, Choice]]  # carries out the trials that are new and tells who is best of all
Stage = Callable[[dict[str, Choice], Trials, Attempt], dict[str, Choice]]


def sweep(members: list[Member], kind: str, out: Path, hands: Hands) -> dict[str, Choice]:
    """The best choice of each member; one of whom every trial failed is missing."""
    before = read_json(out / SWEEP) if (out / SWEEP).exists() else {"chosen": {}, "trials": [], "at_edge": []}
    standing = {name: Choice(**choice) for name, choice in before["chosen"].items()}
    left = [member for member in members if member.name not in standing]
    chosen = {member.name: Choice.of(member.recipe) for member in left}
    trials: Trials = {name: [] for name in chosen}

    def attempt() -> dict[str, Choice]:
        hands.carry_out(units(left, trials, out))
        return best(left, trials, out)

    for stage in STAGES[kind]:
        chosen = stage(chosen, trials, attempt)
    found = {"sweep": kind, "part": PART, "by": "validation loss", **recorded(trials, chosen, out)}
    found["trials"] = [line for line in before["trials"] if line["member"] in standing] + found["trials"]
    found["at_edge"] = before["at_edge"] + found["at_edge"]
    found["chosen"] = before["chosen"] | found["chosen"]
    write_json(out / SWEEP, found)
    for name, choice in (standing | chosen).items():
        count = sum(line["member"] == name for line in found["trials"])
        hands.say(f"{name}: {choice}" + (f", the best of {count} trials" if count else ""))
    return standing | chosen


def rates(chosen: dict[str, Choice], trials: Trials, attempt: Attempt) -> dict[str, Choice]:
    """The best rates. While one stands at the edge of what was tried, one more is tried beyond it."""
    for name, own in chosen.items():
        trials[name] += [own if factor == 1 else replace(own, rate=round_rate(own.rate * factor)) for factor in RATES]
    chosen = attempt()
    for _ in range(WIDER):
        edges = {name: further for name, choice in chosen.items() if (further := beyond(choice.rate, trials[name]))}
        if not edges:
            break
        for name, rate in edges.items():
            trials[name].append(replace(chosen[name], rate=rate))
        chosen = attempt()
    return chosen


def dropouts(chosen: dict[str, Choice], trials: Trials, attempt: Attempt) -> dict[str, Choice]:
    """The best dropouts at the rates that are chosen; systems without dropout stay as they are."""
    for name, choice in chosen.items():
        if choice.dropout is not None:
            trials[name] += [replace(choice, dropout=p) for p in DROPOUTS if p != choice.dropout]
    return attempt()


STAGES: dict[str, tuple[Stage, ...]] = {"none": (), "rate": (rates,), "full": (rates, dropouts)}


def beyond(rate: float, trials: list[Choice]) -> float | None:
    """The next rate on the far side of one that is the lowest or highest of those tried; None of one between."""
    tried = [choice.rate for choice in trials]
    if min(tried) < rate < max(tried):
        return None
    return round_rate(rate * (RATES[0] if rate == min(tried) else RATES[-1]))


def round_rate(rate: float) -> float:
    """Two digits are enough, and read well."""
    return float(f"{rate:.2g}")


def units(members: list[Member], trials: Trials, out: Path) -> list[Unit]:
    return [
        Unit(
            f"sweep of {member.name}: {choice}",
            try_out,
            (choice.within(member.for_part(PART)), out / PREPARED / member.name),
            trial_file(out, member.name, choice),
            member.seconds * PART,
            "loss",
        )
        for member in members
        for choice in trials[member.name]
    ]


def trial_file(out: Path, name: str, choice: Choice) -> Path:
    return out / "sweep" / name / f"{str(choice).replace(', ', '-').replace(' ', '-')}.json"


def try_out(recipe: Recipe, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Train in small on prepared data; nothing of it is kept but the figures."""
    settle(recipe.train)
    trainer = make_trainer(folder, recipe, read_tokenizer(folder), [])
    trainer.save = lambda state: None
    trainer.check()
    progress, lost = trainer.state.progress, None
    try:
        with progress_shown(quiet) as trainer.watch:
            trainer.fit()
    except Diverged as error:  # a rate so high that the loss is lost is a finding, not a failure
        lost = str(error)
    return {
        "loss": None if lost else progress.best,
        "lost": lost,
        "seconds": progress.seconds,
        "steps": progress.step,
        "tokens": progress.tokens,
    }


@contextmanager
def progress_shown(quiet: bool) -> Iterator[list[Watcher]]:
    if quiet:
        yield []
    elif interactive():
        with bar() as watch:
            yield [watch]
    else:
        yield [plain()]


def losses(name: str, trials: list[Choice], out: Path) -> dict[Choice, dict[str, Any]]:
    return {choice: read_json(trial_file(out, name, choice)) for choice in trials}


def best(members: list[Member], trials: Trials, out: Path) -> dict[str, Choice]:
    """By validation loss alone, of the trials that did not fail."""
    chosen = {}
    for member in members:
        found = losses(member.name, trials[member.name], out)
        if good := {choice: loss for choice, trial in found.items() if (loss := trial.get("loss")) is not None}:
            chosen[member.name] = min(good, key=lambda choice: good[choice])
    return chosen


def recorded(trials: Trials, chosen: dict[str, Choice], out: Path) -> dict[str, Any]:
    """All trials, what they led to, and whose best rate stands at the edge."""
    lines = []
    for name, choices in trials.items():
        for choice, trial in losses(name, choices, out).items():
            facts = {key: value for key, value in trial.items() if key != "traceback"}
            lines.append({"member": name, **vars(choice), **facts, "chosen": chosen.get(name) == choice})
    edges = [name for name, choice in chosen.items() if trials[name] and beyond(choice.rate, trials[name])]
    return {"at_edge": edges, "chosen": {name: vars(choice) for name, choice in chosen.items()}, "trials": lines}


def failure(name: str, out: Path) -> str:
    """Why a member has no choice: the first of its trials' errors."""
    files = sorted((out / "sweep" / name).glob("*.json"))
    trials = [read_json(path) for path in files]
    return f"every trial of its sweep failed; the first: {trials[0].get('error') or trials[0]['lost']}"
