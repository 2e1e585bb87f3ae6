"""WordPiece (B1; Schuster and Nakajima, 2012), trained so that the same text gives the same tokens in every process.

The trainer numbers the letters that go on inside a word ("##a") as it meets them in a hash map, whose order is another
in each process, and of two pairs that are equally common it joins the one with the lower numbers. A first reading
therefore finds these letters; the second is told them, sorted, in the way it is told special symbols.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Any

from tokenizers import Tokenizer as Backend

INSIDE = "##"


def learn(backend: Backend, lines: Iterable[str], trainer: Callable[[int, Sequence[str]], Any], size: int) -> str:
    """The trained tokenizer as JSON. `trainer(size, more)` makes a trainer that knows `more` tokens beforehand."""
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as file:  # a text may be larger than memory
        file.writelines(line if line.endswith("\n") else line + "\n" for line in lines)
        backend.train_from_iterator(again(file), trainer(0, ()))
        letters = sorted(token for token in backend.get_vocab() if token.startswith(INSIDE))
        backend.train_from_iterator(again(file), trainer(size, letters))
    tree = json.loads(backend.to_str())
    tree["added_tokens"] = [token for token in tree["added_tokens"] if token["content"] not in letters]
    return json.dumps(tree, ensure_ascii=False)


def again(file: IO[str]) -> Iterator[str]:
    file.seek(0)
    return iter(file)
