"""Labelled texts from files to batches: every text with its own label, whatever is dropped, sorted or cut."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.data import Batch, Data, Labelled
from regard.data.prepare import Prepared, prepare, report_lines, stores
from regard.objectives import Classification
from regard.text import Text
from tests.helpers import lines_file, refused

TASK = Classification()
ROWS = [("abcab", "X"), ("b", "Y"), ("", "Y"), ("abcabcabc", "Y"), ("cc", "Z"), ("b", "Y"), ("ba", "X")]


def prepared(folder: Path, rows: list[tuple[str, str]] = ROWS, **more: object) -> Prepared:
    train = lines_file(folder / "train.tsv", ["\t".join(row) for row in rows])
    data = Data(train=train, **{"valid": train, "test": train, **more})
    return prepare(data, Text(kind="char"), TASK, context=8, folder=folder / "tokens", say=lambda line: None)


def batcher(folder: Path, done: Prepared, *, batch_tokens: int = 20, seed: int = 0) -> Labelled:
    return Labelled(stores(folder / "tokens/train", TASK.columns), done.tokenizer, batch_tokens=batch_tokens, seed=seed)


def read_back(batch: Batch, done: Prepared) -> list[tuple[str, str]]:
    rows = [batch.row(i) for i in range(len(batch))]
    for row in rows:
        assert (row.tokens[0, 0], row.tokens[0, -1]) == (done.tokenizer.start, done.tokenizer.end)
    return [(done.tokenizer.decode(row.tokens[0].tolist()), done.labels[row.targets.item()]) for row in rows]


def test_labels_are_no_text(tmp_path: Path) -> None:
    done = prepared(tmp_path)
    assert done.labels == ("X", "Y", "Z")
    assert done.tokenizer.encode("X") == [done.tokenizer.unknown]
    assert len(done.tokenizer) == 4 + len("abc")


def test_what_is_dropped_takes_its_label_along(tmp_path: Path) -> None:
    """A context of 8 holds 6 tokens between start and end."""
    done = prepared(tmp_path)
    kept = [("abcab", "X"), ("b", "Y"), ("cc", "Z"), ("b", "Y"), ("ba", "X")]
    batches = list(batcher(tmp_path, done).in_order())
    assert sorted(row for batch in batches for row in read_back(batch, done)) == sorted(kept)
    assert [batch.count for batch in batches] == [len(batch) for batch in batches]
    assert report_lines(done.report)[1] == (
        "train: 5 of 7 records, 21 tokens, longest 11; 1 dropped as longer than 8 tokens; 1 empty; 1 duplicated"
    )


def test_a_long_text_is_truncated_or_stops_where_asked(tmp_path: Path) -> None:
    done = prepared(tmp_path, too_long="truncate")
    (batch, *_) = batcher(tmp_path, done).in_order()
    assert read_back(batch, done)[0] == ("abcabc", "Y")
    with refused("train.tsv: a text has 9 tokens and the context holds 6, a start and an end"):
        prepared(tmp_path, too_long="stop")


def test_a_label_that_training_does_not_have_is_named(tmp_path: Path) -> None:
    other = lines_file(tmp_path / "other.tsv", ["ab\tY", "b\tx"])
    for split in ("valid", "test"):
        with refused(f"{other}: record 2 has the label 'x', which no training text has; known: X, Y, Z"):
            prepared(tmp_path, **{split: other})


def test_columns_may_have_other_names_in_tsv_and_jsonl(tmp_path: Path) -> None:
    rows = [("abc", "no"), ("ca", "yes")] * 20
    table = lines_file(tmp_path / "a.tsv", ["score\tid\treview", *(f"{name}\t7\t{text}" for text, name in rows)])
    lines = lines_file(tmp_path / "a.jsonl", [json.dumps({"review": text, "score": name}) for text, name in rows])
    for path in (table, lines):
        data = Data(train=path, fields={"text": "review", "label": "score"})
        done = prepare(data, Text(kind="char"), TASK, context=9, folder=tmp_path / "tokens", say=lambda line: None)
        assert done.labels == ("no", "yes")
        made = batcher(tmp_path, done, batch_tokens=1000)
        assert set(read_back(next(made.in_order()), done)) == set(rows)
        assert done.report["splits"]["train"]["records"] == 36


def test_batches_are_bucketed_within_the_budget_and_repeat(tmp_path: Path) -> None:
    rows = [("abc"[i % 3] * (1 + i % 6), "XY"[i % 2]) for i in range(211)]
    done = prepared(tmp_path, rows)
    made, again, other = (batcher(tmp_path, done, batch_tokens=40, seed=seed) for seed in (0, 0, 1))
    seen = []
    for step in range(made.steps(3)):
        batch = made.batch(3, step)
        assert batch.tokens.numel() <= 40
        assert torch.equal(batch.tokens, again.batch(3, step).tokens)
        assert torch.equal(batch.targets, again.batch(3, step).targets)
        seen += read_back(batch, done)
    assert sorted(seen) == sorted(rows)
    assert any(not torch.equal(made.batch(0, i).targets, other.batch(0, i).targets) for i in range(5))


@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
def test_pieces_together_are_the_batch(tmp_path: Path, pieces: int) -> None:
    whole = next(batcher(tmp_path, prepared(tmp_path), batch_tokens=100).in_order())
    assert whole.lengths == [7, 4, 4, 3, 3]
    parts = whole.split(pieces)
    assert sum(part.count for part in parts) == whole.count == 5
    assert torch.equal(torch.cat([part.targets for part in parts]), whole.targets)
    assert torch.equal(torch.cat([part.at.present for part in parts]), whole.at.present)


def test_a_row_has_no_padding_and_keeps_its_label(tmp_path: Path) -> None:
    whole = next(batcher(tmp_path, prepared(tmp_path), batch_tokens=100).in_order())
    for i, length in enumerate([7, 4, 4, 3, 3]):
        row = whole.row(i)
        assert torch.equal(row.tokens, whole.tokens[i : i + 1, :length])
        assert (row.targets.tolist(), row.count, row.at.present) == ([int(whole.targets[i])], 1, None)
    even = replace(whole, at=replace(whole.at, present=None))
    assert even.lengths == [7] * 5


def test_a_split_with_one_label_is_told(tmp_path: Path) -> None:
    """The last records of a sorted file."""
    valid = lines_file(tmp_path / "valid.tsv", ["ab\tY", "b\tY"])
    said = "valid has no label but 'Y': shuffle the file, or give data.valid"
    assert said in report_lines(prepared(tmp_path, valid=valid).report)
    assert said not in report_lines(prepared(tmp_path).report)


PAIRED = [("abc", "de", "X"), ("b", "", "Y"), ("abcabc", "e", "Y"), ("a", "dede", "X"), ("", "d", "Y")]


def paired(folder: Path, **more: object) -> tuple[Prepared, Labelled]:
    """A context of 9 holds 6 tokens of two texts, a start and two ends."""
    train = lines_file(folder / "pairs.tsv", ["\t".join(row) for row in PAIRED])
    data, task = Data(train=train, valid=train, test=train, **more), Classification(pairs=True)
    folder = folder / "pairs"
    done = prepare(data, Text(kind="char"), task, context=9, folder=folder, say=lambda line: None)
    return done, Labelled(stores(folder / "train", task.columns), done.tokenizer, batch_tokens=40)


def both(batch: Batch, done: Prepared) -> list[tuple[str, str, str]]:
    """The texts of each row, told apart by their segment, and its label."""
    assert batch.at is not None and batch.at.segment is not None
    rows = [batch.row(i) for i in range(len(batch))]
    return [
        (
            *(done.tokenizer.decode(row.tokens[0][row.at.segment[0] == side].tolist()) for side in (0, 1)),
            done.labels[row.targets.item()],
        )
        for row in rows
    ]


def test_two_texts_share_a_row(tmp_path: Path) -> None:
    done, batches = paired(tmp_path)
    (batch,) = batches.in_order()
    assert sorted(both(batch, done)) == [("a", "dede", "X"), ("abc", "de", "X")]
    start, end = done.tokenizer.start, done.tokenizer.end
    for i in range(2):
        tokens = batch.row(i).tokens[0].tolist()
        assert len(tokens) == 8 and tokens[0] == start and tokens.count(end) == 2 and tokens[-1] == end
    assert batch.at.segment.sum(1).tolist() == [3, 5]
    assert report_lines(done.report)[1] == (
        "train: 2 of 5 records, 16 tokens, longest 10; 1 dropped as longer than 9 tokens; 2 empty"
    )


def test_of_a_long_pair_the_longer_text_is_truncated(tmp_path: Path) -> None:
    done, batches = paired(tmp_path, too_long="truncate")
    (batch,) = batches.in_order()
    assert both(batch, done)[0] == ("abcab", "e", "Y")
    with refused("pairs.tsv: a pair has 7 tokens and the context holds 6, a start and 2 ends"):
        paired(tmp_path, too_long="stop")
