"""Tagged sentences from files to batches: every word with its own tag where it begins, whatever is dropped or cut."""

import json
from pathlib import Path

import pytest
import torch

from regard.data import IGNORE, Batch, Data
from regard.data.prepare import Prepared, prepare, report_lines, stores
from regard.data.sources import Columns, open_files
from regard.data.tagged import Tagged
from regard.objectives import Tagging
from regard.text import KINDS, Text
from tests.helpers import lines_file, refused

TASK = Tagging()
ROWS = [("ab c", "X Y"), ("b", "Z"), ("", ""), ("abcabc ab", "Y X"), ("c  ab a", "Y X Z"), ("b", "Z")]
WORDS = ["the", "old", "guard", "naïve", "watches", "n't", "☃", "."]


def prepared(folder: Path, rows: list[tuple[str, str]] = ROWS, **more: object) -> Prepared:
    train = lines_file(folder / "train.tsv", ["\t".join(row) for row in rows])
    data = Data(train=train, **{"valid": train, "test": train, **more})
    return prepare(data, Text(kind="char"), TASK, context=9, folder=folder / "tokens", say=lambda line: None)


def batcher(folder: Path, done: Prepared, split: str = "train", *, batch_tokens: int = 20, seed: int = 0) -> Tagged:
    made = stores(folder / "tokens" / split, TASK.columns)
    return Tagged(made, done.tokenizer, batch_tokens=batch_tokens, seed=seed)


def read_back(batch: Batch, done: Prepared) -> list[tuple[str, str]]:
    """Words and tags again, from the tokens and from what is wanted at them."""
    found = []
    for row in (batch.row(i) for i in range(len(batch))):
        tokens, targets = row.tokens[0].tolist(), row.targets[0].tolist()
        assert (tokens[0], tokens[-1]) == (done.tokenizer.start, done.tokenizer.end)
        assert (targets[0], targets[-1]) == (IGNORE, IGNORE)
        begins = [i for i, target in enumerate(targets) if target != IGNORE]
        assert row.count == len(begins)
        pieces = [tokens[i:j] for i, j in zip(begins, [*begins[1:], len(tokens)], strict=True)]
        words = " ".join(done.tokenizer.decode(piece).replace(" ", "") for piece in pieces)
        found.append((words, " ".join(done.labels[targets[i]] for i in begins)))
    return found


def test_tags_are_no_text_and_labels_are_sorted(tmp_path: Path) -> None:
    done = prepared(tmp_path)
    assert done.labels == ("X", "Y", "Z")
    assert len(done.tokenizer) == 4 + len("abc ")


def test_what_is_dropped_takes_its_tags_along(tmp_path: Path) -> None:
    """A context of 9 holds 7 tokens between start and end: a letter or a blank each, with one before every word."""
    done = prepared(tmp_path)
    kept = [("ab c", "X Y"), ("b", "Z"), ("c ab a", "Y X Z"), ("b", "Z")]
    batches = list(batcher(tmp_path, done).in_order())
    assert sorted(row for batch in batches for row in read_back(batch, done)) == sorted(kept)
    assert report_lines(done.report)[1] == (
        "train: 4 of 6 records, 24 tokens, longest 12; 1 dropped as longer than 9 tokens; 1 empty; 1 duplicated"
    )


def test_a_long_sentence_is_truncated_or_stops_where_asked(tmp_path: Path) -> None:
    done = prepared(tmp_path, too_long="truncate")
    (batch, *_) = batcher(tmp_path, done).in_order()
    assert read_back(batch, done)[0] == ("abcabc", "Y")
    with refused("train.tsv: a sentence has 10 tokens and the context holds 7, a start and an end"):
        prepared(tmp_path, too_long="stop")


@pytest.mark.parametrize("kind", KINDS)
def test_with_every_kind_of_tokens_each_word_has_its_tag(tmp_path: Path, kind: str) -> None:
    rows = [(" ".join(WORDS[i % 5 :]), " ".join(f"T{j}" for j in range(i % 5, 8))) for i in range(41)]
    train = lines_file(tmp_path / "train.tsv", ["\t".join(row) for row in rows])
    folder, data = tmp_path / "tokens", Data(train=train, valid=train, test=train)
    done = prepare(data, Text(kind=kind), TASK, context=97, folder=folder, say=lambda line: None)
    found = [row for batch in batcher(tmp_path, done, batch_tokens=300).in_order() for row in read_back(batch, done)]
    assert sorted(found) == sorted(rows)


def test_words_and_tags_must_be_equally_many(tmp_path: Path) -> None:
    with refused("train.tsv line 2 has 3 word(s) and 2 tag(s); blanks separate them, and each word needs one tag"):
        prepared(tmp_path, [("a", "X"), ("a b c", "X Y")])


def test_a_tag_that_training_does_not_have_is_told_and_not_wanted(tmp_path: Path) -> None:
    other = lines_file(tmp_path / "other.tsv", ["ab b c\tY Q Z", "b\tQ"])
    done = prepared(tmp_path, valid=other)
    assert done.labels == ("X", "Y", "Z")
    told = [line for line in report_lines(done.report) if "labels" in line]
    assert told == ["valid has 2 labels that training does not (Q): never right, not in the loss"]
    (batch,) = batcher(tmp_path, done, "valid").in_order()
    wanted = [row[row != IGNORE].tolist() for row in batch.targets]
    assert wanted == [[1, 2], []] and batch.count == 2
    assert batch.targets[0].tolist() == [IGNORE, IGNORE, 1, IGNORE, IGNORE, IGNORE, IGNORE, 2, IGNORE]


def test_a_split_with_one_tag_is_told(tmp_path: Path) -> None:
    valid = lines_file(tmp_path / "valid.tsv", ["ab b\tY Y", "b\tY"])
    several = lines_file(tmp_path / "several.tsv", ["ab b\tY X"])
    said = "valid has no label but 'Y': shuffle the file, or give data.valid"
    assert said in report_lines(prepared(tmp_path, valid=valid).report)
    assert not any("no label but" in line for line in report_lines(prepared(tmp_path, valid=several).report))


def test_batches_are_bucketed_within_the_budget_and_repeat(tmp_path: Path) -> None:
    rows = [("ab c"[: 1 + i % 4], "X Y"[: 1 if i % 4 < 3 else 3]) for i in range(211)]
    done = prepared(tmp_path, rows)
    made, again, other = (batcher(tmp_path, done, batch_tokens=37, seed=seed) for seed in (0, 0, 1))
    seen = []
    for step in range(made.steps(3)):
        batch = made.batch(3, step)
        assert batch.tokens.numel() <= 37 and batch.count == int((batch.targets != IGNORE).sum())
        assert torch.equal(batch.tokens, again.batch(3, step).tokens)
        assert torch.equal(batch.targets, again.batch(3, step).targets)
        seen += read_back(batch, done)
    assert sorted(seen) == sorted((words.strip(), tags) for words, tags in rows)
    assert any(not torch.equal(made.batch(0, i).tokens, other.batch(0, i).tokens) for i in range(5))


def test_padding_is_told_and_pieces_together_are_the_batch(tmp_path: Path) -> None:
    whole = next(batcher(tmp_path, prepared(tmp_path), batch_tokens=100).in_order())
    assert whole.whole and whole.lengths == [9, 7, 4, 4]
    assert whole.at.present.sum(1).tolist() == whole.lengths
    assert (whole.targets[~whole.at.present] == IGNORE).all()
    parts = whole.split(3)
    assert sum(part.count for part in parts) == whole.count == 7
    assert torch.equal(torch.cat([part.targets for part in parts]), whole.targets)


def test_words_and_tags_of_jsonl_may_be_lists(tmp_path: Path) -> None:
    rows = [{"tokens": ["ab", "c c"], "pos": ["X", "Y"]}, {"tokens": "b a", "pos": "Z X"}]
    path = lines_file(tmp_path / "a.jsonl", [json.dumps(row) for row in rows])
    fields = {"words": "tokens", "tags": "pos"}
    found = open_files((path,), Columns(TASK.columns, fields), document="line")
    assert list(found) == [("ab c_c", "X Y"), ("b a", "Z X")]
    for wrong in (["ab", 3], ["ab", " "], {"ab": 1}):
        path = lines_file(tmp_path / "b.jsonl", [json.dumps({"words": wrong, "tags": "X Y"})])
        with refused(f"line 1: field 'words' is {type(wrong).__name__}, not text"):
            open_files((path,), Columns(TASK.columns), document="line")
    path = lines_file(tmp_path / "c.jsonl", [json.dumps({"text": ["a", "b"]})])
    with refused("line 1: field 'text' is list, not text"):
        open_files((path,), Columns(("text",)), document="line")
