"""The certificate of a tagger: what holds is really checked, and what is broken fails."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.checkpoint import Run, load
from regard.data import Batch
from regard.objectives import Tagging
from regard.recipe import read
from regard.train import train
from regard.verify import verify
from regard.verify.inputs import make
from tests.helpers import lines_file
from tests.verify.conftest import failing

CHECKED = {
    "fast = readable recurrence",
    "batch = single",
    "padding inert",
    "accumulated = full batch",
    "saved = loaded",
    "resumed = uninterrupted",
}
SETTINGS = ["system.width=14", "train.steps=20", "train.batch_tokens=210", "train.save_every=11", "train.device=cpu"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tagger")
    rows = [
        f"{'the ' * (i % 3)}guard watches{' plays' * (i % 2)}\t{'DET ' * (i % 3)}NOUN VERB{' NOUN' * (i % 2)}"
        for i in range(97)
    ]
    data = f'data.train="{lines_file(folder / "rows.tsv", rows)}"'
    train(read("bilstm-tagger", [data, "text.vocabulary=0", *SETTINGS]), folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture
def run(trained: Path) -> Run:
    return load(trained)


def test_every_line_holds_or_says_why_it_does_not_apply(run: Run) -> None:
    lines = {line.name: line for line in verify(run, skip=("compiled = eager",)).lines}
    assert {name for name, line in lines.items() if line.state == "holds"} == CHECKED
    others = {line.why for name, line in lines.items() if name not in CHECKED}
    assert others == {"it writes no text", "the model has no attention", "no exported copy of this run exists"}


def test_every_token_is_asked_for_a_tag(run: Run) -> None:
    inputs = make(run)
    assert [len(row) for row in inputs.wanted] == inputs.lengths
    assert {tag for row in inputs.wanted for tag in row} == set(range(len(run.labels)))
    assert inputs.batch(run.tokenizer).count == sum(inputs.lengths)


def test_cells_that_read_on_through_the_padding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    embed = type(run.model).embed
    monkeypatch.setattr(
        type(run.model), "embed", lambda self, tokens, at: embed(self, tokens, replace(at, present=None))
    )
    assert failing(run) >= {"batch = single", "padding inert"}


def test_a_mean_of_means(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    total = Tagging.__call__

    def mean(self, model, batch: Batch):
        loss = total(self, model, batch)
        return replace(loss, total=loss.total / len(batch))

    monkeypatch.setattr(Tagging, "__call__", mean)
    assert failing(run) == {"accumulated = full batch"}
