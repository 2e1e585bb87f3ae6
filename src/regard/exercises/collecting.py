"""Answers of students, found by files, folders and exercises, and what may be one under another name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from regard.errors import UserError, suggest
from regard.exercises.exercise import Exercise
from regard.exercises.files import answers, belongs, likely
from regard.exercises.tasks import ALL, EXERCISES, chosen


@dataclass(frozen=True)
class Answer:
    """A file, which may be missing, and the exercise that it is to. The last `parts` of its folder name the student.

    Of one that is missing, `beside` are files of its folder that may be it.
    """

    file: Path
    exercise: Exercise
    parts: int = 1
    beside: tuple[Path, ...] = ()

    @property
    def folder(self) -> Path:
        return self.file.parent.resolve()

    @property
    def student(self) -> str:
        return last(self.folder, self.parts)


@dataclass(frozen=True)
class Asked:
    """What is asked for: files, folders and exercises."""

    files: Sequence[Path]
    folders: Sequence[Path]
    exercises: Sequence[Exercise]


def asked_for(words: Sequence[str]) -> Asked:
    """Without a file or folder the working folder is meant, and beside files when exercises are named."""
    paths: list[Path] = []
    named: list[str] = []
    for word in words:
        if not word.isdecimal() and (path := Path(word)).exists():
            paths.append(path)
        elif names_exercise(word):
            named.append(word)
        else:
            raise UserError(unknown(word, beside_exercises=any(map(names_exercise, words))))
    exercises = chosen(named)
    files = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()] or ([] if files and not exercises else [Path()])
    return Asked(files, folders, exercises)


def names_exercise(word: str) -> bool:
    return word == ALL or word.isdecimal() or word in names()


def unknown(word: str, *, beside_exercises: bool) -> str:
    """What a word is not that is neither a path nor an exercise: beside exercises a folder was meant."""
    if "/" in word or word.endswith(".py"):
        return f"no file or folder {word}"
    near = get_close_matches(word, [path.name for path in sorted(Path().glob("*")) if path.is_dir()], 1)
    if near or (beside_exercises and not get_close_matches(word, names())):
        return f"no folder {word}{suggest(word, near)}"
    return f"no file, folder or exercise '{word}'{suggest(word, names())}"


def collect(words: Sequence[str]) -> list[Answer]:
    """Answers that are asked for by files, folders and numbers or names of exercises.

    Exercises that are named are looked for in each folder, whether they are there or not, and `all` names each;
    without one every answer there is. Each file is there once, and of a folder one to an exercise.
    """
    asked = asked_for(words)
    found = [Answer(file, belongs(file)) for file in asked.files]
    for folder in asked.folders:
        there = [Answer(files[0], exercise) for exercise, files in sorted_out(folder)]
        found += [each for each in there if not asked.exercises or each.exercise in asked.exercises]
        held = [each.exercise for each in there]
        if missing := [each for each in asked.exercises if each not in held]:
            others = misnamed(folder)
            found += [absent(folder, each, others) for each in missing]
    if not found or (not asked.files and all(map(holds_others, asked.folders))):
        ways = [way for folder in asked.folders if (way := elsewhere(folder))]
        way = ways[0] if ways else "'regard exercise start 1' begins one"
        raise UserError(f"no answers in {', '.join(map(str, asked.folders))}; {way}")
    return told_apart(in_order(list({each.file.resolve(): each for each in reversed(found)}.values())[::-1]))


def in_order(found: list[Answer]) -> list[Answer]:
    """Students as they were given, and of each the exercises by number."""
    place = {folder: n for n, folder in enumerate(dict.fromkeys(each.folder for each in found))}
    return sorted(found, key=lambda each: (place[each.folder], each.exercise.number))


def sorted_out(folder: Path) -> list[tuple[Exercise, list[Path]]]:
    """The files to each exercise, the one of its own name first."""
    found: dict[int, list[Path]] = {}
    for file in answers(folder):
        found.setdefault(belongs(file).number, []).append(file)
    each = [(EXERCISES[number], files) for number, files in found.items()]
    return [(exercise, sorted(files, key=lambda file: file.name != exercise.file)) for exercise, files in each]


def left_out(words: Sequence[str]) -> list[str]:
    """What is not checked, a line for each: folders without answers where no exercise is named, and further files."""
    asked, lines = asked_for(words), list[str]()
    for folder in asked.folders:
        if not asked.exercises and not [*answers(folder)]:
            lines.append(f"no answers in {folder}" + (f"; {way}" if (way := elsewhere(folder)) else ""))
        for exercise, (first, *others) in sorted_out(folder):
            if not asked.exercises or exercise in asked.exercises:
                given = [other for other in others if other not in asked.files]
                lines += [f"{other} is passed over: {first.name} is to the same exercise" for other in given]
    return lines


def absent(folder: Path, exercise: Exercise, others: dict[Path, list[Exercise]]) -> Answer:
    beside = tuple(path for path, meant in others.items() if exercise in meant)
    return Answer(folder / exercise.file, exercise, beside=beside)


def misnamed(folder: Path) -> dict[Path, list[Exercise]]:
    """Files of a folder that may be answers under another name, and to what, likeliest first. Each is read once."""
    numbered = {*answers(folder)}
    files = [path for path in sorted(folder.glob("*.[pP][yY]")) if path not in numbered and path.is_file()]
    return {path: meant for path in files if (meant := likely(path))}


def told_apart(found: list[Answer]) -> list[Answer]:
    """With as many parts of the path as it takes to give no two students the same name."""
    folders = {each.folder for each in found}
    parts = 1
    while len({last(folder, parts) for folder in folders}) < len(folders):
        parts += 1
    return [replace(each, parts=parts) for each in found]


def last(folder: Path, parts: int) -> str:
    return Path(*folder.parts[-parts:]).as_posix()


def holds_others(folder: Path) -> bool:
    """Whether it has no answers itself, but folders that do: a class."""
    return not [*answers(folder)] and bool(below(folder))


def below(folder: Path) -> list[Path]:
    return sorted({path.parent for path in folder.glob("*/*.py") if [*answers(path.parent)]})


def elsewhere(folder: Path) -> str:
    """Where answers may be instead of in a folder that has none, or nothing."""
    if inner := below(folder):
        return f"there are some in {inner[0]}: give such folders, as in {folder / '*'}/"
    return next((f"is {path} one? Name it {meant[0].file}" for path, meant in misnamed(folder).items()), "")


def instead(answer: Answer) -> str:
    """What may be meant where a file is missing, as the end of a sentence."""
    if answer.beside:
        return f"; is it {' or '.join(path.name for path in answer.beside[:3])}? Name it {answer.exercise.file}"
    inner = [file for each in below(answer.file.parent) for file in answers(each) if belongs(file) is answer.exercise]
    return f"; is it {inner[0]}? Give that folder" if inner else ""


def names() -> list[str]:
    return [each.name for each in EXERCISES.values()]
