"""Text to tokens and back (B1). Trained here with `tokenizers`, sealed into the run as `tokenizer.json`.

Every kind cuts at line ends first, so encoding a text at once or line by line gives the same tokens: a corpus is
encoded piece by piece, a prompt at once, and both must agree. A text that spells a special symbol ("<s>" is a tag of
HTML) is cut inside it, so what was read is never taken for a start, an end or padding.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from regard.config import build
from regard.errors import UserError, suggest
from regard.text import unigram, wordpiece
from regard.text.habits import Habits

PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<s>", "</s>"
SPECIALS = [PAD, UNKNOWN, START, END]
BLANKS = "\u2581\u0120\u010a\n "  # how tokens write a blank or a line end before a word
MASK = "<mask>"  # hides a word that is to be guessed
FIRST = "<first>"  # what every text begins with, where that is not the start
EACH = r"[\s\S]"  # a character, whichever it is
NONE = -1  # the number of a symbol that there is not
OTHERWISE = "regard"  # in the JSON of a tokenizer that was made elsewhere: its `Habits`


@dataclass(frozen=True, kw_only=True)
class Text:
    """How text becomes tokens. `vocabulary` counts the special symbols; 0 takes what the text has, up to `MOST`."""

    kind: str = "bpe"
    vocabulary: int = 0
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"no kind of tokens '{self.kind}'{suggest(self.kind, list(KINDS))}")
        if self.vocabulary and self.vocabulary <= len(SPECIALS):
            raise UserError(f"a vocabulary of {self.vocabulary} has no room: {len(SPECIALS)} are special symbols")


@dataclass(frozen=True)
class Encoded:
    """Tokens of one text, each with the characters it came from."""

    ids: list[int]
    pieces: list[str]
    offsets: list[tuple[int, int]]


class Tokenizer:
    """A trained tokenizer. Two are the same when their `fingerprint` is.

    The JSON it was made from is kept as it is: the backend reads a number as its neighbour and would write another.
    """

    def __init__(self, text: str):
        tree = json.loads(text)
        self.habits = build(Habits, tree.pop(OTHERWISE, {}), where=OTHERWISE)
        self.text, self.backend = text, Backend.from_str(text if self.habits == Habits() else json.dumps(tree))
        self.backend.encode_special_tokens = True  # what looks like a special symbol in a text is text
        self.pad, self.unknown, self.start, self.end = map(self._special, SPECIALS)
        self.lead = [self._special(symbol) for symbol in self.habits.lead]
        self.ends = {self.end, *self.habits.ends}
        self.beyond = self.backend.get_vocab_size() > len(self)
        self.target = Tokenizer(self.habits.target) if self.habits.target else self
        if self._numbers != self.target._numbers:
            raise UserError("the tokenizer of targets has other numbers than that of sources")

    @staticmethod
    def train(texts: Iterable[str], settings: Text, symbols: tuple[str, ...] = ()) -> "Tokenizer":
        """`symbols` are more special ones, that a task needs."""
        recipe = KINDS[settings.kind]
        backend = recipe.make(symbols)
        if settings.lowercase:
            backend.normalizer = normalizers.Lowercase()
        lines = (line for text in texts for line in split_lines(text))
        if UNKNOWN not in recipe.cuts:  # known already: the backend would number it twice
            lines = (line.replace(UNKNOWN, " ") for line in lines)
        size = settings.vocabulary or MOST.get(settings.kind, 8000)
        try:
            made = recipe.learn(backend, lines, partial(recipe.trainer, symbols), size)
        except Exception as error:
            if type(error) is not Exception:  # the backend raises a bare one where not even the characters fit
                raise
            raise UserError(f"no tokens of kind '{settings.kind}' with text.vocabulary = {size}: {error}") from None
        tokenizer = Tokenizer(made)
        if settings.vocabulary and settings.vocabulary < len(tokenizer):
            raise UserError(
                f"text.vocabulary = {settings.vocabulary} is too small for kind '{settings.kind}': "
                f"special symbols and single characters alone are {len(tokenizer)}"
            )
        if settings.vocabulary > len(tokenizer):
            raise UserError(
                f"the text holds no more than {len(tokenizer)} different tokens of kind '{settings.kind}'; "
                f"text.vocabulary = {settings.vocabulary} is more than the data allows; 0 takes what there is"
            )
        return tokenizer

    def __len__(self) -> int:
        return self.habits.rows or self.backend.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self.lead + self._known(self.backend.encode(text, add_special_tokens=False).ids)

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.lead + self._known(e.ids) for e in self.backend.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_with_offsets(self, text: str) -> Encoded:
        found, lead = self.backend.encode(text, add_special_tokens=False), self.lead
        nowhere = [(0, 0)] * len(lead)
        return Encoded(lead + self._known(found.ids), [*map(self.piece, lead), *found.tokens], nowhere + found.offsets)

    def of(self, column: str) -> "Tokenizer":
        """What cuts the texts of a column of data."""
        return self.target if column == "target" else self

    def begun(self, prompt: list[int]) -> list[int]:
        """The first tokens of a text that is to be written on."""
        if prompt and not self.habits.opens:
            return prompt
        return [self.start, *(prompt or (self.lead if self.habits.forced else []))]

    def decode(self, ids: list[int]) -> str:
        """The text of the tokens; start, end and padding leave no trace."""
        silent = {self.pad, self.start, *self.ends, *self.lead}
        return self.backend.decode([i for i in ids if i not in silent], skip_special_tokens=False)

    def symbol(self, name: str) -> int:
        """A special symbol that a task needs."""
        return self._special(name)

    def has(self, symbols: Iterable[str]) -> bool:
        return all(self.backend.token_to_id(self.called(symbol)) is not None for symbol in symbols)

    def called(self, symbol: str) -> str:
        """The name that a special symbol of ours has in the vocabulary."""
        return self.habits.symbols.get(symbol, symbol)

    @cached_property
    def leads(self) -> np.ndarray:
        """Of each token whether it begins a word, as far as it tells by itself: a blank before it, or no `##`."""
        pieces = [self.piece(token) for token in range(len(self))]
        if isinstance(self.backend.model, models.WordPiece):
            return np.array([not piece.startswith("##") for piece in pieces])
        if isinstance(self.backend.model, models.WordLevel) and not isinstance(self.backend.decoder, decoders.Fuse):
            return np.full(len(pieces), True)  # and not characters
        return np.array([piece[0] in BLANKS for piece in pieces])

    def piece(self, token: int) -> str:
        """The token as it is written in the vocabulary."""
        if (piece := self.backend.id_to_token(token)) is not None:
            return piece
        if 0 <= token < len(self):
            return f"<empty {token}>"  # a row of the model that no text reaches
        raise IndexError(f"no token {token} in a vocabulary of {len(self)}")

    def to_json(self) -> str:
        return self.text

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        return Tokenizer(text)

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides how text is cut."""
        canonical = json.dumps(json.loads(self.text), sort_keys=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()

    @property
    def _numbers(self) -> tuple[int, ...]:
        """How many tokens there are, and which of them are symbols."""
        return len(self), self.pad, self.unknown, self.start, self.end

    def _known(self, ids: list[int]) -> list[int]:
        return [i if i < len(self) else self.unknown for i in ids] if self.beyond else ids

    def _special(self, symbol: str) -> int:
        if not (name := self.called(symbol)):
            return NONE
        if (token := self.backend.token_to_id(name)) is None:
            raise UserError(f"the tokenizer has no special symbol {name}")
        return token


def split_lines(text: str) -> Iterator[str]:
    """Lines with their ends; only `\\n` ends a line."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]


def learn(backend: Backend, lines: Iterable[str], trainer: Callable, size: int) -> str:
    """The trained tokenizer as JSON."""
    backend.train_from_iterator(lines, trainer(size))
    return backend.to_str(pretty=False)


@dataclass(frozen=True)
class Recipe:
    """How one kind is made: the parts of the backend, the trainer for a vocabulary size, and how it learns."""

    model: type
    trainer_kind: type
    before: tuple = ()
    decoder: decoders.Decoder | None = None
    trainer_options: tuple = ()
    model_options: tuple = ()
    cuts: tuple = tuple(SPECIALS)  # the symbols that no text may spell
    learn: Callable[..., str] = learn

    def make(self, symbols: tuple[str, ...]) -> Backend:
        backend = Backend(self.model(**dict(self.model_options)))
        backend.pre_tokenizer = pre_tokenizers.Sequence([_lines, cut_inside((*self.cuts, *symbols)), *self.before])
        if self.decoder is not None:
            backend.decoder = self.decoder
        return backend

    def trainer(self, symbols: tuple[str, ...], vocabulary: int, more: Sequence[str] = ()):
        special = [*SPECIALS, *symbols, *more]
        return self.trainer_kind(
            vocab_size=vocabulary, special_tokens=special, show_progress=False, **dict(self.trainer_options)
        )


def cut_inside(symbols: Iterable[str]) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex("<(?=" + "|".join(symbol[1:] for symbol in symbols) + ")"), "isolated")


_lines = pre_tokenizers.Split("\n", "isolated")
_each = pre_tokenizers.Split(Regex(EACH), "isolated")
_between = pre_tokenizers.Split(Regex(r"[^\S\n]+"), "removed")
_spaces = pre_tokenizers.Metaspace(prepend_scheme="never")
_back = decoders.Metaspace(prepend_scheme="never")
_bytes = tuple(sorted(pre_tokenizers.ByteLevel.alphabet()))
_unknown = (("unk_token", UNKNOWN),)

KINDS = {
    "char": Recipe(models.WordLevel, trainers.WordLevelTrainer, (_each,), decoders.Fuse(), model_options=_unknown),
    "byte": Recipe(
        models.BPE,
        trainers.BpeTrainer,
        (pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), _each),
        decoders.ByteLevel(),
        trainer_options=(("initial_alphabet", list(_bytes)),),
    ),
    "word": Recipe(  # a word written <unk>, as prepared corpora have it, is an unknown word
        models.WordLevel,
        trainers.WordLevelTrainer,
        (_between,),
        model_options=_unknown,
        cuts=tuple(symbol for symbol in SPECIALS if symbol != UNKNOWN),
    ),
    "bpe": Recipe(models.BPE, trainers.BpeTrainer, (_spaces,), _back, model_options=_unknown),
    "byte-bpe": Recipe(
        models.BPE,
        trainers.BpeTrainer,
        (pre_tokenizers.ByteLevel(add_prefix_space=False),),
        decoders.ByteLevel(),
        trainer_options=(("initial_alphabet", list(_bytes)),),
    ),
    "wordpiece": Recipe(
        models.WordPiece,
        trainers.WordPieceTrainer,
        (pre_tokenizers.BertPreTokenizer(),),
        decoders.WordPiece(),
        model_options=_unknown,
        learn=wordpiece.learn,
    ),
    "unigram": Recipe(
        models.Unigram,
        trainers.UnigramTrainer,
        (_spaces,),
        _back,
        trainer_options=(("unk_token", UNKNOWN),),
        learn=unigram.learn,
    ),
}
MOST = {"char": 1_000_000, "byte": 260, "word": 50_000}
