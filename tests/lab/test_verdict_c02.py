"""C2: windows recall what their layers reach, and the verdict follows from what is recalled from where."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.lab.claims import c02, experiment
from regard.lab.claims.c02 import ATTENTION, LSTM, RNN, WINDOWS
from regard.lab.claims.distances import FAR, posed, recalled
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.figure import picture
from regard.lab.claims.panels import LIGHT
from regard.lab.claims.trial import Trial
from regard.recipe import Train
from regard.train.run import settle

ONE, THREE = WINDOWS
NEAR, OUTSIDE = 4, 10  # steps back; one layer sees six
LEARNT = "system.width=32", "train.steps=200", "train.batch_tokens=1024", "train.warmup=20", "train.rate=5e-3"


@pytest.mark.parametrize("layers, reaches", [(1, False), (2, True)])
def test_a_second_layer_of_windows_reaches_twice_as_far(tmp_path: Path, monkeypatch, layers: int, reaches: bool):
    monkeypatch.setattr(c02, "FAR", (NEAR, OUTSIDE))
    settle(Train(threads=1, deterministic=True))
    made = replace(experiment("C2"), small=Size(1, *LEARNT, rows=100))
    arm = made.whole(Arm("window-lm", "system.window=7", f"system.depth={layers}"), "small")
    rows = made.measure(Trial(made.small, "cpu", tmp_path, {ONE: arm}, (0,)))
    reached = [(row["distance"], row["steps"]) for row in rows if "steps" in row]
    assert reached == [(NEAR, layers), (OUTSIDE, layers)][: 1 + reaches], "no steps where the digit is never reached"
    assert [row["gradient"] > 1e-9 for row in rows if "gradient" in row] == [True, reaches]
    found = Found([{"arm": ONE, "seed": 0, **row} for row in rows])
    assert c02.within(found, ONE, 1) == (not reaches)
    assert c02.within(found, ONE, 2) == reaches


def rows(**recall: tuple[float, ...]) -> list[dict]:
    """As if measured: of 100 digits, by distance."""
    found = {RNN: (100, 20, 9, 8), LSTM: (100, 90, 60, 30), ONE: (99, 8, 9, 8), THREE: (99, 98, 9, 8)}
    found |= {ATTENTION: (100, 100, 100, 98), **recall}
    return [
        {"arm": arm, "seed": 0, "distance": far, "recall": share, "steps": far + 1}
        for arm, shares in found.items()
        for far, share in zip(FAR, shares, strict=True)
    ]


@pytest.mark.parametrize(
    "changed, verdict",
    [
        ({}, TRUE),
        ({RNN: (100, 100, 90, 60)}, NOT),
        ({RNN: (10, 10, 9, 8)}, NOT),  # it has learnt nothing at all
        ({ATTENTION: (100, 100, 100, 80)}, NOT),
        ({LSTM: (100, 100, 100, 95)}, HALF),
        ({ONE: (99, 80, 9, 8)}, HALF),
        ({THREE: (99, 40, 9, 8)}, HALF),
    ],
)
def test_the_verdict_follows_from_what_is_recalled_from_where(changed: dict, verdict: str) -> None:
    assert judged(experiment("C2"), rows(**changed)).word == verdict


def test_the_sentence_names_the_worst_recall_within_the_reach_of_windows() -> None:
    told = judged(experiment("C2"), rows() + [{**row, "seed": 1} for row in rows(**{THREE: (99, 40, 9, 8)})]).sentence
    assert f"from within their reach at worst 99 ({ONE}: 6 steps) and 40 ({THREE}: 18 steps)" in told


def test_a_digit_that_is_never_reached_takes_no_number_of_steps() -> None:
    found = [row for row in rows() if row["arm"] != ONE or row["distance"] <= NEAR]
    far = [{key: value for key, value in row.items() if key != "steps"} for row in rows() if row not in found]
    verdict = judged(experiment("C2"), found + far)
    assert f"{ONE} 8 (never reached); {THREE} 8 (after 257 steps)" in verdict.sentence
    results = {"rows": found + far, "seeds": [0], "claim": "so", "sentence": verdict.sentence, "left_out": {}}
    assert picture(experiment("C2"), results, "png", LIGHT)


def test_what_is_said_after_a_row_is_counted_where_it_is_its_digit():
    """One who says the second token of a row is always right, one who says the third never."""

    def run(place: int) -> Any:
        words = SimpleNamespace(start=40, end=41, encode=lambda text: [int(word, 36) for word in text.split()])
        model = SimpleNamespace(
            device=torch.device("cpu"),
            hidden=lambda texts: torch.eye(42)[texts[:, place]][:, None].expand(-1, texts.shape[1], -1),
            logits=lambda vectors: vectors,
        )
        return SimpleNamespace(tokenizer=words, model=model)

    texts, digits = posed(run(1), 6, 7)
    assert texts.shape == (7, 8)  # start, digit, five letters, end
    assert torch.equal(texts[:, 1], digits)
    assert [recalled(run(place), 6, 50) for place in (1, 2)] == [100, 0]
