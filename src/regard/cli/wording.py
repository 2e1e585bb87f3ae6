"""`regard neighbours`: what a table of word vectors knows about words."""

from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Json, Run, repeated
from regard.cli.output import emit, rows
from regard.errors import UserError

Record = dict[str, Any]


def neighbours(
    run: Run,
    /,
    *word: Annotated[str, Parameter(help="Words whose nearest ones are asked for.")],
    analogy: Annotated[
        tuple[str, ...],
        repeated('Three words, "man king woman": what is to the third as the second to the first? Several times too.'),
    ] = (),
    rated: Annotated[
        Path | None, Parameter(help="Pairs of words with a rating by people (WordSim, SimLex): is the order the same?")
    ] = None,
    questions: Annotated[
        Path | None, Parameter(help="Analogies of four words a line, with lines ': section': how many are right?")
    ] = None,
    top: Annotated[int, Parameter(help="So many words for each.")] = 10,
    json: Json = False,
) -> None:
    """Name the nearest words by the vectors of a `word2vec`, answer analogies, and measure both on files."""
    from regard.checkpoint import load
    from regard.evaluate.words import Words

    if not (word or analogy or rated or questions):
        raise UserError("nothing is asked: give words, --analogy, --rated or --questions")
    if top < 1:
        raise UserError(f"--top {top}: give at least 1")
    table = Words.of(load(run))
    lists = {each: table.neighbours(each, top) for each in word}
    lists |= {asked(each): table.analogy(*three(each), count=top) for each in analogy}
    measured: Record = {}
    if rated:
        measured["similarity"] = table.similarity(rated)
    if questions:
        measured["analogies"] = table.analogies(questions)
    nearest = [{"asked": name, "words": [{"word": w, "cosine": c} for w, c in found]} for name, found in lists.items()]
    emit({"nearest": nearest, **measured}, json, lambda: show(nearest, measured))


def three(text: str) -> tuple[str, str, str]:
    words = text.split()
    if len(words) != 3:
        raise UserError(f'--analogy "{text}": {len(words)} words; give three, as in "man king woman"')
    return words[0], words[1], words[2]


def asked(text: str) -> str:
    one, two, other = three(text)
    return f"{one} : {two} = {other} : ?"


def show(nearest: list[Record], measured: Record) -> None:
    """A column of words for each that was asked for, then what was measured."""
    if nearest:
        names, lists = zip(*((entry["asked"], map(written, entry["words"])) for entry in nearest), strict=True)
        rows([dict(zip(names, line, strict=True)) for line in zip_longest(*lists, fillvalue="")], names)
    if found := measured.get("similarity"):
        print(f"similarity  Spearman {found['spearman']:.3f} over {found['covered']:,} of {found['pairs']:,} pairs")
    if found := measured.get("analogies"):
        print(f"analogies   {found['accuracy']:.1%} of {found['covered']:,} whose words are known")
        table = [{"section": name, **section} for name, section in found["sections"].items()]
        rows(table, ("section", "accuracy", "right", "covered", "questions"))


def written(found: Record) -> str:
    return f"{found['word']} {found['cosine']:.2f}"
