"""Where and in which precision to compute: what is not there is refused."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.recipe import Train
from regard.train.device import choose_device, choose_precision, chooses_compile
from tests.helpers import refused


def test_the_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")


def test_auto_takes_cuda_then_apples_then_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for cuda, mps, expected in ((True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=cuda: there)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda there=mps: there)
        assert choose_device("auto").type == expected


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "meta", ""])
def test_a_device_that_does_not_exist_is_refused(name: str) -> None:
    with refused(f"no such device: '{name}'; known: auto, cpu, cuda, cuda:1, mps"):
        choose_device(name)


def test_a_device_that_this_machine_lacks_is_refused_with_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1") == torch.device("cuda:1")
    with refused("no such device: 'cuda:2'; this machine has 2 of kind 'cuda'"):
        choose_device("cuda:2")


def test_a_cpu_computes_in_float32_unless_told() -> None:
    assert choose_precision("auto", torch.device("cpu")) == torch.float32
    assert choose_precision("float32", torch.device("cuda")) == torch.float32


def test_a_cpu_that_dies_of_bfloat16_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    for able in (True, False):
        monkeypatch.setattr("regard.train.device.cpu_has_bfloat16", lambda able=able: able)
        if able:
            assert choose_precision("bfloat16", torch.device("cpu")) == torch.bfloat16
        else:
            with refused("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"):
                choose_precision("bfloat16", torch.device("cpu"))


def test_compiling_is_for_cuda_unless_told() -> None:
    def on(device: str, compiles: bool = True) -> Any:
        return SimpleNamespace(device=torch.device(device), compiles=compiles)

    assert not chooses_compile(Train(), on("cpu"))
    assert chooses_compile(Train(), on("cuda"))
    assert not chooses_compile(Train(), on("cuda", compiles=False))
    assert chooses_compile(Train(compile=True), on("cpu"))
    assert not chooses_compile(Train(compile=False), on("cuda"))
