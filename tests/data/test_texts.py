"""Texts changed afresh in every epoch: every token once, nothing beyond the room, the same again when asked again."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Data
from regard.data.prepare import prepare, report_lines, stores
from regard.data.texts import TextPairs, Texts
from regard.objectives import Masked, MaskedPairs, SpanCorruption
from regard.systems import SYSTEMS, built
from regard.text import Text
from tests.helpers import lines_file, refused

LINES = ["abcdefgh" * 4, "b", "hgfedcba" * 9, "abc", "dddd"]


def made(folder: Path, task, lines: list[str] = LINES, context: int = 17, kind: str = "bert", **budget: int):
    file = lines_file(folder / "lines.txt", lines)
    data = Data(train=file, valid=file, test=file, document="line")
    done = prepare(data, Text(kind="char"), task, context=context, folder=folder / "tokens", say=lambda line: None)
    model = built(SYSTEMS[kind](width=8, heads=2, depth=1, context=context), len(done.tokenizer))
    found = stores(folder / "tokens/train", task.columns)
    return task.batches(found, done.tokenizer, model, **{"batch_tokens": 60, "seed": 3, **budget}), done.tokenizer


def text_of(row, tokenizer) -> str:
    ids = torch.where(row.targets != IGNORE, row.targets, row.tokens)[0].tolist()
    assert (ids[0], ids[-1]) == (tokenizer.start, tokenizer.end)
    return tokenizer.decode(ids)


def test_every_token_is_there_once_in_every_epoch_in_pieces_that_fit(tmp_path: Path) -> None:
    batcher, tokenizer = made(tmp_path, Masked())
    assert isinstance(batcher, Texts)
    seen = set()
    for epoch in range(3):
        batches = [batcher.batch(epoch, step) for step in range(batcher.steps(epoch))]
        texts = [text_of(batch.row(i), tokenizer) for batch in batches for i in range(len(batch))]
        assert sorted("".join(texts)) == sorted("".join(LINES))
        assert max(map(len, texts)) == 15 and all(batch.tokens.numel() <= 60 for batch in batches)
        assert all(text in "".join(LINES) for text in texts)
        seen.add(tuple(sorted(texts)))
    assert len(seen) == 3, "long ones are cut at other places"
    assert batcher.in_all() == len(list(batcher.in_order())) > 1
    in_order = [text_of(batch.row(i), tokenizer) for batch in batcher.in_order() for i in range(len(batch))]
    assert sorted("".join(in_order)) == sorted("".join(LINES))


def test_masks_are_fresh_in_every_epoch_and_the_same_when_asked_again(tmp_path: Path) -> None:
    batcher, _ = made(tmp_path, Masked(), ["abcdefghabcdefg"] * 7)
    again, _ = made(tmp_path, Masked(), ["abcdefghabcdefg"] * 7)
    assert torch.equal(batcher.batch(1, 0).tokens, again.batch(1, 0).tokens)
    assert not torch.equal(batcher.batch(1, 0).targets, batcher.batch(2, 0).targets)
    assert len({tuple(row.tolist()) for row in batcher.batch(0, 0).targets}) > 1, "each text by a chance of its own"
    one, other = ([batch.targets for batch in each.in_order()] for each in (batcher, again))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_in_order_does_not_depend_on_what_stands_together(tmp_path: Path) -> None:
    wide, _ = made(tmp_path, Masked(), batch_tokens=1000)
    narrow, _ = made(tmp_path, Masked(), batch_tokens=17)

    def rows(batcher):
        return sorted(batch.row(i).tokens[0].tolist() for batch in batcher.in_order() for i in range(len(batch)))

    assert rows(wide) == rows(narrow)


def test_symbols_are_never_hidden_and_nothing_is_asked_of_padding(tmp_path: Path) -> None:
    batcher, tokenizer = made(tmp_path, Masked(share=0.9))
    for batch in batcher.in_order():
        special = (batch.tokens == tokenizer.start) | (batch.tokens == tokenizer.end) | (batch.tokens == tokenizer.pad)
        assert bool((batch.targets[special] == IGNORE).all())
        assert batch.count == int((batch.targets != IGNORE).sum()) and batch.whole


def test_pairs_are_real_or_random_as_often_as_asked(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{chr(97 + i % 26)}x{i}\ty{i}{chr(97 + i % 26)}\n" for i in range(400)))
    data, task = Data(train=str(file), valid=str(file), test=str(file)), MaskedPairs(random=0.3)
    done = prepare(data, Text(kind="char"), task, context=40, folder=tmp_path / "tokens", say=lambda line: None)
    model = built(SYSTEMS["bert"](width=8, heads=2, depth=1, context=40), len(done.tokenizer), head=task.head)
    batcher = task.batches(stores(tmp_path / "tokens/train", task.columns), done.tokenizer, model, batch_tokens=200)
    assert isinstance(batcher, TextPairs)
    real = []
    for epoch in (0, 1):
        for step in range(batcher.steps(epoch)):
            batch = batcher.batch(epoch, step)
            for i in range(len(batch)):
                row = batch.row(i)
                ids = torch.where(row.targets != IGNORE, row.targets, row.tokens)[0]
                first, second = (done.tokenizer.decode(ids[row.at.segment[0] == side].tolist()) for side in (0, 1))
                follows = first[2:] == second[1:-1] and first[0] == second[-1]
                assert follows == bool(row.label[0])
                assert (row.at.segment[0].diff() >= 0).all() and ids[row.at.segment[0] == 1][-1] == done.tokenizer.end
                real.append(follows)
    assert np.mean(real) == pytest.approx(0.7, abs=0.05)


def test_spans_become_sources_and_targets(tmp_path: Path) -> None:
    task = SpanCorruption(sentinels=7)
    batcher, tokenizer = made(tmp_path, task, kind="transformer")
    for batch in batcher.in_order():
        assert bool((batch.tokens[:, 0] == tokenizer.start).all())
        assert batch.source.shape[1] <= 17 and batch.tokens.shape[1] <= 17
        assert torch.equal(
            batch.tokens[0, 1:][batch.targets[0, 1:] != IGNORE], batch.targets[0][:-1][batch.targets[0, 1:] != IGNORE]
        )


def test_nothing_to_hide_is_refused(tmp_path: Path) -> None:
    with refused("objective.share = 0.0 hides nothing"):
        Masked(share=0.0)
    with refused("objective.share = 0.0 cuts nothing out"):
        SpanCorruption(share=0.0)
    with refused("objective.sentinels = 0; it must be at least 1"):
        SpanCorruption(sentinels=0)


@pytest.mark.parametrize("share", [0.15, 0.5, 0.8, 0.99])
def test_what_is_left_and_what_is_written_fit_the_context(tmp_path: Path, share: float) -> None:
    """Runs of one token each have as many sentinels as tokens."""
    batcher, _ = made(tmp_path, SpanCorruption(share=share, mean=1.0), kind="t5", context=11)
    for batch in (batcher.batch(0, step) for step in range(batcher.steps(0))):
        assert batch.tokens.shape[1] <= 11 and batch.source is not None and batch.source.shape[1] <= 11


@pytest.mark.parametrize("task, kind", [(Masked(), "bert"), (SpanCorruption(), "t5")])
def test_a_context_without_room_for_a_token_stops(tmp_path: Path, task, kind: str) -> None:
    assert made(tmp_path, task, kind=kind, context=3)[0].batch(0, 0).tokens.shape[1] <= 3
    with refused("the context holds no more than the symbols of a text; raise system.context"):
        made(tmp_path, task, kind=kind, context=2)


@pytest.mark.parametrize("too_long, what", [("drop", "dropped as longer than"), ("truncate", "truncated to")])
def test_a_sentence_of_two_has_half_of_the_context_and_that_is_said(tmp_path: Path, too_long: str, what: str) -> None:
    """Another pair's second sentence may take its place, however long the first is."""
    file = lines_file(tmp_path / "pairs.tsv", ["a" * 8 + "\tb", "aaa\t" + "b" * 7, "ab\tba"])
    data = Data(train=file, valid=file, test=file, too_long=too_long)
    about = {"context": 17, "folder": tmp_path / "tokens", "say": lambda line: None}
    done = prepare(data, Text(kind="char"), MaskedPairs(), **about)
    assert f"longest side 9; 1 {what} 8 tokens" in report_lines(done.report)[1]
