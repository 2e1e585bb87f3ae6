"""`recall` and `listops`: answers as a slow reader finds them, splits that share nothing, lengths as asked for."""

import random
import re
from collections import Counter

import pytest

from regard.data import Data, splits
from regard.data.corpora import CORPORA, built_in
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.listops import DEPTH, FEWEST, LEAST, MOST, drawn, longest
from regard.data.corpora.recall import KEYS
from regard.data.sources import Record
from tests.helpers import refused

RECALL = {split: list(CORPORA["recall"].make(split)) for split in SPLITS}
LISTOPS = {split: list(CORPORA["listops"].make(split)) for split in SPLITS}


def looked_up(text: str) -> str:
    """What stands after the first place of the key that stands last."""
    words = text.split()
    return words[words.index(words[-1]) + 1]


def worked_out(text: str) -> str:
    """Innermost lists are replaced by what they come to, until a digit is left."""
    while found := re.search(r"\[(\w+)((?: \d)+) \]", text):
        ranked = sorted(int(digit) for digit in found[2].split())
        n = len(ranked)
        value = {
            "MIN": ranked[0],
            "MAX": ranked[-1],
            "MED": (ranked[(n - 1) // 2] + ranked[n // 2]) // 2,
            "SM": int(str(sum(ranked))[-1]),
        }[found[1]]
        text = f"{text[: found.start()]}{value}{text[found.end() :]}"
    return text


def inside(text: str) -> tuple[int, set[int]]:
    """How many lists stand within each other, and how many entries there are in one."""
    deepest, open_lists, counts = 0, [], set()
    for word in text.split():
        if open_lists and word != "]":
            open_lists[-1] += 1
        if word.startswith("["):
            open_lists.append(0)
            deepest = max(deepest, len(open_lists))
        if word == "]":
            counts.add(open_lists.pop())
    assert not open_lists
    return deepest, counts


@pytest.mark.parametrize("split", SPLITS)
def test_answers_are_what_a_slow_reader_finds(split: str) -> None:
    assert [text for text, answer in RECALL[split] if looked_up(text) != answer] == []
    assert [text for text, answer in LISTOPS[split] if worked_out(text) != answer] == []


@pytest.mark.parametrize("name", ["recall", "listops", "recall:32", "listops:60-80"])
def test_sizes_are_as_said_and_no_text_stands_in_two_splits(name: str) -> None:
    corpus = built_in(name)
    assert corpus is not None
    made = {split: list(corpus.make(split)) for split in SPLITS}
    assert {split: len(records) for split, records in made.items()} == {"train": 20_000, "valid": 300, "test": 600}
    train, valid, test = ({text for text, _ in made[split]} for split in SPLITS)
    assert not train & valid and not train & test and not valid & test
    assert made["test"] == list(corpus.make("test"))
    assert {answer for _, answer in made["test"]} == set("0123456789")


def test_texts_of_one_length_are_of_the_same_split_whatever_they_were_asked_for() -> None:
    """So a model trained on `recall` has seen nothing of the test of `recall:3`."""
    train = {text for text, _ in RECALL["train"]}
    three = built_in("recall:2-3")
    assert three is not None
    assert not train & {text for text, _ in three.make("test")}
    assert train & {text for text, _ in three.make("train")}


def test_a_row_has_every_key_once_and_asks_for_each_alike() -> None:
    places = Counter[int]()
    for text, _ in built_in("recall:5").make("train"):  # type: ignore[union-attr]
        *row, mark, asked = text.split()
        keys = row[::2]
        assert len(row) == 10 and len(set(keys)) == 5 and set(keys) <= set(KEYS) and mark == "?"
        places[keys.index(asked)] += 1
    assert min(places.values()) > 0.18 * places.total()


def test_the_commonest_value_of_a_row_is_seldom_the_answer() -> None:
    """What is there without order: in a row of 16 pairs the commonest value is right for less than a quarter."""
    records = list(built_in("recall:16").make("test"))  # type: ignore[union-attr]
    right = sum(Counter(re.findall(r"\d", text)).most_common(1)[0][0] == answer for text, answer in records)
    assert right / len(records) < 0.28


def test_lists_are_as_long_deep_and_full_as_they_may_be() -> None:
    chance = random.Random(7)
    for length in (*range(LEAST, 200), 1000, longest(DEPTH)):
        words, value = drawn(chance, length, DEPTH)
        assert len(words) == length
        deepest, counts = inside(" ".join(words))
        assert deepest <= DEPTH
        assert min(counts) >= FEWEST and max(counts) <= MOST
        assert worked_out(" ".join(words)) == str(value)
    assert inside(" ".join(words)) == (DEPTH, {MOST}), "the longest there is has every list full"


def test_lists_are_of_every_kind() -> None:
    depths = Counter(inside(text)[0] for text, _ in LISTOPS["train"])
    assert set(depths) == set(range(1, DEPTH + 1)) and depths[1] < 0.6 * depths.total()
    first = Counter(text.split()[0] for text, _ in LISTOPS["train"])
    assert set(first) == {"[MAX", "[MIN", "[MED", "[SM"} and min(first.values()) > 0.23 * first.total()
    assert {len(text.split()) for text, _ in LISTOPS["train"]} == set(range(LEAST, 25))
    answers = Counter(answer for _, answer in LISTOPS["test"])
    assert max(answers.values()) < 0.2 * answers.total(), "no answer is right for a fifth"


def columns(name: str, *names: str) -> list[Record]:
    corpus = built_in(name)
    assert corpus is not None
    return list(corpus.source("valid", names))


def test_one_corpus_serves_translators_classifiers_and_language_models() -> None:
    pairs = columns("recall", "source", "target")
    assert pairs == RECALL["valid"]
    assert columns("recall", "text", "label") == pairs
    assert columns("recall", "text") == [(f"{source} {target}",) for source, target in pairs]
    with refused("'recall' holds source and target; needed: words and tags"):
        columns("recall", "words", "tags")
    with refused("'copy' holds source and target; needed: text and label"):
        columns("copy", "text", "label")


@pytest.mark.parametrize("name", ["recall", "listops", "copy", "reverse"])
def test_records_have_the_length_that_is_asked_for(name: str) -> None:
    found = {"recall": lambda words: len(words) // 2 - 1}.get(name, len)
    for asked, wanted in (("13", {13}), ("5-7", {5, 6, 7})):
        made, said = splits(Data(train=f"{name}:{asked}"), ("source", "target"))
        assert said == []
        for source in made.values():
            assert {found(text.split()) for text, _ in source} == wanted
        assert made["test"].name == f"{name}:{asked} (test)"


def test_a_length_is_part_of_the_name_wherever_data_are_named() -> None:
    made, _ = splits(Data(train="recall", test="recall:12"), ("text", "label"))
    assert {len(text.split()) for text, _ in made["test"]} == {26}
    assert Data(train="recall:4", tasks={}).files() == []
    assert Data(train="recall:4").located().train == "recall:4"
    both, _ = splits(Data(tasks={"find:": "recall:4", "work out:": "listops:9"}), ("source", "target"))
    assert len(both["test"]) == 1200


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("moods:3", "the records of 'moods' have one length"),
        ("recall:", "names no length; give 'recall:8' or 'recall:4-8'"),
        ("recall:4-", "names no length"),
        ("recall:0", "a length lies between 1 and 70"),
        ("recall:9-4", "the shorter length comes first: 'recall:4-9'"),
        ("recall:2-71", "a length lies between 1 and 70"),
        ("listops:3", "a length lies between 4 and 12222"),
    ],
)
def test_a_length_that_cannot_be_is_told(name: str, message: str) -> None:
    with refused(message):
        splits(Data(train=name), ("source", "target"))


def test_every_doubling_of_the_length_is_as_common() -> None:
    counts = Counter(len(text.split()) // 2 - 1 for text, _ in built_in("recall:1-31").make("train"))  # type: ignore[union-attr]
    shares = [sum(counts[n] for n in range(2**k, 2 ** (k + 1))) / counts.total() for k in range(5)]
    assert all(abs(share - 0.2) < 0.02 for share in shares)
