"""Numbers in few bits: bit for bit what the package `gguf` makes of the same bytes, and close to what was packed."""

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize, quantize

from regard.interop.files import blocks
from regard.interop.files.blocks import KINDS, dequantised

each_kind = pytest.mark.parametrize("number", KINDS, ids=[kind.name for kind in KINDS.values()])


@each_kind
def test_any_bytes_become_the_same_numbers(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, theirs = KINDS[number], gguf.GGMLQuantizationType(number)
    assert (theirs.name, gguf.GGML_QUANT_SIZES[theirs]) == (kind.name, (kind.numbers, kind.size))
    content = np.random.default_rng(7).integers(0, 256, (17, 5 * kind.size), dtype=np.uint8)
    with np.errstate(all="ignore"):
        expected = dequantize(content, theirs)
    monkeypatch.setattr(blocks, "CHUNK", 3)
    got = dequantised(kind, content.reshape(-1)).reshape(expected.shape)
    assert got.dtype == np.float32
    assert np.array_equal(got.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize(
    ("name", "far"),
    [
        ("F32", 0),
        ("F16", 1e-3),
        ("BF16", 1e-2),
        ("Q8_0", 0.02),
        ("Q5_1", 0.1),
        ("Q5_0", 0.2),
        ("Q4_1", 0.2),
        ("Q4_0", 0.4),
    ],
)
def test_what_was_packed_comes_back_nearly(name: str, far: float) -> None:
    numbers = np.random.default_rng(3).normal(size=(3, 64)).astype(np.float32)
    packed = quantize(numbers, gguf.GGMLQuantizationType[name])
    kind = next(kind for kind in KINDS.values() if kind.name == name)
    got = dequantised(kind, packed.view(np.uint8).reshape(-1)).reshape(numbers.shape)
    assert np.abs(got - numbers).max() <= far
