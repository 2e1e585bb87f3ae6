"""RoBERTa and BART put two end symbols between two texts, others one: a run of theirs does as they do."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer as Backend
from tokenizers import processors

from regard.checkpoint import load
from regard.data.prepare import stores
from regard.data.rows import between, laid_out
from regard.evaluate.classification import log_probabilities
from regard.explain import trace
from regard.interop import export_model, import_model
from regard.interop.checking import TEXTS
from regard.recipe import Recipe
from regard.text import Tokenizer
from regard.train import train
from tests.cli.shell import fine
from tests.helpers import refused, same
from tests.interop.cases import CASES

SECONDS = TEXTS[::-1]
CLASSES = {"roberta": "RobertaTokenizer", "bart": "BartTokenizer", "xlm-roberta": "XLMRobertaTokenizer"}
PARTED = {"roberta": 2, "bart": 2, "bert": 1, "distilbert": 1, "big_bird": 1}


def rows(tokenizer: Tokenizer, firsts: Any = TEXTS, seconds: Any = SECONDS) -> list[list[int]]:
    """Pairs as they are laid out; a text that leads with a symbol of its own has it once in a row."""
    lead = len(tokenizer.lead)
    start = tokenizer.lead[0] if lead else tokenizer.start
    each = ([tokenizer.encode(text)[lead:] for text in pair] for pair in zip(firsts, seconds, strict=True))
    return [between(pair, start, tokenizer.end, tokenizer.habits.parted).tolist() for pair in each]


def with_own_class(folder: Path, kind: str) -> Any:
    """The tokenizer in the folder as the family's own class has it, saved in its place."""
    made = getattr(transformers, CLASSES[kind])
    tree = json.loads((folder / "tokenizer.json").read_text())
    merges = [tuple(pair) for pair in tree["model"]["merges"]]
    cutter = made(vocab=tree["model"]["vocab"], merges=merges)
    cutter.save_pretrained(folder)
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("kind", ["roberta", "bart"])
def test_pairs_are_laid_out_as_there(kind: str, tmp_path: Path) -> None:
    """As the family's own class saves its tokenizer, and as vocabulary and merges alone."""
    CASES[kind].write(tmp_path / "there")
    theirs = with_own_class(tmp_path / "there", kind)
    wanted = theirs(list(TEXTS), list(SECONDS))["input_ids"]
    assert import_model(tmp_path / "there", tmp_path / "run", check=True).compared.passed
    run = load(tmp_path / "run")
    assert rows(run.tokenizer) == wanted and run.tokenizer.habits.parted == 2
    tree = json.loads((tmp_path / "there" / "tokenizer.json").read_text())["model"]
    (tmp_path / "there" / "tokenizer.json").unlink()
    (tmp_path / "there" / "vocab.json").write_text(json.dumps(tree["vocab"]))
    (tmp_path / "there" / "merges.txt").write_text("\n".join(" ".join(pair) for pair in tree["merges"]) + "\n")
    assert rows(import_model(tmp_path / "there", tmp_path / "other").tokenizer) == wanted
    export_model(run.path, tmp_path / "out")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    there = again(list(TEXTS), list(SECONDS), return_token_type_ids=True)
    assert there["input_ids"] == wanted and not any(map(any, there["token_type_ids"]))
    assert import_model(tmp_path / "out", tmp_path / "again").tokenizer.habits.parted == 2


@pytest.mark.parametrize("case", PARTED)
def test_a_family_parts_texts_where_the_tokenizer_does_not_say_it(case: str, tmp_path: Path) -> None:
    CASES[case].write(tmp_path / "there")
    assert import_model(tmp_path / "there", tmp_path / "run").tokenizer.habits.parted == PARTED[case]


PROCESSORS = {
    "RoBERTa's": (processors.RobertaProcessing(("</s>", 2), ("<s>", 0)), 2),
    "BERT's": (processors.BertProcessing(("</s>", 2), ("<s>", 0)), 1),
    "one": (("<s> $A </s>", "<s> $A </s> $B </s>"), 1),
    "two": (("<s> $A </s>", "<s> $A </s> </s> $B </s>"), 2),
    "three behind others": (("<s> $A </s>", "<s> $A </s> </s> </s> $B </s>"), 3),
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_what_the_tokenizer_says_holds(name: str, tmp_path: Path) -> None:
    made, parted = PROCESSORS[name]
    CASES["roberta"].write(tmp_path / "there")
    path = tmp_path / "there" / "tokenizer.json"
    backend = Backend.from_file(str(path))
    if isinstance(made, tuple):
        made = processors.TemplateProcessing(single=made[0], pair=made[1], special_tokens=[("<s>", 0), ("</s>", 2)])
    behind = name.endswith("others")
    backend.post_processor = processors.Sequence([processors.ByteLevel(), made]) if behind else made
    backend.save(str(path))
    tokenizer = import_model(tmp_path / "there", tmp_path / "run").tokenizer
    assert tokenizer.habits.parted == parted
    assert rows(tokenizer) == [each.ids for each in backend.encode_batch(list(zip(TEXTS, SECONDS, strict=True)))]


def test_a_processor_that_is_none_ends_in_one_line(tmp_path: Path) -> None:
    CASES["roberta"].write(tmp_path / "there")
    path = tmp_path / "there" / "tokenizer.json"
    tree = json.loads(path.read_text())
    for wrong in ({"type": "TemplateProcessing", "pair": [3]}, {"type": "Sequence", "processors": [7]}):
        path.write_text(json.dumps({**tree, "post_processor": wrong}))
        with refused("tokenizer.json is damaged: its post_processor is none"):
            import_model(tmp_path / "there", tmp_path / "run")


def tuned(tmp_path: Path, case: str, **objective: Any) -> Any:
    """A run of the case, trained a little on pairs of which some are too long."""
    CASES[case].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    lines = [
        (a, b, "same" if a == b else "other") for a in ("a boy", "The road " * 15) for b in ("a boy", "apple " * 11)
    ]
    labelled = objective["kind"] == "classification"
    lines = [line if labelled else line[:2] for line in lines]
    (tmp_path / "pairs.tsv").write_text("".join("\t".join(text.strip() for text in line) + "\n" for line in lines * 6))
    tree = load(tmp_path / "run").recipe.to_dict()
    data = {"train": str(tmp_path / "pairs.tsv"), "too_long": "truncate"}
    tree |= {"data": data, "objective": objective, "train": {"steps": 2, "batch_tokens": 400, "device": "cpu"}}
    return load(train(Recipe.parse(tree, where="pairs"), tmp_path / "tuned", start_from=tmp_path / "run", quiet=True))


@pytest.mark.parametrize(("case", "room"), [("roberta-vectors", 41 - 4), ("distilbert-vectors", 41 - 3)])
def test_a_classifier_of_pairs_counts_the_symbol_more(case: str, room: int, tmp_path: Path) -> None:
    """Truncated pairs fill the context to the last place, in training, in use and in a picture."""
    run = tuned(tmp_path, case, kind="classification", pairs=True)
    *texts, labels = stores(run.path / "tokens" / "train", run.recipe.objective.columns)
    lengths = texts[0].lengths + texts[1].lengths
    assert lengths.max() == room and run.model.limit == 41
    batches = run.recipe.objective.batches([*texts, labels], run.tokenizer, run.model, batch_tokens=400)
    longest = next(iter(batches.in_order()))
    assert longest.tokens.shape[1] == 41 == int(batches.lengths.max())
    one, other = "a boy", "The apple"
    (found,) = fine("classify", run.path, "--text", one, "--second", other, "--json").json
    seen = trace(run, text=one, second=other)
    assert [token.id for token in seen.target.tokens] == rows(run.tokenizer, [one], [other])[0]
    assert dict(zip(run.labels, seen.log_probability, strict=True))[found["label"]] == pytest.approx(
        float(torch.tensor(found["probability"]).log()), abs=1e-4
    )
    log_probabilities(run.model, run.tokenizer, [[7] * 30], seconds=[[8] * (room - 30)])
    with refused("a pair with its start and ends has 42 tokens"):
        log_probabilities(run.model, run.tokenizer, [[7] * 30], seconds=[[8] * (room - 29)])


def test_the_scores_of_a_pair_are_those_of_transformers(tmp_path: Path) -> None:
    model = CASES["roberta-labels"].write(tmp_path / "there")
    theirs = with_own_class(tmp_path / "there", "roberta")
    import_model(tmp_path / "there", tmp_path / "run")
    run = load(tmp_path / "run")
    one, other = ["a boy", "The road"], ["The apple", "it"]
    pairs = zip(*([run.tokenizer.encode(text) for text in texts] for texts in (one, other)), strict=True)
    tokens, at = laid_out(list(pairs), run.tokenizer)
    given = theirs(one, other, return_tensors="pt", padding=True)
    with torch.no_grad():
        same(run.model.answer(tokens, at), model(**given).logits, rtol=0, atol=1e-4)


def test_hidden_words_of_pairs_count_it_too(tmp_path: Path) -> None:
    run = tuned(tmp_path, "roberta-vectors", kind="masked-pairs")
    first, second = stores(run.path / "tokens" / "train", run.recipe.objective.columns)
    assert first.lengths.max() == second.lengths.max() == (41 - 4) // 2
    batches = run.recipe.objective.batches([first, second], run.tokenizer, run.model, batch_tokens=400)
    batch = next(iter(batches.in_order()))
    assert batch.tokens.shape == batch.targets.shape and batch.tokens.shape[1] == 40 == int(batches.lengths.max())
    assert batch.at is not None and batch.at.segment is None
