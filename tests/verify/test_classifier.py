"""The certificate of a classifier: what holds is really checked, what makes no sense says why, what is broken fails."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.blocks.convolution import Centred
from regard.checkpoint import Run, load
from regard.data import Batch
from regard.data.corpora import CORPORA
from regard.objectives import Classification
from regard.recipe import read
from regard.train import state, train
from regard.verify import LINES, saved, verify
from regard.verify.inputs import make
from tests.verify.conftest import failing

Patch = pytest.MonkeyPatch
CHECKED = {
    "batch = single",
    "padding inert",
    "accumulated = full batch",
    "saved = loaded",
    "resumed = uninterrupted",
}
KINDS = {"rnn-classifier": ["system.depth=2"], "window-classifier": ["system.windows=[3, 5]"]}
SETTINGS = ["system.width=14", "train.steps=20", "train.batch_tokens=410", "train.save_every=11", "train.device=cpu"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both classifiers, on a few sentences of `moods`."""
    folder = tmp_path_factory.mktemp("classifiers")
    records = list(CORPORA["moods"].source("valid"))
    (folder / "moods.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in records))
    for kind, own in KINDS.items():
        train(read(kind, [f'data.train="{folder / "moods.tsv"}"', *SETTINGS, *own]), folder / kind, quiet=True)
    return folder


@pytest.fixture(params=KINDS)
def run(trained: Path, request: pytest.FixtureRequest) -> Run:
    return load(trained / request.param)


def test_every_line_holds_or_says_why_it_does_not_apply(run: Run) -> None:
    lines = {line.name: line for line in verify(run, skip=("compiled = eager",)).lines}
    recurrent = run.path.name == "rnn-classifier"
    checked = CHECKED | ({"fast = readable recurrence"} if recurrent else set())
    assert {name for name, line in lines.items() if line.state == "holds"} == checked
    lacking = {"the model has no attention"} | (set() if recurrent else {"the model has no recurrent layer"})
    others = {line.why for name, line in lines.items() if name not in checked}
    assert others == {"it writes no text", "no exported copy of this run exists"} | lacking
    assert lines.keys() == LINES.keys() - {"compiled = eager"}
    assert all(len(lines[name].lengths) >= 1 for name in CHECKED)


def test_texts_are_real_ragged_and_stand_between_their_symbols(run: Run) -> None:
    inputs = make(run)
    assert len(set(inputs.lengths)) == len(inputs.texts) == 4
    assert min(inputs.lengths) > run.model.reach
    for text in inputs.texts:
        assert (text[0], text[-1]) == (run.tokenizer.start, run.tokenizer.end)
        assert run.tokenizer.end not in text[1:-1]
    assert inputs.wanted == [[0], [1], [0], [1]]


def test_the_batch_is_what_a_trainer_would_be_handed(run: Run) -> None:
    inputs = make(run)
    batch = inputs.batch(run.tokenizer)
    assert batch.lengths == inputs.lengths and batch.targets.tolist() == [0, 1, 0, 1]
    for i, text in enumerate(inputs.texts):
        assert batch.row(i).tokens[0].tolist() == text


def test_a_run_without_tokens_is_checked_on_the_lectures(run: Run) -> None:
    assert make(replace(run, path=run.path / "nowhere")).origin == "sentences of the lectures"


def test_cells_that_read_on_through_the_padding(trained: Path, monkeypatch: Patch) -> None:
    run = load(trained / "rnn-classifier")
    embed = type(run.model).embed
    monkeypatch.setattr(
        type(run.model), "embed", lambda self, tokens, at: embed(self, tokens, replace(at, present=None))
    )
    assert failing(run) >= {"batch = single", "padding inert"}


def test_windows_that_look_into_the_padding(trained: Path, monkeypatch: Patch) -> None:
    around = Centred.around
    monkeypatch.setattr(Centred, "around", lambda self, x, at, cache: around(self, x, replace(at, present=None), cache))
    assert failing(load(trained / "window-classifier")) >= {"batch = single", "padding inert"}


def test_a_mean_over_padding_too(run: Run) -> None:
    run.model.head.pool = lambda vectors, present: vectors.mean(1)
    assert failing(run) >= {"batch = single", "padding inert"}


def test_a_mean_of_means(run: Run, monkeypatch: Patch) -> None:
    total = Classification.__call__

    def mean(self, model, batch: Batch):
        loss = total(self, model, batch)
        return replace(loss, total=loss.total / len(batch))

    monkeypatch.setattr(Classification, "__call__", mean)
    assert failing(run) == {"accumulated = full batch"}


def test_a_bias_lost_on_the_way(run: Run, monkeypatch: Patch) -> None:
    real = saved.load

    def forgetful(folder, device):
        copy = real(folder, device)
        with torch.no_grad():
            copy.model.head.rows.bias.zero_()
        return copy

    monkeypatch.setattr(saved, "load", forgetful)
    assert failing(run) == {"saved = loaded"}


def test_labels_lost_on_the_way(run: Run, monkeypatch: Patch) -> None:
    write = saved.write_setup
    monkeypatch.setattr(
        saved, "write_setup", lambda folder, recipe, tokenizer, labels: write(folder, recipe, tokenizer)
    )
    assert failing(run) == {"saved = loaded"}


def test_a_resume_that_forgets(run: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(state, "put_optimiser_tensors", lambda *parts: None)
    assert failing(run) == {"resumed = uninterrupted"}


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("gpt", ["objective.kind=classification", "system.attention=dmca", "system.block=8", "system.context=64"]),
        ("gpt", ["objective.kind=classification", "system.feedforward=experts", "system.experts=3"]),
        ("bert", ["objective.kind=classification", "system.feedforward=experts", "system.experts=3"]),
    ],
)
def test_a_classifier_on_a_decoder_or_with_experts_holds_too(
    preset: str, settings: list[str], trained: Path, tmp_path: Path
) -> None:
    """Texts of many lengths: what padding sees through a kernel that hides the future alone is nobody's."""
    own = ["system.heads=2", "system.hidden=17", "system.depth=2", "text.kind=word", *settings]
    recipe = read(preset, [f'data.train="{trained / "moods.tsv"}"', *SETTINGS, *own])
    run = load(train(recipe, tmp_path / "run", quiet=True))
    assert not failing(run)
    lines = {line.name: line for line in verify(run, skip=("compiled = eager",)).lines}
    assert lines["recorded = fast"].state == "holds"
    shared = "system.feedforward=experts" in settings
    assert lines["accumulated = full batch"].state == ("does not apply" if shared else "holds")
