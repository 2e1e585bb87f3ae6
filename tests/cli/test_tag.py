"""`regard train`, `evaluate` and `tag` with tagged words: from a user's file to tags of a raw text."""

import random
from pathlib import Path

import pytest

from regard.checkpoint import load
from regard.cli import reading
from regard.cli.explaining import texts_for
from regard.data.conllu import tagged
from regard.explain import trace
from regard.explain.account import account
from tests.cli.conftest import Place
from tests.cli.shell import fine, quoted, refused, settings
from tests.helpers import lines_file

LEARNING = ("system.width=24", "train.device=cpu", "train.steps=120", "train.batch_tokens=400", "train.rate=0.01")
WHO, WHAT = ["dogs", "cats", "cooks"], ["fish", "plants", "ships"]
TEXT = "The cooks fish, don't they?"
TAGGED = "The/DET cooks/NOUN fish/VERB ,/PUNCT do/AUX n't/PART they/PRON ?/PUNCT"


def sentence(chance: random.Random) -> list[tuple[str, str, str]]:
    """Words with UPOS and XPOS; what may be a verb or a noun is a noun after "the"."""
    rows = [("The", "DET", "DT"), (chance.choice(WHO + WHAT), "NOUN", "NNS"), (chance.choice(WHAT), "VERB", "VBP")]
    if chance.random() < 0.5:
        rows += [("the", "DET", "DT"), (chance.choice(WHO + WHAT), "NOUN", "NNS")]
    if chance.random() < 0.5:
        asks = [(",", "PUNCT", ","), ("do", "AUX", "VBP"), ("n't", "PART", "RB"), ("they", "PRON", "PRP")]
        return [*rows, *asks, ("?", "PUNCT", ".")]
    return [*rows, (".", "PUNCT", ".")]


def sentences(seed: int, count: int) -> list[list[tuple[str, str, str]]]:
    chance = random.Random(seed)
    return [sentence(chance) for _ in range(count)]


def conllu(path: Path, rows: list[list[tuple[str, str, str]]]) -> str:
    lines = []
    for row in rows:
        lines += [f"{i}\t{word}\t_\t{upos}\t{xpos}\t_\t_\t_\t_\t_" for i, (word, upos, xpos) in enumerate(row, 1)]
        lines.append("")
    return lines_file(path, lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recurrent tagger of subwords trained on CoNLL-U, a window tagger of words on parallel lines with XPOS tags."""
    made = tmp_path_factory.mktemp("treebank")
    rows = sentences(0, 300)
    train = conllu(made / "train.conllu", rows)
    conllu(made / "test.conllu", sentences(1, 40))
    words = lines_file(made / "a.words", [" ".join(word for word, _, _ in row) for row in rows])
    tags = lines_file(made / "a.tags", [" ".join(xpos for _, _, xpos in row) for row in rows])
    options = settings(f"data.train={train}", "text.vocabulary=0", *LEARNING, tiny=False)
    fine("train", "bilstm-tagger", "--out", made / "rnn", "--quiet", *options)
    lines = [f"{name} = {value}" for name, value in (("kind", '"window-encoder"'), ("windows", "[3]"))]
    recipe = lines_file(
        made / "window.toml",
        ["[text]", 'kind = "word"', "[system]", *lines, "[objective]", 'kind = "tagging"', "[train]", "threads = 1"],
    )
    options = settings(f"data.train={quoted(words, tags)}", *LEARNING, tiny=False)
    fine("train", recipe, "--out", made / "window", "--quiet", *options)
    options = settings(f"data.train={train}", "data.tags=xpos", "train.steps=3", *LEARNING[:2], tiny=False)
    fine("train", "bilstm-tagger", "--out", made / "xpos", "--quiet", *options, "--set", "text.vocabulary=0")
    return made


def test_every_line_in_gives_one_line_out(folder: Path) -> None:
    done = fine("tag", folder / "rnn", stdin=f"{TEXT}\n\n The fish fish.\n")
    assert done.lines == [TAGGED, "", "The/DET fish/NOUN fish/VERB ./PUNCT"]
    assert done.err == ""


def test_words_may_be_separated_already(folder: Path) -> None:
    done = fine("tag", folder / "window", "--words", "--text", "The ships  plants ,\tdo n't they ?")
    assert done.out == "The/DT ships/NNS plants/VBP ,/, do/VBP n't/RB they/PRP ?/.\n"
    told = fine("tag", folder / "window", "--words", "--text", "The ships don't.").err
    assert "1 of 3 words are unknown to this run: don't." in told


def test_json_has_places_in_the_raw_text_and_every_probability(folder: Path) -> None:
    for options in ((), ("--words",)):
        text = f"  {TEXT}"
        (found,) = fine("tag", folder / "rnn", *options, "--text", text, "--json").json
        assert found.keys() == {"text", "words"} and found["text"] == text
        for each in found["words"]:
            assert each.keys() == {"word", "tag", "probability", "begin", "end", "probabilities"}
            assert text[each["begin"] : each["end"]] == each["word"]
            assert sum(each["probabilities"].values()) == pytest.approx(1, abs=1e-5)
            assert each["probability"] == each["probabilities"][each["tag"]] == max(each["probabilities"].values())
        assert "".join(each["word"] for each in found["words"]) == "".join(text.split())
    assert fine("tag", folder / "rnn", "--json").json == []


def test_conllu_out_can_be_read_in_again(folder: Path) -> None:
    done = fine("tag", folder / "rnn", "--conllu", stdin=f"{TEXT}\n\nThe dogs ship the cats .\n")
    records = list(tagged(enumerate(done.lines, 1), "out", "upos"))
    words, tags = zip(*(each.split("/") for each in TAGGED.split()), strict=True)
    assert records[0] == (" ".join(words), " ".join(tags)) and len(records) == 2
    rows = [line.split("\t") for line in done.lines if "\t" in line]
    assert [row[1] for row in rows if row[-1] == "SpaceAfter=No"] == ["fish", "do", "they"]
    assert f"# text = {TEXT}" in done.lines
    refused("tag", folder / "rnn", "--conllu", "--json", because="two forms of the same")


def test_tags_of_the_xpos_column_come_out_there(folder: Path) -> None:
    rows = [line.split("\t") for line in fine("tag", folder / "xpos", "--conllu", "--text", "The dogs").lines[1:3]]
    assert [row[1] for row in rows] == ["The", "dogs"] and [row[3] for row in rows] == ["_", "_"]
    assert {row[4] for row in rows} <= {",", ".", "DT", "NNS", "PRP", "RB", "VBP"}


def test_many_lines_come_in_groups_and_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sentences(2, 50)
    texts = "".join(" ".join(word for word, _, _ in row) + "\n" for row in rows)
    whole = fine("tag", folder / "rnn", "--words", stdin=texts).lines
    monkeypatch.setattr(reading, "AT_ONCE", 7)
    assert fine("tag", folder / "rnn", "--words", stdin=texts).lines == whole
    assert whole == [" ".join(f"{word}/{upos}" for word, upos, _ in row) for row in rows]


def test_a_run_has_the_scores_of_its_task(folder: Path) -> None:
    found = fine("evaluate", folder / "rnn", "--data", folder / "test.conllu", "--json").json
    assert {"accuracy", "f1", "baseline", "confusion", "loss", "words", "sentences", "unknown"} <= found.keys()
    assert found["sentences"] == 40 and found["accuracy"] > 0.97
    assert (
        found["words"]
        == sum(map(len, sentences(1, 40)))
        == sum(sum(row.values()) for row in found["confusion"].values())
    )
    assert found["new_words"] == 0 and "new_word_accuracy" not in found and "span_f1" not in found


def test_the_accuracy_is_that_of_the_printed_tags_and_mistakes_are_shown(folder: Path) -> None:
    rows = [[(word, "X" if word == "." else upos, xpos) for word, upos, xpos in row] for row in sentences(3, 30)]
    rows.append([("The", "DET", "DT"), ("zebras", "NOUN", "NNS"), ("fish", "VERB", "VBP")])
    path = conllu(folder / "noisy.conllu", rows)
    texts = "".join(" ".join(word for word, _, _ in row) + "\n" for row in rows)
    printed = [each.rsplit("/", 1)[1] for each in fine("tag", folder / "rnn", "--words", stdin=texts).out.split()]
    wanted = [upos for row in rows for _, upos, _ in row]
    found = fine("evaluate", folder / "rnn", "--data", path, "--json").json
    assert found["accuracy"] == sum(map(str.__eq__, printed, wanted)) / len(wanted) < 1
    assert found["new_words"] == 1 and found["new_word_accuracy"] in (0.0, 1.0)
    done = fine("evaluate", folder / "rnn", "--data", path)
    stops = sum(word == "." for row in rows for word, _, _ in row)
    assert f"{stops} of {len(wanted)} words have a tag that the run does not know (X): never right" in done.err
    assert "X taken for PUNCT" in done.out and "confusion" not in done.out


def test_spans_are_scored_where_tags_mark_them(folder: Path) -> None:
    rows = ["Anna sleeps\tB-PER O", "Anna Bell sees Rome\tB-PER I-PER O B-LOC", "Rome is far\tB-LOC O O"] * 30
    data = lines_file(folder / "names.tsv", rows)
    options = settings(f"data.train={data}", "text.vocabulary=0", *LEARNING, tiny=False)
    fine("train", "bilstm-tagger", "--out", folder / "names", "--quiet", *options)
    found = fine("evaluate", folder / "names", "--json").json
    assert found["span_precision"] == found["span_recall"] == found["span_f1"] == 1.0 and found["spans"] > 0


def test_several_are_averaged(folder: Path) -> None:
    options = settings(
        f"data.train={folder / 'train.conllu'}", "text.vocabulary=0", *LEARNING, "train.steps=9", "seed=1", tiny=False
    )
    fine("train", "bilstm-tagger", "--out", folder / "second", "--quiet", *options)
    one, two, both = (
        fine("tag", *runs, "--text", "fish", "--json").json[0]["words"][0]["probabilities"]["NOUN"]
        for runs in ([folder / "rnn"], [folder / "second"], [folder / "rnn", folder / "second"])
    )
    assert both == pytest.approx((one + two) / 2, abs=1e-5) and abs(one - two) > 1e-3


def test_a_tagger_does_nothing_else(folder: Path) -> None:
    for command in ("generate", "translate", "score"):
        because = "tags the words of texts and writes none; use 'regard tag'"
        refused(command, folder / "rnn", because=because, stdin="a\tb\n")
    refused("classify", folder / "rnn", because="tags the words of texts; use 'regard tag'")
    refused("explain", folder / "rnn", "--source", "a", because="tags the words of texts: give it --text")
    refused("evaluate", folder / "rnn", "--stride", "3", because="a text is read whole")
    refused("evaluate", folder / "rnn", "--beam", "3", because="is a tagger: it is not decoded")
    data = settings(f"data.train={folder / 'train.conllu'}", "text.vocabulary=0", tiny=False)
    refused("bench", "decode", "--systems", "bilstm-tagger", *data, because="tags the words of texts and writes none")


@pytest.mark.parametrize("name", ["rnn", "window"])
def test_the_account_of_a_text_tells_of_the_words_that_are_tagged(folder: Path, name: str) -> None:
    """Not of symbols, blanks and the other tokens of a word, which have no tag."""
    run, text = load(folder / name), f"{TEXT} Plantships fish ."
    (said,) = fine("tag", folder / name, "--text", text, "--json").json
    told = {each.heading: each.rows for each in account(trace(run, **texts_for(run, text, None, None, None)))}
    assert [(row["word"], row["tag"]) for row in told["Tags"]] == [
        (each["word"], each["tag"]) for each in said["words"]
    ]
    chances = [each["probability"] for each in said["words"]]
    assert [row["probability"] for row in told["Tags"]] == pytest.approx(chances, abs=6e-4)
    outputs = told["Influence: what each output depends on, in shares"]
    assert [row["output"] for row in outputs] == [each["word"] for each in said["words"]]


def test_what_is_explained_is_what_was_tagged(folder: Path) -> None:
    """The tokens of a tagger that reads whole words are its words, between a start and an end symbol."""
    found = fine("explain", folder / "window", "--text", TEXT, "--json").json
    printed = fine("tag", folder / "window", "--text", TEXT).out.split()
    shown = zip([token["label"] for token in found["target"]["tokens"]], found["tags"], strict=True)
    assert [f"{word}/{tag}" for word, tag in shown][1:-1] == printed


def test_what_does_not_tag_says_what_it_does(place: Place, folder: Path) -> None:
    refused("tag", place.model, because="is a language model and knows no tags; use 'regard generate'")
    refused("tag", place.translator, because="translates and knows no tags; use 'regard translate'")
    data = lines_file(folder / "labels.tsv", ["a b\tyes", "b a\tno"] * 30)
    options = settings(f"data.train={data}", "text.kind=word", *LEARNING, "train.steps=2", tiny=False)
    fine("train", "rnn-classifier", "--out", folder / "labels", "--quiet", *options)
    refused("tag", folder / "labels", because="classifies texts; use 'regard classify'")


def test_data_that_does_not_fit_is_named(folder: Path) -> None:
    def train(*data: str, because: str) -> None:
        options = settings(*data, "text.vocabulary=0", tiny=False)
        refused("train", "bilstm-tagger", "--quiet", "--out", folder / "x", *options, because=because)

    uneven = lines_file(folder / "uneven.tsv", ["a b\tX Y", "a b\tX"] * 20)
    train(f"data.train={uneven}", because=f"{uneven} line 2 has 2 word(s) and 1 tag(s)")
    alike = lines_file(folder / "alike.tsv", ["a b\tX X"] * 40)
    train(f"data.train={alike}", because="every word has the tag 'X'; there is nothing to tell apart")
    train("data.train=road", because="needed: words and tags")
    other = lines_file(folder / "other.tsv", ["words\ttags", "The dogs\tQ R"])
    refused(
        "evaluate", folder / "rnn", "--data", other, because="the run knows none of its tags (Q, R), but AUX, DET, NOUN"
    )
    assert not (folder / "x").exists()
