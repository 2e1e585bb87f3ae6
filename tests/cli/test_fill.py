"""`regard fill`: words for gaps by a masked language model, whole spans by one that writes."""

import math
from pathlib import Path

import pytest
import torch

import regard
from regard.cli import reading
from regard.cli.filling import show
from regard.place import Place
from tests.cli.conftest import Place as User
from tests.cli.shell import fine, refused, settings
from tests.helpers import lines_file

SAYS = {"cat": "meow", "dog": "woof", "cow": "moo"}
LINES = [f"{who} {animal} says {sound} ." for who in ("the", "one") for animal, sound in SAYS.items()]
COMMON = (
    *("data.document=line", "text.kind=word", "system.width=32", "system.hidden=32", "system.depth=1"),
    *("system.heads=2", "system.dropout=0", "train.device=cpu", "train.batch_tokens=400", "train.rate=0.01"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model of words, another of pieces, and one that writes spans."""
    made = tmp_path_factory.mktemp("gaps")
    path = lines_file(made / "says.txt", LINES * 30)
    lines = (f"data.train={path}", f"data.valid={path}")
    kinds = {
        "words": ("text.kind=word", "system.kind=bert", "objective.kind=masked", "objective.share=0.3"),
        "pieces": ("text.kind=bpe", "system.kind=bert", "objective.kind=masked", "objective.share=0.3"),
        "spans": ("system.kind=t5", "objective.kind=spans", "objective.share=0.3", "objective.mean=1.5"),
    }
    for name, own in kinds.items():
        learning = ("train.steps=400", "train.rate=0.003") if name == "spans" else ("train.steps=200",)
        options = settings(*lines, *COMMON, *own, *learning, tiny=False)
        fine("train", "t5" if name == "spans" else "bert", "--out", made / name, "--quiet", *options)
    return made


@pytest.fixture(params=["words", "pieces"])
def masked(folder: Path, request: pytest.FixtureRequest) -> Path:
    return folder / request.param


def test_the_text_is_completed_and_the_words_stand_below(masked: Path) -> None:
    done = fine("fill", masked, "--text", "the cat says ___ .", "--top", "2")
    text, words = done.lines
    assert text == "the cat says meow ."
    assert words.startswith("  meow 0.") and len(words.split()) == 4
    assert done.err == ""


def test_blanks_and_line_breaks_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the likeliest words are no words, each text is still one line, and each gap another."""
    words = [{"word": word, "token": word, "probability": 0.25} for word in ("\n", "\t", "  ", "cat")]
    show([{"text": "a ___", "filled": "a\nb", "gaps": [{"candidates": words}]}])
    assert capsys.readouterr().out == "a b\n  ⏎ 0.2500   ⇥ 0.2500   ␣␣ 0.2500   cat 0.2500\n"


def test_every_mark_is_a_gap(masked: Path) -> None:
    texts = [f"the cow {mark} moo ." for mark in ("<mask>", "[MASK]", "___", "_____")]
    found = fine("fill", masked, *(word for text in texts for word in ("--text", text)), "--json").json
    assert [each["filled"] for each in found] == ["the cow says moo ."] * 4
    assert [each["text"] for each in found] == texts


def test_each_gap_has_its_candidates(masked: Path) -> None:
    (found,) = fine("fill", masked, "--text", "<mask> dog says <mask> .", "--json").json
    assert found.keys() == {"text", "filled", "gaps"} and len(found["gaps"]) == 2
    for gap in found["gaps"]:
        chances = [each["probability"] for each in gap["candidates"]]
        assert len(chances) == 5 and chances == sorted(chances, reverse=True) and sum(chances) <= 1 + 1e-6
        assert gap["word"] == gap["candidates"][0]["word"] and gap["probability"] == chances[0]
    assert {each["word"] for each in found["gaps"][0]["candidates"][:2]} == {"the", "one"}
    assert found["gaps"][1]["word"] == "woof"
    assert found["filled"] == f"{found['gaps'][0]['word']} dog says woof ."


def test_the_probabilities_are_those_of_the_model(folder: Path) -> None:
    run = regard.load(folder / "words")
    tokenizer = run.tokenizer
    row = [tokenizer.start, *tokenizer.encode("the cat says"), tokenizer.symbol("<mask>"), tokenizer.end]
    tokens = torch.tensor([row])
    wanted = run.model.answer(tokens, Place.line(tokens))[0, -2].softmax(-1).detach()
    (found,) = fine("fill", folder / "words", "--text", "the cat says <mask>", "--json").json
    for each in found["gaps"][0]["candidates"]:
        assert each["probability"] == pytest.approx(float(wanted[tokenizer.encode(each["word"])[0]]), abs=1e-5)


def test_no_symbol_is_a_word(folder: Path) -> None:
    size = len(regard.load(folder / "words").tokenizer)
    (found,) = fine("fill", folder / "words", "--text", "the ___ says", "--top", "1000", "--json").json
    words = {each["word"] for each in found["gaps"][0]["candidates"]}
    assert len(words) == size - 5 and not words & {"<pad>", "<unk>", "<s>", "</s>", "<mask>"}


def test_lines_of_any_length_come_out_in_order(masked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"the {animal} says ___ ." for animal in SAYS] + ["___ cat", "the ___ says moo"]
    done = fine("fill", masked, "--top", "1", stdin="".join(line + "\n" for line in lines))
    filled = [line for line in done.lines if not line.startswith("  ")]
    assert filled[:3] == [f"the {animal} says {sound} ." for animal, sound in SAYS.items()]
    assert filled[3].endswith(" cat") and filled[4] == "the cow says moo" and len(done.lines) == 10
    monkeypatch.setattr(reading, "AT_ONCE", 3)
    assert fine("fill", masked, "--top", "1", stdin="".join(line + "\n" for line in lines)).lines == done.lines


def test_what_was_given_stays_as_it_was(folder: Path) -> None:
    done = fine("fill", folder / "words", "--text", "the  zebra says ___", "--json")
    assert done.json[0]["filled"].startswith("the  zebra says ")
    assert "1 of 3 tokens are unknown to this run: zebra" in done.err


def test_spans_are_written(folder: Path) -> None:
    done = fine("fill", folder / "spans", "--text", "the cat says ___ .", "--text", "the ___ moo .")
    assert done.lines == ["the cat says meow .", "the cow says moo ."]


def test_spans_are_not_translated(folder: Path) -> None:
    because = "writes what was cut out of texts; use 'regard fill'"
    refused("translate", folder / "spans", "--text", "the cat", because=because)
    refused("generate", folder / "spans", "--prompt", "the cat", because=because)


@pytest.mark.parametrize("option", [("--beam", "3"), ("--lowercase",), ("--tokenize", "char")])
def test_what_would_not_change_the_score_of_spans_is_refused(folder: Path, option: tuple[str, ...]) -> None:
    because = "restores spans: that is measured without any search, and BLEU is for translators"
    refused("evaluate", folder / "spans", *option, because=because)


def test_spans_have_their_log_probability(folder: Path) -> None:
    (found,) = fine("fill", folder / "spans", "--text", "the dog ___ woof ___", "--json").json
    assert found["filled"] == "the dog says woof ."
    assert [gap["text"] for gap in found["gaps"]] == ["says", "."]
    run = regard.load(folder / "spans")
    one, two = (run.tokenizer.symbol(f"<extra_id_{i}>") for i in range(2))
    words = {word: run.tokenizer.encode(word)[0] for word in ["the", "dog", "says", "woof", "."]}
    source = [words["the"], words["dog"], one, words["woof"], two, run.tokenizer.end]
    target = [run.tokenizer.start, one, words["says"], two, words["."], run.tokenizer.end]
    memory = run.model.encode(torch.tensor([source]))
    values = run.model.decode(torch.tensor([target[:-1]]), memory)[0].log_softmax(-1).detach()
    each = [float(values[i, token]) for i, token in enumerate(target[1:])]
    assert found["gaps"][0]["log_probability"] == pytest.approx(sum(each[1:3]), abs=1e-4)
    assert found["gaps"][1]["log_probability"] == pytest.approx(sum(each[3:]), abs=1e-4)


def test_a_gap_that_is_passed_over_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.decode import fill
    from regard.decode.hypothesis import Hypothesis

    def silent(model, tokenizer, settings, *, sources, on_done):
        return [[Hypothesis([], [-0.5], -0.5, "end")] for _ in sources]

    monkeypatch.setattr(fill, "generate", silent)
    done = fine("fill", folder / "spans", "--text", "the ___ cat", "--json")
    assert done.json[0]["filled"] == "the cat" and done.json[0]["gaps"] == [{"text": "", "log_probability": None}]
    assert "for 1 of 1 gaps the model wrote nothing" in done.err


def test_mistakes_are_named(folder: Path, place: User) -> None:
    words = folder / "words"
    refused("fill", words, "--text", "the cat", because="--text 'the cat' has no gap: mark what is missing with <mask>")
    refused("fill", words, "--text", " ", because="--text ' ' is empty")
    refused("fill", words, stdin="the ___\nthe cat\n", because="standard input*'the cat' has no gap")
    refused("fill", words, "--text", "___", "--top", "0", because="--top 0: give at least 1")
    refused("fill", words, "--text", f"___{' cat' * 64}", because="has 67 tokens and the context holds 64")
    refused("fill", folder / "spans", "--text", "___", "--top", "3", because="--top is for a masked language model")
    many = " the ".join(["___"] * 17)
    refused("fill", folder / "spans", "--text", many, because="17 gaps, and this run tells no more than 16 apart")
    for run in (place.model, place.translator):
        refused("fill", run, "--text", "the ___", because="was not trained to fill gaps: that takes objective 'masked'")


def test_a_sure_model_says_so(folder: Path) -> None:
    (found,) = fine("fill", folder / "spans", "--text", "the cat says ___ .", "--json").json
    assert math.exp(found["gaps"][0]["log_probability"]) > 0.5


def test_a_gap_is_explained_as_the_symbol_that_stands_for_it(folder: Path) -> None:
    def labels(side: dict) -> list[str]:
        return [token["label"] for token in side["tokens"]]

    seen = fine("explain", folder / "words", "--text", "the cat ___ meow .", "--json").json
    assert labels(seen["target"]) == ["<s>", "the", "cat", "<mask>", "meow", ".", "</s>"]
    seen = fine("explain", folder / "spans", "--source", "the cat says ___ .", "--json").json
    assert labels(seen["source"]) == ["the", "cat", "says", "<extra_id_0>", ".", "</s>"]
    filled = fine("fill", folder / "spans", "--text", "the cat says ___ .", "--json").json[0]["gaps"][0]["text"]
    assert labels(seen["target"]) == ["<s>", "<extra_id_0>", *filled.split()]
    refused("explain", folder / "spans", "--source", "the cat", because="mark a gap of the source")
