"""Text to tokens and back (B1). Trained here with `tokenizers`, sealed into the run as `tokenizer.json`.

Every kind cuts at line ends first, so encoding a text at once or line by line gives the same tokens: a corpus is encoded
piece by piece, a prompt at once, and both must agree.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Backend

from regard.errors import UserError, suggest

PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<s>", "</s>"
SPECIALS = [PAD, UNKNOWN, START, END]


@dataclass(frozen=True, kw_only=True)
class Text:
    """How text becomes tokens. `vocabulary` counts the four special symbols; 0 takes what the text has, up to `MOST`."""

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
    """A trained tokenizer. Two are the same when their `fingerprint` is."""

    def __init__(self, backend: Backend):
        self.backend = backend
        self.pad, self.unknown, self.start, self.end = (backend.token_to_id(symbol) for symbol in SPECIALS)

    @staticmethod
    def train(texts: Iterable[str], settings: Text) -> "Tokenizer":
        recipe = KINDS[settings.kind]
        backend = recipe.make()
        if settings.lowercase:
            backend.normalizer = normalizers.Lowercase()
        lines = (line for text in texts for line in split_lines(text))
        backend.train_from_iterator(lines, recipe.trainer(settings.vocabulary or MOST.get(settings.kind, 8000)))
        tokenizer = Tokenizer(backend)
        if settings.kind in LEARNT and settings.vocabulary > len(tokenizer):
            raise UserError(
                f"the text holds no more than {len(tokenizer)} different tokens of kind '{settings.kind}'; "
                f"text.vocabulary = {settings.vocabulary} is more than the data allows"
            )
        return tokenizer

    def __len__(self) -> int:
        return self.backend.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self.backend.encode(text, add_special_tokens=False).ids

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [e.ids for e in self.backend.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_with_offsets(self, text: str) -> Encoded:
        found = self.backend.encode(text, add_special_tokens=False)
        return Encoded(found.ids, found.tokens, found.offsets)

    def decode(self, ids: list[int]) -> str:
        """The text of the tokens; start, end and padding leave no trace."""
        silent = {self.pad, self.start, self.end}
        return self.backend.decode([i for i in ids if i not in silent], skip_special_tokens=False)

    def piece(self, token: int) -> str:
        """The token as it is written in the vocabulary."""
        return self.backend.id_to_token(token)

    def to_json(self) -> str:
        return self.backend.to_str(pretty=False)

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        return Tokenizer(Backend.from_str(text))

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides how text is cut."""
        canonical = json.dumps(json.loads(self.to_json()), sort_keys=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def split_lines(text: str) -> Iterator[str]:
    """Lines with their ends; only `\\n` ends a line."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]


@dataclass(frozen=True)
class Recipe:
    """How one kind is made: the parts of the backend and the trainer for a vocabulary size."""

    model: type
    trainer_kind: type
    before: tuple = ()
    decoder: object | None = None
    trainer_options: tuple = ()
    model_options: tuple = ()

    def make(self) -> Backend:
        backend = Backend(self.model(**dict(self.model_options)))
        cut = pre_tokenizers.Split("\n", "isolated")
        backend.pre_tokenizer = pre_tokenizers.Sequence([cut, *self.before])
        if self.decoder is not None:
            backend.decoder = self.decoder
        return backend

    def trainer(self, vocabulary: int):
        return self.trainer_kind(
            vocab_size=vocabulary, special_tokens=SPECIALS, show_progress=False, **dict(self.trainer_options)
        )


_each = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
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
    "word": Recipe(models.WordLevel, trainers.WordLevelTrainer, (_between,), model_options=_unknown),
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
    ),
    "unigram": Recipe(
        models.Unigram, trainers.UnigramTrainer, (_spaces,), _back, trainer_options=(("unk_token", UNKNOWN),)
    ),
}
MOST = {"char": 1_000_000, "byte": 260, "word": 50_000}
LEARNT = ("bpe", "byte-bpe", "wordpiece", "unigram")
