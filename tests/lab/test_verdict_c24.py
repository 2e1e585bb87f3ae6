"""C24: a mask that lets a token see the next one makes one pass differ from its prefixes, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.lab.claims import experiment
from regard.lab.claims.c24 import ONCE, OPEN, PREFIXES, away, dearer
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = "system.width=12", "system.heads=3", "system.depth=2", "system.context=31", "train.steps=5"


@pytest.mark.parametrize("mistake, verdicts", [("", (TRUE, HALF)), ("mask off by one", (NOT,))])
def test_the_mask_makes_both_the_same(tmp_path: Path, mistake: str, verdicts: tuple[str, ...]) -> None:
    made = experiment("C24")
    arms = {name: Arm("gpt", mistake=mistake) for name in made.arms}
    changed = replace(made, arms=arms, small=Size(5, *TINY, lengths=(3, 29)))
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert of("gradient", PREFIXES) == of("losses", PREFIXES) == 0
    # a prefix of n tokens is n times as much as one of 1: (1 + ... + 29) / 29, and attention's share more than that
    assert 13 < of("gflop", PREFIXES, length=29) / of("gflop", ONCE, length=29) < 29
    assert of("gradient", OPEN, length=29) > 0.01


def test_what_is_off_is_a_share_of_the_largest():
    assert away(torch.tensor([1.0, -3.0]), torch.tensor([2.0, -4.0])) == 0.25
    assert away(torch.tensor([2.0, -4.0]), torch.tensor([2.0, -4.0])) == 0


def rows(slow: float, off: float, unmasked: float = 0.5) -> list[dict]:
    """As if measured: prefixes of 8 and 256 tokens, `slow` times as dear for the longest; without the mask the shortest
    is `unmasked` away."""
    found = []
    for length, times, far in ((8, 2.0, unmasked), (256, slow, 0.5)):
        for arm, ms, wrong in ((ONCE, 1.0, off), (PREFIXES, times, 0.0), (OPEN, 1.0, far)):
            found.append(
                {"arm": arm, "seed": 0, "length": length, "ms": ms, "gflop": ms, "losses": wrong, "gradient": wrong}
            )
    return found


@pytest.mark.parametrize("slow, off, verdict", [(30.0, 1e-6, TRUE), (7.0, 1e-6, HALF), (30.0, 0.01, NOT)])
def test_the_verdict_follows_from_what_is_saved_and_what_is_off(slow: float, off: float, verdict: str) -> None:
    assert judged(experiment("C24"), rows(slow, off)).word == verdict
    assert dearer(Found(rows(slow, off)), "ms") == (2.0, slow)
    assert f"differ by at most {off:.0e} of the largest" in judged(experiment("C24"), rows(slow, off)).sentence


def test_without_the_mask_every_length_must_differ():
    assert judged(experiment("C24"), rows(30.0, 1e-6, unmasked=0.05)).word == NOT
