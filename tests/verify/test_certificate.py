"""The certificate of sound runs, and how it is asked for and told."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.checkpoint import Run, load, weights
from regard.recipe import read
from regard.tap import taps
from regard.train import train
from regard.train.loop import Trainer
from regard.verify import LINES, verify
from regard.verify.certificate import examine
from regard.verify.check import attentions
from regard.verify.inputs import make
from tests.helpers import refused

EXPORTED, RECURRENT = "exported = native", "fast = readable recurrence"
SLOW = ("compiled = eager",)


def states(run: Run) -> dict[str, str]:
    return {line.name: line.state for line in verify(run, skip=SLOW).lines}


def test_every_line_of_a_language_model_holds(language: Run) -> None:
    found = states(language)
    assert {found.pop(name) for name in (EXPORTED, RECURRENT)} == {"does not apply"}
    assert found == {name: "holds" for name in LINES if name not in (*SLOW, EXPORTED, RECURRENT)}


def test_every_line_of_a_recurrent_language_model_holds_but_those_of_attention(recurrent: Run) -> None:
    found = states(recurrent)
    attention = ("fast = readable attention", "recorded = fast", "packed = unpacked")
    assert {found.pop(name) for name in (EXPORTED, *attention)} == {"does not apply"}
    assert found.pop(RECURRENT) == "holds"
    assert set(found.values()) == {"holds"}


def test_every_line_of_a_translator_holds_but_nothing_is_packed(translator: Run) -> None:
    found = states(translator)
    assert {found.pop(name) for name in (EXPORTED, RECURRENT, "packed = unpacked")} == {"does not apply"}
    assert set(found.values()) == {"holds"}


@pytest.mark.slow
def test_compiled_equals_eager(translator: Run) -> None:
    """In a process of its own, where no shapes are checked: the compiler cannot trace the checker."""
    program = (
        "import sys; from regard.checkpoint import load; from regard.verify import verify; "
        f"(line,) = verify(load(sys.argv[1]), only={SLOW}).lines; print(line.state, line.why)"
    )
    command = [sys.executable, "-c", program, str(translator.path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "holds"


def test_nothing_is_compiled_without_a_compiler(language: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    (line,) = verify(language, only=SLOW).lines
    assert (line.state, "no C++ compiler (no-such-compiler)" in line.why) == ("does not apply", True)


def test_each_line_says_its_figures(run: Run) -> None:
    told = []
    certificate = verify(run, skip=SLOW, on_line=told.append)
    assert told == certificate.lines and certificate.passed and certificate.left_out == [*SLOW]
    assert certificate.inputs == "tokens/valid"
    for line in certificate.lines:
        if line.state == "holds":
            assert 0 <= line.difference <= line.tolerance and line.precision == "float32" and not line.why
            assert line.lengths or line.name == "resumed = uninterrupted"
        else:
            assert line.why and line.difference is None
    tree = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert [line["name"] for line in tree["lines"]] == [line.name for line in certificate.lines]


def test_an_exception_is_a_failure_that_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(run, inputs):
        raise RuntimeError("the cache is on fire")

    monkeypatch.setitem(LINES, "cached = full", broken)
    certificate = verify(run, only=("cached = full", "batch = single"))
    first, second = certificate.lines
    assert (first.state, first.why, second.state) == ("fails", "RuntimeError: the cache is on fire", "holds")
    assert not certificate.passed
    assert certificate.to_dict()["lines"][0]["difference"] is None


def test_a_result_that_is_no_number_fails(run: Run) -> None:
    with torch.no_grad():
        run.model.output.rows.weight.fill_(torch.nan)
    assert not verify(run, only=("batch = single",)).passed


def test_unknown_names_are_refused(language: Run) -> None:
    with refused("no line 'cached = ful' in the certificate; did you mean 'cached = full'?"):
        verify(language, only=("cached = ful",))
    with refused("no line 'zzz' in the certificate; known: cached = full, "):
        verify(language, skip=("zzz",))
    with refused("every line is left out"):
        verify(language, only=SLOW, skip=SLOW)


@pytest.mark.parametrize("breaks", [False, True])
def test_the_model_is_left_as_it_was(run: Run, breaks: bool) -> None:
    """Also by lines that fail: where it breaks, every attention raises in the middle of them."""
    model = run.model.train()
    model.decoder.blocks[0].eval()
    parts = attentions(model)
    if breaks:
        for part in parts.values():
            part.kernel = explode

    def settings() -> list:
        places = [part.kernel for part in parts.values()] + [tap.listener for tap in taps(model).values()]
        modes = [part.training for part in model.modules()]
        torch_wide = [torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()]
        return [places, modes, torch_wide, [parameter.grad for parameter in model.parameters()]]

    def tensors() -> list[torch.Tensor]:
        return [torch.get_rng_state(), *(tensor.detach().clone() for tensor in weights(model).values())]

    before, numbers = settings(), tensors()
    assert verify(run, skip=SLOW).passed != breaks
    assert settings() == before
    assert all(map(torch.equal, numbers, tensors()))


def explode(*inputs, **settings):
    raise RuntimeError("no attention today")


def test_the_run_folder_is_left_as_it_was(run: Run) -> None:
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    verify(run, skip=SLOW)
    assert before == {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def test_a_run_without_state_or_tokens_is_checked_on_the_lectures(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "imported", ignore=shutil.ignore_patterns("state", "tokens"))
    certificate = verify(load(tmp_path / "imported"), skip=SLOW)
    (resumed,) = [line for line in certificate.lines if line.name == "resumed = uninterrupted"]
    assert certificate.passed and certificate.inputs == "sentences of the lectures"
    assert (resumed.state, "no state/trainer.safetensors" in resumed.why) == ("does not apply", True)


@pytest.mark.parametrize(
    "average, limit", [("ema", "steps=7"), ("last", "max_tokens=700"), ("none", "max_seconds=0.01")]
)
def test_averages_and_every_end_are_resumed_too(language: Run, tmp_path: Path, average: str, limit: str) -> None:
    settings = [f'data.train="{language.recipe.data.train}"', "system.width=16", "system.depth=1", "system.context=23"]
    settings += ["train.steps=0", f"train.{limit}", "train.batch_tokens=92", "train.save_every=3", "train.device=cpu"]
    settings += [f"train.average={average}"]
    folder = train(read("gpt", settings), tmp_path / "run", quiet=True)
    (line,) = verify(load(folder), only=("resumed = uninterrupted",)).lines
    assert line.state == "holds", line.why


def test_ctrl_c_is_not_taken_for_a_failure(language: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    update = Trainer.update

    def interrupted(self, batch):
        signal.raise_signal(signal.SIGINT)
        return update(self, batch)

    monkeypatch.setattr(Trainer, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        examine("resumed = uninterrupted", language, make(language))
