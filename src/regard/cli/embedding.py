"""`regard embed`: vectors of texts, of words in them, and of one word in several senses."""

import io
import json as json_library
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Device, Json, Trees, flag, repeated, several
from regard.cli.output import counting, emit, note, rows
from regard.errors import UserError

SHOWN = 12  # uses of a word whose cosines are printed one by one
Record = dict[str, Any]
Where = Callable[[int], str]  # of the number of a text, from 1: where it was given


def embed(
    run: Annotated[list[Path], several("Folder of the run; with --compare of several.")],
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated(
            "A text; may be given several times. Without it, standard input is read line by line; with --compare, the "
            "built-in corpus `senses`. There a sense and a tab may stand before a text."
        ),
    ] = (),
    words: Annotated[bool, flag("A vector for each word where it stands, not one for the text.")] = False,
    pool: Annotated[
        str | None,
        Parameter(
            help="How tokens become one vector: mean, first (the start symbol of an encoder), last, or all (the mean "
            "with start and end symbol); by default as the run's [embed] says."
        ),
    ] = None,
    layer: Annotated[int | None, Parameter(help="What leaves this layer, from 0; by default what is used.")] = None,
    normalise: Annotated[
        bool | None, Parameter(help="Make each vector one unit long; by default as the run's [embed] says.")
    ] = None,
    max_tokens: Annotated[
        int | None, Parameter(help="Read no longer texts, start and end counted; by default what the context holds.")
    ] = None,
    truncate: Annotated[bool, flag("Read the beginning alone of a text that is too long; else it stops.")] = False,
    compare: Annotated[
        str | None, Parameter(help="Compare the vectors of this word, everywhere it stands in the texts.")
    ] = None,
    to: Annotated[
        Path | None,
        Parameter(
            help="Write FILE.npy (a row for each text) or FILE.jsonl; with --compare a picture, FILE.svg or .png."
        ),
    ] = None,
    trees: Trees = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Turn texts into vectors: one for each text, one for each word in it, or one word in several senses compared."""
    from regard.cli.reading import checked, load_runs, sentences, standing

    if compare is not None and (words or pool is not None or normalise is not None):
        raise UserError("--compare takes the vectors of one word as they are: no --words, --pool or --normalise")
    if words and pool is not None:
        raise UserError("--pool makes one vector of a text: leave out --words")
    if compare is None and len(run) > 1:
        raise UserError(f"{len(run)} runs have vectors that are not alike: give one, or a word to --compare")
    check_ending(to, (".svg", ".png") if compare is not None else (".jsonl",) if words else (".npy", ".jsonl"))
    runs = load_runs(run, device, "--text")
    texts = checked(text, "--text")
    if compare is not None and trees is not None:
        raise UserError("--compare finds a word in texts: no --trees")
    how = {"pool": pool, "normalise": normalise, "max_tokens": max_tokens, "truncate": truncate or None}
    runs = [asked(each, how) for each in runs]
    if compare is not None:
        return side_by_side(runs, compare, texts, layer=layer, to=to, json=json)
    given = sentences(runs[0], texts, trees)
    make = partial(of_words, layer=layer, normalise=bool(normalise)) if words else partial(of_texts, layer=layer)
    return listed(partial(make, runs[0], where=standing(texts, trees)), given, to=to, json=json)


def asked(run: Any, options: Record) -> Any:
    """The run with the options that were given in place of its own settings."""
    given = {name: value for name, value in options.items() if value is not None}
    if "truncate" in given and run.model.trees:
        raise UserError(f"{run.path} looks at trees, and a tree is not cut: leave out --truncate")
    return replace(run, recipe=replace(run.recipe, embed=replace(run.recipe.embed, **given)))


def check_ending(to: Path | None, endings: Sequence[str]) -> None:
    if to is not None and to.suffix.lower() not in endings:
        raise UserError(f"--to {to}: its name must end in {' or '.join(endings)}")


def listed(make: Callable[..., list[Record]], groups: Iterable[list[Any]], *, to: Path | None, json: bool) -> None:
    """The vectors of texts that come in groups, printed or written. `make` is told the number of a group's first."""
    results: list[Record] = []
    for texts in groups:
        found = make(texts, first=len(results) + 1)
        if to is None and not json:
            for record in found:
                print(line(record), flush=True)
        results += found
    if to is not None:
        write(to, results)
        note(f"wrote {len(results):,} texts to {to}")
    elif json:
        emit([json_library.loads(line(record)) for record in results], json, lambda: None)


def of_texts(run: Any, texts: list[Any], *, where: Where, first: int = 1, layer: int | None = None) -> list[Record]:
    from regard.cli.reading import plain
    from regard.evaluate.vectors import sentence_vectors

    if empty := sum(not ids for ids in told(run, texts, where, first)):
        note(f"{empty:,} of {len(texts):,} texts are empty: their vectors are 0")
    with counting(len(texts), "embedded") as on_done:
        found = sentence_vectors(run, texts, layer=layer, on_done=on_done).numpy()
    return [{"text": plain(text), "vector": vector} for text, vector in zip(texts, found, strict=True)]


def told(run: Any, texts: list[Any], where: Where, first: int = 1) -> list[list[int]]:
    """The tokens of texts as they are read; which are unknown, and how many texts are too long, is said.

    A text that is too long and may not be cut stops; the numbers of the texts begin with `first`.
    """
    from regard.cli.making import tell_unknown_in
    from regard.cli.reading import begun, plain
    from regard.evaluate.vectors import check_room, cut_off, taken

    found, _ = taken(run, texts)
    ids, given = [each.ids for each in found], list(map(plain, texts))
    check_room(run, ids, run.recipe.embed, lambda i: f"{where(first + i)} {begun(given[i])}")
    tell_unknown_in(run, given, found)
    if long := cut_off(run, ids):
        note(f"{long:,} of {len(texts):,} texts are too long: their beginning was read alone")
    return ids


def of_words(
    run: Any, texts: list[Any], *, where: Where, first: int, layer: int | None, normalise: bool
) -> list[Record]:
    from torch.nn.functional import normalize

    from regard.cli.reading import plain
    from regard.evaluate.vectors import word_vectors

    told(run, texts, where, first)
    with counting(len(texts), "embedded") as on_done:
        found = word_vectors(run, texts, layer=layer, on_done=on_done)

    def described(word: Any) -> Record:
        vector = normalize(word.vector, dim=-1) if normalise and word.vector is not None else word.vector
        place = {"word": word.text, "start": word.start, "end": word.end}
        return {**place, "vector": vector.numpy() if vector is not None else None}

    return [{"text": plain(text), "words": list(map(described, each))} for text, each in zip(texts, found, strict=True)]


def write(to: Path, results: list[Record]) -> None:
    """A table of numbers, or a record on each line."""
    import numpy as np

    from regard.checkpoint import write as write_file

    out = io.BytesIO()
    if to.suffix.lower() == ".npy":
        np.save(out, np.stack([record["vector"] for record in results]) if results else np.zeros((0, 0), np.float32))
    else:
        out.write("".join(line(record) + "\n" for record in results).encode())
    write_file(to, out.getvalue())


def line(record: Record) -> str:
    """The record as JSON on one line, each number as short as its precision allows."""
    return json_library.dumps(record, ensure_ascii=False, default=lambda vector: [float(str(x)) for x in vector])


def side_by_side(
    runs: Sequence[Any], word: str, texts: list[str], *, layer: int | None, to: Path | None, json: bool
) -> None:
    """One word in several texts, for each run."""
    from regard.evaluate.senses import compared, uses_of
    from regard.explain.cloud import draw_uses

    uses = uses_of(word, labelled(texts) if texts else built_in(word))
    if not texts:
        note("without --text the sentences are those of the built-in corpus 'senses'; standard input is not read")
    place = "--text" if texts else "the corpus 'senses':"
    for run in runs:
        told(run, list(dict.fromkeys(use.text for use in uses)), lambda number: place)
    found = [compared(run, uses, layer=layer) for run in runs]
    if to is not None:
        draw_uses(found, to)
        note(f"wrote {to}")
    results = {
        "word": word,
        "uses": [{**vars(use)} for use in uses],
        "runs": [
            {"run": str(run.path), **each.scores, "cosines": each.cosines.tolist()}
            for run, each in zip(runs, found, strict=True)
        ],
    }
    emit(results, json, lambda: show(results))


def labelled(texts: list[str]) -> list[tuple[str, str]]:
    """Texts and senses: what stands before a tab is the sense."""
    cut = [text.rpartition("\t") for text in texts]
    return [(text.strip(), sense.strip()) for sense, _, text in cut]


def built_in(word: str) -> list[tuple[str, str]]:
    """Test sentences of the corpus `senses` with this word, whose labels are such as "bank/river"."""
    from regard.data import CORPORA
    from regard.errors import suggest

    records = [(text, *label.split("/", 1)) for text, label in CORPORA["senses"].source("test", ("text", "label"))]
    if not (found := [(text, sense) for text, name, sense in records if name == word.lower()]):
        known = list(dict.fromkeys(name for _, name, _ in records))
        raise UserError(f"the corpus 'senses' has no word '{word}'{suggest(word, known)}; give texts with --text")
    return found


def show(results: Record) -> None:
    """For each run its scores, and the cosines of the uses or, where they are many, of the senses."""
    uses = results["uses"]
    for run in results["runs"]:
        print(f"{run['run']}: cosines of “{results['word']}” in {len(uses)} places")
        many = len(uses) > SHOWN and len(run.get("senses", ())) > 1
        table = by_sense(uses, run["cosines"]) if many else by_use(uses, run["cosines"])
        rows(table, tuple(table[0]))
        for name in ("within", "between", "separation", "accuracy", "chance"):
            if run.get(name) is not None:
                print(f"{name:11} {run[name]:.4f}")


def by_use(uses: list[Record], cosines: list[list[float]]) -> list[Record]:
    named = [f"{use['sense']}: {use['text']}" if use["sense"] else use["text"] for use in uses]
    return [
        {"": i, **{str(j): round(value, 2) for j, value in enumerate(line, 1)}, "text": text}
        for i, (text, line) in enumerate(zip(named, cosines, strict=True), 1)
    ]


def by_sense(uses: list[Record], cosines: list[list[float]]) -> list[Record]:
    """The mean cosine of two uses, one of each sense; a use is not compared with itself."""
    senses = [use["sense"] for use in uses]
    names = list(dict.fromkeys(senses))

    def mean(one: str, other: str) -> float | str:
        values = [
            cosines[i][j]
            for i, a in enumerate(senses)
            for j, b in enumerate(senses)
            if i != j and (a, b) == (one, other)
        ]
        return round(sum(values) / len(values), 3) if values else ""

    return [{"sense": one, "uses": senses.count(one), **{other: mean(one, other) for other in names}} for one in names]
