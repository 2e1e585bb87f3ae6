"""Ways of looking at long texts: which layer sees what, and what is refused with its reason."""

from pathlib import Path

import pytest
import torch

from regard.attention.blocks import BigBird
from regard.attention.compress import Projected, Strided
from regard.checkpoint import read_recipe, write_json
from regard.config import override
from regard.recipe import read
from regard.systems import SYSTEMS, built
from regard.systems.bert import Bert
from regard.systems.gpt import Gpt
from regard.systems.heads import Asked
from regard.systems.transformer import Transformer
from tests.helpers import refused

SMALL = {"width": 24, "heads": 4, "depth": 5, "hidden": 37, "context": 41}


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("gpt", {"attention": "linformer"}, "mixes all tokens of a text, those that follow too"),
        ("bert", {"attention": "linformer", "position": "alibi"}, "a mix of all tokens stands nowhere"),
        ("bert", {"attention": "bigbrid"}, "system.attention = 'bigbrid' is not known; did you mean 'bigbird'?"),
        ("bert", {"attention": "linformer", "shared": "all"}, "system.shared = 'all' is not known"),
        ("bert", {"attention": "bigbird", "block": 0}, "system.block = 0; it must be at least 1"),
        ("bert", {"projected": 32}, "system.projected = 32 changes nothing: system.attention is 'full'"),
        ("gpt", {"attention": "local", "stride": 2}, "system.stride = 2 changes nothing: system.attention is 'local'"),
        ("gpt", {"experts": 4}, "system.experts = 4 changes nothing: system.feedforward is 'gelu-tanh'"),
        ("gpt", {"farthest": 4}, "system.farthest = 4 changes nothing: system.position is 'learned'"),
        ("bert", {"attention": "bigbird", "random": -1}, "system.random = -1; it must be at least 0"),
        (
            "bert",
            {"attention": "bigbird", "block": 6},
            "'bigbird' sees 8 blocks of 6 tokens, and system.context = 41 is",
        ),
        (
            "gpt",
            {"attention": "bigbird", "block": 6},
            "'bigbird' sees 7 blocks of 6 tokens, and system.context = 41 is",
        ),
        (
            "gpt",
            {"attention": "local", "block": 41},
            "'local' sees a block of 41 tokens, and system.context = 41 is no",
        ),
        ("gpt", {"attention": "dmca", "block": 7, "stride": 42}, "system.stride = 42 tokens are mixed into one"),
        (
            "gpt",
            {"attention": "dmca", "block": 7, "depth": 1},
            "in turn, and system.depth = 1 has none that is compressed",
        ),
        ("bert", {"attention": "linformer", "projected": 42}, "system.projected = 42 mixes of system.context = 41"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, settings: dict, message: str) -> None:
    with refused(message):
        SYSTEMS[kind](**{**SMALL, **settings}).build(31)


BLIND = ("system.attention=bigbird", "system.first=0", "system.near=0", "system.random=0", "system.pool=mean")
ONE_BY_ONE = ("system.attention=dmca", "system.stride=1")
AS_MANY = ("system.attention=linformer", "system.projected=29", "system.context=29")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (BLIND, "sees its own block alone: that is system.attention = 'local'"),
        (ONE_BY_ONE, "system.stride = 1 mixes each token with no other"),
        (AS_MANY, "system.projected = 29 mixes of system.context = 29 tokens: that costs as much as to look at every"),
        ((*AS_MANY, "system.projected=31"), "system.projected = 31 mixes of system.context = 29 tokens"),
    ],
)
def test_a_new_recipe_of_another_way_for_more_is_refused(settings: tuple[str, ...], message: str) -> None:
    with refused(message):
        read("bert", list(settings))
    less = {BLIND: "system.near=1", ONE_BY_ONE: "system.stride=2"}.get(settings, "system.projected=28")
    read("bert", [*settings, less])


@pytest.mark.parametrize("settings", [BLIND, ONE_BY_ONE, AS_MANY])
def test_an_older_run_of_such_a_recipe_is_used(settings: tuple[str, ...], tmp_path: Path) -> None:
    sizes = ["system.width=16", *([] if settings == AS_MANY else ["system.block=8"])]
    tree = override(read("bert").to_dict(), [*settings, *sizes])
    write_json(tmp_path / "config.json", {"format": 1, **tree})
    read_recipe(tmp_path).system.build(31)


def test_memory_compression_takes_local_and_compressed_layers_in_turn() -> None:
    looks = [block.attention.look for block in Gpt(**SMALL, attention="dmca", block=7).build(31).decoder.blocks]
    assert [isinstance(look.compress, Strided) for look in looks] == [False, True, False, True, False]
    assert [look.pattern.blocks is not None for look in looks] == [True, False, True, False, True]


@pytest.mark.parametrize("asked", [Asked("labels", 3), Asked("next")])
@pytest.mark.parametrize("ways", [{"attention": "local"}, {"attention": "bigbird", "first": 0, "near": 0, "random": 0}])
def test_a_first_token_that_sees_its_block_alone_stands_for_no_text(ways: dict, asked: Asked) -> None:
    with refused("the first one cannot stand for a whole text, as system.pool = 'first' has it"):
        Bert(**SMALL, **ways, block=7).build(31, asked)
    Bert(**SMALL, **ways, block=7, pool="mean").build(31, asked)
    Bert(**SMALL, **ways, block=7).build(31, Asked("tags", 3))
    Bert(**SMALL, attention="dmca", block=7).build(31, asked)


def test_nor_does_a_last_one() -> None:
    ways = {"attention": "local", "block": 7}
    with refused("'local' shows each token its own block alone, and the last one stands for a whole text"):
        built(Gpt(**SMALL, **ways), 31, labels=3, head="labels")
    built(Gpt(**SMALL, **ways), 31, labels=3, head="tags")
    built(Gpt(**SMALL, attention="dmca", block=7), 31, labels=3, head="labels")


@pytest.mark.parametrize(("shared", "weights"), [("heads", 10), ("keys-values", 5), ("layers", 1)])
def test_a_linformer_shares_its_projections_as_told(shared: str, weights: int) -> None:
    model = Bert(**SMALL, attention="linformer", projected=7, shared=shared).build(31)
    found = {id(p): p for part in model.modules() if isinstance(part, Projected) for p in part.parameters()}
    assert len(found) == weights
    assert all(weight.shape == (7, 41) for weight in found.values())


def test_a_translator_reads_the_source_so_and_writes_as_ever() -> None:
    model = Transformer(**SMALL, attention="bigbird", block=4).build(31)
    assert all(isinstance(block.attention.look.pattern.blocks, BigBird) for block in model.encoder.blocks)
    for block in model.decoder.blocks:
        assert block.attention.look.pattern.blocks is None and block.cross.look.pattern.blocks is None


def test_a_short_text_is_read_by_the_same_rule() -> None:
    """No switch to full attention: where some blocks are not seen in a long text, short ones lose theirs too."""
    model = Bert(**SMALL, attention="bigbird", block=2, first=0, near=0, random=0).build(31).eval()
    tokens = torch.randint(4, 31, (1, 4))
    changed = tokens.clone()
    changed[0, 3] = (tokens[0, 3] + 1) % 27 + 4
    before, after = model.encoder(tokens, place()), model.encoder(changed, place())
    assert torch.equal(before[:, :2], after[:, :2])


def place():
    from tests.helpers import line

    return line(1, 4)
