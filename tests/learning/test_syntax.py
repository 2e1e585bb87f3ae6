"""A tree says what the line does not: a word that follows from the word it hangs on is guessed where trees are seen."""

import random
from pathlib import Path

from regard.evaluate import evaluate
from tests.data.trees import conllu, drawn
from tests.learning.toys import trained

LETTERS = "abcdefgh"


def sentence(chance: random.Random) -> tuple[list[str], list[int]]:
    """Each word is the letter after that of the word it hangs on, wherever that stands."""
    heads = drawn(chance.randint(4, 9), chance.randrange(10**6))

    def letter(word: int) -> int:
        return first if heads[word - 1] == 0 else letter(heads[word - 1]) + 1

    first = chance.randrange(len(LETTERS))
    return [LETTERS[letter(word) % len(LETTERS)] for word in range(1, len(heads) + 1)], heads


def accuracy(folder: Path, position: str) -> float:
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        chance = random.Random(split)
        files[split] = conllu(folder, [sentence(chance) for _ in range(count)], f"{split}.conllu")
    run = trained(
        folder,
        "bert",
        {**files, "valid": files["test"]},
        text={"kind": "word"},
        system={"width": 32, "heads": 2, "depth": 2, "position": position},
        objective={"kind": "masked", "trees": True},
        train={"steps": 400, "batch_tokens": 500, "rate": 5e-3},
    )
    return evaluate([run])["accuracy"]


def test_positions_by_syntax_see_the_word_above(tmp_path: Path) -> None:
    assert accuracy(tmp_path, "syntax") >= 0.9


def test_positions_in_the_line_do_not(tmp_path: Path) -> None:
    """The threshold above is not reached without trees."""
    assert accuracy(tmp_path, "shaw") < 0.75
