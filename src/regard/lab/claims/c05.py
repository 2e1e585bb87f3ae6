"""C5: sinusoids hardly extrapolate past the trained length, learned positions cannot at all; what relative ones do."""

import regard
from regard.checkpoint import Run
from regard.errors import UserError
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Lines, Named
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Arm, Row, Size, Trial

NONE, SINUSOIDS, LEARNED = "none", "sinusoidal", "learned"
ROTARY, ALIBI, BUCKETS, SHAW = "rotary", "ALiBi", "T5 buckets", "Shaw"
SCHEMES = {
    NONE: "none",
    SINUSOIDS: "sinusoidal",
    LEARNED: "learned",
    ROTARY: "rotary",
    ALIBI: "alibi",
    BUCKETS: "buckets",
    SHAW: "shaw",
}
RELATIVE = (ROTARY, ALIBI, BUCKETS, SHAW)
TIMES = (1, 2, 4)  # the trained length
REFUSAL = "weights for each of"  # so many places; whatever else is refused is a mistake of this experiment


def measure(trial: Trial) -> list[Row]:
    """What the second half of a window costs: in longer windows it stands where no text of the training reached."""
    run = trial.train(*library(trial, trial.size["characters"]))
    rows: list[Row] = []
    for times in TIMES:
        longer = reader(run, times * run.model.context)
        loss = {"loss": second_half(longer, trial.size["read"])} if longer else {}
        rows.append({"times": times, "reads": int(bool(loss)), **loss})
    return rows + [
        {"lost": row["loss"] - rows[0]["loss"]} for row in rows if row["times"] == TIMES[-1] and row["reads"]
    ]


def reader(run: Run, length: int) -> Run | None:
    """The run, ready for texts of that length; None where its positions are not that many."""
    if run.model.limit is None or length <= run.model.limit:
        return run
    try:
        return regard.load(run.path, str(run.model.device), context=length)
    except UserError as error:
        if REFUSAL not in str(error):
            raise
        return None


def second_half(run: Run, characters: int) -> float:
    """Nats per character in the second halves of windows; each begins in the middle of the one before it."""
    half = run.model.context // 2
    rows = windows(run, characters).flatten().unfold(0, 2 * half, half)
    return float(nats(run, rows)[:, -half:].mean())


def lost(of: Found, arm: str, times: int) -> float:
    """Nats by which so many times the trained length is worse than that length."""
    return of("loss", arm, times=times) - of("loss", arm, times=1)


def refused(of: Found, arm: str) -> bool:
    return not any(of("reads", arm, times=times) for times in TIMES[1:])


EXPERIMENT = Experiment(
    id="C5",
    title="Past the trained length",
    claim="Past the trained length sinusoids hardly work, learned positions not at all, relative ones better.",
    method="One GPT with each position scheme learns the characters of Python's library in windows of one length. Then "
    "it reads unseen text in windows once, twice and four times as long, and the second half of each is counted.",
    refuted="sinusoids read longer windows as well as those of the training, or learned positions read them at all",
    arms={name: Arm("gpt", f"system.position='{position}'") for name, position in SCHEMES.items()},
    pair=True,
    small=Size(
        *(16, "system.width=64", "system.depth=2", "system.context=32", "train.steps=800", "train.batch_tokens=512"),
        characters=500_000,
        read=25_000,
    ),
    full=Size(
        *(21, "system.width=256", "system.heads=8", "system.depth=3", "system.context=128"),
        *("train.steps=1000", "train.batch_tokens=8192", "train.rate=1e-3"),
        characters=3_000_000,
        read=150_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "sinusoids lose at least 0.1 nats at twice the trained length, and learned positions refuse it",
            lambda of: lost(of, SINUSOIDS, 2) >= 0.1 and refused(of, LEARNED),
        ),
        Prediction(
            "every relative scheme loses less than sinusoids at four times the trained length",
            lambda of: all(lost(of, arm, 4) < lost(of, SINUSOIDS, 4) for arm in RELATIVE),
        ),
        Prediction(
            "no relative scheme loses more than 0.1 nats there",
            lambda of: all(lost(of, arm, 4) <= 0.1 for arm in RELATIVE),
        ),
    ),
    tells=lambda of: (
        f"at twice and four times the trained length sinusoids lose {lost(of, SINUSOIDS, 2):+.2f} and "
        f"{lost(of, SINUSOIDS, 4):+.2f} nats, learned positions {'refuse' if refused(of, LEARNED) else 'read on'}, and "
        f"at four times the relative ones lose "
        + ", ".join(f"{lost(of, arm, 4):+.2f} ({arm})" for arm in RELATIVE)
        + f"; no positions at all lose {lost(of, NONE, 4):+.2f}"
    ),
    otherwise="training on windows of many lengths, or a scheme stretched to the longer text (system.rotary_factor); "
    "learned positions have no vector for a place that they never saw, T5 has buckets for far distances, but "
    "training fills them rarely or never, and rotary turns by angles never met, which may cost more than no positions",
    panels=(
        Lines(
            x="times",
            y="loss",
            title="Second half of each window",
            across="times the trained length",
            label="nats per character",
            log="x",
        ),
        Named(y="lost", title="Lost at four times the length", label="nats per character"),
        Named(y="reads", title="What is read at all", label="share of the lengths"),
    ),
)
