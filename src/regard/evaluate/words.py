"""What vectors of words know: neighbours, analogies (Mikolov et al., 2013) and how alike people find two words.

All of it holds for any table of vectors, a model's `words` or the embedding of another system.

| file | a line of it |
|---|---|
| pairs (WordSim-353, SimLex-999) | word, word, score, with tabs between; `#` begins a remark |
| questions (Google's analogies) | `: section`, or four words: the second is to the first as the fourth to the third |
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.checkpoint import Run
from regard.data.skip_grams import are_words
from regard.data.sources import existing, lines
from regard.errors import UserError, suggest
from regard.evaluate.hidden import read
from regard.evaluate.job import Job
from regard.shapes import Float, Tensor
from regard.systems.word2vec import WordVectors

TOGETHER = 256  # questions answered at once
BEGINS = ("▁", "Ġ", "")  # how vocabularies of pieces mark the beginning of a word
POLICY = "each word that subsampling leaves, against its neighbours and noise; loss in nats per such word"


class Words:
    """A table of vectors and what its rows are called. Only directions count: every vector is made one unit long.

    A word is looked up as it is written, then in small letters.
    """

    def __init__(self, vectors: Float[Tensor, "v w"], pieces: Sequence[str]):
        if len(vectors) != len(pieces):
            raise ValueError(f"{len(vectors)} vectors for {len(pieces)} words")
        self.vectors = torch.nn.functional.normalize(vectors.detach().float().cpu(), dim=-1)
        self.pieces = list(pieces)
        self.rows = {piece: row for row, piece in enumerate(self.pieces)}

    @staticmethod
    def of(run: Run) -> "Words":
        """The vectors of a trained word2vec, without those of what is no word."""
        model, tokenizer = run.model, run.tokenizer
        if not isinstance(model, WordVectors):
            raise UserError(f"{run.path}: its vectors depend on what stands around a word; only word2vec has a table")
        kept = np.flatnonzero(are_words(tokenizer)).tolist()
        return Words(model.words.weight[kept], [tokenizer.piece(token) for token in kept])

    def find(self, word: str) -> int | None:
        """Its row, as a whole word before a piece of one; None where it has no vector."""
        spelt = (f"{mark}{each}" for each in (word, word.lower()) for mark in BEGINS)
        return next((self.rows[piece] for piece in spelt if piece in self.rows), None)

    def row(self, word: str) -> int:
        """Its row; a word without a vector stops."""
        if (row := self.find(word)) is None:
            near = suggest(word, self.pieces)
            raise UserError(f"no vector for '{word}'{near if 'mean' in near else ''}")
        return row

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words whose vectors point most the same way, and the cosine of the angle between."""
        row = self.row(word)
        return self.nearest(self.vectors[row], [row], count)

    def analogy(self, a: str, b: str, c: str, count: int = 1) -> list[tuple[str, float]]:
        """What is to `c` as `b` is to `a`: the words nearest to b - a + c, these three left out (3CosAdd)."""
        one, two, three = map(self.row, (a, b, c))
        wanted = self.vectors[two] - self.vectors[one] + self.vectors[three]
        return self.nearest(wanted, [one, two, three], count)

    def nearest(self, wanted: Float[Tensor, "w"], without: list[int], count: int) -> list[tuple[str, float]]:
        scores = self.vectors @ torch.nn.functional.normalize(wanted, dim=-1)
        scores[without] = -torch.inf
        values, rows = scores.topk(min(count, len(self.pieces) - len(set(without))))
        return [(self.pieces[row], value) for row, value in zip(rows.tolist(), values.tolist(), strict=True)]

    def similarity(self, path: Path | str) -> dict[str, Any]:
        """`spearman`: do cosines order pairs of words as people do; over the `covered` ones of all `pairs`."""
        pairs = list(rated(Path(path)))
        known = [(a, b, score) for x, y, score in pairs if None not in (a := self.find(x), b := self.find(y))]
        if len(known) < 2:
            raise UserError(f"{path}: {len(known)} of {len(pairs)} pairs are known: nothing to put in order")
        one, two, scores = map(list, zip(*known, strict=True))
        cosines = (self.vectors[one] * self.vectors[two]).sum(-1)
        found = spearman(cosines.double().numpy(), np.array(scores))
        return {"spearman": found, "pairs": len(pairs), "covered": len(known)}

    def analogies(self, path: Path | str) -> dict[str, Any]:
        """`accuracy` over the questions all of whose words are known, and the same for each of the `sections`."""
        sections: dict[str, list[list[int | None]]] = {}
        for section, words in questions(Path(path)):
            sections.setdefault(section, []).append([self.find(word) for word in words])
        told = {}
        for section, asked in sections.items():
            known = [[row for row in rows if row is not None] for rows in asked if None not in rows]
            told[section] = {"right": self.right(known), "covered": len(known), "questions": len(asked)}
        sums = {name: sum(each[name] for each in told.values()) for name in ("right", "covered", "questions")}
        if not sums["covered"]:
            raise UserError(f"{path}: of {sums['questions']} questions none has four words that are known")
        return {**with_accuracy(sums), "sections": {name: with_accuracy(each) for name, each in told.items()}}

    def right(self, asked: list[list[int]]) -> int:
        """How many questions are answered by the fourth word of each."""
        found = 0
        for begin in range(0, len(asked), TOGETHER):
            rows = torch.tensor(asked[begin : begin + TOGETHER])
            one, two, three = self.vectors[rows[:, :3]].unbind(1)
            scores = (two - one + three) @ self.vectors.T
            scores.scatter_(1, rows[:, :3], -torch.inf)
            found += int((scores.argmax(-1) == rows[:, 3]).sum())
        return found


def with_accuracy(counts: dict[str, int]) -> dict[str, Any]:
    return {"accuracy": counts["right"] / max(1, counts["covered"]), **counts}


def rated(path: Path) -> Iterator[tuple[str, str, float]]:
    """The pairs of a file and how alike people find them."""
    for number, line in lines(existing(path)):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.strip().split("\t")
        try:
            one, two, score = cells[0], cells[1], float(cells[2])
        except (IndexError, ValueError):
            raise UserError(f"{path} line {number}: expected word, word and score, with tabs between") from None
        if not math.isfinite(score):
            raise UserError(f"{path} line {number}: the score {cells[2]} has no place in an order")
        yield one.strip(), two.strip(), score


def questions(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The analogies of a file, each with the section it stands in."""
    section = ""
    for number, line in lines(existing(path)):
        if line.startswith(":"):
            section = line.removeprefix(":").strip()
        elif words := line.split():
            if len(words) != 4:
                raise UserError(f"{path} line {number}: {len(words)} words, an analogy has four")
            yield section, words


def ranks(values: np.ndarray) -> np.ndarray:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, groups, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[groups]


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of the ranks; 0 where one side has no order."""
    a, b = (ranks(side) - (len(side) + 1) / 2 for side in (one, other))
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size else 0.0


@torch.inference_mode()
def skip_grams(job: Job) -> dict[str, Any]:
    """The objective's loss on a text that was not trained on; its noise follows that text's own frequencies."""
    run, nats, count = job.run, 0.0, 0
    if not isinstance(run.model, WordVectors):
        raise UserError("several tables of vectors are not measured together; evaluate one run")
    for batch in read(job):
        nats += float(run.recipe.objective(run.model, batch).nats)
        count += batch.count
    return {"loss": nats / count, "tokens": count, "policy": POLICY}
