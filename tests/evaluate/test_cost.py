"""The two ways to tell what a training has cost."""

import time

import pytest
import torch

from regard.evaluate import cost
from regard.evaluate.cost import Cost, sustained


def test_the_estimate_of_2017_is_time_times_devices_times_rate() -> None:
    """Table 2 of the paper: the base model took 12 hours on 8 P100 of 9.5 TFLOP/s, which is 3.3e18 FLOPs."""
    base = Cost(flops=1.1e18, seconds=12 * 3600, devices=8, sustained=9.5e12)
    assert base.estimate == pytest.approx(3.3e18, rel=0.01)


def test_the_rate_is_the_products_done_over_the_time_they_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that moves 7 ms at each look, and looked at once before and once after each product."""
    ticks = iter(range(1_000))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) * 0.007)
    monkeypatch.setitem(cost.SIZES, "cpu", 13)
    assert sustained(torch.device("cpu"), torch.float32) == pytest.approx(2 * 13**3 / 0.007)


def test_a_real_rate_is_one_that_a_machine_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cost.SIZES, "cpu", 257)
    monkeypatch.setattr(cost, "LONG_ENOUGH", 0.02)
    assert 1e7 < sustained(torch.device("cpu"), torch.float32) < 1e15
