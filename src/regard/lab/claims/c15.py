"""C15: tying the unembedding to the embeddings saves parameters; what it does to quality."""

from regard.evaluate import evaluate
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Bars, Lines
from regard.lab.claims.texts import library
from regard.lab.claims.trial import Row, Trial, curve
from regard.systems import parameters

TIED, APART = "one table", "two tables"


def measure(trial: Trial) -> list[Row]:
    run = trial.train(*library(trial, trial.size["characters"]))
    return [*curve(run), {"millions": parameters(run.model) / 1e6, "unseen": evaluate([run])["loss"]}]


EXPERIMENT = Experiment(
    id="C15",
    title="Tying",
    claim="Tying the output layer to the word vectors saves parameters, at no cost in quality.",
    method="One GPT on pieces of words of Python's library, whose output layer is its table of word vectors or a table "
    "of its own, which starts from larger numbers. Same data, same steps; the loss is that of unseen text.",
    refuted="the tied model's loss on unseen text is more than 1 % higher",
    arms={TIED: Arm("gpt", "system.tied=true"), APART: Arm("gpt", "system.tied=false")},
    pair=True,
    settings=("text.kind=bpe", "train.log_every=20"),
    small=Size(
        *(35, "text.vocabulary=2000", "system.depth=2", "system.hidden=256"),
        *("train.steps=500", "train.batch_tokens=1024"),
        characters=1_000_000,
    ),
    full=Size(
        *(70, "text.vocabulary=8000", "system.width=256", "system.depth=6", "system.context=256"),
        *("train.steps=2000", "train.batch_tokens=8192"),
        characters=8_000_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "the tied model's loss on unseen text is at most 1 % higher",
            lambda of: of("unseen", TIED) <= 1.01 * of("unseen", APART),
        ),
        Prediction(
            "it has at least a fifth fewer parameters",
            lambda of: of("millions", TIED) <= 0.8 * of("millions", APART),
        ),
    ),
    tells=lambda of: (
        f"with one table {of('millions', TIED):.2f} million parameters in place of {of('millions', APART):.2f}, and a "
        f"loss on unseen text of {of('unseen', TIED):.3f} nats per token in place of {of('unseen', APART):.3f} "
        f"({of('unseen', TIED) / of('unseen', APART) - 1:+.1%})"
        f"; in the last steps of training {of.last('loss', TIED, 'step'):.3f} in place of "
        f"{of.last('loss', APART, 'step'):.3f}"
    ),
    otherwise="the saving is vocabulary times width, so it shrinks beside a deep model; with more text and steps a "
    "second table may learn what one cannot hold; and more text too where two tables are ahead in training only, which "
    "is learning by heart",
    panels=(
        Bars(y="millions", title="Size", label="million parameters"),
        Lines(x="step", y="loss", title="Training", across="steps", label="nats per token"),
        Bars(y="unseen", title="Unseen text", label="nats per token"),
    ),
)
