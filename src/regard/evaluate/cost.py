"""What a training has cost, told in two ways.

Counted: the FLOPs of its matrix products (train/flops.py), whatever time they took. Estimated as in 2017: training time
times devices times the rate the device sustains (Vaswani et al., 2017, table 2, took 2.8, 3.7, 6.0 and 9.5 TFLOP/s for
K80, K40, M40 and P100). The estimate charges a system for the time in which it kept the device waiting; the count does
not.
"""

import time
from dataclasses import dataclass

import torch

SIZES = {"cpu": 1024, "cuda": 8192, "mps": 4096}  # of a square matrix: large enough that the product is all that counts
LONG_ENOUGH = 0.5  # seconds


@dataclass(frozen=True)
class Cost:
    """`sustained` is the device's rate in FLOP/s, `flops` what was counted."""

    flops: float
    seconds: float
    sustained: float
    devices: int = 1

    @property
    def estimate(self) -> float:
        """FLOPs by time, devices and rate."""
        return self.seconds * self.devices * self.sustained


def sustained(device: torch.device, precision: torch.dtype) -> float:
    """FLOP/s of a square matrix product in the precision of training, kept up for half a second."""
    size = SIZES[device.type]
    one, other = (torch.randn(size, size, device=device).to(precision) for _ in range(2))
    for _ in range(2):
        one @ other
    wait(device)
    began, seconds, done = time.perf_counter(), 0.0, 0
    while seconds < LONG_ENOUGH:
        one @ other
        wait(device)
        seconds, done = time.perf_counter() - began, done + 1
    return 2 * size**3 * done / seconds


def wait(device: torch.device) -> None:
    """Until the device has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
