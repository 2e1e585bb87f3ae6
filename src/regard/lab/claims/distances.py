"""How far back a model looks: by what it recalls of `distant`, and by derivatives; for experiments about distance.

A row is `<s> digit letters </s>`, and the digit is what follows: it stands as many steps back as there are letters and
one more.
"""

from copy import deepcopy
from itertools import islice

import torch

from regard.checkpoint import Run
from regard.data.corpora.distant import DISTANT
from regard.explain.influence import derivable, word_vectors
from regard.lab.claims.trial import Size, Trial
from regard.shapes import Float, Int, Tensor
from regard.systems import System

FAR = (4, 16, 64, 256)  # steps back
SETTINGS = "text.kind=word", "objective.kind=continuation", "system.depth=1"
SMALL = Size(20, "system.width=64", "train.steps=300", "train.batch_tokens=1024", rows=100)
FULL = Size(35, "system.width=128", "train.steps=600", "train.batch_tokens=1024", rows=400)
SYMBOLS = 4  # of a row beside its letters: start, digit, end, answer
AT_ONCE = 8192  # tokens


def learnt(trial: Trial, distance: int) -> Run:
    """A language model that has learnt to say the digit from up to so many steps back: near ones teach far ones."""
    return trial.train(f"data.train=distant:1-{distance - 1}", f"system.context={distance + SYMBOLS}")


def posed(run: Run, distance: int, rows: int) -> tuple[Int[Tensor, "n t"], Int[Tensor, "n"]]:
    """So many unseen rows whose digit stands so many steps back, and their digits."""
    made, words, device = DISTANT.make("test", distance - 1, distance - 1), run.tokenizer, run.model.device
    found = [
        ([words.start, *words.encode(text), words.end], words.encode(digit)[0]) for text, digit in islice(made, rows)
    ]
    texts, digits = (torch.tensor(part, device=device) for part in zip(*found, strict=True))
    return texts, digits


@torch.no_grad()
def recalled(run: Run, distance: int, rows: int) -> float:
    """Of 100 unseen rows, how many have their digit said from so many steps back."""
    texts, digits = posed(run, distance, rows)
    parts = texts.split(max(1, AT_ONCE // texts.shape[1]))
    said = torch.cat([run.model.logits(run.model.hidden(part)[:, -1]).argmax(-1) for part in parts])
    return 100 * float((said == digits).double().mean())


def slopes(model: System, texts: Int[Tensor, "n t"]) -> Float[Tensor, "t"]:
    """How large the derivative of the last state is by each input, from the nearest to the farthest: means over texts.

    In double precision, as what vanishes would be zero otherwise, and so on the CPU, as not every device has that; of
    the state in one direction, drawn once.
    """
    model = deepcopy(model).cpu().double()
    with derivable(), word_vectors(model) as vectors:
        states = model.hidden(texts.cpu())[:, -1]
        direction = torch.randn(states.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.double)
        (found,) = torch.autograd.grad((states @ direction).sum(), vectors)
    most = found.abs().amax(-1).clamp_min(torch.finfo(found.dtype).tiny)  # whose square may be too small for a number
    return (most * (found / most[..., None]).norm(dim=-1)).mean(0).flip(0)
