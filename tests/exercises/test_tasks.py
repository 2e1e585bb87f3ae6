"""The library's own functions pass every exercise; every known mistake is found and called by its name."""

import re

import pytest
import torch

from regard.errors import UserError
from regard.exercises.exercise import LEVELS, Exercise, Function, Slip
from regard.exercises.judging import answer, judge
from regard.exercises.tasks import EXERCISES, exercise
from regard.lectures import entries
from tests.exercises import answers

every_exercise = pytest.mark.parametrize("task", EXERCISES.values(), ids=lambda task: task.name)
every_slip = pytest.mark.parametrize(
    ("task", "slip", "wrong"),
    [
        pytest.param(task, slip, wrong, id=f"{task.name}-{slip.name}-{way}")
        for task in EXERCISES.values()
        for slip in task.slips
        for way, wrong in enumerate(slip.ways)
    ],
)
GENERAL = ("another result", "a law", "stops")  # findings that are no named mistake


@every_exercise
def test_the_library_passes(task: Exercise) -> None:
    assert judge(task, task.solution) == []


@every_exercise
def test_what_is_written_from_the_text_alone_passes(task: Exercise) -> None:
    assert judge(task, getattr(answers, task.name)) == []


@every_exercise
def test_nothing_written_fails(task: Exercise) -> None:
    (found,) = judge(task, task.blank)
    assert found.mistake == "not written"


@every_slip
def test_a_known_mistake_is_called_by_its_name_alone(task: Exercise, slip: Slip, wrong: Function) -> None:
    found = judge(task, wrong)
    assert found[0].mistake == slip.name and found[0].text == slip.hint
    assert [each.mistake for each in found if each.mistake not in GENERAL] == [slip.name]
    assert {"another result", "stops"} & {each.mistake for each in found}


@every_exercise
def test_every_law_can_be_broken(task: Exercise) -> None:
    """By a known mistake, by results that are doubled, or by an input that is given back."""
    wrongs = [slip.wrong for slip in task.slips]
    wrongs += [lambda *given: doubled(task.solution(*given)), lambda *given: given[0]]
    for law in task.laws:
        assert law.holds(task.solution, task.dice), law.name
        assert any(answer(law.holds, (wrong, task.dice)) is False for wrong in wrongs), law.name


def doubled(found):
    return tuple(map(doubled, found)) if isinstance(found, tuple) else 2 * found


@every_exercise
def test_hints_are_sentences_that_fit_a_line(task: Exercise) -> None:
    hints = [slip.hint for slip in task.slips]
    assert 4 <= len(task.slips) <= 14 and len(task.laws) >= 2
    assert len(set(hints)) == len(hints) and len({slip.name for slip in task.slips}) == len(hints)
    assert not [hint for hint in hints if len(hint) > 120 or "\n" in hint or re.search(r"[^.]\.$", hint)]
    assert re.fullmatch(r"[A-Z].+\.", task.about) and len(task.about) <= 110


def test_exercises_go_from_easy_to_hard_and_belong_to_lectures() -> None:
    assert list(EXERCISES) == list(range(1, len(EXERCISES) + 1)) and len(EXERCISES) >= 15
    levels = [LEVELS.index(task.level) for task in EXERCISES.values()]
    assert levels == sorted(levels) and set(levels) == {0, 1, 2}
    assert {name for task in EXERCISES.values() for name in task.lectures} <= {entry.id for entry in entries()}


def test_inputs_are_the_same_each_time() -> None:
    task = EXERCISES[6]
    for one, two in zip(task.cases(task.dice), task.cases(task.dice), strict=True):
        assert all(map(torch.equal, one, two))


def test_an_exercise_has_a_number_and_a_name() -> None:
    assert exercise("3") is exercise("03") is exercise("scaled_dot_product")
    with pytest.raises(UserError, match="no exercise 19; there are 1 to 18"):
        exercise("19")
    with pytest.raises(UserError, match="did you mean 'softmax'"):
        exercise("softmx")
