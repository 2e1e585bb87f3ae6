"""Commands that make runs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from regard.cli.output import emit, note, rows

Flag = Parameter(negative=())
Settings = Annotated[tuple[str, ...], Parameter(name="--set", negative=())]
Json = Annotated[bool, Flag]


def systems(*, json: Json = False) -> None:
    """List every preset with its lecture ids, family, parameters and task.

    Parameters
    ----------
    json
        Print JSON.
    """
    from regard.lectures import presets_table

    table = presets_table()
    emit(table, json, lambda: rows(table, ("preset", "lectures", "family", "parameters", "task", "about")))


def train(
    preset: str,
    *,
    out: Path | None = None,
    set_: Settings = (),
    force: Annotated[bool, Flag] = False,
    quiet: Annotated[bool, Flag] = False,
    tensorboard: Annotated[bool, Flag] = False,
    json: Json = False,
) -> None:
    """Train a new run from a preset or a TOML file.

    Parameters
    ----------
    preset
        Name of a preset (see 'regard systems') or path of a .toml file.
    out
        Folder of the run. By default runs/NAME, with a number when that is taken.
    set_
        A setting as section.key=value; the value is TOML. May be given several times.
    force
        Overwrite the run that is there.
    quiet
        No progress.
    tensorboard
        Write TensorBoard events too.
    json
        Print the run's figures as JSON.
    """
    from regard import recipe
    from regard import train as work

    chosen = recipe.read(preset, list(set_))
    folder = work.train(chosen, out or free_name(Path(preset).stem), force=force, quiet=quiet, tensorboard=tensorboard)
    tell(folder, json)


def resume(
    run: Path, *, quiet: Annotated[bool, Flag] = False, tensorboard: Annotated[bool, Flag] = False, json: Json = False
) -> None:
    """Go on with a run where it stopped, bit for bit.

    Parameters
    ----------
    run
        Folder of the run.
    quiet
        No progress.
    tensorboard
        Write TensorBoard events too.
    json
        Print the run's figures as JSON.
    """
    from regard import train as work

    tell(work.resume(run, quiet=quiet, tensorboard=tensorboard), json)


def demo(*, out: Path = Path("runs/demo"), seed: int = 0, force: Annotated[bool, Flag] = False) -> None:
    """Train a small Transformer on the built-in `road` corpus, then score it, check it and draw what "it" looks at.

    Parameters
    ----------
    out
        Folder of the run.
    seed
        Another seed gives another run.
    force
        Overwrite the run that is there.
    """
    from regard import recipe
    from regard import train as work
    from regard.cli.demo import show

    work.train(recipe.read("transformer-tiny", [f"seed={seed}"]), out, force=force)
    show(out)


def free_name(stem: str) -> Path:
    """runs/NAME, or the first of runs/NAME-2, runs/NAME-3, ... that is free."""
    number, path = 1, Path("runs") / stem
    while path.exists():
        number += 1
        path = Path("runs") / f"{stem}-{number}"
    return path


def tell(folder: Path, json: bool) -> None:
    from regard.checkpoint import REPORT, read_json

    report = read_json(folder / REPORT)
    emit({"run": str(folder), **report.get("measured", {})}, json, lambda: print(folder))
    note(f"next: regard evaluate {folder}   regard verify {folder}")
