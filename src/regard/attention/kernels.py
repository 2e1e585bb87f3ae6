"""The only place that chooses how attention is computed. Each way equals `attend`; `regard verify` shows it.

| taken when | way |
|---|---|
| BigBird on a CUDA device, with nothing added to the scores | kernels of our own, `sparse.py` |
| few blocks see each other (BigBird, local) | these blocks side by side, or those of one query, then a way below |
| the score cannot be folded into a dot product (additive), or places act on values (Shaw) | the formula |
| the lower triangle of one document per row | SDPA, `is_causal`, no mask built |
| everybody sees everybody | SDPA, no mask |
| anything else | SDPA with the mask (and bias) of the pattern |
"""

from importlib.util import find_spec

import torch
from torch.nn.functional import scaled_dot_product_attention

from regard.attention.attend import Attended, attend
from regard.attention.blocked import blocked, stepped
from regard.attention.blocks import BigBird
from regard.attention.patterns import Sight, causal
from regard.attention.positions import Position
from regard.attention.scores import Score
from regard.shapes import Float, Tensor

torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every length, which costs more than a step of decoding

PLAIN = Position()
TRITON = find_spec("triton") is not None
WIDTHS = SIZES = (16, 32, 64, 128)  # of heads and of blocks, for which our own kernels are made
NUMBERS = (torch.float32, torch.bfloat16, torch.float16)  # that they read; they add up in float32


def attended(
    query, key, value, *, sight: Sight, score: Score, position: Position = PLAIN, dropout: float = 0.0
) -> Attended:
    """The formula with all that it computed on the way."""
    allow = None if sight.unbounded else sight.allow()
    bias = position.on_scores(query, sight.q, sight.k, score)
    found = attend(query, key, value, allow=allow, bias=bias, score=score, dropout=dropout)
    added = position.on_context(found.dropped, sight.q, sight.k)
    return found if added is None else found._replace(context=found.context + added)


def formula(query, key, value, **how) -> Float[Tensor, "b h q e"]:
    """The readable way, with the signature of a kernel."""
    return attended(query, key, value, **how).context


def fastest(
    query: Float[Tensor, "b h q d"],
    key: Float[Tensor, "b g k d"],
    value: Float[Tensor, "b g k e"],
    *,
    sight: Sight,
    score: Score,
    position: Position = PLAIN,
    dropout: float = 0.0,
) -> Float[Tensor, "b h q e"]:
    """The context of each query by the fastest way that computes the same."""
    slow = position.on_values or score.folded(query) is None

    def dense(query, key, value, sight):
        way = formula if slow else fused
        return way(query, key, value, sight=sight, score=score, position=position, dropout=dropout)

    if not slow and sparsely(query, key, value, sight, position):
        return by_blocks(query, key, value, sight, score, dropout)
    if sight.blocks is not None:
        return blocked(dense, query, key, value, sight)
    if sight.step is not None:
        return stepped(dense, query, key, value, sight)
    return dense(query, key, value, sight)


def fused(query, key, value, *, sight: Sight, score: Score, position: Position, dropout: float):
    """One call of torch's kernel, with as little of a mask as will do."""
    bias = position.on_scores(query, sight.q, sight.k, score)
    folded = score.folded(query)
    assert folded is not None
    query, scale = folded
    how = {"dropout_p": dropout, "scale": scale, "enable_gqa": key.shape[1] != query.shape[1]}
    if sight.causal and bias is None:
        return scaled_dot_product_attention(query, key, value, is_causal=True, **how)
    mask = bias
    if not sight.unbounded:
        allow = sight.allow()
        mask = allow if bias is None else bias.masked_fill(~allow, float("-inf"))
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, **how)


def sparsely(query, key, value, sight: Sight, position: Position) -> bool:
    """Whether our own kernels serve: they know BigBird's rule and no other beside it."""
    rule = sight.blocks
    if not (query.is_cuda and query.dtype in NUMBERS and isinstance(rule, BigBird) and TRITON):
        return False
    if sight.pattern.within is not (None if rule.ahead else causal):
        return False
    plain = type(position).on_scores is Position.on_scores
    fits = query.shape[-1] in WIDTHS and rule.size in SIZES
    return plain and fits and query.shape == key.shape == value.shape


def by_blocks(query, key, value, sight: Sight, score: Score, dropout: float) -> Float[Tensor, "b h q e"]:
    from regard.attention.sparse import sparse

    folded = score.folded(query)
    assert folded is not None and isinstance(sight.blocks, BigBird)
    query, scale = folded
    return sparse(query, key, value, blocks=sight.blocks, scale=scale, present=sight.k.present, dropout=dropout)
