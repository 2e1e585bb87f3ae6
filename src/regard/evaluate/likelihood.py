"""How likely a text is: loss and perplexity over all of it, in the way that fits the system."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.batching import Documents, Pairs, Pieces, Windows
from regard.data.continued import Continued
from regard.data.prepare import report as data_report
from regard.data.prepare import report_lines
from regard.data.sources import Source
from regard.evaluate.job import BATCH_TOKENS, Job
from regard.evaluate.perplexity import Units, cut, nats_of_parts, perplexities
from regard.systems import measuring

FEW = 100  # texts: where there are fewer, the nats of their parts are told apart
POLICIES = {
    Windows: "windows of {context} tokens, stride {stride}, each token once; each document begins anew",
    Pieces: "windows of {context} tokens, stride {stride}, each token once; each document begins anew",
    Documents: "documents whole, each token once, after all that the system remembers of its document",
    Pairs: "each target whole, given its source",
    Continued: "each target whole, after its source in the same row",
}


def language_model(job: Job) -> dict[str, Any]:
    results, parts = likelihood(job, job.source)
    job.keep("nats", parts)
    return results


def likelihood(job: Job, source: Source) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Loss and perplexities over the whole source, and the nats and tokens of its parts; what is left out is said."""
    run, stride = job.run, job.stride
    context, task = run.model.context, run.recipe.objective
    with tempfile.TemporaryDirectory() as folder:
        longest = context if run.model.limit is not None else 2**31
        about = {"labels": run.labels, "context": longest, "too_long": "truncate" if run.shortens else "drop"}
        stores, counts = task.write(source, run.tokenizer, Path(folder), **about)
        batches = task.batches(stores, run.tokenizer, run.model, batch_tokens=BATCH_TOKENS)
        in_order = batches.in_order(stride) if isinstance(batches, Windows) else batches.in_order()
        sizes = cut(batches.sizes, FEW)
        with measuring(run.model) as facts:
            parts = nats_of_parts(run.model, in_order, sizes, batches.order)
    nats, tokens = float(parts.sum()), int(sum(map(sum, sizes)))
    policy = f"{POLICIES[type(batches)]}; end symbols are predicted and counted as tokens"
    policy = policy.format(context=context, stride=stride or context)
    if counts.unknown:
        policy += "; an unknown word costs what <unk> does, so figures per word, character and byte flatter"
    found = data_report({"train": counts}, [], context)
    for line in report_lines({**found, "kind": run.recipe.text.kind}):
        job.say(line.replace("train:", "data:"))
    units = Units.of(source)
    results = {
        "loss": nats / max(1, tokens),
        "perplexity": perplexities(nats, tokens, units),
        "policy": policy,
        "tokens": tokens,
        "unknown": counts.unknown,
        **facts,
    }
    return results, list(zip(parts.tolist(), np.concatenate(sizes).tolist(), strict=True))
