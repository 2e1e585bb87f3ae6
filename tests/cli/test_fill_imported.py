"""`regard fill` with models of others: a T5 by its sentinels, however many it has, a BART by writing the whole text."""

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, BartForConditionalGeneration

import regard
from regard.checkpoint import Run
from regard.cli.filling import sentinels
from regard.text.gaps import Gapped
from tests.cli.shell import fine, refused
from tests.helpers import lines_file
from tests.interop.cases import CASES
from tests.interop.folders import changed

TYPED = "The chicken <extra_id_0> the road <extra_id_1> it was too tired."
HIDDEN = "The chicken <mask> the road because it <mask> too tired."


def imported(case: str, folder: Path, **settings: int) -> Run:
    CASES[case].write(folder / "there")
    changed(folder / "there", "config.json", **settings)
    fine("import", folder / "there", "--out", folder / "run")
    return regard.load(folder / "run")


def test_sentinels_that_are_typed_are_gaps(tmp_path: Path) -> None:
    """They are read as `transformers` reads them, and all marks of a gap say the same."""
    run = imported("t5", tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path / "there")
    cut = Gapped.numbered(TYPED, run.recipe.text.kind)
    assert [*cut.tokens(run.tokenizer, [[each] for each in sentinels(run)[:2]]), 1] == theirs(TYPED)["input_ids"]
    texts = [TYPED, TYPED.replace("<extra_id_0>", "___"), TYPED.replace("<extra_id_1>", "<mask>")]
    found = fine("fill", run.path, *(word for text in texts for word in ("--text", text)), "--json").json
    assert [each["text"] for each in found] == texts
    assert found[0]["filled"] == found[1]["filled"] == found[2]["filled"]
    assert all(len(each["gaps"]) == 2 for each in found)


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("The <extra_id_1> road", "<extra_id_1> stands for gap 1 of", "write <extra_id_0> there"),
        ("<extra_id_0> <extra_id_0>", "<extra_id_0> stands for gap 2 of", "write <extra_id_1> there"),
        ("The ___ road <extra_id_0>", "<extra_id_0> stands for gap 2 of", "write <extra_id_1> there"),
        ("The <extra_id_00> road", "<extra_id_00> stands for gap 1 of", "write <extra_id_0> there"),
    ],
)
def test_sentinels_stand_in_their_order(text: str, wrong: str, right: str, tmp_path: Path) -> None:
    run = imported("t5", tmp_path)
    refused("fill", run.path, "--text", text, because=f"{wrong} {text!r}; {right}")


def test_few_sentinels_are_enough_for_few_gaps(tmp_path: Path) -> None:
    run = imported("t5", tmp_path, extra_ids=3)
    assert len(sentinels(run)) == 3
    (found,) = fine("fill", run.path, "--text", "___ chicken ___ the road ___", "--json").json
    assert len(found["gaps"]) == 3
    refused("fill", run.path, "--text", "___ a ___ b ___ c ___", because="4 gaps*this run tells no more than 3 apart")


def test_training_on_says_which_sentinels_are_missing(tmp_path: Path) -> None:
    run = imported("t5", tmp_path, extra_ids=3)
    data = f"data.train={lines_file(tmp_path / 'texts.txt', ['A boy is eating an apple.'] * 30)}"
    asked = ("train", "t5", "--from", run.path, "--out", tmp_path / "tuned", "--quiet", "--set", "train.steps=1")
    because = "has no <extra_id_3> and 12 more, which the objective needs; --set objective.sentinels=3 asks for fewer"
    refused(*asked, "--set", data, because=because)
    fine(*asked, "--set", data, "--set", "objective.sentinels=3")


def test_a_translator_without_sentinels_and_mask_fills_nothing(tmp_path: Path) -> None:
    run = imported("t5", tmp_path, extra_ids=0)
    because = "was not trained to fill gaps: its vocabulary has no <extra_id_0> (T5) and no mask (BART)"
    refused("fill", run.path, "--text", "The ___ road", because=because)
    refused("fill", run.path, "--text", "The <extra_id_0> road", because=because)


def test_a_bart_writes_the_whole_text_as_it_does_there(tmp_path: Path) -> None:
    run = imported("bart", tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path / "there")
    given = [0, *theirs(HIDDEN.replace(" <mask>", "<mask>"), add_special_tokens=False)["input_ids"], 2]
    cut = Gapped.cut(HIDDEN, run.recipe.text.kind)
    assert [*cut.masked(run.tokenizer)[0], 2] == given and given.count(4) == 2
    model = BartForConditionalGeneration.from_pretrained(tmp_path / "there").eval()
    row = model.generate(torch.tensor([given]), num_beams=1, do_sample=False, max_new_tokens=run.model.limit)
    wanted = theirs.decode(row[0], skip_special_tokens=True).strip()
    (found,) = fine("fill", run.path, "--text", HIDDEN, "--json").json
    assert wanted and found["text"] == HIDDEN and found["filled"] == wanted and found["log_probability"] < 0
    assert fine("fill", run.path, "--text", HIDDEN).lines == [" ".join(wanted.splitlines())]
    refused("fill", run.path, "--text", HIDDEN, "--top", "2", because="--top is for a masked language model")
