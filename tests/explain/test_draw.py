"""Files that open anywhere: whatever stands in the text, and without a network."""

import json
import re
from xml.etree import ElementTree

import pytest

from regard.errors import UserError
from regard.explain import draw, draw_word, to_json, trace
from tests.explain.conftest import AWKWARD, SOURCE, TARGET

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


def test_a_long_text_is_drawn_without_labels(speaker, tmp_path) -> None:
    seen = trace(speaker, text="it " * 25)
    draw(seen, tmp_path / "a.svg")
    assert len((tmp_path / "a.svg").read_bytes()) < 2_000_000


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
