"""ONNX: graphs with a cache that write what the run writes, whatever the batch and however it is padded."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor

from regard.checkpoint import Run, load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.errors import WorldError
from regard.interop import export_model
from regard.interop.onnx import Session
from regard.interop.onnx.checking import compare
from regard.place import Place
from tests.helpers import refused, same
from tests.interop.tiny import LINES, tiny

NEAR = {"rtol": 0, "atol": 1e-4}
LLAMA = {"position": "rotary", "normalizer": "rms", "feedforward": "swiglu", "bias": False, "tied": False}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "translator": ("transformer", {"position": "shaw", "farthest": 5, "norm": "post"}),
    "writer": ("gpt", {**LLAMA, "heads": 4, "groups": 2}),
    "labels": ("bert", {"objective": "classification", "labels": 3}),
}


@contextmanager
def unchecked() -> Iterator[None]:
    """Shapes are not held against their names while they are symbols: each comparison would become part of a graph."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Run, Path]]:
    """A run and its graphs, made when first asked for: tracing takes seconds."""
    folder, there = tmp_path_factory.mktemp("onnx"), {}

    def make(name: str) -> tuple[Run, Path]:
        if name not in there:
            kind, settings = CASES[name]
            tiny(folder / name, kind, depth=1, **settings)
            with unchecked():
                there[name] = export_model(folder / name, folder / f"{name}-onnx", to="onnx")
            assert there[name].compared.passed
            assert there[name].compared.difference > 0
        return load(folder / name), folder / f"{name}-onnx"

    return make


def rows_of(run: Run) -> list[list[int]]:
    return [run.tokenizer.encode(line)[:count] for line, count in zip(LINES, (13, 5, 9), strict=True)]


@pytest.mark.parametrize("name", ["translator", "writer"])
@torch.no_grad()
def test_a_past_of_any_length_gives_the_same_scores(name: str, made: Any) -> None:
    """At once, token by token and in pieces; padded on the left, on the right, and alone."""
    (run, folder), side = made(name), {}
    there, rows = Session(folder), rows_of(run)
    sources = [[*row[::-1], run.tokenizer.end] for row in rows]
    if name == "translator":
        side = there.read(sources)
    wanted = [decoded(run, row, source) for row, source in zip(rows, sources, strict=True)]
    longest = max(map(len, rows))
    for steps in ([longest], [1] * longest, [4, 1, longest - 5]):
        for left in (False, True):
            tokens, present = np.zeros((3, longest), np.int64), np.zeros((3, longest), bool)
            for i, row in enumerate(rows):
                where = slice(longest - len(row), None) if left else slice(0, len(row))
                tokens[i, where], present[i, where] = row, True
            parts, past, at = [], there.empty(3), 0
            for count in steps:
                here = slice(at, at + count)
                logits, past = there.step(tokens[:, here], present[:, here], past, side)
                parts, at = [*parts, logits], at + count
            found = torch.from_numpy(np.concatenate(parts, axis=1))
            for i, expected in enumerate(wanted):
                same(found[i][torch.from_numpy(present[i])], expected, **NEAR)


def decoded(run: Run, row: list[int], source: list[int]) -> Tensor:
    memory = run.model.encode(torch.tensor([source])) if run.model.reads_source else None
    return run.model.decode(torch.tensor([row]), memory)[0]


@pytest.mark.parametrize("name", ["translator", "writer"])
def test_the_runtime_writes_what_the_run_writes(name: str, made: Any) -> None:
    run, folder = made(name)
    there, rows = Session(folder), rows_of(run)
    given = {"sources": rows} if run.model.reads_source else {"prompts": rows}
    wanted = [row[0].tokens for row in generate(run.model, run.tokenizer, Decode(max_tokens=11), **given)]
    assert there.write(rows, 11) == wanted
    assert [there.write([row], 11)[0] for row in rows] == wanted
    assert there.cut(LINES) == [run.tokenizer.encode(line) for line in LINES]
    assert there.text(wanted[0]) == run.tokenizer.decode(wanted[0])


def test_it_ends_where_the_end_is_likeliest_and_at_the_limit(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run, folder = made("writer")
    there, rows = Session(folder), rows_of(run)
    free = there.write(rows, 11)
    there.symbols["end"] = free[1][3]
    ended = [row[: row.index(free[1][3])] if free[1][3] in row else row for row in free]
    assert ended == there.write(rows, 11)
    there.symbols["end"], there.about["ends"] = run.tokenizer.end, [free[1][3]]
    assert ended == there.write(rows, 11)
    there.about["ends"] = []
    there.about["never"] = [free[0][0]]
    assert there.write(rows, 11)[0][0] != free[0][0]
    there.about["limit"] = max(map(len, rows)) + 4  # and the start symbol
    assert there.write(rows, 11) != free
    assert max(map(len, there.write(rows, 11))) <= 4


@torch.no_grad()
def test_an_encoder_answers_the_same_and_knows_segments(made: Any) -> None:
    run, folder = made("labels")
    there, row = Session(folder), rows_of(run)[0]
    tokens = torch.tensor([[run.tokenizer.start, *row, run.tokenizer.end]])
    segments = (torch.arange(tokens.shape[1]) > 6).long()[None]
    at = Place(Place.line(tokens).index, segment=segments)
    given = {"tokens": tokens, "present": torch.ones_like(tokens, dtype=torch.bool), "segments": segments}
    vectors, answer = there.graphs["model"].run(None, {name: x.numpy() for name, x in given.items()})
    same(torch.from_numpy(vectors), run.model.embed(tokens, at), **NEAR)
    same(torch.from_numpy(answer), run.model.answer(tokens, at), **NEAR)
    assert not torch.allclose(torch.from_numpy(there.answer([row])["answer"]), torch.from_numpy(answer), atol=1e-3)
    assert there.about["labels"] == ["a", "b", "c"]


@pytest.mark.parametrize("name", CASES)
def test_the_settings_name_what_the_graphs_have(name: str, made: Any) -> None:
    run, folder = made(name)
    about, there = json.loads((folder / "config.json").read_text()), Session(folder)
    assert {f"{graph}.onnx" for graph in there.graphs} == about["graphs"].keys()
    for graph, session in there.graphs.items():
        named = about["graphs"][f"{graph}.onnx"]
        assert [each.name for each in session.get_inputs()] == named["inputs"]
        assert [each.name for each in session.get_outputs()] == named["outputs"]
        assert all(each.shape[0] == "batch" for each in session.get_inputs())
    assert about["vocabulary"] == len(run.tokenizer)


@pytest.mark.parametrize("name", CASES)
def test_a_model_that_says_something_else_is_seen(name: str, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run, folder = made(name)
    stack = run.model.encoder if name == "labels" else run.model.decoder
    with torch.no_grad():
        stack.blocks[0].attention.to_value.weight[3] += 0.1
    found = compare(run, folder)
    assert not found.passed
    assert found.difference > 3 * found.tolerance
    monkeypatch.setattr("regard.interop.exporting.WAYS", {"onnx": (lambda *_: "graph", lambda *_: found)})
    with refused("the export says something else than the run", WorldError):
        export_model(run.path, folder.parent / "wrong", to="onnx")
    assert not (folder.parent / "wrong").exists()


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("gpt", {"attention": "local", "block": 8}, "system.attention = 'local' is not exported to ONNX, only 'full'"),
        ("gpt", {"feedforward": "experts"}, "system.feedforward = 'experts' is not exported to ONNX"),
        ("bert", {"position": "syntax", "heads": 2}, "system.position = 'syntax' is not exported to ONNX"),
        ("seq2seq", {"width": 8}, "system.kind = 'seq2seq' is no Transformer"),
    ],
)
def test_what_has_no_graph_is_refused(kind: str, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    tiny(tmp_path / "run", kind, **settings)
    with refused(words):
        export_model(tmp_path / "run", tmp_path / "out", to="onnx")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("to", "package"), [("onnx", "onnxscript"), ("ct2", "ctranslate2")])
def test_without_the_library_it_says_what_to_install(
    to: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny(tmp_path / "run", "gpt")
    monkeypatch.setitem(sys.modules, package, None)
    with refused(f"this needs the package '{package}', which is not installed: pip install 'regard[export]'"):
        export_model(tmp_path / "run", tmp_path / "out", to=to)
