"""Do vectors know the sense of a word? WiC (Pilehvar and Camacho-Collados, 2019): one word in two sentences, used in
the same sense or not.

    python benchmarks/wic.py RUN DIR [--layers 0 1 2 ...]

DIR holds train/, dev/ and test/, each with NAME.data.txt and NAME.gold.txt, as WiC is distributed. A pair is called the
same where the cosine of the word's two vectors is at least a threshold. The threshold is set on train, the layer on
dev; test is looked at for the layer that was chosen, and for the words read alone, whose vectors know no context.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

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


def cosines(run: Run, split: Split, layer: int | None) -> np.ndarray:
    count = len(split.firsts)
    vectors = compared(run, [*split.firsts, *split.seconds], layer=layer).vectors
    return torch.nn.functional.cosine_similarity(vectors[:count], vectors[count:], dim=-1).double().numpy()


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
    each = []
    for layer in layers:
        values = {name: cosines(run, splits[name], layer) for name in ("train", "dev")}
        least = threshold(values["train"], splits["train"].same)
        found = {name: accuracy(values[name], splits[name].same, least) for name in values}
        each.append({"layer": layer, "threshold": least, **found})
    best = max(each, key=lambda row: row["dev"])
    chosen = accuracy(cosines(run, splits["test"], best["layer"]), splits["test"].same, best["threshold"])
    bare = {
        name: Split([*map(alone, split.firsts)], [*map(alone, split.seconds)], split.same)
        for name, split in splits.items()
    }
    values = {name: cosines(run, split, best["layer"]) for name, split in bare.items()}
    least = threshold(values["train"], splits["train"].same)
    return {
        "layers": each,
        "layer": best["layer"],
        "test": chosen,
        "alone": accuracy(values["test"], splits["test"].same, least),
        "alone_alike": float((values["test"] > 1 - 1e-6).mean()),
        "pairs": {name: len(split.same) for name, split in splits.items()},
    }


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
    main()
