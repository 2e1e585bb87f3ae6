"""C22: where tokens see themselves alone, attention moves nothing, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.experiment import NOT, TRUE, Arm, Size
from regard.lab.claims.running import lab

TINY = Size(
    *(
        5,
        "data.records=20",
        "train.steps=3",
        "system.width=12",
        "system.heads=3",
        "system.depth=2",
        "system.context=17",
    ),
    tokens=11,
)
ALONE = "system.attention='local'", "system.block=1"


@pytest.mark.parametrize("settings, verdict", [((), TRUE), (ALONE, NOT)])
def test_what_attention_may_see_decides(tmp_path: Path, settings: tuple[str, ...], verdict: str) -> None:
    made = experiment("C22")
    changed = replace(made, small=TINY, arms={name: Arm("gpt", *settings) for name in made.arms})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == verdict
