"""Commands that make runs."""

import shlex
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Force, Json, Run, Settings, flag
from regard.cli.output import emit, note, rows
from regard.errors import UserError

Quiet = Annotated[bool, flag("No progress.")]
Tensorboard = Annotated[bool, flag("Write TensorBoard events too.")]


def systems(*, json: Json = False) -> None:
    """List every preset with its lecture ids, family, parameters and task."""
    from regard.lectures import presets_table

    table = presets_table()
    shown = ("preset", "lectures", "family", "parameters", "vocabulary", "task", "about")
    emit(table, json, lambda: rows(table, shown, spare=("task", "family", "vocabulary")))


def train(
    preset: Annotated[str, Parameter(help="Name of a preset (see 'regard systems') or path of a .toml file.")],
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="Folder of the run. By default runs/NAME, with a number when that is taken.")
    ] = None,
    set_: Settings = (),
    from_: Annotated[
        Path | None,
        Parameter(name="--from", help="Start from this trained run: its tokenizer and its weights, at step 0."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    tensorboard: Tensorboard = False,
    json: Json = False,
) -> None:
    """Train a new run from a preset or a TOML file."""
    from regard.recipe import read
    from regard.train import train as work

    recipe, folder = read(preset, list(set_)), out or free_name(Path(preset).stem)
    if from_ is not None:
        recipe = read(preset, [*system_of(from_, recipe), *set_])
        no_other_text(recipe, from_, set_)
    work(recipe, folder, start_from=from_, force=force, quiet=quiet, tensorboard=tensorboard)
    tell(folder, json=json, quiet=quiet)


def resume(run: Run, /, *, quiet: Quiet = False, tensorboard: Tensorboard = False, json: Json = False) -> None:
    """Go on with a run where it stopped, bit for bit."""
    from regard.train import resume as work

    tell(work(run, quiet=quiet, tensorboard=tensorboard), json=json, quiet=quiet)


def demo(
    *,
    out: Annotated[Path, Parameter(help="Folder of the run.")] = Path("runs/demo"),
    seed: Annotated[int, Parameter(help="Another seed gives another run.")] = 0,
    force: Force = False,
) -> int:
    """Train a small Transformer on the built-in `road` corpus, then score it, check it and draw what "it" looks at."""
    from regard.cli.demo import show
    from regard.recipe import read
    from regard.train import train as work

    work(read("transformer-tiny", [f"seed={seed}"]), out, force=force)
    return 0 if show(out) else 1


def system_of(run: Path, recipe: Any) -> list[str]:
    """The settings of a run's system, where it is of the recipe's kind: whoever starts from it need not repeat them."""
    from json import dumps

    from regard.checkpoint import read_recipe

    there = read_recipe(run)
    if type(there.system) is not type(recipe.system):
        return []  # the training will say that they differ
    settings = there.to_dict()["system"].items()
    return [f"system.{name}={dumps(value)}" for name, value in settings if value is not None]


def no_other_text(recipe: Any, run: Path, settings: tuple[str, ...]) -> None:
    """A setting of the text that was given by hand and is not the run's would be ignored: it stops."""
    from regard.checkpoint import read_recipe

    text = read_recipe(run).text
    for setting in settings:
        section, _, one = setting.partition("=")[0].strip().partition(".")
        for name in [one] if one else vars(text):  # or all of the section
            if section == "text" and getattr(text, name) != getattr(recipe.text, name):
                raise UserError(
                    f"--set {setting}: the tokenizer of {run} is taken, with text.{name} = {getattr(text, name)}"
                )


def free_name(stem: str) -> Path:
    """runs/NAME, or the first of runs/NAME-2, runs/NAME-3, ... that is free."""
    number, path = 1, Path("runs") / stem
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def tell(folder: Path, *, json: bool, quiet: bool) -> None:
    """The run's folder, or its figures as JSON; and what may be done with it."""
    from regard.checkpoint import REPORT, read_json

    report = read_json(folder / REPORT)
    emit({"run": str(folder), **report.get("measured", {})}, json, lambda: print(folder))
    if not quiet:
        name = shlex.quote(str(folder))
        note(f"next: regard evaluate {name}   regard verify {name}")
