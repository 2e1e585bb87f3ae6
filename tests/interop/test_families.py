"""What holds for every family: imported it says the same as there, and exported again the same once more."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from regard.checkpoint import Run, load
from regard.config import override
from regard.decode import generate
from regard.decode.settings import Decode
from regard.interop import export_model, import_model
from regard.interop.families import FAMILIES
from regard.place import Place
from regard.systems import parameters
from tests.helpers import refused, same
from tests.interop.cases import CASES
from tests.interop.tiny import tiny

NEAR = {"rtol": 0, "atol": 1e-4}
LENGTHS = (17, 5, 11)
WRITERS = [
    name for name, case in CASES.items() if re.search("LMHead|ForCausalLM|ForConditionalGeneration|MTModel", case.kind)
]
that_write = pytest.mark.parametrize("both", WRITERS, indirect=True, scope="module")


@dataclass(frozen=True)
class Both:
    """A model of theirs and the run it became."""

    theirs: nn.Module
    folder: Path
    run: Run


@pytest.fixture(scope="module", params=CASES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("family")
    theirs = CASES[request.param].write(folder / "there")
    found = import_model(folder / "there", folder / "run")
    assert {*found.about["left_out"]} == {*CASES[request.param].left_out}
    return Both(theirs, folder, load(folder / "run"))


def drawn(run: Run, seed: int = 3) -> tuple[Tensor, Tensor]:
    """Rows of tokens of different lengths, and where there is no padding, whose number no other token has."""
    chance, pad = torch.Generator().manual_seed(seed), run.tokenizer.pad
    tokens = torch.randint(len(run.tokenizer), (len(LENGTHS), max(LENGTHS)), generator=chance)
    present = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return tokens.masked_fill(tokens == pad, pad + 1).masked_fill(~present, pad), present


def mine(run: Run, tokens: Tensor, present: Tensor | None, sources: tuple[Tensor, Tensor | None]) -> Tensor:
    if run.model.reads_source:
        return run.model.decode(tokens, run.model.encode(*sources))
    return run.model.decode(tokens) if run.model.writes_text else run.model.answer(tokens, Place.line(tokens, present))


def wanted(theirs: Any, run: Run, tokens: Tensor, present: Tensor | None, sources: tuple[Tensor, Tensor | None]):
    if run.model.reads_source:
        source, seen = sources
        mask = seen.long() if seen is not None else None
        return theirs(input_ids=source, attention_mask=mask, decoder_input_ids=tokens).logits
    said = theirs(tokens, attention_mask=present.long() if present is not None else None)
    return next(said[key] for key in ("logits", "prediction_logits", "last_hidden_state") if key in said)


def everywhere(run: Run, present: Tensor) -> Tensor:
    """Where there are scores to compare: at tokens that are no padding, or of all texts."""
    whole = not run.model.writes_text and run.model.answers == "labels"
    return torch.ones(len(present), dtype=torch.bool) if whole else present


@torch.no_grad()
def test_scores_are_the_same_alone_in_a_batch_and_padded(both: Both) -> None:
    run, (tokens, present), (source, seen) = both.run, drawn(both.run), drawn(both.run, seed=4)
    alone = tokens[:1], None, (source[:1], None)
    same(mine(run, *alone), wanted(both.theirs, run, *alone), **NEAR)
    padded = tokens, present, (source, seen)
    there = everywhere(run, present)
    same(mine(run, *padded)[there], wanted(both.theirs, run, *padded)[there], **NEAR)


@that_write
@torch.no_grad()
def test_scores_are_the_same_token_by_token(both: Both) -> None:
    run = both.run
    (tokens, _), (source, seen) = drawn(run), drawn(run, seed=4)
    memory = run.model.encode(source, seen) if run.model.reads_source else None
    cache = run.model.start(len(tokens), tokens.shape[1])
    steps = [run.model.decode(tokens[:, i : i + 1], memory, cache) for i in range(tokens.shape[1])]
    same(torch.cat(steps, 1), wanted(both.theirs, run, tokens, None, (source, seen)), **NEAR)


@that_write
@pytest.mark.parametrize("beam", [1, 4])
def test_the_same_texts_are_written(both: Both, beam: int, request: pytest.FixtureRequest) -> None:
    """Greedily and by a beam, from prompts or sources of different lengths."""
    run = both.run
    tokens, present = drawn(run)
    rows = [row[there].tolist() for row, there in zip(tokens, present, strict=True)]
    settings = Decode(max_tokens=13, beam=beam, length_penalty="average" if beam > 1 else "none")
    given = {"sources": rows} if run.model.reads_source else {"prompts": rows}
    got = [found[0].tokens for found in generate(run.model, run.tokenizer, settings, **given)]
    case = CASES[request.node.callspec.params["both"]]
    assert got == [there(both, row, beam, case.beam) for row in rows]


def there(both: Both, row: list[int], beam: int, more: dict[str, Any]) -> list[int]:
    symbols, reads = both.run.tokenizer, both.run.model.reads_source
    begun = symbols.begun([]) if reads else symbols.begun(row)
    given = {"input_ids": torch.tensor([[*row, symbols.end] if reads else begun])}
    if reads:
        given["decoder_input_ids"] = torch.tensor([begun])
    how = {"num_beams": beam, "do_sample": False, "max_new_tokens": 13, "early_stopping": True, **more}
    how |= {"eos_token_id": symbols.end, "pad_token_id": symbols.pad}
    mask = torch.ones_like(given["input_ids"])
    found = both.theirs.generate(**given, attention_mask=mask, **how)[0].tolist()[len(begun) :]
    return found[: found.index(symbols.end)] if symbols.end in found else found


@torch.no_grad()
def test_exported_it_is_read_there_without_a_word(both: Both, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every tensor has its place, nothing is new, and what was tied is one tensor again."""
    run = both.run
    if getattr(run.recipe.system, "attention", "full") == "bigbird":
        with refused("system.attention = 'bigbird' cannot be said there"):
            export_model(run.path, tmp_path / "out")
        return
    found = export_model(run.path, tmp_path / "out")
    assert found.compared.passed
    kind = getattr(transformers, transformers.AutoConfig.from_pretrained(tmp_path / "out").architectures[0])
    assert kind is type(both.theirs)
    transformers.utils.logging.enable_propagation()
    again, info = kind.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not any(info.values()), info
    assert not caplog.records
    assert parameters(again) == parameters(both.theirs)
    (tokens, present), sources = drawn(run), drawn(run, seed=4)
    given, there = (run, tokens, present, sources), everywhere(run, present)
    same(wanted(again.eval(), *given)[there], wanted(both.theirs, *given)[there], rtol=0, atol=1e-5)
    once_more = import_model(tmp_path / "out", tmp_path / "run")
    assert once_more.recipe.system == run.recipe.system
    for name, tensor in run.model.state_dict().items():
        assert torch.equal(once_more.model.state_dict()[name], tensor), name


def test_every_family_has_a_case() -> None:
    assert set(FAMILIES) <= set(CASES)


def test_what_writes_is_compared_as_what_writes(both: Both, request: pytest.FixtureRequest) -> None:
    assert both.run.model.writes_text == (request.node.callspec.params["both"] in WRITERS)


UNSAID: list[tuple[str, dict[str, Any], str, str]] = [
    ("transformer", {}, "--set system.norm=post", "marian"),
    ("transformer", {"norm": "post", "position": "learned", "tied": "none"}, "--set system.position=sinusoidal", "mar"),
    ("gpt", {"position": "rotary", "normalizer": "rms", "bias": False}, "--set system.feedforward=swiglu", "llama"),
    ("gpt", {"feedforward": "relu", "position": "alibi"}, "--set system.position=learned", "gpt2"),
    ("gpt", {"attention": "local", "block": 8}, "--set system.attention=full --set system.block=64", "gpt2"),
    ("bert", {"feedforward": "swiglu"}, "--set system.feedforward=gelu", "bert"),
    ("t5", {"score": "scaled-dot"}, "--set system.score=dot", "t5"),
]


@pytest.mark.parametrize(("kind", "settings", "way", "family"), UNSAID, ids=[way[2] for way in UNSAID])
def test_a_refusal_ends_with_the_fewest_settings_that_can_be_exported(
    kind: str, settings: dict[str, Any], way: str, family: str, tmp_path: Path
) -> None:
    """And a run with these settings is exported."""
    tiny(tmp_path / "run", kind, **settings)
    with refused(f"a run that is trained with {way}") as found:
        export_model(tmp_path / "run", tmp_path / "out")
    told = str(found.value)
    assert re.search(rf" can be exported, as {family}\w*$", told)
    asked = [each.strip() for each in told.partition("is trained with ")[2].partition(" can be")[0].split("--set ")[1:]]
    given = {key.removeprefix("system."): value for key, value in override({}, asked)["system"].items()}
    tiny(tmp_path / "other", kind, **{**settings, **given})
    assert export_model(tmp_path / "other", tmp_path / "out").compared.passed


def test_a_reason_of_several_families_is_told_once(tmp_path: Path) -> None:
    tiny(tmp_path / "run", "bert", position="alibi")
    reason = "system.position = 'alibi' cannot be said there, only 'learned'"
    with refused(f"bert, roberta, xlm-roberta, distilbert, big_bird: {reason}; a run") as found:
        export_model(tmp_path / "run", tmp_path / "out")
    assert str(found.value).count("alibi") == 1
