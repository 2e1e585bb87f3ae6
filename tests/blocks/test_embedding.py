"""Tokens to vectors and back: a look-up is a matrix product with a one-hot vector (B2, B11)."""

import math

import pytest
import torch

from regard.attention.positions import Added, Position, Sinusoid
from regard.blocks.embedding import Embedding, Unembedding
from regard.systems import SYSTEMS, parameters
from tests.helpers import line, same

TOKENS = torch.tensor([[3, 0, 10], [7, 7, 2]])


def test_a_row_is_the_one_hot_vector_times_the_matrix() -> None:
    embedding = Embedding(11, 7, Position(), std=1.0)
    one_hot = torch.zeros(2, 3, 11)
    for row in range(2):
        for t in range(3):
            one_hot[row, t, TOKENS[row, t]] = 1.0
    same(embedding(TOKENS, line(2, 3)), one_hot @ embedding.rows.weight)


def test_one_hot_vectors_are_all_equally_far_apart() -> None:
    """C21: so they carry no similarity."""
    distances = torch.cdist(torch.eye(11), torch.eye(11))
    same(distances, math.sqrt(2) * (1 - torch.eye(11)))


def test_rows_are_scaled_before_positions_are_added() -> None:
    embedding = Embedding(11, 7, Added(Sinusoid(7)), std=1.0, scale=5.0)
    expected = 5 * embedding.rows.weight[TOKENS] + Sinusoid(7)(line(2, 3).index)
    same(embedding(TOKENS, line(2, 3)), expected)


def test_tied_output_shares_memory_with_the_embedding() -> None:
    embedding = Embedding(11, 7, Position(), std=1.0)
    tied, untied = Unembedding(11, 7, tied=embedding.rows), Unembedding(11, 7)
    assert tied.rows.weight is embedding.rows.weight
    assert untied.rows.weight.data_ptr() != embedding.rows.weight.data_ptr()
    x = torch.randn(2, 3, 7)
    same(tied(x), x @ embedding.rows.weight.T)


def test_vectors_are_scaled_before_they_are_read_out() -> None:
    embedding, x = Embedding(11, 7, Position(), std=1.0), torch.randn(2, 3, 7)
    plain, scaled = Unembedding(11, 7, tied=embedding.rows), Unembedding(11, 7, tied=embedding.rows, scale=0.3)
    same(scaled(x), 0.3 * plain(x))


@pytest.mark.parametrize(
    ("kind", "tied", "tables"),
    [
        ("gpt", True, 1),
        ("gpt", False, 2),
        ("transformer", "all", 1),
        ("transformer", "output", 2),
        ("transformer", "none", 3),
        ("t5", True, 1),
        ("t5", False, 2),
    ],
)
def test_tying_saves_whole_tables(kind: str, tied: bool | str, tables: int) -> None:
    """C15: what is tied is one tensor in memory and is counted once."""
    sizes = {"width": 14, "heads": 2, "depth": 1, "dropout": 0.0}
    small, large = (SYSTEMS[kind](**sizes, tied=tied).build(vocabulary) for vocabulary in (11, 12))
    assert parameters(large) - parameters(small) == 14 * tables
    shared = {small.decoder.embedding.rows.weight.data_ptr(), small.output.rows.weight.data_ptr()}
    if small.reads_source:
        shared.add(small.encoder.embedding.rows.weight.data_ptr())
    assert len(shared) == tables


def test_the_spread_is_the_one_asked_for() -> None:
    for std in (0.02, 1.0):
        rows = Embedding(101, 103, Position(), std=std).rows.weight
        assert float(rows.std().detach()) == pytest.approx(std, rel=0.05)
