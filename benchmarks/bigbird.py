"""Training steps of BigBird-base on a GPU, in tokens a second, beside the same model with full attention.

    python benchmarks/bigbird.py [--lengths 4096 16384] [--ways full bigbird gathered flex none huggingface]
        [--dropout 0.1] [--tiny]
    python benchmarks/bigbird.py --check

The model has 12 layers, 768 units, 12 heads and 50,358 words; a step is forward, backward and AdamW over so many texts
that they make 16,384 tokens, in bfloat16, compiled, 15 % of the words hidden. *full* may use cuDNN's attention, which
is torch's fastest where the length never changes; *gathered* is BigBird without our own programs, *flex* by torch's
FlexAttention, which trains on a GPU alone and drops nothing; *none* is the model whose attention gives each value back,
the roof for any kernel. Hugging Face's block-sparse BigBird, where
`transformers` is installed, has the same blocks: 3 near, 2 global, 3 random. Its steps are not compiled and its weights
are bfloat16 themselves, for it knows no other way. Median of the steps after the first 4, which warm up. It wants a
GPU, but for `--tiny` and `--check`.

`--check` holds our own programs against the formula in double precision, where they run: the largest difference of the
context and of the gradients, as a part of the largest value.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from trials import ended

from regard.attention import Look, kernels
from regard.attention.blocks import BigBird, table
from regard.attention.patterns import Sight, bigbird
from regard.attention.scores import ScaledDot
from regard.data import IGNORE, Batch
from regard.errors import UserError
from regard.objectives import Masked
from regard.place import Place
from regard.systems import built
from regard.systems.bert import Bert

TOKENS, VOCABULARY, HIDDEN, WARM = 16_384, 50_358, 0.15, 4
BASE = {"width": 768, "heads": 12, "depth": 12, "hidden": 3072, "block": 64}
TINY = {"width": 32, "heads": 2, "depth": 2, "hidden": 64, "block": 16}
WAYS = ("full", "bigbird", "gathered", "flex", "none", "huggingface")
Step = Callable[[], torch.Tensor]
Kernel = Callable[..., torch.Tensor]


def texts(length: int, rows: int, device: str) -> Batch:
    tokens = torch.randint(5, VOCABULARY, (rows, length))
    hidden = torch.rand(rows, length) < HIDDEN
    targets = tokens.masked_fill(~hidden, IGNORE)
    batch = Batch(tokens.masked_fill(hidden, 4), targets, int(hidden.sum()), Place.line(tokens), whole=True, few=True)
    return batch.to(device)


def ours(way: str, sizes: dict, batch: Batch, dropout: float, compiled: bool) -> tuple[torch.nn.Module, Step]:
    sizes, block = dict(sizes), sizes["block"]
    del sizes["block"]
    if way in ("bigbird", "gathered", "flex"):
        sizes |= {"attention": "bigbird", "block": block}
    settings = Bert(**sizes, context=batch.tokens.shape[1], segments=1, dropout=dropout)
    model = built(settings, VOCABULARY).to(batch.tokens.device).train()
    for part in model.modules():
        if isinstance(part, Look) and way == "none":
            part.kernel = lambda query, key, value, **how: value
        if isinstance(part, Look) and way == "flex":
            part.kernel = flexible(part.pattern.blocks, batch.tokens)
    masked = Masked()

    def loss() -> torch.Tensor:
        return masked(model, batch).total / batch.count

    return model, torch.compile(loss) if compiled else loss


def flexible(rule: BigBird, tokens: torch.Tensor) -> Kernel:
    """BigBird's rule by FlexAttention."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    length, size = tokens.shape[1], rule.size
    count = -(-length // size)
    sees = table(rule, count, torch.tensor([count], device=tokens.device))[0]
    mask = create_block_mask(
        lambda b, h, q, k: sees[q // size, k // size], None, None, length, length, tokens.device, BLOCK_SIZE=2 * size
    )
    return lambda query, key, value, **how: flex_attention(query, key, value, block_mask=mask)


def huggingface(sizes: dict, batch: Batch, dropout: float) -> tuple[torch.nn.Module, Step]:
    from transformers import BigBirdConfig, BigBirdForMaskedLM

    config = BigBirdConfig(
        vocab_size=VOCABULARY,
        hidden_size=sizes["width"],
        num_hidden_layers=sizes["depth"],
        num_attention_heads=sizes["heads"],
        intermediate_size=sizes["hidden"],
        max_position_embeddings=batch.tokens.shape[1],
        block_size=sizes["block"],
        attention_type="block_sparse",
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    model = BigBirdForMaskedLM(config).to(batch.tokens.device, torch.bfloat16).train()
    labels = batch.targets
    return model, lambda: model(input_ids=batch.tokens, labels=labels).loss


@contextmanager
def programs(allowed: bool) -> Iterator[None]:
    before, kernels.TRITON = kernels.TRITON, kernels.TRITON and allowed
    try:
        yield
    finally:
        kernels.TRITON = before


def measured(way: str, length: int, *, dropout: float, tiny: bool, steps: int) -> dict:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    torch.backends.cuda.enable_cudnn_sdp(way == "full")
    sizes, rows = (TINY, 1) if tiny else (BASE, max(1, TOKENS // length))
    batch = texts(length, rows, device)
    if way == "huggingface":
        model, step = huggingface(sizes, batch, dropout)
    else:
        model, step = ours(way, sizes, batch, dropout, compiled=device == "cuda")
    update = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds, began = [], time.perf_counter()
    with programs(way != "gathered"):
        for _ in range(WARM + steps):
            start = time.perf_counter()
            with torch.autocast(device, torch.bfloat16, enabled=way != "huggingface"):
                loss = step()
            loss.backward()
            update.step()
            update.zero_grad()
            if device == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - start)
    memory = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else 0.0
    return {
        "way": way,
        "length": length,
        "rows": rows,
        "tokens_per_second": round(rows * length / statistics.median(seconds[WARM:])),
        "gigabytes": round(memory, 1),
        "loss": round(float(loss.detach()), 3),
        "seconds_in_all": round(time.perf_counter() - began),
    }


def checked(length: int, dtype: torch.dtype, ahead: bool) -> dict:
    """Our own programs against the formula, with padding."""
    from regard.attention.sparse import sparse

    torch.manual_seed(length)
    rule, device = BigBird(64, ahead=ahead), "cuda" if torch.cuda.is_available() else "cpu"
    inputs = [torch.randn(2, 4, length, 64, device=device, dtype=dtype) for _ in range(3)]
    present = torch.arange(length, device=device) < torch.tensor([[length], [length - 100]], device=device)
    at = Place(torch.arange(length, device=device).expand(2, -1), present=present)
    results = []
    for own in (True, False):
        given = [(x if own else x.double()).detach().requires_grad_() for x in inputs]
        if own:
            context = sparse(*given, blocks=rule, scale=0.125, present=present)
        else:
            context = kernels.formula(*given, sight=Sight(bigbird(rule), at, at), score=ScaledDot())
        context = context * present[:, None, :, None]
        results.append([context.detach(), *torch.autograd.grad(context.double().square().sum(), given)])
    names = ("context", "query", "key", "value")
    errors = [float((a.double() - b).abs().max() / b.abs().max()) for a, b in zip(*results, strict=True)]
    return {"length": length, "dtype": str(dtype), "ahead": ahead} | dict(zip(names, errors, strict=True))


def check(lengths: list[int]) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        for length in lengths:
            for ahead in (True, False):
                print(json.dumps(checked(length, dtype, ahead)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[4096, 16_384])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[way for way in WAYS if way != "flex"])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--tiny", action="store_true", help="a model for trying the script")
    parser.add_argument("--check", action="store_true", help="hold our own programs against the formula")
    asked = parser.parse_args()
    if asked.check:
        check([2048, 2021])
        return
    if not (asked.tiny or torch.cuda.is_available()):
        raise UserError("BigBird-base wants a GPU, and no CUDA is here; --tiny tries the script on a CPU")
    for length in asked.lengths:
        for way in asked.ways:
            try:
                row = measured(way, length, dropout=asked.dropout, tiny=asked.tiny, steps=asked.steps)
            except (torch.OutOfMemoryError, ImportError) as error:
                row = {"way": way, "length": length, "failed": type(error).__name__}
            print(json.dumps(row), flush=True)
            torch.compiler.reset()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


if __name__ == "__main__":
    ended(main)
