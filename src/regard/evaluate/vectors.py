"""Vectors of texts and of words in them, from any run (S8, S14, C14).

| run | the vector of a token |
|---|---|
| encoder: bert, a classifier, a tagger | what its head stands on; all of the text was seen |
| word2vec | its row of the table, whatever stands around it |
| language model | what the next token is predicted from; what came before was seen |
| translator, t5 | what its decoder looks at |

The vector of a word is the mean over its tokens, and where only the past is seen that of the last one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from regard.checkpoint import Run
from regard.data.batching import budgeted
from regard.data.parse import Parse
from regard.data.trees import planted
from regard.decode.session import table
from regard.errors import UserError
from regard.evaluate.job import BATCH_TOKENS
from regard.place import Place
from regard.recipe import Embed
from regard.shapes import Float, Int, Tensor
from regard.systems import System
from regard.systems.encoder import OnWriter
from regard.systems.word2vec import WordVectors
from regard.tap import Recording, record, taps
from regard.text import Encoded
from regard.text.words import cut

LAYERS = (".stream", ".states")  # taps that show what leaves a layer
Text = str | Parse  # with its tree, of a run that looks at trees
Trees = Sequence[Int[np.ndarray, "3 tokens"]]
Spans = Callable[[str], list[tuple[int, int]]]
Reader = Callable[[Tensor, Place], Tensor]
Progress = Callable[[int], None]
Named = Callable[[int], str]


def unseen(done: int) -> None:
    """Progress that nobody asks for."""


@dataclass(frozen=True)
class Read:
    """The vectors of one text. `whole` has those of the symbols around it too."""

    tokens: Float[Tensor, "t w"]
    whole: Float[Tensor, "n w"]


@dataclass(frozen=True)
class Word:
    """A word of a text, where it begins and ends there, and its vector; None where no token is left of it."""

    text: str
    start: int
    end: int
    vector: Float[Tensor, "w"] | None


POOLED: dict[str, Callable[[Read], Float[Tensor, "w"]]] = {
    "mean": lambda read: read.tokens.mean(0),
    "first": lambda read: read.whole[0],
    "last": lambda read: read.tokens[-1],
    "all": lambda read: read.whole.mean(0),
}


def sentence_vectors(
    run: Run, texts: Sequence[Text], *, layer: int | None = None, on_done: Progress = unseen, **how: Any
) -> Float[Tensor, "n w"]:
    """One vector for each text; that of an empty one is 0. Without a layer the last is taken, as the model uses it.

    `how` are settings of `[embed]` that hold in place of the run's: `pool`, `normalise`, `max_tokens`, `truncate`.
    """
    asked = replace(run.recipe.embed, **how)
    if asked.pool == "first" and onward(run.model):
        raise UserError(f"{run.path} sees at each token what came before: its first one knows nothing; take the last")
    if asked.pool == "first" and isinstance(run.model, WordVectors):
        raise UserError(f"{run.path} has one vector for each word: that of the start symbol is the same in all texts")
    encoded, trees = taken(run, texts)
    ids = fitted(run, [each.ids for each in encoded], asked)
    reads = token_vectors(run, ids, trees=trees, layer=layer, on_done=on_done)
    found = [POOLED[asked.pool](read) if len(read.tokens) else torch.zeros_like(read.whole[0]) for read in reads]
    vectors = torch.stack(found) if found else torch.zeros(0, run.model.width)
    return torch.nn.functional.normalize(vectors, dim=-1) if asked.normalise else vectors


def word_vectors(
    run: Run,
    texts: Sequence[Text],
    *,
    layer: int | None = None,
    spans: Spans | None = None,
    on_done: Progress = unseen,
    **how: Any,
) -> list[list[Word]]:
    """The words of each text with their vectors in it. `spans` says of a text where words begin and end; without it
    they are those of its tree, or are cut. `how` are `max_tokens` and `truncate` in place of the run's."""
    encoded, trees = taken(run, texts)
    ids = fitted(run, [each.ids for each in encoded], replace(run.recipe.embed, **how))
    reads = token_vectors(run, ids, trees=trees, layer=layer, on_done=on_done)
    found = []
    for given, tokens, read in zip(texts, encoded, reads, strict=True):
        text = given.text if isinstance(given, Parse) else given
        places = spans(text) if spans is not None else given.spans if isinstance(given, Parse) else cut(text)
        vectors = [over(read, tokens, place, onward(run.model)) for place in places]
        found.append([Word(text[b:e], b, e, vector) for (b, e), vector in zip(places, vectors, strict=True)])
    return found


def over(read: Read, tokens: Encoded, span: tuple[int, int], last: bool) -> Float[Tensor, "w"] | None:
    """The mean over the tokens that hold one of these characters, or the last of them."""
    there = tokens.offsets[: len(read.tokens)]
    touched = [i for i, (begin, end) in enumerate(there) if begin < span[1] and end > span[0]]
    if not touched:
        return None
    return read.tokens[touched[-1:] if last else touched].mean(0)


def onward(model: System) -> bool:
    """Whether a token sees only what came before it."""
    return isinstance(model, OnWriter) or (model.writes_text and not model.reads_source)


def taken(run: Run, texts: Sequence[Text]) -> tuple[list[Encoded], Trees | None]:
    """The texts as tokens, without blanks around them, and their trees where the run looks at trees."""
    if run.model.trees:
        both = [run.parsed(text).encoded(run.tokenizer) for text in texts]
        return [tokens for tokens, _ in both], [tree for _, tree in both]
    found = []
    for text in texts:
        if isinstance(text, Parse):
            raise UserError(f"{run.path} looks at no trees: give {text.text!r} as text")
        tokens, blanks = run.tokenizer.encode_with_offsets(text.strip()), len(text) - len(text.lstrip())
        offsets = [(begin + blanks, end + blanks) for begin, end in tokens.offsets]
        found.append(replace(tokens, offsets=offsets))
    return found, None


def fitted(run: Run, texts: Sequence[list[int]], how: Embed) -> list[list[int]]:
    """The tokens of each text that are read. One that is too long stops, or its beginning is read alone."""
    check_room(run, texts, how)
    most, _ = room(run, how)
    return [ids[:most] for ids in texts]


def check_room(run: Run, texts: Sequence[list[int]], how: Embed, name: Named = lambda i: f"text {i + 1}") -> None:
    """The first text that is too long and may not be cut stops, with its name; `name` is asked by index, from 0."""
    most, why = room(run, how)
    if most is None or (how.truncate and not run.model.trees):
        return
    for i, ids in enumerate(texts):
        if len(ids) > most:
            count = len(ids) + around(run)
            raise UserError(f"{name(i)} with its start and end has {count} tokens and {why}; {way_out(run, count)}")


def way_out(run: Run, count: int) -> str:
    """What reads a text of so many tokens, which are too many."""
    held = run.model.limit is None or count <= run.model.limit
    wider = "a larger --max-tokens" if held else "training with a larger system.context"
    if run.model.trees:
        return f"a tree is not cut: {wider} reads all of it"
    return f"--truncate reads the beginning of such a text alone, {wider} all of it"


def cut_off(run: Run, texts: Sequence[list[int]]) -> int:
    """How many texts are too long, where the beginning of such texts is read alone: a tree is never cut."""
    if run.model.trees:
        return 0
    most, _ = room(run, run.recipe.embed)
    return sum(len(ids) > most for ids in texts) if run.recipe.embed.truncate and most is not None else 0


def room(run: Run, how: Embed) -> tuple[int | None, str]:
    """How many tokens of a text are read, and who says so."""
    limit, asked = run.model.limit, how.max_tokens
    if asked and limit is not None and asked > limit:
        raise UserError(f"--max-tokens {asked}: the context holds {limit}; give at most that")
    if 0 < asked <= around(run):
        raise UserError(f"--max-tokens {asked} leaves no room for a text; give at least {around(run) + 1}")
    why = f"{asked} are read (--max-tokens)" if asked else f"the context holds {limit}"
    return None if (most := asked or limit) is None else most - around(run), why


def around(run: Run) -> int:
    """How many symbols stand before and after a text."""
    before, after, _ = reading(run)
    return len(before) + len(after)


@torch.no_grad()
def token_vectors(
    run: Run,
    texts: Sequence[list[int]],
    *,
    trees: Trees | None = None,
    layer: int | None = None,
    on_done: Progress = unseen,
) -> list[Read]:
    """Of the tokens of each text. Texts of like length are read together."""
    model = run.model
    before, after, read = reading(run)
    read = read if layer is None else at_layer(run, layer, read)
    rows = [[*before, *ids, *after] for ids in texts]
    lengths = np.array([len(row) for row in rows])
    order = np.argsort(-lengths, kind="stable")
    found: dict[int, Read] = {}
    for part in budgeted(lengths[order], BATCH_TOKENS):
        numbers = order[part].tolist()
        tokens, present = table([rows[i] for i in numbers], model.device)
        at = Place.line(tokens, present)
        if trees is not None:
            at = planted(at, [trees[i] for i in numbers])
        for number, row in zip(numbers, read(tokens, at).float().cpu(), strict=True):
            begin, whole = len(before), row[: len(rows[number])].clone()
            found[number] = Read(whole[begin : begin + len(texts[number])], whole)
        on_done(len(found))
    return [found[i] for i in range(len(rows))]


def reading(run: Run) -> tuple[list[int], list[int], Reader]:
    """The symbols before and after a text, and how a batch of texts is read."""
    model, tokenizer = run.model, run.tokenizer
    if not model.writes_text:
        return [tokenizer.start], [tokenizer.end], model.embed
    if model.reads_source:
        return [], [tokenizer.end], lambda rows, at: model.encode(rows, at.present).vectors
    return [tokenizer.start], [], lambda rows, at: model.hidden(rows, at=at)


def at_layer(run: Run, layer: int, read: Reader) -> Reader:
    """The same reading, of which what leaves one layer is taken. Layers count from 0."""
    names = [name for name in taps(run.model) if name.endswith(LAYERS)]
    if not names:
        raise UserError(f"{run.path} has no layers to choose from")

    def listened(rows: Tensor, at: Place) -> Tensor:
        with record(run.model, *names) as seen:
            read(rows, at)
        layers = by_layer(seen)
        if not 0 <= layer < len(layers):
            raise UserError(f"no layer {layer}; {run.path} has layers 0 to {len(layers) - 1}")
        return layers[layer]

    return listened


def by_layer(seen: Recording) -> list[Float[Tensor, "b t w"]]:
    """What was shown, from the first layer to the last, as taps were heard; of one that reads both ways, both."""
    names = [name for name in seen if not name.endswith("backward.states")]
    return [
        torch.cat((seen[name], seen[other]), dim=-1)
        if (other := name.replace("onward.states", "backward.states")) != name and other in seen
        else seen[name]
        for name in names
    ]
