"""From the `[data]` and `[text]` sections to a tokenizer, token files and a report. Nothing is lost in silence."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.batching import Batcher, Pairs, Windows
from regard.data.sources import Source, file_hash
from regard.data.splits import Data, splits
from regard.data.store import Counts, Store, write_documents, write_pairs
from regard.text import Text, Tokenizer


@dataclass(frozen=True)
class Prepared:
    tokenizer: Tokenizer
    report: dict[str, Any]


def prepare(
    data: Data,
    text: Text,
    columns: tuple[str, ...],
    *,
    context: int,
    folder: Path,
    say: Callable[[str], None],
    opened: tuple[dict[str, Source], list[str]] | None = None,
) -> Prepared:
    """Train the tokenizer on the training split, then write every split's tokens below `folder`."""
    sources, said = opened or splits(data, columns)
    say(f"reading {', '.join(f'{len(source):,} {split}' for split, source in sources.items())} records")
    tokenizer = Tokenizer.train((text for record in sources["train"] for text in record), text)
    say(f"{len(tokenizer):,} tokens of kind '{text.kind}' in the vocabulary")
    counts = {
        split: write(source, tokenizer, folder / split, columns, context=context, too_long=data.too_long)[1]
        for split, source in sources.items()
    }
    files = {str(path): file_hash(path) for path in data.files()}
    return Prepared(tokenizer, {**report(counts, said, context), "files": files})


def write(
    source: Source,
    tokenizer: Tokenizer,
    folder: Path,
    columns: tuple[str, ...],
    *,
    context: int,
    too_long: str,
) -> tuple[list[Store], Counts]:
    if len(columns) == 1:
        return write_documents(source, tokenizer, folder)
    return write_pairs(source, tokenizer, folder, columns=columns, context=context, too_long=too_long)


def batcher(stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, context: int, seed: int = 0) -> Batcher:
    """Pairs for two columns, packed windows for one."""
    if len(stores) == 1:
        return Windows(stores, tokenizer, batch_tokens=batch_tokens, context=context, seed=seed)
    return Pairs(stores, tokenizer, batch_tokens=batch_tokens, seed=seed)


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
        line = f"{split}: {c['kept']:,} of {c['records']:,} records, {c['tokens']:,} tokens, longest {c['longest']:,}"
        lost = [
            f"{c['dropped']:,} dropped as longer than {report['context']} tokens" if c["dropped"] else "",
            f"{c['truncated']:,} truncated to {report['context']} tokens" if c["truncated"] else "",
            f"{c['empty']:,} empty" if c["empty"] else "",
            f"{c['duplicated']:,} duplicated" if c["duplicated"] else "",
            f"{c['unknown']:,} unknown tokens" if c["unknown"] else "",
        ]
        also = report["also_in_train"].get(split)
        lost.append(f"{also:,} also in train" if also else "")
        out.append("; ".join([line, *filter(None, lost)]))
    return out
