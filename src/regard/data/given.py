"""Words that are given and what stands for each: a tag (O4), or the number of the word that it hangs on (B7).

`where` is the place of a record in messages: a file and a line, or a number.
"""

from collections.abc import Callable, Mapping

import numpy as np

from regard.data.trees import NoTree, grown
from regard.errors import UserError
from regard.shapes import Int
from regard.text.words import given_words

HEADS = "heads"  # the column with the number of the word that each word hangs on; it is no text


def tagged(record: tuple[str, ...], where: str) -> tuple[list[str], list[str]]:
    """The words and as many tags."""
    words, tags = map(given_words, record)
    if len(words) != len(tags):
        raise UserError(
            f"{where} has {len(words)} word(s) and {len(tags)} tag(s); "
            "blanks separate them, and each word needs one tag"
        )
    return words, tags


def hung(record: tuple[str, ...], where: str) -> tuple[list[str], Int[np.ndarray, "3 words"]]:
    """The words and their tree."""
    words, heads = map(given_words, record)
    if len(words) != len(heads) or not all(map(str.isdecimal, heads)):
        raise UserError(
            f"{where} has {len(words)} word(s) and the heads '{record[1]}': each word needs the number of the word it "
            "hangs on, 0 for the root"
        )
    try:
        return words, grown(list(map(int, heads))) if words else np.zeros((3, 0), np.int64)
    except NoTree as wrong:
        raise UserError(f"{where}: '{words[wrong.word]}' {wrong.what}") from None


CHECKS: Mapping[tuple[str, ...], Callable[[tuple[str, ...], str], object]] = {
    ("words", "tags"): tagged,
    ("words", HEADS): hung,
}
