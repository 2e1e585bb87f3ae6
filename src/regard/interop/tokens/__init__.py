"""Tokenizers of others as ours: every token keeps its number and its name, and each of our symbols is one of theirs."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import byte_bpe, marian, sentencepiece, wordpiece
from regard.interop.tokens.settings import (
    ADDED,
    GENERATION,
    SETTINGS,
    SYMBOLS,
    ends,
    flag,
    more_added,
    never,
    obeyed,
    remarks,
)
from regard.interop.tokens.trees import (
    Tree,
    added,
    content,
    guarded,
    kind_of,
    numbers_of,
    opened,
    parted,
    sound,
    without,
)
from regard.text import Text, Tokenizer
from regard.text.tokenizer import END, FIRST, MASK, OTHERWISE, PAD, START, UNKNOWN, Habits

JSON = "tokenizer.json"
FILES: dict[str, Callable[[Folder], Tree]] = {  # what a vocabulary may be kept in, each with what reads it
    JSON: lambda folder: obeyed(sound(folder.json(JSON), str(folder.path / JSON)), folder),
    "vocab.txt": wordpiece.read,
    "merges.txt": byte_bpe.read,
    "vocab.bpe": byte_bpe.read,
    marian.SOURCE: lambda folder: marian.read(folder)[0],
    **dict.fromkeys(sentencepiece.NAMES, sentencepiece.read),
}
ALL = (*FILES, "target.spm", "vocab.json", "encoder.json", SETTINGS, SYMBOLS, ADDED, GENERATION)
OPTIONAL = (MASK, FIRST)  # symbols that a tokenizer may lack


@dataclass(frozen=True)
class Symbols:
    """Which symbol of theirs each of ours is: the key under which the tokenizer's settings have it, and its usual name.

    A key that ends in "_id" is one of the model's settings. A symbol without a name is the end symbol where it is the
    padding or the start, and else there is none. `opens` is None where the tokenizer itself says it.
    """

    start: tuple[str, str] = ("bos_token", "<s>")
    end: tuple[str, str] = ("eos_token", "</s>")
    pad: tuple[str, str] = ("pad_token", "<pad>")
    unknown: tuple[str, str] = ("unk_token", "<unk>")
    mask: tuple[str, str] = ("", "")
    first: tuple[str, str] = ("", "")  # what texts begin with where that is not the start
    lead: tuple[str, ...] = ()  # of our names
    sentinels: int = 0  # symbols <extra_id_N>, the last of them first, behind a vocabulary that lacks them
    opens: bool | None = True
    parted: int = 1  # end symbols between two texts, where the tokenizer does not say it
    merges: bool = False  # a vocabulary with merges is cut as GPT-2 does
    behind: bool = False  # pieces of a SentencePiece model are numbered behind four symbols, and the mask is the last

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        found = {START: self.start, END: self.end, PAD: self.pad, UNKNOWN: self.unknown}
        return found | {MASK: self.mask, FIRST: self.first}


def read(folder: Folder, symbols: Symbols, config: Mapping[str, Any], rows: int) -> tuple[Tokenizer, Text, list[str]]:
    """The tokenizer of a folder whose model has a row for so many tokens, the settings that describe it, remarks."""
    if not any((folder.path / name).is_file() for name in FILES):
        raise UserError(f"{folder.path} has no tokenizer: none of {', '.join(FILES)}; save it there too")
    path = folder.first(*FILES)
    where, generation = str(path), folder.json(GENERATION)
    given = {**folder.json(SYMBOLS), **folder.json(SETTINGS), **generation, **config}
    tree, known = vocabulary(folder, symbols)
    beyond: list[str] = []
    if known is None:
        tree = more_added(tree, folder, where)
        beyond = needless(tree, symbols, given, rows, where)
        tree = without(tree, beyond)
        given = {key: value for key, value in given.items() if not content(value) or content(value) not in beyond}
    said = [f"the model has no vector for {', '.join(beyond)}: left out of the vocabulary"] if beyond else []
    if symbols.opens is None:
        usual = opened(tree, where) if path.name == JSON else path.suffix == ".model"
        asked = flag(given, "add_bos_token", usual, str(folder.path / SETTINGS))
        if path.name == JSON and asked != usual:
            said.append(f"{SETTINGS} says add_bos_token = {asked}, {JSON} does otherwise: here as {JSON}")
        symbols = replace(symbols, opens=usual if path.name == JSON else asked)
    given["eos_token_id"] = [*ends(given, generation, rows)]
    aside = None
    if path.name == marian.SOURCE:
        aside = marian.targets(folder, marian.numbers_in(folder), marian.symbols_in(folder.json(SETTINGS)))
        said += [] if aside else [f"there is no {marian.TARGET}: targets are cut as sources are"]
    tokenizer, text = adopted(tree, symbols, given, rows, where, known=known, targets=aside)
    return tokenizer, text, said + remarks(generation, config)


def vocabulary(folder: Folder, symbols: Symbols) -> tuple[Tree, int | None]:
    """As `tokenizer.json` has it; and of how many of its tokens a model must know, where that is not all."""
    path = folder.first(*FILES)
    if path.name in byte_bpe.MERGES and not symbols.merges:
        raise UserError(f"{path}: it does not say where words are cut before pairs are joined; {JSON} is needed")
    if path.name == marian.SOURCE:
        return marian.read(folder)
    if path.name in sentencepiece.NAMES and symbols.behind:
        return sentencepiece.behind(sentencepiece.parsed(path), str(path)).tree(str(path)), None
    return FILES[path.name](folder), None


def adopted(
    tree: Tree,
    symbols: Symbols,
    given: Mapping[str, Any],
    rows: int,
    where: str,
    *,
    known: int | None = None,
    targets: marian.Targets | None = None,
) -> tuple[Tokenizer, Text]:
    """A tokenizer of the library `tokenizers` with our symbols; `given` says which of theirs these are.

    Tokens numbered from `known` on, where it is given, are steps on the way to others. `targets` are cut by a rule of
    their own, where there is one.
    """
    count = given.get("extra_ids", symbols.sentinels) if symbols.sentinels else 0
    if type(count) is not int or not 0 <= count <= rows:
        raise UserError(f"{where}: extra_ids = {count!r}, and the model has a vector for {rows} tokens")
    numbers = numbers_of(tree, where)
    tree, numbers = with_sentinels(tree, count, numbers)
    if (least := len(numbers) if known is None else known) > rows:
        raise UserError(f"{where} has {least} tokens, the model has a vector for {rows}: one is of another model")
    names = named(symbols, given, numbers, where)
    habits = Habits(
        names,
        rows=0 if len(numbers) == rows and targets is None else rows,
        lead=symbols.lead,
        forced=not symbols.lead or given.get("forced_bos_token_id") is not None,
        opens=bool(symbols.opens),
        never=never(given, rows),
        ends=tuple(end for end in ended(symbols, given, rows) if end != numbers[names[END]]),
        parted=parted(tree, names[END], where) or symbols.parted,
    )
    if targets is not None:
        files = {name: base64.b64encode(content).decode() for name, content in targets.files.items()}
        habits = replace(habits, target=sealed(targets.tree, habits, where), files=files)
    try:
        tokenizer = Tokenizer(sealed(tree, habits, where))
    except UserError:
        raise
    except Exception as error:  # the backend raises a bare Exception for anything it cannot read
        raise UserError(f"{where} is damaged: {error}") from None
    lowercase = bool((tree.get("normalizer") or {}).get("lowercase", False))
    return tokenizer, Text(kind=kind_of(tree), vocabulary=len(tokenizer), lowercase=lowercase)


def sealed(tree: Tree, habits: Habits, where: str) -> str:
    """The JSON of a tokenizer of ours."""
    tree = guarded(tree, {*habits.symbols.values()} - {""}, numbers_of(tree, where))
    rows = {"padding": None, "truncation": None}  # they are laid out here
    return json.dumps({**tree, **rows, OTHERWISE: asdict(habits)}, ensure_ascii=False)


def ended(symbols: Symbols, given: Mapping[str, Any], rows: int) -> tuple[int, ...]:
    """The tokens that end a text which is written; what is only read has none but its end."""
    return ends(given, {}, rows) if symbols.end[0].startswith("eos_token") else ()


def needless(tree: Tree, symbols: Symbols, given: Mapping[str, Any], rows: int, where: str) -> list[str]:
    """The special symbols that the model has no vectors for, if it has one for all else and none of them is needed."""
    numbers = numbers_of(tree, where)
    beyond = sorted((name for name, number in numbers.items() if number >= rows), key=lambda name: numbers[name])
    special = {token["content"] for token in tree.get("added_tokens") or [] if token.get("special")}
    special |= {content(value) for key, value in given.items() if key.endswith("_token")}
    roles = {ours: content(given.get(key)) or usual for ours, (key, usual) in symbols.roles.items()}
    special |= {roles[ours] for ours in OPTIONAL}
    needed = {name for ours, name in roles.items() if ours not in OPTIONAL}
    return beyond if {*beyond} <= special - needed else []


def named(symbols: Symbols, given: Mapping[str, Any], numbers: Mapping[str, int], where: str) -> dict[str, str]:
    """Their name for each of our symbols."""
    by_number = {number: name for name, number in numbers.items()}
    found = {}
    for ours, (key, usual) in symbols.roles.items():
        value = first(given.get(key)) if key else None
        if key.endswith("_id") and value is not None:
            name = by_number.get(value, f"number {value}") if type(value) is int else f"{key} = {value!r}"
        else:
            name = content(value) or usual
        if name in numbers:
            found[ours] = name
        elif value is None and (ours in (PAD, UNKNOWN) or (ours == START and not usual)):
            found[ours] = ""
        elif ours not in OPTIONAL or value is not None:
            raise UserError(f"{where}: the vocabulary has no {name or key}")
    return found | {ours: found[END] for ours in (START, PAD) if not found[ours]}


def first(value: Any) -> Any:
    """Of several numbers of one symbol the first."""
    return value[0] if isinstance(value, list) and value else value


def with_sentinels(tree: Tree, count: int, numbers: dict[str, int]) -> tuple[Tree, dict[str, int]]:
    """A vocabulary with symbols that stand for what is cut out of a text, and its numbers."""
    names = [f"<extra_id_{i}>" for i in reversed(range(count))]
    if not names or names[-1] in numbers:
        return tree, numbers
    more = {name: len(numbers) + i for i, name in enumerate(names)}
    symbols = [added(name, number) for name, number in more.items()]
    return {**tree, "added_tokens": [*(tree.get("added_tokens") or []), *symbols]}, {**numbers, **more}
