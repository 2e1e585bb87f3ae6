"""What decides about numbers: the statements that a function reaches, in its file and in others, and not those that
only tell.

Names are followed as Python looks them up: those of a function's own, such as its arguments, lead nowhere else.
Comments and docstrings are left out, for they change no number.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

Taken = dict[str, set[str]]  # names by the module they are taken from
Scope = ast.FunctionDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def everything(wanted: Mapping[str, set[str]], files: Mapping[str, Path]) -> str:
    """All that decides about these names, module by module; `files` are the modules that are looked into."""
    known: Taken = {}
    waiting = [(module, set(names)) for module, names in wanted.items()]
    while waiting:
        module, names = waiting.pop()
        if module in files and not names <= known.get(module, set()):
            known[module] = known.get(module, set()) | names
            waiting += reached(files[module], *known[module])[1].items()
    return "\n".join(reached(files[module], *names)[0] for module, names in sorted(known.items()))


def reached(file: Path, *names: str) -> tuple[str, Taken]:
    """The statements that make these names and all that those use, in order; and what they take from elsewhere."""
    statements, lines = parsed(file.read_text(encoding="utf-8"))
    seen, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        used = {each for statement in statements if name in made(statement) for each in free(statement)}
        waiting += sorted(used - seen)
    kept = [each for each in statements if seen & set(made(each))]
    taken: Taken = {}
    for node in (node for each in kept for node in ast.walk(each)):
        if isinstance(node, ast.ImportFrom):
            inside = node not in kept  # what a function imports it uses
            some = {one.name for one in node.names if inside or local(one) in seen}
            taken.setdefault(node.module or "", set()).update(some)
    spans = (range(begin(each), (each.end_lineno or 0) + 1) for each in kept)
    return "\n".join(lines[number] for span in spans for number in span if number in lines), taken


@cache
def parsed(text: str) -> tuple[list[ast.stmt], dict[int, str]]:
    """The statements of a module, and its lines by their numbers: without comments, docstrings and empty lines.

    Lines and not `ast.unparse`, which writes the same statement in another way in another version of Python.
    """
    tree, lines = ast.parse(text), dict(enumerate(text.splitlines(), 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row] = lines[row][:column].rstrip()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), "")
    return tree.body, {number: line for number, line in lines.items() if line}


def free(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names that it looks up outside itself."""
    if isinstance(node, Scope):
        for child in around(node):
            yield from free(child, hidden)
        hidden |= own(node)
    if isinstance(node, ast.Name) and node.id not in hidden:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from free(child, hidden)


def around(scope: Scope) -> Iterator[ast.AST]:
    """What of a function is looked up where it stands: its decorators, and what its arguments are without others."""
    yield from getattr(scope, "decorator_list", ())
    if isinstance(scope, ast.FunctionDef | ast.Lambda):
        yield from (each for each in (*scope.args.defaults, *scope.args.kw_defaults) if each)


def own(scope: Scope) -> frozenset[str]:
    """The names that a function or a comprehension gives something to, and its arguments."""
    found, waiting = set[str](), list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if not isinstance(node, Scope):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


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
