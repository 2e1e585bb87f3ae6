"""What is trained, validated and tested on, and what is held out when the user gave nothing."""

from pathlib import Path

import pytest

from regard.data import CORPORA, Data, splits
from regard.errors import UserError
from tests.helpers import lines_file, refused

TEXT, PAIR = ("text",), ("source", "target")


@pytest.fixture
def file(tmp_path: Path) -> str:
    return lines_file(tmp_path / "a.txt", [f"line {i}" for i in range(103)])


def numbers(source) -> list[int]:
    return [int(text.split()[1]) for (text,) in source]


def test_the_last_twentieth_and_the_one_before_it_are_held_out(file: str) -> None:
    found, said = splits(Data(train=file), TEXT)
    assert {split: numbers(source) for split, source in found.items()} == {
        "train": list(range(93)),
        "valid": list(range(98, 103)),
        "test": list(range(93, 98)),
    }
    assert said == [
        f"held out for valid: records 99 to 103 of {file}",
        f"held out for test: records 94 to 98 of {file}",
    ]


def test_nothing_is_taken_from_the_training_text_where_a_validation_set_is_given(file: str, tmp_path: Path) -> None:
    valid = lines_file(tmp_path / "v.txt", ["line 1", "line 2"])
    found, said = splits(Data(train=file, valid=valid), TEXT)
    assert set(found) == {"train", "valid"}
    assert numbers(found["train"]) == list(range(103))
    assert said == []


def test_a_validation_set_is_held_out_where_only_a_test_set_is_given(file: str, tmp_path: Path) -> None:
    test = lines_file(tmp_path / "t.txt", ["line 1", "line 2"])
    found, said = splits(Data(train=file, test=test), TEXT)
    assert numbers(found["train"]) == list(range(98))
    assert numbers(found["valid"]) == list(range(98, 103))
    assert numbers(found["test"]) == [1, 2]
    assert len(said) == 1


def test_too_few_records_to_hold_any_out_are_refused(tmp_path: Path) -> None:
    two = lines_file(tmp_path / "a.txt", ["one", "two"])
    with refused(f"{two} has 2 record(s): too few to hold out a test set; set data.test"):
        splits(Data(train=two), TEXT)


def test_parallel_files_are_split_alike(tmp_path: Path) -> None:
    a = lines_file(tmp_path / "a.en", [f"en {i}" for i in range(40)])
    b = lines_file(tmp_path / "a.de", [f"de {i}" for i in range(40)])
    found, _ = splits(Data(train=(a, b)), PAIR)
    assert list(found["valid"]) == [("en 38", "de 38"), ("en 39", "de 39")]
    assert list(found["test"]) == [("en 36", "de 36"), ("en 37", "de 37")]


@pytest.mark.parametrize("name", CORPORA)
def test_a_built_in_corpus_has_splits_of_its_own_that_share_nothing(name: str) -> None:
    found, said = splits(Data(train=name), CORPORA[name].columns)
    assert said == []
    assert set(found) == {"train", "valid", "test"}
    seen = {split: set(source) for split, source in found.items()}
    assert all(seen.values())
    assert not seen["train"] & (seen["valid"] | seen["test"])
    assert list(found["valid"]) == list(found["valid"])


def test_a_list_of_one_built_in_name_is_that_corpus() -> None:
    found, said = splits(Data(train=("copy",)), PAIR)
    assert said == []
    assert list(found["test"]) == list(CORPORA["copy"].source("test"))


def test_a_corpus_of_another_kind_is_refused() -> None:
    with refused("'copy' holds source and target; needed: text"):
        splits(Data(train="copy"), TEXT)


def test_a_name_that_is_no_corpus_is_suggested() -> None:
    with refused("no built-in corpus and no file 'revers'; did you mean 'reverse'?"):
        splits(Data(train="revers"), PAIR)
    with refused("data.train is not set"):
        splits(Data(), PAIR)


@pytest.mark.parametrize(
    ("columns", "said"),
    [(TEXT, "; a built-in corpus such as 'stdlib' needs none"), (("words", "heads"), "")],
)
def test_a_missing_file_is_told_of_a_corpus_with_the_same_columns(columns: tuple[str, ...], said: str) -> None:
    assert ("words", "heads") not in {corpus.columns for corpus in CORPORA.values()}
    with pytest.raises(UserError) as refusal:
        splits(Data(train="none.txt"), columns)
    assert str(refusal.value) == f"no such file: none.txt{said}"


def test_a_run_whose_file_has_gone_is_told_of_no_corpus(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    remembered = Data(train=Path(file).name).located()
    Path(file).unlink()
    with pytest.raises(UserError) as refusal:
        splits(remembered, TEXT)
    assert str(refusal.value) == f"no such file: {file}"


def test_a_file_without_an_ending_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines_file(tmp_path / "corpus", [f"line {i}" for i in range(20)])
    assert len(splits(Data(train="corpus"), TEXT)[0]["train"]) == 18


def test_a_field_that_nobody_reads_is_refused(file: str) -> None:
    with refused("data.fields names 'txt', which is not read; did you mean 'text'?"):
        splits(Data(train=file, fields={"txt": "body"}), TEXT)


def test_settings_are_checked_where_they_are_written() -> None:
    with refused("data.document = 'lines' is not known; did you mean 'line'?"):
        Data(document="lines")
    with refused("data.too_long = 'cut' is not known; known: drop, truncate, stop"):
        Data(too_long="cut")


def test_few_training_records_leave_what_is_held_out_as_it_is() -> None:
    found, said = splits(Data(train="moods", records=7), ("text", "label"))
    whole, _ = splits(Data(train="moods"), ("text", "label"))
    assert list(found["train"]) == list(whole["train"])[:7]
    assert [len(found[split]) for split in ("valid", "test")] == [len(whole[split]) for split in ("valid", "test")]
    assert said == ["training on the first 7 records alone, as data.records says"]
    with refused("data.records = -1; it must be 0 (all) or more"):
        Data(train="moods", records=-1)


def test_a_corpus_gives_the_columns_that_are_asked_for() -> None:
    texts, _ = splits(Data(train="moods"), ("text",))
    labelled, _ = splits(Data(train="moods"), ("text", "label"))
    assert list(texts["test"]) == [(text,) for text, _ in labelled["test"]]
    with refused("'moods' holds text and label; needed: source and target"):
        splits(Data(train="moods"), ("source", "target"))
