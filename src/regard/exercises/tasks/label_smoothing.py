"""Label smoothing (O2)."""

import math

import torch
from torch import Tensor

from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.objectives.likelihood import label_nats


def label_smoothing(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """The loss of each target when a little of the probability is asked for every label alike.

    logits [n v] are scores of v labels, targets [n] the right ones. The wanted distribution is 1 - smoothing on the
    right label, and smoothing spread evenly over all v labels, the right one among them. Return [n], for each target
    the cross entropy: minus the sum over labels of wanted probability times log of the model's. Logits may be 1,000
    and more apart; the loss is finite all the same.
    """
    raise NotImplementedError


def solution(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    return label_nats(logits, targets, smoothing)[0]


def mixed(logits: Tensor, targets: Tensor, right: float, even: float) -> Tensor:
    logs = logits.log_softmax(-1)
    return -right * logs.gather(1, targets[:, None])[:, 0] - even * logs.sum(-1)


def by_logs(logs: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """The loss with what is taken for the logs of the model's probabilities."""
    return -(1 - smoothing) * logs.gather(1, targets[:, None])[:, 0] - smoothing * logs.mean(-1)


def put_in(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    even = smoothing / logits.shape[-1]
    return mixed(logits, targets, 1 - smoothing - even, even)


def by_powers(logits: Tensor) -> Tensor:
    return logits.exp() / logits.exp().sum(-1, keepdim=True)


def only_others(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    each = smoothing / (logits.shape[-1] - 1)
    return mixed(logits, targets, 1 - smoothing - each, each)


def even_scores(function: Function, dice: Dice) -> bool:
    costs = function(torch.zeros(5, 7), dice.below(7, 5), 0.3)
    return torch.allclose(costs, torch.full((5,), math.log(7)))


def none_is_plain(function: Function, dice: Dice) -> bool:
    logits, targets = dice.normal(5, 7), dice.below(7, 5)
    return torch.allclose(function(logits, targets, 0.0), label_nats(logits, targets, 0.0)[1], atol=1e-5)


exercise = Exercise(
    number=10,
    level="medium",
    lectures=("O2",),
    blank=label_smoothing,
    solution=solution,
    without=("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss", "kl_div", "KLDivLoss"),
    cases=lambda dice: [
        (dice.normal(1, 3), dice.below(3, 1), 0.1),
        (dice.normal(5, 7), dice.below(7, 5), 0.1),
        (3 * dice.normal(11, 5), dice.below(5, 11), 0.4),
        (1000 * dice.normal(5, 7), dice.below(7, 5), 0.2),
    ],
    slips=(
        Slip("no smoothing", "smoothing is not used yet", lambda logits, t, smoothing: solution(logits, t, 0.0)),
        Slip(
            "spread over the others alone",
            "smoothing is spread over all v labels, the right one too: smoothing / v each, not smoothing / (v - 1)",
            only_others,
        ),
        Slip(
            "not spread",
            "each label gets smoothing / v: take the mean over labels, not the sum",
            lambda logits, targets, smoothing: mixed(logits, targets, 1 - smoothing, smoothing),
        ),
        Slip(
            "all of it on the right label",
            "the right label gets 1 - smoothing beside its share: together that is 1, here it is more",
            lambda logits, targets, smoothing: mixed(logits, targets, 1.0, smoothing / logits.shape[-1]),
        ),
        Slip(
            "shares exchanged",
            "the right label gets 1 - smoothing, all labels together get smoothing",
            lambda logits, targets, smoothing: solution(logits, targets, 1 - smoothing),
        ),
        Slip(
            "mean over targets",
            "one loss for each target is asked for, [n]: no mean yet",
            lambda *given: solution(*given).mean(),
        ),
        Slip("sign", "a loss is minus the sum: the sign is turned", lambda *given: -solution(*given)),
        Slip("no softmax", "logits are scores: take log_softmax of them first", by_logs),
        Slip(
            "right label set",
            "the right label has 1 - smoothing and its share: add to what it has, `+=`, in place of `=`",
            put_in,
        ),
        Slip(
            "no log",
            "the log is missing: wanted probability times log of the model's, log_softmax",
            lambda logits, *rest: by_logs(logits.softmax(-1), *rest),
        ),
        Slip(
            "log of a softmax",
            "where logits are far apart a softmax is 0, and its log -inf: log_softmax counts both at once",
            lambda logits, *rest: by_logs(logits.softmax(-1).log(), *rest),
            (
                lambda logits, *rest: by_logs(by_powers(logits).log(), *rest),
                lambda logits, *rest: by_logs(logits - logits.exp().sum(-1, keepdim=True).log(), *rest),
            ),
        ),
    ),
    laws=(
        Law("where all labels are as likely, every target costs log v", even_scores),
        Law("without smoothing it is minus the log of the right label's probability", none_is_plain),
    ),
)
