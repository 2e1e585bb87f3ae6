"""C17: pre-training, then fine-tuning, beats training from scratch on little data."""

from regard.evaluate import evaluate
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.opinions import tuned, unlabelled
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial

TUNED, BRIEF, SCRATCH = "pre-trained, then fine-tuned", "pre-trained briefly", "from scratch"


def measure(trial: Trial) -> list[Row]:
    """How well unseen sentences are told apart after so many labelled ones."""
    body, rows = trial.train(*unlabelled(trial)), []
    for examples in trial.size["examples"]:
        found = evaluate([tuned(trial, body, examples)])
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
    method="BERT says whether a sentence praises or blames. It learns from few labelled sentences after it has guessed "
    "hidden words of unlabelled reviews for 2,000 steps, for a fifth of them, or for a single one, which hardly "
    "moves its weights: nothing else differs.",
    refuted="with 200 labelled sentences the model from scratch tells less than 10 fewer of 100 unseen ones",
    arms={
        TUNED: Arm("bert", "train.steps=2000"),
        BRIEF: Arm("bert", "train.steps=400"),
        SCRATCH: Arm("bert", "train.steps=1"),
    },
    pair=True,
    settings=("objective.random=0", "objective.share=0.3"),
    small=Size(
        *(25, "system.width=64", "system.depth=2", "system.hidden=128", "train.rate=3e-3"),
        shapes=2,
        tuning=200,
        examples=[50, 200, 800],
    ),
    full=Size(
        *(90, "system.width=128", "system.depth=2", "system.hidden=512", "train.rate=1e-3"),
        shapes=6,
        tuning=500,
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
        f"right with pre-training, {told(of, BRIEF)} with a fifth of it and {told(of, SCRATCH)} from scratch (50 by "
        "guessing)"
    ),
    otherwise="longer reading by a larger model, after which fewer labelled sentences are enough; so few of them that "
    "nothing can be learnt either way, or so many that words are learnt from them alone; or unlabelled texts that have "
    "nothing to do with the task",
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
