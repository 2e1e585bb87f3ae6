"""`regard fill`: words for the gaps of a text."""

from collections.abc import Callable, Sequence
from itertools import count, takewhile
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Device, Json, Run, Trees, repeated
from regard.cli.output import counting, emit, note
from regard.errors import UserError

TOP = 5
Record = dict[str, Any]


def fill(
    run: Run,
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated(
            "A text with at least one gap, marked by <mask>, [MASK] or ___; may be given several times. Without it, "
            "standard input is read line by line."
        ),
    ] = (),
    top: Annotated[
        int | None, Parameter(help=f"Of a masked language model: so many words for each gap; by default {TOP}.")
    ] = None,
    trees: Trees = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Fill the gaps of texts: a masked language model names the likeliest words for each, one trained on spans writes
    what belongs there, a BART writes the whole text.

    A masked language model puts one token in each gap, each chosen on its own. A gap of any number of words is for a
    run with objective 'spans', such as t5; there <extra_id_0>, <extra_id_1> and so on mark gaps too. In a file of
    --trees, a gap is a word.
    """
    from regard.cli.reading import checked, load_runs, plain, sentences, standing

    model = load_runs([run], device)[0]
    way = way_of(model)
    if way is not guessed and top is not None:
        raise UserError(f"{model.path} writes one text for each gap: --top is for a masked language model")
    if top is not None and top < 1:
        raise UserError(f"--top {top}: give at least 1")
    texts, results = checked(text, "--text"), list[Record]()
    where = standing(texts, trees)
    for group in sentences(model, texts, trees):
        gapped, lines = marked(model, group, where, len(results) + 1), [plain(text) for text in group]
        found = way(model, lines, gapped, top or TOP)
        if not json:
            show(found)
        results += found
    emit(results, json, lambda: None)


def way_of(run: Any) -> Callable[[Any, Sequence[str], Sequence[Any], int], list[Record]]:
    """How it fills gaps; a run that does not is refused."""
    from regard.text.tokenizer import MASK

    if sentinels(run):
        return written
    if run.tokenizer.has((MASK,)):
        if run.model.answers == "words" and not run.model.writes_text:
            return guessed
        if translates_elsewhere(run):
            return written_anew
    lacks = ": its vocabulary has no <extra_id_0> (T5) and no mask (BART)" if translates_elsewhere(run) else ""
    raise UserError(
        f"{run.path} was not trained to fill gaps{lacks}: that takes objective 'masked' or 'masked-pairs' (bert), or "
        "'spans' (t5)"
    )


def sentinels(run: Any) -> tuple[int, ...]:
    """The symbols that stand for gaps in what it reads; a translator from elsewhere that has them learnt both."""
    from regard.objectives import SpanCorruption
    from regard.text.gaps import SENTINEL

    names: Sequence[str] = ()
    if isinstance(run.recipe.objective, SpanCorruption):
        names = run.recipe.objective.symbols
    elif translates_elsewhere(run):
        names = list(takewhile(lambda name: run.tokenizer.has((name,)), map(SENTINEL.format, count())))
    return tuple(map(run.tokenizer.symbol, names))


def translates_elsewhere(run: Any) -> bool:
    """Whether it reads one text and writes another, as it learnt elsewhere."""
    from regard.text.tokenizer import Habits

    return run.model.reads_source and run.tokenizer.habits != Habits()


def marked(run: Any, texts: Sequence[Any], where: Callable[[int], str], first: int) -> list[Any]:
    """The texts cut at their gaps. `where` says of a number, they begin with `first`, where a text was given."""
    from regard.cli.making import encode
    from regard.cli.reading import plain
    from regard.data.parse import GappedParse
    from regard.text.gaps import MARKS, Gapped

    cut = GappedParse if run.model.trees else Gapped.numbered if sentinels(run) else Gapped.cut
    found = [cut(text if run.model.trees else text.strip(), run.recipe.text.kind) for text in texts]
    for number, (text, gapped) in enumerate(zip(map(plain, texts), found, strict=True), first):
        if not gapped.gaps:
            what = "has no gap" if text.strip() else "is empty"
            marks = f"{', '.join(MARKS[:-1])} or {MARKS[-1]}"
            raise UserError(f"{where(number)} {text!r} {what}: mark what is missing with {marks}")
    encode(run, [part for gapped in found for part in gapped.read])  # tells what is unknown
    return found


def guessed(run: Any, texts: Sequence[str], gapped: Sequence[Any], top: int) -> list[Record]:
    """The likeliest words for each gap, and the text with the first of them in it."""
    from regard.decode import fill_masks

    with counting(len(texts), "filled") as on_done:
        found = fill_masks(run.model, run.tokenizer, gapped, top=top, on_done=on_done)
    return [
        {
            "text": text,
            "filled": cut.text(run.tokenizer, [[gap[0].token] for gap in gaps]),
            "gaps": [best_first([candidate(run, guess) for guess in gap]) for gap in gaps],
        }
        for text, cut, gaps in zip(texts, gapped, found, strict=True)
    ]


def best_first(candidates: list[Record]) -> Record:
    return {"word": candidates[0]["word"], "probability": candidates[0]["probability"], "candidates": candidates}


def candidate(run: Any, guess: Any) -> Record:
    """A word as one reads it, and as the vocabulary writes its token."""
    word = run.tokenizer.decode([guess.token])
    return {"word": word.strip() or word, "token": run.tokenizer.piece(guess.token), "probability": guess.probability}


def written(run: Any, texts: Sequence[str], gapped: Sequence[Any], top: int) -> list[Record]:
    """What the model writes for each gap, once, and the text with it."""
    from regard.decode import fill_spans

    about = {"sentinels": sentinels(run), "settings": run.recipe.decode}
    with counting(len(texts), "filled") as on_done:
        found = fill_spans(run.model, run.tokenizer, gapped, **about, on_done=on_done)
    if empty := sum(span.log_probability is None for gaps in found for span in gaps):
        note(f"for {empty:,} of {sum(map(len, found)):,} gaps the model wrote nothing")
    return [
        {
            "text": text,
            "filled": cut.text(run.tokenizer, [span.tokens for span in gaps]),
            "gaps": [
                {"text": run.tokenizer.decode(span.tokens).strip(), "log_probability": span.log_probability}
                for span in gaps
            ],
        }
        for text, cut, gaps in zip(texts, gapped, found, strict=True)
    ]


def written_anew(run: Any, texts: Sequence[str], gapped: Sequence[Any], top: int) -> list[Record]:
    """The whole text as the model writes it, once, whatever it makes of the parts that were given."""
    from regard.decode import write_anew

    with counting(len(texts), "filled") as on_done:
        found = write_anew(run.model, run.tokenizer, gapped, settings=run.recipe.decode, on_done=on_done)
    return [
        {
            "text": text,
            "filled": run.tokenizer.decode(each.tokens).strip(),
            "log_probability": sum(each.log_probabilities),
        }
        for text, each in zip(texts, found, strict=True)
    ]


def show(results: Sequence[Record]) -> None:
    """Each filled text on one line, and below it the words for each of its gaps."""
    from regard.text.words import visible

    for result in results:
        print(" ".join(result["filled"].splitlines()), flush=True)
        for gap in result.get("gaps", ()):
            if "candidates" in gap:
                words = (f"{visible(each['word'])} {each['probability']:.4f}" for each in gap["candidates"])
                print("  " + "   ".join(words))
