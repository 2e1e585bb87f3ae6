"""Hidden words and spans: a perfect model's loss is 0, nothing is computed elsewhere, padding adds nothing."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.objectives import Masked, MaskedPairs, SpanCorruption
from regard.place import Place
from regard.systems import SYSTEMS, built
from tests.helpers import same

WORDS, WIDTH = 11, 7


def batch(*wanted: tuple[int, int, int], rows: int = 3, length: int = 5) -> Batch:
    """Some words to be guessed, given by row, place and number."""
    targets = torch.full((rows, length), IGNORE)
    for row, place, word in wanted:
        targets[row, place] = word
    tokens = torch.zeros(rows, length, dtype=torch.long)
    label = torch.arange(rows) % 2
    return Batch(tokens, targets, len(wanted), Place.line(tokens), label=label, whole=True, few=True)


def model(scores: torch.Tensor, next_scores: torch.Tensor | None = None):
    """Vectors are places, and the scores of each are given; who asks where nothing is wanted is caught."""

    def logits(vectors: torch.Tensor) -> torch.Tensor:
        asked.append(vectors.shape[0])
        return scores[: vectors.shape[0]]

    asked: list[int] = []
    head = SimpleNamespace(follows=lambda vectors, at: next_scores)
    embed = lambda tokens, at: torch.zeros(*tokens.shape, WIDTH)  # noqa: E731
    model = {"embed": embed, "logits": logits, "head": head, "vocabulary": WORDS, "whole_batches": False}
    return SimpleNamespace(**model), asked


def test_a_perfect_model_loses_nothing_and_a_guess_costs_the_log_of_the_words() -> None:
    given = batch((0, 1, 4), (2, 3, 9))
    sure = torch.nn.functional.one_hot(torch.tensor([4, 9]), WORDS).float() * 100
    perfect, asked = model(sure)
    loss = Masked()(perfect, given)
    assert float(loss.total) == pytest.approx(0, abs=1e-6) and loss.count == 2
    assert asked == [2], "no scores are made for what is not hidden"
    even = Masked()(model(torch.zeros(2, WORDS))[0], given)
    assert float(even.total) == pytest.approx(2 * math.log(WORDS))
    assert float(even.each[0, 1]) == pytest.approx(math.log(WORDS)) and float(even.each.sum()) == float(even.nats)
    assert even.each.shape == given.targets.shape and int((even.each != 0).sum()) == 2


def test_what_found_its_way_to_a_device_costs_the_same() -> None:
    given, scores = batch((0, 1, 4), (1, 0, 3), (2, 3, 9)), torch.randn(3, WORDS)
    here, there = (Masked()(model(scores)[0], each) for each in (given, given.to("cpu")))
    assert torch.equal(here.each, there.each) and torch.equal(here.total, there.total)
    costs = -scores.log_softmax(-1)[range(3), [4, 3, 9]]
    same(here.each[[0, 1, 2], [1, 0, 3]], costs)


def test_each_rows_answer_weighs_as_much_as_its_hidden_words() -> None:
    given = batch((0, 1, 4), (0, 2, 5), (2, 3, 9))
    unsure = torch.zeros(3, 2)
    loss = MaskedPairs()(model(torch.zeros(3, WORDS), unsure)[0], given)
    assert float(loss.nats) == pytest.approx(3 * math.log(WORDS)), "the answer is no part of the words' nats"
    assert float(loss.parts["next"]) == pytest.approx(3 * math.log(2))
    assert float(loss.total) == pytest.approx(3 * math.log(WORDS) + 3 * math.log(2))
    right = torch.nn.functional.one_hot(given.label, 2).float() * 100
    assert float(MaskedPairs()(model(torch.zeros(3, WORDS), right)[0], given).parts["next"]) == pytest.approx(0)


def test_without_random_pairs_nothing_is_asked_about_them() -> None:
    given = batch((0, 1, 4))
    loss = MaskedPairs(random=0.0)(model(torch.zeros(1, WORDS))[0], given)
    assert loss.parts == {} and MaskedPairs(random=0.0).head == "own" and MaskedPairs().head == "next"


def test_pieces_of_a_batch_have_its_gradient() -> None:
    torch.manual_seed(2)
    system = built(SYSTEMS["bert"](width=14, heads=2, depth=1, context=9), WORDS, head="next").double()
    given = batch((0, 1, 4), (0, 2, 5), (1, 4, 3), (2, 3, 9))

    def gradients(pieces: list[Batch]) -> dict[str, torch.Tensor]:
        system.zero_grad()
        for piece in pieces:
            MaskedPairs()(system.eval(), piece).total.backward()
        return {name: p.grad.clone() for name, p in system.named_parameters()}

    whole = gradients([given])
    for name, gradient in gradients(given.split(3)).items():
        same(gradient, whole[name])


def test_only_what_sees_both_sides_guesses_hidden_words() -> None:
    for kind in ("bert", "rnn-encoder", "window-encoder"):
        assert Masked().misfit(built(SYSTEMS[kind](), WORDS)) == ""
    assert "asks for a look at both sides" in Masked().misfit(built(SYSTEMS["gpt"](), WORDS))
    assert "asks for a look at both sides" in Masked().misfit(built(SYSTEMS["bert"](), WORDS, 3, "labels"))


def test_two_sentences_are_for_what_tells_them_apart() -> None:
    one, two = (built(SYSTEMS["bert"](segments=segments), WORDS, head="next") for segments in (1, 2))
    assert "segments = 1" in MaskedPairs().misfit(one) and not MaskedPairs().misfit(two)
    assert not Masked().misfit(one) and "both sides" in MaskedPairs().misfit(built(SYSTEMS["gpt"](), WORDS))


def test_spans_are_for_what_reads_a_source_and_writes() -> None:
    task = SpanCorruption(sentinels=3)
    assert task.symbols == ("<extra_id_0>", "<extra_id_1>", "<extra_id_2>")
    assert task.misfit(built(SYSTEMS["transformer"](), WORDS)) == ""
    assert "reads no source" in task.misfit(built(SYSTEMS["gpt"](), WORDS))
