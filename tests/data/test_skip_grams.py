"""Centres, their reach and their noise: a pure function of (seed, epoch, step), drawn as the paper says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Batch
from regard.data.skip_grams import Drawing, SkipGrams
from regard.data.store import Store, Writer
from regard.text import Text, Tokenizer
from tests.helpers import refused

WORDS = [f"w{i:04}" for i in range(1009)]
TOKENIZER = Tokenizer.train([" ".join(WORDS)], Text(kind="word"))
FIRST = 4  # special symbols come before the words


def store(folder: Path, documents: list[list[int]]) -> Store:
    """Documents of words by number, each between its symbols."""
    writer = Writer(folder / "text", len(TOKENIZER))
    for words in documents:
        writer.add([TOKENIZER.start, *(FIRST + word for word in words), TOKENIZER.end])
    return writer.close()


def made(folder: Path, documents: list[list[int]], *, seed: int = 0, **settings: Any) -> SkipGrams:
    budget = {name: settings.pop(name, size) for name, size in (("context", 13), ("batch_tokens", 101))}
    drawing = Drawing(**{"window": 3, "noise": 7, "subsample": 0.0, **settings})
    return SkipGrams([store(folder, documents)], TOKENIZER, drawing, **budget, seed=seed)


def numbered(lengths: list[int]) -> list[list[int]]:
    """Documents in which every word stands once, in order."""
    flat = iter(range(sum(lengths)))
    return [[next(flat) for _ in range(length)] for length in lengths]


def epoch_of(batches: SkipGrams, epoch: int) -> list[Batch]:
    return [batches.batch(epoch, step) for step in range(batches.steps(epoch))]


def centres(batches: list[Batch]) -> list[int]:
    return [int(word) - FIRST for batch in batches for word in batch.tokens[batch.targets != IGNORE]]


def equal(a: Batch, b: Batch) -> bool:
    pairs = [(a.tokens, b.tokens), (a.targets, b.targets), (a.source, b.source), (a.at.document, b.at.document)]
    return all(one.shape == other.shape and torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("stretch", [17, 1024])
@pytest.mark.parametrize("epoch", [0, 1])
def test_every_word_is_a_centre_once_per_epoch(
    tmp_path: Path, epoch: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.skip_grams.STRETCH", stretch)
    batches = made(tmp_path, numbered([401, 1, 97, 2, 503]))
    found = centres(epoch_of(batches, epoch))
    assert sorted(found) == list(range(1004))
    assert found != sorted(found), "the stretches come in another order"
    assert centres(list(batches.in_order())) == list(range(1004))
    assert batches.in_all() == len(list(batches.in_order())) > 1


@pytest.mark.parametrize("stretch", [11, 67, 1024])
def test_the_budget_counts_the_text_and_the_context_bounds_the_rows(
    tmp_path: Path, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.skip_grams.STRETCH", stretch)
    batches = made(tmp_path, numbered([401, 1, 97, 2, 503]))
    for batch in [*epoch_of(batches, 0), *batches.in_order()]:
        assert batch.count == int((batch.targets != IGNORE).sum()) <= 101
        assert batch.tokens.shape[1] <= 13
        assert batch.tokens.numel() - batch.count < len(batch), "rows are of like length"
        assert batch.source.shape == (len(batch), 7)
    assert stretch > 11 or min(batch.count for batch in epoch_of(batches, 0)) > 61, "no batch is a leftover"


@pytest.mark.parametrize("stretch", [17, 1024])
def test_words_of_a_row_stand_as_in_the_text_and_documents_are_kept_apart(
    tmp_path: Path, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.skip_grams.STRETCH", stretch)
    lengths = [401, 1, 97, 2, 503]
    batches = made(tmp_path, numbered(lengths))
    home, torn = np.repeat(range(5), lengths), 0
    for batch in [*epoch_of(batches, 2), *batches.in_order()]:
        for words, document in zip((batch.tokens - FIRST).tolist(), batch.at.document.tolist(), strict=True):
            for i, j in zip(range(len(words) - 1), range(1, len(words)), strict=True):
                if words[j] < 0:
                    assert document[i] != document[j] or words[i] < 0, "padding is nobody's neighbour"
                elif document[i] == document[j]:
                    assert words[j] == words[i] + 1
                    assert home[words[i]] == home[words[j]]
                elif words[j] == words[i] + 1 and home[words[i]] == home[words[j]]:
                    torn += 1
    assert torn < 2000 // stretch + 9, "neighbours are torn apart at the borders of stretches alone"


def test_a_batch_is_a_pure_function_of_seed_epoch_and_step(tmp_path: Path) -> None:
    text = numbered([401, 1, 97, 2, 503])
    one, other = (made(tmp_path / name, text, subsample=1e-4) for name in "ab")
    forwards = epoch_of(one, 3)
    for step in reversed(range(len(forwards))):
        assert equal(other.batch(3, step), forwards[step])
    assert all(equal(a, b) for a, b in zip(one.in_order(), other.in_order(), strict=True))
    assert not equal(one.batch(4, 0), forwards[0])
    assert not torch.equal(forwards[0].source[0], forwards[1].source[0]), "every step has chances of its own"
    assert not equal(made(tmp_path / "c", text, subsample=1e-4, seed=1).batch(3, 0), forwards[0])


def test_a_border_lies_elsewhere_in_every_epoch(tmp_path: Path) -> None:
    """Of 29 epochs no border is in all."""
    batches = made(tmp_path, numbered([503]))
    borders = [{begin for part in batches.plan(epoch) for begin, _ in part.tolist()} - {0} for epoch in range(29)]
    assert not set.intersection(*borders)


def test_a_word_is_kept_by_its_share_of_the_text(tmp_path: Path) -> None:
    """min(1, sqrt(subsample / share)), the share taken among words: symbols and unknown ones do not count."""
    chance = np.random.default_rng(7)
    times = np.array([40_000, 9_000, 900, 90, 10])
    words = chance.permutation(np.repeat(range(5), times)).tolist()
    unknown = TOKENIZER.unknown - FIRST
    batches = made(tmp_path, [[*words, *[unknown] * 5003]], subsample=0.01, context=61, batch_tokens=9973)
    found = np.mean([np.bincount(centres(epoch_of(batches, epoch)), minlength=5) for epoch in range(11)], axis=0)
    expected = np.minimum(1, np.sqrt(0.01 / (times / times.sum())))
    assert np.abs(found / times - expected).max() < 0.01
    assert found[2] < 900 and found[3] == 90 and found[4] == 10


def test_reach_and_noise_are_drawn_as_told(tmp_path: Path) -> None:
    """Every reach up to the window alike; noise by the share to the power of 0.75, symbols never."""
    times = np.array([4000, 900, 90, 10])
    words = np.random.default_rng(7).permutation(np.repeat(range(4), times)).tolist()
    unknown = TOKENIZER.unknown - FIRST
    batches = made(tmp_path, [[*words, *[unknown] * 503]], noise=53, batch_tokens=997)
    drawn = [batch for epoch in range(11) for batch in epoch_of(batches, epoch)]
    reach = torch.cat([batch.targets[batch.targets != IGNORE] for batch in drawn])
    assert np.abs(np.bincount(reach) / len(reach) - np.array([0, 1, 1, 1]) / 3).max() < 0.01
    noise = torch.cat([batch.source.flatten() for batch in drawn]) - FIRST
    assert int(noise.min()) == 0
    expected = times**0.75 / (times**0.75).sum()
    assert np.abs(np.bincount(noise) / len(noise) - expected).max() < 0.01


def test_where_chance_leaves_nothing_there_is_a_batch_without_centres(tmp_path: Path) -> None:
    batches = made(tmp_path, [[5] * 30, [5]], subsample=1e-9)
    batch = batches.batch(0, 0)
    assert batch.tokens.tolist() == [[TOKENIZER.pad]] and batch.targets.tolist() == [[IGNORE]]
    assert batch.count == 1, "what is divided by it is 0"


@pytest.mark.parametrize("documents", [[], [[]], [[TOKENIZER.unknown - FIRST] * 5, [3]]])
def test_a_text_without_two_known_words_is_refused(tmp_path: Path, documents: list[list[int]]) -> None:
    with refused("there are no two known words in it"):
        made(tmp_path, documents)


@pytest.mark.parametrize("kind", ["word", "bpe", "byte-bpe", "char"])
def test_line_ends_and_blanks_are_no_words(tmp_path: Path, kind: str) -> None:
    text = "the dog ran\nthe cat ran\n" * 3
    tokenizer = Tokenizer.train([text], Text(kind=kind))
    writer = Writer(tmp_path / "text", len(tokenizer))
    writer.add([tokenizer.start, *tokenizer.encode(text), tokenizer.end])
    batches = SkipGrams([writer.close()], tokenizer, Drawing(3, 7, 0.0), context=13, batch_tokens=101)
    found = epoch_of(batches, 0)
    met = [int(token) for batch in found for token in (*batch.tokens[batch.targets != IGNORE], *batch.source.flatten())]
    assert met and all(tokenizer.decode([token]).strip() for token in met)


def test_noise_is_a_word_whatever_chance_says(tmp_path: Path) -> None:
    """Sums of many parts differ in their last digits: the largest number drawn must not pass the last word."""
    chance = np.random.default_rng(5)
    for seed in range(7):
        batches = made(tmp_path / str(seed), [chance.zipf(1.3, 3001).clip(max=1008).tolist()])
        assert batches.heaped[-1] == 1.0
