"""Files that open anywhere: whatever stands in the text, and without a network."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.errors import UserError
from regard.explain import draw, draw_word, figures, to_json, trace
from regard.explain.figures import parts
from regard.explain.panels import GAP, HIGHEST, READABLE, WIDEST, Bars, laid_out, squared, wrapped
from tests.explain.conftest import (
    ATTENTIVE,
    AWKWARD,
    BLIND,
    CLASSIFIERS,
    EVEN,
    SOURCE,
    SPEAKERS,
    TARGET,
    make,
    texts_for,
)

NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.fixture(scope="module")
def translated(translator):
    return trace(translator, source=AWKWARD, target=TARGET)


@pytest.fixture(scope="module")
def spoken(speaker):
    return trace(speaker, text=AWKWARD)


def addresses(page: str) -> set[str]:
    return set(re.findall(r"""https?://[^"'\s<>)]+""", page))


@pytest.mark.parametrize("name", ["translated", "spoken"])
def test_an_svg_keeps_the_text_and_points_nowhere(name: str, request, tmp_path) -> None:
    draw(request.getfixturevalue(name), tmp_path / "new" / "a.svg")
    picture = (tmp_path / "new" / "a.svg").read_text(encoding="utf-8")
    assert addresses(picture) <= NAMESPACES
    assert "</script>" not in picture
    written = [part.text for part in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert "tiny <&>: who looks at whom" in written
    assert any("$5_a$" in line and "中文" in line for line in written)
    assert {"layer 0, head 0", "layer 1, head 2", "looks at"} <= set(written)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_trace_gives_the_same_picture(spoken, tmp_path, suffix: str) -> None:
    for name in ("a", "b"):
        draw(spoken, tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


@pytest.mark.parametrize("name", ["translated", "spoken"])
def test_a_png_is_a_png(name: str, request, tmp_path) -> None:
    draw(request.getfixturevalue(name), tmp_path / "a.PNG")
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("name", ["translated", "spoken"])
def test_a_page_holds_all_it_needs(name: str, request, tmp_path) -> None:
    seen = request.getfixturevalue(name)
    draw(seen, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert addresses(page) <= NAMESPACES
    assert not re.search(r"src=|href=|@import|url\(", page.split("<script id=")[0])
    assert "prefers-color-scheme: dark" in page
    assert page.count("</script>") == 2, "the text of the trace must not end the element it stands in"
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data) == json.loads(json.dumps(to_json(seen)))


def test_a_json_file_holds_the_numbers(spoken, tmp_path) -> None:
    draw(spoken, str(tmp_path / "a.json"))
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == to_json(spoken)


def test_a_word_has_a_picture_of_its_own(translated, spoken, tmp_path) -> None:
    for seen, word in ((translated, "it"), (spoken, "costs")):
        draw_word(seen, word, tmp_path / "word.svg")
        picture = (tmp_path / "word.svg").read_text(encoding="utf-8")
        assert addresses(picture) <= NAMESPACES
        assert f"what “{word}” looks at" in picture
        assert "layer 1, mean" in picture
    draw_word(translated, "Huhn", tmp_path / "word.png")
    assert (tmp_path / "word.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("words", "every"), [(25, 1), (83, 3)])
def test_a_long_text_keeps_its_labels(tmp_path, words: int, every: int) -> None:
    """Heads are put into more rows while every token can be named; then into a sheet as wide as high."""
    seen = trace(make("gpt", kind="word", context=199), text="it was " * words)
    draw(seen, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_bytes()
    assert len(picture) < 2_000_000
    written = [part.text for part in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    (block,) = parts(seen)
    assert block.every == every
    assert written.count("<s>") == len(block.grid) + len(block.grid[0]), "at the left and at the bottom"
    width, height = block.size
    assert width < 18 if every == 1 else 0.5 < width / height < 2


def test_bars_of_a_long_text_stand_in_lines_as_wide_as_a_sheet() -> None:
    bars = Bars("how likely", "share", [str(i) for i in range(155)], np.linspace(0.1, 0.9, 155))
    lines = list(wrapped(bars))
    assert [len(line.words) for line in lines] == [52, 52, 51]
    assert [word for line in lines for word in line.words] == bars.words
    assert {line.largest for line in lines} == {0.9}, "one scale for all"
    assert max(line.size[0] for line in lines) < WIDEST
    assert [line.heading for line in lines] == ["how likely", "", ""]
    (short,) = wrapped(replace(bars, words=bars.words[:31], values=bars.values[:31]))
    assert short.size == replace(bars, words=bars.words[:31]).size


@pytest.mark.parametrize(
    ("heads", "most", "rows"),
    [(4, 3, [2, 2]), (4, 4, [4]), (4, 9, [4]), (8, 7, [4, 4]), (7, 3, [3, 3, 1]), (5, 4, [3, 2])],
)
def test_heads_stand_in_rows_of_one_length_where_they_can(heads: int, most: int, rows: list[int]) -> None:
    columns = int((WIDEST / most - GAP) / READABLE)
    made = laid_out([[(str(head), np.ones((3, columns))) for head in range(heads)]] * 2, columns)
    assert [len(row) for row in made] == rows * 2
    assert [title for row in made for title, _ in row] == [str(head) for head in range(heads)] * 2


def test_a_tower_of_maps_becomes_a_sheet_of_whole_layers() -> None:
    grid = [[(f"{layer} {head}", np.ones((89, 67))) for head in range(5)] for layer in range(3)]
    made, cell = squared(grid, 89, 67, 0.17)
    assert made == grid
    assert max(5 * (67 * cell + GAP), 3 * (89 * cell + GAP)) <= HIGHEST + 1e-6
    assert [len(row) for row in squared(grid, 7, 97, 0.17)[0]] == [1] * 15


@pytest.mark.parametrize(
    ("choice", "titles"),
    [
        ({"layer": 1}, ["layer 1, head 0", "layer 1, head 1", "layer 1, head 2"]),
        ({"head": 2}, ["layer 0, head 2", "layer 1, head 2"]),
        ({"layer": 0, "head": 1}, ["layer 0, head 1"]),
    ],
)
def test_a_picture_may_be_of_one_layer_or_head(spoken, tmp_path, choice: dict[str, int], titles: list[str]) -> None:
    draw(spoken, tmp_path / "a.svg", **choice)
    assert re.findall(r">(layer \d, head \d)<", (tmp_path / "a.svg").read_text(encoding="utf-8")) == titles


def test_the_alignment_of_one_head_names_it(translated, tmp_path) -> None:
    draw(translated, tmp_path / "a.svg", layer=0, head=2)
    assert "(layer 0, head 2)" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "choice", "message"),
    [
        ("a.png", {"layer": 7}, "no layer 7; the decoder attention of this run has layers 0, 1"),
        ("a.png", {"head": 3}, r"no head 3; \S+ has heads 0 to 2"),
        ("a.html", {"head": 0}, r"chosen for \.svg and \.png; '.*a\.html' holds every one"),
    ],
)
def test_a_layer_or_head_that_cannot_be_drawn(spoken, tmp_path, name: str, choice: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        draw(spoken, tmp_path / name, **choice)
    assert not list(tmp_path.iterdir())


def test_no_layer_can_be_chosen_where_there_is_no_attention(tmp_path) -> None:
    with pytest.raises(UserError, match="there is no layer or head to choose"):
        draw(trace(make("lstm-lm"), text="it was"), tmp_path / "a.svg", layer=0)


def test_a_picture_that_no_viewer_opens_is_not_drawn(spoken, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(figures, "MOST_DOTS", 1009)
    with pytest.raises(UserError, match=r"\d+ x \d+ pixels, more than most viewers open: take one map"):
        draw(spoken, tmp_path / "a.png")
    draw(spoken, tmp_path / "a.html")
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]


def test_an_unknown_suffix_names_the_known_ones(spoken, tmp_path) -> None:
    with pytest.raises(UserError, match=r"a\.pdf'; its name must end in \.svg, \.png, \.html, \.json"):
        draw(spoken, tmp_path / "a.pdf")
    with pytest.raises(UserError, match=r"its name must end in \.svg, \.png$"):
        draw_word(spoken, "it", tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_words_of_the_source_are_the_columns_of_the_alignment(translator, tmp_path) -> None:
    draw(trace(translator, source=SOURCE, target=TARGET), tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert picture.index("Alignment") < picture.index("Encoder") < picture.index("Cross-attention")
    assert ">chicken<" in picture, "no token is the whole word: only the alignment can have written it"


HEADINGS = {
    "Alignment": ATTENTIVE,
    "Influence on each token": [*BLIND, *SPEAKERS],
    "Influence of each word on": CLASSIFIERS,
    "Probability of each label": CLASSIFIERS,
    "Gates over the source": ["seq2seq", *ATTENTIVE],
    "Gates over the target": ["seq2seq", *ATTENTIVE],
    "Gates: how far": ["lstm-lm", "window-lm", "rnn-classifier"],
    "Experts over the target": ["moe-lstm"],
}


@pytest.mark.parametrize("preset", [*ATTENTIVE, *BLIND, *SPEAKERS, *CLASSIFIERS])
def test_every_system_has_a_picture_and_a_page(preset: str, tmp_path) -> None:
    run = make(preset, kind="word", **({} if preset in SPEAKERS else EVEN))
    seen = trace(run, **texts_for(run))
    draw(seen, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert {heading for heading in HEADINGS if heading in picture} == {
        heading for heading, presets in HEADINGS.items() if preset in presets
    }
    assert all(f">{label}<" in picture for label in seen.target.labels if label.isalnum())
    for suffix in ("png", "html", "json"):
        draw(seen, tmp_path / f"a.{suffix}")
    plain = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert plain == to_json(seen)
    assert bool(plain["influence"]) == (preset not in ATTENTIVE)


def test_influence_stands_beside_attention_where_asked_for(translator, tmp_path) -> None:
    draw(trace(translator, source=SOURCE, target=TARGET, influence=True), tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert picture.index("Alignment") < picture.index("Influence on each word") < picture.index("Encoder")
    assert "weight or share; grey: none" in picture


def test_a_classifier_says_its_label_in_the_title(tmp_path) -> None:
    seen = trace(make("window-classifier"), text="it was too tired")
    draw(seen, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert f"why “{seen.labels[seen.label]}”" in picture
    assert "grey:" not in picture, "nothing is coloured by a weight"
