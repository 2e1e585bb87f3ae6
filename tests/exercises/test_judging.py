"""What is said about answers that no known mistake explains."""

import math

import numpy as np
import pytest
import torch

from regard.exercises.comparing import difference
from regard.exercises.exercise import Function
from regard.exercises.judging import Finding, judge
from regard.exercises.tasks import exercise
from regard.objectives.gleu import ngrams
from tests.exercises import answers


def first(name: str, function: Function) -> str:
    return judge(exercise(name), function)[0].text


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda scores: None, "softmax([1 2]): it returns None; is a `return` missing?"),
        (lambda scores: [0.1], "softmax([1 2]): weights is a list of 1; a tensor is asked for"),
        (lambda scores: scores.numpy(), "softmax([1 2]): weights is a numpy array: use torch, not numpy"),
        (lambda scores: scores[0], "softmax([1 2]): weights has the shape [2]; it should be [1 2]"),
        (lambda scores: scores.T, "weights has the shape [2 1]; it should be [1 2]: the axes stand in another order"),
        (lambda scores: scores > 0, "it should hold numbers with a fraction (float)"),
        (lambda scores: scores.softmax(-1) + 0.5, "weights[0, 0] should be 0.2689 and is 0.7689"),
        (lambda scores: -2 * scores.softmax(-1), "is -0.5379; all are -2 times the right ones"),
        (lambda scores: scores.foo, "softmax([1 2]) stops: AttributeError: 'Tensor' object has no attribute 'foo'"),
        (lambda: 0, "softmax([1 2]) stops: TypeError: "),
    ],
)
def test_where_it_first_differs(function: Function, said: str) -> None:
    assert said in first("softmax", function)


@pytest.mark.parametrize(
    ("name", "function", "mistake", "said"),
    [
        (
            "look_up",
            lambda tokens, table: table[tokens],
            "another result",
            "it returns a tensor; return 2 things: one_",
        ),
        ("look_up", lambda tokens, table: (tokens, [1.0]), "another result", "vectors is a list of 1; a tensor is ask"),
        ("look_up", lambda *given: [x.numpy() for x in answers.look_up(*given)], "numpy", "one_hot is a numpy array: "),
        ("attention", lambda q, k, v, p: q.numpy(), "another result", "it returns a numpy array; return 2 things: "),
        ("softmax", lambda scores: scores.softmax(-1).numpy(), "numpy", "weights is a numpy array: use torch, not nu"),
        ("bpe", lambda word, learnt: word, "another result", "pieces is a str; a list is asked for"),
        ("gleu", lambda tokens, reference: "1", "another result", "gleu is a str; a number is asked for"),
        ("gleu", lambda tokens, reference: torch.ones(2), "another result", "gleu is a tensor; a number is asked for"),
        ("perplexity", lambda *given: [3.0], "another result", "the perplexity is a list of 1; a number is asked for"),
    ],
)
def test_of_results_of_another_kind_or_number_nothing_else_is_told(
    name: str, function: Function, mistake: str, said: str
) -> None:
    (found,) = judge(exercise(name), function)
    assert found.mistake == mistake and said in found.text


def test_numbers_have_the_digits_that_tell_them_apart() -> None:
    assert difference(0.12345678, 0.12348999, ("x",)) == "x should be 0.12346 and is 0.12349"
    near = torch.tensor([1.0, 2.0001]), torch.tensor([1.0, 2.0004])
    assert difference(*near, ("x",)) == "x[1] should be 2.0001 and is 2.0004"


def test_what_stops_is_explained_too_where_the_mistake_is_known() -> None:
    def no_keepdim(scores: torch.Tensor) -> torch.Tensor:
        powers = torch.exp(scores)
        return powers / powers.sum(dim=1)

    hint, stopped = judge(exercise("softmax"), no_keepdim)
    assert hint.mistake == "sum without keepdim" and "softmax([3 5]) stops: RuntimeError" in stopped.text
    (unknown,) = judge(exercise("softmax"), lambda scores: scores @ torch.ones(7, 7))
    assert unknown.mistake == "stops"


def test_two_results_are_asked_for_by_name() -> None:
    assert "it returns a tensor; return 2 things: weights, context" in first("attention", lambda q, k, v, p: q)
    found = first("attention", lambda *given: (answers.attention(*given)[0], given[2]))
    assert "attention([1 1 3 2], [1 1 3 2], [1 1 3 11], [1 3]): context[0, 0, 0, 0] should be" in found


def test_lists_and_numbers_of_any_make_are_taken() -> None:
    gleu, beam = answers.gleu, answers.beam_step
    assert judge(exercise("gleu"), lambda *texts: np.float64(gleu(*texts))) == []
    assert judge(exercise("gleu"), lambda *texts: torch.tensor(gleu(*texts))) == []
    listed = judge(exercise("beam_step"), lambda *given: [[list(pair) for pair in part] for part in beam(*given)])
    assert listed == []
    doubled = judge(exercise("softmax"), lambda scores: answers.softmax(scores.double()))
    assert doubled == []


def test_a_list_tells_its_first_entry_that_is_wrong_and_then_its_length() -> None:
    spans = answers.cut_spans
    assert "target has the length 2; it should be 3" in first("cut_spans", lambda *g: (spans(*g)[0], spans(*g)[1][:-1]))
    assert "pieces[0] should be 'le' and is 'l'" in first("bpe", lambda word, learnt: [*word[::2]])


def test_an_input_that_is_changed_is_named() -> None:
    def in_place(scores: torch.Tensor) -> torch.Tensor:
        scores -= scores.max()
        return answers.softmax(scores)

    (found,) = judge(exercise("softmax"), in_place)
    assert found.mistake == "changes its input" and "softmax([1 2]) changes scores; work on a copy" in found.text


def mistakes(found: list[Finding]) -> list[str]:
    return [each.mistake for each in found]


def test_two_mistakes_that_show_on_different_inputs_are_both_named() -> None:
    """Each with an input that it explains."""

    def twice(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> torch.Tensor:
        v = logits.shape[-1]
        wanted = torch.full_like(logits, smoothing / (v - 1)).scatter(1, targets[:, None], 1 - smoothing)
        return -(wanted * logits.softmax(-1).log()).sum(-1)

    found = judge(exercise("label_smoothing"), twice)
    assert mistakes(found)[0:4:2] == ["spread over the others alone", "log of a softmax"]
    assert "label_smoothing([1 3]" in found[1].text and "is inf" in found[3].text


def test_the_example_is_one_that_the_named_mistake_explains() -> None:
    """No scaling and no mask: the first input has no padding, so that scaling alone shows there."""

    def twice(query, key, value, present):
        weights = (query @ key.mT).softmax(-1)
        return weights, weights @ value

    hint, shown, rest, *laws = judge(exercise("attention"), twice)
    assert hint.mistake == "no scaling" and shown.text.startswith("attention([1 1 3 2]")
    assert rest.text.startswith("something else too: attention([2 3 5 7]") and set(mistakes(laws)) == {"a law"}

    def nan_too(query, key, value, present):
        weights = (query @ key.mT).masked_fill(~present[:, None, None], -math.inf).softmax(-1)
        return weights, weights @ value

    assert mistakes(judge(exercise("attention"), nan_too))[:3] == ["no scaling", "another result", "another result"]


def test_no_second_mistake_is_named_by_chance() -> None:
    """An empty text that counts as perfect, as of 'runs of four alone': other inputs speak against that."""

    def own_only(tokens: list[int], reference: list[int]) -> float:
        ours, theirs = ngrams(tokens), ngrams(reference)
        return (ours & theirs).total() / ours.total() if ours else 1.0

    found = judge(exercise("gleu"), own_only)
    assert mistakes(found) == ["precision alone", "another result", "another result", "a law"]
    assert found[2].text.startswith("something else too: gleu([], [3, 4]): gleu should be 0 and is 1")


def test_no_first_mistake_is_named_by_chance() -> None:
    gleu = answers.gleu
    (found,) = judge(exercise("gleu"), lambda one, two: gleu(one, two) if one and two else 1.0)
    assert found.text == "gleu([], [3, 4]): gleu should be 0 and is 1", "alone, and the rest is right"
    found = judge(exercise("gleu"), lambda one, two: gleu(one, two) / 2 if one else 1.0)
    assert mistakes(found)[0] == "another result", "the last of many inputs is explained by chance"


def test_what_is_wrong_beside_the_named_mistake_is_told_too() -> None:
    def rows_and_end(totals, chances, beam, end):
        wrong = answers.beam_step([0.0] * len(totals), chances, beam, end)
        return wrong if beam != 2 else ([*wrong[0]], [])

    assert mistakes(judge(exercise("beam_step"), rows_and_end))[0] == "totals left out"


def test_a_function_that_is_right_on_the_inputs_must_obey_the_laws_too() -> None:
    """One that has learnt the mask of 13 tokens by heart, and nothing else."""

    def by_heart(length: int) -> torch.Tensor:
        return answers.causal_mask(length) if length != 7 else torch.ones(7, 7).bool()

    found = judge(exercise("causal_mask"), by_heart)
    assert [each.mistake for each in found] == ["a law", "a law"]
    assert found[0].text == "it should be so, and is not: the past ignores the future"


def test_nan_equals_nan_and_nothing_else() -> None:
    nan = torch.tensor([math.nan, 1.0])
    assert not difference(nan, nan.clone(), ("x",))
    assert difference(nan, torch.tensor([0.0, 1.0]), ("x",)) == "x[0] should be nan and is 0"
    assert not difference(math.nan, math.nan, ("x",)) and difference(1.0, math.nan, ("x",))
