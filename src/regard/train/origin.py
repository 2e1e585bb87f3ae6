"""The run that another one starts from (O8): its tokenizer and its weights, with a fresh optimiser and at step 0.

The body must be the same. The head is taken along where the task and its labels are the same, else it is new, but for
the pool of a text, which is trained in pre-training too. Hidden words are guessed alike in one sentence and in two.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard import checkpoint
from regard.checkpoint import (
    ORIGIN,
    WEIGHTS,
    content_hash,
    put_weights,
    read_origin,
    read_tensors,
    weights,
    write_json,
    write_tensors,
)
from regard.errors import UserError
from regard.recipe import Recipe
from regard.shapes import Tensor
from regard.systems import System, built
from regard.text import Tokenizer

START = "state/start.safetensors"  # the weights at step 0, until there is a state to go on from
BODY, HEAD, POOL = "body.", "head.", "head.pool."
GUESSES = {"own", "next"}  # heads that have the same part for hidden words
OUTPUTS = ("output.", "body.output.")  # of a system that was built to write, and writes no more


@dataclass(frozen=True)
class Origin:
    """A trained run as something to start from; `content` is the hash of its weights, `kept` what is kept beside it of
    the model that it was imported from."""

    path: Path
    recipe: Recipe
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    tensors: dict[str, Tensor]
    content: str
    kept: dict[str, Any]

    @staticmethod
    def read(folder: Path | str) -> "Origin":
        path = Path(folder)
        recipe = checkpoint.read_recipe(path)
        if not (path / WEIGHTS).exists():
            raise UserError(f"{path} has no {WEIGHTS} yet: its training did not reach a checkpoint")
        tokenizer = checkpoint.read_tokenizer(path)
        tensors, notes = read_tensors(path / WEIGHTS, tokenizer)
        labels = checkpoint.read_labels(path, recipe)
        kept = read_origin(path, notes)
        return Origin(path, recipe, tokenizer, labels, tensors, content_hash(tensors, notes), kept)

    def adopted(self, recipe: Recipe) -> Recipe:
        """The recipe with this run's `[text]`, for it is this run's tokenizer that cuts; what does not fit stops."""
        if missing := [symbol for symbol in recipe.objective.symbols if not self.tokenizer.has((symbol,))]:
            needed = missing[0] + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            there = len(recipe.objective.symbols) - len(missing)
            enough = f"; --set objective.sentinels={there} asks for fewer" if there else ""
            raise UserError(
                f"{self.path} does not fit: its tokenizer has no {needed}, which the objective needs{enough}"
            )
        differences = list(self._differences(recipe, "system"))
        try:
            if type(recipe.system) is type(self.recipe.system):
                self.carried(recipe, self.labels or ("", ""))
                return replace(recipe, text=self.recipe.text)
        except UserError as error:
            differences = differences or [str(error)]
        raise UserError(f"{self.path} does not fit: {'; '.join(differences)}")

    def carried(self, recipe: Recipe, labels: tuple[str, ...]) -> dict[str, Tensor]:
        """The tensors that the recipe's model begins with, under its own names; what it lacks of a head is new."""
        model = built(recipe.system, len(self.tokenizer), len(labels), recipe.objective.head)
        heads = {recipe.objective.head, self.recipe.objective.head}
        same_head = labels == self.labels and (len(heads) == 1 or heads == GUESSES)
        found, used = {}, set()
        for name, mine in weights(model).items():
            theirs = next((n for n in (name, name.removeprefix(BODY), BODY + name) if n in self.tensors), None)
            if name.startswith(HEAD) and (theirs is None or not (same_head or name.startswith(POOL))):
                continue
            if theirs is None:
                raise UserError(f"it has no tensor '{name}'")
            if self.tensors[theirs].shape != mine.shape:
                there, here = list(self.tensors[theirs].shape), list(mine.shape)
                raise UserError(f"its tensor '{theirs}' has shape {there}, the configuration asks for {here}")
            found[name] = self.tensors[theirs]
            used.add(theirs)
        left = [name for name in self.tensors if name not in used and not name.startswith((HEAD, *OUTPUTS))]
        if left:
            raise UserError(f"its tensor '{left[0]}' has no place here")
        return found

    def said(self, recipe: Recipe) -> Iterator[str]:
        """What the recipe asks and this run decides, and where the two differ without harm."""
        yield f"starting from {self.path}, with its tokenizer and weights"
        for line in self._differences(recipe, "text"):
            yield f"{line}: the tokenizer stays"
        for line in self._differences(recipe, "system"):
            yield f"{line}: the new one holds"

    def report(self) -> dict[str, str]:
        return {"run": str(self.path.absolute()), "content": self.content}

    def write(self, folder: Path, recipe: Recipe, labels: tuple[str, ...]) -> list[str]:
        """Keep the weights in a new run: it must not need this one to start again. What is new is told in words."""
        carried = self.carried(recipe, labels)
        write_tensors(folder / START, carried, {"tokenizer": self.tokenizer.fingerprint})
        if self.kept:
            write_json(folder / ORIGIN, self.kept)
        new = weights(built(recipe.system, len(self.tokenizer), len(labels), recipe.objective.head)).keys() - carried
        return [f"the head is new: {', '.join(sorted(new))}"] if new else []

    def _differences(self, recipe: Recipe, section: str) -> Iterator[str]:
        """`system.width = 64 there and 128 here`, setting by setting; of another kind, the kind alone."""
        there, here = self.recipe.to_dict()[section], recipe.to_dict()[section]
        if section == "system" and there["kind"] != here["kind"]:
            there, here = {"kind": there["kind"]}, {"kind": here["kind"]}
        for name, value in here.items():
            if there[name] != value:
                yield f"{section}.{name} = {shown(there[name])} there and {shown(value)} here"


def put_start(folder: Path, model: System, tokenizer: Tokenizer) -> None:
    """The weights that a run was started with, where it was started from another; a new head stays as it is."""
    if (folder / START).exists():
        given = read_tensors(folder / START, tokenizer)[0]
        own = {name: tensor for name, tensor in weights(model).items() if name.startswith(HEAD)}
        put_weights(model, own | given, str(folder / START))


def shown(value: Any) -> str:
    """As TOML writes it."""
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
