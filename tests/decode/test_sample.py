"""The filters against their definitions, and the draw against the probabilities."""

import torch

from regard.decode.sample import Chance, draw, min_p, repetition, seeds, top_k, top_p


def probabilities(*values: float) -> torch.Tensor:
    return torch.tensor([values]).log()


def kept(scores: torch.Tensor) -> list[int]:
    return torch.isfinite(scores[0]).nonzero()[:, 0].tolist()


def test_top_k_keeps_the_k_likeliest() -> None:
    scores = probabilities(0.1, 0.4, 0.2, 0.3)
    assert kept(top_k(scores, 2)) == [1, 3]
    assert kept(top_k(scores, 0)) == kept(top_k(scores, 9)) == [0, 1, 2, 3]


def test_top_p_keeps_the_fewest_that_reach_p() -> None:
    scores = probabilities(0.1, 0.4, 0.2, 0.3)
    assert kept(top_p(scores, 0.39)) == [1]
    assert kept(top_p(scores, 0.41)) == [1, 3]
    assert kept(top_p(scores, 0.71)) == [1, 2, 3]
    assert kept(top_p(scores, 1.0)) == [0, 1, 2, 3]
    assert kept(top_p(scores, 1e-9)) == [1]


def test_min_p_is_relative_to_the_likeliest() -> None:
    scores = probabilities(0.1, 0.4, 0.2, 0.3)
    assert kept(min_p(scores, 0.6)) == [1, 3]
    assert kept(min_p(scores, 0.0)) == [0, 1, 2, 3]


def test_repetition_makes_what_is_there_less_likely_and_nothing_else() -> None:
    scores = probabilities(0.1, 0.4, 0.2, 0.3)
    changed = repetition(scores, [[1, 1, 3]], 2.0)
    torch.testing.assert_close(changed, scores * torch.tensor([[1.0, 2.0, 1.0, 2.0]]))
    assert repetition(scores, [[1]], 1.0) is scores


def test_draws_follow_the_probabilities() -> None:
    wanted = torch.tensor([0.05, 0.5, 0.0, 0.25, 0.2])
    chance = (torch.arange(20_000) + 0.5) / 20_000
    drawn = draw(wanted.log().expand(20_000, -1), chance)
    frequencies = torch.bincount(drawn, minlength=5) / 20_000
    torch.testing.assert_close(frequencies, wanted, atol=1e-3, rtol=0)
    assert drawn.min() == 0 and 2 not in drawn


def test_what_was_filtered_out_is_never_drawn_even_at_the_edges() -> None:
    scores = torch.tensor([[-torch.inf, 0.0, -torch.inf]])
    for value in (0.0, 0.5, 1 - 1e-7):
        assert draw(scores, torch.tensor([value])).item() == 1


def test_a_row_draws_the_same_numbers_whatever_its_neighbours_do() -> None:
    both, alone = Chance(seeds(7, [0, 1, 2])), Chance(seeds(7, [2]))
    both.next([0, 1, 2])
    alone.next([2])
    assert both.next([1, 2])[1] == alone.next([2])[0]
