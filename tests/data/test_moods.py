"""`moods`: labels that a slow reader agrees with, held-out pairs, and a task that counting words does not solve."""

import re
from collections import Counter

import pytest
import torch

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.mood_words import BLAME, LIKING, LOATHING, PRAISE, SORTS
from regard.data.corpora.moods import SIZES

MOODS = {split: list(CORPORA["moods"].source(split)) for split in SPLITS}
GOOD = {*PRAISE, *(form for verb in LIKING for form in (verb.base, verb.past))}
BAD = {*BLAME, *(form for verb in LOATHING for form in (verb.base, verb.past))}
THINGS = {word for sort in SORTS for word in (*sort.things, *sort.parts)}
TURNS = r"hardly anyone|nobody|no one|none of us|not|never|hardly|scarcely|far from|anything but|by no means"


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def meant(text: str) -> bool:
    """Whether a sentence praises, read by rules: which clause counts, and how often its opinion is turned."""
    text = text.lower().rstrip(".!")
    if match := re.search(r"^not even .* could (save|spoil) ", text):
        return match[1] == "spoil"
    if match := re.search(r"(.*), (?:and they were right|but they were wrong|and it was|but it was not)$", text):
        return praises(match[1]) != text.endswith(("wrong", "was not"))
    for pattern in (r"^although .*, (.*)$", r"^(.*), although .*$", r"^.*, but (.*)$"):
        if match := re.search(pattern, text):
            return praises(match[1])
    return praises(text)


def praises(clause: str) -> bool:
    (opinion,) = (word for word in words(clause) if word in GOOD | BAD)
    return (opinion in GOOD) != bool(len(re.findall(rf"\b(?:{TURNS})\b", clause)) % 2)


def pairs_in(records: list) -> set[tuple[str, str]]:
    """Every thing or part with the opinions said of it; where two clauses are joined, each has its own."""
    found = set()
    for text, _ in records:
        clauses = [words(part) for part in re.split(r", but |, although |, ", text.lower().removeprefix("although "))]
        named: list[str] = []
        for clause in clauses:
            named = [word for word in clause if word in THINGS] or named  # "it" is what was named before
            bases = [verb.base for verb in (*LIKING, *LOATHING) if {verb.base, verb.past} & set(clause)]
            said = [word for word in clause if word in PRAISE + BLAME] + bases
            if "even" in clause:
                named = named[:1]  # the other one is only saved or spoilt
            found |= {(thing, opinion) for thing in named for opinion in said}
    return found


@pytest.mark.parametrize("split", SPLITS)
def test_the_labels_are_what_a_slow_reader_finds(split: str) -> None:
    assert [text for text, label in MOODS[split] if meant(text) != (label == "positive")] == []


def test_a_word_praises_or_blames_but_not_both() -> None:
    assert not GOOD & BAD
    assert not THINGS & (GOOD | BAD)


@pytest.mark.parametrize("split", SPLITS)
def test_sizes_and_labels_are_as_said(split: str) -> None:
    texts = [text for text, _ in MOODS[split]]
    assert len(texts) == len(set(texts)) == SIZES[split]
    assert sum(label == "positive" for _, label in MOODS[split]) == SIZES[split] // 2


def test_no_pair_stands_in_two_splits_and_every_word_stands_in_training() -> None:
    train, valid, test = (pairs_in(MOODS[split]) for split in SPLITS)
    assert not train & test and not train & valid and not valid & test
    assert len(test) > 100
    known = {word for text, _ in MOODS["train"] for word in words(text)}
    assert {word for split in ("valid", "test") for text, _ in MOODS[split] for word in words(text)} <= known


def test_the_lecture_s_sentence_opens_the_test_and_its_question_is_left_out() -> None:
    assert MOODS["test"][0] == ("this movie is great", "positive")
    assert ("movie", "great") not in pairs_in(MOODS["train"] + MOODS["valid"])
    assert not any(text.lower().startswith(("is ", "was ")) for records in MOODS.values() for text, _ in records)


@pytest.mark.parametrize(
    ("beginning", "least"),
    [("not even", 500), ("although", 500), ("it is not true that", 300), ("nobody can say", 300), ("what a", 300)],
)
def test_no_beginning_tells_the_label(beginning: str, least: int) -> None:
    found = Counter(label for text, label in MOODS["train"] if text.lower().startswith(beginning))
    assert found.total() >= least
    assert abs(found["positive"] / found.total() - 0.5) < 0.08


def test_counting_words_does_not_suffice() -> None:
    """A logistic regression over which words stand in a sentence: better than chance, far from reading it."""
    numbers = {word: i for i, word in enumerate(sorted({w for text, _ in MOODS["train"] for w in words(text)}))}

    def counted(records: list) -> tuple[torch.Tensor, torch.Tensor]:
        table = torch.zeros(len(records), len(numbers))
        for row, (text, _) in zip(table, records, strict=True):
            for word in words(text):
                row[numbers[word]] += 1
        return table, torch.tensor([float(label == "positive") for _, label in records])

    weights = torch.zeros(len(numbers), requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=60)
    train, wanted = counted(MOODS["train"][:6000])

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        found = torch.nn.functional.binary_cross_entropy_with_logits(train @ weights, wanted)
        found.backward()
        return found

    optimiser.step(loss)
    test, right = counted(MOODS["test"])
    assert 0.5 < float(((test @ weights > 0) == right.bool()).float().mean()) < 0.7
