"""How well hidden words are guessed (O5-O7): each token that was masked, each span that was cut out.

What is hidden is drawn once from the run's seed, so that a run is always measured on the same. Of documents it is drawn
for each window, so windows of another length hide others.
"""

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from regard.data import IGNORE, Batch
from regard.data.corruption import pieces
from regard.data.prepare import report as data_report
from regard.data.prepare import report_lines
from regard.data.store import Counts
from regard.decode import generate
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.evaluate.job import BATCH_TOKENS, Job
from regard.shapes import Bool, Tensor
from regard.systems.encoder import Encoder

MASKED = "{share:.0%} of the tokens hidden, drawn once; loss in nats per hidden token"
CUT = "{share:.0%} of the tokens cut out, drawn once; loss in nats per token written, sentinels and end counted"
WINDOWS = (
    "windows of {context} tokens, start and end counted; of another length (--context) others are hidden, so compare "
    "the loss with unigram_entropy, not with that of another length"
)


@torch.inference_mode()
def masked(job: Job) -> dict[str, Any]:
    """Loss and accuracy over the hidden tokens and, where pairs are judged, how often rightly."""
    model = job.run.model
    if not isinstance(model, Encoder):
        raise UserError("several encoders do not guess hidden words together; evaluate one run")
    nats, tokens, right, rows, judged = 0.0, 0, 0, 0, 0
    seen: Counter[int] = Counter()
    for batch in read(job):
        assert batch.at is not None
        vectors = model.embed(batch.tokens, batch.at)
        hidden = batch.targets != IGNORE
        scores, wanted = model.logits(vectors[hidden]).float(), batch.targets[hidden]
        nats += float(torch.nn.functional.cross_entropy(scores, wanted, reduction="sum").double())
        right += int((scores.argmax(-1) == wanted).sum())
        tokens += len(wanted)
        seen.update(wanted.tolist())
        if batch.label is not None and model.head.judges:
            judged += int((model.head.follows(vectors, batch.at).argmax(-1) == batch.label).sum())
            rows += len(batch)
    found = {"loss": nats / tokens, "accuracy": right / tokens, "unigram_entropy": entropy(seen), "tokens": tokens}
    judge(job, found)
    return found | ({"next_accuracy": judged / rows} if rows else {}) | {"policy": policy(MASKED, job)}


@torch.inference_mode()
def spans(job: Job) -> dict[str, Any]:
    """Loss of what was cut out, and how many spans are written again exactly, token for token, without any search."""
    run = job.run
    model, tokenizer, task = run.model, run.tokenizer, run.recipe.objective
    nats, tokens, whole, exact = 0.0, 0, 0, 0
    seen: Counter[int] = Counter()
    with job.counting(0, "restored") as on_done:
        for batch in read(job):
            loss = task(model, batch)
            nats, tokens = nats + float(loss.nats.double()), tokens + int((batch.targets != IGNORE).sum())
            seen.update(batch.targets[batch.targets != IGNORE].tolist())
            assert batch.source is not None
            sources = [row[:-1] for row in rows_of(batch.source, batch.source_present)]
            wanted = [row[:-1] for row in rows_of(batch.targets, batch.targets != IGNORE)]
            most = max(map(len, wanted)) + 8
            written = generate(model, tokenizer, Decode(max_tokens=most), sources=sources)
            for target, best in zip(wanted, written, strict=True):
                found, asked = (pieces(list(ids), task.spans(tokenizer).sentinels) for ids in (best[0].tokens, target))
                whole += len(asked)
                exact += sum(found.get(sentinel) == span for sentinel, span in asked.items())
            on_done(whole)
    scores: dict[str, Any] = {
        "loss": nats / tokens,
        "spans_restored": exact / whole,
        "spans": whole,
        "unigram_entropy": entropy(seen),
        "tokens": tokens,
    }
    judge(job, scores)
    return scores | {"policy": policy(CUT, job)}


def judge(job: Job, found: dict[str, Any]) -> None:
    """Say where a model has learnt nothing of what stands around a gap."""
    if found["loss"] >= found["unigram_entropy"]:
        job.say("the loss is not below unigram_entropy: it guesses no better than by how common tokens are")


def read(job: Job) -> Iterator[Batch]:
    """The source in batches, on the model's device; what is left out is said."""
    run, task = job.run, job.run.recipe.objective
    with tempfile.TemporaryDirectory() as folder:
        context = run.model.context
        settings: dict[str, Any] = {"labels": run.labels, "context": context, "too_long": "drop"}
        stores, counts = task.write(job.source, run.tokenizer, Path(folder), **settings)
        tell(job, counts, context)
        try:
            batches = task.batches(stores, run.tokenizer, run.model, batch_tokens=BATCH_TOKENS, seed=run.recipe.seed)
        except UserError as error:
            raise UserError(f"{job.source.name}: {error}") from None
        for batch in batches.in_order():
            yield batch.to(run.model.device)


def tell(job: Job, counts: Counts, context: int) -> None:
    found = data_report({"train": counts}, [], context)
    for line in report_lines({**found, "kind": job.run.recipe.text.kind}):
        job.say(line.replace("train:", "data:"))


def rows_of(table: Tensor, present: Bool[Tensor, "b t"] | None) -> list[list[int]]:
    """Each row without its padding."""
    kept = present if present is not None else torch.ones_like(table, dtype=torch.bool)
    return [row[here].tolist() for row, here in zip(table, kept, strict=True)]


def policy(measured: str, job: Job) -> str:
    """What was hidden and counted and, of documents, how they were read."""
    task = job.run.recipe.objective
    windows = [WINDOWS.format(context=job.run.model.context)] if task.columns == ("text",) else []
    return "; ".join([measured.format(share=task.share), *windows])


def entropy(counts: Counter[int]) -> float:
    """Nats per token of whoever knows how common each is and nothing else."""
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values())
