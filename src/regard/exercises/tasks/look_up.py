"""One-hot vector times matrix = row look-up (B2)."""

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.functional import one_hot

from regard.attention.positions import Position
from regard.blocks.embedding import Embedding
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.place import Place


def look_up(tokens: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens become one-hot vectors, and these, times a matrix, the vectors of words.

    tokens [b t] are whole numbers from 0, table [v w] has a row for each of them. Return two tensors of floats:
    one_hot [b t v], which is 1 at the number of each token and 0 elsewhere, and vectors [b t w], one_hot times table.
    """
    raise NotImplementedError


def solution(tokens: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    words = Embedding(table.shape[0], table.shape[1], Position(), std=1.0)
    return one_hot(tokens, len(table)).float(), functional_call(
        words, {"rows.weight": table}, (tokens, Place.line(tokens))
    )


def of_places(tokens: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    return solution(torch.arange(tokens.shape[1]).expand(tokens.shape), table)


def turned(tokens: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    rows, vectors = solution(tokens, table)
    return rows.transpose(1, 2), vectors


def marked(tokens: Tensor, width: int) -> Tensor:
    return (tokens[..., None] == torch.arange(width)).float()


def one_each(function: Function, dice: Dice) -> bool:
    rows, _ = function(dice.below(13, 2, 5), dice.normal(13, 3))
    return torch.equal(rows.sum(-1), torch.ones(2, 5))


def equally_far(function: Function, dice: Dice) -> bool:
    rows, _ = function(torch.arange(7)[None], dice.normal(7, 3))
    apart = torch.cdist(rows[0], rows[0])[~torch.eye(7, dtype=torch.bool)]
    return torch.allclose(apart, torch.tensor(2.0).sqrt().expand_as(apart))


def anywhere(function: Function, dice: Dice) -> bool:
    _, vectors = function(torch.tensor([[4, 2, 4, 4]]), dice.normal(5, 3))
    return torch.equal(vectors[0, 0], vectors[0, 2]) and torch.equal(vectors[0, 0], vectors[0, 3])


exercise = Exercise(
    number=1,
    level="easy",
    lectures=("B2",),
    blank=look_up,
    solution=solution,
    gives=("one_hot", "vectors"),
    without=("one_hot", "embedding", "Embedding"),
    cases=lambda dice: [
        (torch.tensor([[2]]), dice.normal(3, 2)),
        (dice.below(13, 2, 5), dice.normal(13, 3)),
        (dice.below(11, 3, 7), dice.normal(11, 5)),
    ],
    slips=(
        Slip(
            "counts from 1",
            "tokens count from 0: the 1 of token 2 stands at index 2, and its vector is table[2]",
            lambda tokens, table: solution((tokens - 1) % len(table), table),
        ),
        Slip("one-hot of the place", "the 1 stands at the token's number, not at its place in the text", of_places),
        Slip(
            "as long as a vector",
            "a one-hot vector has as many numbers as there are words, table.shape[0], not as a word's vector has",
            lambda tokens, table: (rows := torch.eye(table.shape[1])[tokens], rows @ table),
            (
                lambda tokens, table: (marked(tokens, table.shape[1]), table[tokens]),
                lambda tokens, table: (rows := marked(tokens, table.shape[1]), rows @ table),
                lambda tokens, table: torch.zeros(*tokens.shape, table.shape[1]).scatter(-1, tokens[..., None], 1.0),
            ),
        ),
        Slip(
            "vectors for one_hot",
            "the first result is what multiplies the table, one_hot [b t v]; the rows of the table are the second",
            lambda tokens, table: (table[tokens], table[tokens]),
        ),
        Slip("axes of one_hot", "the axis of the vocabulary comes last: one_hot is [b t v]", turned),
    ),
    laws=(
        Law("each one-hot vector sums to 1", one_each),
        Law("two different one-hot vectors are as far apart as any other two", equally_far),
        Law("a token has the same vector wherever it stands", anywhere),
    ),
)
