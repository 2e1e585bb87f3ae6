"""Perplexity of texts with padding (O1)."""

import math

import torch
from torch import Tensor

from regard.data import IGNORE
from regard.evaluate.perplexity import bounded_exp
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.objectives.likelihood import label_nats


def perplexity(logits: Tensor, targets: Tensor) -> float:
    """How many tokens a model hesitates between, padding left out.

    logits [b t v] are scores of the v tokens that may stand at each place, targets [b t] those that do, or -100 where
    there is padding, which does not count. Return one number: exp of the mean, over all targets that count, of minus
    the log of the target's probability.
    """
    raise NotImplementedError


def nats(logits: Tensor, targets: Tensor) -> Tensor:
    """Of each target; 0 where there is none."""
    return label_nats(logits.flatten(0, 1), targets.flatten(), 0.0)[1].view(targets.shape)


def solution(logits: Tensor, targets: Tensor) -> float:
    return bounded_exp((nats(logits, targets).sum() / (targets != IGNORE).sum()).item())


def mean_of_means(logits: Tensor, targets: Tensor) -> float:
    rows = nats(logits, targets).sum(1) / (targets != IGNORE).sum(1)
    return math.exp(rows.mean().item())


def case(dice: Dice, lengths: list[int], vocabulary: int) -> tuple[Tensor, Tensor]:
    targets = dice.below(vocabulary, len(lengths), max(lengths))
    outside = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    return dice.normal(*targets.shape, vocabulary), targets.masked_fill(outside, IGNORE)


def even(function: Function, dice: Dice) -> bool:
    _, targets = case(dice, [7, 2], 13)
    return math.isclose(function(torch.zeros(2, 7, 13), targets), 13, rel_tol=1e-4)


def padding_inert(function: Function, dice: Dice) -> bool:
    logits, targets = case(dice, [5, 3], 7)
    more = torch.cat((logits, dice.normal(2, 4, 7)), 1), torch.cat((targets, targets.new_full((2, 4), IGNORE)), 1)
    return math.isclose(function(logits, targets), function(*more), rel_tol=1e-4)


exercise = Exercise(
    number=11,
    level="medium",
    lectures=("O1",),
    blank=perplexity,
    solution=solution,
    gives=("the perplexity",),
    without=("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"),
    cases=lambda dice: [case(dice, [3], 5), case(dice, [5, 2, 3], 7), case(dice, [11, 1, 4, 7], 13)],
    slips=(
        Slip(
            "padding in the count",
            "the sum leaves padding out, the count does not: divide by how many targets are not -100",
            lambda logits, targets: math.exp(nats(logits, targets).mean().item()),
        ),
        Slip(
            "padding is read as a token",
            "-100 as an index is no token: leave those places out of the mean",
            lambda logits, targets: solution(logits, targets.clamp(min=0)),
        ),
        Slip(
            "padding looked up",
            "-100 is no token to look up: leave those places out first, targets != -100",
            lambda logits, targets: logits.gather(-1, targets[..., None]),
        ),
        Slip(
            "mean of means",
            "every token counts alike: one mean over all of them, not the mean of each text's mean",
            mean_of_means,
        ),
        Slip(
            "mean of perplexities",
            "first the mean, then exp; the mean of exp is larger",
            lambda logits, targets: nats(logits, targets)[targets != IGNORE].exp().mean().item(),
        ),
        Slip("no exp", "this is the loss: perplexity is exp of it", lambda *given: math.log(solution(*given))),
        Slip(
            "another base",
            "torch.log is the natural logarithm, so the power is e's: exp(mean), not 2 ** mean",
            lambda *given: 2 ** math.log(solution(*given)),
        ),
        Slip(
            "log of base 2",
            "exp belongs to the natural logarithm: take log in place of log2",
            lambda *given: solution(*given) ** (1 / math.log(2)),
        ),
        Slip(
            "targets moved again",
            "targets are what stands at each place already: do not move them by one against the logits",
            lambda logits, targets: solution(logits[:, :-1], targets[:, 1:]),
        ),
        Slip("sign", "minus the log: this is one over the perplexity", lambda *given: 1 / solution(*given)),
    ),
    laws=(
        Law("where all tokens are as likely, it is how many there are", even),
        Law("more padding changes nothing", padding_inert),
    ),
)
