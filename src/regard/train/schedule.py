"""How the learning rate moves."""

import math
from collections.abc import Callable

from regard.recipe import Train

Schedule = Callable[[int, float], float]  # (step from 1, finished part of the training) -> learning rate


def noam(settings: Train, width: int) -> Schedule:
    """rate * width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al., 2017, equation 3)."""
    warmup = max(1, settings.warmup)
    return lambda step, done: settings.rate * width**-0.5 * min(step**-0.5, step * warmup**-1.5)


def inverse_sqrt(settings: Train) -> Schedule:
    """Up to the rate in a line, then down with the root of the step."""
    warmup = max(1, settings.warmup)
    return lambda step, done: settings.rate * min(step / warmup, math.sqrt(warmup / step))


def cosine(settings: Train) -> Schedule:
    """Up in a line to the rate, then down along half a cosine to the floor."""

    def rate(step: int, done: float) -> float:
        if step <= settings.warmup:
            return settings.rate * step / settings.warmup
        warm = settings.warmup * done / max(1, step - 1)  # the part of the training that the warm-up took
        angle = math.pi * min(1.0, (done - warm) / max(1e-9, 1 - warm))
        return settings.rate * (settings.floor + (1 - settings.floor) * (1 + math.cos(angle)) / 2)

    return rate


def constant(settings: Train) -> Schedule:
    """Up in a line, level, and in the last `decay` of the training down in a line to the floor."""

    def fall(done: float) -> float:
        left = (1 - min(1.0, done)) / settings.decay if settings.decay else 1.0
        return settings.floor + (1 - settings.floor) * min(1.0, left)

    return lambda step, done: settings.rate * min(1.0, step / max(1, settings.warmup)) * fall(done)


def schedule(settings: Train, width: int) -> Schedule:
    if settings.schedule == "noam":
        return noam(settings, width)
    return {"inverse-sqrt": inverse_sqrt, "cosine": cosine, "constant": constant}[settings.schedule](settings)
