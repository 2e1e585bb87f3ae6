"""What a text costs by its length: the fit, the memory, and children that die."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.attention.compress import Strided
from regard.attention.look import Look
from regard.data import IGNORE
from regard.lab import length
from regard.lab.length import exponent, markdown, measure, settings_of
from regard.lab.one_length import VOCABULARY, WAYS, model_of, objective_for, random_batch, recipe_of
from regard.lab.peak import RETURNING, peak
from tests.cli.shell import fine, in_terminal, refused

MB = 2**20
CPU = torch.device("cpu")
LINES: list[str] = []


@pytest.mark.parametrize("power", [0.0, 1.0, 1.7, 2.0])
def test_the_exponent_of_a_power_is_the_power(power: float) -> None:
    rows = [{"length": n, "seconds": 0.03 * n**power} for n in (1024, 2048, 3001, 8192)]
    assert exponent(rows, "seconds") == pytest.approx(power, abs=1e-9)


def test_the_exponent_is_the_line_of_least_squares() -> None:
    """Logarithms (0, 0), (1, 3), (2, 3): the slope is 3/2."""
    rows = [{"length": 2**x, "seconds": 2.0**y} for x, y in ((0, 0), (1, 3), (2, 3))]
    assert exponent(rows, "seconds") == pytest.approx(1.5)


def test_what_failed_or_was_not_measured_has_no_part_in_the_exponent() -> None:
    rows = [{"length": n, "peak_bytes": 7 * n} for n in (5, 11)]
    assert exponent([*rows, {"length": 13, "error": "out of memory"}], "peak_bytes") == pytest.approx(1.0)
    assert exponent(rows[:1], "peak_bytes") is None
    assert exponent([{"length": n, "peak_bytes": None} for n in (5, 11)], "peak_bytes") is None


def test_a_known_buffer_is_seen_and_an_older_peak_is_not() -> None:
    def work() -> None:
        torch.ones(200 * MB // 4)

    torch.ones(400 * MB // 4)
    assert peak(CPU, work) == pytest.approx(200 * MB, rel=0.05)
    assert peak(CPU, lambda: None) == pytest.approx(0, abs=5 * MB)


def test_many_small_buffers_are_seen_each_time() -> None:
    """As in a training step: 100 MB in pieces that an allocator would keep, after a warm-up that freed as many."""
    code = """
import torch
from regard.lab.peak import peak
work = lambda: [torch.ones(2**18) for _ in range(100)]
work()
print([peak(torch.device("cpu"), work) for _ in range(3)])
"""
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **RETURNING}, capture_output=True, check=True
    )
    assert json.loads(told.stdout) == pytest.approx([100 * MB] * 3, rel=0.05)


def test_the_formula_grows_quadratically_and_local_blocks_do_not(tmp_path: Path) -> None:
    words = ("--systems", "formula", "local", "--lengths", "1024", "256", "--repeats", "2", "--json")
    small = ("--set", "system.width=32", "--set", "system.depth=1", "--set", "system.block=16", "--device", "cpu")
    done = fine("bench", "length", *words, *small, "--out", tmp_path / "cost")
    table = {record["system"]: record for record in done.json}
    assert list(table) == ["formula", "local"]
    assert table["formula"]["exponent_memory"] > 1.5
    assert table["local"]["exponent_memory"] < 1.3
    for record in table.values():
        assert [row["length"] for row in record["rows"]] == [256, 1024]
        assert {(row["threads"], row["clock"]) for row in record["rows"]} == {(1, "processor")}
        assert all(row["seconds"] > row["forward_seconds"] > 0 for row in record["rows"])
        assert all(row["peak_bytes"] > row["forward_peak_bytes"] > 0 for row in record["rows"])
        assert {"exponent", "exponent_forward", "exponent_forward_memory"} <= record.keys()
    assert table["local"]["own"] == {"attention": "local", "block": 16}
    assert set(table["local"]["set"]) - set(table["formula"]["set"]) == {"system.block=16"}
    told = (tmp_path / "cost" / "length.md").read_text()
    assert "`system.width=32`; `system.depth=1`; `train.device=cpu`; `system.block=16` (local)." in told
    assert "- Ways of looking: formula: attention full; local: attention local, block 16.\n" in told
    assert "[4 of 4] local, 1,024 tokens" in done.err
    assert json.loads((tmp_path / "cost" / "length.json").read_text()) == done.json
    assert (tmp_path / "cost" / "length.png").read_bytes().startswith(b"\x89PNG")
    assert "formula" in (tmp_path / "cost" / "length.svg").read_text()
    assert "| local | 1,024 |" in (tmp_path / "cost" / "length.md").read_text()


def test_a_child_that_dies_is_told_and_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 GB of address space hold the weights of 64 tokens and not those of 32,768."""
    limited = f"ulimit -v 4000000; exec {sys.executable} -m regard.lab.one_length"
    monkeypatch.setattr(length, "CHILD", ("bash", "-c", limited))
    said: list[str] = []
    settings = ["train.threads=1", "train.device=cpu"]
    (record,) = measure(("formula",), settings, lengths=(64, 32768), repeats=1, say=said.append)
    small, large = record["rows"]
    assert small["seconds"] > 0
    assert large == {"length": 32768, "error": "out of memory"}
    assert record["exponent"] is None
    assert said[-1] == "formula, 32,768 tokens FAILED: out of memory"
    assert "| formula | 32,768 | out of memory |" in markdown([record])


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -9 $$", "killed, most likely for want of memory"),
        ("kill -11 $$", "was killed by signal 11 (Segmentation fault)"),
        ("echo one >&2; echo two >&2; exit 3", "ended with code 3: two"),
        ("echo 'RuntimeError: CUDA out of memory. Tried' >&2; exit 1", "out of memory"),
    ],
)
def test_how_a_child_ended_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, script: str, told: str) -> None:
    monkeypatch.setattr(length, "CHILD", ("bash", "-c", script))
    assert length.in_child("full", [], 5, 1) == {"length": 5, "error": told}


def test_a_failure_ends_the_command_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.cli import run

    monkeypatch.setattr(length, "CHILD", ("bash", "-c", "exit 3"))
    assert run(["bench", "length", "--systems", "full", "--lengths", "5", "7"]) == 1


def test_a_terminal_gets_tables_and_a_file_markdown() -> None:
    words = ("bench", "length", "--systems", "full", "--lengths", "5", "7", "--repeats", "1", "--device", "cpu")
    code, seen = in_terminal(*words, columns=100)
    assert code == 0
    assert "|" not in seen and "─" in seen and re.search(r"full +7 ", seen)
    assert "Memory is the peak above" in seen
    assert "| full | 7 |" in fine(*words).out


def test_all_layers_are_compressed_and_the_rest_is_as_in_full() -> None:
    settings = ["system.depth=3", "system.block=8"]
    layers = {
        name: [
            part.compress for part in model_of(name, recipe_of(name, settings, 31)).modules() if isinstance(part, Look)
        ]
        for name in ("compressed", "dmca")
    }
    assert [isinstance(part, Strided) for part in layers["compressed"]] == [True, True, True]
    assert [isinstance(part, Strided) for part in layers["dmca"]] == [False, True, False]


def test_the_formula_is_the_same_model_as_full() -> None:
    answers = []
    for name in ("full", "formula"):
        torch.manual_seed(0)
        model = model_of(name, recipe_of(name, [], 31)).eval()
        answers.append(model.answer(torch.arange(4, 35)[None]))
    torch.testing.assert_close(*answers)


@pytest.mark.parametrize(("name", "guessed"), [("bigbird", 15), ("gpt", 100), ("transformer-tiny", 64)])
def test_a_random_text_is_as_the_system_is_trained(name: str, guessed: int) -> None:
    model = model_of(name, recipe_of(name, ["system.block=8"] if name == "bigbird" else [], 100))
    batch = random_batch(model, 100)
    assert batch.count == int((batch.targets != IGNORE).sum()) == guessed
    read = batch.tokens if batch.source is None else batch.source
    assert read.shape == (1, 100)
    assert read.max() < VOCABULARY
    assert objective_for(model)(model, batch).count == guessed


def test_a_setting_of_some_ways_goes_to_those_that_have_it() -> None:
    names, settings = ["full", "local", "gpt"], ["system.block=8", "system.width=32", "train.rate=1e-3"]
    assert settings_of("local", names, settings) == settings
    assert settings_of("full", names, settings) == settings[1:]
    assert settings_of("gpt", names, settings) == settings, "a preset is told all, and refuses what it has not"
    assert settings_of("full", ["full"], settings) == settings, "what nobody has is refused"


def test_every_way_of_looking_has_a_name() -> None:
    assert set(WAYS) >= {"full", "bigbird", "linformer", "local", "dmca"}


@pytest.mark.parametrize(
    ("words", "because"),
    [
        ("lenght", "no measurement 'lenght'; did you mean 'length'?"),
        ("length --systems bigbrd", "no way of looking or preset 'bigbrd'; did you mean 'bigbird'?"),
        ("length --systems full bigbird --lengths 256 4096", "bigbird, 256 tokens: system.attention = 'bigbird' sees"),
        ("length --systems linformer --lengths 64 128", "linformer, 64 tokens: system.projected = 64 mixes of"),
        ("length --lengths 1 64", "--lengths 1: a text of at least 2 tokens is needed"),
        ("length --repeats 0", "--repeats 0: at least 1 is needed"),
        ("length --systems full --set system.block=8", "system.block = 8 changes nothing"),
        ("length --systems gpt --set system.attention=linformer --set system.projected=8", "a decoder cannot use it"),
        ("length --systems word2vec", "there is no training step to measure"),
        ("length --systems syntax", "'syntax' reads trees, and random tokens have none"),
        ("length --systems full --set system.position=syntax", "'full' reads trees"),
        ("length --systems full --set system.kind=gpt", "'full' is the bert with attention 'full'"),
        ("length --systems bigbird --set system.attention=full", "'bigbird' is the bert with attention 'bigbird'"),
        ("length --systems gpt --set system.context=64", "give it with --lengths"),
        ("length --systems full --set objective.share=0.5", "--set objective.share=0.5 changes nothing"),
        ("length --systems full --set data.train=recall", "changes nothing: random tokens are read"),
        ("length --systems gpt --set text.vocabulary=99", "changes nothing"),
        ("length --systems gpt --set decode.beam=2", "changes nothing"),
        ("length --systems full --set train.batch_tokens=64", "--set train.batch_tokens=64 changes nothing"),
        ("length --systems full --set train.steps=5", "train.device, precision, threads"),
        ("length --systems full --set system={kind='gpt'}", "as system.key=value"),
        ("length --systems full --set train.stps=5", "no setting 'stps'; did you mean 'steps'?"),
        ("length --device cuda:77", "no such device: 'cuda:77'"),
        ("step --lengths 64", "--lengths belongs to 'bench length'; 'step' has no use for it"),
        ("step --threads 0", "--threads belongs to 'bench length'"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_measured(words: str, because: str) -> None:
    refused("bench", *words.split(), because=because)
