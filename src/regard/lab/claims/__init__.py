"""The laboratory: every claim of the lectures (C1-C25) as an experiment, one short file each."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from regard.errors import UserError, suggest
from regard.lab.claims.experiment import Experiment  # now: loaded later, that file would hide `experiment` below

ZOO, ALL = "bugs", "all"


def names() -> dict[str, str]:
    """The claims in order, each with the name of its file: every file that is named as one, beside this one."""
    return {f"C{int(file.stem[1:])}": file.stem for file in sorted(Path(__file__).parent.glob("c[0-9][0-9].py"))}


def experiments() -> dict[str, Experiment]:
    return {name: experiment(name) for name in names()}


def experiment(name: str) -> Experiment:
    """A claim's by its id, or the zoo of mistakes."""
    files = {**names(), ZOO: ZOO}
    known = {each.upper(): each for each in files}.get(name.upper())
    if known is None:
        spelt = name.upper() if name[1:].isdigit() else name.lower()
        raise UserError(f"no claim '{name}'{suggest(spelt, [*files, ALL])}; 'regard lab' lists them")
    return import_module(f"{__name__}.{files[known]}").EXPERIMENT


def chosen(words: Iterable[str]) -> list[Experiment]:
    """Those that are asked for, each once; `all` stands for every claim."""
    wanted = [name for word in words for name in (names() if word == ALL else [word])]
    return list({each.id: each for each in map(experiment, wanted)}.values())
