"""C3: scores by length are counted right, and where attention falls as far as one vector the claim is not seen."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c03 import ATTENTION, VECTOR, by_length
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

LONG = "Das müde Huhn mied die breite Straße."


def measured(vector: tuple[float, float], attention: tuple[float, float]) -> list[dict]:
    ends = {VECTOR: vector, ATTENTION: attention}
    return [
        {"arm": arm, "seed": 0, "sentences": sentences, "words": 9 * sentences, "bleu": bleu}
        for arm, scores in ends.items()
        for sentences, bleu in zip((1, 3), scores, strict=True)
    ]


@pytest.mark.parametrize(
    "vector, attention, verdict",
    [
        ((90, 30), (95, 90), TRUE),
        ((90, 75), (95, 90), NOT),  # one vector is enough
        ((90, 30), (95, 45), NOT),  # attention falls as far
        ((50, 29), (95, 90), HALF),  # it is better by 45 at the short end already
    ],
)
def test_the_verdict_follows_from_both_ends(vector, attention, verdict) -> None:
    assert judged(experiment("C3"), measured(vector, attention)).word == verdict


def test_bleu_is_that_of_the_passages_of_each_length() -> None:
    sources = ["A b c.", "A b c. D e f g.", "H i."]
    rows = by_length(sources, [LONG, "Etwas anderes.", LONG], [LONG, f"{LONG} {LONG}", LONG])
    assert [(row["sentences"], row["words"]) for row in rows] == [(1, 2.5), (2, 7.0)]
    assert rows[0]["bleu"] == pytest.approx(100)
    assert rows[1]["bleu"] < 5


@pytest.mark.parametrize("second, settings", [("seq2seq-attention", ()), ("seq2seq", ("system.enters=every",))])
def test_it_runs_and_with_one_vector_in_both_arms_nothing_is_seen(tmp_path: Path, second: str, settings) -> None:
    made = experiment("C3")
    tiny = Size(5, "system.width=14", "train.steps=3", "train.batch_tokens=70", passages=17, sentences=2)
    changed = replace(made, small=tiny, arms={**made.arms, ATTENTION: Arm(second, *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    of = Found(found["rows"])
    assert found["verdict"] == NOT
    same = of("bleu", VECTOR) == of("bleu", ATTENTION) and of("loss", VECTOR) == of("loss", ATTENTION)
    assert same == (second == "seq2seq")
    assert {row["sentences"] for row in found["rows"] if "bleu" in row} == {1, 2}
