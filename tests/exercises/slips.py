"""Mistakes as students write them: for each exercise lines of a body, and what is said first."""

SLIPS = {
    "look_up": [
        ("return table[tokens], table[tokens]", "vectors for one_hot"),
        ("o = torch.zeros(*tokens.shape, table.shape[1]); o.scatter_(2, tokens[..., None], 1)", "as long as a vector"),
        ("o = (tokens[..., None] == torch.arange(table.shape[1])).float(); return o, o @ table", "as long as a vector"),
        ("return (tokens[..., None] == torch.arange(table.shape[1])).float(), table[tokens]", "as long as a vector"),
        ("o = torch.eye(table.shape[1])[tokens]; return o, o @ table", "as long as a vector"),
    ],
    "softmax": [
        ("return torch.exp(scores - scores.max(-1, keepdim=True))", "values and indices"),
        ("e = torch.exp(scores - torch.max(scores, dim=-1)); return e / e.sum(-1, keepdim=True)", "values and indices"),
        ("e = torch.exp(scores - scores.amax(-1)); return e / e.sum(-1, keepdim=True)", "sum without keepdim"),
    ],
    "scaled_dot_product": [
        ("return query @ key.mT / math.sqrt(query.shape[1] * query.shape[3])", "root of the model's width"),
        ("return query * key", "product in place of dot product"),
        ("return query * key / query.shape[-1] ** 0.5", "product in place of dot product"),
        ("return query * key.transpose(-1, -2) / query.shape[-1] ** 0.5", "product in place of dot product"),
    ],
    "split_heads": [
        ("b, t, w = x.shape; return x.view(b, t, heads, w / heads).transpose(1, 2)", "a fraction for a size"),
        (
            "d = x.shape[-1] / heads; return torch.stack([x[..., d * i :] for i in range(heads)])",
            "bounds of a slice",
        ),
        ("d = x.shape[-1] / heads; return torch.stack(x.split(d, -1), 1)", "a fraction for a size"),
        ("d = x.shape[-1] / heads; return torch.zeros(len(x), heads, x.shape[1], d)", "a fraction for a size"),
    ],
    "attention": [
        (
            "s = query @ key.mT / query.shape[-1] ** 0.5; s = s.masked_fill(~present[:, None, None], -1e30)\n"
            "w = s.softmax(-1) * present[:, None, None]; return w @ value, w",
            "context before weights",
        ),
        (
            "s = query @ key.mT / query.shape[-1] ** 0.5; t = s.shape[-1]\n"
            "s = s.masked_fill(~(present[:, None, None] & torch.ones(t, t).tril().bool()), -math.inf)\n"
            "w = s.softmax(-1).nan_to_num(0.0); return w, w @ value",
            "causal too",
        ),
        ("s = query @ key.mT; return (s - s.max(-1)).softmax(-1), value", "values and indices"),
    ],
    "multi_head": [
        (
            "b, t, w = x.shape; cut = lambda y: y.view(b, t, heads, w // heads).transpose(1, 2)\n"
            "q, k, v = cut(x @ to_query), cut(x @ to_key), cut(x)\n"
            "c = (q @ k.mT / (w // heads) ** 0.5).softmax(-1) @ v; return c.transpose(1, 2).flatten(2) @ to_output",
            "no values",
        ),
        (
            "b, t, w = x.shape; cut = lambda y: y.view(b, t, heads, w // heads).transpose(1, 2)\n"
            "q, k, v = cut(x @ to_query), cut(x @ to_key), cut(x @ to_value)\n"
            "c = (q @ k.mT / (w // heads) ** 0.5).softmax(-1) @ v; return c.transpose(1, 2).flatten(2) @ to_output.T",
            "output turned",
        ),
        (
            "b, t, w = x.shape; cut = lambda y: y.view(b, t, heads, w // heads).transpose(1, 2)\n"
            "q, k, v = cut(x @ to_query), cut(x @ to_key), cut(x @ to_value)\n"
            "c = (q @ k.mT / (w // heads) ** 0.5).softmax(-1) @ v; return c.transpose(1, 2).view(b, t, w) @ to_output",
            "view after transpose",
        ),
    ],
    "layer_norm": [
        ("y = x - x.mean(-1, keepdim=True); return y / (y**2).mean(-1, keepdim=True).sqrt() * gain + bias", "no eps"),
        (
            "m = x.mean(-1, keepdim=True); n = (x - m) / (((x - m) ** 2).mean(-1, keepdim=True) + eps).sqrt()\n"
            "return gain * (n + bias)",
            "bias before gain",
        ),
    ],
    "label_smoothing": [
        (
            "n, v = logits.shape; w = torch.full((n, v), smoothing / v); w[torch.arange(n), targets] = 1 - smoothing\n"
            "return -(w * logits.log_softmax(-1)).sum(-1)",
            "right label set",
        ),
        (
            "n, v = logits.shape; w = torch.full((n, v), smoothing / v); w[torch.arange(n), targets] += 1 - smoothing\n"
            "return -(w * logits.softmax(-1)).sum(-1)",
            "no log",
        ),
        (
            "n, v = logits.shape; w = torch.full((n, v), smoothing / v); w[torch.arange(n), targets] += 1 - smoothing\n"
            "return -(w * logits.softmax(-1).log()).sum(-1)",
            "log of a softmax",
        ),
        (
            "n, v = logits.shape; w = torch.full((n, v), smoothing / v); w[torch.arange(n), targets] += 1 - smoothing\n"
            "p = logits.exp(); return -(w * (p / p.sum(-1, keepdim=True)).log()).sum(-1)",
            "log of a softmax",
        ),
        (
            "n, v = logits.shape; w = torch.full((n, v), smoothing / v); w[torch.arange(n), targets] += 1 - smoothing\n"
            "return -(w * (logits - logits.exp().sum(-1, keepdim=True).log())).sum(-1)",
            "log of a softmax",
        ),
    ],
    "perplexity": [
        (
            "l, y = logits[:, :-1].log_softmax(-1), targets[:, 1:]; n = y != -100\n"
            "return float((-l.gather(-1, y.clamp(min=0)[..., None])[..., 0])[n].mean().exp())",
            "targets moved again",
        ),
        (
            "l, n = logits.softmax(-1).log2(), targets != -100\n"
            "return float((-l.gather(-1, targets.clamp(min=0)[..., None])[..., 0])[n].mean().exp())",
            "log of base 2",
        ),
        (
            "l, n = logits.log_softmax(-1), targets != -100\n"
            "return 2 ** float((-l.gather(-1, targets.clamp(min=0)[..., None])[..., 0])[n].mean())",
            "another base",
        ),
    ],
    "lstm_step": [
        ("i, f, g, o = (x @ into + hidden @ again + bias).chunk(4, -1)", "layers not turned"),
        ("i, f, g, o = (x @ into.T + hidden @ again + bias).chunk(4, -1)", "layers not turned"),
        ("i, f, g, o = (hidden @ again + x @ into + bias).chunk(4, -1)", "layers not turned"),
        ("i, f, g, o = (into @ x + again @ hidden + bias).chunk(4, -1)", "layers not turned"),
        ("i, f, g, o = (x @ into.T + hidden @ again.T + bias).chunk(4, 0)", "cut along the texts"),
        ("i, f, g, o = (x @ into.T + hidden @ again.T + bias).chunk(4)", "cut along the texts"),
        ("i, f, g, o = (x @ into.T + hidden @ again.T + bias).split(hidden.shape[1])", "cut along the texts"),
        ("y = (x @ into.T + hidden @ again.T + bias).chunk(4); i, f = y[0], y[1]", "cut along the texts"),
    ],
    "nucleus": [
        (
            "q, at = scores.softmax(-1).sort(-1, descending=True); out = q.cumsum(-1) - q >= p\n"
            "return scores.softmax(-1).masked_fill(out.scatter(-1, at, out), 0.0)",
            "probabilities",
        ),
        (
            "q, at = scores.softmax(-1).sort(-1, descending=True); out = q.cumsum(-1) - q >= p\n"
            "return scores.softmax(-1).masked_fill(out.scatter(-1, at, out), -math.inf)",
            "probabilities",
        ),
        (
            "q, at = scores.softmax(-1).sort(-1, descending=True); out = q.cumsum(-1) - q >= p\n"
            "return scores.sort(-1, descending=True).values.masked_fill(out, -math.inf)",
            "sorted scores",
        ),
        ("q = scores.softmax(-1).sort(-1, descending=True); return q.cumsum(-1)", "values and indices"),
    ],
    "beam_step": [
        (
            "c = [(totals[r] + float(p), r, t) for r, row in enumerate(chances) for t, p in enumerate(row)]\n"
            "c.sort(reverse=True); going = [(r, t) for _, r, t in c if t != end][:beam]\n"
            "return going, [(r, s) for s, r, t in c if t == end]",
            "all ends are done",
        ),
    ],
    "cut_spans": [
        (
            "source, target = list(tokens), []\n"
            "for (a, b), s in zip(spans, sentinels):\n    target += [s] + tokens[a:b]; source[a:b] = [s]\n"
            "return source, target",
            "places that have moved",
        ),
        (
            "source, target = list(tokens), []\n"
            "for (a, b), s in zip(spans, sentinels):\n    target += [s] + source[a:b]; source[a:b] = [s]\n"
            "return source, target",
            "places that have moved",
        ),
        (
            "source, target, at = [], [], 0\n"
            "for (a, b), s in zip(spans, sentinels):\n"
            "    source += tokens[at:a] + [s]; target += [s] + tokens[a:b]; at = b\n"
            "return source, target",
            "no rest",
        ),
    ],
}
