"""C21: where the learnt vectors are not learnt, similarity is not seen."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c21 import LEARNT, NEAREST, ONE_HOT
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size
from regard.lab.claims.running import lab


@pytest.mark.parametrize(
    "settings, verdicts",
    [(("train.steps=300", "train.warmup=20"), (HALF, TRUE)), (("train.steps=1", "train.rate=1e-9"), (NOT,))],
)
def test_similarity_comes_with_learning(tmp_path: Path, settings: tuple[str, ...], verdicts: tuple[str, ...]) -> None:
    made = experiment("C21")
    arms = {**made.arms, LEARNT: Arm("word2vec", *settings)}
    changed = replace(made, arms=arms, small=Size(5, "system.width=20"))
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert of("spread", ONE_HOT) == 0
    assert of("right", ONE_HOT, asked=NEAREST) == pytest.approx(0.01, abs=0.01)  # one word of a kind's ten in hundreds
