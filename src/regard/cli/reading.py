"""What a command is given: runs, and texts as arguments or on standard input."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from regard.cli.output import note
from regard.errors import UserError

STDIN = "standard input"
AT_ONCE = 1024  # lines translated before any is printed
BEGINNING = 40  # letters of a long text by which one knows it
READ = ("data.fields", "data.document", "data.tags")  # the settings that say how files are read


def load_runs(paths: Sequence[Path], device: str, others: str = "", context: int | None = None) -> list[Any]:
    """The runs, ready to use on the device. `others` is the option to which what is no run may belong."""
    from regard.checkpoint import load
    from regard.train.device import choose_device

    where = str(choose_device(device))
    if strange := [path for path in paths[1:] if not path.is_dir()]:
        raise UserError(f"no such run: {strange[0]}; is it meant for {others}?")
    return [load(path, where, context=context) for path in paths]


def runs_to_measure(
    paths: Sequence[Path], device: str, context: int | None, settings: Sequence[str], files: tuple[str, ...]
) -> list[Any]:
    """The runs, of which the first reads the files as set; one whose training can go on is told."""
    first, *others = load_runs(paths, device, "--data", context)
    runs = [read_as(first, settings, files), *others]
    tell_unfinished(runs)
    return runs


def tell_unfinished(runs: Sequence[Any]) -> None:
    """A training that can go on is not measured as if it were at its end."""
    from safetensors import SafetensorError, safe_open

    from regard.checkpoint import STATE

    for run in runs:
        try:
            with safe_open(run.path / STATE, framework="pt") as file:
                progress = json.loads((file.metadata() or {}).get("progress", "{}"))
        except (OSError, SafetensorError, ValueError):  # whoever goes on is told
            continue
        if not progress.get("finished", True):
            steps = f"step {progress['step']:,}" + (f" of {most:,}" if (most := run.recipe.train.steps) else "")
            name = shlex.quote(str(run.path))
            note(f"{run.path} was not trained to its end ({steps}): 'regard resume {name}' goes on")


def read_as(run: Any, settings: Sequence[str], files: tuple[str, ...]) -> Any:
    """The run with these settings of how files are read; any other would change nothing."""
    from regard.config import build, override
    from regard.data import Data
    from regard.data.sources import is_plain
    from regard.data.splits import check_read

    if not settings:
        return run
    if not files:
        raise UserError(f"--set {settings[0]}: it says how files are read: give them with --data")
    for setting in settings:
        key = setting.partition("=")[0].strip()
        if key not in READ and not key.startswith("data.fields."):
            raise UserError(f"--set {setting}: here it says how files are read, with {', '.join(READ)}, and no more")
        if key == "data.document" and not is_plain(files):
            raise UserError(f"--set {setting}: it is for one file of lines")
    data = build(Data, override(run.recipe.to_dict(), list(settings))["data"], where="--set [data]")
    check_read(data, run.recipe.objective.columns, map(Path, files))
    return replace(run, recipe=replace(run.recipe, data=data))


def load_one(paths: Sequence[Path], device: str, others: str) -> Any:
    """One run, or several as an ensemble."""
    from regard.evaluate import combined

    return combined(load_runs(paths, device, others))


def needs_translator(model: Any) -> None:
    from regard.objectives import SpanCorruption

    needs_writer(model)
    if not model.takes_source:
        raise misused(model, " and reads no source")
    if isinstance(model.recipe.objective, SpanCorruption):
        raise misused(model)


def needs_language_model(model: Any) -> None:
    needs_writer(model)
    if model.takes_source:
        raise misused(model)


def needs_writer(model: Any) -> None:
    """A run whose texts have probabilities."""
    if not model.model.writes_text:
        raise misused(model, " and writes none")


def needs_classifier(model: Any) -> None:
    if model.model.answers != "labels":
        raise misused(model, "" if model.labels else " and knows no labels")


def needs_tagger(model: Any) -> None:
    if model.model.answers != "tags":
        raise misused(model, "" if model.labels else " and knows no tags")


def misused(model: Any, lacks: str = "") -> UserError:
    """What the run does, what of that is not enough here, and the command for it."""
    from regard.objectives import Continuation, SpanCorruption
    from regard.systems.use import CONTINUER, FILLER, use_of

    own = {SpanCorruption: FILLER, Continuation: CONTINUER}
    use = own.get(type(model.recipe.objective)) or use_of(model.model)
    return UserError(f"{model.path} {use.does}{lacks}; use 'regard {use.command}'")


def checked(texts: Sequence[str], option: str) -> list[str]:
    """Texts given as arguments; bytes that are no characters stop here."""
    for text in texts:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UserError(f"{option} {text!r}: not UTF-8")
    return list(texts)


def stdin_lines() -> Iterator[str]:
    """The lines of standard input without their ends."""
    from regard.data.sources import decoded

    return (line.rstrip("\r\n") for _, line in decoded(sys.stdin.buffer, STDIN))


def stdin_pairs() -> list[tuple[str, str]]:
    """Source and target, separated by a tab, in each line of standard input."""
    return [halves(line, number, "a source", "a target") for number, line in enumerate(stdin_lines(), 1)]


def halves(line: str, number: int, one: str, other: str) -> tuple[str, str]:
    """A line of standard input that a tab cuts in two; `one` and `other` say what these are."""
    cells = line.split("\t")
    if len(cells) != 2:
        raise UserError(f"{STDIN} line {number}: {len(cells)} column(s); {one}, a tab and {other} are needed")
    return cells[0], cells[1]


def stdin_text() -> str:
    """All of standard input, or nothing at a terminal."""
    return "" if sys.stdin.isatty() else "\n".join(stdin_lines())


def groups(texts: list[str]) -> Iterator[list[str]]:
    """The texts, else the lines of standard input, in groups; at a terminal each line is answered at once."""
    if not texts and sys.stdin.isatty():
        yield from ([line] for line in stdin_lines())
        return
    texts = texts or list(stdin_lines())
    yield from (texts[begin : begin + AT_ONCE] for begin in range(0, len(texts), AT_ONCE))


def sentences(run: Any, texts: list[str], trees: Path | None) -> Iterator[list[Any]]:
    """The texts in groups: of a run that looks at trees with theirs, out of a CoNLL-U file or by the run's parser."""
    from regard.data.parse import read_parses

    if trees is None and not run.model.trees:
        yield from groups(texts)
    elif trees is None:
        run.parsed("")  # before anything is read: it may have no parser
        yield from ([run.parsed(text) for text in group] for group in groups(texts))
    elif not run.model.trees:
        raise UserError(f"{run.path} looks at no trees: it takes no --trees")
    elif texts:
        raise UserError("--trees has its own sentences: leave out --text")
    else:
        found = list(read_parses(trees))
        if not found:
            raise UserError(f"{trees} has no sentences: there is nothing to read")
        yield from (found[begin : begin + AT_ONCE] for begin in range(0, len(found), AT_ONCE))


def standing(texts: Sequence[str], trees: Path | None) -> Callable[[int], str]:
    """Where the text of a number, counted from 1, was given."""
    if texts:
        return lambda number: "--text"
    if trees is not None:
        return lambda number: f"{trees} sentence {number}:"
    return lambda number: f"{STDIN} line {number}:"


def begun(text: str) -> str:
    """A text in quotes, of a long one the beginning."""
    return repr(text if len(text) <= BEGINNING else f"{text[:BEGINNING].rstrip()}…")


def plain(text: Any) -> str:
    """A text without its tree."""
    return text if isinstance(text, str) else text.text


def examples(model: Any, texts: Sequence[str], seconds: Sequence[str]) -> Iterator[Sequence[tuple[str, ...]]]:
    """What a classifier is to read, in groups: one text each, or two where it was trained on pairs."""
    given, others, done = checked(texts, "--text"), checked(seconds, "--second"), 0
    if others and not model.recipe.objective.pairs:
        raise UserError(f"{model.path} reads one text: it takes no --second")
    if not model.recipe.objective.pairs:
        yield from ([(text,) for text in group] for group in groups(given))
    elif len(given) != len(others):
        raise UserError(f"{len(given)} texts and {len(others)} second ones: each --text needs its own --second")
    elif given:
        yield list(zip(given, others, strict=True))
    else:
        for group in groups([]):
            yield [halves(line, done + i, "a text", "a second one") for i, line in enumerate(group, 1)]
            done += len(group)
