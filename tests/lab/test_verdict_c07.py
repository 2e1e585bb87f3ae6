"""C7: a model that saw the future cannot write, and with the mask in both arms there is nothing to see."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c07 import HIDDEN, SEEN
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=32", "system.depth=1", "system.heads=2", "system.context=16", "train.steps=300"),
    *("train.batch_tokens=256", "train.rate=1e-2", "train.warmup=10"),
    characters=20_000,
    read=400,
)


@pytest.mark.parametrize("mistake, verdicts", [("no mask", (TRUE, HALF)), ("", (NOT,))])
def test_a_mask_in_both_arms_changes_the_verdict(tmp_path: Path, mistake: str, verdicts: tuple[str, ...]) -> None:
    made = experiment("C7")
    changed = replace(made, small=TINY, arms={HIDDEN: Arm("gpt"), SEEN: Arm("gpt", mistake=mistake)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert (of.last("loss", SEEN, "step") < of.last("loss", HIDDEN, "step")) == bool(mistake)
    assert {row["text"].partition(" ")[0] for row in of.rows if "text" in row} == {"import"}
    assert "when it writes, such as “import" in found["sentence"]
