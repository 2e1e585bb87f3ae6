"""C7: without the mask, the loss collapses in training and what is written is useless."""

import torch

from regard.checkpoint import Run
from regard.decode.generate import generate
from regard.decode.settings import Decode
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars, Lines
from regard.lab.claims.texts import library, windows
from regard.lab.claims.trial import Row, Trial, curve
from regard.shapes import Int, Tensor

SEEN, HIDDEN = "future seen", "future hidden"
PROMPT, WRITING = "import ", Decode(max_tokens=40, temperature=0.7)


def measure(trial: Trial) -> list[Row]:
    run = trial.train(*library(trial, trial.size["characters"]))
    return [*curve(run), {"written": written(run, windows(run, trial.size["read"])), "text": text(run)}]


@torch.no_grad()
def written(run: Run, rows: Int[Tensor, "n t"]) -> float:
    """Nats per character of texts that are read as a model writes: each character before the next one is there."""
    cache = run.model.start(*rows.shape)
    steps = [run.model.decode(rows[:, t : t + 1], cache=cache) for t in range(rows.shape[1] - 1)]
    return float(torch.nn.functional.cross_entropy(torch.cat(steps, 1).flatten(0, 1), rows[:, 1:].flatten()))


def text(run: Run) -> str:
    """What it writes by itself, line ends and other spaces as one."""
    ((found,),) = generate(run.model, run.tokenizer, WRITING, prompts=[run.tokenizer.encode(PROMPT)])
    return " ".join((PROMPT + run.tokenizer.decode(found.tokens)).split())


def wrote(of: Found, arm: str) -> str:
    """The first seed's."""
    return next(row["text"] for row in of.rows if row["arm"] == arm and "text" in row)


EXPERIMENT = Experiment(
    id="C7",
    title="The mask",
    claim="Without the mask that hides the future, training loss collapses and generation is useless.",
    method="One GPT on the characters of Python's library, with and without the mask; then both read unseen text as "
    f"they would write it, one character at a time, and go on after “{PROMPT.strip()}” by themselves.",
    refuted="the model that saw the future is as good a writer as the other",
    arms={HIDDEN: Arm("gpt"), SEEN: Arm("gpt", mistake="no mask")},
    pair=True,
    settings=("train.log_every=10",),
    small=Size(25, "train.steps=500", "system.depth=2", characters=1_000_000, read=8_000),
    full=Size(110, "train.steps=2000", characters=2_000_000, read=32_000),
    measure=measure,
    predictions=(
        Prediction(
            "as a writer, the model that saw the future is worse by at least 1 nat per character",
            lambda of: of("written", SEEN) > of("written", HIDDEN) + 1,
        ),
        Prediction(
            "its loss in training falls below a quarter of the other's",
            lambda of: of.last("loss", SEEN, "step") < of.last("loss", HIDDEN, "step") / 4,
        ),
    ),
    tells=lambda of: (
        f"with the future in sight the loss in training is {of.last('loss', SEEN, 'step'):.3f} nats in place of "
        f"{of.last('loss', HIDDEN, 'step'):.2f}, and {of('written', SEEN):.2f} in place of "
        f"{of('written', HIDDEN):.2f} when it writes, such as “{wrote(of, SEEN)}” in place of “{wrote(of, HIDDEN)}”"
    ),
    otherwise="nothing: the model learns to copy what it is asked for, at any size",
    panels=(
        Lines(x="step", y="loss", title="Training", across="steps", label="nats per character"),
        Bars(y="written", title="Unseen text, as it is written", label="nats per character"),
    ),
)
