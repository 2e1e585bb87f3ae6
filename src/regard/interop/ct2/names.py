"""The tensors of CTranslate2's Transformers beside ours, read in both directions.

Its names have "/" where ours have dots, and what it calls gamma, beta and encodings are weights and biases here.
"""

from regard.interop.names import FUSED, Change, Line, Shape, Table, paired
from regard.shapes import Tensor

GATED = {"swiglu": "silu", "geglu": "gelu-tanh"}  # feed-forward layers of two halves, each with what bends one of them
ACTIVATIONS = {"relu": 0, "gelu-tanh": 1, "silu": 2, "gelu": 3}  # the numbers that they have there
NORMS = ("layer_norm", "layernorm_embedding")
ENDINGS = {"gamma": "weight", "beta": "bias", "encodings": "weight"}


def dotted(name: str) -> str:
    """A name of theirs as a table has it."""
    module, _, kind = name.replace("/", ".").rpartition(".")
    return f"{module}.{ENDINGS.get(kind, kind)}" if module else kind


def slashed(name: str) -> tuple[str, str]:
    """The module and the attribute there of a name in a table."""
    module, _, kind = name.rpartition(".")
    last = module.rpartition(".")[2]
    if last in NORMS:
        kind = {"weight": "gamma", "bias": "beta"}[kind]
    return module.replace(".", "/"), "encodings" if last == "position_encodings" else kind


def table(*, translates: bool, encodes: bool, gated: bool, tied: str, halves: int = 0) -> Table:
    """Of a translator, of an encoder alone, or of a decoder alone.

    `tied` is "none", "output" or "all", as of a translator. `halves` is the width of rotary heads whose halves turn
    together, 0 where neighbours do, as here.
    """
    sides = ("encoder",) if encodes else ("encoder", "decoder") if translates else ("decoder",)
    words = f"{sides[-1]}.embedding.rows.weight"
    names = ("decoder.projection.weight", "encoder.embeddings_0.weight")
    count = {"none": 0, "output": 1, "all": 2}[tied]
    lines = (line for side in sides for line in stack(side, gated=gated, halves=halves))
    return Table((*lines, *ENDS), words, tied=dict.fromkeys(names[:count], "decoder.embeddings.weight"))


ENDS = (
    Line("encoder.embeddings_0", "encoder.embedding.rows"),
    Line("encoder.embeddings_1", "encoder.embedding.segments"),
    Line("decoder.embeddings", "decoder.embedding.rows"),
    Line("decoder.projection", "output.rows"),
    Line("pooler_dense", "head.pool.dense"),
)


def stack(side: str, *, gated: bool, halves: int) -> tuple[Line, ...]:
    """The layers of one side, what tells them places, and the norm behind them."""
    there, here = f"{side}.layer_{{}}.", f"{side}.blocks.{{}}."
    looks, across = here + "attention.", here + "cross."
    heads = tuple(looks + part for part in ("to_query", "to_key", "to_value"))
    forward = [Line(there + "ffn.linear_0", here + "feedforward.widen")]
    if gated:
        forward = [
            Line(there + "ffn.linear_0", here + "feedforward.gate"),
            Line(there + "ffn.linear_0_noact", here + "feedforward.widen"),
        ]
    return (
        Line(f"{side}.position_encodings", f"{side}.embedding.position.table.rows"),
        Line(f"{side}.layernorm_embedding", f"{side}.embedding.norm"),
        Line(there + "self_attention.linear_0", heads, turned_apart(halves) if halves else FUSED),
        Line(there + "self_attention.linear_1", looks + "output"),
        Line(there + "self_attention.layer_norm", here + "around_attention.norm"),
        Line(there + "attention.linear_0", across + "to_query"),
        Line(there + "attention.linear_1", (across + "to_key", across + "to_value"), FUSED),
        Line(there + "attention.linear_2", across + "output"),
        Line(there + "attention.layer_norm", here + "around_cross.norm"),
        *forward,
        Line(there + "ffn.linear_1", here + "feedforward.output"),
        Line(there + "ffn.layer_norm", here + "around_feedforward.norm"),
        Line(f"{side}.layer_norm", f"{side}.norm"),
    )


def turned_apart(each: int) -> Change:
    """Queries, keys and values in one matrix, the first two with heads whose halves turn together."""
    turn = paired(each)

    def into(there: Tensor, shapes: list[Shape]) -> list[Tensor]:
        query, key, value = FUSED.into(there, shapes)
        return [*turn.into(query, []), *turn.into(key, []), value]

    def back(here: list[Tensor]) -> Tensor:
        query, key, value = here
        return FUSED.back([turn.back([query]), turn.back([key]), value])

    return Change(into, back)
