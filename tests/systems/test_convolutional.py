"""Settings of convolutional systems: what they make, and what is refused with a way out."""

import subprocess
import sys
from typing import Any

import pytest
import torch

from regard.systems import SYSTEMS
from regard.systems.bytenet import ByteNet
from regard.systems.convs2s import ConvS2S
from regard.systems.window_lm import WindowLm
from tests.helpers import refused


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("window-lm", {"window": 1}, "system.window = 1; it must be at least 2"),
        ("window-lm", {"unit": "glue"}, "system.unit = 'glue' is not known; did you mean 'glu'?"),
        ("window-lm", {"dropout": 1.0}, "system.dropout = 1.0; it must be at least 0 and less than 1"),
        ("bytenet", {"kernel": 4}, "a window of 4 has no middle for an encoder; 3 and 5 have"),
        ("bytenet", {"width": 13}, "width 13 has no half inside a block; 12 and 14 have"),
        ("bytenet", {"widest": 6}, "system.widest = 6; dilations double from 1, so it must be a power of two"),
        ("bytenet", {"stretch": 0.9}, "system.stretch = 0.9; it must be at least 1, or the source's end is cut off"),
        ("convs2s", {"kernel": 1}, "system.kernel = 1; it must be at least 2"),
        ("convs2s", {"depth": 0}, "system.depth = 0; it must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, settings: dict[str, Any], message: str) -> None:
    with refused(message):
        SYSTEMS[kind](**settings).build(31)


def test_dilations_double_and_begin_anew() -> None:
    assert ByteNet(depth=7, widest=8).dilations == [1, 2, 4, 8, 1, 2, 4]


def test_a_system_tells_how_far_it_sees() -> None:
    assert WindowLm(width=6, depth=3, window=5).build(31).reach == 12
    assert ByteNet(width=6, depth=4, widest=8).build(31).reach == 30
    assert ConvS2S(width=6, depth=2, kernel=5).build(31).reach == 8


def test_only_learned_positions_limit_a_text() -> None:
    assert [SYSTEMS[kind](context=41).build(31).limit for kind in ("window-lm", "bytenet", "convs2s")] == [
        None,
        None,
        41,
    ]


@pytest.mark.parametrize(
    ("stretch", "count", "vectors"),
    [(1.1, 50, 55), (1.1, 51, 57), (1.2, 5, 6), (1.2, 7, 9), (1.0, 13, 13), (1.5, 0, 0)],
)
def test_bytenet_rounds_up_what_is_not_whole_and_nothing_else(stretch: float, count: int, vectors: int) -> None:
    """1.1 * 50 is 55; in floating point it is a little more."""
    model = ByteNet(width=6, stretch=stretch).build(31)
    assert model.stretched(count) == vectors
    assert model.stretched(torch.tensor([count])).tolist() == [vectors]


COMPILED = """
import torch
from regard.systems import SYSTEMS

graphs = []

def count(graph, inputs):
    graphs.append(graph)
    return graph.forward

for kind in ("window-lm", "bytenet", "convs2s"):
    model = SYSTEMS[kind](width=6, depth=2).build(31).eval()

    def run(tokens, source, present):
        return model.decode(tokens, model.encode(source, present) if model.reads_source else None)

    graphs.clear()
    torch.compiler.reset()
    compiled = torch.compile(run, backend=count)
    with torch.no_grad():
        for length in range(3, 23):
            tokens, source = torch.randint(31, (3, length + 2)), torch.randint(31, (3, length))
            present = torch.arange(length) < torch.tensor([[length], [2], [length - 1]])
            torch.testing.assert_close(compiled(tokens, source, present), run(tokens, source, present))
    print(kind, len(graphs))
"""


def test_one_compilation_serves_texts_of_every_length() -> None:
    """One for the first length and one for all others. In a process of its own, where no shapes are checked."""
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["window-lm 2", "bytenet 2", "convs2s 2"], done.stderr


def test_each_row_of_bytenet_has_as_many_vectors_as_its_own_length_asks_for() -> None:
    model = ByteNet(width=6, stretch=1.5).build(31)
    present = torch.arange(7) < torch.tensor([[7], [3], [5]])
    memory = model.encode(torch.randint(31, (3, 7)), present)
    assert memory.vectors.shape == (3, 11, 6)
    assert memory.at.present.sum(1).tolist() == [11, 5, 8]
