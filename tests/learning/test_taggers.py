"""Taggers learn what only the words around tell; a tagger that sees one word at a time does not."""

import random
from pathlib import Path

import pytest

from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained


def sentence(chance: random.Random) -> str:
    """A "b" is named by the word before it, an "e" by the one after; the rest is always the same."""
    words, tags = [], []
    for _ in range(chance.randint(1, 3)):
        before, after = chance.choice("xy"), chance.choice("vw")
        words += [chance.choice(["cab", "dd"]), before, "b", "e", after]
        tags += ["REST", "REST", f"B{before}", f"E{after}", "REST"]
    return f"{' '.join(words)}\t{' '.join(tags)}"


def accuracy(folder: Path, kind: str, text: str = "word", steps: int = 120, **system: object) -> float:
    """Of sentences never seen. Four words in ten are ambiguous, so what knows no neighbours gets about 80 %."""
    files = {}
    for split, count in (("train", 1200), ("test", 200)):
        chance = random.Random(split)
        files[split] = lines_file(folder / f"{split}.tsv", [sentence(chance) for _ in range(count)])
    run = trained(
        folder,
        kind,
        {**files, "valid": files["test"]},
        text={"kind": text},
        system={"width": 24, "context": 47, **system},
        objective={"kind": "tagging"},
        train={"steps": steps, "batch_tokens": 700, "rate": 1e-2},
    )
    assert run.labels == ("Bx", "By", "Ev", "Ew", "REST")
    return evaluate([run])["accuracy"]


@pytest.mark.parametrize(("text", "steps"), [("char", 240), ("word", 120), ("bpe", 120)])
def test_the_recurrent_tagger_learns_what_neighbours_tell(tmp_path: Path, text: str, steps: int) -> None:
    assert accuracy(tmp_path, "rnn-encoder", text, steps, cell="lstm") >= 0.97


def test_the_window_tagger_does_too(tmp_path: Path) -> None:
    assert accuracy(tmp_path, "window-encoder", windows=[3]) >= 0.97


def test_attention_does_too(tmp_path: Path) -> None:
    assert accuracy(tmp_path, "bert", depth=2, heads=2) >= 0.97


def test_windows_of_one_word_cannot(tmp_path: Path) -> None:
    """The threshold above is not reached without the words around."""
    assert 0.75 < accuracy(tmp_path, "window-encoder", windows=[1]) < 0.85


def test_a_reader_of_what_came_before_cannot(tmp_path: Path) -> None:
    """A language model's body knows the word before, and not the one after."""
    assert 0.85 < accuracy(tmp_path, "rnn-lm", cell="lstm") < 0.95
