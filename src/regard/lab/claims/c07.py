"""C7: without the mask, the loss collapses in training and what is written is useless."""

import torch

from regard.checkpoint import Run
from regard.data.splits import splits
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Bars, Lines
from regard.lab.claims.trial import Row, Trial, history

SEEN, HIDDEN = "future seen", "future hidden"


def measure(trial: Trial) -> list[Row]:
    run = trial.train()
    curve = [{"step": event["step"], "loss": event["loss"]} for event in history(run)]
    return [*curve, {"written": written(run, trial.size["characters"])}]


@torch.no_grad()
def written(run: Run, characters: int) -> float:
    """Nats per character of texts that are read as a model writes: each character before the next one is there."""
    found, _ = splits(run.recipe.data, ("text",))
    text = run.tokenizer.encode("".join(record[0] for record in found["test"])[: 50 * characters])
    rows = torch.tensor(text[: characters * run.model.context], device=run.model.device).view(characters, -1)
    cache = run.model.start(*rows.shape)
    steps = [run.model.decode(rows[:, t : t + 1], cache=cache) for t in range(rows.shape[1] - 1)]
    return float(torch.nn.functional.cross_entropy(torch.cat(steps, 1).flatten(0, 1), rows[:, 1:].flatten()))


EXPERIMENT = Experiment(
    id="C7",
    title="The mask",
    claim="Without the mask that hides the future, training loss collapses and generation is useless.",
    method="One GPT on the characters of Python's library, with and without the mask; then both read unseen text as "
    "they would write it, one character at a time.",
    refuted="the model that saw the future is as good a writer as the other",
    arms={HIDDEN: Arm("gpt"), SEEN: Arm("gpt", mistake="no mask")},
    pair=True,
    settings=("train.log_every=10", "data.records=200"),
    small=Size(30, "train.steps=500", "system.depth=2", characters=32),
    full=Size(60, "train.steps=5000", "train.batch_tokens=8192", "system.width=256", characters=256),
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
        f"{of('written', HIDDEN):.2f} when it writes"
    ),
    otherwise="nothing: the model learns to copy what it is asked for, at any size",
    panels=(
        Lines(x="step", y="loss", title="Training", across="steps", label="nats per character"),
        Bars(y="written", title="Unseen text, as it is written", label="nats per character"),
    ),
)
