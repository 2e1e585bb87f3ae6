"""C14: where a table of vectors takes the reader's place, no sense is told, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c14 import GERMAN, NAMED, READER, REAL, REAL_ONE, SENTENCES, STATIC, TRANSLATOR, WORDS, chickens
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Prediction, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=12", "train.steps=2", "train.warmup=1"),
    translating=2,
)


def read(
    static: float = 0.5,
    reader: float = 1.0,
    *,
    it: float = 1.0,
    translator: float = 1.0,
    german: float = 1.0,
    static_it: float = 0.5,
    real_it: float = 1.0,
) -> list[dict]:
    """Rows as trials give them."""
    named, its = {STATIC: static, READER: reader}, {STATIC: static_it, READER: it, TRANSLATOR: translator}
    if REAL in experiment("C14").arms:
        named, its = {**named, REAL: 1.0}, {**its, REAL: real_it}
    rows = [{"arm": arm, "word": word, "right": right} for arm, right in named.items() for word in NAMED]
    rows += [{"arm": arm, "word": "it", "right": right} for arm, right in its.items()]
    return [{"seed": 0, **row} for row in (*rows, {"arm": TRANSLATOR, "word": GERMAN, "right": german})]


@pytest.mark.parametrize(
    "rows, verdict",
    [
        (read(), TRUE),
        (read(static=0.6), NOT),
        (read(reader=0.8), NOT),
        (read(static_it=0.6), NOT),
        (read(it=0.8), HALF),
        (read(translator=0.8), HALF),
        (read(german=0.8), HALF),
        (read(real_it=0.0), HALF if REAL in experiment("C14").arms else TRUE),
    ],
)
def test_who_tells_senses_decides(rows, verdict) -> None:
    assert judged(experiment("C14"), rows).word == verdict


def test_a_table_tells_no_sense_and_in_the_readers_place_it_refutes_the_claim(tmp_path: Path) -> None:
    made = experiment("C14")
    small = "system.heads=3", "system.depth=1", "system.hidden=13"
    arms = {
        STATIC: made.arms[STATIC],
        READER: made.arms[STATIC],
        TRANSLATOR: Arm(made.arms[TRANSLATOR].preset, *made.arms[TRANSLATOR].settings, *small, "decode.max_tokens=5"),
    }
    changed = replace(made, small=TINY, arms=arms, predictions=made.predictions[:3], tells=lambda of: "so it is")
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == NOT
    of = Found(found["rows"])
    assert [of("right", STATIC, word=word) for word in WORDS] == [0.5, 0.5, 0.5]
    assert [of("apart", STATIC, word=word) for word in WORDS] == pytest.approx([0, 0, 0], abs=1e-9)
    assert of("right", TRANSLATOR, word=GERMAN) <= 0.6  # two steps teach no German
    assert 0 <= of("right", TRANSLATOR, word="it") <= 1


def test_what_it_stands_for_is_known_of_unseen_sentences() -> None:
    found = dict(chickens())
    assert found["The chicken didn't cross the road because it was too tired."] == "it/actor"
    assert found["The chicken didn't cross the road because it was too wide."] == "it/thing"
    shares = [label == "it/actor" for label in found.values()]
    assert 0.4 < sum(shares) / len(shares) < 0.6
    assert len(shares) > 200


def test_every_real_sentence_has_its_word_once() -> None:
    for label, text in SENTENCES.items():
        word = label.partition("/")[0]
        for part in text.rstrip(".").split(". "):
            assert part.lower().replace(",", "").split().count(word) == 1, part


def test_the_real_model_must_tell_every_word() -> None:
    rows = [{"arm": REAL, "seed": 0, "word": word, "right": 1.0} for word in WORDS]
    assert REAL_ONE.holds(Found(rows))
    assert not REAL_ONE.holds(Found([*rows[:-1], {**rows[-1], "right": 0.0}]))


def test_the_real_model_is_asked_only_where_it_is_installed() -> None:
    made = experiment("C14")
    assert all(isinstance(each, Prediction) for each in made.predictions)
    assert len(made.predictions) == 3 + (REAL in made.arms)
