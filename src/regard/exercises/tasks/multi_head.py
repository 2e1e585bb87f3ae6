"""Several attentions side by side (B5)."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call

from regard.attention.attend import attend
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.scores import scaled_dot
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.place import Place


def multi_head(x: Tensor, to_query: Tensor, to_key: Tensor, to_value: Tensor, to_output: Tensor, heads: int) -> Tensor:
    """Several heads look side by side, and what they bring is mixed by one matrix more.

    x [b t w] times to_query, to_key and to_value [w w] gives queries, keys and values. Each of `heads` heads takes its
    own w / heads columns of these, next to each other, and does scaled dot-product attention with them. What the heads
    bring stands side by side again, [b t w], and times to_output [w w] is the result. Nothing is masked.
    """
    raise NotImplementedError


def solution(x: Tensor, to_query: Tensor, to_key: Tensor, to_value: Tensor, to_output: Tensor, heads: int) -> Tensor:
    model = MultiHead(x.shape[-1], heads, Look("encoder"), bias=False)
    matrices = {"to_query": to_query, "to_key": to_key, "to_value": to_value, "output": to_output}
    weights = {f"{name}.weight": matrix.T for name, matrix in matrices.items()}
    return functional_call(model, weights, (x, Place.line(x[..., 0])))


def joined(context: Tensor) -> Tensor:
    return context.transpose(1, 2).flatten(2)


def put_together(
    x: Tensor,
    to_query: Tensor,
    to_key: Tensor,
    to_value: Tensor,
    to_output: Tensor,
    heads: int,
    *,
    split: Function = MultiHead._split,
    join: Function = joined,
    score: Function = scaled_dot,
) -> Tensor:
    """The same with parts that may be wrong."""
    query, key, value = (split(x @ matrix, heads) for matrix in (to_query, to_key, to_value))
    return join(attend(query, key, value, score=score).context) @ to_output


def at_once(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def interleaved(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def whole_width(query: Tensor, key: Tensor) -> Tensor:
    return scaled_dot(query, key) / query.shape[1] ** 0.5


def no_output(x: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int) -> Tensor:
    return solution(x, query, key, value, torch.eye(x.shape[-1]), heads)


def no_value(x: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int) -> Tensor:
    return solution(x, query, key, torch.eye(x.shape[-1]), output, heads)


def output_turned(x: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int) -> Tensor:
    return solution(x, query, key, value, output.T, heads)


def one_head(x: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int) -> Tensor:
    return solution(x, query, key, value, output, 1)


def turned(x: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int) -> Tensor:
    return solution(x, query.T, key.T, value.T, output.T, heads)


def case(dice: Dice, b: int, t: int, w: int, heads: int) -> tuple[Any, ...]:
    return dice.normal(b, t, w), *(dice.normal(w, w) / w**0.5 for _ in range(4)), heads


def order_unseen(function: Function, dice: Dice) -> bool:
    x, *rest = case(dice, 1, 5, 6, 3)
    other = torch.tensor([3, 0, 4, 1, 2])
    return torch.allclose(function(x[:, other], *rest), function(x, *rest)[:, other], atol=1e-5)


def heads_matter(function: Function, dice: Dice) -> bool:
    *rest, _ = case(dice, 1, 5, 6, 3)
    return not torch.allclose(function(*rest, 1), function(*rest, 3), atol=1e-3)


exercise = Exercise(
    number=7,
    level="medium",
    lectures=("B5",),
    blank=multi_head,
    solution=solution,
    without=("scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"),
    cases=lambda dice: [case(dice, 1, 3, 4, 1), case(dice, 2, 5, 6, 3), case(dice, 3, 7, 10, 2)],
    slips=(
        Slip(
            "scaled by the whole width",
            "each head divides by the root of its own width, w / heads, not of w",
            partial(put_together, score=whole_width),
        ),
        Slip(
            "no scaling",
            "divide the scores by the root of a head's width",
            partial(put_together, score=lambda query, key: query @ key.transpose(-2, -1)),
        ),
        Slip(
            "split at once",
            "cut the columns first, [b t h d], then exchange t and h; [b h t d] at once mixes tokens and heads",
            partial(put_together, split=at_once),
        ),
        Slip(
            "joined at once",
            "exchange t and h back before the heads are put side by side: [b t h d], then [b t w]",
            partial(put_together, join=lambda context: context.reshape(context.shape[0], context.shape[2], -1)),
        ),
        Slip(
            "split and joined at once",
            "[b t w] is no [b h t d] in another shape: cut the columns, then exchange t and h, and back at the end",
            partial(
                put_together, split=at_once, join=lambda context: context.reshape(len(context), context.shape[2], -1)
            ),
        ),
        Slip(
            "heads interleaved",
            "the columns of a head stand side by side: cut w into (h, d), not into (d, h)",
            partial(put_together, split=interleaved),
        ),
        Slip("one head", "all columns are one head: cut them into `heads`", one_head),
        Slip("no output", "the heads are put side by side; now multiply by to_output", no_output),
        Slip("no values", "what is mixed are the values, x @ to_value, not x itself", no_value),
        Slip("output turned", "multiply by to_output as it is, without turning it", output_turned),
        Slip("matrices turned", "x @ matrix is meant, without turning the matrix", turned),
    ),
    laws=(
        Law("other order of the tokens, same order of the results: attention alone sees no order", order_unseen),
        Law("one head and three do not do the same", heads_matter),
    ),
)
