"""The most memory that a call takes, above what was held before it.

On CUDA torch counts it. On Linux the kernel does: it keeps the highest resident memory of a process, and can be told to
begin anew. Elsewhere nobody says.
"""

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

STATUS, BEGIN_ANEW = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RETURNING = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}  # bytes, to glibc as it starts
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the same two while it runs
LARGEST = 2**31 - 1


def peak(device: torch.device, work: Callable[[], Any]) -> int | None:
    """In bytes; None where it cannot be known.

    On a CPU it is exact in a process that was started with `RETURNING`: memory that is freed goes back to the system at
    once. Otherwise the allocator keeps some, and what `work` takes may be found there.
    """
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        work()
        return torch.cuda.max_memory_allocated(device) - before
    if device.type != "cpu" or not BEGIN_ANEW.exists():
        return None
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
    before = resident("VmRSS")
    try:
        BEGIN_ANEW.write_text("5")
    except OSError:  # not allowed here
        return None
    work()
    return max(0, resident("VmHWM") - before)


def resident(which: str) -> int:
    """`VmRSS`, what the process holds in memory now, or `VmHWM`, the most it held."""
    found = re.search(rf"^{which}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    assert found is not None
    return 1024 * int(found[1])


def keep_what_is_freed() -> None:
    """The opposite of `RETURNING`, for measuring time: no memory is asked of the system twice."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(MMAP_THRESHOLD, LARGEST)
        library.mallopt(TRIM_THRESHOLD, LARGEST)
