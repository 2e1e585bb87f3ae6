"""TOML to frozen dataclasses: a key nobody knows, a value of the wrong kind and `--set` in all its spellings."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from regard.config import build, describe, override, read_toml, toml_value
from regard.errors import UserError
from tests.helpers import refused


@dataclass(frozen=True, kw_only=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    needed: int
    rate: float = 0.5
    name: str = "x"
    on: bool = False
    paths: str | tuple[str, ...] = ""
    fields: dict[str, str | int] = field(default_factory=dict)
    limit: int | None = None
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        if self.needed < 0:
            raise UserError(f"needed = {self.needed}; it must be 0 or more")


def made(**values: object) -> Settings:
    return build(Settings, {"needed": 3, **values}, where="demo.toml [train]")


def test_values_become_fields() -> None:
    assert made(
        rate=2, paths=["a", "b"], fields={"source": "en", "target": 1}, limit=None, inner={"depth": 5}
    ) == Settings(needed=3, rate=2.0, paths=("a", "b"), fields={"source": "en", "target": 1}, inner=Inner(depth=5))
    assert isinstance(made(rate=2).rate, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nmae": "y"}, "demo.toml [train]: no setting 'nmae'; did you mean 'name'?"),
        ({"xyz": 1}, "demo.toml [train]: no setting 'xyz'; known: needed, rate, name, on, paths, fields, limit, inner"),
        ({"needed": "3"}, "demo.toml [train] needed: '3' is not a whole number"),
        ({"needed": 3.0}, "demo.toml [train] needed: 3.0 is not a whole number"),
        ({"needed": True}, "demo.toml [train] needed: True is not a whole number"),
        ({"rate": "fast"}, "demo.toml [train] rate: 'fast' is not a number"),
        ({"rate": True}, "demo.toml [train] rate: True is not a number"),
        ({"name": 5}, "demo.toml [train] name: 5 is not text"),
        ({"on": 1}, "demo.toml [train] on: 1 is not true or false"),
        ({"paths": 5}, "demo.toml [train] paths: 5 is not text or a list, each text"),
        ({"paths": ["a", 5]}, "demo.toml [train] paths: ['a', 5] is not text or a list, each text"),
        ({"fields": "en"}, "demo.toml [train] fields: 'en' is not a table"),
        ({"fields": {"source": []}}, "demo.toml [train] fields.source: [] is not text or a whole number"),
        ({"limit": "x"}, "demo.toml [train] limit: 'x' is not a whole number"),
        ({"inner": {"depht": 1}}, "demo.toml [train] inner: no setting 'depht'; did you mean 'depth'?"),
        ({"needed": -1}, "demo.toml [train]: needed = -1; it must be 0 or more"),
    ],
)
def test_a_mistake_is_told_with_the_file_the_value_and_the_way_out(values: dict, message: str) -> None:
    with refused(message):
        made(**values)


def test_a_missing_setting_and_a_section_that_is_no_table_are_named() -> None:
    with refused("demo.toml [train]: setting 'needed' is missing"):
        build(Settings, {}, where="demo.toml [train]")
    with refused("demo.toml [train]: expected a table of settings, found 5"):
        build(Settings, 5, where="demo.toml [train]")  # type: ignore[arg-type]


def test_a_type_is_told_in_words() -> None:
    assert describe(str | tuple[str, ...] | None) == "text or a list, each text"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("1e-3", 0.001),
        ("true", True),
        ('"a b"', "a b"),
        ("'a'", "a"),
        ('["a.en", "a.de"]', ["a.en", "a.de"]),
        ("{source = 'en'}", {"source": "en"}),
        ("road", "road"),
        ("byte-bpe", "byte-bpe"),
        ("data/a.txt", "data/a.txt"),
        ("two words", "two words"),
        ("gnmt:0.6", "gnmt:0.6"),
    ],
)
def test_a_setting_is_toml_and_a_bare_word_is_text(text: str, value: object) -> None:
    assert override({}, [f"a.b={text}"]) == {"a": {"b": value}}
    assert toml_value(text, "") == value


@pytest.mark.parametrize("text", ["", "[a, b]", "{a", '"open', "a=b", "it's"])
def test_a_setting_that_is_no_toml_is_told_how_to_quote(text: str) -> None:
    with refused(f"--set a.b={text}: {text} is not a TOML value; text is quoted"):
        override({}, [f"a.b={text}"])


@pytest.mark.parametrize("text", ["a.b", "=5", " =5", ""])
def test_a_setting_without_a_name_or_a_value_is_refused(text: str) -> None:
    with refused(f"--set {text}: expected section.key=value"):
        override({}, [text])


def test_settings_are_put_over_those_that_are_there_and_the_last_one_counts() -> None:
    before = {"seed": 1, "train": {"steps": 5, "rate": 1.0}, "data": {"fields": {"source": "en"}}}
    settings = ["train.steps=7", "seed = 3", "train.steps=9", "data.fields.target=de", "text.kind=char"]
    assert override(before, settings) == {
        "seed": 3,
        "train": {"steps": 9, "rate": 1.0},
        "data": {"fields": {"source": "en", "target": "de"}},
        "text": {"kind": "char"},
    }
    assert before == {"seed": 1, "train": {"steps": 5, "rate": 1.0}, "data": {"fields": {"source": "en"}}}


def test_a_value_is_no_section() -> None:
    with refused("--set seed.x=1: 'seed' is a value, not a section"):
        override({"seed": 1}, ["seed.x=1"])


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    with refused(f"no such file: {tmp_path / 'none.toml'}"):
        read_toml(tmp_path / "none.toml")
    for content in (b"a = = 1", b"a = '\xff'"):
        (tmp_path / "a.toml").write_bytes(content)
        with refused(f"{tmp_path / 'a.toml'} is not TOML"):
            read_toml(tmp_path / "a.toml")
