"""From the `[data]` and `[text]` sections to a tokenizer, token files and a report. Nothing is lost in silence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from regard.data.sources import HEADS, Source, file_hash
from regard.data.splits import Data, splits
from regard.data.store import Counts, Store
from regard.text import Text, Tokenizer


class Task(Protocol):
    """What the data are for: the columns that are read, which of them holds labels, and how their tokens are kept."""

    columns: tuple[str, ...]
    label: str  # "" where every column is text
    symbols: tuple[str, ...]  # that the vocabulary must have, besides those of every text

    def labels(self, source: Source) -> tuple[str, ...]:
        """The labels there are, as the training split has them."""

    def named(self, cell: str) -> Iterable[str]:
        """The labels in one record's column of them."""

    def write(
        self,
        source: Source,
        tokenizer: Tokenizer,
        folder: Path,
        *,
        labels: tuple[str, ...],
        context: int,
        too_long: str,
    ) -> tuple[list[Store], Counts]: ...


@dataclass(frozen=True)
class Prepared:
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    report: dict[str, Any]


def prepare(
    data: Data,
    text: Text,
    task: Task,
    *,
    context: int,
    folder: Path,
    say: Callable[[str], None],
    opened: tuple[dict[str, Source], list[str]] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Prepared:
    """Train the tokenizer on the training split unless one is given, then write every split's tokens to `folder`."""
    sources, said = opened or splits(data, task.columns)
    say(f"reading {', '.join(f'{len(source):,} {split}' for split, source in sources.items())} records")
    labels = task.labels(sources["train"])
    trained = tokenizer is None
    if tokenizer is None:
        tokenizer = Tokenizer.train(texts(sources["train"], task), text, task.symbols)
    say(f"{len(tokenizer):,} tokens of kind '{text.kind}' in the vocabulary")
    if labels:
        say(f"{len(labels):,} labels: {shown(labels)}")
        said = [*said, *remarks(sources, task, labels)]
    settings: dict[str, Any] = {"labels": labels, "context": context, "too_long": data.too_long}
    counts = {split: task.write(source, tokenizer, folder / split, **settings)[1] for split, source in sources.items()}
    files = {str(path): file_hash(path) for path in data.files()}
    told = {**report(counts, said, context), "too_long": data.too_long, "files": files}
    if trained:
        named = {"valid": data.valid, "test": data.test}
        told |= {"kind": text.kind, "held_out": [split for split in named if split in sources and not named[split]]}
    return Prepared(tokenizer, labels, told)


def texts(source: Source, task: Task) -> Iterator[str]:
    """Every text of every record; labels and heads are none. Words with heads have a blank before the first one too, as
    they are spelt."""
    kept = [name not in (task.label, HEADS) for name in task.columns]
    blank = " " if HEADS in task.columns else ""
    return (blank + text for record in source for text in compress(record, kept))


def remarks(sources: dict[str, Source], task: Task, labels: tuple[str, ...]) -> Iterator[str]:
    """Splits on which little can be measured: all labels are the same, as at the end of a sorted file, or are new."""
    for split, source in sources.items():
        cells = source.column(task.columns.index(task.label))
        found = Counter(name for (cell,) in cells for name in task.named(cell))
        if len(found) == 1:
            yield f"{split} has no label but '{next(iter(found))}': shuffle the file, or give data.{split}"
        if new := tuple(sorted(found.keys() - set(labels))):
            count = sum(found[name] for name in new)
            yield f"{split} has {count:,} labels that training does not ({shown(new)}): never right, not in the loss"


def shown(labels: tuple[str, ...], most: int = 12) -> str:
    return ", ".join(labels[:most]) + (" ..." if len(labels) > most else "")


def stores(folder: Path, columns: tuple[str, ...]) -> list[Store]:
    """The token files of one split."""
    return [Store(folder / column) for column in columns]


def report(counts: dict[str, Counts], said: list[str], context: int) -> dict[str, Any]:
    """What was truncated, dropped, duplicated, unknown, and what stands in two splits."""
    seen = np.unique(counts["train"].hashes)
    overlap = {
        split: int(np.isin(np.unique(count.hashes), seen).sum()) for split, count in counts.items() if split != "train"
    }
    return {
        "context": context,
        "decided": said,
        "splits": {split: count.summary() for split, count in counts.items()},
        "also_in_train": overlap,
    }


def report_lines(report: dict[str, Any]) -> list[str]:
    """The data report in words."""
    out = list(report["decided"])
    for split, c in report["splits"].items():
        warnings = list(left_out(split, c, report["too_long"])) if "too_long" in report else []  # else it evaluates
        also = report["also_in_train"].get(split)
        told = [kept(split, c), *lost(c, c.get("most") or report["context"]), f"{also:,} also in train" if also else ""]
        if c["unknown"] > 0.2 * c["tokens"] and not warnings:  # those of records that are left out are counted too
            told.append(many_unknown(report.get("kind", ""), held_out=split in report.get("held_out", ())))
        out += ["; ".join(filter(None, told)), *warnings]
    return out


def many_unknown(kind: str, *, held_out: bool) -> str:
    """Where so many unknown tokens may come from, and which `kind` would have fewer, where that could be chosen."""
    other = "" if held_out else " that this may be another text than the tokenizer was made for"
    remedy = ""
    if kind == "word":
        remedy = "text.kind = 'bpe' or 'char' in training cuts new words into pieces that are known"
    elif kind and held_out:
        remedy = "text.kind = 'byte-bpe' in training has tokens for whatever is written"
    return ": ".join(filter(None, (f"so many unknown{other}", remedy)))


def kept(split: str, c: dict[str, Any]) -> str:
    tokens = "target tokens" if c.get("targets") else "tokens"
    longest = "longest side" if c.get("sides") else "longest"
    return f"{split}: {c['kept']:,} of {c['records']:,} records, {c['tokens']:,} {tokens}, {longest} {c['longest']:,}"


def lost(c: dict[str, Any], most: int) -> Iterator[str]:
    """What became of the rest, where there is any."""
    words = {
        "dropped": f"dropped as longer than {most} tokens",
        "truncated": f"truncated to {most} tokens",
        "empty": "empty",
        "duplicated": "duplicated",
        "unknown": "unknown tokens",
    }
    return (f"{c[name]:,} {what}" for name, what in words.items() if c[name])


def left_out(split: str, c: dict[str, Any], too_long: str) -> Iterator[str]:
    """A warning where more than half of the records are not kept, and what would keep them."""
    lost = c["dropped"] + c["empty"]
    if 2 * lost <= c["records"]:
        return
    ways = []
    if c["dropped"]:
        context = "a larger system.context" if c.get("most") else f"system.context = {c['longest']}"
        beginnings = ", data.too_long = 'truncate' their beginnings" if too_long == "drop" else ""
        ways.append(f"{context} would keep {'all but the empty ones' if c['empty'] else 'them'}{beginnings}")
    if c["empty"]:
        ways.append("nothing keeps what is empty: look at the file, and at what data.fields names")
    yield f"warning: {lost:,} of {c['records']:,} records of {split} are left out: {'; '.join(ways)}"
