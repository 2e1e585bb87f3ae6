"""A word cut by byte-pair encoding (B1)."""

from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.text.bpe import Pair, join, learn, neighbours
from regard.text.bpe import encode as solution

TEXT = [*5 * ["low"], *2 * ["lower"], *6 * ["newest"], *3 * ["widest"], "banana"]


def bpe(word: str, learnt: list[tuple[str, str]]) -> list[str]:
    """A word is cut into the pieces that byte-pair encoding has learnt.

    Begin with single letters. learnt lists pairs of pieces in the order in which they were learnt. Of all pairs of
    neighbours in the word, join the one that was learnt first, wherever it stands, from the left; then look again,
    until no pair of neighbours is in learnt. Return the list of pieces.
    """
    raise NotImplementedError


def leftmost(word: str, learnt: list[Pair]) -> list[str]:
    pieces = list(word)
    while known := [i for i, pair in enumerate(neighbours(pieces)) if pair in learnt]:
        pieces[known[0] : known[0] + 2] = [pieces[known[0]] + pieces[known[0] + 1]]
    return pieces


def latest(word: str, learnt: list[Pair]) -> list[str]:
    return solution(word, learnt[::-1])


def from_the_right(word: str, learnt: list[Pair]) -> list[str]:
    back = solution(word[::-1], [(two[::-1], one[::-1]) for one, two in learnt])
    return [piece[::-1] for piece in back[::-1]]


def longest(word: str, learnt: list[Pair]) -> list[str]:
    """The longest known piece, from the left: WordPiece's way."""
    known, pieces = {"".join(pair) for pair in learnt}, []
    while word:
        size = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        pieces.append(word[:size])
        word = word[size:]
    return pieces


def once(word: str, learnt: list[Pair]) -> list[str]:
    known = [pair for pair in learnt if pair in neighbours(list(word))]
    return join(list(word), known[0]) if known else list(word)


def letters_alone(word: str, learnt: list[Pair]) -> list[str]:
    """Each pair that stands in the letters is joined; what was joined is not looked at again."""
    pieces = list(word)
    for pair in learnt:
        pieces = join(pieces, pair) if all(len(each) == 1 for each in pair) else pieces
    return pieces


def nothing_lost(function: Function, dice: Dice) -> bool:
    learnt = learn(TEXT, 12)[1]
    return all("".join(function(word, learnt)) == word for word in ("lowest", "newer", "banana", "x"))


def known_whole(function: Function, dice: Dice) -> bool:
    learnt = learn(["attention"] * 5, 99)[1]
    return list(function("attention", learnt)) == ["attention"]


def cases(dice: Dice) -> list[tuple[str, list[Pair]]]:
    learnt = learn(TEXT, 14)[1]
    words = ("low", "lowest", "newer", "widen", "lowlow", "bananas", "")
    by_hand = [
        ("lecture", [("l", "e")]),
        ("aaaaa", [("a", "a")]),
        ("abcabc", [("b", "c"), ("a", "b"), ("a", "bc")]),
        ("abcd", [("a", "b"), ("ab", "c"), ("c", "d")]),
        ("abcd", [("c", "d"), ("b", "c"), ("a", "bc"), ("a", "b")]),
    ]
    return [*by_hand, *((word, learnt) for word in words)]


exercise = Exercise(
    number=18,
    level="hard",
    lectures=("B1",),
    blank=bpe,
    solution=solution,
    gives=("pieces",),
    imports="",
    cases=cases,
    slips=(
        Slip(
            "leftmost pair first",
            "of all pairs in the word the one that was learnt first is joined, not the one that stands first",
            leftmost,
        ),
        Slip("latest pair first", "the pair that was learnt first comes first: the smallest index in learnt", latest),
        Slip("from the right", "where pairs overlap, as in `aaaaa`, the left one is joined", from_the_right),
        Slip(
            "longest piece first",
            "BPE replays joins in the order in which they were learnt; the longest piece is WordPiece's way",
            longest,
        ),
        Slip("one join alone", "look again after each join, until no pair of neighbours is in learnt", once),
        Slip("letters alone", "what was joined is a piece, and can be joined again", letters_alone),
        Slip("no join", "nothing is joined yet", lambda word, learnt: list(word)),
    ),
    laws=(
        Law("the pieces together are the word", nothing_lost),
        Law("a word that was learnt to its end is one piece", known_whole),
    ),
)
