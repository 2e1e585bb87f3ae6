"""C3: one context vector is a bottleneck: without attention, quality falls with the length of a sentence."""

import json
import random
from collections.abc import Sequence

from regard.data.corpora.road import ACTORS, FORMS, THINGS, Event, sentence, split_of
from regard.data.corpora.road_words import PLACE_OF
from regard.data.sources import Record
from regard.evaluate import evaluate
from regard.lab.bootstrap import bleu_of, bleu_statistics
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial, curve

VECTOR, ATTENTION = "one context vector", "attention"
HELD_OUT = 40  # passages of each length


def measure(trial: Trial) -> list[Row]:
    run, examples = trial.train(*passages(trial)), dict[str, list[str]]()
    evaluate([run], keep=examples.__setitem__)
    return [*curve(run), *by_length(examples["source"], examples["hypothesis"], examples["reference"])]


def passages(trial: Trial) -> tuple[str, ...]:
    """Settings that name files of passages: of one sentence to the most, as many of each."""
    most = trial.size["sentences"]
    for split, count in {"train": trial.size["passages"], "valid": HELD_OUT, "test": HELD_OUT}.items():
        chance = random.Random(f"C3 {split}")
        made = [passage(chance, split, length) for _ in range(count) for length in range(1, most + 1)]
        lines = [json.dumps({"source": source, "target": target}) + "\n" for source, target in made]
        (trial.folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    return tuple(f"data.{split}='{trial.folder / split}.jsonl'" for split in ("train", "valid", "test"))


def passage(chance: random.Random, split: str, length: int) -> Record:
    """So many main clauses of `road`, whose pairs of actor and thing belong to a split: without any "it"."""
    pairs = [(actor, thing) for actor in ACTORS for thing in THINGS if split_of(actor, thing) == split]
    events = [
        Event(actor, thing, chance.choice(PLACE_OF[thing].verbs), chance.choice(FORMS), chance.random() < 0.5)
        for actor, thing in chance.sample(pairs, length)
    ]
    return " ".join(sentence(each.english()) for each in events), " ".join(sentence(each.german()) for each in events)


def by_length(sources: Sequence[str], written: Sequence[str], wanted: Sequence[str]) -> list[Row]:
    """BLEU of the passages of each number of sentences, and how many words these have on average."""
    rows, counts = [], [text.count(".") for text in sources]
    for sentences in sorted(set(counts)):
        mine = [i for i, count in enumerate(counts) if count == sentences]
        words = sum(len(sources[i].split()) for i in mine) / len(mine)
        sums = bleu_statistics([written[i] for i in mine], [wanted[i] for i in mine]).sum(0)
        rows.append({"sentences": sentences, "words": words, "bleu": bleu_of(sums)})
    return rows


def ends(of: Found, arm: str) -> tuple[float, float]:
    """BLEU of the shortest passages and of the longest."""
    return of("bleu", arm, sentences=1), of.last("bleu", arm, "sentences")


def fall(of: Found, arm: str) -> float:
    short, long = ends(of, arm)
    return short - long


EXPERIMENT = Experiment(
    id="C3",
    title="One context vector",
    claim="One context vector is a bottleneck: without attention, quality falls with the length of a sentence.",
    method="Two translators with the same cells learn passages of one short sentence to several, as many of each (main "
    "clauses of road). One shows its decoder the encoder's last state at every step; the other, as it was published, "
    "reads the source both ways and shows all states. BLEU of unseen passages, by length.",
    refuted="without attention BLEU falls by less than 20 from one sentence to the most, or with it by half as much",
    arms={VECTOR: Arm("seq2seq", "system.enters=every"), ATTENTION: Arm("seq2seq-attention")},
    settings=("system.cell=gru", "train.warmup=100", "train.log_every=20"),
    small=Size(
        *(45, "system.width=128", "train.steps=700", "train.batch_tokens=400", "train.rate=6e-3"),
        passages=1500,
        sentences=4,
    ),
    full=Size(
        *(75, "system.width=256", "train.steps=800", "train.batch_tokens=8192", "train.rate=3e-3"),
        passages=10_000,
        sentences=6,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "without attention BLEU falls by at least 20 from one sentence to the most, with it by less than half of "
            "that",
            lambda of: fall(of, VECTOR) >= 20 and fall(of, ATTENTION) < fall(of, VECTOR) / 2,
        ),
        Prediction(
            "it is the length: of one sentence alone one vector's BLEU is within 10 of attention's",
            lambda of: ends(of, VECTOR)[0] >= ends(of, ATTENTION)[0] - 10,
        ),
    ),
    tells=lambda of: (
        "BLEU of one sentence and of the longest passages is {:.0f} and {:.0f} with one vector, ".format(
            *ends(of, VECTOR)
        )
        + "{:.0f} and {:.0f} with attention".format(*ends(of, ATTENTION))
    ),
    otherwise="a vector wide enough for the longest passage and training enough to fill it; or passages so short, or "
    "models so little trained, that both are alike; and reading the source both ways, in which the two differ here "
    "beside attention",
    panels=(
        Lines(x="words", y="bleu", title="Unseen passages", across="words in a passage", label="BLEU"),
        Lines(x="step", y="loss", title="Training", across="steps", label="nats per token"),
    ),
)
