"""Praise and blame in files: about half of each, plain where few shapes are asked for, pairs of the test unseen."""

import json
from itertools import islice
from pathlib import Path

from regard.data.corpora.mood_words import BLAME, LIKING, LOATHING, PRAISE
from regard.data.corpora.moods import opinions
from regard.lab.claims.opinions import labelled, pairs, sentences
from regard.lab.claims.trial import Size, Trial

GOOD = {*PRAISE, *(verb.past for verb in LIKING)}
BAD = {*BLAME, *(verb.past for verb in LOATHING)}


def words(text: str) -> set[str]:
    return set(text.lower().replace(",", " ").replace(".", " ").replace("!", " ").split())


def test_plain_sentences_say_what_their_label_says() -> None:
    found = list(islice(sentences("train", 1, 0), 100))
    assert 40 <= [row["label"] for row in found].count("positive") <= 60
    assert len({row["text"].lower().strip(".!") for row in found}) == 100
    for row in found:
        said, other = (GOOD, BAD) if row["label"] == "positive" else (BAD, GOOD)
        assert words(row["text"]) & said and not words(row["text"]) & other


def test_each_seed_learns_from_sentences_of_its_own_and_is_asked_the_same() -> None:
    for split, alike in {"train": False, "test": True}.items():
        first, second = ([*islice(sentences(split, 1, seed), 20)] for seed in (0, 1))
        assert (first == second) == alike


def test_more_shapes_turn_words() -> None:
    found = islice(sentences("train", 2, 0), 100)
    assert any(words(row["text"]) & BAD for row in found if row["label"] == "positive")


def test_the_second_sentence_of_a_review_agrees_with_the_first() -> None:
    for row in islice(pairs("train", 1), 100):
        both = words(row["first"]) | words(row["second"])
        assert bool(both & GOOD) != bool(both & BAD)


def test_files_hold_as_many_as_asked_for_and_other_pairs_in_the_test(tmp_path: Path) -> None:
    trial = Trial(Size(1, shapes=1), "cpu", tmp_path, {}, (0,))
    assert len(labelled(trial, 7)) == 4
    rows = {
        split: [json.loads(line) for line in (tmp_path / f"moods-7-{split}.jsonl").read_text().splitlines()]
        for split in ("train", "test")
    }
    assert len(rows["train"]) == 7 and len(rows["test"]) == 3000
    kept = set(opinions("test", "movie", True))
    movies = [
        words(row["text"]) for row in rows["test"] if "movie" in words(row["text"]) and row["label"] == "positive"
    ]
    assert movies and all(said & kept or said & {verb.past for verb in LIKING} for said in movies)
