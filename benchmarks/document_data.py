"""The files of the document table: documents made for it, SciTLDR's abstracts, and what needs no reading of them."""

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from document_plans import Documents, Scale
from trials import Plan, digest

SPLITS = {"train": "train", "valid": "dev", "test": "test"}  # of SciTLDR
LEAD = {"articles": 3, "scitldr": 1}  # sentences of the beginning that are taken for a summary


def corpus(data: str, folder: Path) -> Plan:
    """What tells a folder of SciTLDR from another; `articles` are always the same."""
    return {"corpus": digest(files(folder))} if data == "scitldr" else {}


def files(folder: Path) -> list[Path]:
    """SciTLDR's three files."""
    from regard.errors import UserError

    found = [folder / f"{name}.jsonl" for name in SPLITS.values()]
    for path in found:
        if not path.is_file():
            raise UserError(f"no such file: {path}; the folder of SciTLDR has train.jsonl, dev.jsonl and test.jsonl")
    return found


def write_articles(folder: Path, scale: Scale) -> None:
    """The documents of every stage, and those of the test."""
    parts = [(split, stage.documents) for stage in scale.stages for split in ("train", "valid")]
    for split, asked in [*parts, ("test", scale.test)]:
        written(folder / asked.name(split), documents(split, asked))


def write_scitldr(folder: Path, scale: Scale, scitldr: Path) -> None:
    for split, path in zip(SPLITS, files(scitldr), strict=True):
        rows = read(path)[: scale.abstracts[split]]
        written(folder / f"scitldr-{split}.jsonl", (pair(row, split) for row in rows))


def pair(row: dict[str, Any], split: str) -> dict[str, Any]:
    """An abstract and its summaries; the first of them where one is learnt."""
    source = " ".join(" ".join(row["source"]).split())
    return {"source": source, "target": row["target"][0], "targets": row["target"] if split == "test" else []}


def documents(split: str, asked: Documents) -> Iterator[dict[str, Any]]:
    """As many as asked for, as their lengths are drawn; a few of them where a run is looked at in training."""
    from regard.data.corpora.articles import drawn_document

    chance = random.Random(f"documents {split} {asked.least} {asked.most}")
    for _ in range(min(asked.count, 40) if split == "valid" else asked.count):
        source, target = drawn_document(chance, split, asked.least, asked.most)
        yield {"source": source, "target": target}


def written(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    part.replace(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def references(row: dict[str, Any]) -> list[str]:
    return row.get("targets") or [row["target"]]


def baselines(data: str, test: Path) -> dict[str, float]:
    """ROUGE-L of what needs no reading: another document's summary, and the document's own first sentences."""
    from regard.evaluate.rouge import rouge_l

    rows, count = read(test), LEAD[data]
    wanted = [references(row) for row in rows]
    others = [row["target"] for row in [*rows[1:], rows[0]]]
    first = [". ".join(row["source"].split(". ")[:count]) for row in rows]
    lead = "the first sentence" if count == 1 else f"the first {count} sentences"
    return {"the summary of another document": rouge_l(others, wanted), lead: rouge_l(first, wanted)}
