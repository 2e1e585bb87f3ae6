"""What a model looked at while it read one text: tokens, attention weights and probabilities, as plain arrays.

seen = trace(run, source="It was tired.", target="Es war müde.")
seen.maps[0].weights    # [heads, queries, keys], the running model's own
"""

from dataclasses import dataclass

import numpy as np
import torch

from regard.attention.look import ROLES, Look
from regard.checkpoint import Run
from regard.errors import UserError
from regard.shapes import Float, Tensor
from regard.tap import Recording, record
from regard.text.tokenizer import END, START, UNKNOWN

VISIBLE = {"\n": "⏎", "\t": "⇥", " ": "␣"}


@dataclass(frozen=True)
class Token:
    """`piece` is how the vocabulary writes it, `offset` the characters it came from; a special symbol has none."""

    id: int
    piece: str
    offset: tuple[int, int] | None


@dataclass(frozen=True)
class Side:
    """One text as the model reads it."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def labels(self) -> list[str]:
        """Each token as a reader wants to see it: the characters of the text, `<unk>` where the model saw no more."""
        return [
            token.piece if token.offset is None or token.piece == UNKNOWN else visible(self.text[slice(*token.offset)])
            for token in self.tokens
        ]


@dataclass(frozen=True, eq=False)
class Map:
    """One attention: `weights[h, q, k]` is how much query q of head h looks at key k. Scores only if asked for."""

    name: str
    kind: str  # one of ROLES
    layer: int
    weights: np.ndarray
    scores: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """One reading. A language model has no source; its text is the target.

    `log_probability[i]` is that of what follows target token i: the next token and, at the end of a translation, the
    end symbol. After the last token of a language model's text nothing follows.
    """

    run: str
    source: Side | None
    target: Side
    maps: list[Map]
    log_probability: np.ndarray

    @property
    def kinds(self) -> list[str]:
        return [kind for kind in ROLES if self.of(kind)]

    def of(self, kind: str) -> list[Map]:
        """The maps of one kind, lowest layer first."""
        return sorted((each for each in self.maps if each.kind == kind), key=lambda each: each.layer)

    def looking(self, kind: str) -> tuple[Side, Side]:
        return looking(kind, self.source, self.target)

    def labels(self, kind: str) -> tuple[list[str], list[str]]:
        """Names for the rows and the columns of a map."""
        looks, seen = self.looking(kind)
        return looks.labels, named(seen, self.of(kind)[0].weights.shape[2])


def looking(kind: str, source: Side | None, target: Side) -> tuple[Side, Side]:
    """The side that looks and the side that is looked at, one token for each row and each column of a map.

    A decoder looks at the source in order to write: a row of cross-attention is named by the token written there, which
    is the one after the token read there.
    """
    if source is None or kind == "decoder":
        return target, target
    if kind == "encoder":
        return source, source
    end = source.tokens[-1]
    return Side(target.text, (*target.tokens[1:], end)), source


def named(seen: Side, keys: int) -> list[str]:
    """A label for each key; compressed keys are no tokens, so they are numbered."""
    return seen.labels if keys == len(seen.tokens) else [f"#{i}" for i in range(keys)]


def visible(text: str) -> str:
    """A piece of text for a label: no space before a word, a sign for what cannot be seen."""
    text = text.strip(" ") or text
    return "".join(VISIBLE.get(c, c if c.isprintable() else f"\\x{ord(c):02x}") for c in text)


def trace(
    run: Run,
    *,
    text: str | None = None,
    source: str | None = None,
    target: str | None = None,
    scores: bool = False,
) -> Trace:
    """Read a text (language model) or a source and its target (translator) once, and keep what was looked at."""
    reads, writes = sides(run, text=text, source=source, target=target)
    seen, logits = listen(run, reads, writes, "*.weights", *(["*.scores"] if scores else []))
    maps = []
    for (kind, layer), (look, _) in every_look(run).items():
        name = f"{look}.weights"
        beside = array(shown(seen, name.replace(".weights", ".scores"))) if scores else None
        maps.append(Map(name, kind, layer, array(shown(seen, name)), beside))
    follows = [token.id for token in writes.tokens[1:]] + ([run.tokenizer.end] if reads is not None else [])
    chances = logits[: len(follows)].log_softmax(-1)
    chosen = chances.gather(1, torch.tensor(follows, device=chances.device)[:, None])[:, 0]
    return Trace(run.path.resolve().name, reads, writes, maps, chosen.cpu().numpy())


def sides(run: Run, *, text: str | None, source: str | None, target: str | None) -> tuple[Side | None, Side]:
    """The texts as the model reads them, or a message that says what this kind of model needs."""
    if not run.model.reads_source:
        if text is None or source is not None or target is not None:
            raise UserError("this run is a language model: give it a text, no source and no target")
        return None, side(run, "text", text, starts=True)
    if text is not None or source is None or target is None:
        raise UserError("this run is a translator: give it a source and a target, no text")
    return side(run, "source", source, starts=False), side(run, "target", target, starts=True)


def side(run: Run, what: str, text: str, *, starts: bool) -> Side:
    """One text cut into tokens, with the start symbol before it or the end symbol after it."""
    found = run.tokenizer.encode_with_offsets(text)
    if not found.ids:
        raise UserError(f"the {what} {text!r} is empty: there is nothing to look at")
    run.model.fits(len(found.ids) + 1, f"the {what} with its {'start' if starts else 'end'} symbol")
    tokens = [Token(*each) for each in zip(found.ids, found.pieces, found.offsets, strict=True)]
    if starts:
        return Side(text, (Token(run.tokenizer.start, START, None), *tokens))
    return Side(text, (*tokens, Token(run.tokenizer.end, END, None)))


def listen(run: Run, source: Side | None, target: Side, *patterns: str) -> tuple[Recording, Float[Tensor, "t v"]]:
    """Run the model once; what the taps showed, and the logits."""

    def batch(side: Side) -> Tensor:
        return torch.tensor([[token.id for token in side.tokens]], device=run.model.device)

    with torch.no_grad(), record(run.model, *patterns) as seen:
        memory = run.model.encode(batch(source)) if source is not None else None
        logits = run.model.decode(batch(target), memory)
    return seen, logits[0].float()


def shown(seen: Recording, name: str) -> Float[Tensor, "h q d"]:
    """All queries of one tap, for a model that reads at once and for one that looks anew at every token."""
    return torch.cat(seen.all(name), dim=2)[0]


def every_look(run: Run) -> dict[tuple[str, int], tuple[str, Look]]:
    """Every attention of the model, with its name, by kind and layer."""
    found: dict[tuple[str, int], tuple[str, Look]] = {}
    for name, part in run.model.named_modules():
        if isinstance(part, Look):
            layer = sum(kind == part.role for kind, _ in found)
            found[part.role, layer] = (name, part)
    return found


def array(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy()
