"""C19: the translation table: the Transformer passes every single model at the lowest cost."""

from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars
from regard.lab.claims.tables import rows
from regard.lab.claims.trial import Row, Trial

TRANSFORMER = "transformer-tiny"
CONVOLUTIONAL, RECURRENT = ("bytenet", "convs2s"), ("gnmt", "moe-lstm")
OTHERS = ("bytenet", "gnmt", "convs2s", "moe-lstm")
ORDER = " < ".join(OTHERS)


def measure(trial: Trial) -> list[Row]:
    """`regard compare` of all, with one budget and the settings of the presets."""
    return [
        {**row, "bleu": scores["bleu"], "pronouns": 100 * scores["pronoun_accuracy"]}
        for row, scores in rows(trial, trial.arms)
    ]


def in_order(of: Found) -> list[str]:
    """From the lowest BLEU to the highest."""
    return sorted((TRANSFORMER, *OTHERS), key=lambda arm: of("bleu", arm))


def families_apart(of: Found) -> bool:
    """Whether both models of one family stand below both of the other, or as low."""
    bleu = {arm: of("bleu", arm) for arm in OTHERS}
    return any(
        max(bleu[arm] for arm in low) <= min(bleu[arm] for arm in high)
        for low, high in ((CONVOLUTIONAL, RECURRENT), (RECURRENT, CONVOLUTIONAL))
    )


EXPERIMENT = Experiment(
    id="C19",
    title="The translation table",
    claim="The Transformer passes every single model at the lowest cost; the rows below it are not ordered by family.",
    method="`regard compare`: five translators learn the road sentences, at full size passages of them, from the same "
    "number of tokens, 400 a step; data, text and objective are alike, all else is as in their presets. BLEU is that "
    "of unseen ones; cost is counted in "
    "operations of the whole training.",
    refuted="another model has a BLEU as high, or a higher one",
    arms={name: Arm(name) for name in (*OTHERS, TRANSFORMER)},
    settings=("train.batch_tokens=400",),
    small=Size(120, tokens=120_000, jobs=2),
    full=Size(600, "data.train=road-long", tokens=300_000, jobs=15),
    together=True,
    timed=("seconds",),
    measure=measure,
    predictions=(
        Prediction(
            "the Transformer has the highest BLEU of the five",
            lambda of: of("bleu", TRANSFORMER) > max(of("bleu", arm) for arm in OTHERS),
        ),
        Prediction(
            "its training takes the fewest operations",
            lambda of: of("teraflops", TRANSFORMER) == min(of("teraflops", arm) for arm in (TRANSFORMER, *OTHERS)),
        ),
        Prediction(
            "below it, neither both convolutional models come before both recurrent ones nor the other way round",
            lambda of: not families_apart(of),
        ),
    ),
    tells=lambda of: (
        "BLEU "
        + ", ".join(f"{of('bleu', arm):.1f} for {arm} ({of('teraflops', arm):.1f} TFLOP)" for arm in in_order(of))
        + f"; the lectures have {ORDER} < Transformer"
    ),
    otherwise="another budget: who learns fast need not be who learns most (after a million tokens, at rates of their "
    "own, the Transformer and ConvS2S both have 99.9 BLEU on such passages); and the sizes and the data of the papers, "
    "for here models are small and sentences are of a small grammar, which can be learnt to the end",
    panels=(
        Bars(y="bleu", title="Unseen sentences", label="BLEU"),
        Bars(y="pronouns", title="'it' resolved", label="% of pronouns"),
        Bars(y="teraflops", title="Cost of training", label="10¹² operations"),
    ),
)
