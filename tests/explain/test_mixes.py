"""What is looked at where it is not tokens but mixes of them: names, layers that differ, and the page's numbers."""

import json
from pathlib import Path

import pytest

from regard.attention.compress import Compression, Projected, Strided
from regard.checkpoint import Run
from regard.explain import look_of_word, trace
from regard.explain.figures import parts
from regard.explain.plain import to_json
from regard.explain.steps import walk
from tests.helpers import lines_file
from tests.learning.toys import trained

TEXT = "ab cd ef gh"


def run_with(folder: Path, kind: str, **system) -> Run:
    lines = lines_file(folder / "lines.txt", [TEXT, "ef cd ab"] * 9)
    sizes = {"width": 16, "heads": 2, "depth": 2, "context": 32, **system}
    return trained(
        folder,
        kind,
        {"train": lines, "valid": lines, "test": lines},
        text={"kind": "word"},
        system=sizes,
        train={"steps": 2, "batch_tokens": 64},
    )


def test_mixes_have_the_names_of_what_went_into_them() -> None:
    tokens = list("abcdefg")
    assert Compression().names(tokens) is None
    assert Strided(1, 4, 3).names(tokens) == ["a", "a b c", "d e f"]
    assert Projected(9, 2, shared=True).names(tokens) == ["mix 1", "mix 2"]


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(tmp_path_factory.mktemp("run"), "gpt", attention="dmca", block=2, stride=2)


def test_layers_that_look_at_other_things_stand_apart(compressed: Run) -> None:
    seen = trace(compressed, text=TEXT)
    local, mixed = seen.of("decoder")
    assert local.keys is None
    assert mixed.keys == ("<s>", "<s> ab", "cd ef")
    assert mixed.weights.shape[2] == 3
    assert [part.heading for part in parts(seen)] == [
        "Decoder: each token looks at blocks of itself and those before it",
        "Decoder: each token looks at mixes of itself and those before it",
    ]
    assert look_of_word(seen, "ef").weights.shape[0] == 1, "the layer whose keys are tokens"
    written = json.loads(json.dumps(to_json(seen)))["maps"]
    assert [each.get("keys") for each in written] == [None, ["<s>", "<s> ab", "cd ef"]]


def test_the_steps_of_a_word_name_the_mixes_it_sees(compressed: Run) -> None:
    assert walk(compressed, text=TEXT, word="ef", layer=1).keys == ["<s>", "<s> ab", "cd ef"]
    assert walk(compressed, text=TEXT, word="ab", layer=1).keys == ["<s>", "<s> ab"]
