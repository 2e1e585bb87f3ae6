"""The run that another one starts from: its tokenizer and its weights, with a fresh optimiser and at step 0."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard import checkpoint
from regard.checkpoint import WEIGHTS, content_hash, put_weights, read_tensors, write_tensors
from regard.errors import UserError
from regard.recipe import Recipe
from regard.shapes import Tensor
from regard.systems import System, built
from regard.text import Tokenizer

START = "state/start.safetensors"  # the weights at step 0, until there is a state to go on from


@dataclass(frozen=True)
class Origin:
    """A trained run as something to start from; `content` is the hash of its weights."""

    path: Path
    recipe: Recipe
    tokenizer: Tokenizer
    labels: tuple[str, ...]
    tensors: dict[str, Tensor]
    content: str

    @staticmethod
    def read(folder: Path | str) -> "Origin":
        path = Path(folder)
        recipe = checkpoint.read_recipe(path)
        if not (path / WEIGHTS).exists():
            raise UserError(f"{path} has no {WEIGHTS} yet: its training did not reach a checkpoint")
        tokenizer = checkpoint.read_tokenizer(path)
        tensors, notes = read_tensors(path / WEIGHTS, tokenizer)
        labels = checkpoint.read_labels(path, recipe)
        return Origin(path, recipe, tokenizer, labels, tensors, content_hash(tensors, notes))

    def adopted(self, recipe: Recipe) -> Recipe:
        """The recipe with this run's `[text]`, for it is this run's tokenizer that cuts; what does not fit stops."""
        differences = list(self._differences(recipe, "system"))
        try:
            if type(recipe.system) is type(self.recipe.system):
                model = built(recipe.system, len(self.tokenizer), len(self.labels), recipe.objective.head)
                put_weights(model, self.tensors, str(self.path / WEIGHTS))
                return replace(recipe, text=self.recipe.text)
        except UserError as error:
            differences = differences or [str(error)]
        raise UserError(f"{self.path} does not fit: {'; '.join(differences)}")

    def check_labels(self, labels: tuple[str, ...]) -> None:
        """The classes of the new data must be those that the weights were trained for."""
        if labels != self.labels:
            there, here = (", ".join(names) or "none" for names in (self.labels, labels))
            raise UserError(f"{self.path} does not fit: its labels are {there}, those of the data are {here}")

    def said(self, recipe: Recipe) -> Iterator[str]:
        """What the recipe asks and this run decides, and where the two differ without harm."""
        yield f"starting from {self.path}, with its tokenizer and weights"
        for line in self._differences(recipe, "text"):
            yield f"{line}: the tokenizer stays"
        for line in self._differences(recipe, "system"):
            yield f"{line}: the new one holds"

    def report(self) -> dict[str, str]:
        return {"run": str(self.path.absolute()), "content": self.content}

    def write(self, folder: Path) -> None:
        """Keep the weights in a new run: it must not need this one to start again."""
        write_tensors(folder / START, self.tensors, {"tokenizer": self.tokenizer.fingerprint})

    def _differences(self, recipe: Recipe, section: str) -> Iterator[str]:
        """`system.width = 64 there and 128 here`, setting by setting; of another kind, the kind alone."""
        there, here = self.recipe.to_dict()[section], recipe.to_dict()[section]
        if section == "system" and there["kind"] != here["kind"]:
            there, here = {"kind": there["kind"]}, {"kind": here["kind"]}
        for name, value in here.items():
            if there[name] != value:
                yield f"{section}.{name} = {shown(there[name])} there and {shown(value)} here"


def put_start(folder: Path, model: System, tokenizer: Tokenizer) -> None:
    """The weights that a run was started with, where it was started from another."""
    if (folder / START).exists():
        put_weights(model, read_tensors(folder / START, tokenizer)[0], str(folder / START))


def shown(value: Any) -> str:
    """As TOML writes it."""
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
