"""The zoo: each mistake is made, only while it should be, and fails the line that is said to catch it."""

import pytest
import torch

from regard.attention.cache import Cache, KeyValues
from regard.lab.claims.bugs import EXPERIMENT, HEALTHY, OTHER, POOLED, READER, SEEN, measure, seen
from regard.lab.claims.experiment import Found
from regard.lab.claims.trial import Arm, Size, Trial
from regard.lab.mistakes import MISTAKES
from regard.verify import verify

TINY = ("system.width=16", "system.heads=2", "system.depth=2", "system.hidden=16", "train.steps=3", "data.records=60")
TEXTS = {"transformer-tiny": (), "bert-classifier": POOLED[:1]}


def trial(tmp_path, preset: str, mistake: str = "") -> Trial:
    settings = MISTAKES[mistake].settings if mistake else ()
    arm = Arm(preset, *TINY, *TEXTS[preset], *settings, mistake=mistake)
    return Trial(Size(1, texts=2), "cpu", tmp_path, {mistake or HEALTHY: arm}, (0,))


def preset(mistake: str) -> str:
    return EXPERIMENT.arms[mistake].preset


@pytest.mark.parametrize("mistake", SEEN)
def test_a_mistake_fails_its_line_and_the_line_holds_without_it(mistake, tmp_path):
    made = trial(tmp_path, preset(mistake), mistake)
    run = made.train()
    with made.mistaken():
        (line,) = verify(run, only=[SEEN[mistake]]).lines
    assert line.state == "fails", line
    (line,) = verify(trial(tmp_path, preset(mistake)).train(), only=[SEEN[mistake]]).lines
    assert line.state == "holds", line


def test_nothing_is_left_of_a_mistake_when_it_is_over():
    for mistake in MISTAKES.values():
        with mistake.made():
            pass
    assert KeyValues.reorder is not Cache.reorder


def test_without_the_shift_each_token_is_asked_for_where_it_is_given(tmp_path):
    from regard.data import IGNORE, Batch
    from regard.lab import mistakes

    asked = []
    right, mistakes.right_loss = mistakes.right_loss, lambda self, model, batch: asked.append(batch.targets)
    try:
        tokens, targets = torch.tensor([[1, 7, 8, 0]]), torch.tensor([[7, 8, 2, IGNORE]])
        mistakes.unshifted(None, None, Batch(tokens, targets, 3))
    finally:
        mistakes.right_loss = right
    assert asked[0].tolist() == [[1, 7, 8, IGNORE]]


def test_the_tokenizer_of_another_run_is_refused_when_the_run_is_loaded(tmp_path):
    made = trial(tmp_path, "transformer-tiny")
    rows = measure(Trial(made.size, made.device, made.folder, {OTHER: made.arm}, (0,)))
    assert "loading the run" in rows[-1]["caught"]


def test_every_mistake_has_an_arm_and_a_healthy_one_beside_it():
    assert set(EXPERIMENT.arms) == {HEALTHY, READER, *MISTAKES}


def test_a_mistake_that_passes_its_line_refutes_the_zoo():
    rows = [{"arm": name, "seed": 0, "lines": 1, "caught": line} for name, line in SEEN.items()]
    assert seen(Found(rows))
    assert not seen(Found([*rows[:-1], {**rows[-1], "caught": ""}]))
