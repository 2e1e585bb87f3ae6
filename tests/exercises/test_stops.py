"""Errors as Python and torch raise them: which mistake each tells, and which tell none."""

from collections.abc import Callable

import pytest
import torch

from regard.exercises.judging import Stopped, answer
from regard.exercises.stops import STOPS, known_stop

X, ROWS, PAIR = torch.zeros(2, 3, 6), [[1, 2], [3, 4]], (1, 2)
ONE, WORD, BOTH = 2 / 2, "1", (0, 1)  # under names, for Python warns of literals

TOLD: dict[str, list[Callable[[], object]]] = {
    "a fraction for a size": [
        lambda: X.view(2, 3, 3, 6 / 3),
        lambda: X.permute(0, ONE, 2),
        lambda: torch.zeros(2, ONE),
        lambda: X.chunk(ONE, -1),
        lambda: X.split(ONE, -1),
        lambda: X.softmax(ONE),
        lambda: X[:, ONE],
        lambda: ROWS[ONE],
        lambda: PAIR[ONE],
        lambda: range(ONE),
    ],
    "no tensors to join": [
        lambda: torch.stack([0.5, 1.5]),
        lambda: torch.stack([1, 2]),
        lambda: torch.cat([X, [0.5]]),
        lambda: torch.stack([(X, X)]),
        lambda: torch.stack([None]),
    ],
    "two indices at once": [lambda: ROWS[BOTH], lambda: PAIR[BOTH], lambda: ROWS[(slice(None), 0)]],
    "bounds of a slice": [lambda: X[..., ONE:], lambda: ROWS[:ONE], lambda: ROWS[WORD:]],
    "values and indices": [lambda: X - X.max(-1), lambda: torch.cat([X.sort(-1)]), lambda: range(X.max(-1))],
    "view after transpose": [lambda: X.transpose(1, 2).view(2, 18)],
    "": [
        lambda: torch.exp(ONE),
        lambda: X.gather(1, ONE),
        lambda: X @ ONE,
        lambda: X.masked_fill(X, 0.0),
        lambda: torch.where(X, 1.0, 2.0),
        lambda: X.view(2, 3, 3, WORD),
        lambda: torch.stack(X),
        lambda: ROWS[WORD],
        lambda: ROWS[None],
        lambda: X[0, 0, 0, 0],
    ],
}


@pytest.mark.parametrize(
    ("mistake", "wrong"), [(mistake, wrong) for mistake, wrongs in TOLD.items() for wrong in wrongs]
)
def test_an_error_tells_its_mistake(mistake: str, wrong: Callable[[], object]) -> None:
    stopped = answer(wrong, ())
    assert isinstance(stopped, Stopped), "it stops at nothing"
    name, _ = known_stop(stopped.said) or ("", "")
    assert name == mistake, stopped.said


def test_every_mistake_that_an_error_tells_is_tried() -> None:
    assert {name for _, name, _ in STOPS} == set(TOLD) - {""}


def test_what_is_said_of_an_error_fits_a_line() -> None:
    assert not [hint for _, _, hint in STOPS if len(hint) > 120 or "\n" in hint or hint.endswith(".")]
