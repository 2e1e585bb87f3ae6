"""The five steps of attention (text 000) for one word, with the numbers of the running model.

Queries, keys, values, scores and weights are what the taps showed; the sum is that of the readable formula `attend`,
and it is held against what the model's own kernel gave.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import linear

from regard.attention import MultiHead, attend
from regard.attention.attend import serve
from regard.attention.look import ROLES, Look
from regard.attention.scores import Score
from regard.checkpoint import Run
from regard.data.parse import Parse
from regard.errors import UserError
from regard.explain.listening import Heard, check_head, check_layer, every_look, listen, shown
from regard.explain.sides import Side, looking, sides
from regard.explain.words import NO_ATTENTION, Found, choose, locate
from regard.shapes import Float, Tensor

SEEN = ("query", "key", "value", "scores", "weights", "context")


@dataclass(frozen=True, eq=False)
class Steps:
    """One query of one head, and the keys that it may see. `keys` names them; `at` says which token looks.

    `bias` is what the position scheme adds to the scores, `placed` what it adds to the sum, None when it adds nothing.
    `context` is the sum by the formula, `kernel` the running model's own; `share` is what this head adds to the layer's
    output, None where nothing is projected.
    """

    name: str
    kind: str
    head: int
    score: Score
    word: Found
    looks: Side
    keys: list[str]
    query: Float[Tensor, "d"]
    key: Float[Tensor, "k d"]
    value: Float[Tensor, "k e"]
    bias: Float[Tensor, "k"] | None
    scores: Float[Tensor, "k"]
    weights: Float[Tensor, "k"]
    weighted: Float[Tensor, "k e"]
    placed: Float[Tensor, "e"] | None
    context: Float[Tensor, "e"]
    kernel: Float[Tensor, "e"]
    share: Float[Tensor, "w"] | None

    @property
    def at(self) -> int:
        """The last token of the word: it alone has read all of it."""
        return self.word.tokens[-1]

    @property
    def difference(self) -> float:
        """The largest between the formula's sum and what the kernel gave."""
        return float((self.context - self.kernel).abs().max())


def walk(
    run: Run,
    *,
    word: str,
    text: str | Parse | None = None,
    second: str | None = None,
    source: str | None = None,
    target: str | None = None,
    layer: int = 0,
    head: int = 0,
    side: str = "auto",
) -> Steps:
    """The numbers of the five steps. `side` is "encoder", "decoder" or "cross"; "auto" is the first with the word."""
    reads, writes = sides(run, text=text, second=second, source=source, target=target)
    attentions = every_look(run)
    if not attentions:
        raise UserError(f"{NO_ATTENTION}; there are no steps to walk through")
    kinds = [kind for kind in ROLES if any(kind == found for found, _ in attentions)]
    kind, found = locate(reads, writes, word, choose(side, kinds))
    name, part = pick_layer(attentions, kind, layer)
    taps = (*SEEN, "added") if part.position.on_values else SEEN
    seen = listen(run, reads, writes, *(f"{name}.{each}" for each in taps))
    check_head(name, head, seen.all(f"{name}.query")[-1].shape[1])
    looks, looked = looking(kind, reads, writes)
    around = run.model.get_submodule(name.rpartition(".")[0])
    return numbers(seen, part, name, around, head=head, word=found, looks=looks, looked=looked)


def pick_layer(attentions: dict[tuple[str, int], tuple[str, Look]], kind: str, layer: int) -> tuple[str, Look]:
    check_layer(kind, layer, (at for found, at in attentions if found == kind))
    return attentions[kind, layer]


@torch.no_grad()
def numbers(
    seen: Heard, part: Look, name: str, around: nn.Module, *, head: int, word: Found, looks: Side, looked: Side
) -> Steps:
    """One row of one head out of what the taps showed, and the same by the formula."""
    query, scores, weights, kernel = (
        shown(seen, f"{name}.{each}")[None] for each in ("query", "scores", "weights", "context")
    )
    key, value = (serve(seen.all(f"{name}.{each}")[-1], query.shape[1]) for each in ("key", "value"))
    allow, bias = scores > -torch.inf, added(scores, part.score(query, key))
    row = word.tokens[-1]
    context = attend(query, key, value, allow=allow, bias=bias, score=part.score).context[0, head, row]
    placed = shown(seen, f"{name}.added")[head, row] if part.position.on_values else None
    context = context if placed is None else context + placed
    sees = allow[0, head, row]
    labels = part.compress.names(looked.labels) or looked.labels
    return Steps(
        name=name.removesuffix(".look"),
        kind=part.role,
        head=head,
        score=part.score,
        word=word,
        looks=looks,
        keys=[labels[key] for key in sees.nonzero()[:, 0].tolist()],
        query=query[0, head, row],
        key=key[0, head, sees],
        value=value[0, head, sees],
        bias=bias[0, head, row, sees] if bias is not None else None,
        scores=scores[0, head, row, sees],
        weights=weights[0, head, row, sees],
        weighted=weights[0, head, row, sees, None] * value[0, head, sees],
        placed=placed,
        context=context,
        kernel=kernel[0, head, row],
        share=projected(around, context, head),
    )


def added(scores: Float[Tensor, "b h q k"], plain: Float[Tensor, "b h q k"]) -> Float[Tensor, "b h q k"] | None:
    """What stands in the scores beside the fit of query and key; None when it is no more than rounding."""
    bias = (scores - plain).masked_fill(scores == -torch.inf, 0.0)
    return bias if bias.abs().max() > 1e-4 * (1 + plain.abs().max()) else None


def projected(around: nn.Module, context: Float[Tensor, "e"], head: int) -> Float[Tensor, "w"] | None:
    """This head's share of the layer's output: the other heads set to zero, without the bias that all share."""
    if not isinstance(around, MultiHead):
        return None
    alone = context.new_zeros(around.heads, len(context))
    alone[head] = context
    return linear(alone.flatten(), around.output.weight)
