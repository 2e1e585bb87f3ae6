"""The settings of a model of CTranslate2 as ours. They stand among its tensors, or follow from their shapes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regard.errors import UserError
from regard.interop.ct2.names import ACTIVATIONS, GATED, dotted
from regard.interop.files.ctranslate2 import Binary
from regard.interop.names import same
from regard.shapes import Tensor

CONTEXT = 512  # where the file names no longest text
WAVES = "sinusoidal-opennmt"  # where it has no table of places
IDLE = ("alignment_layer", "alignment_heads", "embeddings_merge", "multi_query_attention")
OFF = ("scale_alibi", "start_from_zero_embedding", "sliding_window")  # they must be 0
TAKEN = (
    *("num_heads", "pre_norm", "activation", "scale_embeddings", "alibi", "alibi_use_positive_positions"),
    *("num_heads_kv", "head_dim", "queries_scale", "rotary_dim", "rotary_base", "rotary_interleave"),
    *("rotary_scaling_type", "rotary_scaling_factor", "pooler_activation"),
)
BIASES = {(True, True, False): "attention", (True, False, False): "heads", (False, False, True): "feedforward"}
TANH = 5


@dataclass(frozen=True)
class There:
    """A file of theirs with its `config.json`; `sides` are those that its kind of model has."""

    file: Binary
    config: Mapping[str, Any]
    sides: tuple[str, ...]
    where: str

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Under names as a table has them."""
        return {dotted(name): tensor for name, tensor in self.file.tensors.items()}

    def check(self) -> None:
        """Stop at a setting that nothing is known of."""
        for name, value in self.file.settings.items():
            last = name.rpartition("/")[2]
            fine = last in IDLE or last in TAKEN or (last in OFF and not value)
            if not fine or (last == "pooler_activation" and value != TANH):
                raise UserError(f"{self.where}: '{name}' = {value:g} is not supported")

    def shape(self) -> dict[str, Any]:
        """What all kinds of models have."""
        layer = f"{self.sides[-1]}.layer_0."
        wide = self.tensors.get(f"{layer}ffn.linear_0.weight")
        if wide is None or wide.ndim != 2:
            raise UserError(f"{self.where} is no Transformer: it has no first layer")
        rms = f"{layer}ffn.layer_norm.bias" not in self.tensors
        return {
            "width": self.words.shape[1],
            "heads": self.heads,
            "groups": 0 if (groups := self.each("num_heads_kv", self.heads)) == self.heads else int(groups),
            "head_width": 0 if self.head_width * self.heads == self.words.shape[1] else int(self.head_width),
            "depth": self.depth(self.sides[0]),
            "hidden": len(wide),
            "context": self.places or CONTEXT,
            "norm": "pre" if self.one("pre_norm", 1) else "post",
            "normalizer": "rms" if rms else "layer",
            "epsilon": self.config.get("layer_norm_epsilon") or (1e-6 if rms else 1e-5),
            "feedforward": self.forward(gated=f"{layer}ffn.linear_0_noact.weight" in self.tensors),
            "score": self.score(),
            "dropout": 0.0,
            **self.biases(layer),
            **self.position(),
        }

    @cached_property
    def words(self) -> Tensor:
        side = self.sides[-1]
        names = (f"{side}.embeddings.weight", f"{side}.embeddings_0.weight")
        found = next((self.tensors[name] for name in names if name in self.tensors), None)
        if found is None or found.ndim != 2:
            raise UserError(f"{self.where} has no word vectors: there is no '{names[0]}'")
        return found

    @property
    def heads(self) -> int:
        count = int(self.one("num_heads", 0))
        if not 0 < count <= self.words.shape[1]:
            raise UserError(f"{self.where}: num_heads = {count} is not supported")
        return count

    @property
    def head_width(self) -> float:
        return self.each("head_dim", self.words.shape[1] // self.heads)

    @property
    def places(self) -> int:
        """How many places have a row of their own; 0 where there is no table."""
        return min(len(self.tensors.get(f"{side}.position_encodings.weight", ())) for side in self.sides)

    @property
    def scale(self) -> float:
        """What word vectors are multiplied by: a number, or where it is a flag the root of their width."""
        names = [f"{side}/scale_embeddings" for side in self.sides]
        value = self.agreed(names, 1.0)
        if names[0] in self.file.flags:
            return math.sqrt(self.words.shape[1]) if value else 1.0
        return value

    def scaled(self, *wanted: float) -> float:
        """The one of these that word vectors are multiplied by; anything else stops."""
        for number in wanted:
            if math.isclose(self.scale, number, rel_tol=1e-5):
                return number
        usual = " or ".join(f"{number:g}" for number in wanted)
        raise UserError(f"{self.where}: word vectors multiplied by {self.scale:g} are not supported, only by {usual}")

    @property
    def tied(self) -> str:
        """Which of the tensors that may be one are: "none", "output" or "all"."""
        output = self.tensors.get("decoder.projection.weight")
        source = self.tensors.get("encoder.embeddings_0.weight")
        if output is None or not alike(self.words, output):
            return "none"
        return "all" if source is not None and alike(self.words, source) else "output"

    def biases(self, layer: str) -> dict[str, Any]:
        """Which layers have them."""
        names = ("self_attention.linear_0", "self_attention.linear_1", "ffn.linear_0")
        inside, closing, wide = (f"{layer}{name}.bias" in self.tensors for name in names)
        return {"bias": inside or closing or wide, "bias_at": BIASES.get((inside, closing, wide), "all")}

    def position(self) -> dict[str, Any]:
        if self.one("alibi", 0):
            return {"position": "alibi"}
        if (turned := self.each("rotary_dim", None)) is None:
            return {"position": "learned" if self.places else WAVES}
        if turned not in (0, self.head_width):
            raise UserError(f"{self.where}: rotary_dim = {int(turned)} is not supported, only whole heads")
        if (kind := self.each("rotary_scaling_type", 0)) != 0:
            raise UserError(f"{self.where}: rotary_scaling_type = {int(kind)} is not supported")
        base, factor = self.each("rotary_base", 10_000.0), self.each("rotary_scaling_factor", 1.0)
        return {"position": "rotary", "rotary_base": base, "rotary_factor": factor}

    def forward(self, *, gated: bool) -> str:
        number = self.one("activation", 0)
        bend = next((name for name, there in ACTIVATIONS.items() if there == number), None)
        name = next((both for both, half in GATED.items() if half == bend), None) if gated else bend
        if name is None:
            raise UserError(f"{self.where}: activation = {int(number)}{' with a gate' * gated} is not supported")
        return name

    def score(self) -> str:
        scale = self.each("queries_scale", None)
        if scale is None or math.isclose(scale, self.head_width**-0.5, rel_tol=1e-5):
            return "scaled-dot"
        if scale != 1:
            raise UserError(f"{self.where}: queries_scale = {scale:g} is not supported")
        return "dot"

    def depth(self, side: str) -> int:
        names = {name.split(".")[1] for name in self.tensors if name.startswith(f"{side}.layer_")}
        return sum(name.removeprefix("layer_").isdecimal() for name in names)

    def one(self, name: str, usual: float) -> float:
        """A setting of the whole model."""
        return self.agreed([f"{side}/{name}" for side in self.sides], usual)

    def each(self, name: str, usual: Any) -> Any:
        """A setting of every layer that looks at its own text."""
        layers = [f"{side}/layer_{i}" for side in self.sides for i in range(self.depth(side))]
        return self.agreed([f"{layer}/self_attention/{name}" for layer in layers], usual)

    def agreed(self, names: list[str], usual: Any) -> Any:
        values = {self.file.settings.get(name, usual) for name in names}
        if len(values) > 1:
            raise UserError(f"{self.where}: '{names[0]}' is not the same everywhere: not supported")
        return values.pop() if values else usual


def alike(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and same(a, b)
