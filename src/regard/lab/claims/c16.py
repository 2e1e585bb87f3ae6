"""C16: next-sentence prediction hurts rather than helps."""

from dataclasses import replace

from regard.checkpoint import Run
from regard.evaluate import evaluate
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.opinions import tuned, unlabelled
from regard.lab.claims.panels import Bars
from regard.lab.claims.trial import Row, Trial

WITH, WITHOUT = "with next sentences", "without"


def measure(trial: Trial) -> list[Row]:
    """Pre-train, then fine-tune on few labelled sentences."""
    body = trial.train(*unlabelled(trial))
    found = evaluate([tuned(trial, body, trial.size["examples"])])
    return [{"hidden": 100 * guessed(body), "accuracy": 100 * found["accuracy"], "loss": found["loss"]}]


def guessed(body: Run) -> float:
    """The share of hidden words that are guessed in true pairs, for both alike."""
    objective = replace(body.recipe.objective, random=0.0)
    return evaluate([replace(body, recipe=replace(body.recipe, objective=objective))])["accuracy"]


def behind(of: Found, name: str) -> float:
    return of(name, WITHOUT) - of(name, WITH)


EXPERIMENT = Experiment(
    id="C16",
    title="Next-sentence prediction",
    claim="Next-sentence prediction hurts rather than helps.",
    method="BERT is pre-trained twice on unlabelled reviews of two sentences. It guesses hidden words, and one of the "
    "two models also says whether the second sentence follows the first, which in half of its pairs it does not. Then "
    "both are fine-tuned on the same few labelled sentences of praise and blame, others for each seed.",
    refuted="the model that was also asked about next sentences is less than 3 of 100 behind after fine-tuning",
    arms={WITH: Arm("bert", "objective.random=0.5"), WITHOUT: Arm("bert", "objective.random=0.0")},
    pair=True,
    settings=("objective.share=0.3",),
    small=Size(
        *(40, "system.width=64", "system.depth=2", "system.hidden=128", "train.steps=2000", "train.rate=3e-3"),
        shapes=2,
        tuning=200,
        examples=200,
    ),
    full=Size(
        *(70, "system.depth=2", "system.hidden=512", "train.steps=2000"),
        shapes=6,
        tuning=500,
        examples=400,  # fewer leave both guessing, more tell both nearly all
    ),
    measure=measure,
    predictions=(
        Prediction(
            "after fine-tuning it tells at least 3 fewer of 100 unseen sentences with next-sentence prediction",
            lambda of: behind(of, "accuracy") >= 3,
        ),
        Prediction(
            "it guesses at least 1 fewer of 100 hidden words of true pairs", lambda of: behind(of, "hidden") >= 1
        ),
    ),
    tells=lambda of: (
        f"after fine-tuning on few sentences {of('accuracy', WITH):.1f} of 100 unseen ones are told right where next "
        f"sentences were asked for and {of('accuracy', WITHOUT):.1f} where they were not (guessing: 50); of hidden "
        f"words {of('hidden', WITH):.1f} and {of('hidden', WITHOUT):.1f} of 100 are guessed"
    ),
    otherwise="more labelled sentences, at which both leave guessing; another task afterwards: one about two "
    "sentences may gain from it; here the second sentence agrees with the first, so that telling true pairs asks for "
    "what the labels ask for",
    panels=(
        Bars(y="accuracy", title="After fine-tuning", label="% of unseen sentences right"),
        Bars(y="hidden", title="Before it", label="% of hidden words guessed"),
    ),
)
