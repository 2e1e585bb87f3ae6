"""The parser that is sealed into a run which looks at trees (B7): trained before its model, from the same sentences."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from regard.checkpoint import PARSER
from regard.data import splits
from regard.data.parser import Hung, Parser, attached, train_parser, udpipe
from regard.data.sources import Source
from regard.errors import UserError
from regard.recipe import Recipe
from regard.systems import System
from regard.text.words import given_words
from regard.train.forecast import duration

Opened = tuple[dict[str, Source], list[str]]  # the splits, and what was decided of them
SECONDS = 3.5e-4  # for one word in one round, on one core


def check_trees(recipe: Recipe, model: System, objective: str) -> None:
    """A model that looks at trees must be given them; a parser is of use to such a model alone, and needs UDPipe."""
    if model.trees and not getattr(recipe.objective, "trees", False):
        raise UserError(
            f"system.position = 'syntax' looks at trees and objective '{objective}' gives none: take objective.kind = "
            "'masked' with objective.trees = true, or another position"
        )
    if recipe.data.parser and not model.trees:
        raise UserError(f"data.parser = {recipe.data.parser}: a system that looks at no trees has no use for it")
    if recipe.data.parser:
        udpipe()


def seal_parser(recipe: Recipe, folder: Path, opened: Opened | None, say: Callable[[str], None]) -> dict[str, Any]:
    """Train it into the run's folder, and tell how long it took and how well it parses the validation split."""
    sources, _ = opened or splits(recipe.data, recipe.objective.columns)
    rounds, sentences = recipe.data.parser, list(hung(sources["train"]))
    words = sum(len(heads) for _, heads in sentences)
    about = duration(SECONDS * words * rounds)
    say(f"training a parser on {words:,} words, {rounds} time(s) over: about {about} on one core")
    began = time.perf_counter()
    train_parser(sentences, folder / PARSER, rounds=rounds)
    seconds = time.perf_counter() - began
    share = attached(Parser(folder / PARSER), hung(sources["valid"]))
    say(f"the parser took {duration(seconds)}: of the validation words {share:.1%} hang on the right one")
    return {"rounds": rounds, "words": words, "seconds": seconds, "attached": share}


def hung(source: Source) -> Iterator[Hung]:
    """The words of each sentence, and the number of the word that each hangs on."""
    return ((given_words(words), list(map(int, heads.split()))) for words, heads in source)
