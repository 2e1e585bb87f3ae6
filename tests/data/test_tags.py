"""`tags` and `trees`: the same sentences as tags, brackets and dependencies, with many ambiguous words."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from regard.data import Data, splits
from regard.data.conllu import sentences as read_conllu
from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.tag_words import AMBIGUOUS
from regard.data.corpora.tags import OPEN, SIZES, conllu, lecture, sentences, split_of, ties
from regard.data.corpora.trees import HEAD, Leaf, arcs, brackets, capital, leaves, phrase

TREES = {split: list(sentences(split)) for split in SPLITS}
TAGGED = {split: list(CORPORA["tags"].make(split)) for split in SPLITS}
Counts = defaultdict[str, Counter[str]]


def known(records: list) -> Counts:
    found: Counts = defaultdict(Counter)
    for words, tags in records:
        for word, tag in zip(words.split(" "), tags.split(" "), strict=True):
            found[word][tag] += 1
    return found


KNOWN = known(TAGGED["train"])


def read(text: str) -> list:
    """Brackets as nested lists; words are strings."""
    stack: list[list] = [[]]
    for token in re.findall(r"[()]|[^()\s]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(token)
    (whole,) = stack
    return whole


def words_of(tree: list | str) -> list[str]:
    return [tree] if isinstance(tree, str) else [word for part in tree[1:] for word in words_of(part)]


@pytest.mark.parametrize("split", SPLITS)
def test_every_word_has_a_tag_and_no_sentence_comes_twice(split: str) -> None:
    assert len(TAGGED[split]) == SIZES[split] == len({words for words, _ in TAGGED[split]})
    for words, tags in TAGGED[split]:
        assert len(words.split(" ")) == len(tags.split(" ")) >= 3
        assert "" not in words.split(" ")
        assert words[0].isupper() and tags.endswith(" PUNCT")


def test_the_same_sentences_in_brackets() -> None:
    for (words, _), (source, target) in zip(TAGGED["test"], CORPORA["trees"].make("test"), strict=True):
        assert source == words
        (tree,) = read(target)
        assert tree[0] == "S"
        assert words_of(tree) == words.split(" ")


def test_the_lecture_s_sentences_open_the_test() -> None:
    (source, target), tired, wide = list(CORPORA["trees"].make("test"))[:3]
    assert source == "The chicken crosses the road ."
    assert target == "(S (NP The chicken) (VP crosses (NP the road)) .)"
    assert (tired[0], wide[0]) == tuple(
        f"The chicken did not cross the road because it was too {trait} ." for trait in ("tired", "wide")
    )
    assert all(("chicken", "cross") in ties(tree) for tree in lecture())
    assert not any(("chicken", "cross") in ties(tree) for tree in TREES["train"] + TREES["valid"])


def test_conllu_says_the_same_and_every_word_reaches_the_root(tmp_path: Path) -> None:
    path = tmp_path / "tags.conllu"
    path.write_text("".join(conllu("test")), encoding="utf-8")
    found, _ = splits(Data(train=str(path), valid=str(path), test=str(path)), ("words", "tags"))
    assert list(found["train"]) == TAGGED["test"]
    for sentence in read_conllu(enumerate(path.read_text(encoding="utf-8").splitlines(), 1), str(path)):
        heads = [0, *(word.head or 0 for word in sentence.words)]
        assert [word.relation for word in sentence.words if word.head == 0] == ["root"]
        for place in range(1, len(heads)):
            seen = {place}
            while (place := heads[place]) != 0:
                assert place not in seen, f"a circle in {sentence.forms}"
                seen.add(place)


def test_dependencies_follow_from_phrases() -> None:
    """By hand, on the lecture's sentence: cross is the root, tired hangs on it and carries "because", "it", "was"."""
    found = {leaf.form: (head, relation) for leaf, head, relation in arcs(lecture()[1])}
    assert found == {
        "The": (2, "det"),
        "chicken": (5, "nsubj"),
        "did": (5, "aux"),
        "not": (5, "advmod"),
        "cross": (0, "root"),
        "the": (7, "det"),
        "road": (5, "obj"),
        "because": (12, "mark"),
        "it": (12, "nsubj"),
        "was": (12, "cop"),
        "too": (12, "advmod"),
        "tired": (5, "advcl"),
        ".": (5, "punct"),
    }


def test_a_phrase_without_a_label_has_no_brackets() -> None:
    a, b, c = (Leaf(form, form, "X") for form in "abc")
    tree = phrase("A", (HEAD, a), ("conj", phrase("", ("cc", b), (HEAD, c))))
    assert brackets(tree) == "(A a b c)"
    assert [(head, relation) for _, head, relation in arcs(tree)] == [(0, "root"), (3, "cc"), (1, "conj")]
    assert [leaf.form for leaf in leaves(capital(tree))] == ["A", "b", "c"]


def test_verbs_agree_with_their_subjects() -> None:
    """A plain present after one or after several: "the guard watches", "the guards watch"."""
    checked = Counter()
    for tree in TREES["test"]:
        found = arcs(tree)
        for place, (word, _, _) in enumerate(found, 1):
            hung = {relation: leaf for leaf, head, relation in found if head == place}
            if word.tag != "VERB" or "nsubj" not in hung or "aux" in hung or hung["nsubj"].tag != "NOUN":
                continue
            several = hung["nsubj"].form != hung["nsubj"].lemma
            if word.form != word.lemma and word.form.endswith("s") and hung["nsubj"].lemma != "fish":
                assert not several, brackets(tree)
                checked["one"] += 1
            elif word.form == word.lemma and word.lemma not in ("read", "cut") and hung["nsubj"].lemma != "fish":
                assert several, brackets(tree)
                checked["several"] += 1
    assert min(checked.values()) > 50


def test_held_out_pairs_hang_together_in_no_other_split() -> None:
    train, valid, test = ({tie for tree in TREES[split] for tie in ties(tree)} for split in SPLITS)
    assert all(split_of(tie) == "train" for tie in train)
    held_out = [{tie for tie in found if split_of(tie) == split} for found, split in ((valid, "valid"), (test, "test"))]
    assert not held_out[0] & test and not held_out[1] & valid
    assert len(held_out[1]) > 100
    for split in ("valid", "test"):
        assert all(any(split_of(tie) == split for tie in ties(tree)) for tree in TREES[split])


def test_every_word_of_the_test_is_trained_on_with_its_tag() -> None:
    lower: Counts = defaultdict(Counter)
    for word, counts in KNOWN.items():
        lower[word.lower()].update(counts)
    for words, tags in TAGGED["valid"] + TAGGED["test"]:
        for word, tag in zip(words.split(" "), tags.split(" "), strict=True):
            assert lower[word.lower()][tag] >= 5, f"{word} as {tag}"


def test_many_words_are_ambiguous() -> None:
    both = {word for word, counts in KNOWN.items() if word.islower() and len(counts) > 1}
    assert {"watch", "plays", "cross", "light", "guard", "can", "that", "to", "like", "before"} <= both
    assert len(AMBIGUOUS) > 70
    for word in ("cross", "light"):
        assert min(KNOWN[word][tag] for tag in ("NOUN", "VERB", "ADJ")) > 50
    assert {"NOUN", "VERB", "ADJ", "ADV"} <= set(OPEN)


def test_the_commonest_tag_of_a_word_is_not_enough() -> None:
    """The tag that a word has most often in training is right for 89 %; with the word before it counted, for 96 %."""
    pairs: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for words, tags in TAGGED["train"]:
        spoken = words.split(" ")
        for before, word, tag in zip(["", *spoken], spoken, tags.split(" "), strict=False):
            pairs[before, word][tag] += 1
    alone = near = total = 0
    for words, tags in TAGGED["test"]:
        spoken = words.split(" ")
        for before, word, tag in zip(["", *spoken], spoken, tags.split(" "), strict=False):
            commonest = KNOWN[word].most_common(1)[0][0] if KNOWN[word] else "NOUN"
            alone += commonest == tag
            near += (pairs[before, word].most_common(1)[0][0] if pairs[before, word] else commonest) == tag
            total += 1
    assert 0.85 < alone / total < 0.91
    assert near / total < 0.97
