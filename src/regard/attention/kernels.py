"""The only place that chooses how attention is computed. Each way equals `attend`; `regard verify` shows it.

| taken when | way |
|---|---|
| the score cannot be folded into a dot product (additive) | the formula |
| the lower triangle of one document per row | SDPA, `is_causal`, no mask built |
| everybody sees everybody | SDPA, no mask |
| anything else | SDPA with the mask (and bias) of the pattern |
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from regard.attention.attend import attend
from regard.attention.patterns import Sight
from regard.attention.scores import Score
from regard.shapes import Float, Tensor

torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every length, which costs more than a step of decoding


def formula(query, key, value, *, sight: Sight, score: Score, bias=None, dropout: float = 0.0):
    """The readable way, with the signature of a kernel."""
    allow = None if sight.unbounded else sight.allow()
    return attend(query, key, value, allow=allow, bias=bias, score=score, dropout=dropout).context


def fastest(
    query: Float[Tensor, "b h q d"],
    key: Float[Tensor, "b g k d"],
    value: Float[Tensor, "b g k e"],
    *,
    sight: Sight,
    score: Score,
    bias: Float[Tensor, "#b #h q k"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "b h q e"]:
    """The context of each query by the fastest way that computes the same."""
    folded = score.folded(query)
    if folded is None:
        return formula(query, key, value, sight=sight, score=score, bias=bias, dropout=dropout)
    query, scale = folded
    grouped = key.shape[1] != query.shape[1]
    if sight.causal and bias is None:
        return scaled_dot_product_attention(
            query, key, value, is_causal=True, dropout_p=dropout, scale=scale, enable_gqa=grouped
        )
    mask = bias
    if not sight.unbounded:
        allow = sight.allow()
        mask = allow if bias is None else bias.masked_fill(~allow, float("-inf"))
    return scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout, scale=scale, enable_gqa=grouped
    )
