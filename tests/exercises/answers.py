"""Right answers as a student might write them from the text of each exercise alone."""

import math
from collections import Counter

import torch


def look_up(tokens, table):
    one_hot = (tokens[..., None] == torch.arange(len(table))).float()
    return one_hot, one_hot @ table


def softmax(scores):
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)


def scaled_dot_product(query, key):
    scores = torch.zeros(*query.shape[:3], key.shape[2])
    for q in range(query.shape[2]):
        for k in range(key.shape[2]):
            scores[:, :, q, k] = (query[:, :, q] * key[:, :, k]).sum(-1) / math.sqrt(query.shape[-1])
    return scores


def causal_mask(length):
    return torch.tensor([[k <= q for k in range(length)] for q in range(length)])


def split_heads(x, heads):
    d = x.shape[-1] // heads
    return torch.stack([x[:, :, h * d : (h + 1) * d] for h in range(heads)], dim=1)


def attention(query, key, value, present):
    scores = scaled_dot_product(query, key)
    scores = scores.masked_fill(~present[:, None, None, :], float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    return weights, weights @ value


def multi_head(x, to_query, to_key, to_value, to_output, heads):
    query, key, value = (split_heads(x @ matrix, heads) for matrix in (to_query, to_key, to_value))
    found = [torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v for q, k, v in
             zip(query.unbind(1), key.unbind(1), value.unbind(1), strict=True)]  # fmt: skip
    return torch.cat(found, dim=-1) @ to_output


def sinusoids(length, width):
    table = torch.zeros(length, width)
    for p in range(length):
        for i in range(width // 2):
            angle = p / 10000 ** (2 * i / width)
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def layer_norm(x, gain, bias, eps):
    left = x - x.mean(-1, keepdim=True)
    return left / torch.sqrt((left**2).mean(-1, keepdim=True) + eps) * gain + bias


def label_smoothing(logits, targets, smoothing):
    n, v = logits.shape
    wanted = torch.full((n, v), smoothing / v)
    wanted[torch.arange(n), targets] += 1 - smoothing
    return -(wanted * torch.log_softmax(logits, -1)).sum(-1)


def perplexity(logits, targets):
    nats = [
        -torch.log_softmax(logits[b, t], -1)[targets[b, t]]
        for b in range(targets.shape[0])
        for t in range(targets.shape[1])
        if targets[b, t] != -100
    ]
    return torch.exp(torch.stack(nats).mean())


def gleu(tokens, reference):
    def grams(text):
        return Counter(tuple(text[i : i + n]) for n in (1, 2, 3, 4) for i in range(len(text) - n + 1))

    one, two = grams(tokens), grams(reference)
    most = max(sum(one.values()), sum(two.values()))
    return sum(min(one[gram], two[gram]) for gram in one) / most if most else 1


def lstm_step(x, hidden, cell, into, again, bias):
    w = hidden.shape[1]
    layers = x @ into.T + hidden @ again.T + bias
    i, f, g, o = (layers[:, n * w : (n + 1) * w] for n in range(4))
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def rotary(x, index):
    d, result = x.shape[-1], torch.zeros_like(x)
    for i in range(d // 2):
        a = (index / 10000 ** (2 * i / d))[:, None]
        u, v = x[..., 2 * i], x[..., 2 * i + 1]
        result[..., 2 * i] = u * torch.cos(a) - v * torch.sin(a)
        result[..., 2 * i + 1] = u * torch.sin(a) + v * torch.cos(a)
    return result


def nucleus(scores, p):
    kept = torch.full_like(scores, -math.inf)
    for row, chances in enumerate(torch.softmax(scores, -1)):
        total = 0.0
        for token in torch.argsort(chances, descending=True):
            kept[row, token] = scores[row, token]
            total += chances[token]
            if total >= p:
                break
    return kept


def beam_step(totals, chances, beam, end):
    n, v = chances.shape
    candidates = sorted(((totals[r] + float(chances[r, t]), r, t) for r in range(n) for t in range(v)), reverse=True)
    going = [(r, t) for _, r, t in candidates if t != end][:beam]
    return going, [(r, total) for total, r, t in candidates[:beam] if t == end]


def cut_spans(tokens, spans, sentinels):
    source, target, at = [], [], 0
    for (begin, end), sentinel in zip(spans, sentinels, strict=False):
        source += [*tokens[at:begin], sentinel]
        target += [sentinel, *tokens[begin:end]]
        at = end
    return source + tokens[at:], target


def bpe(word, learnt):
    pieces = list(word)
    for one, two in learnt:
        i = 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == (one, two):
                pieces[i : i + 2] = [one + two]
            i += 1
    return pieces
