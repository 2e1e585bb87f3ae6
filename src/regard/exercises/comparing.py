"""Where a result first differs from the right one, in words."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from regard.shapes import Tensor

RELATIVE, ABSOLUTE = 1e-4, 1e-5
NUMPY = "use torch, not numpy"
LONGEST = 60  # characters of a value that are shown
DIGITS = 4


def difference(wanted: Any, found: Any, names: Sequence[str]) -> str:
    """Nothing where there is none. Several `names` are those of several results."""
    if told := misfit(wanted, found, names):
        return told
    return next((told for each in one_by_one(wanted, found, names) if (told := between(*each))), "")


def misfit(wanted: Any, found: Any, names: Sequence[str]) -> str:
    """What is wrong with the number of results or the kind of one, so that nothing can be compared; or nothing."""
    if found is None:
        return "it returns None; is a `return` missing?"
    counts = {len(each) if isinstance(each, tuple | list) else 1 for each in (wanted, found)}
    if len(names) > 1 and counts != {len(names)}:
        return f"it returns {kind(found)}; return {len(names)} things: {', '.join(names)}"
    return next((told for each in one_by_one(wanted, found, names) if (told := of_kind(*each))), "")


def one_by_one(wanted: Any, found: Any, names: Sequence[str]) -> Iterable[tuple[Any, Any, str]]:
    return [(wanted, found, names[0])] if len(names) == 1 else zip(wanted, found, names, strict=True)


def of_kind(wanted: Any, found: Any, name: str) -> str:
    """What is wrong with the kind of one result. Numbers and lists may be of any make, tensors are torch's alone."""
    if isinstance(wanted, Tensor) and not isinstance(found, Tensor):
        way = f": {NUMPY}" if isinstance(found, np.ndarray) else "; a tensor is asked for"
        return f"{name} is {kind(found)}{way}"
    if isinstance(wanted, list | tuple) and not isinstance(plain(found), list | tuple):
        return f"{name} is {kind(found)}; a list is asked for"
    if isinstance(wanted, float) and not isinstance(plain(found), int | float):
        return f"{name} is {kind(found)}; a number is asked for"
    return ""


def between(wanted: Any, found: Any, name: str) -> str:
    """The same of one result."""
    if told := of_kind(wanted, found, name):
        return told
    if isinstance(wanted, Tensor):
        return of_tensors(wanted, found, name)
    found = plain(found)
    if isinstance(wanted, list | tuple):
        return of_lists(wanted, found, name)
    if isinstance(wanted, float):
        fits = same_number(wanted, float(found))
    else:
        fits = type(found) is type(wanted) and found == wanted
    return "" if fits else unlike(wanted, found, name)


def of_tensors(wanted: Tensor, found: Tensor, name: str) -> str:
    found = found.detach()
    if found.shape != wanted.shape:
        turned = len(set(wanted.shape)) > 1 and sorted(found.shape) == sorted(wanted.shape)
        hint = ": the axes stand in another order" if turned else ""
        return f"{name} has the shape {axes(found)}; it should be {axes(wanted)}{hint}"
    if holds(found) != holds(wanted):
        return f"{name} holds {holds(found)}; it should hold {holds(wanted)}"
    common = torch.float64 if wanted.is_floating_point() else wanted.dtype
    wanted, found = wanted.to(common), found.to(common)
    right = torch.isclose(found, wanted, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    if right.all():
        return ""
    place = (~right).nonzero()[0].tolist()
    where = f"{name}{place}" if place else name
    return unlike(wanted[tuple(place)].item(), found[tuple(place)].item(), where) + throughout(wanted, found)


def unlike(wanted: Any, found: Any, name: str) -> str:
    """Two values, with as many digits as it takes to tell them apart."""
    pairs = ((shown(wanted, digits), shown(found, digits)) for digits in range(DIGITS, 17))
    right, given = next((pair for pair in pairs if pair[0] != pair[1]), (shown(wanted), shown(found)))
    return f"{name} should be {right} and is {given}"


def throughout(wanted: Tensor, found: Tensor) -> str:
    """What is wrong alike everywhere, where that is so: a factor."""
    if not wanted.is_floating_point() or wanted.numel() < 2:
        return ""
    counted = (wanted.abs() > ABSOLUTE) & wanted.isfinite()
    factor = (found / wanted)[counted]
    alike = len(factor) > 1 and bool(factor.isfinite().all()) and torch.allclose(factor, factor[0].expand_as(factor))
    rest = torch.isclose(found[~counted], wanted[~counted], atol=ABSOLUTE, equal_nan=True).all()
    return f"; all are {factor[0]:.4g} times the right ones" if alike and rest else ""


def of_lists(wanted: Sequence[Any], found: Sequence[Any], name: str) -> str:
    for place, (right, given) in enumerate(zip(wanted, found, strict=False)):
        if told := between(right, given, f"{name}[{place}]"):
            return told
    if len(found) != len(wanted):
        return f"{name} has the length {len(found)}; it should be {len(wanted)}: {shown(list(wanted))}"
    return ""


def plain(found: Any) -> Any:
    """Numbers and lists as Python has them, whoever made them."""
    if isinstance(found, Tensor):
        return found.detach().tolist()
    return found.tolist() if type(found).__module__ == "numpy" else found


def same_number(wanted: float, found: float) -> bool:
    both = math.isnan(wanted) and math.isnan(found)
    return both or math.isclose(wanted, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def holds(tensor: Tensor) -> str:
    if tensor.dtype == torch.bool:
        return "truth values (bool)"
    if tensor.is_complex():
        return "complex numbers"
    return "numbers with a fraction (float)" if tensor.is_floating_point() else "whole numbers (int)"


def kind(found: Any) -> str:
    if isinstance(found, tuple | list):
        return f"a {type(found).__name__} of {len(found)}"
    if isinstance(found, np.ndarray):
        return "a numpy array"
    return "a tensor" if isinstance(found, Tensor) else f"a {type(found).__name__}"


def axes(tensor: Tensor) -> str:
    return f"[{' '.join(map(str, tensor.shape))}]"


def shown(value: Any, digits: int = DIGITS) -> str:
    """A value as it stands in a sentence: tensors by their shape, long ones cut short."""
    if isinstance(value, Tensor):
        return axes(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    numbers = isinstance(value, list) and value and all(isinstance(each, float) for each in value)
    text = f"[{', '.join(shown(each, digits) for each in value)}]" if numbers else repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
