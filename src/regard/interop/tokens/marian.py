"""Marian's vocabulary (B1): one numbered list of the pieces of two SentencePiece models, for sources and for targets.

A text is cut as one of the models cuts it; of that model's pieces without a number all are unknown. A piece that it
lacks is spelled with a mark that no text has: it is read back, and never found. Only a character that the model does
not know is found where it stands alone: several together are one unknown piece, whatever they are.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens.sentencepiece import APART, CONTROL, NORMAL, UNKNOWN, USER, Pieces, parsed
from regard.interop.tokens.settings import SETTINGS
from regard.interop.tokens.trees import BLANK, Tree, content

SOURCE, TARGET, NUMBERS = "source.spm", "target.spm", "vocab.json"
HIDDEN = "\u2060"  # a word joiner, which is not seen
STRANGE = "\ufffe"  # no character: in place of several that are unknown; no piece ends with it


@dataclass(frozen=True)
class Targets:
    """What cuts targets, as `tokenizer.json` has it, and the files that say how both sides are cut."""

    tree: Tree
    files: dict[str, bytes]


def read(folder: Folder) -> tuple[Tree, int]:
    """As `tokenizer.json` has it, and how many of its tokens have a number there."""
    given = folder.json(SETTINGS)
    if given.get("separate_vocabs"):
        raise UserError(f"{folder.path}: separate_vocabs, one for sources and one for targets, is not supported")
    return numbered(parsed(path := folder.first(SOURCE)), numbers_in(folder), symbols_in(given), str(path))


def targets(folder: Folder, numbers: dict[str, int], symbols: list[str]) -> Targets | None:
    """The other side, where there is a model for it."""
    if not (folder.path / TARGET).is_file():
        return None
    source, target = folder.first(SOURCE), folder.first(TARGET)
    files = {SOURCE: source.read_bytes(), TARGET: target.read_bytes(), NUMBERS: json.dumps(numbers).encode()}
    return Targets(numbered(parsed(target), numbers, symbols, str(target))[0], files)


def numbers_in(folder: Folder) -> dict[str, int]:
    return folder.json(folder.first(NUMBERS).name)


def symbols_in(given: Mapping[str, Any]) -> list[str]:
    """The names of what is put around texts."""
    return [content(given.get(key)) or usual for key, usual in (("eos_token", "</s>"), ("pad_token", "<pad>"))]


def numbered(source: Pieces, numbers: dict[str, int], symbols: list[str], where: str) -> tuple[Tree, int]:
    """The pieces of a model under other numbers; what has none is numbered behind them."""
    given = numbers.values()
    if not all(type(number) is int for number in given) or {*given} != {*range(len(given))}:
        raise UserError(f"{where}: the {len(given)} tokens beside it are not numbered from 0 to {len(given) - 1}")
    names = sorted(numbers, key=lambda name: numbers[name])
    mine = {piece: (score, kind) for piece, score, kind in zip(source.pieces, source.scores, source.kinds, strict=True)}
    unknown = source.pieces[source.kinds.index(UNKNOWN)] if UNKNOWN in source.kinds else "<unk>"
    lowest, seen = min(source.scores), {c for piece, (_, kind) in mine.items() if kind in (NORMAL, USER) for c in piece}

    def told(name: str) -> tuple[str, float, int]:
        if name == unknown or name in symbols:
            return name, 0.0, UNKNOWN if name == unknown else CONTROL
        if name.startswith(">>") and name.endswith("<<"):  # the language to write
            return name, 0.0, APART
        if name in mine:
            return name, *mine[name]
        return (name if len(name) == 1 and name not in seen else name + HIDDEN), lowest, NORMAL

    steps = [(piece, *rest) for piece, rest in mine.items() if piece not in numbers and rest[1] == NORMAL]
    pieces, scores, kinds = (list(column) for column in zip(*map(told, names), *steps, strict=True))
    tree = replace(source, pieces=pieces, scores=scores, kinds=kinds).tree(where)
    unseen = {"type": "Replace", "pattern": {"String": HIDDEN}, "content": ""}
    together = {"type": "Replace", "pattern": {"Regex": f"[^{ranges({*seen, ' ', BLANK})}]{{2,}}"}, "content": STRANGE}
    tree["normalizer"]["normalizers"] = [unseen, *tree["normalizer"]["normalizers"], together]
    tree["decoder"]["decoders"].insert(0, unseen)
    return tree, len(names)


def ranges(characters: Iterable[str]) -> str:
    """What stands between the brackets of a pattern for these characters."""
    found: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in found)
