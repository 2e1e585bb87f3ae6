"""Evaluating a run, or an ensemble of runs, on its own test split or on files."""

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.checkpoint import REPORT, Run, read_json
from regard.data.batching import Documents, Pairs, Windows
from regard.data.prepare import report as data_report
from regard.data.prepare import report_lines
from regard.data.sources import Record, Source
from regard.data.splits import changed, open_source, splits
from regard.decode import check_alignment, together, translate
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.evaluate.classification import classified
from regard.evaluate.perplexity import Units, cut, nats_of_parts, perplexities
from regard.evaluate.pronoun import pronoun_accuracy
from regard.evaluate.translation import metrics, translation_scores
from regard.systems import measuring

BATCH_TOKENS = 8192
FEW = 100  # texts: where there are fewer, the nats of their parts are told apart
POLICIES = {
    Windows: "windows of {context} tokens, stride {stride}, each token once; each document begins anew",
    Documents: "documents whole, each token once, after all that the system remembers of its document",
    Pairs: "each target whole, given its source",
}
Counting = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]


def uncounted(total: int, what: str) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that nobody sees."""
    return nullcontext(lambda done: None)


def evaluate(
    runs: Sequence[Run],
    data: tuple[str, ...] = (),
    *,
    decode: Decode | None = None,
    stride: int | None = None,
    lowercase: bool = False,
    tokenize: str = "13a",
    say: Callable[[str], None] = lambda line: None,
    counting: Counting = uncounted,
    keep: Callable[[str, list[Any]], None] = lambda name, each: None,
) -> dict[str, Any]:
    """The scores that apply to the run's task, by the names that `--json` prints.

    `keep` is told what the scores are made from, one entry for each example, in the order of the data. Of a language
    model it is the nats and the number of tokens of each text, or where texts are few of blocks of neighbouring tokens.
    """
    began, run = time.perf_counter(), combined(runs)
    check_stride(run, stride)
    if run.model.reads_source:  # what is wrong is told now, not after all is measured
        metrics(lowercase=lowercase, tokenize=tokenize)
        check_alignment(run.model, decode or run.recipe.decode, run.recipe.text.kind)
    source = choose(run, data, say)
    if not run.model.writes_text:
        with counting(len(source), "classified") as on_done:
            results, wanted, said = classified(run, source, say=say, on_done=on_done)
        keep("reference", wanted)
        keep("hypothesis", said)
    elif run.model.reads_source:
        records = list(source)
        sources, references = [r[0] for r in records], [r[1] for r in records]
        results, _ = likelihood(run, fitting(run, records, source.name, say), stride, say)
        with counting(len(records), "translated") as on_done:
            hypotheses, lost = translated(run, sources, decode, on_done)
        for name, texts in (("source", sources), ("reference", references), ("hypothesis", hypotheses)):
            keep(name, texts)
        results |= lost
        if any(lost.values()):
            say(f"translations: {lost['cut']} cut off, {lost['too_long']} empty because the source is too long")
        results |= translation_scores(hypotheses, references, lowercase=lowercase, tokenize=tokenize)
        results |= pronoun_accuracy(sources, references, hypotheses)
    else:
        results, parts = likelihood(run, source, stride, say)
        keep("nats", parts)
    return results | {"seconds": time.perf_counter() - began}


def fitting(run: Run, records: list[Record], name: str, say: Callable[[str], None]) -> Source:
    """The pairs whose likelihood can be measured: both sides fit the context and neither is empty."""
    room = run.model.limit - 1 if run.model.limit is not None else math.inf
    encode = run.tokenizer.encode_batch
    lengths = [list(map(len, encode(list(column)))) for column in zip(*records, strict=True)]
    kept = [r for r, *sides in zip(records, *lengths, strict=True) if min(sides) > 0 and max(sides) <= room]
    if len(kept) < len(records):
        lost = f"{len(records) - len(kept)} of {len(records)} pairs"
        say(f"{lost} are empty or longer than {room} tokens: not in the loss")
    return Source(name, lambda: iter(kept), len(kept))


def combined(runs: Sequence[Run]) -> Run:
    """One run as it is, several as an ensemble, which must share one vocabulary."""
    first = runs[0]
    for run in runs[1:]:
        if run.tokenizer.fingerprint != first.tokenizer.fingerprint:
            raise UserError(f"{run.path} and {first.path} have different tokenizers and cannot be averaged")
        if any(getattr(run.model, kind) != getattr(first.model, kind) for kind in ("reads_source", "writes_text")):
            raise UserError(f"{run.path} and {first.path} are different kinds of model and cannot be averaged")
        if run.labels != first.labels:
            raise UserError(f"{run.path} and {first.path} know different labels and cannot be averaged")
    return replace(first, model=together([run.model for run in runs]))


def choose(run: Run, data: tuple[str, ...], say: Callable[[str], None]) -> Source:
    """The files given, else the run's test split, else its validation split."""
    columns = run.recipe.objective.columns
    if data:
        return open_source(data, "test", run.recipe.data, columns)
    if name := changed(read_json(run.path / REPORT)["data"].get("files", {})):
        raise UserError(f"{name} is not what it was when the run was trained: give the data to measure with --data")
    found, _ = splits(run.recipe.data, columns)
    split = "test" if "test" in found else "valid"
    say(f"evaluating on {found[split].name}" + ("" if split == "test" else ": the run has no test data"))
    return found[split]


def check_stride(run: Run, stride: int | None) -> None:
    if stride is None:
        return
    if not run.model.writes_text:
        raise UserError("--stride is for language models: a text is classified whole")
    if run.model.reads_source:
        raise UserError("--stride is for language models: a translation is scored whole")
    if not run.model.packs:
        raise UserError("--stride is for models that see a window: this one reads documents whole")
    if not 1 <= stride <= run.model.context:
        raise UserError(f"--stride {stride} must lie between 1 and the context of {run.model.context} tokens")


def likelihood(
    run: Run, source: Source, stride: int | None, say: Callable[[str], None]
) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Loss and perplexities over the whole source, and the nats and tokens of its parts; what is left out is said."""
    context, task = run.model.context, run.recipe.objective
    with tempfile.TemporaryDirectory() as folder:
        longest = context if run.model.limit is not None else 2**31
        stores, counts = task.write(
            source, run.tokenizer, Path(folder), labels=run.labels, context=longest, too_long="drop"
        )
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
    for line in report_lines(data_report({"train": counts}, [], context)):
        say(line.replace("train:", "data:"))
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


def translations(run: Run, sources: list[str], decode: Decode | None) -> list[str]:
    """The best translation of each source; one longer than the context gets an empty translation."""
    return translated(run, sources, decode)[0]


def translated(
    run: Run, sources: list[str], decode: Decode | None, on_done: Callable[[int], None] | None = None
) -> tuple[list[str], dict[str, int]]:
    """The best translation of each source, and how many were cut off or not made."""
    settings, limit = decode or run.recipe.decode, run.model.limit
    encoded = {i: (text, run.tokenizer.encode_with_offsets(text)) for i, text in enumerate(sources)}
    fits = {i: source for i, source in encoded.items() if limit is None or len(source[1].ids) < limit}
    kind = run.recipe.text.kind
    found = translate(run.model, run.tokenizer, settings, list(fits.values()), kind=kind, on_done=on_done)
    best = {i: row[0].text for i, row in zip(fits, found, strict=True)}
    cut = sum(row[0].hypothesis.ended == "length" for row in found)
    return [best.get(i, "") for i in encoded], {"cut": cut, "too_long": len(encoded) - len(fits)}
