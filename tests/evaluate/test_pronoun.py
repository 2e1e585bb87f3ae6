"""`pronoun_accuracy`: references get all, wrong pronouns none, and guessing about a third."""

import re

import pytest

from regard.data.corpora import CORPORA
from regard.evaluate.pronoun import pronoun_accuracy

SOURCE = "The chicken didn't cross the road because it was too wide."
TARGET = "Das Huhn überquerte die Straße nicht, weil sie zu breit war."
OTHER = {"es": "sie", "sie": "er", "er": "es"}


def columns(name: str) -> tuple[list[str], list[str]]:
    sources, targets = zip(*CORPORA[name].source("test"), strict=True)
    return list(sources), list(targets)


def with_wrong_pronouns(text: str) -> str:
    def swap(match: re.Match) -> str:
        return f"{match[1]} {OTHER[match[2]]}"

    return re.sub(r"\b(weil|da|obwohl) (es|sie|er)\b", swap, text, flags=re.IGNORECASE)


@pytest.mark.parametrize("name", ["road", "road-long"])
def test_references_get_all_and_wrong_pronouns_none(name: str) -> None:
    sources, targets = columns(name)
    best = pronoun_accuracy(sources, targets, targets)
    worst = pronoun_accuracy(sources, targets, [with_wrong_pronouns(target) for target in targets])
    assert best["pronoun_accuracy"] == 1.0
    assert worst == {**best, "pronoun_accuracy": 0.0}
    assert best["pronoun_cases"] > 200
    assert 1 / 3 <= best["pronoun_baseline"] < 1 / 2


def test_the_baseline_is_what_the_commonest_pronoun_gets() -> None:
    sources, targets = columns("road")
    guesses = [[f"Weil {pronoun} war."] * len(sources) for pronoun in OTHER]
    scores = [pronoun_accuracy(sources, targets, guess) for guess in guesses]
    assert max(score["pronoun_accuracy"] for score in scores) == scores[0]["pronoun_baseline"]
    assert sum(score["pronoun_accuracy"] for score in scores) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("hypothesis", "score"),
    [
        ("weil sie zu breit war , überquerte das huhn die straße nicht .", 1.0),  # cut into words, lower case
        ("Das Huhn überquerte die Straße nicht, da sie zu breit war", 1.0),  # another conjunction, no full stop
        ("Das Huhn überquerte die Straße nicht, weil es zu breit war.", 0.0),
        ("Sie überquerte die Straße nicht, weil die Straße zu breit war.", 0.0),  # no pronoun after the conjunction
        ("Das Huhn überquerte sie nicht.", 0.0),
        ("Das Huhn. Weil sie zu breit war.", 0.0),  # in a sentence that answers nothing
        ("", 0.0),
    ],
)
def test_the_pronoun_is_looked_for_after_the_conjunction(hypothesis: str, score: float) -> None:
    assert pronoun_accuracy([SOURCE], [TARGET], [hypothesis])["pronoun_accuracy"] == score


def test_each_sentence_of_a_passage_is_judged_by_its_own() -> None:
    more = "The chicken was very tired, but it crossed the field. Since it was so tired, the dog left the barn."
    mehr = "Das Huhn war sehr müde, aber es überquerte das Feld. Da er so müde war, verließ der Hund die Scheune."
    source, target = f"{SOURCE} {more}", f"{TARGET} {mehr}"
    cut = " ".join(target.split()[:20])
    assert pronoun_accuracy([source], [target], [target]) == {
        "pronoun_accuracy": 1.0,
        "pronoun_baseline": 0.5,
        "pronoun_cases": 2,
    }
    assert pronoun_accuracy([source], [target], [cut])["pronoun_accuracy"] == 0.5


def test_other_text_is_not_judged() -> None:
    assert pronoun_accuracy(["a b c"], ["c b a"], ["c b a"]) == {}
    assert pronoun_accuracy([SOURCE], ["La poule n'a pas traversé la rue."], [TARGET]) == {}
    assert pronoun_accuracy([], [], []) == {}


def test_lists_must_match() -> None:
    with pytest.raises(ValueError, match="shorter"):
        pronoun_accuracy([SOURCE], [TARGET], [])
