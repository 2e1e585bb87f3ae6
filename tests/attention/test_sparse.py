"""Our own programs for BigBird on a GPU: run by Triton's interpreter on the CPU, and what is done around them."""

import os
import subprocess
import sys

import torch

from regard.attention import sparse
from regard.attention.blocks import BigBird
from tests.helpers import same


def test_the_programs_equal_the_formula_in_value_and_gradient() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attention.interpreted"],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("equal") == 12


def test_lists_turned_round_are_the_same_pairs() -> None:
    rule = BigBird(4, first=2, near=1, random=2)
    lists = sparse.lists_of(rule, 20, torch.tensor([20, 13]))
    for row in range(2):
        seen = {(q, k) for q in range(2, 20) for k in lists.sees[row, q].tolist() if k >= 0}
        seen |= {(q, k) for q in range(2) for k in range(20)}
        times = lists.times[row].tolist()
        turned = {(q, k) for k in range(20) for q in lists.seen_by[row, k, : times[k]].tolist()}
        assert turned == seen


def test_parts_of_a_softmax_make_the_whole() -> None:
    scores, values = torch.randn(3, 1, 2, 4, 5), torch.randn(3, 1, 2, 5, 7)  # three parts of five keys each
    scores[1, :, 0] = -torch.inf  # the second saw nothing of the first query
    scores[:, :, 1, 2] = -torch.inf  # nothing at all is seen here
    total = scores.exp2().sum(-1)
    mixes = torch.einsum("pbqhk,pbqkd->pbqhd", scores.exp2(), values) / total.clamp(min=1e-30)[..., None]
    levels = total.log2().masked_fill(total == 0, torch.inf)
    mix, level = sparse.joined(mixes, levels)
    everything = total.sum(0)
    expected = torch.einsum("pbqhk,pbqkd->bqhd", scores.exp2(), values) / everything.clamp(min=1e-30)[..., None]
    same(mix, expected)
    assert torch.equal(level == torch.inf, everything == 0)
    same(level[everything > 0], everything[everything > 0].log2())
