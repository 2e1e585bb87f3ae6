"""What is known of a position scheme by its name is what it does."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch

from regard.attention.positions import Position
from regard.attention.schemes import SCHEMES, Site
from tests.helpers import line, refused

SITE = Site(width=24, heads=4, head_width=10, limit=7, std=0.5)


@pytest.mark.parametrize("kind", SCHEMES)
def test_what_a_scheme_asks_for_is_what_it_does(kind: str) -> None:
    scheme = SCHEMES[kind]
    inside = scheme.make(SITE).inside()
    assert scheme.relative == (type(inside).on_scores is not Position.on_scores)
    assert scheme.clipped == (scheme.make(replace(SITE, farthest=3)).inside().reach != inside.reach)
    with refused("without a tree") if scheme.trees else nullcontext():
        scheme.make(SITE).on_input(torch.zeros(1, 5, SITE.width), line(1, 5))
