"""Position schemes against their formulas, and what each of them must be when it is nothing (B7)."""

import math
from dataclasses import replace

import pytest
import torch

from regard.attention.attend import attend
from regard.attention.positions import Added, AddedToHeads, Concatenated, Learned, Position, Rotary, Sinusoid, Split
from regard.attention.relative import Alibi, Buckets
from regard.attention.schemes import BIAS, PLACES, POSITIONS, Each, Site, position
from regard.attention.structure import Syntax
from regard.systems.gpt import Gpt
from regard.systems.transformer import Transformer
from tests.helpers import line, place, refused, same

SITE = Site(width=24, heads=4, head_width=11, limit=7, std=0.5)
SMALL = {"width": 24, "heads": 4, "depth": 2, "hidden": 37, "context": 41, "dropout": 0.0}


def copied(model: torch.nn.Module, other: torch.nn.Module) -> None:
    """Give `model` every weight that both have."""
    theirs = dict(other.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in theirs:
                parameter.copy_(theirs[name])


@pytest.mark.parametrize("width", [2, 6, 7, 13])
def test_sinusoids_equal_the_formula_element_by_element(width: int) -> None:
    """Even columns sin, odd columns cos, of index / 10000^(2i/d) with i from 0 (001 starts at 1: a slip)."""
    index = torch.tensor([[0, 1, 2, 17], [5, 3, 100, 1]])
    got = Sinusoid(width)(index)
    assert got.shape == (2, 4, width)
    for row in range(2):
        for t in range(4):
            for column in range(width):
                angle = int(index[row, t]) / 10_000 ** (2 * (column // 2) / width)
                expected = math.cos(angle) if column % 2 else math.sin(angle)
                assert float(got[row, t, column]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("width", [4, 6, 7, 13])
def test_split_sinusoids_equal_the_formula_element_by_element(width: int, first: int) -> None:
    """Sines, then cosines, of (index + first) / 10000^(i/(half - 1)); an odd last column is 0."""
    index, half = torch.tensor([[0, 1, 2, 17], [5, 3, 100, 1]]), width // 2
    got = 0.5 * Split(width, size=2.0, first=first)(index)
    assert got.shape == (2, 4, width)
    for row in range(2):
        for t in range(4):
            for column in range(width):
                angle = (int(index[row, t]) + first) / 10_000 ** ((column % half) / (half - 1))
                wave = math.sin(angle) if column < half else math.cos(angle)
                expected = wave if column < 2 * half else 0.0
                assert float(got[row, t, column]) == pytest.approx(expected, abs=1e-5)


def test_sinusoids_in_two_halves_need_room_for_them() -> None:
    with refused("at least 4"):
        Split(3)


def test_learned_rows_are_looked_up_by_index_and_end_at_their_limit() -> None:
    table = Learned(5, 7, std=1.0)
    assert table.limit == 7
    index = torch.tensor([[6, 0, 3]])
    assert torch.equal(table(index)[0], table.rows.weight[[6, 0, 3]])
    with pytest.raises(IndexError):
        table(torch.tensor([[7]]))


def test_a_learned_table_has_the_scale_that_was_asked_for() -> None:
    for std in (0.02, 1.0):
        assert float(Learned(101, 103, std).rows.weight.std().detach()) == pytest.approx(std, rel=0.05)


def test_a_table_is_added_at_the_input() -> None:
    x, at, table = torch.randn(2, 5, 7), place([[0, 1, 2, 3, 4], [2, 2, 9, 0, 1]]), Sinusoid(7)
    same(Added(table).on_input(x, at), x + table(at.index))


def test_a_table_is_added_to_queries_keys_and_values() -> None:
    query, key, value = torch.randn(2, 3, 5, 7), torch.randn(2, 3, 4, 7), torch.randn(2, 3, 4, 7)
    q, k, table = line(2, 5), place([[3, 1, 2, 0], [9, 8, 7, 6]]), Sinusoid(7)
    got = AddedToHeads(table).on_heads(query, key, value, q, k)
    for head in range(3):
        same(got[0][:, head], query[:, head] + table(q.index))
        same(got[1][:, head], key[:, head] + table(k.index))
        same(got[2][:, head], value[:, head] + table(k.index))


def test_a_table_is_concatenated_to_the_word_vector() -> None:
    x, at, table = torch.randn(2, 5, 7), line(2, 5), Sinusoid(3)
    got = Concatenated(table, takes=3).on_input(x, at)
    assert got.shape == (2, 5, 10)
    same(got[..., :7], x)
    same(got[..., 7:], table(at.index))


def test_rotary_turns_each_pair_by_an_angle_that_grows_with_the_index() -> None:
    x, at = torch.randn(2, 3, 4, 6), place([[0, 1, 2, 30], [7, 5, 3, 1]])
    got = Rotary(6).turn(x, at)
    for row in range(2):
        for t in range(4):
            for pair in range(3):
                angle = int(at.index[row, t]) * 10_000 ** (-2 * pair / 6)
                turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
                for head in range(3):
                    same(got[row, head, t, 2 * pair : 2 * pair + 2], turn @ x[row, head, t, 2 * pair : 2 * pair + 2])


def test_rotary_scores_depend_on_differences_of_indices_alone() -> None:
    rotary, query, key = Rotary(10), torch.randn(1, 3, 5, 10), torch.randn(1, 3, 7, 10)

    def scores(shift: int) -> torch.Tensor:
        q, k = place([[shift + i for i in (4, 0, 9, 2, 2)]]), place([[shift + i for i in range(7)]])
        return attend(rotary.turn(query, q), rotary.turn(key, k), key).scores

    same(scores(0), scores(31))
    assert not torch.allclose(scores(0), attend(query, key, key).scores)


def test_rotary_at_index_zero_is_the_identity_and_values_never_turn() -> None:
    query, key, value = (torch.randn(2, 3, 5, 10) for _ in range(3))
    zero = place([[0] * 5] * 2)
    for got, given in zip(Rotary(10).on_heads(query, key, value, zero, zero), (query, key, value), strict=True):
        assert torch.equal(got, given)
    assert Rotary(10).on_heads(query, key, value, line(2, 5), line(2, 5))[2] is value


def test_rotary_keeps_lengths() -> None:
    x = torch.randn(2, 3, 5, 10)
    same(Rotary(10).turn(x, line(2, 5)).norm(dim=-1), x.norm(dim=-1))


def test_rotary_refuses_an_odd_head() -> None:
    with refused("a head of width 7 has an odd one"):
        Rotary(7)


def slow_bucket(offset: int, buckets: int, reach: int, ahead: bool) -> int:
    """Half of the buckets count distances, the others grow with the logarithm up to `reach` (section 2.1)."""
    if ahead:
        return slow_bucket(-abs(offset), buckets // 2, reach, False) + (buckets // 2 if offset > 0 else 0)
    distance, single = max(-offset, 0), buckets // 2
    if distance < single:
        return distance
    grown = (buckets - single) * math.log(distance / single) / math.log(reach / single)
    return min(buckets - 1, single + math.floor(grown + 1e-9))


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (13, 11), (10, 200)])
def test_the_bias_of_a_pair_is_that_of_its_bucket_in_each_head(ahead: bool, buckets: int, reach: int) -> None:
    """Near and far, before and after, each row with places of its own, and more keys than queries."""
    scheme = Buckets(3, ahead=ahead, std=1.0, buckets=buckets, reach=reach).requires_grad_(False)
    assert scheme.reach == reach
    q = place([[0, 9, 500], [7, 300, 20]])
    k = place([[0, 1, 5, 8, 9, 10, 13, 21, 140, 700], [30, 7, 6, 4, 15, 19, 84, 148, 301, 0]])
    got = scheme.on_scores(torch.zeros(2, 3, 3, 5), q, k)
    assert got.shape == (2, 3, 3, 10)
    for row in range(2):
        for i in range(3):
            for j in range(10):
                found = slow_bucket(int(k.index[row, j] - q.index[row, i]), buckets, reach, ahead)
                assert torch.equal(got[row, :, i, j], scheme.rows.weight[found])


def test_rows_that_are_counted_alike_share_one_bias() -> None:
    scheme, query = Buckets(3, ahead=True, std=1.0), torch.zeros(2, 3, 5, 7)
    alike, apart = line(2, 5), place([list(range(5))] * 2)
    got = [scheme.on_scores(query, q, k) for q in (alike, apart) for k in (alike, apart)]
    assert [len(bias) for bias in got] == [1, 2, 2, 2]
    for bias in got[1:]:
        assert torch.equal(bias, got[0].expand(2, -1, -1, -1))


def test_the_bias_is_of_the_kind_of_the_scores_and_its_sum_of_gradients_is_not() -> None:
    """Thousands of gradients meet in one bucket: in half precision most of them would be lost."""
    scheme, at = Buckets(3, ahead=True, std=1.0), line(1, 521)
    bias = scheme.on_scores(torch.zeros(1, 3, 521, 7, dtype=torch.bfloat16), at, at)
    assert bias.dtype == torch.bfloat16
    bias.sum().backward()
    assert scheme.rows.weight.grad.sum() == 3 * 521 * 521


def test_one_table_serves_all_blocks_of_a_stack_and_a_decoder_has_all_buckets_for_its_past() -> None:
    model = Transformer(**SMALL, position="buckets").build(31)
    for stack, ahead in ((model.encoder, True), (model.decoder, False)):
        scheme = stack.embedding.position
        assert all(block.attention.position is scheme for block in stack.blocks)
        expected = [slow_bucket(offset, 32, 128, ahead) for offset in range(-128, 129)]
        assert scheme.numbers.tolist() == expected
    assert model.encoder.embedding.position is not model.decoder.embedding.position
    assert all(type(block.cross.position) is Position for block in model.decoder.blocks)
    alone = Gpt(**SMALL, position="buckets").build(31).decoder.embedding.position
    assert torch.equal(alone.numbers, model.decoder.embedding.position.numbers)


def test_empty_buckets_are_no_scheme() -> None:
    tokens = torch.randint(0, 31, (3, 13))
    plain, buckets = (Gpt(**SMALL, position=kind).build(31).eval() for kind in ("none", "buckets"))
    copied(buckets, plain)
    assert not torch.allclose(buckets.decode(tokens), plain.decode(tokens)), "the buckets are not seen at all"
    torch.nn.init.zeros_(buckets.decoder.embedding.position.rows.weight)
    same(buckets.decode(tokens), plain.decode(tokens))


@pytest.mark.parametrize("where", ["input", "heads"])
def test_a_zero_table_is_no_scheme(where: str) -> None:
    tokens = torch.randint(0, 31, (3, 13))
    plain, learned = (
        Gpt(**SMALL, position="none").build(31).eval(),
        Gpt(**SMALL, position="learned", position_at=where).build(31).eval(),
    )
    copied(learned, plain)
    assert not torch.allclose(learned.decode(tokens), plain.decode(tokens)), "the table is not seen at all"
    torch.nn.init.zeros_(learned.decoder.embedding.position.table.rows.weight)
    same(learned.decode(tokens), plain.decode(tokens))


def test_rotary_that_does_not_turn_is_no_scheme() -> None:
    tokens = torch.randint(0, 31, (3, 13))
    plain, rotary = (Gpt(**SMALL, position=kind).build(31).eval() for kind in ("none", "rotary"))
    copied(rotary, plain)
    assert not torch.allclose(rotary.decode(tokens), plain.decode(tokens))
    rotary.decoder.embedding.position.rate.zero_()
    same(rotary.decode(tokens), plain.decode(tokens))


def test_without_positions_permuting_the_input_permutes_the_output() -> None:
    """003 says "position-invariant"; the outputs are not the same, they move along (C4)."""
    order = torch.randperm(13)
    source = torch.randint(0, 31, (3, 13))
    plain = Transformer(**SMALL, position="none").build(31).eval()
    before, after = plain.encode(source).vectors, plain.encode(source[:, order]).vectors
    same(after, before[:, order])
    assert not torch.allclose(after, before), "invariant would be another thing"
    for kind in ("sinusoidal", "learned", "rotary", "buckets", "alibi", "shaw"):
        model = Transformer(**SMALL, position=kind).build(31).eval()
        before, after = model.encode(source).vectors, model.encode(source[:, order]).vectors
        assert not torch.allclose(after, before[:, order], atol=1e-3), f"{kind} does not see order"


def test_the_base_class_changes_nothing() -> None:
    x, at, heads = torch.randn(2, 5, 7), line(2, 5), [torch.randn(2, 3, 5, 7) for _ in range(3)]
    nothing = Position()
    assert nothing.on_input(x, at) is x
    assert all(a is b for a, b in zip(nothing.on_heads(*heads, at, at), heads, strict=True))
    assert nothing.on_scores(heads[0], at, at) is None


@pytest.mark.parametrize("kind", POSITIONS)
@pytest.mark.parametrize("where", PLACES)
def test_a_configuration_names_a_scheme_or_is_refused(kind: str, where: str) -> None:
    site = replace(SITE, head_width=10)
    schemes = {"none": Position, "rotary": Rotary, "buckets": Buckets, "alibi": Alibi, "shaw": Each, "syntax": Syntax}
    if kind in schemes and where != "input":
        with refused(f"position '{kind}' has no table to put at '{where}'; leave position_at out"):
            position(kind, where, site)
        return
    made = position(kind, where, site)
    expected = schemes.get(kind, {"input": Added, "heads": AddedToHeads, "concatenated": Concatenated}[where])
    assert type(made) is expected
    assert made.limit == (7 if kind == "learned" else None)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_a_table_is_as_wide_as_what_it_enters(kind: str) -> None:
    index = torch.tensor([[0, 1, 6]])
    for where, columns in (("input", 24), ("heads", 11), ("concatenated", 6)):
        assert position(kind, where, SITE).table(index).shape == (1, 3, columns)


def test_buckets_begin_apart_and_know_the_heads_and_whether_anybody_looks_ahead() -> None:
    wide = replace(SITE, heads=101)
    for ahead in (True, False):
        made = position("buckets", "input", replace(wide, ahead=ahead))
        assert made.rows.weight.shape == (32, 101)
        assert float(made.rows.weight.std().detach()) == pytest.approx(BIAS, rel=0.1)
        assert bool(made.numbers[-1] > 0) is ahead


def test_a_misspelt_scheme_is_suggested() -> None:
    with refused("system.position = 'rope' is not known; did you mean 'rotary'?"):
        position("rope", "input", SITE)
    with refused("system.position = 'sinusoid' is not known; did you mean 'sinusoidal'?"):
        position("sinusoid", "input", SITE)
    with refused("positions cannot enter at 'inputs'; did you mean 'input'?"):
        position("learned", "inputs", SITE)
