"""C19: the table is judged by its order and its cost, and a tiny one is really made."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.evaluate import cost
from regard.lab.claims import experiment
from regard.lab.claims.c19 import OTHERS, TRANSFORMER
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Prediction, Size, judged
from regard.lab.claims.running import lab

LECTURES = {"bytenet": 23.75, "gnmt": 24.6, "convs2s": 25.16, "moe-lstm": 26.03, TRANSFORMER: 27.3}
CHEAP = {"bytenet": 5.0, "gnmt": 23.0, "convs2s": 9.6, "moe-lstm": 20.0, TRANSFORMER: 3.3}


def table(bleu: dict[str, float], teraflops: dict[str, float]) -> list[dict]:
    return [{"arm": arm, "seed": 0, "bleu": bleu[arm], "teraflops": teraflops[arm]} for arm in bleu]


@pytest.mark.parametrize(
    "bleu, teraflops, verdict",
    [
        (LECTURES, CHEAP, TRUE),
        ({**LECTURES, "gnmt": 28.0}, CHEAP, NOT),
        (LECTURES, {**CHEAP, "bytenet": 3.0}, HALF),  # another is cheaper
        ({**LECTURES, "convs2s": 24.0}, CHEAP, HALF),  # both convolutional models below both recurrent ones
        ({**LECTURES, "gnmt": 20.0, "moe-lstm": 21.0}, CHEAP, HALF),
        ({**LECTURES, "gnmt": 27.3}, CHEAP, NOT),  # as high is not higher, in whatever order they stand
        ({**LECTURES, "gnmt": 26.03, "convs2s": 26.03, "bytenet": 26.03}, CHEAP, HALF),  # nor is as low lower
    ],
)
def test_order_and_cost_decide(bleu, teraflops, verdict) -> None:
    assert judged(experiment("C19"), table(bleu, teraflops)).word == verdict


def test_the_table_is_a_comparison_of_two_seeds(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(cost, "LONG_ENOUGH", 0.01)
    monkeypatch.setitem(cost.SIZES, "cpu", 64)
    made = experiment("C19")
    chosen = {name: made.arms[name] for name in ("bytenet", TRANSFORMER)}
    settings = "data.records=60", "system.width=16", "train.batch_tokens=120", "decode.max_tokens=5"
    tiny = Size(5, *settings, tokens=250, jobs=1)
    cheaper = Prediction("it is cheaper", lambda of: of("teraflops", "bytenet") < of("teraflops", TRANSFORMER))
    changed = replace(made, small=tiny, arms=chosen, predictions=(cheaper,), tells=lambda of: "so it is")
    (found,) = lab(tmp_path, size="small", seeds=2, jobs=1).run([changed], ended=lambda found: None)
    assert [(row["arm"], row["seed"]) for row in found["rows"]] == [
        *(("bytenet", 0), ("bytenet", 1)),
        *((TRANSFORMER, 0), (TRANSFORMER, 1)),
    ]
    of = Found(found["rows"])
    for arm in chosen:
        counted = 6e-6 * of("millions", arm) * 250  # six operations for each weight and token, if all were looked at
        assert counted / 10 < of("teraflops", arm) < 10 * counted
    assert set(OTHERS) | {TRANSFORMER} == set(made.arms)
