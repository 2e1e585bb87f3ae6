"""Programs for a GPU (Triton) that compute attention among blocks: the context, and what a gradient needs.

After FlashAttention-2 (Dao, 2023): a block of queries is held while the blocks of keys that it sees pass by. Tensors
lie as `[b t h d]`, and scores are kept in powers of 2. A program works off one list of blocks, or (DENSE) one part of
a list that has all; parts lie one after the other in what they write.
"""

# mypy: disable-error-code="no-untyped-def, index, operator"

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def tile(base, batch, head, row, length, HEADS: tl.constexpr, WIDTH: tl.constexpr):
    """Some rows of one head of one text; beyond its end there are zeros."""
    at = ((batch * length + row[:, None]) * HEADS + head) * WIDTH + tl.arange(0, WIDTH)[None, :]
    return tl.load(base + at, mask=((row >= 0) & (row < length))[:, None], other=0.0)


@triton.jit
def put(base, x, batch, head, row, length, HEADS: tl.constexpr, WIDTH: tl.constexpr):
    at = ((batch * length + row[:, None]) * HEADS + head) * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(base + at, x.to(base.dtype.element_ty), mask=(row < length)[:, None])


@triton.jit
def scored(query, key, q, k, scale, present, length, PLAIN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr):
    """How well queries fit keys; -inf where they may not look, which is nowhere if PLAIN. Keys before 0 are absent."""
    scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
    if PLAIN:
        return scores
    sees = ((k >= 0) & (k < length))[None, :] & (q < length)[:, None]
    if MASKED:
        sees = sees & (tl.load(present + k, mask=(k >= 0) & (k < length), other=0) != 0)[None, :]
    if CAUSAL:
        sees = sees & (k[None, :] <= q[:, None])
    return tl.where(sees, scores, float("-inf"))


@triton.jit
def mixed_up(x):
    """32 bits, of which each depends on all that were given: two rounds of shift and product."""
    x = (x ^ (x >> 16)) * 0x7FEB352D
    x = (x ^ (x >> 15)) * 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def kept(seeds, dropout, batch, head, q, k, length, HEADS: tl.constexpr):
    """0 for the share of weights that are dropped, 1 / (1 - share) for others: by chance, and twice the same."""
    row = mixed_up(((batch * HEADS + head) * length + q).to(tl.uint32) + tl.load(seeds).to(tl.uint32))
    row = mixed_up(row ^ tl.load(seeds + 1).to(tl.uint32))
    chance = mixed_up(row[:, None] ^ (k.to(tl.uint32) * 0x9E3779B9)[None, :])
    return tl.where((chance >> 8).to(tl.float32) * 2**-24 >= dropout, 1.0 / (1.0 - dropout), 0.0)


@triton.jit
def context_kernel(
    Q, K, V, C, L, lists, present, seeds, length, rows, first, count,
    dropout: tl.constexpr, scale: tl.constexpr,
    MOST: tl.constexpr, SHARED: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr, SIZE: tl.constexpr,
    DENSE: tl.constexpr, PLAIN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The context of one block of queries, from the blocks of its list, or (DENSE) from a part of all blocks.

    `L` is the logarithm of the sum that weights are divided by.
    """
    part = tl.program_id(1)
    block = tl.program_id(0) + first
    batch, head = tl.program_id(2) // HEADS, tl.program_id(2) % HEADS
    inside = tl.arange(0, SIZE)
    q = block * SIZE + inside
    query = tile(Q, batch, head, q, length, HEADS, WIDTH)
    best = tl.full([SIZE], float("-inf"), tl.float32)
    total = tl.zeros([SIZE], tl.float32)
    mix = tl.zeros([SIZE, WIDTH], tl.float32)
    mine = lists + ((0 if SHARED else batch) * count + block) * MOST
    for n in range(MOST):
        seen = part * MOST + n if DENSE else tl.load(mine + n)
        k = seen * SIZE + inside
        key, value = tile(K, batch, head, k, length, HEADS, WIDTH), tile(V, batch, head, k, length, HEADS, WIDTH)
        scores = scored(query, key, q, k, scale, present + batch * length, length, PLAIN, CAUSAL, MASKED)
        higher = tl.maximum(best, tl.max(scores, 1))
        level = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp2(scores - level[:, None])
        fade = tl.exp2(best - level)
        total = total * fade + tl.sum(weights, 1)
        if DROPS:
            weights *= kept(seeds, dropout, batch, head, q, k, length, HEADS)
        mix = mix * fade[:, None] + tl.dot(weights.to(value.dtype), value, input_precision="ieee")
        best = higher
    blind = total == 0.0
    mix = mix / tl.where(blind, 1.0, total)[:, None]
    level = tl.where(blind, float("inf"), best + tl.log2(tl.where(blind, 1.0, total)))
    batches = tl.num_programs(2) // HEADS
    put(C, mix, part * batches + batch, head, q, rows, HEADS, WIDTH)
    tl.store(L + ((part * batches + batch) * rows + q) * HEADS + head, level, mask=q < rows)


@triton.jit
def weighed(
    query, key, value, given, q, k, batch, head, L, D, scale, present, seeds, dropout, length,
    HEADS: tl.constexpr, PLAIN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """Weights of a pair of blocks as values were mixed with them, and the gradient of their scores."""
    at = (batch * length + q) * HEADS + head
    level = tl.load(L + at, mask=q < length, other=float("inf"))
    scores = scored(query, key, q, k, scale, present + batch * length, length, PLAIN, CAUSAL, MASKED)
    weights = tl.exp2(scores - level[:, None])
    change = tl.dot(given, tl.trans(value), input_precision="ieee")
    drift = tl.load(D + at, mask=q < length, other=0.0)[:, None]
    if DROPS:
        stays = kept(seeds, dropout, batch, head, q, k, length, HEADS)
        return weights * stays, weights * (change * stays - drift)
    return weights, weights * (change - drift)


@triton.jit
def drift_kernel(G, C, D, length, HEADS: tl.constexpr, WIDTH: tl.constexpr, SIZE: tl.constexpr):
    """The context times its gradient, of each query: what a weight's gradient is measured from."""
    batch, head = tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    q = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    given, context = tile(G, batch, head, q, length, HEADS, WIDTH), tile(C, batch, head, q, length, HEADS, WIDTH)
    drift = tl.sum(given.to(tl.float32) * context.to(tl.float32), 1)
    tl.store(D + (batch * length + q) * HEADS + head, drift, mask=q < length)


@triton.jit
def query_kernel(
    Q, K, V, G, L, D, dQ, lists, present, seeds, length, rows, first, count,
    dropout: tl.constexpr, scale: tl.constexpr,
    MOST: tl.constexpr, SHARED: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr, SIZE: tl.constexpr,
    DENSE: tl.constexpr, PLAIN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The gradient of one block of queries; lists and parts as of the context."""
    part = tl.program_id(1)
    block = tl.program_id(0) + first
    batch, head = tl.program_id(2) // HEADS, tl.program_id(2) % HEADS
    inside = tl.arange(0, SIZE)
    q = block * SIZE + inside
    query, given = tile(Q, batch, head, q, length, HEADS, WIDTH), tile(G, batch, head, q, length, HEADS, WIDTH)
    gradient = tl.zeros([SIZE, WIDTH], tl.float32)
    mine = lists + ((0 if SHARED else batch) * count + block) * MOST
    for n in range(MOST):
        seen = part * MOST + n if DENSE else tl.load(mine + n)
        k = seen * SIZE + inside
        key, value = tile(K, batch, head, k, length, HEADS, WIDTH), tile(V, batch, head, k, length, HEADS, WIDTH)
        _, change = weighed(
            query, key, value, given, q, k, batch, head, L, D, scale, present, seeds, dropout, length,
            HEADS, PLAIN, CAUSAL, MASKED, DROPS,
        )  # fmt: skip
        gradient += tl.dot(change.to(key.dtype), key, input_precision="ieee")
    batches = tl.num_programs(2) // HEADS
    put(dQ, gradient * (scale / LOG2_E), part * batches + batch, head, q, rows, HEADS, WIDTH)


@triton.jit
def key_kernel(
    Q, K, V, G, L, D, dK, dV, lists, seen_by, present, seeds, length, rows, first, count,
    dropout: tl.constexpr, scale: tl.constexpr,
    MOST: tl.constexpr, SHARED: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr, SIZE: tl.constexpr,
    DENSE: tl.constexpr, PLAIN: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
):  # fmt: skip
    """The gradient of one block of keys and values, from the blocks of queries that see it."""
    part = tl.program_id(1)
    block = tl.program_id(0) + first
    batch, head = tl.program_id(2) // HEADS, tl.program_id(2) % HEADS
    inside = tl.arange(0, SIZE)
    k = block * SIZE + inside
    key, value = tile(K, batch, head, k, length, HEADS, WIDTH), tile(V, batch, head, k, length, HEADS, WIDTH)
    for_key = tl.zeros([SIZE, WIDTH], tl.float32)
    for_value = tl.zeros([SIZE, WIDTH], tl.float32)
    row = (0 if SHARED else batch) * count + block
    number = tl.load(seen_by + row)
    if DENSE:
        begin = part * MOST
        end = tl.minimum(begin + MOST, number)
    else:
        begin = 0
        end = number
    for n in range(begin, end):
        q = tl.load(lists + row * count + n) * SIZE + inside
        query, given = tile(Q, batch, head, q, length, HEADS, WIDTH), tile(G, batch, head, q, length, HEADS, WIDTH)
        weights, change = weighed(
            query, key, value, given, q, k, batch, head, L, D, scale, present, seeds, dropout, length,
            HEADS, PLAIN, CAUSAL, MASKED, DROPS,
        )  # fmt: skip
        for_value += tl.dot(tl.trans(weights).to(given.dtype), given, input_precision="ieee")
        for_key += tl.dot(tl.trans(change).to(query.dtype), query, input_precision="ieee")
    batches = tl.num_programs(2) // HEADS
    put(dK, for_key * (scale / LOG2_E), part * batches + batch, head, k, rows, HEADS, WIDTH)
    put(dV, for_value, part * batches + batch, head, k, rows, HEADS, WIDTH)
