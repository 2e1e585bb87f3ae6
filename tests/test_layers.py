"""Imports point back along the flow of data, and the library needs four packages and no more."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

PACKAGE = Path(regard.__file__).parent
LAYERS = [
    *("errors", "shapes", "place", "tap", "config", "text", "data", "attention", "blocks", "systems", "decode"),
    *("objectives", "recipe", "longer", "checkpoint", "train", "evaluate", "interop", "explain", "verify", "lab"),
    *("exercises", "serve", "lectures", "cli", "__main__"),
]
HOMES = regard._HOMES  # names that `regard` itself offers, each with the module it comes from
OPTIONAL = (
    "cyclopts",
    "rich",
    "sacrebleu",
    "matplotlib",
    "jaxtyping",
    "beartype",
    "transformers",
    "tensorboard",
    "ufal",
)


def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Every layer that the module imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("regard."))
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import"
            if node.module == "regard":
                yield from (HOMES.get(name.name, name.name) for name in node.names if name.name != "__version__")
            elif node.module and node.module.startswith("regard."):
                yield node.module.split(".")[1]


def test_every_module_stands_in_a_layer() -> None:
    assert {layer(path) for path in modules()} <= set(LAYERS)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_imports_nothing_from_a_later_one(name: str) -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in modules()
        if layer(path) == name
        for other in imported(path)
        if LAYERS.index(other) > LAYERS.index(name)
    ]
    assert not wrong


def test_an_import_of_a_later_layer_would_be_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "from regard import load, tap\n"
        "import regard.text.bpe\n"
        "def f():\n"
        "    from regard.train.loop import Trainer\n"
    )  # fmt: skip
    assert sorted(imported(path)) == ["checkpoint", "tap", "text", "train"]


def test_the_library_imports_with_torch_numpy_tokenizers_and_safetensors_alone() -> None:
    parts = ["train", "checkpoint", "decode", "evaluate"]
    code = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
import regard
for part in {parts!r}:
    __import__("regard." + part)
regard.load, regard.train, regard.read("gpt").system.build(11)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
