"""The inputs of the certificate: real texts of different lengths, longer than any window or stride in the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import torch

from regard.checkpoint import Run
from regard.data import IGNORE, Batch
from regard.data.batch import pad, presence
from regard.data.prepare import stores
from regard.data.sources import HEADS
from regard.data.store import Store
from regard.data.trees import planted
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Bool, Int, Tensor
from regard.text import Tokenizer
from regard.train.run import TOKENS

ROWS = 4
MORE = 48  # tokens of the longest text beyond the model's reach
SENTENCES = (
    "The chicken didn't cross the road because it was too tired.",
    "The chicken didn't cross the road because it was too wide.",
    "An old dog and a young boy.",
    "Thanks for all the help.",
    "A boy is eating an apple.",
    "this movie is great",
    "is this movie great",
)

Column = Store | Sequence[np.ndarray]


@dataclass(frozen=True)
class Inputs:
    """`texts` begin with the start symbol; `sources`, for a model that reads them, end with the end symbol.

    Texts that are answered end with it too, and `wanted` has an answer for each, or for each of its tokens. `trees` are
    those of the texts between their symbols, where the model looks at trees.
    """

    texts: list[list[int]]
    sources: list[list[int]] | None
    origin: str
    wanted: list[list[int]] | None = None
    trees: list[np.ndarray] | None = None

    @property
    def lengths(self) -> list[int]:
        """Of the texts, then of their sources."""
        return [len(row) for row in (*self.texts, *(self.sources or []))]

    @property
    def unended(self) -> list[list[int]] | None:
        """The sources without their end symbol, as decoding takes them."""
        return [source[:-1] for source in self.sources] if self.sources is not None else None

    def asks_nothing(self, run: Run) -> bool:
        """Nothing is to be said of these texts, so no loss can be computed over them."""
        return not run.model.writes_text and self.wanted is None

    def row(self, i: int) -> "Inputs":
        """One text alone."""
        return self.some([i])

    def some(self, rows: list[int]) -> "Inputs":
        """These texts alone."""

        def chosen(column: list | None) -> Any:
            return [column[i] for i in rows] if column is not None else None

        return Inputs(chosen(self.texts), chosen(self.sources), self.origin, chosen(self.wanted), chosen(self.trees))

    def places(self, tokens: Int[Tensor, "b t"], present: Bool[Tensor, "b t"] | None) -> Place:
        """Where the tokens of the texts stand, padded on the right."""
        at = Place.line(tokens, present)
        return at if self.trees is None else planted(at, self.trees)

    def batch(self, tokenizer: Tokenizer) -> Batch:
        """What a trainer would be handed: each token with the one that follows it, or each text with what to answer."""
        texts = [np.asarray(text) for text in self.texts]
        if self.wanted is not None:
            tokens, targets = pad(texts, tokenizer.pad), pad([np.asarray(row) for row in self.wanted], IGNORE)
            targets = targets if targets.shape[1] > 1 else targets[:, 0]
            label = torch.arange(len(texts)) % 2  # where it is asked whether a second text follows
            place, count = self.places(tokens, presence(texts)), int((targets != IGNORE).sum())
            return Batch(tokens, targets, count, place, label=label, whole=True)
        tokens, targets = pad([t[:-1] for t in texts], tokenizer.pad), pad([t[1:] for t in texts], IGNORE)
        made = Batch(tokens, targets, sum(len(text) - 1 for text in texts))
        if self.sources is None:
            return made
        sources = [np.asarray(source) for source in self.sources]
        return replace(made, source=pad(sources, tokenizer.pad), source_present=presence(sources))


def make(run: Run) -> Inputs:
    """From the run's own token files, held-out ones first; for an imported run from the lectures' sentences."""
    sides = 2 if run.model.reads_source else 1
    wanted = ragged(run.model.context, run.model.reach, ROWS * sides)
    columns, origin = own_tokens(run, enough=sum(wanted))
    if not columns:
        columns, origin = sentences(run), "sentences of the lectures"
    if run.model.trees:
        return parsed(run, [n - 2 for n in wanted], origin)
    if not run.model.writes_text:
        ended = [[*text, run.tokenizer.end] for text in texts(columns[0], [n - 1 for n in wanted], run.tokenizer.start)]
        return Inputs(ended, None, origin, answers(run, ended))
    if sides == 1:
        columns = [rows_of(columns, run.tokenizer.end)] if run.takes_source else columns
        return Inputs(texts(columns[0], wanted, run.tokenizer.start), None, origin)
    targets, sources = pairs([columns[0], columns[-1]], wanted, run)
    return Inputs(targets, sources, origin)


def rows_of(columns: list[Column], end: int) -> list[np.ndarray]:
    """Sources with the targets that follow them in the same row, some from all over the data."""
    sources, targets = columns
    some = np.unique(np.linspace(0, len(sources) - 1, 16 * ROWS).astype(int)).tolist()
    return [np.concatenate([sources[i], [end], targets[i], [end]]) for i in some]


def parsed(run: Run, wanted: list[int], origin: str) -> Inputs:
    """Sentences of the run's own with their trees."""
    if not origin.startswith(TOKENS):
        raise UserError(f"{run.path} looks at trees, and without {TOKENS}/ there are none to check it with")
    kept, rows = stores(run.path / origin, run.recipe.objective.columns), len(wanted)
    found = [grove(kept, i * len(kept[0]) // rows, most) for i, most in enumerate(wanted)]
    ended = [[run.tokenizer.start, *ids, run.tokenizer.end] for ids, _ in found]
    return Inputs(ended, None, origin, answers(run, ended), [trees for _, trees in found])


def grove(kept: list[Store], begin: int, length: int) -> tuple[list[int], np.ndarray]:
    """So many tokens from a sentence on; of several sentences the trees stand side by side."""
    ids: list[int] = []
    trees = np.zeros((3, 0), np.int64)
    for i in count(begin):
        if len(ids) >= length:
            break
        text, tree = (store[i % len(store)] for store in kept)
        entered = np.array([[0], [1], [1]]) * (trees[2].max(initial=-1) + 1)
        ids, trees = [*ids, *text.tolist()], np.concatenate([trees, tree.reshape(3, -1) + entered], axis=1)
    return ids[:length], trees[:, :length]


def answers(run: Run, texts: list[list[int]]) -> list[list[int]] | None:
    """Something to be said of each text: a label, a tag for each of its tokens, or each third of its words."""
    if run.model.answers == "vectors":
        return None
    if run.model.answers == "labels":
        return [[i % run.model.labels] for i in range(len(texts))]
    if run.model.answers == "tags":
        return [[(i + j) % run.model.labels for j in range(len(text))] for i, text in enumerate(texts)]
    return [[token if j % 3 == 1 else IGNORE for j, token in enumerate(text)] for text in texts]


def text_columns(run: Run) -> tuple[str, ...]:
    """What the run's task reads, its labels and trees left out."""
    task = run.recipe.objective
    return tuple(name for name in task.columns if name not in (task.label, HEADS))


def ragged(context: int, reach: int, rows: int) -> list[int]:
    """Different lengths up to the context, all beyond the reach where there is room, not in order of size."""
    longest = min(context, reach + MORE)
    shortest = max(longest // ROWS, reach + 1) if longest >= reach + rows else longest // 2
    falling = list(dict.fromkeys(int(n) for n in np.linspace(longest, max(2, shortest), rows)))
    return falling[1::2] + falling[::2]


def own_tokens(run: Run, *, enough: int) -> tuple[list[Column], str]:
    """A held-out split with enough text for all rows, else the training split; nothing where there are no tokens."""
    for split in ("valid", "test", "train"):
        if (run.path / TOKENS / split).is_dir():
            found = stores(run.path / TOKENS / split, text_columns(run))
            if min(len(store.flat) for store in found) >= (1 if split == "train" else enough):
                return list(found), f"{TOKENS}/{split}"
    return [], ""


def sentences(run: Run) -> list[Column]:
    """The lectures' examples, the same in every column."""
    cutters = [run.tokenizer.of(column) for column in text_columns(run)]
    columns = [[np.asarray(ids) for text in SENTENCES if (ids := cutter.encode(text))] for cutter in cutters]
    if not all(columns):
        raise UserError(f"{run.path} has no {TOKENS}/, and its tokenizer knows nothing of the lectures' sentences")
    return [*columns]


def texts(column: Column, wanted: list[int], start: int) -> list[list[int]]:
    """Pieces from all over the column, going on at its beginning where it ends."""
    flat = column.flat if isinstance(column, Store) else np.concatenate(column)
    begins = [i * len(flat) // len(wanted) for i in range(len(wanted))]
    pieces = [flat.take(np.arange(b, b + n - 1), mode="wrap") for b, n in zip(begins, wanted, strict=True)]
    return [[start, *map(int, piece)] for piece in pieces]


def pairs(columns: list[Column], wanted: list[int], run: Run) -> tuple[list[list[int]], list[list[int]]]:
    """Targets and sources: whole examples, several joined where one is short, cut so that no two are equally long."""
    rows = len(wanted) // 2
    begins = [i * len(columns[0]) // rows for i in range(rows)]
    examples = [joined(columns, begin, least=run.model.reach + 2 * ROWS) for begin in begins]
    taken: set[int] = set()
    targets = [cut(target, most - 1, taken) for (_, target), most in zip(examples, wanted[:rows], strict=True)]
    sources = [cut(source, most - 1, taken) for (source, _), most in zip(examples, wanted[-rows:], strict=True)]
    return [[run.tokenizer.start, *row] for row in targets], [[*row, run.tokenizer.end] for row in sources]


def joined(columns: list[Column], begin: int, *, least: int) -> list[list[int]]:
    """Examples from `begin` on, one after another until every column has as many tokens as asked."""
    sides: list[list[int]] = [[] for _ in columns]
    for i in count(begin):
        if min(map(len, sides)) >= least:
            break
        for side, column in zip(sides, columns, strict=True):
            side += map(int, column[i % len(column)])
    return sides


def cut(tokens: list[int], most: int, taken: set[int]) -> list[int]:
    """At most so many of the tokens, as many as no other row has."""
    length = next((n for n in range(min(most, len(tokens)), 0, -1) if n not in taken), 1)
    taken.add(length)
    return tokens[:length]
