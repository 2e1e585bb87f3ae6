"""C20: the table is judged row by row, and a tiny one is really made: each reads its part of the same documents."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard.evaluate import cost
from regard.lab.claims import experiment
from regard.lab.claims.c20 import BOTH, DECODER, EXPERTS, LONG, RECURRENT, ROWS, cut, written
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Trial

PERPLEXITY = {RECURRENT: 5.05, BOTH: 2.47, DECODER: 2.22, LONG: 2.05, EXPERTS: 1.87}  # as the lectures have them
ROUGE = {RECURRENT: 12.7, BOTH: 34.2, DECODER: 33.6, LONG: 36.2, EXPERTS: 37.9}
TINY = Size(
    *(5, "system.width=16", "train.batch_tokens=300"),
    shorter=100,
    words=60,
    documents=60,
    tests=3,
    tokens=700,
    jobs=1,
    depth=2,
    apart=100,
)


def table(perplexity: dict[str, float], rouge: dict[str, float]) -> list[dict]:
    return [{"arm": arm, "seed": 0, "perplexity": perplexity[arm], "rouge": rouge[arm], "reads": 9} for arm in ROWS]


@pytest.mark.parametrize(
    "perplexity, rouge, verdict",
    [
        (PERPLEXITY, ROUGE, TRUE),
        (PERPLEXITY, {**ROUGE, DECODER: 34.5}, HALF),
        ({**PERPLEXITY, LONG: 2.3}, ROUGE, HALF),
        ({**PERPLEXITY, EXPERTS: 5.0}, ROUGE, NOT),
        (PERPLEXITY, {**ROUGE, EXPERTS: 14.0}, NOT),
    ],
)
def test_every_row_decides(perplexity, rouge, verdict) -> None:
    assert judged(experiment("C20"), table(perplexity, rouge)).word == verdict


def test_a_beginning_is_words_and_marks() -> None:
    assert cut("Ada wrote, and read.", 3) == "Ada wrote,"
    assert cut("Ada wrote, and read.", 6) == "Ada wrote, and read."
    assert cut("Ada wrote, and read.", 99) == cut("Ada wrote, and read.", 0) == "Ada wrote, and read."


def test_all_sum_up_the_same_documents(tmp_path: Path) -> None:
    trial = Trial(TINY, "cpu", tmp_path, {}, (0,))
    for name, most in {"beginnings": 5, "documents": 0}.items():
        written(trial, name, most)
    for split in ("train", "valid", "test"):
        short, whole = (
            [json.loads(line) for line in (tmp_path / name / f"{split}.jsonl").read_text().splitlines()]
            for name in ("beginnings", "documents")
        )
        assert [row["target"] for row in short] == [row["target"] for row in whole]
        assert all(b["source"].startswith(a["source"]) for a, b in zip(short, whole, strict=True))
        assert {len(cut(row["source"], 5)) for row in short} == {len(row["source"]) for row in short}
    assert len(whole) == 3
    assert all(50 <= len(row["source"].split()) <= 60 for row in whole)


def test_the_table_is_really_made(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(cost, "LONG_ENOUGH", 0.01)
    monkeypatch.setitem(cost.SIZES, "cpu", 64)
    changed = replace(experiment("C20"), small=TINY)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert [row["arm"] for row in found["rows"]] == list(ROWS)
    of = Found(found["rows"])
    assert [of("reads", arm) for arm in ROWS] == [5, 5, 40, 110, 75]
    assert len({row["perplexity"] for row in found["rows"]}) == 5
    assert of("millions", EXPERTS) > of("millions", LONG)
    assert of("scored", RECURRENT) == of("scored", EXPERTS)  # tokens of summaries: both cut them alike


@pytest.mark.parametrize("size", ["small", "full"])
def test_all_are_trained_for_the_same_loss(size: str, tmp_path: Path) -> None:
    each = experiment("C20")
    trial = Trial(each.at(size), "cpu", tmp_path, {}, (0,))
    recipes = [trial.recipe(arm=each.whole(arm, size)) for arm in each.arms.values()]
    assert {recipe.to_dict()["objective"]["smoothing"] for recipe in recipes} == {0.0}
