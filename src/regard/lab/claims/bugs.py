"""The zoo of mistakes: one model, one classic mistake at a time, its symptom, and the line of the certificate that
catches it."""

from dataclasses import replace

from regard.checkpoint import TOKENIZER, Run, load
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.evaluate import evaluate
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Lines, Named
from regard.lab.claims.trial import Arm, Row, Size, Trial, history
from regard.lab.mistakes import MISTAKES
from regard.verify import LINES, verify

HEALTHY, READER = "healthy", "healthy classifier"
OTHER, PADDED, STALE = "another tokenizer", "padding in the mean", "stale cache"
SLOW = ("resumed = uninterrupted", "compiled = eager", "exported = native", "recorded = fast", "packed = unpacked")
CHECKED = [line for line in LINES if line not in SLOW]
POOLED = ("system.pool='mean'", "train.steps=150")
# What a check of equal results can see. The rest are models of their own, and only their symptom tells.
SEEN = {
    "no mask": "past ignores future",
    "inverted mask": "past ignores future",
    "mask off by one": "past ignores future",
    "mean of means": "accumulated = full batch",
    STALE: "cached = full",
    PADDED: "padding inert",
}


def measure(trial: Trial) -> list[Row]:
    """The curve, the score on unseen texts, and the lines that fail."""
    run, (name,) = trial.train(), trial.arms
    refused: list[str] = []
    if name == OTHER:
        run, refused = mixed_up(trial, run)
    with trial.mistaken():
        scores = evaluate([run], most=trial.size["texts"], decode=Decode(beam=4) if run.takes_source else None)
        certificate = verify(run, only=CHECKED)
    caught = [line.name for line in certificate.lines if line.state == "fails"] + refused
    curve = [{"step": event["step"], "loss": event["loss"]} for event in history(run)]
    score = scores["bleu"] if run.takes_source else 100 * scores["accuracy"]
    return [*curve, {"score": score, "lines": len(caught), "caught": "; ".join(caught)}]


def mixed_up(trial: Trial, run: Run) -> tuple[Run, list[str]]:
    """The run with the tokenizer of another, and whether such a folder is refused."""
    other = trial.train("data.records=30", "train.steps=1")
    right = (run.path / TOKENIZER).read_bytes()
    (run.path / TOKENIZER).write_bytes((other.path / TOKENIZER).read_bytes())
    try:
        load(run.path)
    except UserError:
        refused = ["loading the run"]
    else:
        refused = []
    (run.path / TOKENIZER).write_bytes(right)
    return replace(run, tokenizer=other.tokenizer), refused


def arm(name: str) -> Arm:
    """The mistake's own settings on the model that the others have too."""
    if name == PADDED:
        return Arm("bert-classifier", *POOLED, mistake=name)
    return Arm("transformer-tiny", *MISTAKES[name].settings, mistake=name)


def lines(of: Found) -> dict[str, list[str]]:
    """By mistake, or healthy model, what catches it with some seed."""
    found: dict[str, list[str]] = {}
    for row in of.rows:
        if "caught" in row:
            found.setdefault(row["arm"], []).extend(row["caught"].split("; ") if row["lines"] else [])
    return found


def seen(of: Found) -> bool:
    """Whether each mistake that can be seen is caught by its line."""
    return all(line in lines(of)[name] for name, line in SEEN.items())


def told(of: Found) -> str:
    """How many are caught, and by what: the line of its own, or the first that fails."""
    made = {name: caught for name, caught in lines(of).items() if name in MISTAKES}
    by = {name: SEEN[name] if SEEN.get(name) in caught else caught[0] for name, caught in made.items() if caught}
    told = ", ".join(f"{name} ({line})" for name, line in by.items())
    return f"{len(by)} of {len(made)} mistakes are caught: {told}; the others by their symptom alone"


EXPERIMENT = Experiment(
    id="bugs",
    title="The zoo of mistakes",
    claim="A mistake that makes equal things unequal is caught by the certificate; others show in the curve or score.",
    method="A small translator (and a classifier, for the mean over padding) is trained with one mistake at a time; "
    "each translates unseen sentences, beam 4, and is checked by the lines of regard verify, but for the slowest.",
    refuted="a mistake that makes equal things unequal passes the certificate, or the healthy model does not",
    arms={
        HEALTHY: Arm("transformer-tiny"),
        **{name: arm(name) for name in MISTAKES},
        READER: Arm("bert-classifier", *POOLED),
    },
    settings=("train.log_every=10", "system.norm='post'"),
    small=Size(40, "train.steps=400", texts=60),
    full=Size(200, "train.steps=1200", texts=600),
    measure=measure,
    predictions=(
        Prediction("each mistake that makes equal things unequal fails its line of the certificate", seen),
        Prediction(
            "no line fails for the healthy models",
            lambda of: not any(lines(of)[name] for name in (HEALTHY, READER)),
        ),
    ),
    tells=told,
    otherwise="a longer training tells mistakes apart that only slow a model down",
    panels=(
        *(
            Lines(x="step", y="loss", title=name, across="steps", label="nats per word", arms=(HEALTHY, name))
            for name in MISTAKES
            if name not in (STALE, OTHER, PADDED)  # these train as the healthy one does, or another model
        ),
        Named(y="score", title="Unseen texts: BLEU, or accuracy in %", label=""),
    ),
)
