"""A run that looks at trees in every command that takes a text: CoNLL-U, or raw text by the parser sealed into it."""

import json
import shutil
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.checkpoint import PARSER, REPORT
from regard.data.corpora.tags import conllu as built_in
from regard.data.parse import GappedParse, Parse
from regard.data.trees import planted
from regard.decode import fill_masks
from regard.evaluate.vectors import word_vectors
from regard.explain import trace, walk
from regard.place import Place
from tests.cli.shell import fine, refused, settings
from tests.cli.shell import regard as regard_
from tests.data.trees import conllu
from tests.helpers import lines_file, same

RAW = "The chicken crosses the road."
WORDS, HEADS = ["The", "chicken", "crosses", "the", "road", "."], [2, 3, 0, 5, 3, 3]
SMALL = ("system.width=32", "system.hidden=32", "system.depth=1", "system.heads=2", "train.device=cpu")
TRAIN = ("train.steps=30", "train.batch_tokens=400", "text.kind=bpe", "text.vocabulary=400")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a parser, the same without one, and sentences with trees."""
    made = tmp_path_factory.mktemp("syntax")
    for name, count in (("train", 300), ("test", 40)):
        (made / f"{name}.conllu").write_text("".join(islice(built_in(name), count)))
    data = (f"data.train={made / 'train.conllu'}", f"data.valid={made / 'test.conllu'}", *SMALL, *TRAIN)
    fine("train", "syntax", "--out", made / "plain", "--quiet", *settings(*data, tiny=False))
    fine("train", "syntax", "--out", made / "parsing", "--quiet", *settings(*data, "data.parser=1", tiny=False))
    conllu(made, [(WORDS, HEADS)], "one.conllu")
    conllu(made, [(["The", "chicken", "___", "the", "[MASK]", "."], HEADS)], "gaps.conllu")
    return made


def test_gaps_of_sentences_with_trees_are_filled(folder: Path) -> None:
    (found,) = fine("fill", folder / "plain", "--trees", folder / "gaps.conllu", "--json").json
    assert found["text"] == "The chicken ___ the [MASK] ." and len(found["gaps"]) == 2
    words = [gap["word"] for gap in found["gaps"]]
    assert found["filled"] == f"The chicken {words[0]} the {words[1]} ."
    run = regard.load(folder / "plain")
    ids, tree = Parse.of(["The", "chicken", "___", "the", "[MASK]", "."], HEADS).encoded(
        run.tokenizer, [run.tokenizer.symbol("<mask>")]
    )
    tokens = torch.tensor([[run.tokenizer.start, *ids.ids, run.tokenizer.end]])
    at = planted(Place.line(tokens), [tree])
    with torch.no_grad():
        chances = run.model.answer(tokens, at)[0, ids.ids.index(run.tokenizer.symbol("<mask>")) + 1].softmax(-1)
    assert found["gaps"][0]["probability"] == pytest.approx(float(chances[4:].max()), rel=1e-4)


def test_another_tree_gives_other_words(folder: Path) -> None:
    run = regard.load(folder / "plain")
    words = ["The", "chicken", "___", "the", "road", "."]
    both = [GappedParse(Parse.of(words, heads), "bpe") for heads in (HEADS, [0, 1, 2, 3, 4, 5])]
    one, other = fill_masks(run.model, run.tokenizer, both, top=1)
    assert one[0][0].probability != pytest.approx(other[0][0].probability, rel=1e-3)


def test_raw_text_is_parsed_where_there_is_a_parser(folder: Path) -> None:
    done = fine("fill", folder / "parsing", "--text", "The chicken ___ the road.", "--json")
    (found,) = done.json
    assert found["filled"] == f"The chicken {found['gaps'][0]['word']} the road."
    lines = fine("fill", folder / "parsing", stdin="The chicken ___ the road.\nThe ___ plays .\n").lines
    assert next(line for line in lines if not line.startswith("  ")) == found["filled"]


@pytest.mark.parametrize(
    "words", [("fill", "--text", "The ___ plays ."), ("embed", "--text", RAW), ("explain", "--text", RAW)]
)
def test_raw_text_without_a_parser_is_refused_with_the_way_out(folder: Path, words: tuple[str, ...]) -> None:
    message = "looks at trees and has no parser to make one of raw text: give --trees FILE.conllu, or train it with"
    refused(words[0], folder / "plain", *words[1:], because=message)


def test_a_word_of_a_tree_has_a_vector(folder: Path) -> None:
    (found,) = fine("embed", folder / "plain", "--trees", folder / "one.conllu", "--words", "--json").json
    assert [word["word"] for word in found["words"]] == WORDS
    assert found["text"] == " ".join(WORDS)
    run = regard.load(folder / "plain")
    one, other = (word_vectors(run, [Parse.of(WORDS, heads)])[0] for heads in (HEADS, [0, 1, 2, 3, 4, 5]))
    same(one[2].vector, torch.tensor(found["words"][2]["vector"]))
    assert not torch.allclose(one[2].vector, other[2].vector)


def test_raw_words_stand_where_they_stand_in_the_text(folder: Path) -> None:
    (found,) = fine("embed", folder / "parsing", "--text", f"  {RAW}", "--words", "--json").json
    assert [(word["word"], word["start"]) for word in found["words"]][:3] == [
        ("The", 2),
        ("chicken", 6),
        ("crosses", 14),
    ]
    assert all(word["vector"] for word in found["words"])
    texts = fine("embed", folder / "parsing", "--text", RAW, "--text", "", "--json").json
    assert any(texts[0]["vector"]) and not any(texts[1]["vector"])
    used = fine("embed", folder / "parsing", "--compare", "road", "--text", RAW, "--text", "The road rests .", "--json")
    assert len(used.json["uses"]) == 2


def test_explain_reads_the_tree(folder: Path) -> None:
    found = fine("explain", folder / "plain", "--trees", folder / "one.conllu").json
    assert found["target"]["text"] == " ".join(WORDS)
    run = regard.load(folder / "plain")
    one, other = (trace(run, text=Parse.of(WORDS, heads), influence=True) for heads in (HEADS, [0, 1, 2, 3, 4, 5]))
    assert one.influence is not None and one.influence.target.shape == (len(one.target.tokens),) * 2
    assert not np.allclose(one.maps[0].weights, other.maps[0].weights)
    parsed = fine("explain", folder / "parsing", "--text", RAW, "--steps", "--word", "road")
    assert "largest difference" in parsed.out
    steps = walk(run, text=Parse.of(WORDS, HEADS), word="road")
    assert steps.placed is not None and steps.difference < 1e-5
    same(steps.weighted.sum(0) + steps.placed, steps.kernel)


def test_a_gap_is_explained_as_a_mask(folder: Path) -> None:
    found = fine("explain", folder / "plain", "--trees", folder / "gaps.conllu").json
    assert [token["piece"] for token in found["target"]["tokens"]].count("<mask>") == 2


def test_a_file_of_several_sentences_is_not_explained(folder: Path) -> None:
    trees = folder / "test.conllu"
    refused("explain", folder / "plain", "--trees", trees, because="has 40 sentences, and one is explained")


def test_evaluate_takes_trees_and_with_a_parser_lines(folder: Path, tmp_path: Path) -> None:
    given = fine("evaluate", folder / "plain", "--data", folder / "test.conllu", "--json").json
    assert given["tokens"] > 40 and 0 < given["loss"] < 10
    raw = lines_file(tmp_path / "raw.txt", [RAW, "The guards play before the show ."])
    refused("evaluate", folder / "plain", "--data", raw, because="has no trees, which objective.trees asks for")
    assert fine("evaluate", folder / "parsing", "--data", raw, "--json").json["tokens"] >= 2


def test_the_certificate_holds(folder: Path) -> None:
    found = fine("verify", folder / "parsing", "--skip", "compiled = eager", "--json").json
    states = {line["name"]: line["state"] for line in found["lines"]}
    assert found["passed"] and states["batch = single"] == states["padding inert"] == "holds"
    assert states["fast = readable attention"] == states["resumed = uninterrupted"] == "holds"
    assert "tokens/" in found["inputs"]


def test_without_its_sentences_there_are_no_trees_to_check_with(folder: Path, tmp_path: Path) -> None:
    run = shutil.copytree(folder / "plain", tmp_path / "run", ignore=shutil.ignore_patterns("tokens"))
    refused("verify", run, because="looks at trees, and without tokens/ there are none to check it with")


def test_the_parser_is_told_of_and_sealed(folder: Path, tmp_path: Path) -> None:
    told = json.loads((folder / "parsing" / REPORT).read_text())["parser"]
    assert told["rounds"] == 1 and 0.5 < told["attached"] <= 1 and told["seconds"] > 0
    run = shutil.copytree(folder / "parsing", tmp_path / "run")
    (run / PARSER).write_bytes((run / PARSER).read_bytes() + b" ")
    refused("fill", run, "--text", "The ___ plays .", because="is not the parser that")
    (run / PARSER).unlink()
    refused("fill", run, "--text", "The ___ plays .", because=f"has no {PARSER}, with which")
    strange = shutil.copytree(folder / "plain", tmp_path / "strange")
    shutil.copy(folder / "parsing" / PARSER, strange / PARSER)
    refused("fill", strange, "--trees", folder / "gaps.conllu", because="is not the parser that")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("objective.trees=false",), "looks at trees and objective 'masked' gives none"),
        (("objective.kind=masked-pairs", "objective.trees=true"), "objective.trees is for single sentences"),
        (("data.train=notes.txt",), "notes.txt has no trees, which objective.trees asks for: give a .conllu file"),
        (("system.kind=gpt", "system.position=syntax"), "system.position = 'syntax' needs trees"),
        (("system.position=shaw", "data.parser=2"), "data.parser = 2: a system that looks at no trees"),
        (("data.parser=-1",), "data.parser = -1; it must be 0 (none) or more"),
    ],
)
def test_what_does_not_go_together_stops_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    lines_file(tmp_path / "notes.txt", [RAW] * 50)
    refused("train", "syntax", "--out", tmp_path / "run", *settings(*given, tiny=False), because=message)
    assert not (tmp_path / "run").exists()


def test_an_objective_that_knows_no_trees_is_refused(tmp_path: Path) -> None:
    """What the preset says of trees has given way by then, and that is said first."""
    done = regard_("train", "syntax", "--out", tmp_path / "run", "--set", "objective.kind=tagging")
    note, error = done.err.splitlines()
    assert "give way" in note and "looks at trees and objective 'tagging' gives none" in error
    assert done.code == 2 and not (tmp_path / "run").exists()


def test_a_tree_is_not_cut(folder: Path) -> None:
    command = ("embed", folder / "plain", "--trees", folder / "one.conllu")
    refused(*command, "--truncate", because="looks at trees, and a tree is not cut: leave out --truncate")
    refused(
        *command, "--max-tokens", "4", because="and 4 are read (--max-tokens); a tree is not cut: a larger --max-tokens"
    )


def test_a_tree_too_long_is_named_by_its_file_and_sentence(folder: Path, tmp_path: Path) -> None:
    trees = conllu(tmp_path, [(WORDS, HEADS), (["road"] * 90, [*range(90)])], "long.conllu")
    because = "long.conllu sentence 2: 'road road road road road road road road…' with its start and end has*"
    command = ("embed", folder / "plain", "--trees", trees, "--to", tmp_path / "v.npy")
    refused(*command, because=because + "a tree is not cut: training with a larger system.context reads all of it")
    assert not (tmp_path / "v.npy").exists()


def test_unknown_words_are_counted_as_the_parser_cuts_them(folder: Path, tmp_path: Path) -> None:
    """Blanks cut this text into three, the parser into four."""
    data = (f"data.train={folder / 'train.conllu'}", "data.parser=1", "text.kind=word", *SMALL)
    fine("train", "syntax", "--out", tmp_path / "run", "--quiet", *settings(*data, "train.steps=2", tiny=False))
    for command in (("embed", "--words"), ("explain",)):
        done = fine(command[0], tmp_path / "run", "--text", "The zebra rests.", *command[1:])
        assert "of 4 tokens are unknown to this run: zebra" in done.err


def test_what_a_command_cannot_use_is_refused(folder: Path, tmp_path: Path) -> None:
    trees = folder / "one.conllu"
    refused("fill", folder / "plain", "--trees", trees, "--text", "a ___", because="leave out --text")
    refused("fill", folder / "plain", "--trees", trees, because="one.conllu sentence 1: 'The chicken*has no gap")
    data = ("data.document=line", "objective.kind=masked", f"data.train={lines_file(tmp_path / 'a.txt', [RAW] * 40)}")
    fine("train", "bert", "--out", tmp_path / "bert", "--quiet", *settings(*data, *SMALL, "train.steps=2", tiny=False))
    (tmp_path / "none.conllu").write_text("# nothing but a comment\n")
    for command in ("fill", "embed", "explain"):
        because = "none.conllu has no sentences: there is nothing to read"
        refused(command, folder / "plain", "--trees", tmp_path / "none.conllu", because=because)
        refused(command, tmp_path / "bert", "--trees", trees, because="looks at no trees: it takes no --trees")


def test_other_positions_read_the_same_words_without_their_trees(folder: Path, tmp_path: Path) -> None:
    """What a comparison needs."""
    data = (f"data.train={folder / 'train.conllu'}", f"data.valid={folder / 'test.conllu'}", *SMALL, *TRAIN)
    options = settings(*data, "train.steps=3", "system.position=sinusoidal", "system.farthest=16", tiny=False)
    fine("train", "syntax", "--out", tmp_path / "line", "--quiet", *options)
    run, other = regard.load(tmp_path / "line"), regard.load(folder / "plain")
    assert not run.model.trees and run.tokenizer.fingerprint == other.tokenizer.fingerprint
