"""Running experiments: what is claimed is written first, then every trial, then the numbers, the figure, the verdict.

A folder `SIZE/ID` holds `plan.json`, `trials/`, `results.json`, `numbers.csv` and `figure.svg`, `figure.png` with their
dark twins. A trial that is done is not done again, so the same command goes on where it stopped.
"""

import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import read_json, write, write_json
from regard.errors import Interrupted, UserError
from regard.lab.claims.experiment import Experiment, judged
from regard.lab.claims.figure import picture
from regard.lab.claims.panels import THEMES
from regard.lab.claims.trial import Arm, Row, Size, Trial, machine
from regard.lab.units import Hands, Say, Unit
from regard.train.device import choose_device
from regard.train.run import device_name, settle, versions

PLAN, RESULTS, NUMBERS, FIGURE, TRIALS = "plan.json", "results.json", "numbers.csv", "figure", "trials"


@dataclass(frozen=True)
class Lab:
    """Where results lie, how large experiments are, and with which seeds."""

    out: Path
    size: str
    seeds: tuple[int, ...]
    jobs: int = 1
    say: Say = lambda line: None

    def folder(self, experiment: Experiment) -> Path:
        return self.out / self.size / experiment.id

    @property
    def device(self) -> str:
        """A small model waits for a GPU longer than a processor takes."""
        return "cpu" if self.size == "small" else choose_device("auto").type

    def run(self, experiments: Sequence[Experiment], ended: Callable[[dict[str, Any]], None]) -> list[dict[str, Any]]:
        """All of them; `ended` is told each result as soon as it is there. Timed ones run alone, last."""
        for each in experiments:
            self.begin(each)
        found: dict[str, dict[str, Any]] = {}
        for alone in (False, True):
            chosen = [each for each in experiments if bool(each.timed) == alone]
            self.carry_out(chosen, 1 if alone else self.jobs, found, ended)
        return [found[each.id] for each in experiments if each.id in found]

    def begin(self, experiment: Experiment) -> None:
        """Write what is claimed and how it will be judged. Trials of another plan are not this one's."""
        folder = self.folder(experiment)
        said = json.loads(json.dumps(experiment.said(self.size)))
        if (folder / PLAN).exists() and read_json(folder / PLAN) != said:
            self.say(f"{experiment.id} is another experiment than the one in {folder}: all trials are run again")
            shutil.rmtree(folder / TRIALS, ignore_errors=True)
        write_json(folder / PLAN, said)

    def carry_out(self, chosen, jobs, found, ended) -> None:
        units = {each.id: self.units(each) for each in chosen}

        def look(unit: Unit | None = None) -> None:
            for each in chosen:
                if each.id not in found and all(one.done for one in units[each.id]):
                    found[each.id] = self.publish(each, units[each.id])
                    ended(found[each.id])

        look()
        hands = Hands(jobs, True, self.say, ended=look)
        try:
            hands.carry_out([unit for each in chosen for unit in units[each.id]])
        except (Interrupted, KeyboardInterrupt):
            raise Interrupted("stopped; what is done is kept, and the same command goes on") from None

    def units(self, experiment: Experiment) -> list[Unit]:
        """Seed by seed, every arm; or all at once."""
        arms = {name: experiment.whole(arm, self.size) for name, arm in experiment.arms.items()}
        groups = [({name: arm}, (seed,)) for seed in self.seeds for name, arm in arms.items()]
        found = []
        for some, seeds in [(arms, self.seeds)] if experiment.together else groups:
            label = "all" if experiment.together else f"{slug(*some)}-{seeds[0]}"
            what = f"{experiment.id} {label}"
            args = experiment.measure, experiment.at(self.size), self.device, some, seeds
            file = self.folder(experiment) / TRIALS / f"{label}.json"
            found.append(Unit(what, tried, args, file, experiment.at(self.size).seconds))
        return found

    def publish(self, experiment: Experiment, units: list[Unit]) -> dict[str, Any]:
        """Judge and write everything."""
        trials, folder = [read_json(unit.file) for unit in units], self.folder(experiment)
        rows = [row for trial in trials for row in trial["rows"]]
        verdict = judged(experiment, rows)
        results = {
            **experiment.said(self.size),
            "seeds": list(self.seeds),
            "command": f"regard lab {experiment.id} --size {self.size} --seeds {len(self.seeds)}",
            "verdict": verdict.word,
            "sentence": verdict.sentence,
            "otherwise": experiment.otherwise,
            "held": verdict.held,
            "seconds": sum(trial["seconds"] for trial in trials),
            "device": trials[0]["device"],
            "versions": trials[0]["versions"],
            "timed": list(experiment.timed),
            "fingerprint": fingerprint(rows, experiment.timed),
            "rows": rows,
        }
        write_json(folder / RESULTS, results)
        write(folder / NUMBERS, table(rows).encode())
        for name, theme in THEMES.items():
            for form in ("svg", "png"):
                ending = "" if name == "light" else f"-{name}"
                write(folder / f"{FIGURE}{ending}.{form}", picture(experiment, results, form, theme))
        return results


def lab(out: Path | str, *, size: str, seeds: int, jobs: int = 0, say: Say = lambda line: None) -> Lab:
    if seeds < 1:
        raise UserError(f"--seeds {seeds}: at least 1 is needed")
    if jobs < 0:
        raise UserError(f"--jobs {jobs}: at least 1 is needed")
    return Lab(Path(out), size, tuple(range(seeds)), jobs or min(2, os.cpu_count() or 1), say)


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
