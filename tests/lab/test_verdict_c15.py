"""C15: with one table in both arms nothing is saved, and a second table that reads better refutes the claim."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c15 import APART, TIED
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "text.vocabulary=401", "system.width=12", "system.heads=3", "system.depth=1", "system.hidden=13"),
    *("system.context=17", "train.steps=3", "train.batch_tokens=170", "train.log_every=1"),
    characters=20_000,
)


@pytest.mark.parametrize("tied, verdicts", [("false", (TRUE, NOT)), ("true", (HALF,))])
def test_a_second_table_is_what_is_saved(tmp_path: Path, tied: str, verdicts: tuple[str, ...]) -> None:
    made = experiment("C15")
    changed = replace(made, small=TINY, arms={**made.arms, APART: Arm("gpt", f"system.tied={tied}")})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    saved = of("millions", APART) - of("millions", TIED)
    assert saved == pytest.approx(12 * 401e-6 if tied == "false" else 0, rel=0.01)
    assert (of("unseen", TIED) == of("unseen", APART)) == (tied == "true")


@pytest.mark.parametrize(
    "unseen, millions, verdict", [(2.99, 0.5, TRUE), (3.02, 0.5, TRUE), (3.04, 0.5, NOT), (2.99, 0.7, HALF)]
)
def test_what_it_costs_decides_and_what_it_saves_comes_second(unseen: float, millions: float, verdict: str) -> None:
    rows = [
        {"arm": TIED, "seed": 0, "millions": millions, "unseen": unseen},
        {"arm": APART, "seed": 0, "millions": 0.8, "unseen": 3.0},
        {"arm": TIED, "seed": 0, "step": 9, "loss": 2.8},
        {"arm": APART, "seed": 0, "step": 9, "loss": 2.5},
    ]
    assert judged(experiment("C15"), rows).word == verdict
    assert "in the last steps of training 2.800 in place of 2.500" in judged(experiment("C15"), rows).sentence
