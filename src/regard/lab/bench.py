"""Speed, measured: training steps, decoding, and reading at once or word by word.

Figures of one machine at one time: compare within one run.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from regard.decode import generate
from regard.decode.settings import Decode
from regard.errors import UserError, suggest
from regard.evaluate.cost import wait
from regard.recipe import Recipe, read
from regard.systems import parameters
from regard.text import Tokenizer
from regard.train.loop import Trainer
from regard.train.run import make_trainer, settle, start

PROMPT, NEW = 16, 64  # tokens
ROWS, LENGTHS = 8, (16, 32, 64)  # texts read side by side, and how long they are


def measure(name: str, presets: list[str], settings: list[str], repeats: int) -> list[dict[str, Any]]:
    """One row for each preset."""
    if name not in BENCHES:
        raise UserError(f"no measurement '{name}'{suggest(name, [*BENCHES, 'length'])}")
    if repeats < 1:
        raise UserError(f"--repeats {repeats}: at least 1 is needed")
    rows = []
    for preset in presets:
        with tempfile.TemporaryDirectory() as folder:
            recipe = read(preset, settings)
            trainer, tokenizer = prepared(recipe, Path(folder))
            rows.append({"preset": preset, "device": str(trainer.device), **BENCHES[name](trainer, tokenizer, repeats)})
    return rows


def prepared(recipe: Recipe, folder: Path) -> tuple[Trainer, Tokenizer]:
    from regard.checkpoint import read_tokenizer

    settle(recipe.train)
    start(recipe, folder, say=lambda line: None)
    tokenizer = read_tokenizer(folder)
    return make_trainer(folder, recipe, tokenizer, []), tokenizer


def steps(trainer: Trainer, tokenizer: Tokenizer, repeats: int) -> dict[str, Any]:
    """Whole training steps: forward, backward, update."""
    batches = [trainer.batches.batch(0, i % trainer.batches.steps(0)) for i in range(repeats + 2)]
    for batch in batches[:2]:
        trainer.update(batch)
    times = [timed(trainer.device, partial(trainer.update, batch)) / batch.count for batch in batches[2:]]
    return {
        "parameters": parameters(trainer.model),
        "tokens_per_step": batches[2].count,
        "tokens_per_second": 1 / statistics.median(times),
        "fastest": 1 / min(times),
        "slowest": 1 / max(times),
    }


def decoding(trainer: Trainer, tokenizer: Tokenizer, repeats: int) -> dict[str, Any]:
    """Greedy decoding of one text with the cache, and the same by reading everything again for each token."""
    model = trainer.model.eval()
    if (room := min(NEW, model.context - PROMPT)) < 1:
        raise UserError(f"a context of {model.context} tokens has no room after a prompt of {PROMPT}")
    settings = replace(Decode(), max_tokens=room)
    prompt = [4 + i % (len(tokenizer) - 4) for i in range(PROMPT)]
    prompts, sources = (None, [prompt]) if model.reads_source else ([prompt], None)

    def cached() -> int:
        best = generate(model, tokenizer, settings, prompts=prompts, sources=sources)[0][0]
        return len(best.log_probabilities)

    def again() -> int:
        return uncached(model, tokenizer, prompt, room)

    speeds = {}
    for label, work in (("cached_tokens_per_second", cached), ("uncached_tokens_per_second", again)):
        count = work()
        speeds[label] = count / statistics.median(timed(trainer.device, work) for _ in range(repeats))
    return {
        "tokens": count,
        **speeds,
        "gain": speeds["cached_tokens_per_second"] / speeds["uncached_tokens_per_second"],
    }


@torch.inference_mode()
def reading(trainer: Trainer, tokenizer: Tokenizer, repeats: int) -> dict[str, Any]:
    """How much faster a text is read at once than word by word (C1, C13): what a decoder gains from a machine that
    does many things at a time. One that waits for every word gains little, whatever the length."""
    model = trainer.model.eval()
    found: dict[str, float] = {}
    source = torch.randint(4, len(tokenizer), (ROWS, LENGTHS[0]), device=trainer.device)
    memory = model.encode(source) if model.reads_source else None
    for length in LENGTHS:
        tokens = torch.randint(4, len(tokenizer), (ROWS, length), device=trainer.device)

        def word_by_word(tokens=tokens) -> None:
            cache = model.start(ROWS, tokens.shape[1])
            for column in tokens.split(1, dim=1):
                model.hidden(column, memory, cache)

        slow, fast = (
            statistics.median(timed(trainer.device, work) for _ in range(repeats + 1))
            for work in (word_by_word, partial(model.hidden, tokens, memory))
        )
        found |= {f"milliseconds_{length}": 1000 * fast, f"gain_{length}": slow / fast}
    return found


@torch.inference_mode()
def uncached(model: Any, tokenizer: Tokenizer, prompt: list[int], room: int) -> int:
    device = model.device
    source = torch.tensor([[*prompt, tokenizer.end]], device=device)
    memory = model.encode(source) if model.reads_source else None
    row = [tokenizer.start] if model.reads_source else [tokenizer.start, *prompt]
    for made in range(1, room + 1):
        token = int(model.decode(torch.tensor([row], device=device), memory)[0, -1].argmax())
        if token == tokenizer.end:
            return made
        row.append(token)
    return room


def timed(device: torch.device, work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    wait(device)
    return clock() - began


def fastest(device: torch.device, work: Callable[[], Any], repeats: int) -> float:
    """The fewest seconds of all repeats after one to warm up: what disturbs can only add to them.

    One thread of a CPU is timed by the time it computed, for others may use the same core.
    """
    alone = device.type == "cpu" and torch.get_num_threads() == 1
    work()
    return min(timed(device, work, time.process_time if alone else time.perf_counter) for _ in range(repeats))


BENCHES: dict[str, Callable[..., dict[str, Any]]] = {"step": steps, "decode": decoding, "reading": reading}
