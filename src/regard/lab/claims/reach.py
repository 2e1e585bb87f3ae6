"""What of a module decides about numbers: the statements that a function reaches, and not those that only tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

Taken = dict[str, list[str]]  # names by the module they are taken from


def reached(file: Path, *names: str) -> tuple[str, Taken]:
    """The statements that make these names and all that those use, in order; and what they take from elsewhere."""
    text = file.read_text(encoding="utf-8")
    statements = ast.parse(text).body
    seen, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        makers = [each for each in statements if name in made(each)]
        used = {node.id for each in makers for node in ast.walk(each) if isinstance(node, ast.Name)}
        waiting += sorted(used - seen)
    taken: Taken = {}
    for each in statements:
        if isinstance(each, ast.ImportFrom) and (some := [one.name for one in each.names if local(one) in seen]):
            taken.setdefault(each.module or "", []).extend(some)
    lines, kept = text.splitlines(), [each for each in statements if seen & set(made(each))]
    return "\n".join("\n".join(lines[begin(each) - 1 : each.end_lineno]) for each in kept), taken


def made(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module gives something to."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (local(each) for each in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def local(name: ast.alias) -> str:
    """What a name that is taken from elsewhere is called here."""
    return name.asname or name.name.partition(".")[0]


def begin(statement: ast.stmt) -> int:
    """The line of its first decorator, if any."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
