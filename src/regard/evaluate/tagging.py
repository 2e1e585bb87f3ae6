"""Scores of a tagger: how often a word gets its tag and, where tags mark spans, how often a span is found whole.

Spans follow conlleval, the script of the CoNLL shared tasks, for tags of the kind BIO:

- a span begins at "B-x", and at "I-x" where the word before is in no span or in one of another kind
- it goes on while "I-x" of its kind follows, and ends before anything else
- it is right if a span with the same first word, the same last word and the same kind is wanted
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import REPORT, Run, read_json
from regard.data.prepare import shown
from regard.data.sources import Source
from regard.data.splits import as_paths, changed, splits
from regard.data.tagged import sentences
from regard.errors import UserError
from regard.evaluate.classification import answered, scores
from regard.evaluate.job import Job
from regard.longer import way_to_read
from regard.shapes import Float, Tensor
from regard.systems import System
from regard.text import Tokenizer
from regard.text.words import Spelt, spell

POLICY = "each word once, where it begins in its sentence; loss in nats per word whose tag is known"
SPAN = re.compile(r"O|[BI]-.+")
Span = tuple[int, int, str]


def log_probabilities(
    model: System, tokenizer: Tokenizer, spelt: list[Spelt], on_done: Callable[[int], None] = lambda done: None
) -> list[Float[Tensor, "words tags"]]:
    """Of each tag for each word, sentence by sentence."""
    found = [torch.zeros(0, model.labels)] * len(spelt)
    for number, values in answered(model, tokenizer, [(each.ids,) for each in spelt], on_done):
        found[number] = values[1 + torch.tensor(spelt[number].begins, dtype=torch.long)]  # after the start symbol
    return found


def tagged(job: Job) -> dict[str, Any]:
    """The scores of a run on tagged sentences."""
    run = job.run
    words, wanted, spelt = readable(job)
    tags = (*run.labels, *strangers(job, wanted))
    with job.counting(len(spelt), "tagged") as on_done:
        values = log_probabilities(run.model, run.tokenizer, spelt, on_done)
    said = [[run.labels[i] for i in each.argmax(-1).tolist()] for each in values]
    job.keep("reference", wanted)
    job.keep("hypothesis", said)
    numbers = {tag: i for i, tag in enumerate(tags)}
    flat, told = ([numbers[tag] for row in rows for tag in row] for rows in (wanted, said))
    return {
        "loss": loss(torch.cat(values), torch.tensor(flat)),
        **scores(flat, told, tags),
        **(span_scores(wanted, said) if marks_spans(tags) else {}),
        **new_words(run, words, wanted, said),
        "policy": POLICY,
        "words": len(flat),
        "sentences": len(wanted),
        "unknown": sum(each.ids.count(run.tokenizer.unknown) for each in spelt),
    }


def readable(job: Job) -> tuple[list[list[str]], list[list[str]], list[Spelt]]:
    """Words, tags and tokens of the sentences that the model can read; the others are told."""
    limit, tokenizer = job.run.model.limit, job.run.tokenizer
    found = [(words, tags, spell(tokenizer, words)) for words, tags in sentences(job.source) if words]
    kept = [row for row in found if limit is None or len(row[2].ids) + 2 <= limit]
    if len(kept) < len(found):
        job.say(f"{len(found) - len(kept)} of {len(found)} sentences are longer than {limit} tokens: not measured")
    if not kept:
        what = "there is no word in it"
        if sizes := [len(row[2].ids) + 2 for row in found]:
            what = f"no sentence is left that the context of {limit} tokens holds; the shortest has {min(sizes)}, "
            what += f"and {way_to_read(job.run, max(sizes))}"
        raise UserError(f"{job.source.name}: {what}")
    words, tags, spelt = (list(column) for column in zip(*kept, strict=True))
    return words, tags, spelt


def strangers(job: Job, wanted: list[list[str]]) -> list[str]:
    """The tags that the run does not know; if it knows none, the data are of another kind."""
    known, each = set(job.run.labels), [tag for row in wanted for tag in row]
    new = sorted(set(each) - known)
    if len(new) == len(set(each)):
        raise UserError(
            f"{job.source.name}: the run knows none of its tags ({shown(tuple(new), 4)}), "
            f"but {shown(job.run.labels, 4)}; of a CoNLL-U file data.tags chooses them in training"
        )
    if new:
        count = sum(tag not in known for tag in each)
        job.say(
            f"{count:,} of {len(each):,} words have a tag that the run does not know ({shown(tuple(new))}): "
            "never right, and not in the loss"
        )
    return new


def loss(values: Float[Tensor, "n tags"], wanted: Tensor) -> float:
    """The mean over the words whose tag is known."""
    known = wanted < values.shape[1]
    return -float(values[known].gather(1, wanted[known, None]).double().mean())


def marks_spans(tags: Sequence[str]) -> bool:
    return any(tag != "O" for tag in tags) and all(SPAN.fullmatch(tag) for tag in tags)


def spans(tags: Sequence[str]) -> set[Span]:
    """First word, the word after the last, and the kind."""
    found: set[Span] = set()
    begin, kind = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        if kind and tag != f"I-{kind}":
            found.add((begin, place, kind))
            kind = ""
        if not kind and tag != "O":
            begin, kind = place, tag[2:]
    return found


def span_scores(wanted: list[list[str]], said: list[list[str]]) -> dict[str, Any]:
    """How many of the spans said are right, how many of those wanted are found, and their harmonic mean."""
    pairs = [(spans(one), spans(other)) for one, other in zip(wanted, said, strict=True)]
    right = sum(len(one & other) for one, other in pairs)
    asked, told = sum(len(one) for one, _ in pairs), sum(len(other) for _, other in pairs)
    return {
        "span_precision": right / told if told else 0.0,
        "span_recall": right / asked if asked else 0.0,
        "span_f1": 2 * right / (asked + told) if asked + told else 0.0,
        "spans": asked,
    }


def new_words(
    run: Run, words: list[list[str]], wanted: list[list[str]], said: list[list[str]]
) -> dict[str, float | int]:
    """The accuracy on words that no training sentence has, where the training data are files that are still there."""
    if (source := training(run)) is None:
        return {}
    seen = {word for row, _ in sentences(source) for word in row}
    columns = zip(words, wanted, said, strict=True)
    right = [a == b for row in columns for word, a, b in zip(*row, strict=True) if word not in seen]
    return {"new_words": len(right)} | ({"new_word_accuracy": sum(right) / len(right)} if right else {})


def training(run: Run) -> Source | None:
    """What the run was trained on; nothing where that is gone or is not what it was.

    A built-in corpus would have to be made again, which takes longer than all the rest: nothing of it either.
    """
    if not Path(as_paths(run.recipe.data.train)[0]).is_file():
        return None
    try:
        if changed(read_json(run.path / REPORT)["data"].get("files", {})):
            return None
        return splits(run.recipe.data, run.recipe.objective.columns)[0]["train"]
    except (UserError, KeyError):
        return None
