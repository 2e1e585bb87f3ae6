"""What an experiment composes: an arm, a size, a seed, and how one of them is trained."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import regard
from regard.checkpoint import LOG, Run
from regard.lab.mistakes import MISTAKES
from regard.lab.plan import NEVER
from regard.recipe import Recipe, Train
from regard.train.device import choose_device

Row = dict[str, Any]
COMMON = ("train.compile=false", f"train.save_every={NEVER}", f"train.evaluate_every={NEVER}")


def machine(device: str) -> Train:
    """How a device is used. On a processor the same twice; on a GPU some layers have no way to be that."""
    return Train(device=device, threads=1, deterministic=device == "cpu")


class Arm:
    """One of those that are compared: a preset and settings, as `regard train PRESET --set ...` takes them.

    A `mistake` is one of the zoo's, made while it is trained and used. An arm that `needs` a package is left out where
    that is not installed.
    """

    def __init__(self, preset: str = "", *settings: str, mistake: str = "", needs: str = ""):
        self.preset, self.settings, self.mistake, self.needs = preset, settings, mistake, needs

    @property
    def there(self) -> bool:
        return not self.needs or find_spec(self.needs) is not None

    def told(self) -> dict[str, Any]:
        return {"preset": self.preset, "settings": list(self.settings), "mistake": self.mistake}


class Size:
    """How large an experiment is: about how many `seconds` a trial takes, what all arms are set to, other values."""

    def __init__(self, seconds: float, *settings: str, **values: Any):
        self.seconds, self.settings, self.values = seconds, settings, values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True)
class Trial:
    """One arm with one seed, or all of them (`arms`, `seeds`) where an experiment takes them together.

    `folder` is a place for runs; it is gone when the trial is over.
    """

    size: Size
    device: str
    folder: Path
    arms: dict[str, Arm]
    seeds: tuple[int, ...]

    @property
    def arm(self) -> Arm:
        (arm,) = self.arms.values()
        return arm

    @property
    def seed(self) -> int:
        (seed,) = self.seeds
        return seed

    def recipe(self, *settings: str, arm: Arm | None = None, preset: str = "", seed: int | None = None) -> Recipe:
        """The arm's recipe with further settings; `preset` in place of its own."""
        arm = arm or self.arm
        how = machine(self.device)
        common = (
            *(f"seed={self.seed if seed is None else seed}", f"train.device='{how.device}'", *COMMON),
            *(f"train.threads={how.threads}", f"train.deterministic={str(how.deterministic).lower()}"),
        )
        return regard.read(preset or arm.preset, [*common, *arm.settings, *settings])

    def train(
        self,
        *settings: str,
        arm: Arm | None = None,
        preset: str = "",
        seed: int | None = None,
        after: Run | None = None,
    ) -> Run:
        """A trained run, with the arm's mistake where it makes one. `after` is a run to start from."""
        recipe = self.recipe(*settings, arm=arm, preset=preset, seed=seed)
        out = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        with self.mistaken(arm):
            regard.train(recipe, out, start_from=after.path if after else None, quiet=True)
            return regard.load(out, str(choose_device(self.device)))

    def mistaken(self, arm: Arm | None = None) -> AbstractContextManager[None]:
        """While this is open the arm's mistake is made."""
        mistake = (arm or self.arm).mistake
        return MISTAKES[mistake].made() if mistake else nullcontext()


def history(run: Run) -> Iterator[Row]:
    """Step by step what the log of a training tells."""
    for line in (run.path / LOG).read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "step":
            yield event


def curve(run: Run) -> list[Row]:
    """The loss of every step that was logged."""
    return [{"step": event["step"], "loss": event["loss"]} for event in history(run)]
