"""A decoder alone learns to write what follows from a source in the same row (O9), and what it learns it read there."""

from pathlib import Path

import pytest

from regard.attention.compress import Strided
from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained, words

DMCA = {"attention": "dmca", "block": 4, "stride": 2, "depth": 3}


def continued(folder: Path, **system) -> float:
    """The share of short words never seen that are spelt backwards after themselves without a mistake."""
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        pairs = [f"{word}\t{word[::-1]}" for word in words(count, range(2, 5), split)]
        files[split] = lines_file(folder / f"{split}.tsv", pairs)
    run = trained(
        folder,
        "gpt",
        {**files, "valid": files["test"]},
        system={"width": 48, "context": 16, "position": "rotary", "depth": 2, **system},
        objective={"kind": "continuation"},
        decode={"max_tokens": 6},
        train={"steps": 400, "batch_tokens": 500, "rate": 5e-3},
    )
    return evaluate([run])["exact_match"]


@pytest.mark.parametrize("system", [{}, DMCA], ids=["full", "dmca"])
def test_a_decoder_alone_learns_to_reverse_what_stands_before(tmp_path: Path, system: dict) -> None:
    assert continued(tmp_path, **system) >= 0.9


def test_with_an_empty_memory_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in other blocks is seen through the compressed memory alone: without it little is right."""
    monkeypatch.setattr(Strided, "_mixed", lambda self, x, weight: 0 * x[:, :, : 1 + x.shape[2] // self.reach])
    assert continued(tmp_path, **DMCA) < 0.6
