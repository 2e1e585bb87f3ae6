"""C17: pre-training, then fine-tuning, beats training from scratch on little data."""

from regard.evaluate import evaluate
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.opinions import labelled, unlabelled
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial

TUNED, BRIEF, SCRATCH = "pre-trained, then fine-tuned", "pre-trained briefly", "from scratch"
PARTS = {TUNED: 1, BRIEF: 5}  # of the reading
READING = ("objective.random=0", "objective.share=0.3", "train.frozen=0")


def measure(trial: Trial) -> list[Row]:
    """How well unseen sentences are told apart after so many labelled ones."""
    (name,), rows, body = trial.arms, [], None
    if part := PARTS.get(name):
        steps = f"train.steps={trial.size['reading'] // part}", f"train.rate={trial.size['rate']}"
        body = trial.train(*unlabelled(trial), *READING, *steps, preset="bert")
    for examples in trial.size["examples"]:
        found = evaluate([trial.train(*labelled(trial, examples), after=body)])
        rows.append({"examples": examples, "accuracy": 100 * found["accuracy"], "loss": found["loss"]})
    return rows


def gains(of: Found) -> dict[int, float]:
    """By the number of examples."""
    every = sorted({row["examples"] for row in of.rows})
    return {n: of("accuracy", TUNED, examples=n) - of("accuracy", SCRATCH, examples=n) for n in every}


def told(of: Found, arm: str) -> str:
    return ", ".join(f"{of('accuracy', arm, examples=n):.0f}" for n in gains(of))


EXPERIMENT = Experiment(
    id="C17",
    title="Pre-training",
    claim="Pre-training, then fine-tuning, beats training from scratch on little data.",
    method="BERT says whether a sentence praises or blames. It learns from few labelled sentences, either from "
    "scratch or after it has guessed hidden words of unlabelled reviews, and once more after a fifth of that reading. "
    "All have the same steps with labels.",
    refuted="the model that starts from scratch is as good with few labelled sentences",
    arms={
        TUNED: Arm("bert-classifier", "train.frozen=1"),
        BRIEF: Arm("bert-classifier", "train.frozen=1"),
        SCRATCH: Arm("bert-classifier"),
    },
    small=Size(
        *(25, "system.width=64", "system.depth=2", "system.hidden=128", "train.steps=200", "train.rate=1e-3"),
        shapes=2,
        reading=2000,
        rate=3e-3,
        examples=[50, 200, 800],
    ),
    full=Size(
        *(50, "system.width=256", "system.depth=4", "system.hidden=1024", "train.steps=300", "train.rate=5e-4"),
        *("train.batch_tokens=4096",),
        shapes=6,
        reading=3000,
        rate=5e-4,
        examples=[50, 200, 800, 3200],
    ),
    measure=measure,
    predictions=(
        Prediction(
            "with 200 labelled sentences the pre-trained model tells at least 10 more of 100 unseen ones right",
            lambda of: gains(of)[200] >= 10,
        ),
        Prediction("with 50 it tells at least 5 more", lambda of: gains(of)[50] >= 5),
        Prediction(
            "with the most labelled sentences it is no worse",
            lambda of: gains(of)[max(gains(of))] >= 0,
        ),
        Prediction(
            "a fifth of the reading is worth less, over all numbers of labelled sentences",
            lambda of: of("accuracy", BRIEF) < of("accuracy", TUNED),
        ),
    ),
    tells=lambda of: (
        f"after {', '.join(map(str, gains(of)))} labelled sentences {told(of, TUNED)} of 100 unseen ones are told "
        f"right with pre-training, {told(of, BRIEF)} with a fifth of it and {told(of, SCRATCH)} from scratch"
    ),
    otherwise="so few labelled sentences that nothing can be learnt from them either way; thousands, from which the "
    "words can be learnt without reading before; or unlabelled texts that have nothing to do with the task",
    panels=(
        Lines(
            x="examples", y="accuracy", title="Unseen sentences", across="labelled sentences", label="% right", log="x"
        ),
        Lines(
            x="examples",
            y="loss",
            title="Their loss",
            across="labelled sentences",
            label="nats per sentence",
            log="x",
        ),
    ),
)
