"""Sentences with trees from files to batches: every token in its word's place, whatever is dropped, cut or broken."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Data, splits
from regard.data.corpora import CORPORA
from regard.data.parsed import Parsed
from regard.data.prepare import Prepared, prepare, report_lines, stores
from regard.data.sources import HEADS, Columns, open_files
from regard.data.trees import grown, planted, spread
from regard.objectives import Masked, MaskedPairs
from regard.text import KINDS, Text
from regard.text.tokenizer import MASK
from regard.text.words import given_words, spell
from tests.data.trees import conllu, row, sentences
from tests.helpers import lines_file, refused

TASK = Masked(trees=True)
WORDS = ("words", HEADS)


def prepared(folder: Path, kind: str = "bpe", *, context: int = 30, count: int = 29, **more: object) -> Prepared:
    train = conllu(folder, sentences(count))
    data = Data(train=train, **{"valid": train, "test": train, **more})
    return prepare(data, Text(kind=kind), TASK, context=context, folder=folder / "tokens", say=lambda line: None)


def batcher(folder: Path, done: Prepared, *, batch_tokens: int = 60, seed: int = 0) -> Parsed:
    made = stores(folder / "tokens" / "train", TASK.columns)
    return Parsed(made, TASK.maker(done.tokenizer), batch_tokens=batch_tokens, seed=seed)


def read(path: str, columns: tuple[str, ...] = WORDS) -> list:
    return list(open_files((path,), Columns(columns), document="file"))


def test_words_and_heads_of_a_file(tmp_path: Path) -> None:
    path = conllu(tmp_path, [(["A", "b c", "."], [2, 0, 2]), (["Yes"], [0])])
    assert read(path) == [("A b_c .", "2 0 2"), ("Yes", "0")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_token_has_the_place_of_its_word(tmp_path: Path, kind: str) -> None:
    """Tokens and trees of the batches against words spelt one sentence at a time."""
    done = prepared(tmp_path, kind, context=90)
    expected = {}
    for words, heads in sentences(29):
        spelt = spell(done.tokenizer, words)
        expected[tuple(spelt.ids)] = spread(grown(heads), spelt)
    mask, seen = done.tokenizer.symbol(MASK), 0
    for batch in batcher(tmp_path, done, batch_tokens=300).in_order():
        for one in (batch.row(i) for i in range(len(batch))):
            known = one.targets.where(one.targets != IGNORE, one.tokens)[0].tolist()
            assert (known[0], known[-1]) == (done.tokenizer.start, done.tokenizer.end) and mask not in known
            alone = planted(one.at, [expected[tuple(known[1:-1])]])
            for name in ("depth", "enters", "leaves"):
                assert torch.equal(getattr(one.at, name), getattr(alone, name))
            seen += 1
    assert seen == 29


def test_what_is_too_long_is_dropped_with_its_tree_or_cut(tmp_path: Path) -> None:
    long = [words for words, _ in sentences(29) if len(words) > 6]
    done = prepared(tmp_path, "word", context=8)
    assert f"{len(long)} dropped as longer than 8 tokens" in report_lines(done.report)[0]
    text, trees = stores(tmp_path / "tokens" / "train", TASK.columns)
    assert len(text) == 29 - len(long) and (3 * text.lengths == trees.lengths).all() and text.lengths.max() <= 6
    done = prepared(tmp_path, "word", context=8, too_long="truncate")
    assert f"{len(long)} truncated to 8 tokens" in report_lines(done.report)[0]
    text, trees = stores(tmp_path / "tokens" / "train", TASK.columns)
    assert len(text) == 29 and text.lengths.max() == 6
    for i, (_, heads) in enumerate(sentences(29)):
        assert np.array_equal(trees[i].reshape(3, -1), grown(heads)[:, :6])
    with refused("and the context holds 6, a start and an end"):
        prepared(tmp_path, "word", context=8, too_long="stop")


def test_a_batch_is_made_of_seed_epoch_and_step_alone(tmp_path: Path) -> None:
    done = prepared(tmp_path)
    one, again, other = (batcher(tmp_path, done, seed=seed) for seed in (3, 3, 4))
    first = [one.batch(1, step) for step in range(one.steps(1))]
    assert len(first) > 2
    for step in reversed(range(len(first))):
        batch = again.batch(1, step)
        assert torch.equal(batch.tokens, first[step].tokens) and torch.equal(batch.at.enters, first[step].at.enters)
    assert any(not torch.equal(other.batch(1, 0).tokens, each.tokens) for each in first)
    assert sorted(chain(*(each.lengths for each in first))) == sorted((one.text.lengths + 2).tolist())
    assert not torch.equal(one.batch(1, 0).tokens, one.batch(2, 0).tokens)


def test_the_first_word_is_a_token_like_the_others(tmp_path: Path) -> None:
    """Pieces are learnt with the blank that stands before every word."""
    tokenizer = prepared(tmp_path, "bpe").tokenizer
    assert all(len(spell(tokenizer, [word]).ids) == 1 for words, _ in sentences(29) for word in words)


def test_heads_are_no_words_of_the_vocabulary(tmp_path: Path) -> None:
    done = prepared(tmp_path, "word")
    assert not any(done.tokenizer.piece(token).isdecimal() for token in range(len(done.tokenizer)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", 0), ("b", "_")], "line 2: 'b' has no head, and trees are asked for"),
        ([("a", 0), ("b", 0)], "line 2: no tree: 'b' is a second root (head 0) beside word 1"),
        ([("a", 2), ("b", 1)], "line 1: no tree: 'a' and all others hang on a word: none is the root"),
        ([("a", 0), ("b", 3), ("c", 2)], "line 2: no tree: 'b' hangs on itself"),
        ([("a", 0), ("b", 3)], "line 2: head 3 in a sentence of 2 word(s)"),
    ],
)
def test_a_sentence_without_a_tree_is_told_by_its_line(tmp_path: Path, rows: list, message: str) -> None:
    path = lines_file(tmp_path / "a.conllu", [row(n, *each) for n, each in enumerate(rows, 1)])
    with refused(f"{path} {message}"):
        read(path)
    if "line 2: head 3" not in message:
        assert len(read(path, ("words", "tags"))) == 1, "who asks for no tree is not stopped"


def test_a_mistake_in_a_table_is_told_by_its_line(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.tsv", ["a b\t2 0", "c d e\t2 0 2"])
    assert read(path) == [("a b", "2 0"), ("c d e", "2 0 2")]
    for heads, message in (
        ("2", "line 3 has 2 word(s) and the heads '2'"),
        ("2 x", "line 3 has 2 word(s) and the heads '2 x'"),
        ("2 1", "line 3: 'c' and all others hang on a word"),
        ("0 3", "line 3: 'd' hangs on word 3 of 2"),
    ):
        tsv = lines_file(tmp_path / "b.tsv", ["words\theads", "a b\t2 0", f"c d\t{heads}"])
        rows = ['{"words": ["a", "b"], "heads": "2 0"}', "", f'{{"words": ["c", "d"], "heads": "{heads}"}}']
        for path in (tsv, lines_file(tmp_path / "b.jsonl", rows)):
            with refused(f"{path} {message}"):
                read(path)


def test_a_mistake_in_two_parallel_files_is_told_by_record(tmp_path: Path) -> None:
    words, heads = lines_file(tmp_path / "a.words", ["a b", "c d"]), lines_file(tmp_path / "a.heads", ["2 0", "2"])
    with refused(f"{words} {heads}: record 2 has 2 word(s) and the heads '2'"):
        data = Data(train=(words, heads), valid=(words, heads))
        prepare(data, Text(), TASK, context=9, folder=tmp_path / "t", say=str)


def test_plain_text_has_no_trees(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.txt", ["the chicken crosses the road"])
    with refused(f"{path} has no trees, which objective.trees asks for: give a .conllu file"):
        splits(Data(train=path), TASK.columns)
    with refused("'moods' holds"):
        splits(Data(train="moods"), TASK.columns)


def test_the_built_in_tags_have_trees() -> None:
    trees, tags = (CORPORA["tags"].source("valid", columns) for columns in (WORDS, ("words", "tags")))
    assert len(trees) == len(tags) and CORPORA["tags"].columns == ("words", "tags")
    for (words, heads), (same, _) in zip(trees, tags, strict=True):
        assert words == same
        depth = grown(list(map(int, heads.split())))[0]
        assert len(depth) == len(given_words(words)) and depth.max() > 0


def test_trees_are_for_single_sentences() -> None:
    assert Masked().columns == ("text",) and TASK.columns == WORDS
    assert MaskedPairs().columns == ("first", "second")
    with refused("objective.trees is for single sentences"):
        MaskedPairs(trees=True)
