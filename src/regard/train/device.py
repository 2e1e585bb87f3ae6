"""Where and in which precision to compute."""

import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch

from regard.errors import UserError
from regard.recipe import Train
from regard.systems import System


def choose_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's, then the CPU; a device that is not there stops."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UserError(f"no such device: '{name}'; known: auto, cpu, cuda, cuda:1, mps") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if device.type not in there:
        raise UserError(f"no such device: '{name}'; known: auto, cpu, cuda, cuda:1, mps")
    if (device.index or 0) >= there[device.type]:
        raise UserError(f"no such device: '{name}'; this machine has {there[device.type]} of kind '{device.type}'")
    return device


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    if name == "auto":
        able = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if able else torch.float32
    if name == "bfloat16" and device.type == "cpu" and not cpu_has_bfloat16():
        raise UserError(
            "this CPU dies on its first bfloat16 product; use train.precision=float32, or set "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 before starting"
        )
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]


@cache
def cpu_has_bfloat16() -> bool:
    """Tried in a child: some virtual machines announce an instruction set and then kill the process that uses it."""
    trial = "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); print((a @ a).sum().item())"
    return subprocess.run([sys.executable, "-c", trial], capture_output=True).returncode == 0


def autocast(device: torch.device, precision: torch.dtype) -> AbstractContextManager:
    if precision is torch.float32:
        return nullcontext()
    return torch.autocast(device.type, precision)


def chooses_compile(settings: Train, model: System) -> bool:
    """Compiling pays on CUDA for a system without loops; on a CPU it costs more than a small training."""
    pays = model.device.type == "cuda" and model.compiles
    return pays if settings.compile == "auto" else bool(settings.compile)
