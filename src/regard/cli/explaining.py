"""What `regard explain` prints and writes."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard import explain as work
from regard.cli.making import tell_unknown
from regard.cli.output import note, rows
from regard.cli.reading import plain, sentences
from regard.decode import fill_spans
from regard.errors import UserError
from regard.evaluate.translating import translated
from regard.explain.account import account
from regard.explain.draw import PICTURES, WRITERS, check_choice, chosen, known
from regard.explain.figures import pixels
from regard.explain.listening import every_look
from regard.explain.sides import sides
from regard.objectives import SpanCorruption
from regard.systems import use_of
from regard.text.gaps import Gapped
from regard.text.words import cut, spaced

PRINTED = "json"  # as a target: standard output
ACCOUNT = ""  # likewise, in a few words
SLOW = 10_000_000  # pixels of a picture that takes seconds
Texts = dict[str, Any]  # `text` and perhaps `second`, or `source` and `target`; the others are None


@dataclass(frozen=True)
class Wanted:
    """What is shown of a run, and where: `to` are files, or PRINTED. With `steps` layer and head are those of the walk,
    else those of a picture."""

    to: tuple[str, ...]
    influence: bool
    steps: bool
    layer: int | None
    head: int | None
    word: str | None

    @property
    def drawn(self) -> dict[str, int | None]:
        """What a picture is narrowed to."""
        return {} if self.steps else {"layer": self.layer, "head": self.head}

    def check(self) -> None:
        """What does not go together stops before a run is read."""
        if not self.steps and self.word is not None:
            raise UserError("--word chooses what --steps walks through: give --steps too")
        if self.steps and self.influence and not self.to:
            raise UserError(
                "--influence is no part of --steps: name a file to write it to with --to, or leave --steps out"
            )
        check_targets(self.to or (PRINTED,), **self.drawn)


def explained(
    run: Any,
    wanted: Wanted,
    text: str | None,
    trees: Path | None,
    second: str | None,
    source: str | None,
    target: str | None,
) -> None:
    """Look into the run while it reads these texts, and print or write what is wanted of that."""
    texts = texts_for(run, sentence(run, text, trees), second, source, target)
    layer, head = wanted.layer or 0, wanted.head or 0
    parts = steps_of(run, texts, layer=layer, head=head, word=wanted.word) if wanted.steps else []
    seen = work.trace(run, **texts, influence=wanted.influence) if wanted.to or not wanted.steps else None
    if texts["target"] != target:
        note(f"target, as the model translates: {texts['target']}")
    show(parts)
    if seen is not None:
        for lack in seen.lacks:
            note(f"{run.path} has {lack}")
        write(seen, wanted.to or (printed(),), **wanted.drawn)
    tell_unknown_of(run, texts)  # last: where something cannot be, that alone is said


def check_targets(targets: Sequence[str], *, layer: int | None = None, head: int | None = None) -> None:
    """A file that cannot be written stops before anything is computed."""
    for target in targets:
        if target not in (PRINTED, ACCOUNT):
            known(Path(target), WRITERS)
            check_choice(Path(target), layer, head)
        elif (layer, head) != (None, None):
            raise UserError(
                "--layer and --head choose what a picture shows or --steps walks through: "
                "name a .svg or .png with --to, or give --steps too"
            )


def printed() -> str:
    """What goes to standard output where nothing is asked for: at a terminal an account, else JSON."""
    return ACCOUNT if sys.stdout.isatty() else PRINTED


def tell_unknown_of(run: Any, texts: Texts) -> None:
    """Of the texts that are looked into, what the vocabulary does not hold is said."""
    read = [side for side in sides(run, **texts) if side is not None]
    found = [(side.text[slice(*token.offset)], token.id) for side in read for token in side.tokens if token.offset]
    tell_unknown([text for text, token in found if token == run.tokenizer.unknown], len(found), "tokens")


def announce(trace: Any, target: str) -> None:
    """A picture that takes long says so first; one that is too large stops before anything is written."""
    if Path(target).suffix.lower() in PICTURES:
        across, down = pixels(trace)
        if across * down > SLOW:
            note(f"drawing {target}, {across} x {down} pixels")


def sentence(run: Any, text: str | None, trees: Path | None) -> Any:
    """The text, or the one sentence of a file with its tree. That of a text is made where it is read."""
    if trees is None:
        return text
    given = [text] if text is not None else []
    found = [each for group in sentences(run, given, trees) for each in group]
    if len(found) != 1:
        raise UserError(f"{trees} has {len(found)} sentences, and one is explained: leave one in it")
    return found[0]


def texts_for(run: Any, text: Any, second: str | None, source: str | None, target: str | None) -> Texts:
    """The texts that this kind of run needs; where a translator's target is not given, its own translation.

    A classifier reads a text as it was trained, without the spaces around it, a tagger its words with one before each.
    """
    if run.takes_source:
        if source is None or text is not None:
            raise UserError(
                f"{run.path} translates: give it --source, and --target unless its own translation is meant"
            )
        target = written(run, source) if target is None else target
    elif text is None or source is not None or target is not None:
        raise UserError(f"{run.path} {use_of(run.model).does}: give it --text, no --source and no --target")
    elif run.model.answers == "tags":
        text = spaced(text[begin:end] for begin, end in cut(text))
    elif not run.model.writes_text and isinstance(text, str):
        text = text.strip()
    return {"text": text, "second": second and second.strip(), "source": source, "target": target}


def written(run: Any, source: str) -> str:
    """What the run writes of itself: a translation, or what stood in the gaps of the source."""
    if not isinstance(run.recipe.objective, SpanCorruption):
        return translation(run, source)
    symbols, cut = run.recipe.objective.symbols, Gapped.numbered(source, run.recipe.text.kind)
    if not cut.gaps:
        raise UserError(f"{run.path} writes what is missing: mark a gap of the source with ___")
    sentinels = tuple(map(run.tokenizer.symbol, symbols))
    found = fill_spans(run.model, run.tokenizer, [cut], sentinels=sentinels, settings=run.recipe.decode)[0]
    words = (run.tokenizer.decode(span.tokens).strip() for span in found)
    return " ".join(f"{name} {each}" for name, each in zip(symbols, words, strict=False))


def translation(run: Any, source: str) -> str:
    """The run's own, if it is something to look into. A source that cannot be read is told of where it is read."""
    (found,), lost = translated(run, [source], None)
    if found or not source.strip() or (lost["too_long"] and run.model.reads_source):
        return found
    if lost["too_long"]:
        raise UserError(f"{run.path} has no room to translate this source: shorten it, or give a --target")
    raise UserError(f"{run.path}: its own translation of this source is empty: give one with --target")


def steps_of(run: Any, texts: Texts, *, layer: int, head: int, word: str | None) -> list[Any]:
    """The five steps for one word, by default the last that looks: of the source if it looks at itself."""
    first = texts["source"] if any(kind == "encoder" for kind, _ in every_look(run)) else texts["target"]
    words = plain(texts["text"] or first or "").split()
    return work.steps(run, **texts, layer=layer, head=head, word=word or (words or [""])[-1])


def show(parts: Sequence[Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for part in parts:
        console.print(part)


def tell(trace: Any) -> None:
    """What is worth a first look."""
    for told in account(trace):
        print(told.heading)
        rows(told.rows, tuple(told.rows[0]))
        print()
    note("all numbers: --json; pictures and a page: --to look.svg look.html")


def write(trace: Any, targets: Sequence[str], *, layer: int | None = None, head: int | None = None) -> None:
    """Pictures and data to the files named; `json` and the account are for standard output."""
    shown = chosen(trace, layer, head)
    for target in targets:
        announce(shown, target)
    for target in targets:
        if target == PRINTED:
            print(json.dumps(work.to_json(trace), ensure_ascii=False))
        elif target == ACCOUNT:
            tell(trace)
        else:
            work.draw(trace, Path(target), layer=layer, head=head)
            note(f"wrote {target}")
