"""The systems on which every law is tried: each entry of SYSTEMS plain, and each of its choices once.

Every size is a different prime (or a product of few), so that a transposed axis cannot pass.
"""

from dataclasses import dataclass, field, fields
from typing import Any

import pytest
import torch

from regard.attention.schemes import TREES
from regard.place import Place
from regard.systems import SYSTEMS, System, built
from regard.systems.encoder import Encoding

VOCABULARY = 31
LABELS = 5
SMALL = {"width": 24, "heads": 4, "depth": 3, "hidden": 37, "context": 41, "dropout": 0.0}
QUIET = {"noise": 0.0, "importance_weight": 0.0, "load_weight": 0.0}  # as dropout, these act in training alone


@dataclass(frozen=True)
class Case:
    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    head: str = "own"

    def build(self, **more: Any) -> System:
        """A model whose weights are large enough that a mistake shows."""
        torch.manual_seed(5)
        system = SYSTEMS[self.kind]
        mixes = self.kind == "moe-lstm" or self.settings.get("feedforward") == "experts"
        given = {**SMALL, **(QUIET if mixes else {})}
        small = {name: size for name, size in given.items() if name in {field.name for field in fields(system)}}
        model = built(system(**{**small, **self.settings, **more}), VOCABULARY, LABELS, self.head)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
        return model.eval()


CHOICES: list[dict[str, Any]] = [
    {},
    {"norm": "post"},
    {"normalizer": "rms", "bias": False},
    {"feedforward": "swiglu"},
    {"feedforward": "gelu"},
    {"feedforward": "silu"},
    {"feedforward": "geglu"},
    {"groups": 2},
    {"head_width": 7},
    {"groups": 1, "position": "rotary"},
    {"position": "rotary", "rotary_base": 50.0, "rotary_factor": 3.0, "rotary_context": 11},
    {"bias": True, "bias_at": "heads"},
    {"position": "none"},
    {"position": "buckets"},
    {"position": "alibi"},
    {"position": "shaw", "farthest": 3},
    {"position": "syntax", "farthest": 3},
    {"position": "syntax", "attention": "dmca", "block": 4, "stride": 2},
    {"attention": "bigbird", "block": 2, "first": 1, "random": 1},
    {"attention": "bigbird", "block": 3, "first": 0, "near": 0, "random": 1, "position": "alibi"},
    {"attention": "linformer", "projected": 7, "position": "sinusoidal"},
    {"attention": "linformer", "projected": 5, "shared": "layers", "position": "rotary"},
    {"attention": "local", "block": 5},
    {"attention": "dmca", "block": 4, "stride": 2, "position": "buckets"},
    {"attention": "dmca", "block": 5, "groups": 2, "position": "shaw"},
    {"position": "learned"},
    {"position": "sinusoidal"},
    {"position": "sinusoidal-t2t"},
    {"position": "sinusoidal-fairseq"},
    {"position": "sinusoidal", "position_at": "heads"},
    {"position": "learned", "position_at": "heads"},
    {"position": "sinusoidal", "position_at": "concatenated", "tied": None},
    {"score": "dot"},
    {"score": "bilinear"},
    {"score": "additive"},
    {"tied": None},
    {"decoder_depth": 2},
    {"scaled": False, "embedding_norm": True, "output_bias": True},
    {"cell": "rnn"},
    {"cell": "gru"},
    {"enters": "every"},
    {"enters": "every", "cell": "gru"},
    {"reversed": True},
    {"query": "current"},
    {"query": "current", "score": "bilinear", "feeding": True},
    {"query": "current", "feeding": True, "cell": "gru"},
    {"locked": True},
    {"word_size": 0.25, "bias": True, "cell": "lstm"},
    {"experts": 5, "chosen": 3},
    {"experts": 1, "chosen": 1},
    {"feedforward": "experts", "experts": 5, "chosen": 3},
    {"feedforward": "experts", "experts": 1, "chosen": 1, "attention": "dmca", "block": 4},
    {"pool": "mean"},
    {"pool": "max"},
    {"segments": 0, "pool": "first-relu"},
    {"windows": (1, 9)},
    {"window": 4},
    {"unit": "tanh"},
    {"kernel": 5},
    {"widest": 2},
    {"stretch": 1.0},
    {"stretch": 1.5},
]


def cases() -> list[Any]:
    found = []
    for kind, system in SYSTEMS.items():
        known = {field.name: field.default for field in fields(system)}
        for choice in CHOICES:
            if not set(choice) <= set(known) or ("experts" in choice and "feedforward" in set(known) - set(choice)):
                continue  # this system leaves no such choice
            if choice.get("attention") == "linformer" and kind == "gpt":
                continue  # refused: it would see what follows (systems/test_long.py)
            if choice.get("feedforward") == "experts" and kind == "bert":
                continue  # refused: nothing would balance them
            if choice.get("position") in TREES and not system.whole:
                continue  # refused: what is written has no tree (attention/test_structure.py)
            untied = "none" if isinstance(known.get("tied"), str) else False
            settings = {**choice, "tied": untied} if "tied" in choice else dict(choice)
            if choice.get("attention") in ("local", "dmca") and "pool" in known:
                settings["pool"] = "mean"  # the first token sees its own block alone
            label = "-".join([kind, *(str(value) for value in choice.values())])
            found.append(pytest.param(Case(kind, settings), id=label))
        if kind == "transformer":
            found.append(pytest.param(Case(kind, {"tied": "output"}), id="transformer-tied-output"))
    return found


def headed() -> list[Any]:
    """Every encoder with each of its choices and each head, and every language model with a head on it."""
    found = []
    for case in cases():
        kind, settings = case.values[0].kind, case.values[0].settings
        encodes = issubclass(SYSTEMS[kind], Encoding)
        writes_alone = not encodes and MODELS[kind].writes_text and not MODELS[kind].reads_source
        heads = ENCODERS if encodes else ("labels", "tags") if writes_alone and not settings else ()
        found += [pytest.param(Case(kind, settings, head), id=f"{case.id}-{head}") for head in heads]
    return found


ENCODERS = ("own", "next", "labels", "tags", "vectors")
MODELS = {kind: Case(kind).build() for kind in SYSTEMS}
WRITING = [(case, model) for case in cases() if (model := MODELS[case.values[0].kind]).writes_text]
every_system = pytest.mark.parametrize("case", [case for case, _ in WRITING])
every_language_model = pytest.mark.parametrize("case", [case for case, model in WRITING if not model.reads_source])
every_encoder = pytest.mark.parametrize("case", headed())  # laws/test_encoders.py


def texts(rows: int = 3, length: int = 13, seed: int = 1) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed))


def ragged(lengths: list[int], longest: int | None = None) -> torch.Tensor:
    """True where a row of that length goes on."""
    return torch.arange(longest or max(lengths)) < torch.tensor(lengths)[:, None]


def memory_for(model: System, rows: int = 3, lengths: list[int] | None = None):
    """A source read by the model, or None for one that reads none."""
    if not model.reads_source:
        return None
    source = texts(rows, 11, seed=2)
    return model.encode(source, ragged(lengths, 11) if lengths else None)


def packed_place(pieces: list[list[int]]) -> Place:
    """Rows of documents of these lengths, each counted from 0."""
    index = torch.tensor([[i for length in row for i in range(length)] for row in pieces])
    document = torch.tensor([[d for d, length in enumerate(row) for _ in range(length)] for row in pieces])
    return Place(index, document)
