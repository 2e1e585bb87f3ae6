"""A run beside the same model in the library `transformers`: the same tokens, scores and texts?"""

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import Run
from regard.decode.session import table
from regard.errors import NotInstalled, UserError, suggest
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.interop.files.pickled import first_line
from regard.interop.samples import RELATIVE, TEXTS, written
from regard.place import Place
from regard.shapes import Bool, Int, Tensor

WRITTEN = 12  # tokens


@dataclass(frozen=True)
class Comparison:
    """Whether all texts are cut alike and the same ones written, where any are; the largest difference between two
    numbers, and the one that is allowed."""

    same_tokens: bool
    same_texts: bool | None
    difference: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return self.same_words and self.difference <= self.tolerance

    @property
    def same_words(self) -> bool:
        return self.same_tokens and self.same_texts is not False

    @property
    def said(self) -> str:
        """In words."""
        parts = ["the same tokens" if self.same_tokens else "OTHER TOKENS"]
        if self.same_texts is not None:
            parts.append("the same texts" if self.same_texts else "OTHER TEXTS")
        far = "" if self.difference <= self.tolerance else f": MORE than {self.tolerance:.1e}"
        apart = f"numbers differ by {self.difference:.1e} at most{far}" if self.difference else "every number the same"
        return ", ".join([*parts, apart])


@torch.inference_mode()
def compare(run: Run, source: Path | str) -> Comparison:
    """A few texts, read together, in both. Nothing is downloaded, and no code of the folder is run."""
    library = theirs()
    cutter, model = opened(library, run, Folder(Path(source)))
    cut = [run.tokenizer.encode(text) for text in TEXTS]
    same_tokens = cut_alike(run, cutter, cut)
    if (limit := run.model.limit) is not None:
        cut = [ids[: max(1, limit - WRITTEN - 2)] for ids in cut]
    difference, tolerance = farthest(answers(run, model, cut))
    if run.model.writes_text:  # searches of its own (several beginnings, forced ends) are not compared
        given = {"bad_words_ids": model.generation_config.bad_words_ids, "decoder_start_token_id": run.tokenizer.start}
        model.generation_config = library.GenerationConfig(**given)
    same_texts = None
    if run.model.writes_text:
        mine = [row[0].tokens for row in written(run, cut, most=WRITTEN)]
        same_texts = mine == list(written_there(run, model, cut))
    return Comparison(same_tokens, same_texts, difference, tolerance)


def farthest(pairs: Iterable[tuple[Tensor, Tensor]]) -> tuple[float, float]:
    """The largest difference between two numbers, infinite where one of them is none; and the one that is allowed."""
    difference, largest = 0.0, 1.0
    for mine, wanted in pairs:
        apart = (mine - wanted).abs()
        if not bool(apart.isfinite().all()):
            return math.inf, RELATIVE * largest
        difference = max(difference, float(apart.max()))
        largest = max(largest, float(wanted.abs().max()))
    return difference, RELATIVE * largest


def opened(library: Any, run: Run, folder: Folder) -> tuple[Any, Any]:
    """Their tokenizer and their model, of the class that the run's task asks for."""
    kind, path = folder.json(CONFIG).get("model_type"), folder.path
    if kind not in [*FAMILIES]:
        raise UserError(f"{path / CONFIG}: model_type = {kind!r} is not supported{suggest(str(kind), list(FAMILIES))}")
    made = getattr(library, FAMILIES[kind].class_of(run.recipe.objective))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Marian's would like another package for what it never does
            cutter = library.AutoTokenizer.from_pretrained(path, local_files_only=True)
        model = made.from_pretrained(path, local_files_only=True)
    except Exception as error:  # of any kind, as many packages take part
        raise UserError(f"'transformers' cannot read {path}: {first_line(error)}") from None
    return cutter, model.float().eval().to(run.model.device)


def cut_alike(run: Run, cutter: Any, cut: list[list[int]]) -> bool:
    """The same tokens, and the same symbols around them, where their tokenizer puts any around a text.

    A text that is to be written on begins as there in any case.
    """
    lead, texts = len(run.tokenizer.lead), list(TEXTS)
    bare, whole = cutter(texts, add_special_tokens=False)["input_ids"], cutter(texts)["input_ids"]
    targets = cutter(text_target=texts, add_special_tokens=False)["input_ids"] if run.model.reads_source else bare
    mine = [run.tokenizer.target.encode(text)[lead:] for text in texts]
    if [ids[lead:] for ids in cut] != bare or mine != targets:
        return False
    goes_on = run.model.writes_text and not run.model.reads_source
    return (whole == bare and not goes_on) or whole == [read(run, ids) for ids in cut]


def read(run: Run, ids: list[int]) -> list[int]:
    """What the run reads where it is given a text of these tokens."""
    symbols = run.tokenizer
    if run.model.reads_source:
        return [*ids, symbols.end]
    return symbols.begun(ids) if run.model.writes_text else [symbols.start, *ids, symbols.end]


def answers(run: Run, model: Any, cut: list[list[int]]) -> Iterator[tuple[Tensor, Tensor]]:
    """What both say of the texts, at every token that is no padding."""
    rows = [[run.tokenizer.start, *ids, run.tokenizer.end] for ids in cut]
    tokens, present = table(rows, run.model.device)
    there = present if present is not None else torch.ones_like(tokens, dtype=torch.bool)
    if run.model.reads_source:
        sources, seen = table([row[1:] for row in rows], run.model.device)
        memory = run.model.encode(sources, seen)
        asked = {"input_ids": sources, "attention_mask": mask(seen, sources), "decoder_input_ids": tokens}
        yield run.model.decode(tokens, memory)[there], model(**asked).logits[there]
    elif run.model.writes_text:
        yield run.model.decode(tokens)[there], model(tokens, attention_mask=mask(present, tokens)).logits[there]
    else:
        said = model(tokens, attention_mask=mask(present, tokens))
        wanted = next(said[key] for key in ("logits", "prediction_logits", "last_hidden_state") if key in said)
        mine = run.model.answer(tokens, Place.line(tokens, present))
        whole = run.model.answers == "labels"
        yield (mine, wanted) if whole else (mine[there], wanted[there])


def mask(present: Bool[Tensor, "b t"] | None, tokens: Int[Tensor, "b t"]) -> Int[Tensor, "b t"]:
    return present.long() if present is not None else torch.ones_like(tokens)


def written_there(run: Run, model: Any, cut: list[list[int]]) -> Iterator[list[int]]:
    """What follows each text there, by the likeliest token each time."""
    end, ends = run.tokenizer.end, run.tokenizer.ends
    how = {"do_sample": False, "num_beams": 1, "max_new_tokens": WRITTEN, "eos_token_id": [*ends]}
    for ids in cut:
        if run.model.reads_source:
            begun = run.tokenizer.begun([])
            given = {"input_ids": tensor([*ids, end], run), "decoder_input_ids": tensor(begun, run)}
        else:
            begun = run.tokenizer.begun(ids)
            given = {"input_ids": tensor(begun, run)}
        given["attention_mask"] = torch.ones_like(given["input_ids"])
        row = model.generate(**given, **how, pad_token_id=run.tokenizer.pad)[0].tolist()[len(begun) :]
        yield row[: next((at for at, token in enumerate(row) if token in ends), len(row))]


def tensor(ids: list[int], run: Run) -> Int[Tensor, "1 t"]:
    return torch.tensor([ids], device=run.model.device)


def comparable(source: Path) -> None:
    """Stop where there is nothing that the library could read."""
    theirs()
    if not Folder(source).json(CONFIG).get("model_type"):
        raise UserError(
            f"--check reads what 'transformers' reads, and {source} has no {CONFIG} with a model_type; "
            "import it without"
        )


def theirs() -> Any:
    """The library, where it is installed."""
    try:
        import transformers
    except ImportError:
        raise NotInstalled(
            "this compares with the package 'transformers', which is not installed: pip install 'regard[hf]'"
        ) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers
