"""The zoo: each mistake is made, only while it should be, and fails the line that is said to catch it."""

from pkgutil import resolve_name

import pytest
import torch

from regard.attention.cache import KeyValues
from regard.data import IGNORE, Batch
from regard.lab import mistakes
from regard.lab.claims.bugs import CLASSIFIER, EXPERIMENT, HEALTHY, READER, SEEN, WRITER, measure
from regard.lab.claims.experiment import HALF, NOT, TRUE, judged
from regard.lab.claims.trial import Arm, Size, Trial
from regard.lab.mistakes import MISTAKES, OTHER
from regard.verify import verify

TINY = ("system.width=16", "system.heads=2", "system.depth=2", "system.hidden=16", "train.steps=3", "data.records=60")
MODELS = {model[0]: model for model in (WRITER, CLASSIFIER)}
FAR = {"missing shift": (0.0, 0.1), "no scaling": (50.0, 2.0), "no warm-up": (89.0, 1.3), "no positions": (7.0, 1.1)}


def trial(tmp_path, preset: str, mistake: str = "") -> Trial:
    settings = MISTAKES[mistake].settings if mistake else ()
    arm = Arm(*MODELS[preset], *TINY, *settings, mistake=mistake)
    return Trial(Size(1, texts=2), "cpu", tmp_path, {mistake or HEALTHY: arm}, (0,))


def preset(mistake: str) -> str:
    return EXPERIMENT.arms[mistake].preset


def measured(caught: dict[str, str] | None = None, far: dict[str, tuple[float, float]] | None = None) -> list[dict]:
    """Rows as trials give them: what catches each, its score and its loss at the end."""
    by = {**SEEN, OTHER: "loading the run"} if caught is None else caught
    ends = {**dict.fromkeys((HEALTHY, *MISTAKES, READER), (90.0, 1.0)), **FAR, **(far or {})}
    return [
        {"arm": name, "seed": 0, "score": score, "end": end, "caught": by.get(name, "")}
        for name, (score, end) in ends.items()
    ]


@pytest.mark.parametrize("mistake", SEEN)
def test_a_mistake_fails_its_line_and_the_line_holds_without_it(mistake, tmp_path):
    made = trial(tmp_path, preset(mistake), mistake)
    run = made.train()
    with made.mistaken():
        (line,) = verify(run, only=[SEEN[mistake]]).lines
    assert line.state == "fails", line
    (line,) = verify(trial(tmp_path, preset(mistake)).train(), only=[SEEN[mistake]]).lines
    assert line.state == "holds", line


@pytest.mark.parametrize("mistake", [name for name, each in MISTAKES.items() if each.wrongs])
def test_a_mistake_is_made_while_it_is_open_and_nothing_is_left_of_it(mistake):
    wrongs = dict(MISTAKES[mistake].wrongs)
    right = {name: resolve_name(name) for name in wrongs}
    assert all(right[name] is not wrong for name, wrong in wrongs.items())
    with MISTAKES[mistake].made():
        assert {name: resolve_name(name) for name in wrongs} == wrongs
    assert {name: resolve_name(name) for name in wrongs} == right


@pytest.mark.parametrize("mistake", [name for name, each in MISTAKES.items() if each.settings])
def test_the_settings_of_a_mistake_change_the_model_or_its_training(mistake, tmp_path):
    whole = {name: EXPERIMENT.whole(EXPERIMENT.arms[name], "small") for name in (HEALTHY, mistake)}
    healthy, wrong = (Trial(EXPERIMENT.small, "cpu", tmp_path, {"": arm}, (0,)).recipe() for arm in whole.values())
    assert healthy != wrong


def test_without_the_shift_each_token_is_asked_for_where_it_is_given(monkeypatch):
    asked = []
    monkeypatch.setattr(mistakes, "right_loss", lambda self, model, batch: asked.append(batch.targets))
    tokens, targets = torch.tensor([[1, 7, 8, 0]]), torch.tensor([[7, 8, 2, IGNORE]])
    mistakes.unshifted(None, None, Batch(tokens, targets, 3))
    assert asked[0].tolist() == [[1, 7, 8, IGNORE]]


def test_the_tokenizer_of_another_run_is_refused_when_the_run_is_loaded(tmp_path):
    made = trial(tmp_path, "transformer-tiny")
    rows = measure(Trial(made.size, made.device, made.folder, {OTHER: made.arm}, (0,)))
    assert "loading the run" in rows[-1]["caught"]


def test_every_mistake_has_an_arm_and_a_healthy_one_beside_it():
    assert set(EXPERIMENT.arms) == {HEALTHY, READER, *MISTAKES}


@pytest.mark.parametrize(
    "rows, verdict",
    [
        (measured(), TRUE),
        (measured({name: line for name, line in SEEN.items() if name != "no mask"}), NOT),  # it passes its line
        (measured({**SEEN, OTHER: "loading the run", READER: "padding inert"}), HALF),  # a healthy model fails
        (measured(SEEN), HALF),  # the other tokenizer is not caught, and has no symptom
        (measured(far={"no warm-up": (81.0, 1.19)}), HALF),  # too near to the healthy one
        (measured(far={"no warm-up": (80.0, 0.9)}), TRUE),
        (measured(far={"no warm-up": (95.0, 1.25)}), TRUE),
    ],
)
def test_what_catches_a_mistake_decides_and_then_how_the_others_end(rows, verdict):
    assert judged(EXPERIMENT, rows).word == verdict


def test_the_zoo_tells_what_catches_each_which_show_and_which_do_not():
    caught = {"no mask": "cached = full; past ignores future", OTHER: "loading the run"}
    told = judged(EXPERIMENT, measured(caught, {"no warm-up": (90.5, 0.98)})).sentence
    assert "of 11 mistakes 2 caught by a check: no mask (past ignores future), another tokenizer (" in told
    assert "3 seen in curve or score alone: missing shift (score -90.0, loss -90%), no scaling (" in told
    assert "6 not seen at all: inverted mask (score +0.0, loss +0%)" in told
    assert "no warm-up (score +0.5, loss -2%)" in told


def test_a_stale_cache_follows_rows_that_become_more_but_not_rows_that_change_places():
    cache = KeyValues(depth=1, rows=2, capacity=4)
    place, keys = cache.places(torch.zeros(2, 1, dtype=torch.long)), torch.tensor([1.0, 2.0]).view(2, 1, 1, 1)
    cache.layers[0].write(place, keys)
    with MISTAKES["stale cache"].made():
        cache.reorder(torch.tensor([1, 0]))
        assert cache.layers[0].kept[0][:, 0, 0, 0].tolist() == [1, 2]
        cache.reorder(torch.tensor([1, 1, 0]))
        assert cache.layers[0].kept[0][:, 0, 0, 0].tolist() == [2, 2, 1]
