"""What is looked at where it is not tokens but mixes of them: names, layers that differ, and the page's numbers."""

import json
from pathlib import Path

import pytest

from regard.attention.compress import Compression, Projected, Strided
from regard.checkpoint import Run
from regard.explain import look_of_word, trace
from regard.explain.figures import parts
from regard.explain.picture import figure_of_word
from regard.explain.plain import to_json
from regard.explain.steps import walk
from tests.helpers import lines_file
from tests.learning.toys import trained

TEXT = "ab cd ef gh"


def run_with(folder: Path, kind: str, objective: str = "next-token", **system) -> Run:
    lines = lines_file(folder / "lines.txt", [TEXT, "ef cd ab"] * 9)
    sizes = {"width": 16, "heads": 2, "depth": 2, "context": 32, **system}
    return trained(
        folder,
        kind,
        {"train": lines, "valid": lines, "test": lines},
        text={"kind": "word"},
        system=sizes,
        objective={"kind": objective},
        train={"steps": 2, "batch_tokens": 64},
    )


def test_mixes_have_the_names_of_what_went_into_them() -> None:
    tokens = list("abcdefg")
    assert Compression().names(tokens) is None
    assert Strided(1, 4, 3).names(tokens) == ["a", "a b c", "d e f"]
    assert Projected(9, 2, shared=True).names(tokens) == ["mix 1: a … e", "mix 2: f g"]
    assert Projected(9, 4, shared=True).names(tokens) == ["mix 1: a b c", "mix 2: d e", "mix 3: f g"]
    assert Projected(9, 9, shared=True).names(tokens)[6:] == ["mix 7: g"]


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


def test_mixes_that_a_short_text_has_not_are_left_out(tmp_path: Path) -> None:
    """Of eight parts of four places each the text with its two symbols reaches two."""
    run = run_with(tmp_path, "bert", "masked", attention="linformer", projected=8)
    seen = trace(run, text=TEXT, scores=True)
    for each in seen.of("encoder"):
        assert each.keys == ("mix 1: <s> … ef", "mix 2: gh </s>")
        assert each.weights.shape == each.scores.shape == (2, 6, 2)
        assert (each.weights > 0).all() and abs(each.weights.sum(-1) - 1).max() < 1e-5
    assert [list(each["keys"]) for each in to_json(seen)["maps"]] == [list(each.keys) for each in seen.maps]
    assert walk(run, text=TEXT, word="ef").keys == ["mix 1: <s> … ef", "mix 2: gh </s>"]
    look = look_of_word(seen, "ef")
    assert look.weights.shape == (2, 2, 2) and not look.own, "no mix is the word itself"
    assert b"mix 2: gh &lt;/s&gt;" in figure_of_word(seen, "ef", "svg")
