"""Files of students: the blank one that they begin with, and the function that is in it."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from regard.checkpoint import write
from regard.errors import UserError
from regard.exercises.comparing import shown
from regard.exercises.exercise import Exercise, Function
from regard.exercises.judging import Finding, Stopped, answer
from regard.exercises.tasks import EXERCISES

HEAD = '''"""Exercise {number}: {name} ({level}; {lectures} of the lectures).

Write the function below, then check it:

    regard exercise check {file}
{rules}"""
'''
AXES = "\nLetters in brackets are the axes of a tensor: x [b t w] has three, of which the last is w wide.\n"
RULES = "\nWrite it yourself, without torch's {}.\n"


class Unfit(Exception):
    """A file that cannot be tried, and why."""

    def __init__(self, finding: Finding):
        super().__init__(finding.text)
        self.finding = finding


def begin(exercise: Exercise, folder: Path) -> Path:
    """Write the blank file of an exercise."""
    path = folder / exercise.file
    write(path, blank(exercise).encode())
    return path


def blank(exercise: Exercise) -> str:
    rules = AXES if "Tensor" in exercise.imports else ""
    if exercise.without:
        rules += RULES.format(", ".join(exercise.without))
    head = HEAD.format(
        number=exercise.number,
        name=exercise.name,
        level=exercise.level,
        lectures=", ".join(exercise.lectures),
        file=exercise.file,
        rules=rules,
    )
    source = inspect.getsource(exercise.blank)
    return "\n".join((head, f"{exercise.imports}\n\n", source)) if exercise.imports else f"{head}\n\n{source}"


def belongs(path: Path) -> Exercise:
    """The exercise that a file is an answer to: by the number it begins with, else by the function that it has."""
    number = path.name.partition("_")[0]
    if number.isdecimal() and int(number) in EXERCISES:
        return EXERCISES[int(number)]
    found = [exercise for exercise in EXERCISES.values() if exercise.name in defined(path)]
    if len(found) != 1:
        raise UserError(f"{path}: to which exercise is it? Begin its name with the number, as in {EXERCISES[1].file}")
    return found[0]


def defined(path: Path) -> set[str]:
    """Names of the functions of a file; none where it is no Python."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def likely(path: Path) -> list[Exercise]:
    """What a file without a number may be an answer to, likeliest first: by its functions, and by its name."""
    try:
        functions = defined(path)
    except OSError:
        functions = set()
    held = [each for each in EXERCISES.values() if each.name in functions]
    called = named_by(path)
    return [each for each in called if each in held] or held or called[:1]


def named_by(path: Path) -> list[Exercise]:
    """Exercises whose names are words of a file's name, longest first; else the one whose file has nearly that name."""
    name = re.sub(r"\W", "_", path.stem.lower())
    found = [each for each in EXERCISES.values() if re.search(rf"(?<![a-z]){each.name}(?![a-z])", name)]
    near = get_close_matches(path.name, [each.file for each in EXERCISES.values()], 1, 0.8)
    longest_first = sorted(found, key=lambda each: len(each.name), reverse=True)
    return longest_first or [each for each in EXERCISES.values() if each.file in near]


def answers(folder: Path) -> Iterator[Path]:
    """The files of a folder whose names begin with the number of an exercise."""
    for path in sorted(folder.glob("[0-9]*_*.py")):
        number = path.name.partition("_")[0]
        if number.isdecimal() and int(number) in EXERCISES:
            yield path


def function_of(path: Path, exercise: Exercise) -> Function:
    """Run a student's file and give its function."""
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source, filename=str(path))
    except OSError as error:
        raise Unfit(Finding("not readable", f"the file cannot be read: {error.strerror}")) from None
    except UnicodeDecodeError:
        raise Unfit(Finding("not readable", "the file is no text in UTF-8")) from None
    except SyntaxError as error:
        quoted = f": {shown(line)}" if (line := (error.text or "").strip()) else ""
        raise Unfit(Finding("not Python", f"line {error.lineno or 1} is no Python: {error.msg}{quoted}")) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unfit(Finding("not Python", f"the file is no Python: {error}")) from None
    forbidden(tree, exercise)
    module = sys.modules["answer"] = ModuleType("answer")
    module.__file__ = str(path)
    stopped = answer(lambda: exec(compile(tree, str(path), "exec"), vars(module)), ())
    if isinstance(stopped, Stopped):
        raise Unfit(stopped.finding("the file", str(path)))
    function = getattr(module, exercise.name, None)
    if not callable(function):
        known = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        near = get_close_matches(exercise.name, known, 1)
        way = f"rename your {near[0]} to that" if near else "keep its name"
        raise Unfit(Finding("no function", f"there is no function {exercise.name}; {way}"))
    return function


def forbidden(tree: ast.Module, exercise: Exercise) -> None:
    """Stop at what would do the exercise for the student: the library itself, and what torch has ready."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                used, modules = set(), {name.name for name in names}
            case ast.ImportFrom(module=str(module), names=names):
                used, modules = {name.name for name in names if "torch" in module}, {module}
            case ast.Constant(value=str(text)):  # as __import__ and import_module take it
                used, modules = set(), {text}
            case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant(value=str(text)), *_]):
                used, modules = {text}, set()
            case ast.Attribute(attr=attr):
                used, modules = {attr}, set()
            case _:
                continue
        if any(module.split(".")[0] == "regard" for module in modules):
            raise Unfit(
                Finding("imports regard", f"line {node.lineno} imports regard, which has the answer: write it yourself")
            )
        if exercise.without and "*" in used:
            raise Unfit(Finding("ready-made", f"line {node.lineno} imports all of torch: name what you use"))
        if taken := sorted(used & set(exercise.without)):
            raise Unfit(
                Finding("ready-made", f"line {node.lineno} uses {taken[0]}, which is the exercise: write it yourself")
            )
