"""What to train, validate and test on: the `[data]` section and the sources it names."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from regard.data.conllu import TAGS
from regard.data.corpora import CORPORA, built_in
from regard.data.sources import Columns, Source, file_hash, open_files
from regard.data.tasks import check_tasks, mixed, prefixed
from regard.errors import UserError, one_of, suggest

Paths = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Data:
    """`train`, `valid`, `test`: a built-in name, one path, or two (source, target).

    `document` says what a plain file of text is: "file" (one document) or "line" (each line one). `fields` names the
    columns of TSV and JSONL files, `tags` the tags of CoNLL-U files: "upos" or "xpos". `too_long` is what happens to an
    example longer than the context: "drop", "truncate", "stop". Of the training data the first `records` are taken; 0
    takes all. A `parser` for raw text goes over the training trees so many times; with 0 there is none. `tasks`, in
    place of `train`, are several at once, each by the words that stand before its source.
    """

    train: Paths = ""
    valid: Paths = ""
    test: Paths = ""
    fields: dict[str, str | int] = field(default_factory=dict)
    document: str = "file"
    tags: str = "upos"
    too_long: str = "drop"
    records: int = 0
    parser: int = 0
    tasks: dict[str, Paths] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tasks and (self.train or self.valid or self.test):
            raise UserError("data.tasks stand in place of data.train, valid and test: set those, or these, to nothing")
        if self.records < 0:
            raise UserError(f"data.records = {self.records}; it must be 0 (all) or more")
        if self.parser < 0:
            raise UserError(f"data.parser = {self.parser}; it must be 0 (none) or more")
        one_of("data.document", self.document, ("file", "line"))
        one_of("data.tags", self.tags, TAGS)
        one_of("data.too_long", self.too_long, ("drop", "truncate", "stop"))

    def files(self) -> list[Path]:
        """Every file that is named, each once."""
        splits = (self.train, self.valid, self.test, *self.tasks.values())
        named = [where for split in splits for where in as_paths(split)]
        return [Path(name) for name in dict.fromkeys(named) if name and not built_in(name)]

    def located(self) -> "Data":
        """The same with whole paths, so that a run finds its files from any folder; what is no file stays as it is."""

        def whole(name: str) -> str:
            return str(Path(name).absolute()) if not built_in(name) and Path(name).is_file() else name

        def locate(where: Paths) -> Paths:
            return tuple(map(whole, where)) if isinstance(where, tuple) else whole(where)

        tasks = {prefix: locate(where) for prefix, where in self.tasks.items()}
        return replace(self, train=locate(self.train), valid=locate(self.valid), test=locate(self.test), tasks=tasks)


def as_paths(where: Paths) -> tuple[str, ...]:
    return (where,) if isinstance(where, str) else where


def changed(known: dict[str, str]) -> str | None:
    """The first of these files whose content is no longer what it was."""
    return next((name for name, was in known.items() if Path(name).exists() and file_hash(Path(name)) != was), None)


def open_source(where: Paths, split: str, data: Data, columns: tuple[str, ...]) -> Source:
    """A built-in corpus's split, or the files."""
    paths = as_paths(where)
    if len(paths) == 1 and (corpus := built_in(paths[0])):
        return corpus.source(split, columns)
    if len(paths) == 1 and not any(mark in paths[0] for mark in "./\\") and not Path(paths[0]).exists():
        raise UserError(f"no built-in corpus and no file '{paths[0]}'{suggest(paths[0], list(CORPORA))}")
    # a whole path is most often one that a run remembers (`located`): its file has gone, and no corpus is in its place
    missing = [path for path in paths if not Path(path).exists() and not Path(path).is_absolute()]
    if missing and (corpus := next((each for each in CORPORA.values() if each.columns == columns), None)):
        raise UserError(f"no such file: {missing[0]}; a built-in corpus such as '{corpus.name}' needs none")
    return open_files(paths, Columns(columns, data.fields, data.tags), document=data.document)


def splits(data: Data, columns: tuple[str, ...]) -> tuple[dict[str, Source], list[str]]:
    """The sources by split, and what was decided for the user, in words.

    Without `valid` and `test` the last 5 % of a file and the 5 % before it are held out.
    """
    if data.tasks:
        return splits_of_tasks(data, columns)
    found, said = held_out(data, columns)
    if 0 < data.records < len(found["train"]):
        found["train"] = found["train"].part(0, data.records)
        said.append(f"training on the first {data.records} records alone, as data.records says")
    return found, said


def splits_of_tasks(data: Data, columns: tuple[str, ...]) -> tuple[dict[str, Source], list[str]]:
    """Each task as if it were alone, then all together; a built-in corpus gives the two columns that it has."""
    check_tasks(data.tasks, columns)
    found: dict[str, list[Source]] = {"train": [], "valid": [], "test": []}
    said = []
    for prefix, where in data.tasks.items():
        corpus = built_in(where) if isinstance(where, str) else None
        if corpus and len(corpus.columns) != len(columns):
            raise UserError(f"data.tasks: '{corpus.name}' holds {' and '.join(corpus.columns)}; a task has two columns")
        only = replace(data, tasks={}, train=where, fields={} if corpus else data.fields)
        alone, lines = splits(only, corpus.columns if corpus else columns)
        said += lines
        for split, source in alone.items():
            found[split].append(prefixed(prefix, source))
    return {split: mixed(sources) for split, sources in found.items()}, said


def check_read(data: Data, columns: tuple[str, ...], files: Iterable[Path]) -> None:
    """Stop where settings say how something is read that is not."""
    for name in data.fields:
        if name not in columns:
            raise UserError(f"data.fields names '{name}', which is not read{suggest(name, list(columns))}")
    if data.tags != "upos" and not ("tags" in columns and any(path.suffix == ".conllu" for path in files)):
        raise UserError(f"data.tags = '{data.tags}' is for the tags of .conllu files, and none are read")


def held_out(data: Data, columns: tuple[str, ...]) -> tuple[dict[str, Source], list[str]]:
    """All records by split."""
    if not data.train:
        raise UserError("data.train is not set: give a built-in name, a path, or two paths")
    check_read(data, columns, data.files())
    train = open_source(data.train, "train", data, columns)
    said = [train.told]
    own = [built_in(name) for name in as_paths(data.train)]
    found = {"train": train}
    for split, where in (("valid", data.valid), ("test", data.test)):
        if where:
            found[split] = open_source(where, split, data, columns)
            said.append(found[split].told)
        elif len(own) == 1 and own[0]:
            found[split] = open_source(data.train, split, data, columns)
    missing = [split for split in ("valid", "test") if split not in found]
    if missing == ["test"]:
        return found, told(said)  # the user gave a validation set: nothing is taken from the training text unasked
    for split in missing:
        size = max(1, len(train) // 20)
        if len(found["train"]) <= size:
            raise UserError(
                f"{train.name} has {len(train)} record(s): too few to hold out a {split} set; set data.{split}"
            )
        end = len(found["train"])
        found[split] = train.part(end - size, end)
        found["train"] = train.part(0, end - size)
        said.append(f"held out for {split}: records {end - size + 1} to {end} of {train.name}")
    return found, told(said)


def told(said: list[str]) -> list[str]:
    """Each remark once."""
    return [line for line in dict.fromkeys(said) if line]
