"""A run as ONNX graphs: an encoder and a decoder with a cache, a decoder alone, or a model that answers."""

import copy
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim

from regard.checkpoint import Run, write_json
from regard.errors import NotInstalled, UserError
from regard.interop.files.hugging_face import CONFIG
from regard.interop.onnx.graphs import Answers, Decodes, Encodes, Graph, Translates
from regard.interop.tokens.writing import write_tokenizer
from regard.systems.bert import BidirectionalTransformer
from regard.systems.encoder import OnWriter
from regard.systems.layers import EXPERTS, StackSystem

BATCH, NEW, PAST, SOURCE = 2, 3, 5, 7  # sizes of the inputs that a graph is traced with; it takes any
AXES = {size: Dim(name) for size, name in ((BATCH, "batch"), (NEW, "new"), (PAST, "past"), (SOURCE, "source"))}
LARGEST = 1_500_000_000  # bytes of weights in the file of the graph itself; more stand in a file beside it
Names = list[str]
Given = tuple[torch.Tensor, dict[int, Any]]  # an input, and the axes along which it may have other sizes


def onnx(run: Run, folder: Path) -> str:
    """Write the graphs, what they are called by, and the tokenizer."""
    needed()
    sayable(run)
    model, about = copy.deepcopy(run.model), described(run)
    if not run.model.writes_text:
        answer(model, folder / "model.onnx", about)
    elif run.model.reads_source:
        encode(model, folder / "encoder.onnx", about)
        translate(model, folder / "decoder.onnx", about)
    else:
        go_on(model, folder / "decoder.onnx", about)
    write_json(folder / CONFIG, about)
    write_tokenizer(run.tokenizer, folder, source=run.model.reads_source, ends=not run.model.writes_text)
    return " and ".join(about["graphs"])


def needed() -> None:
    """The libraries, where they are installed."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise NotInstalled(
            f"this needs the package '{error.name}', which is not installed: pip install 'regard[export]'"
        ) from None


def sayable(run: Run) -> None:
    """Stop at what has no graph of any length."""
    system, model = run.recipe.system, run.model
    body = model.body if isinstance(model, OnWriter) else model
    if not isinstance(body, StackSystem | BidirectionalTransformer):
        kind = run.recipe.to_dict()["system"]["kind"]
        raise UserError(f"system.kind = '{kind}' is no Transformer: it has no keys and values to hand over as a cache")
    if system.attention != "full":
        raise UserError(f"system.attention = '{system.attention}' is not exported to ONNX, only 'full'")
    if system.feedforward == EXPERTS:
        raise UserError("system.feedforward = 'experts' is not exported to ONNX: a graph takes the same way every time")
    if model.trees:
        raise UserError(f"system.position = '{system.position}' is not exported to ONNX: it would need a parser")


def described(run: Run) -> dict[str, Any]:
    """What a runtime must know beside the graphs."""
    symbols, system = run.tokenizer, run.recipe.system
    about: dict[str, Any] = {
        "made_by": "regard",
        "vocabulary": len(symbols),
        "limit": run.model.limit,
        "symbols": {"start": symbols.start, "end": symbols.end, "pad": symbols.pad, "lead": symbols.lead},
        "begun": symbols.begun([]),
        "opens": symbols.habits.opens,
        "never": list(symbols.habits.never),
        "ends": list(symbols.habits.ends),
    }
    if run.model.writes_text:
        about["cache"] = {"heads": system.groups or system.heads, "width": system.each}
    else:
        about |= {"answers": run.model.answers, "labels": list(run.labels)}
    return about | {"graphs": {}}


def encode(model: Any, file: Path, about: dict[str, Any]) -> None:
    inputs = {"tokens": tokens(SOURCE), "present": present(SOURCE)}
    write(Encodes(model), file, inputs, pairs("source", len(model.decoder.blocks)), about)


def go_on(model: Any, file: Path, about: dict[str, Any]) -> None:
    depth = len(model.decoder.blocks)
    write(Decodes(model), file, stepping(depth, about), kept(depth), about)


def translate(model: Any, file: Path, about: dict[str, Any]) -> None:
    """Beside what a step is always given, what the encoder made of the source."""
    depth = len(model.decoder.blocks)
    source = {"source_present": present(SOURCE), "source": held(SOURCE, depth, about)}
    write(Translates(model), file, {**stepping(depth, about), **source}, kept(depth), about)


def answer(model: Any, file: Path, about: dict[str, Any]) -> None:
    inputs = {"tokens": tokens(NEW), "present": present(NEW)}
    if getattr(model.settings, "segments", 0) > 1:
        inputs["segments"] = tokens(NEW)
    write(Answers(model), file, inputs, ["vectors", "answer"][: 1 + (model.answers != "vectors")], about)


def stepping(depth: int, about: dict[str, Any]) -> dict[str, Any]:
    """New tokens, those before, and the keys and values of those before; which of them are no padding."""
    past = {"past_present": present(PAST), "past": held(PAST, depth, about)}
    return {"tokens": tokens(NEW), "present": present(NEW), **past}


def kept(depth: int) -> Names:
    return ["logits", "now_present", *pairs("now", depth)]


def pairs(name: str, depth: int) -> Names:
    return [f"{name}.{layer}.{what}" for layer in range(depth) for what in ("key", "value")]


def tokens(count: int) -> Given:
    return torch.zeros(BATCH, count, dtype=torch.long), {0: AXES[BATCH], 1: AXES[count]}


def present(count: int) -> Given:
    return torch.ones(BATCH, count, dtype=torch.bool), {0: AXES[BATCH], 1: AXES[count]}


def held(count: int, depth: int, about: dict[str, Any]) -> list[tuple[Given, Given]]:
    """Keys and values of so many tokens, in every layer."""
    shape, axes = (BATCH, about["cache"]["heads"], count, about["cache"]["width"]), {0: AXES[BATCH], 2: AXES[count]}
    return [((torch.zeros(shape), axes), (torch.zeros(shape), axes)) for _ in range(depth)]


def write(graph: Graph, file: Path, inputs: dict[str, Any], outputs: Names, about: dict[str, Any]) -> None:
    """Trace a graph whose inputs may have other sizes along the axes that are named."""
    names = [each for name, value in inputs.items() for each in (pairs(name, len(value)) if held_in(value) else [name])]
    with quiet(), torch.no_grad():
        program = torch.onnx.export(
            graph,
            tuple(part(value, 0) for value in inputs.values()),
            dynamic_shapes=tuple(part(value, 1) for value in inputs.values()),
            input_names=names,
            output_names=outputs,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    large = sum(x.numel() * x.element_size() for x in graph.parameters()) > LARGEST
    program.save(str(file), external_data=large)
    about["graphs"][file.name] = {"inputs": names, "outputs": outputs}


def held_in(value: Any) -> bool:
    return isinstance(value, list)


def part(value: Any, which: int) -> Any:
    """Of tensors with their axes the one or the other."""
    return [tuple(x[which] for x in pair) for pair in value] if held_in(value) else value[which]


@contextmanager
def quiet() -> Iterator[None]:
    """Tracing speaks of itself at length."""
    log = logging.getLogger("torch.onnx")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
