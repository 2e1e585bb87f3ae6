"""C22: in the residual stream attention moves information between tokens, everything else stays within one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from regard.checkpoint import Run
from regard.data.splits import splits
from regard.explain.influence import derivable, sizes, word_vectors
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Bars, Map
from regard.lab.claims.trial import Row, Trial
from regard.shapes import Float, Int, Tensor

ATTENTION, FORWARD, NORMS, OUTPUT = "attention", "feed-forward layers", "norms", "output layer"
REST = "all without attention"
OTHERS = (FORWARD, NORMS, OUTPUT)


def measure(trial: Trial) -> list[Row]:
    """One model for each seed; the arms are its parts."""
    runs = ((seed, trial.train(arm=trial.arms[ATTENTION], seed=seed)) for seed in trial.seeds)
    return [{"seed": seed, **row} for seed, run in runs for row in looked(run, trial.size["tokens"])]


def looked(run: Run, count: int) -> Iterator[Row]:
    found, _ = splits(run.recipe.data, ("text",))
    text = run.tokenizer.encode(next(iter(found["test"]))[0][: 50 * count])[:count]
    tokens = torch.tensor([text] * count, device=run.model.device)  # a row for each token that is looked at
    with derivable():
        for number, (name, each) in enumerate(passed(run, tokens)):
            yield {"arm": name, **shares(each)}
            if number < 2:  # attention and feed-forward layer of the first block
                part = (each / each.sum(1, keepdim=True)).tolist()
                cells = ((i, j) for i in range(count) for j in range(count))
                yield from ({"arm": name, "to": i, "from": j, "influence": part[i][j]} for i, j in cells)
        with silent(run), word_vectors(run.model) as vectors:
            made = run.model.hidden(tokens)
            yield {"arm": REST, **shares(influence(made, vectors[0]))}


def passed(run: Run, tokens: Int[Tensor, "t t"]) -> Iterator[tuple[str, Float[Tensor, "t t"]]]:
    """How much what leaves each part at each token depends on what goes into it at every token."""
    heard: dict[nn.Module, tuple] = {}
    with ExitStack() as stack:
        for _, part in parts(run):
            hear = part.register_forward_hook(lambda part, *given: heard.update({part: given}), with_kwargs=True)
            stack.enter_context(hear)
        run.model.decode(tokens)
    for name, part in parts(run):
        (stream, *rest), named, _ = heard[part]
        stream = stream.detach().requires_grad_()
        yield name, influence(part(stream, *rest, **named), stream)


def parts(run: Run) -> Iterator[tuple[str, nn.Module]]:
    model: Any = run.model
    for block in model.decoder.blocks:
        yield from ((ATTENTION, block.attention), (FORWARD, block.feedforward))
        yield from ((NORMS, block.around_attention.norm), (NORMS, block.around_feedforward.norm))
    yield from ((NORMS, model.decoder.norm), (OUTPUT, model.output))


def influence(made: Float[Tensor, "t t v"], given: Float[Tensor, "t t w"]) -> Float[Tensor, "t t"]:
    """Of token j's input on token i's output: the size of the derivative in one direction, drawn once."""
    direction = torch.randn(made.shape[-1], generator=torch.Generator().manual_seed(0)).to(made)
    (found,) = sizes(made.diagonal(dim1=0, dim2=1).T @ direction, [given])
    return found.cpu()


def shares(found: Float[Tensor, "t t"]) -> Row:
    """What part of all influence comes from other tokens, and from those that follow; means over tokens."""
    others = (found / found.sum(1, keepdim=True)).fill_diagonal_(0)
    return {"elsewhere": float(others.sum(1).mean()), "ahead": float(others.triu().sum(1).mean())}


@contextmanager
def silent(run: Run) -> Iterator[None]:
    """Attention adds nothing to the stream."""
    with ExitStack() as stack:
        for name, part in parts(run):
            if name == ATTENTION:
                stack.enter_context(part.register_forward_hook(lambda part, given, made: torch.zeros_like(made)))
        yield


PAIRS = {"x": "from", "over": "to", "y": "influence", "across": "token that goes in", "label": "token that comes out"}
EXPERIMENT = Experiment(
    id="C22",
    title="The residual stream",
    claim="Attention moves information between tokens; everything else in a block stays within one.",
    method="A GPT that was trained on characters reads unseen text. The output of each part at each token is derived "
    "by the part's input at every token; then the same of the whole model, with attention left out.",
    refuted="another part than attention makes a token depend on others, or attention does not",
    arms={name: Arm("gpt") for name in (ATTENTION, *OTHERS, REST)},
    settings=("data.records=200",),
    small=Size(30, "train.steps=200", "system.depth=2", tokens=24),
    full=Size(300, "train.steps=1500", tokens=64),
    together=True,
    measure=measure,
    predictions=(
        Prediction(
            "at least a tenth of what leaves attention comes from other tokens; of what leaves any other part, nothing",
            lambda of: of("elsewhere", ATTENTION) >= 0.1 and not any(of("elsewhere", part) for part in OTHERS),
        ),
        Prediction("without attention nothing passes from token to token", lambda of: of("elsewhere", REST) == 0),
        Prediction("attention brings nothing from the future", lambda of: of("ahead", ATTENTION) == 0),
    ),
    tells=lambda of: (
        f"of the influence on attention's output, {of('elsewhere', ATTENTION):.0%} comes from other tokens and "
        f"{100 * of('ahead', ATTENTION):g}% from the future; of that on other parts' outputs "
        f"{100 * max(of('elsewhere', part) for part in OTHERS):g}%, on the whole model's without attention "
        f"{100 * of('elsewhere', REST):g}%"
    ),
    otherwise="nothing: no other part is given two tokens at a time; how much attention moves depends on the training",
    panels=(
        Bars(y="elsewhere", title="From other tokens", names="in the order of the key", label="share of all influence"),
        Map(title="Attention, first block", arms=(ATTENTION,), low=0, high=1, unit="share of all influence", **PAIRS),
        Map(title="Feed-forward, first block", arms=(FORWARD,), low=0, high=1, unit="share of all influence", **PAIRS),
    ),
)
