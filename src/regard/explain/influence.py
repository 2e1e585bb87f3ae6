"""What each written token depends on: the one look inside that needs no attention.

The influence of an input on an output is the size of the first derivative, || d log p(output) / d x ||, where x is the
vector with which the input token enters the model (the `vectors` of its `Embedding`: the word's row, scaled, with its
position) and || || is the L2 norm (Simonyan et al., 2014; for words Li et al., 2016). It says how fast the
log-probability changes with the input, for better or worse, and nothing of larger changes, such as another word.

Outputs are the tokens written, each given all before it, the labels of a classifier, or what an encoder says of each
token. A text is read in as many rows
as it has outputs, a few at a time: the derivatives of each row's own output come out of one backward pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from regard.blocks.embedding import Embedding
from regard.checkpoint import Run
from regard.errors import UserError
from regard.explain.listening import Heard, batch, place
from regard.explain.sides import Side, written
from regard.shapes import Float, Int, Tensor
from regard.systems import System
from regard.tap import listening

MEASURE = "L2 norm of the gradient of the log-probability with respect to the vector of the input token"
AT_ONCE = 16  # rows


@dataclass(frozen=True, eq=False)
class Influence:
    """`source[i, j]` and `target[i, j]`: how large the derivative of output i is with respect to token j of a side."""

    source: np.ndarray | None
    target: np.ndarray

    @property
    def shares(self) -> "Influence":
        """Each row divided by its sum over both sides: what part of all influence on an output an input has."""
        parts = [part for part in (self.source, self.target) if part is not None]
        total = np.sum([part.sum(1, keepdims=True) for part in parts], axis=0)
        *source, target = (np.divide(part, total, out=np.zeros_like(part), where=total > 0) for part in parts)
        return Influence(source[0] if source else None, target)


def outputs_of(run: Run, source: Side | None, target: Side, heard: Heard) -> list[int]:
    """What is said, by number: each token written, every label, of each token its likeliest tag or itself."""
    if run.model.writes_text:
        return [token.id for token in written(source, target).tokens]
    if run.model.answers == "labels":
        return list(range(run.model.labels))
    return heard.scores.argmax(-1).tolist() if run.model.answers == "tags" else [token.id for token in target.tokens]


def influence_of(run: Run, source: Side | None, target: Side, heard: Heard) -> Influence:
    """Measured for everything that is said."""
    outputs = torch.tensor(outputs_of(run, source, target, heard), device=run.model.device)
    found = [measured(run, source, target, outputs, rows) for rows in torch.arange(len(outputs)).split(AT_ONCE)]
    *read, own = (torch.cat(parts).cpu().numpy() for parts in zip(*found, strict=True))
    return Influence(read[0] if read else None, own)


def measured(
    run: Run, source: Side | None, target: Side, outputs: Int[Tensor, "n"], rows: Int[Tensor, "r"]
) -> list[Float[Tensor, "r t"]]:
    """The influence on some of the outputs, of the source where there is one, and of the target."""
    model, memory, read = run.model, None, []
    with derivable():
        if source is not None:
            with word_vectors(model) as read:
                memory = model.encode(batch(run, source, len(rows)))
        with word_vectors(model) as own:
            tokens = batch(run, target, len(rows))
            if model.writes_text:
                vectors = model.hidden(tokens, memory)
                scores = model.logits(vectors[torch.arange(len(rows)), rows])
            else:
                scores = model.answer(tokens, place(target, tokens))
                scores = scores if model.answers == "labels" else scores[torch.arange(len(rows)), rows]
        # In double precision, or a sure answer would have no derivative left.
        chances = scores.cpu().double().log_softmax(-1)
        chosen = chances[torch.arange(len(rows)), outputs[rows].cpu()]
        found = sizes(chosen, [*read, *own])
    sides = [found[: len(read)], found[len(read) :]]
    return [torch.cat(parts, dim=1) for parts in sides if parts]


def sizes(outputs: Float[Tensor, "r"], inputs: list[Float[Tensor, "r t w"]]) -> list[Float[Tensor, "r t"]]:
    """How large the derivative of each row's output is with respect to each vector of that row."""
    slopes = torch.autograd.grad(outputs.sum(), inputs, allow_unused=True, materialize_grads=True)
    return [slope.to(torch.promote_types(slope.dtype, torch.float32)).norm(dim=-1) for slope in slopes]


@contextmanager
def word_vectors(model: System) -> Iterator[list[Float[Tensor, "b t w"]]]:
    """The vectors of all tokens read inside, as the model goes on to use them: outputs can be derived by them."""
    found: list[Tensor] = []
    taps = [f"{name}.vectors" for name, part in model.named_modules() if isinstance(part, Embedding)]
    if not taps:
        raise UserError(f"{type(model).__name__} has no Embedding whose vectors an influence could be measured by")
    with listening(model, taps, lambda _, vectors: found.append(vectors.requires_grad_())):
        yield found


@contextmanager
def derivable() -> Iterator[None]:
    """Derivatives in evaluation mode; cuDNN's recurrent kernels have none there, so torch's own are used."""
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False), torch.compiler.set_stance("force_eager"):
        yield
