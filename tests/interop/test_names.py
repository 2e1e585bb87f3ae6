"""Names of tensors: one spelling each, what is tied, what is new, and what a line without a place says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.checkpoint import load
from regard.interop import import_model
from regard.interop.checking import compare
from regard.interop.names import Line, Table, translated
from tests.helpers import refused, same
from tests.interop.cases import CASES

TABLE = Table(
    (Line("model.a", "one"), Line("model.b", "two")),
    "one.weight",
    tied={"head.weight": "model.a.weight"},
    prefix="model.",
    old={"gamma": "weight"},
)
SHAPES = {"one.weight": (2, 3), "two.weight": (5,)}
A, B = torch.arange(6.0).view(2, 3), torch.arange(5.0)


def changed(folder: Path, **tensors: Any) -> Path:
    """A folder of which some tensors are others, or gone."""
    path = folder / "model.safetensors"
    found = {**load_file(path), **{name.replace("__", "."): tensor for name, tensor in tensors.items()}}
    save_file({name: tensor for name, tensor in found.items() if tensor is not None}, path)
    return folder


def test_each_tensor_by_any_of_its_names() -> None:
    for given in ({"model.a.weight": A, "b.gamma": B}, {"a.gamma": A, "model.b.weight": B}):
        found = translated(TABLE, given, SHAPES, "file")
        same(found["one.weight"], A)
        same(found["two.weight"], B)


@pytest.mark.parametrize("other", ["a.weight", "a.gamma", "model.a.gamma"])
def test_two_names_of_one_tensor_that_differ_stop(other: str) -> None:
    for given in ({"model.a.weight": A, other: A + 1}, {other: A + 1, "model.a.weight": A}):
        with refused("file: 'model.a.weight' is there twice, as '"):
            translated(TABLE, {**given, "b.weight": B}, SHAPES, "file")
    found = translated(TABLE, {"model.a.weight": A, other: A.clone(), "b.weight": B}, SHAPES, "file")
    same(found["one.weight"], A)


def test_what_is_tied_and_differs_stops_unless_it_is_allowed() -> None:
    given = {"model.a.weight": A, "b.weight": B, "head.weight": A + 1}
    words = (
        "file: 'head.weight' differs from 'model.a.weight', and here they are one; '--allow head.weight' leaves it out"
    )
    with refused(words):
        translated(TABLE, given, SHAPES, "file")
    same(translated(TABLE, given, SHAPES, "file", allowed=("head.*",))["one.weight"], A)


def test_what_is_missing_and_what_is_unused_are_told_apart() -> None:
    with refused("file: tensor 'model.b.weight' is missing; '--allow PATTERN' goes on with a new one, never trained"):
        translated(TABLE, {"a.weight": A}, SHAPES, "file")
    given = {"a.weight": A, "b.weight": B, "c.weight": B}
    with refused("file: tensor 'c.weight' is unused; '--allow PATTERN' goes on without"):
        translated(TABLE, given, SHAPES, "file")
    with refused("file: tensor 'c.weight' is unused: nobody knows c; '--allow PATTERN' goes on without"):
        translated(TABLE, given, SHAPES, "file", why="nobody knows c")


@pytest.mark.parametrize("kind", [torch.int8, torch.int64, torch.bool, torch.complex64])
def test_only_real_numbers_are_weights(kind: torch.dtype) -> None:
    with refused(f"file: 'model.b.weight' is of {kind}: quantised weights are not supported; give the model as it was"):
        translated(TABLE, {"a.weight": A, "b.weight": B.to(kind)}, SHAPES, "file")


def test_a_file_with_two_word_tables_stops(tmp_path: Path) -> None:
    CASES["gpt2"].write(tmp_path / "there")
    rows = load_file(tmp_path / "there" / "model.safetensors")["transformer.wte.weight"]
    changed(tmp_path / "there", wte__weight=rows + 1)
    with refused("model.safetensors: 'transformer.wte.weight' is there twice, as 'transformer.wte.weight' and 'wte.w"):
        import_model(tmp_path / "there", tmp_path / "run")


@pytest.mark.parametrize(("case", "kind"), [("bart", "BartModel"), ("marian", "MarianModel"), ("t5", "T5Model")])
@torch.no_grad()
def test_a_translator_that_was_saved_without_its_head(case: str, kind: str, tmp_path: Path) -> None:
    """Its names begin otherwise; what it writes with are the word vectors."""
    theirs = replace(CASES[case], kind=kind, also=lambda model: None).write(tmp_path / "there")
    names = {*load_file(tmp_path / "there" / "model.safetensors")}
    assert "shared.weight" in names and "model.shared.weight" not in names
    import_model(tmp_path / "there", tmp_path / "run")
    run, tokens = load(tmp_path / "run"), torch.randint(5, 30, (2, 7), generator=torch.Generator().manual_seed(3))
    vectors = theirs(input_ids=tokens, decoder_input_ids=tokens).last_hidden_state
    if case == "t5":
        vectors = vectors * run.model.width**-0.5
    wanted = vectors @ theirs.shared.weight.T
    same(run.model.decode(tokens, run.model.encode(tokens)), wanted, rtol=0, atol=1e-4)
    assert compare(run, tmp_path / "there").passed


def test_what_is_new_is_told_and_the_same_every_time(tmp_path: Path) -> None:
    CASES["gpt2"].write(tmp_path / "there")
    changed(tmp_path / "there", transformer__h__1__mlp__c_fc__weight=None)
    found, drawn = [], torch.get_rng_state()
    for number in range(2):
        torch.manual_seed(number)
        found.append(import_model(tmp_path / "there", tmp_path / f"run{number}", allow=("*.mlp.c_fc.*",)))
    torch.set_rng_state(drawn)
    assert found[0].about["content"] == found[1].about["content"]
    assert found[0].model.decoder.blocks[1].feedforward.widen.weight.std() > 0
    told = "tensor 'transformer.h.1.mlp.c_fc.weight' is new: nothing has trained it"
    assert found[0].about["remarks"] == [told]


def test_importing_leaves_chance_as_it_was(tmp_path: Path) -> None:
    CASES["gpt2"].write(tmp_path / "there")
    before = torch.get_rng_state()
    import_model(tmp_path / "there", tmp_path / "run")
    assert torch.equal(torch.get_rng_state(), before)
