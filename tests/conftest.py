"""One torch thread, shapes checked, nothing random between runs."""

import os

os.environ.setdefault("CI", "true")

try:
    from jaxtyping import install_import_hook
except ImportError:
    pass
else:
    checked = ("attend", "cache", "heads", "kernels", "patterns", "positions", "scores")
    install_import_hook([f"regard.attention.{name}" for name in checked], "beartype.beartype")
    install_import_hook(
        [f"regard.blocks.{n}" for n in ("block", "embedding", "feedforward", "residual")], "beartype.beartype"
    )

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_chance() -> None:
    torch.manual_seed(0)
