"""Commands that make runs."""

import shlex
from collections.abc import Container
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
    from regard.recipe import fresh
    from regard.train import train as work

    recipe, gone = fresh(preset, set_) if from_ is None else begun(preset, from_, set_)
    if gone and not quiet:
        left = ", ".join(f"{name} = {value!r}" for name, value in gone.items())
        note(f"of {preset} these settings give way to what was asked for: {left}")
    folder = out or free_name(Path(preset).stem)
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


def begun(preset: str, run: Path, settings: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """The recipe with the system of a run to start from. What the user's file or `--set` says holds, or stops."""
    from regard.config import override, read_toml
    from regard.recipe import drafted, file_of

    tree = override(read_toml(file_of(preset)), list(settings))
    said = tree if preset.endswith(".toml") else {}  # a preset says nothing: it is for runs of any size
    taken = system_of(run, part_of(tree, "system").get("kind"), part_of(said, "system"))
    recipe, gone = drafted(preset, settings, under=taken)
    no_other_text(recipe, run, settings)
    text = tuple(f"text.{name}={value}" for name, value in part_of(said, "text").items())
    no_other_text(recipe, run, text, where=f"{preset}: ")
    return recipe, gone


def part_of(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """A section of a file; what is none is told when the file is read."""
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def system_of(run: Path, kind: Any, said: Container[str] = ()) -> list[str]:
    """The settings of a run's system, where it is of this kind or none is named: whoever starts from it need not
    repeat them. What is `said` holds, or the training refuses it."""
    from json import dumps

    from regard.checkpoint import read_recipe

    there = read_recipe(run).to_dict()["system"]
    if kind not in (None, there["kind"]):
        return []  # the training will say that they differ
    taken = {name: value for name, value in there.items() if value is not None and name not in said}
    return [f"system.{name}={dumps(value)}" for name, value in taken.items()]


def no_other_text(recipe: Any, run: Path, settings: tuple[str, ...], where: str = "--set ") -> None:
    """A setting of the text that was given by hand and is not the run's would be ignored: it stops."""
    from regard.checkpoint import read_recipe

    text = read_recipe(run).text
    for setting in settings:
        section, _, one = setting.partition("=")[0].strip().partition(".")
        for name in [one] if one else vars(text):  # or all of the section
            if section == "text" and getattr(text, name) != getattr(recipe.text, name):
                raise UserError(
                    f"{where}{setting}: the tokenizer of {run} is taken, "
                    f"with text.{name} = {getattr(text, name)}; leave it out"
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
