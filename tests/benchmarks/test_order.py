"""The script that measures order and length: what differs, what is told of it, and that nothing is measured twice."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import order as script
import order_data as data
import pytest

from regard.attention.schemes import POSITIONS
from regard.recipe import Recipe
from regard.systems import built, parameters
from regard.systems.long import ATTENTIONS
from regard.train.run import check

EVERY = [(name, variant) for name, table in script.TABLES.items() for variant in table.variants]
TINY = {"width": 16, "heads": 2, "hidden": 16, "depth": 1}


def result(table: str, variant: str, seed: int, *values: float | None) -> dict:
    made = script.TABLES[table]
    columns = dict(zip(made.tests, values, strict=True))
    told = {made.score: columns, "baseline": {column: value and 0.125 for column, value in columns.items()}}
    return {"plan": script.plan(table, variant, seed, {}), **told, "parameters": 1234, "train_seconds": 2.0}


def test_every_attention_and_every_position_has_its_row() -> None:
    assert set(script.TABLES["recall"].variants) == set(script.TABLES["lists"].variants) == set(ATTENTIONS)
    rows = {name for name in POSITIONS if name != "syntax" and "-" not in name}  # trees, and sinusoids of others
    for name in ("recall-positions", "lists-positions", "text", "before"):
        assert set(script.TABLES[name].variants) == rows
    assert set(script.TABLES["above"].variants) == {"shaw", "syntax"}, "with trees and without"


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_training_can_begin_and_differs_from_others_in_one_setting(name: str, variant: str) -> None:
    made, first = (script.plan(name, one, 7, {}) for one in (variant, next(iter(script.TABLES[name].variants))))
    for stage, other in zip(made["stages"], first["stages"], strict=True):
        recipe = Recipe.parse(stage, where="order.py")
        check(recipe)
        assert (recipe.seed, recipe.train.threads) == (7, 1)
        own = script.TABLES[name].variants[variant]
        assert {**stage, "system": None} == {**other, "system": None}
        assert {key for key, value in stage["system"].items() if other["system"].get(key) != value} <= set(own)


@pytest.mark.parametrize("name", script.TABLES)
def test_rows_of_a_table_are_about_equal_in_size(name: str) -> None:
    """Attention to long texts and schemes of positions add a few weights: no row has a tenth more than another, but for
    trees, which are mixed into every word by a matrix."""
    sizes = []
    for variant in script.TABLES[name].variants:
        recipe = Recipe.parse(script.plan(name, variant, 0, {})["stages"][0], where="order.py")
        sizes.append(parameters(built(recipe.system, 90, 10, recipe.objective.head)))
    assert max(sizes) < (1.2 if "syntax" in script.TABLES[name].variants else 1.1) * min(sizes)


def test_the_letter_before_is_the_tag(tmp_path: Path) -> None:
    data.write_data(tmp_path)
    for name, lengths in (("train", set(range(4, 17))), ("16", {16}), ("64", {64})):
        head, *lines = (tmp_path / f"before-{name}.tsv").read_text().splitlines()
        assert head == "words\ttags"
        rows = [[cell.split() for cell in line.split("\t")] for line in lines]
        assert {len(words) for words, _ in rows} == lengths
        for words, tags in rows:
            assert tags == ["-", *words[:-1]]
    sizes = {split: len((tmp_path / f"text-{split}.txt").read_text()) for split in data.CHARACTERS}
    assert sizes == data.CHARACTERS


def test_a_letter_follows_on_the_one_it_hangs_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SENTENCES", {"train": 70, "valid": 5, "test": 5})
    data.write_data(tmp_path)
    for name, lengths, count in (("train", set(range(4, 17)), 70), ("16", {16}, 5), ("64", {64}, 5)):
        head, *lines = (tmp_path / f"above-{name}.tsv").read_text().splitlines()
        assert (head, len(lines)) == ("words\theads", count)
        rows = [[cell.split() for cell in line.split("\t")] for line in lines]
        assert {len(words) for words, _ in rows} == lengths
        for words, heads in rows:
            assert heads.count("0") == 1
            for word, above in zip(words, map(int, heads), strict=True):
                follows = (data.ALPHABET.index(words[above - 1]) + 1) % len(data.ALPHABET)
                assert above == 0 or data.ALPHABET.index(word) == follows


def test_tables_tell_mean_and_spread_and_what_cannot_be() -> None:
    results = [result("before", "rotary", seed, 1.0, 0.5 + seed / 10, 0.5, 0.25) for seed in (0, 1, 2)]
    results += [result("before", "learned", 0, 1.0, None, None, None)]
    results += [result("text", "alibi", seed, 1.5, 1.5, 1.5, 1.25 + seed) for seed in (0, 1)]
    lines = script.markdown(results).splitlines()
    assert "| `rotary` | 100.0 ± 0.0 | 60.0 ± 10.0 | 50.0 ± 0.0 | 25.0 ± 0.0 | 3 | 1,234 | 2 |" in lines
    assert "| `learned` | 100.0 | cannot | cannot | cannot | 1 | 1,234 | 2 |" in lines
    assert "| the commonest answer | 12.5 | 12.5 | 12.5 | 12.5 |  |  |  |" in lines
    assert "| `alibi` | 1.500 ± 0.000 | 1.500 ± 0.000 | 1.500 ± 0.000 | 1.750 ± 0.707 | 2 | 1,234 | 2 |" in lines
    assert sum("the commonest answer" in line for line in lines) == 1, "a loss has none"


def test_it_is_a_command_and_measures_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for name in ("recall", "before"):
        table = script.TABLES[name]
        monkeypatch.setitem(script.TABLES, name, replace(table, system={**table.system, **TINY}))
    monkeypatch.setattr(data, "CHARACTERS", {"train": 100, "valid": 10, "test": 10})
    monkeypatch.setattr(data, "SENTENCES", {"train": 10, "valid": 10, "test": 10})
    words = ["--tables", "recall", "before", "--variants", "learned", "linformer", "--seeds", "3", "--steps", "2"]
    monkeypatch.setattr(sys, "argv", ["order.py", *words, "--out", str(tmp_path)])
    script.main()
    told = capsys.readouterr().out
    assert told.count("cannot") == 3, "learned places are not there for longer rows"
    assert (tmp_path / "order.md").read_text() + "\n" == told
    results = json.loads((tmp_path / "results.json").read_text())
    assert [(each["plan"]["variant"], each["plan"]["seed"]) for each in results] == [("linformer", 3), ("learned", 3)]
    assert [stage["train"]["steps"] for stage in results[0]["plan"]["stages"]] == [2, 2]

    monkeypatch.setattr(script, "measure", lambda plan, folder: pytest.fail("measured again"))
    script.main()
    assert capsys.readouterr().out == told


def test_a_table_without_the_variants_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["order.py", "--tables", "recall", "before", "--variants", "alibi"])
    made = list(script.plans(script.arguments()))
    assert {each["table"] for each in made} == {"before"}
    assert capsys.readouterr().err == "recall is left out: it has none of --variants\n"
