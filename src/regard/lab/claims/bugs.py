"""The zoo of mistakes: one model, one classic mistake at a time, its symptom, and the line of the certificate that
catches it."""

from contextlib import suppress
from dataclasses import replace
from statistics import fmean

from regard.checkpoint import TOKENIZER, Run, load
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.evaluate import evaluate
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Bars, Lines, Named
from regard.lab.claims.trial import Arm, Row, Size, Trial, curve
from regard.lab.mistakes import MISTAKES, OTHER, PADDED, STALE
from regard.verify import LINES, verify

HEALTHY, READER = "healthy", "healthy classifier"
SLOW = ("resumed = uninterrupted", "compiled = eager", "exported = native", "recorded = fast", "packed = unpacked")
CHECKED = [line for line in LINES if line not in SLOW]
WRITER = ("transformer-tiny", "data.train=reverse", "system.norm='post'", "train.rate=4e-3")
CLASSIFIER = (
    *("bert-classifier", "data.train=senses", "data.records=0", "train.rate=3e-3"),
    *("system.pool='mean'", "system.width=64", "system.depth=2", "system.hidden=128"),
)
SEEN = {name: mistake.line for name, mistake in MISTAKES.items() if mistake.line}
CAUGHT, SHOWN, MISSED = "caught by a check", "seen in curve or score alone", "not seen at all"
LOWER, HIGHER, LAST = 10, 0.2, 100  # a symptom: so much less of a score, or more of the loss, over the last steps


def measure(trial: Trial) -> list[Row]:
    """The curve, its end, the score on unseen texts, and the lines that fail."""
    run, (name,) = trial.train(), trial.arms
    run, refused = mixed_up(trial, run) if name == OTHER else (run, [])
    with trial.mistaken():
        scores = evaluate([run], most=trial.size["texts"], decode=Decode(beam=4) if run.takes_source else None)
        certificate = verify(run, only=CHECKED)
    caught = [line.name for line in certificate.lines if line.state == "fails"] + refused
    steps = curve(run)
    end = fmean(row["loss"] for row in steps if row["step"] > steps[-1]["step"] - LAST)
    score = scores["bleu"] if run.takes_source else 100 * scores["accuracy"]
    return [*steps, {"end": end, "score": score, "caught": "; ".join(caught)}]


def mixed_up(trial: Trial, run: Run) -> tuple[Run, list[str]]:
    """The run with the tokenizer of another, and whether such a folder is refused."""
    other = trial.train("data.records=30", "train.steps=1")
    file, refused = run.path / TOKENIZER, ["loading the run"]
    right = file.read_bytes()
    file.write_bytes((other.path / TOKENIZER).read_bytes())
    with suppress(UserError):
        load(run.path)
        refused = []
    file.write_bytes(right)
    return replace(run, tokenizer=other.tokenizer), refused


def lines(of: Found, name: str) -> list[str]:
    """What catches a mistake, or a healthy model, with some seed."""
    rows = [row for row in of.rows if row["arm"] == name and row.get("caught")]
    return [line for row in rows for line in row["caught"].split("; ")]


def found(of: Found, name: str) -> tuple[str, str]:
    """How a mistake is found, and by what: its own line, or the first that fails; else how far off it ends."""
    if caught := lines(of, name):
        return CAUGHT, SEEN[name] if SEEN.get(name) in caught else caught[0]
    healthy = READER if name == PADDED else HEALTHY
    score, loss = of("score", name) - of("score", healthy), of("end", name) / of("end", healthy) - 1
    return SHOWN if score <= -LOWER or loss >= HIGHER else MISSED, f"score {score:+.1f}, loss {loss:+.0%}"


def told(of: Found) -> str:
    groups: dict[str, list[str]] = {CAUGHT: [], SHOWN: [], MISSED: []}
    for name in MISTAKES:
        how, why = found(of, name)
        groups[how].append(f"{name} ({why})")
    parts = (f"{len(each)} {how}: {', '.join(each)}" for how, each in groups.items() if each)
    return f"of {len(MISTAKES)} mistakes {'; '.join(parts)}"


EXPERIMENT = Experiment(
    id="bugs",
    title="The zoo of mistakes",
    claim="A mistake that makes equal things unequal is caught by the certificate; others show in the curve or score.",
    method="A small Transformer learns to write letters backwards (and a classifier to name senses, for the mean over "
    "padding), with one mistake at a time; each answers unseen texts, with beam 4 where it writes, and is checked by "
    "the lines of regard verify, but for the slowest.",
    refuted="a mistake that makes equal things unequal passes the certificate",
    arms={HEALTHY: Arm(*WRITER)}
    | {
        name: Arm(*(CLASSIFIER if name == PADDED else WRITER), *mistake.settings, mistake=name)
        for name, mistake in MISTAKES.items()
    }
    | {READER: Arm(*CLASSIFIER)},
    settings=("train.log_every=10",),
    small=Size(45, "train.steps=400", texts=100),
    full=Size(200, "train.steps=1200", texts=400),
    measure=measure,
    predictions=(
        Prediction(
            "each mistake that makes equal things unequal fails its line of the certificate",
            lambda of: all(line in lines(of, name) for name, line in SEEN.items()),
        ),
        Prediction("no line fails for the healthy models", lambda of: not lines(of, HEALTHY) + lines(of, READER)),
        Prediction(
            f"each mistake that no check catches ends {LOWER} points of the score below the healthy model, or "
            f"{HIGHER:.0%} above it in the loss of the last {LAST} steps",
            lambda of: all(found(of, name)[0] != MISSED for name in MISTAKES),
        ),
    ),
    tells=told,
    otherwise="a lower rate, which needs no warm-up; a task in which order tells little; words in place of letters, "
    "for letters that all have another number, when read and when written, can still be turned round",
    panels=(
        *(
            Lines(x="step", y="loss", title=name, across="steps", label="nats per letter", arms=(HEALTHY, name))
            for name in MISTAKES
            if name not in (STALE, OTHER, PADDED)  # these train as the healthy one does, or another model
        ),
        Named(y="score", title="Unseen letters", label="BLEU", arms=(HEALTHY, *(set(MISTAKES) - {PADDED}))),
        Bars(y="score", title="Unseen sentences", label="% right", arms=(READER, PADDED)),
    ),
)
