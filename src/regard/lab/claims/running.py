"""Running experiments: what is claimed is written first, then every trial, then the numbers, the figure, the verdict.

A folder `SIZE/ID` holds `plan.json`, `trials/`, `numbers.csv`, `figure.svg` and `figure.png` with their dark twins; and
`results.json`, when all of that is there. A trial that is done is not done again, so the same command goes on where it
stopped.
"""

import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import read_json, write, write_json
from regard.errors import Interrupted, UserError
from regard.lab.claims.experiment import Experiment, Found, judged
from regard.lab.claims.figure import picture
from regard.lab.claims.panels import THEMES
from regard.lab.claims.trial import Arm, Row, Size, Trial, machine
from regard.lab.units import Hands, Say, Unit
from regard.train.device import choose_device
from regard.train.run import device_name, settle, versions

PLAN, RESULTS, NUMBERS, FIGURE, TRIALS = "plan.json", "results.json", "numbers.csv", "figure", "trials"
UNJUDGED, BEFORE, BETWEEN = "unjudged.txt", "-before", "-between"
FIGURES = {
    f"{FIGURE}{'' if name == 'light' else f'-{name}'}.{form}": (form, theme)
    for name, theme in THEMES.items()
    for form in ("svg", "png")
}
Results = dict[str, Any]
Ended = Callable[[Results], None]


@dataclass(frozen=True)
class Lab:
    """Where results lie, how large experiments are, and with how many seeds at least.

    `failed` says by its id why an experiment has no verdict.
    """

    out: Path
    size: str
    seeds: int
    jobs: int = 1
    say: Say = lambda line: None
    failed: dict[str, str] = field(default_factory=dict)

    def folder(self, experiment: Experiment) -> Path:
        return self.out / self.size / experiment.id

    @property
    def device(self) -> str:
        """A small model waits for a GPU longer than a processor takes."""
        return "cpu" if self.size == "small" else choose_device("auto").type

    def run(self, experiments: Sequence[Experiment], ended: Ended) -> list[Results]:
        """All of them; `ended` is told each result as soon as it is there. Timed ones run alone, last."""
        for each in experiments:
            self.begin(each)
        found: dict[str, Results] = {}
        for alone in (False, True):
            chosen = [each for each in experiments if bool(each.timed) == alone]
            found |= self.carry_out(chosen, 1 if alone else self.jobs, ended)
        return [found[each.id] for each in experiments if each.id in found]

    def begin(self, experiment: Experiment) -> None:
        """Write what is claimed and how it will be judged. What was measured in another way is put aside."""
        folder = self.folder(experiment)
        if folder.exists() and not experiment.fits(plan := read(folder / PLAN), self.size):
            why = "is measured in another way by now" if plan else "has no plan that can be read"
            self.put_aside(experiment, why)
        write_json(folder / PLAN, experiment.said(self.size))

    def put_aside(self, experiment: Experiment, why: str) -> None:
        """What lay aside before is brought back where it is measured as it is done now, and lost where it is not."""
        folder = self.folder(experiment)
        aside, between = (folder.with_name(f"{folder.name}{end}") for end in (BEFORE, BETWEEN))
        shutil.rmtree(between, ignore_errors=True)
        folder.rename(between)
        known = experiment.fits(read(aside / PLAN), self.size)
        if known:
            aside.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)
        between.rename(aside)
        then = "trials of the way before that are there again" if known else "all trials are run again"
        self.say(f"{experiment.id} {why}: {then}; see {aside}")

    def carry_out(self, chosen: Sequence[Experiment], jobs: int, ended: Ended) -> dict[str, Results]:
        """Every trial that is not done; an experiment is judged when its last one is."""
        units = {each.id: self.units(each) for each in chosen}
        whose = {unit.file: each for each in chosen for unit in units[each.id]}
        found: dict[str, Results] = {}

        def judge(experiment: Experiment) -> None:
            mine = units[experiment.id]
            if all(unit.done for unit in mine) and (results := self.publish(experiment, mine)) is not None:
                found[experiment.id] = results
                ended(results)

        for each in chosen:
            judge(each)
            if each.id in found:
                self.say(f"{each.id}: nothing is run again, all trials are there; another --out begins anew")
        hands = Hands(jobs, True, self.say, ended=lambda unit: judge(whose[unit.file]))
        try:
            hands.carry_out([unit for each in chosen for unit in units[each.id]])
        except (Interrupted, KeyboardInterrupt):
            raise Interrupted("stopped; what is done is kept, and the same command goes on from there") from None
        for name, mine in units.items():
            if errors := [f"{unit.what}: {unit.error}" for unit in mine if unit.file in hands.failed]:
                count = f"{len(errors)} of {len(mine)} trials failed"
                self.failed[name] = f"{count} ({errors[0]}); the same command tries again"
        return found

    def units(self, experiment: Experiment) -> list[Unit]:
        """Seed by seed, every arm; or all at once."""
        arms = {name: experiment.whole(arm, self.size) for name, arm in experiment.arms.items() if arm.there}
        every, found = self.seeds_of(experiment), []
        groups = [({name: arm}, (seed,)) for seed in every for name, arm in arms.items()]
        for some, seeds in [(arms, every)] if experiment.together else groups:
            label = f"all-of-{len(seeds)}" if experiment.together else f"{slug(*some)}-{seeds[0]}"
            what = f"{experiment.id} {label}"
            args = experiment.measure, experiment.at(self.size), self.device, some, seeds
            file = self.folder(experiment) / TRIALS / f"{label}.json"
            found.append(Unit(what, tried, args, file, experiment.at(self.size).seconds))
        return found

    def seeds_of(self, experiment: Experiment) -> tuple[int, ...]:
        """As many as asked for; or more, where there is a verdict by more of them."""
        known = read(self.folder(experiment) / RESULTS).get("seeds", [])
        return tuple(range(max(self.seeds, len(known))))

    def forget(self, experiment: Experiment) -> None:
        """Numbers, figure and verdict; trials stay."""
        for name in (RESULTS, NUMBERS, *FIGURES):
            (self.folder(experiment) / name).unlink(missing_ok=True)

    def publish(self, experiment: Experiment, units: list[Unit]) -> Results | None:
        """Judge, draw and write. A rule or a figure that stops at these numbers stops no other experiment."""
        folder = self.folder(experiment)
        (folder / UNJUDGED).unlink(missing_ok=True)
        try:
            results = self.results(experiment, [read_json(unit.file) for unit in units])
            pictures = {name: picture(experiment, results, *how) for name, how in FIGURES.items()}
        except Exception as error:
            self.forget(experiment)
            write(folder / UNJUDGED, traceback.format_exc().encode())
            why = f"its numbers cannot be judged ({type(error).__name__}: {error}); see {folder / UNJUDGED}"
            self.failed[experiment.id] = why
            self.say(f"{experiment.id} FAILED: {why}")
            return None
        for name, content in {**pictures, NUMBERS: table(results["rows"]).encode()}.items():
            write(folder / name, content)
        write_json(folder / RESULTS, results)
        return results

    def results(self, experiment: Experiment, trials: list[dict[str, Any]]) -> Results:
        rows = [row for trial in trials for row in trial["rows"]]
        devices = list(dict.fromkeys(trial["device"] for trial in trials))
        if experiment.timed and len(devices) > 1:
            raise UserError(f"times of {' and '.join(devices)} are no comparison; give another --out")
        verdict = judged(experiment, rows)
        return {
            **read_json(self.folder(experiment) / PLAN),  # files may have changed since it began
            "seeds": (seeds := sorted({row["seed"] for row in rows})),
            "command": f"regard lab {experiment.id} --size {self.size} --seeds {len(seeds)}",
            "verdict": verdict.word,
            "sentence": verdict.sentence,
            "otherwise": experiment.otherwise,
            "held": verdict.held,
            "left_out": {name: arm.needs for name, arm in experiment.arms.items() if not Found(rows).has(name)},
            "seconds": sum(trial["seconds"] for trial in trials),
            "device": " and ".join(devices),
            "versions": together([trial["versions"] for trial in trials]),
            "timed": list(experiment.timed),
            "fingerprint": fingerprint(rows, experiment.timed),
            "rows": rows,
        }


def lab(out: Path | str, *, size: str, seeds: int, jobs: int = 0, say: Say = lambda line: None) -> Lab:
    if seeds < 1:
        raise UserError(f"--seeds {seeds}: at least 1 is needed")
    if jobs < 0:
        raise UserError(f"--jobs {jobs}: at least 1 is needed; 0 stands for two, where there are two cores")
    if Path(out).exists() and not Path(out).is_dir():
        raise UserError(f"--out {out} is no folder; give another")
    return Lab(Path(out), size, seeds, jobs or min(2, os.cpu_count() or 1), say)


def read(file: Path) -> Results:
    """What a file holds; nothing where it is missing or damaged, so that it is made again."""
    try:
        found = read_json(file)
    except UserError:
        return {}
    return found if isinstance(found, dict) else {}


def together(versions: Sequence[dict[str, str]]) -> dict[str, str]:
    """Each name once, with every version that trials were run with."""
    names = dict.fromkeys(name for some in versions for name in some)
    return {name: " and ".join(dict.fromkeys(some[name] for some in versions if name in some)) for name in names}


def slug(name: str) -> str:
    """A name for a file."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def tried(
    measure: Callable[[Trial], list[Row]],
    size: Size,
    device: str,
    arms: dict[str, Arm],
    seeds: tuple[int, ...],
    *,
    quiet: bool,
) -> dict[str, Any]:
    """One trial: its rows, each with the arm and the seed it is of."""
    settle(machine(device))
    torch.manual_seed(seeds[0])  # whatever ran before in this process
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        rows = measure(Trial(size, device, Path(place), arms, seeds))
    known = {"arm": next(iter(arms)), "seed": seeds[0]}
    return {
        "rows": [{**known, **row} for row in rows],
        "seconds": time.perf_counter() - began,
        "device": device_name(choose_device(device)),
        "versions": versions(),
    }


def fingerprint(rows: Sequence[Row], timed: Sequence[str]) -> str:
    """The same for two runs whose numbers are the same to the last bit, but for times."""
    kept = [{key: value for key, value in row.items() if key not in timed} for row in rows]
    return hashlib.blake2b(json.dumps(kept, sort_keys=True).encode(), digest_size=8).hexdigest()


def table(rows: Sequence[Row]) -> str:
    """Comma-separated, with one head for all."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
