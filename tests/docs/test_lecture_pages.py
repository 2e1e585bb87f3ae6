"""A lecture page has its parts, its links name what stands at their lines, and its figure is what the code draws."""

import math
import re
from pathlib import Path

import pytest
from fading import fading
from figures import FIGURES, PICTURES, by_hand, drawn, files, seen_by_one
from lines import LINK, corrected, line_of

from regard.lectures import entries
from tests.docs.pages import ROOT, blocks, cells, prose

FOLDER = ROOT / "docs" / "lectures"
TOPICS = (
    *("recurrence", "attention", "multi-head", "positions", "masks", "blocks", "cross-attention", "bert-t5-gpt"),
    *("efficient-attention", "embeddings"),
)
PARTS = ["The equation", "In the library", "Try it", "The experiments", "Slips on the slides"]
NUMBER = re.compile(r"(#[0-9a-f]{6}\b|-?\d+(?:\.\d+)?)")

every_topic = pytest.mark.parametrize("topic", TOPICS)


def page_of(topic: str) -> Path:
    return FOLDER / f"{topic}.md"


def claims(topic: str) -> set[str]:
    """Those that a page says how to run."""
    lines = [line for block in blocks(page_of(topic)) if block.kind == "sh" for line in block.commands]
    return {word for line in lines if line.startswith("regard lab") for word in re.findall(r"\bC\d+\b", line)}


def test_no_two_pages_train_into_the_same_folder() -> None:
    pages = [ROOT / "README.md", *map(page_of, TOPICS)]
    lines = [line for page in pages for block in blocks(page) for line in block.commands]
    folders = [folder for line in lines for folder in re.findall(r"regard train .*--out (\S+)", line)]
    assert len(folders) >= len(TOPICS)
    assert len(set(folders)) == len(folders)


def test_every_topic_has_a_page_and_the_index_leads_to_all() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == {*TOPICS, "README"}
    rows = [row for row in cells(FOLDER / "README.md") if row[0].startswith("[")]
    assert [re.search(r"\((.+)\.md\)", row[0])[1] for row in rows] == list(TOPICS)  # type: ignore[index]
    for topic, (_, _, ids, shown, _) in zip(TOPICS, rows, strict=True):
        assert set(shown.split()) == claims(topic), topic
        assert set(ids.split()) <= {entry.id for entry in entries()}, topic
    assert "docs/lectures/README.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_index_names_every_text_of_the_lectures() -> None:
    named = {row[0] for row in cells(FOLDER / "README.md") if row[0].isdigit()}
    assert named == {number for entry in entries() for number in re.findall(r"\b\d{3}\b", entry.text)}


@every_topic
def test_a_page_runs_as_it_is_printed(topic: str) -> None:
    """A reader has no files but those that the page makes before his eyes."""
    assert [block.where for block in blocks(page_of(topic)) if block.kind == "setup"] == []


@every_topic
def test_a_page_has_its_parts(topic: str) -> None:
    text = page_of(topic).read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == PARTS
    assert text.count("\n") <= 150
    assert f'src="pictures/{topic}.svg"' in text
    assert f'srcset="pictures/{topic}-dark.svg"' in text
    assert len(LINK.findall(text)) >= 3
    equation, _, _ = text.partition("## In the library")
    assert "```text" in equation.partition("## The equation")[2]


@every_topic
def test_a_page_says_of_each_experiment_what_it_is_about(topic: str) -> None:
    """And leads to what came out of it."""
    told = re.findall(r"^- \*\*\[(C\d+)\]\(\.\./lab\.md#(c\d+)-\S+\)\*\*: \S", prose(page_of(topic)), re.MULTILINE)
    assert {name for name, _ in told} == claims(topic) and claims(topic)
    assert all(name.lower() == anchor for name, anchor in told)


def test_every_claim_is_in_some_page() -> None:
    there = {entry.id for entry in entries() if entry.id.startswith("C")}
    assert set().union(*map(claims, TOPICS)) == there


@every_topic
def test_links_name_what_stands_at_their_lines(topic: str) -> None:
    page = page_of(topic)
    text = page.read_text(encoding="utf-8")
    assert text == corrected(page), "the source has moved: run python docs/lectures/lines.py"
    named = re.findall(r"\]\([^)]+\.py#L\d+\)", text)
    assert len(named) == len(LINK.findall(text)), "a link to a line has no name that could be checked"


def test_lines_are_found_by_name(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("A = 1\n\n@decorated\nclass B:\n    c: int = 2\n\n    def d(self): ...\n\n\nasync_ = d = 3\n")
    assert [line_of(file, name) for name in ("A", "B", "B.c", "B.d", "d")] == [1, 4, 5, 7, 10]
    with pytest.raises(LookupError, match=r"no B\.e"):
        line_of(file, "B.e")


def test_the_index_of_slips_and_the_pages_speak_of_the_same() -> None:
    """Every slip of the table is told in a page: by its lecture and what it is about."""
    told = {topic: page_of(topic).read_text(encoding="utf-8").partition("## Slips")[2] for topic in TOPICS}
    for topic, text, word in [
        ("masks", "001", "j >= i"),
        ("blocks", "001", "1/d"),
        ("positions", "001", "2·1/d"),
        ("blocks", "003", "unit mean"),
        ("positions", "002", "1 x N"),
        ("multi-head", "001", "R^(d/h)"),
        ("positions", "003", "position-invariant"),
    ]:
        assert any(text in line and word in line for line in paragraphs(told[topic])), (topic, word)
    assert len([row for row in cells(ROOT / "docs" / "slips.md") if row[0][0] == "0"]) == 7


def paragraphs(text: str) -> list[str]:
    return re.split(r"\n(?=- )", text)


def test_the_pictures_are_those_of_the_figures() -> None:
    assert set(PICTURES.iterdir()) == set(files())
    assert set(FIGURES) == set(TOPICS)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_picture_is_what_the_code_draws(path: Path) -> None:
    """The same words and numbers; the last digit of one may differ, for machines round in their own ways."""
    kept, made = (NUMBER.split(text) for text in (path.read_text(encoding="utf-8"), drawn(*files()[path])))
    assert kept[0::2] == made[0::2], "run python docs/lectures/figures.py"
    assert all(map(near, kept[1::2], made[1::2])), "run python docs/lectures/figures.py"


def near(one: str, other: str) -> bool:
    if one.startswith("#") and other.startswith("#"):
        return all(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) <= 2 for i in (1, 3, 5))
    digits = max(len(text.partition(".")[2]) for text in (one, other))
    return one == other or (digits > 0 and abs(float(one) - float(other)) < 1.5 * 10**-digits)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_picture_is_small_and_needs_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert ("#14171c" if path.stem.endswith("-dark") else "#ffffff") in text[:600], "no paper of its own"
    assert not re.findall(r"(?:href|src)=", text)
    assert not re.search(r"\bnan\b", text)


def test_gradients_of_the_figure_are_powers() -> None:
    for scale in (0.8, 1.2):
        for distance, size in fading("rnn", scale=scale):
            assert math.isclose(size, distance * math.log10(scale), abs_tol=1e-4)
    gate = 1 / (1 + math.exp(-3))
    for distance, size in fading("lstm", bias=3.0):
        assert math.isclose(size, distance * math.log10(gate), abs_tol=1e-4)


def test_heads_of_the_figure_look_where_its_titles_say() -> None:
    before, after, itself, first = by_hand(7).argmax(-1).tolist()
    assert before == [0, 0, 1, 2, 3, 4, 5]
    assert after == [1, 2, 3, 4, 5, 6, 6]
    assert (itself, first) == (list(range(7)), [0] * 7)


def test_bigbird_sees_eight_blocks_and_of_the_first_two_everything() -> None:
    assert math.isclose(seen_by_one(4096), (2 * 64 + 62 * 8) * 64 / 64)
