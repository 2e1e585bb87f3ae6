"""Translating a whole source, and scoring it."""

from collections.abc import Callable
from typing import Any

from regard.checkpoint import Run
from regard.data.continued import SYMBOLS
from regard.data.sources import Record, Source
from regard.data.tasks import asked
from regard.decode import check_alignment, translate
from regard.decode.settings import Decode
from regard.decode.translate import beginning, check_room, room
from regard.evaluate.job import Job
from regard.evaluate.likelihood import likelihood
from regard.evaluate.pronoun import pronoun_accuracy
from regard.evaluate.translation import beyond_bleu, metrics, translation_scores
from regard.text import Encoded


def translation(job: Job) -> dict[str, Any]:
    """Loss of the references, and the scores of what is written in their place."""
    run = job.run
    records = list(job.source)
    sources, references = [r[0] for r in records], [r[1] for r in records]
    results, _ = likelihood(job, fitting(run, records, job.source.name, job.say))
    with job.counting(len(records), "translated") as on_done:
        hypotheses, lost = translated(run, sources, job.decode, on_done)
    for name, texts in (("source", sources), ("reference", references), ("hypothesis", hypotheses)):
        job.keep(name, texts)
    if any(lost.values()):
        short = f", {lost['shortened']} of the beginning of their source" if "shortened" in lost else ""
        job.say(f"translations: {lost['cut']} cut off, {lost['too_long']} empty because the source is too long{short}")
    if beyond_bleu(references, metrics(lowercase=job.lowercase, tokenize=job.tokenize)[0]):
        job.say("BLEU says nothing here: no reference has the four words in a row that it counts; read exact_match")
    results |= lost | translation_scores(hypotheses, references, lowercase=job.lowercase, tokenize=job.tokenize)
    results |= by_task(job, sources, references, hypotheses)
    return results | pronoun_accuracy(sources, references, hypotheses)


def by_task(job: Job, sources: list[str], references: list[str], hypotheses: list[str]) -> dict[str, Any]:
    """Where a run was trained on several tasks, the scores of each; a BLEU of single words would be 0."""
    tasks: dict[str, dict[str, Any]] = {}
    for prefix in job.run.recipe.data.tasks:
        rows = [i for i, source in enumerate(sources) if source.startswith(asked(prefix, ""))]
        if rows:
            wanted, written = [references[i] for i in rows], [hypotheses[i] for i in rows]
            scores = translation_scores(written, wanted, lowercase=job.lowercase, tokenize=job.tokenize)
            tasks[prefix] = {"examples": len(rows), "exact_match": scores["exact_match"], "chrf": scores["chrf"]}
    return {"tasks": tasks} if tasks else {}


def check_scoring(run: Run, *, decode: Decode | None = None, tokenize: str = "13a", **others: Any) -> None:
    """What is wrong is told now, not after all is measured."""
    metrics(lowercase=False, tokenize=tokenize)
    check_alignment(run.model, decode or run.recipe.decode, run.recipe.text.kind)
    check_room(run.model, decode or run.recipe.decode)


def fitting(run: Run, records: list[Record], name: str, say: Callable[[str], None]) -> Source:
    """The pairs whose likelihood can be measured: they fit the context and neither side is empty."""
    cutters = [run.tokenizer.of(column) for column in run.recipe.objective.columns]
    columns = zip(cutters, zip(*records, strict=True), strict=True)
    lengths = [list(map(len, cutter.encode_batch(list(column)))) for cutter, column in columns]
    kept = [r for r, *sides in zip(records, *lengths, strict=True) if min(sides) > 0 and has_room(run, *sides)]
    if len(kept) < len(records):
        say(f"{len(records) - len(kept)} of {len(records)} pairs {unfit(run)}: not in the loss")
    return Source(name, lambda: iter(kept), len(kept))


def unfit(run: Run) -> str:
    """What is true of pairs whose likelihood cannot be measured, in words."""
    most = run.model.limit
    if most is None:
        return "have an empty side"
    sides = f"one longer than {most - 1}" if run.model.reads_source else f"together more than {most - SYMBOLS}"
    return f"have an empty side, or {sides} tokens"


def has_room(run: Run, source: int, target: int) -> bool:
    """Whether a pair of so many tokens fits, in one row or in two; a source that is shortened needs one token."""
    most, source = run.model.limit, 1 if run.shortens else source
    if most is None:
        return True
    return max(source, target) < most if run.model.reads_source else source + target + SYMBOLS <= most


def shortened(run: Run, sources: list[Encoded], settings: Decode) -> tuple[list[Encoded], int]:
    """The sources as the run was trained to read them, cut or whole, and how many were cut."""
    check_room(run.model, settings)
    most = room(run.model, settings.max_tokens)
    if most is None or not run.shortens:
        return sources, 0
    return [beginning(source, most) for source in sources], sum(len(source.ids) > most for source in sources)


def translations(run: Run, sources: list[str], decode: Decode | None) -> list[str]:
    """The best translation of each source; one longer than the context gets an empty translation."""
    return translated(run, sources, decode)[0]


def translated(
    run: Run, sources: list[str], decode: Decode | None, on_done: Callable[[int], None] | None = None
) -> tuple[list[str], dict[str, int]]:
    """The best translation of each source, and how many were cut off, not made, or made of a shortened source."""
    settings = decode or run.recipe.decode
    encoded, short = shortened(run, [run.tokenizer.encode_with_offsets(text) for text in sources], settings)
    most = room(run.model, settings.max_tokens)
    fits = {i: (sources[i], each) for i, each in enumerate(encoded) if most is None or len(each.ids) <= most}
    kind = run.recipe.text.kind
    found = translate(run.model, run.tokenizer, settings, list(fits.values()), kind=kind, on_done=on_done)
    best = {i: row[0].text for i, row in zip(fits, found, strict=True)}
    cut = sum(row[0].hypothesis.ended == "length" for row in found)
    lost = {"cut": cut, "too_long": len(encoded) - len(fits), **({"shortened": short} if run.shortens else {})}
    return [best.get(i, "") for i in range(len(sources))], lost
