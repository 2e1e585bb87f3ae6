"""Taggers are compared by the share of words that get their tag, over sentences drawn again."""

import random
from pathlib import Path

import pytest

from regard.evaluate import cost
from regard.lab.bootstrap import statistics
from regard.lab.compare import compare
from regard.lab.plan import Budget
from tests.helpers import lines_file

SYSTEMS = {"both-ways": 'kind = "rnn-encoder"', "one-word": 'kind = "window-encoder"\nwindows = [1]'}
RECIPE = """[data]
train = "{data}"
[text]
kind = "word"
[system]
{system}
width = 16
dropout = 0.0
[objective]
kind = "tagging"
[train]
steps = 60
batch_tokens = 300
rate = 0.02
warmup = 5
device = "cpu"
threads = 1
"""


def test_words_are_counted_whatever_the_length_of_their_sentence() -> None:
    kept = {"hypothesis": [["N", "V"], ["D"], ["D", "N", "N"]], "reference": [["N", "N"], ["D"], ["D", "V", "N"]]}
    score, numbers = statistics(kept) or pytest.fail("nothing found")
    assert numbers.tolist() == [[1, 2], [1, 1], [2, 3]]
    assert score.name == "accuracy" and score.of(numbers.sum(0)) == pytest.approx(4 / 6)


def test_taggers_are_ranked_by_accuracy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tag of a b is told by the word before it, so one word at a time gets half of them."""
    monkeypatch.setattr(cost, "LONG_ENOUGH", 0.01)
    monkeypatch.setitem(cost.SIZES, "cpu", 64)
    chance, lines = random.Random(5), []
    for _ in range(400):
        words = [chance.choice(("x b", "y b", "a")) for _ in range(chance.randint(1, 4))]
        tags = [{"x b": "O B-x", "y b": "O B-y", "a": "O"}[each] for each in words]
        lines.append(f"{' '.join(words)}\t{' '.join(tags)}")
    data = lines_file(tmp_path / "tagged.tsv", lines)
    recipes = []
    for name, system in SYSTEMS.items():
        recipes.append(lines_file(tmp_path / f"{name}.toml", [RECIPE.format(data=data, system=system)]))
    found = compare(recipes, [], out=tmp_path / "out", seeds=1, budget=Budget("tokens", 17_000), sweep="none")
    members = {each["member"]: each for each in found["members"]}
    best, other = members["both-ways"], members["one-word"]
    assert best["best"] and best["figures"]["accuracy"]["mean"] > 0.97 > 0.9 > other["figures"]["accuracy"]["mean"]
    assert other["against_best"]["score"] == "accuracy" and other["against_best"]["p"] < 0.05
    assert {"span_f1", "f1", "loss"} <= best["figures"].keys()
    assert not {"words", "sentences", "spans", "new_words", "baseline"} & best["figures"].keys()
    assert "accuracy" in (tmp_path / "out" / "table.md").read_text()
