"""The zoo: each mistake is made, only while it should be, and fails the line that is said to catch it."""

from pkgutil import resolve_name

import pytest
import torch

from regard.attention.cache import KeyValues
from regard.data import IGNORE, Batch
from regard.lab import mistakes
from regard.lab.claims.bugs import EXPERIMENT, HEALTHY, OTHER, POOLED, READER, SEEN, measure, seen, told
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


def test_a_mistake_that_passes_its_line_refutes_the_zoo():
    rows = [{"arm": name, "seed": 0, "lines": 1, "caught": line} for name, line in SEEN.items()]
    assert seen(Found(rows))
    assert not seen(Found([*rows[:-1], {**rows[-1], "caught": ""}]))


def test_the_zoo_tells_what_catches_each():
    caught = {"no mask": "cached = full; past ignores future", "another tokenizer": "loading the run", "no scaling": ""}
    rows = [{"arm": name, "seed": 0, "lines": bool(line), "caught": line} for name, line in caught.items()]
    assert told(Found([*rows, {"arm": HEALTHY, "seed": 0, "lines": 0, "caught": ""}])) == (
        "2 of 3 mistakes are caught: no mask (past ignores future), another tokenizer (loading the run); "
        "the others by their symptom alone"
    )


def test_a_stale_cache_follows_rows_that_become_more_but_not_rows_that_change_places():
    cache = KeyValues(depth=1, rows=2, capacity=4)
    place, keys = cache.places(torch.zeros(2, 1, dtype=torch.long)), torch.tensor([1.0, 2.0]).view(2, 1, 1, 1)
    cache.layers[0].write(place, keys)
    with MISTAKES["stale cache"].made():
        cache.reorder(torch.tensor([1, 0]))
        assert cache.layers[0].kept[0][:, 0, 0, 0].tolist() == [1, 2]
        cache.reorder(torch.tensor([1, 1, 0]))
        assert cache.layers[0].kept[0][:, 0, 0, 0].tolist() == [2, 2, 1]
