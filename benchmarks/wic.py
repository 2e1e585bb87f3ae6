"""Do vectors know the sense of a word? WiC (Pilehvar and Camacho-Collados, 2019): one word in two sentences, used in
the same sense or not.

    python benchmarks/wic.py RUN DIR [--layers 0 1 2 ...]

DIR holds train/, dev/ and test/, each with NAME.data.txt and NAME.gold.txt, as WiC is distributed. A pair is called the
same where the cosine of the word's two vectors is at least a threshold. Cosines are taken of the vectors as they are,
and of vectors whose every coordinate has mean 0 and spread 1 over train: else a few large coordinates decide them all
(Timkey and van Schijndel, 2021). The threshold is set on train; layer and scaling are chosen on dev, and test is looked
at for them alone; beside it, for the words read alone, whose vectors know no context.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from trials import ended

import regard
from regard.checkpoint import Run
from regard.errors import UserError
from regard.evaluate.senses import Use, compared

SPLITS = ("train", "dev", "test")


class Split(NamedTuple):
    """Pairs of uses, and whether the sense of both is the same."""

    firsts: list[Use]
    seconds: list[Use]
    same: np.ndarray


def read(folder: Path, name: str) -> Split:
    data, gold = (folder / name / f"{name}.{kind}.txt" for kind in ("data", "gold"))
    for path in (data, gold):
        if not path.is_file():
            raise UserError(f"no such file: {path}; WiC is to be downloaded by hand, see benchmarks/README.md")
    pairs = [pair(line) for line in data.read_text(encoding="utf-8").splitlines()]
    same = np.array([line.strip() == "T" for line in gold.read_text(encoding="utf-8").splitlines()])
    if len(pairs) != len(same):
        raise UserError(f"{data} has {len(pairs)} lines and {gold} {len(same)}")
    return Split([one for one, _ in pairs], [other for _, other in pairs], same)


def pair(line: str) -> tuple[Use, Use]:
    """The word's two uses: `word, part of speech, "index-index", sentence, sentence`, words separated by blanks."""
    _, _, places, *texts = line.split("\t")
    one, other = (use(text, int(place)) for text, place in zip(texts, places.split("-"), strict=True))
    return one, other


def use(text: str, place: int) -> Use:
    words = text.split()
    begin = sum(len(word) + 1 for word in words[:place])
    return Use(" ".join(words), begin, begin + len(words[place]))


def alone(use: Use) -> Use:
    """The word as a text of its own."""
    return replace(use, text=use.word, start=0, end=len(use.word))


def vectors(run: Run, split: Split, layer: int | None) -> np.ndarray:
    """Of the first uses and of the second ones, `[2, pairs, width]`."""
    found = compared(run, [*split.firsts, *split.seconds], layer=layer).vectors
    return found.double().numpy().reshape(2, len(split.same), -1)


def scaling(train: np.ndarray, *, standard: bool) -> Callable[[np.ndarray], np.ndarray]:
    """What is done to vectors before they are compared, as those of train say."""
    if not standard:
        return lambda found: found
    middle, spread = train.mean((0, 1)), np.maximum(train.std((0, 1)), 1e-6)
    return lambda found: (found - middle) / spread


def cosines(found: np.ndarray) -> np.ndarray:
    one, other = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return (one * other).sum(-1)


def threshold(values: np.ndarray, same: np.ndarray) -> float:
    """The cosine from which on pairs are best called the same; half-way between two, so that none lies on it."""
    order = np.argsort(values)
    ranked = values[order]
    right = np.cumsum(np.r_[same.sum(), np.where(same[order], -1, 1)])  # with so many of the smallest called different
    apart = np.flatnonzero(np.r_[True, np.diff(ranked) > 1e-9, True])
    cut = apart[right[apart].argmax()]
    if cut in (0, len(ranked)):
        return float(ranked[0] - 1 if cut == 0 else ranked[-1] + 1)
    return float((ranked[cut - 1] + ranked[cut]) / 2)


def accuracy(values: np.ndarray, same: np.ndarray, least: float) -> float:
    return float(((values >= least) == same).mean())


def measure(run: Run, splits: dict[str, Split], layers: Sequence[int | None]) -> dict[str, object]:
    each = [row for layer in layers for row in tried(run, splits, layer)]
    best = max(each, key=lambda row: row["dev"])
    chosen = {"layer": best["layer"], "standard": best["standard"]}
    bare = {
        name: Split([*map(alone, split.firsts)], [*map(alone, split.seconds)], split.same)
        for name, split in splits.items()
    }
    values = cosines(vectors(run, bare["test"], best["layer"]))
    return {
        "tried": each,
        **chosen,
        "test": tested(run, splits, **chosen),
        "alone": tested(run, bare, **chosen),
        "alone_alike": float((values > 1 - 1e-6).mean()),
        "pairs": {name: len(split.same) for name, split in splits.items()},
    }


def tried(run: Run, splits: dict[str, Split], layer: int | None) -> Iterator[dict[str, Any]]:
    """One layer, its vectors as they are and made alike in every coordinate."""
    found = {name: vectors(run, splits[name], layer) for name in ("train", "dev")}
    for standard in (False, True):
        scaled = scaling(found["train"], standard=standard)
        values = {name: cosines(scaled(each)) for name, each in found.items()}
        least = threshold(values["train"], splits["train"].same)
        right = {name: accuracy(values[name], splits[name].same, least) for name in values}
        yield {"layer": layer, "standard": standard, **right}


def tested(run: Run, splits: dict[str, Split], *, layer: int | None, standard: bool) -> float:
    """The accuracy on test, with what train says."""
    train, test = (vectors(run, splits[name], layer) for name in ("train", "test"))
    scaled = scaling(train, standard=standard)
    least = threshold(cosines(scaled(train)), splits["train"].same)
    return accuracy(cosines(scaled(test)), splits["test"].same, least)


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("run", type=Path)
    about.add_argument("folder", type=Path)
    about.add_argument("--layers", type=int, nargs="+", help="by default all, and what the model uses")
    given = about.parse_args()
    run = regard.load(given.run)
    layers = given.layers or [*range(getattr(run.recipe.system, "depth", 0)), None]
    splits = {name: read(given.folder, name) for name in SPLITS}
    print(json.dumps(measure(run, splits, layers), indent=2))


if __name__ == "__main__":
    ended(main)
