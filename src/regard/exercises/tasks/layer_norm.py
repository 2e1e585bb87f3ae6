"""Layer norm (B9)."""

import torch
from torch import Tensor
from torch.func import functional_call

from regard.blocks.norms import normalizer
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Each token's vector gets the mean 0 and the variance 1, then a gain and a bias.

    x [b t w], gain and bias [w]. Of each vector subtract its mean and divide by the square root of its variance plus
    `eps`; the variance is the mean of the squares of what is left. Then multiply by gain and add bias.
    """
    raise NotImplementedError


def solution(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return functional_call(normalizer("layer", x.shape[-1], eps), {"weight": gain, "bias": bias}, (x,))


def normed(x: Tensor, eps: float, dims: tuple[int, ...] = (-1,), less: int = 0) -> Tensor:
    variance = x.var(dims, correction=less, keepdim=True)
    return (x - x.mean(dims, keepdim=True)) / (variance + eps).sqrt()


def outside(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    spread = x.std(-1, correction=0, keepdim=True)
    return (x - x.mean(-1, keepdim=True)) / (spread + eps) * gain + bias


def no_eps(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return normed(x, 0.0) * gain + bias


def no_root(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) * gain + bias


def of_sums(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    left = x - x.sum(-1, keepdim=True)
    return left / (left.square().mean(-1, keepdim=True) + eps).sqrt() * gain + bias


def rms(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    norm = normalizer("rms", x.shape[-1], eps)
    return functional_call(norm, {"weight": gain}, (x,)) + bias


def standard(function: Function, dice: Dice) -> bool:
    found = function(3 * dice.normal(2, 5, 101) + 7, torch.ones(101), torch.zeros(101), 1e-5)
    means, spreads = found.mean(-1), found.std(-1, correction=0)
    return torch.allclose(means, torch.zeros(2, 5), atol=1e-4) and torch.allclose(spreads, torch.ones(2, 5), atol=1e-3)


def alone(function: Function, dice: Dice) -> bool:
    x, gain, bias = dice.normal(2, 5, 7), dice.normal(7), dice.normal(7)
    one = function(x[1:, 3:4], gain, bias, 1e-5)
    return torch.allclose(function(x, gain, bias, 1e-5)[1:, 3:4], one, atol=1e-4)


def case(dice: Dice, *shape: int, size: float = 1.0, shift: float = 0.0) -> tuple[Tensor, Tensor, Tensor, float]:
    return size * dice.normal(*shape) + shift, dice.normal(shape[-1]), dice.normal(shape[-1]), 1e-5


exercise = Exercise(
    number=9,
    level="medium",
    lectures=("B9",),
    blank=layer_norm,
    solution=solution,
    without=("layer_norm", "LayerNorm", "native_layer_norm", "batch_norm", "group_norm", "rms_norm"),
    cases=lambda dice: [
        case(dice, 1, 1, 3),
        case(dice, 2, 5, 7),
        case(dice, 3, 5, 11, size=4.0, shift=6.0),
        case(dice, 3, 5, 11, size=1e-3),
    ],
    slips=(
        Slip(
            "variance over w - 1",
            "torch's var and std divide by w - 1 unless told: give correction=0",
            lambda x, gain, bias, eps: normed(x, eps, less=1) * gain + bias,
        ),
        Slip(
            "no keepdim",
            "give keepdim=True: a mean over the last axis is [b t], which does not fit beside [b t w]",
            lambda x, gain, bias, eps: x - x.mean(-1),
        ),
        Slip("no eps", "add eps to the variance: it counts where the variance is tiny", no_eps),
        Slip("eps outside the root", "eps is added to the variance, inside of the root", outside),
        Slip(
            "wrong axis",
            "the mean is taken over a token's own vector, the last axis, not over tokens",
            lambda x, gain, bias, eps: normed(x, eps, (1,)) * gain + bias,
        ),
        Slip(
            "over everything",
            "each token has a mean and a variance of its own: take them over the last axis, with keepdim=True",
            lambda x, gain, bias, eps: normed(x, eps, (0, 1, 2)) * gain + bias,
        ),
        Slip(
            "over a whole text",
            "each token has a mean and a variance of its own, not each text: take the last axis alone",
            lambda x, gain, bias, eps: normed(x, eps, (1, 2)) * gain + bias,
        ),
        Slip("mean not subtracted", "subtract the mean first; without it this is RMS norm", rms),
        Slip("no root", "divide by the square root of the variance, not by the variance", no_root),
        Slip("sum for mean", "the mean is the sum over w (one slide leaves 1 / d out)", of_sums),
        Slip(
            "no gain",
            "multiply by gain before the bias is added",
            lambda x, gain, bias, eps: solution(x, torch.ones_like(gain), bias, eps),
        ),
        Slip(
            "bias before gain",
            "multiply by gain first, then add bias: here the gain multiplies the bias too",
            lambda x, gain, bias, eps: (normed(x, eps) + bias) * gain,
        ),
        Slip("no bias", "add the bias at the end", lambda x, gain, bias, eps: solution(x, gain, 0 * bias, eps)),
        Slip(
            "neither gain nor bias",
            "multiply by gain, then add bias",
            lambda x, gain, bias, eps: normed(x, eps),
        ),
    ),
    laws=(
        Law("without gain and bias each vector has the mean 0 and the variance 1", standard),
        Law("a token's result does not depend on other tokens", alone),
    ),
)
