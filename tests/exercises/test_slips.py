"""Mistakes as students write them are called by their names, each of them alone."""

import math
from textwrap import indent

import pytest
import torch

from regard.exercises.exercise import Function
from regard.exercises.judging import judge
from regard.exercises.stops import STOPS
from regard.exercises.tasks import exercise
from tests.exercises.slips import SLIPS
from tests.exercises.test_tasks import GENERAL


def with_body(name: str, body: str) -> Function:
    """The function of an exercise with these lines in it."""
    code = exercise(name).blank.__code__
    names: dict = {"torch": torch, "math": math}
    exec(f"def {name}({', '.join(code.co_varnames[: code.co_argcount])}):\n{indent(body, '    ')}", names)
    return names[name]


@pytest.mark.parametrize(
    ("name", "body", "mistake"),
    [(name, body, mistake) for name, slips in SLIPS.items() for body, mistake in slips],
)
def test_a_mistake_of_a_student_is_called_by_its_name_alone(name: str, body: str, mistake: str) -> None:
    first, *others = judge(exercise(name), with_body(name, body))
    known = {(slip.name, slip.hint) for slip in exercise(name).slips} | {stop[1:] for stop in STOPS}
    assert first.mistake == mistake and (first.mistake, first.text) in known
    assert {each.mistake for each in others} <= set(GENERAL) and others
