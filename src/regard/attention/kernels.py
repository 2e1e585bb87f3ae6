"""The only place that chooses how attention is computed. Each way equals `attend`; `regard verify` shows it.

| taken when | way |
|---|---|
| the score cannot be folded into a dot product (additive), or places act on values (Shaw) | the formula |
| few blocks see each other (BigBird, local) | these blocks side by side, then one of the ways below |
| the lower triangle of one document per row | SDPA, `is_causal`, no mask built |
| everybody sees everybody | SDPA, no mask |
| anything else | SDPA with the mask (and bias) of the pattern |
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from regard.attention.attend import Attended, attend
from regard.attention.blocked import blocked
from regard.attention.patterns import Sight
from regard.attention.positions import Position
from regard.attention.scores import Score
from regard.shapes import Float, Tensor

torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every length, which costs more than a step of decoding

PLAIN = Position()


def attended(
    query, key, value, *, sight: Sight, score: Score, position: Position = PLAIN, dropout: float = 0.0
) -> Attended:
    """The formula with all that it computed on the way."""
    allow = None if sight.unbounded else sight.allow()
    bias = position.on_scores(query, sight.q, sight.k)
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
    if position.on_values or score.folded(query) is None:
        return formula(query, key, value, sight=sight, score=score, position=position, dropout=dropout)

    def dense(query, key, value, sight):
        return fused(query, key, value, sight=sight, score=score, position=position, dropout=dropout)

    if sight.blocks is not None:
        return blocked(dense, query, key, value, sight)
    return dense(query, key, value, sight)


def fused(query, key, value, *, sight: Sight, score: Score, position: Position, dropout: float):
    """One call of torch's kernel, with as little of a mask as will do."""
    bias = position.on_scores(query, sight.q, sight.k)
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
