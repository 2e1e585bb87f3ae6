"""Evaluating a run, or an ensemble of runs, on its own test split or on files."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from regard.checkpoint import REPORT, Run, read_json
from regard.data.sources import Record, Source, is_plain
from regard.data.splits import changed, open_source, splits
from regard.decode import together
from regard.errors import UserError
from regard.evaluate.classification import classified
from regard.evaluate.hidden import masked, spans
from regard.evaluate.job import Job
from regard.evaluate.likelihood import language_model
from regard.evaluate.tagging import tagged
from regard.evaluate.translating import check_scoring, translation
from regard.evaluate.words import skip_grams
from regard.objectives import (
    Classification,
    Continuation,
    Masked,
    MaskedPairs,
    NextToken,
    Reward,
    SkipGram,
    SpanCorruption,
    Tagging,
    Translation,
    Vectors,
)

MEASURES: dict[type, Callable[[Job], dict[str, Any]]] = {
    NextToken: language_model,
    Translation: translation,
    Reward: translation,
    Continuation: translation,
    Classification: classified,
    Masked: masked,
    MaskedPairs: masked,
    SpanCorruption: spans,
    Tagging: tagged,
    SkipGram: skip_grams,
}
KINDS = ("reads_source", "writes_text", "answers")  # what members of an ensemble must have in common


def evaluate(
    runs: Sequence[Run],
    data: tuple[str, ...] = (),
    *,
    most: int = 0,
    say: Callable[[str], None] = lambda line: None,
    **how: Any,
) -> dict[str, Any]:
    """The scores that apply to the run's task, by the names that `--json` prints. `how` is what `Job` takes.

    With `most`, the first so many records of the data are all that is looked at.
    """
    began, run = time.perf_counter(), combined(runs)
    check_stride(run, how.get("stride"))
    if isinstance(run.recipe.objective, Vectors):
        raise UserError(f"{run.path} was imported without a task: its vectors have no score")
    measure = MEASURES[type(run.recipe.objective)]
    if measure is translation:
        check_scoring(run, **how)
    source = choose(run, data, say)
    results = measure(Job(run, source.part(0, most) if most else source, say=say, **how))
    return results | {"seconds": time.perf_counter() - began}


def combined(runs: Sequence[Run]) -> Run:
    """One run as it is, several as an ensemble, which must share one vocabulary."""
    first = runs[0]
    for run in runs[1:]:
        if run.tokenizer.fingerprint != first.tokenizer.fingerprint:
            raise UserError(f"{run.path} and {first.path} have different tokenizers and cannot be averaged")
        if any(getattr(run.model, kind) != getattr(first.model, kind) for kind in KINDS):
            raise UserError(f"{run.path} and {first.path} are different kinds of model and cannot be averaged")
        if run.labels != first.labels:
            raise UserError(f"{run.path} and {first.path} know different labels and cannot be averaged")
    return replace(first, model=together([run.model for run in runs]))


def choose(run: Run, data: tuple[str, ...], say: Callable[[str], None]) -> Source:
    """The files given, else the run's test split, else its validation split."""
    columns = run.recipe.objective.columns
    if data and run.parser is not None and is_plain(data):
        return parsed(run, open_source(data, "test", run.recipe.data, ("text",)))
    if data:
        given = open_source(data, "test", run.recipe.data, columns)
        if given.told:
            say(given.told)
        return given
    if not (run.recipe.data.train or run.recipe.data.tasks):
        raise UserError(f"{run.path} was imported, without data: give what to measure with --data")
    if name := changed(read_json(run.path / REPORT)["data"].get("files", {})):
        raise UserError(f"{name} is not what it was when the run was trained: give the data to measure with --data")
    found, _ = splits(run.recipe.data, columns)
    split = "test" if "test" in found else "valid"
    say(f"evaluating on {found[split].name}" + ("" if split == "test" else ": the run has no test data"))
    return found[split]


def parsed(run: Run, source: Source) -> Source:
    """Lines of raw text, each a sentence with the tree that the run's parser gives it."""

    def read() -> Iterator[Record]:
        for (text,) in source:
            sentence = run.parsed(text)
            yield " ".join(sentence.words), " ".join(map(str, sentence.heads))

    return Source(source.name, read, len(source))


def check_stride(run: Run, stride: int | None) -> None:
    if stride is None:
        return
    if not run.model.writes_text:
        read = "classified" if run.model.answers == "labels" else "read"
        raise UserError(f"--stride is for language models: a text is {read} whole")
    if run.takes_source:
        raise UserError("--stride is for language models: a translation is scored whole")
    if run.model.limit is None:
        raise UserError("--stride is for models that see a window: this one reads documents whole")
    if not 1 <= stride <= run.model.context:
        raise UserError(f"--stride {stride} must lie between 1 and the context of {run.model.context} tokens")
