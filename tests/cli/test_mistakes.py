"""The user's mistakes: exit 2, one line that names the value and the way out, and nothing lost or left behind."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Place
from tests.cli.shell import refused, regard, untouched
from tests.helpers import lines_file

TEXT = "--set data.train=play.txt --quiet --out new"
PAIRS = '--set data.train=\'["a.en","a.de"]\' --quiet --out new'

# a command, and what its one line must say; a star stands for anything
SETTINGS = {
    "unknown preset": ("train transformer-tinny", "no preset 'transformer-tinny'; did you mean 'transformer-tiny'?"),
    "no recipe": ("train mine.toml", "no such file: mine.toml"),
    "unknown key": (f"train gpt {TEXT} --set system.widht=8", "[system]: no setting 'widht'; did you mean 'width'?"),
    "unknown section": (f"train gpt {TEXT} --set sytem.width=8", "no section 'sytem'; did you mean 'system'?"),
    "wrong type": (f"train gpt {TEXT} --set system.width=wide", "[system] width: 'wide' is not a whole number"),
    "no value": (f"train gpt {TEXT} --set train.steps", "--set train.steps: expected section.key=value"),
    "no TOML": (f"train gpt {TEXT} --set data.train=[play.txt", "[play.txt is not a TOML value; text is quoted"),
    "no end": (f"train gpt {TEXT} --set train.steps=0", "training would never end"),
    "heads": (f"train gpt {TEXT} --set system.width=510 --set system.heads=8", "8 heads; 504 and 512 do"),
    "vocabulary": (
        f"train gpt {TEXT} --set text.kind=bpe --set text.vocabulary=5000",
        "text.vocabulary = 5000 is more than the data allows",
    ),
    "no room": (f"train gpt {TEXT} --set text.vocabulary=4", "a vocabulary of 4 has no room: 4 are special symbols"),
    "device": (f"train gpt {TEXT} --set train.device=tpu", "no such device: 'tpu'; known: auto, cpu, cuda"),
    "no pair": (f"train gpt {TEXT} --set objective.kind=translation", "change one of them"),
    "seed": (f"train gpt {TEXT} --set seed=-1", "seed = -1 is not a whole number"),
}
DATA = {
    "no file": (
        f"train gpt {TEXT} --set data.train=none.txt",
        "none.txt; a built-in corpus such as 'stdlib' needs none",
    ),
    "no files": (
        f'train transformer-tiny {PAIRS} --set data.train=\'["a.en","none.de"]\'',
        "no such file: none.de; a built-in corpus such as 'road' needs none",
    ),
    "no corpus": (f"train transformer-tiny {PAIRS} --set data.train=raod", "did you mean 'road'?"),
    "empty": (f"train gpt {TEXT} --set data.train=empty.txt", "empty.txt is empty"),
    "folder": (f"train gpt {TEXT} --set data.train=model/tokens", "is a folder, not a file of text"),
    "one file": (f"train transformer-tiny {PAIRS} --set data.train=a.en", "give two files, a .tsv, a .csv or a .jsonl"),
    "two files": (f"train gpt {PAIRS}", "2 files for 1 column(s) (text): "),
    "other length": (
        f'train transformer-tiny {PAIRS} --set data.train=\'["a.en","b.de"]\'',
        "parallel files differ in length: *a.en has 300 lines, *b.de has 12 lines",
    ),
    "JSONL": (f"train transformer-tiny {PAIRS} --set data.train=broken.jsonl", "broken.jsonl line 2: not JSON"),
    "field": (f"train gpt {TEXT} --set data.train=broken.jsonl", "broken.jsonl line 1: no field 'text'"),
    "TSV": (f"train transformer-tiny {PAIRS} --set data.train=broken.tsv", "broken.tsv line 2: 1 column(s)"),
    "UTF-8": (f"train gpt {TEXT} --set data.train=latin.txt", "latin.txt line 2: not UTF-8"),
    "all too long": (
        f"train transformer-tiny {PAIRS} --set data.train=long.tsv",
        "no example is left after dropping empty and overlong ones",
    ),
    "too few": (f"train transformer-tiny {PAIRS} --set data.train=one.tsv", "1 record(s): too few to hold out"),
    "evaluate": ("evaluate translator --data a.en b.de", "a.en has 300 lines, *b.de has 12 lines"),
    "evaluate one": ("evaluate translator --data b.en", "source and target are needed"),
    "evaluate three": ("evaluate translator --data b.en b.de b.en", "3 files for 2 column(s)"),
    "evaluate two": ("evaluate model --data b.en b.de", "2 files for 1 column(s)"),
}
RUNS = {
    "no run": ("generate nowhere", "no such run: nowhere"),
    "a file": ("generate play.txt", "no such run: play.txt"),
    "a folder": ("generate .", "is no run: config.json is missing"),
    "resume nothing": ("resume nowhere", "no such run: nowhere"),
    "there already": (
        "train gpt --set data.train=play.txt --out model",
        "model holds a run already; --force overwrites it, 'regard resume model' goes on",
    ),
    "no run there": ("train gpt --set data.train=play.txt --out .", "exists and is no run; give another --out"),
    "a file there": ("train gpt --set data.train=play.txt --out play.txt --force", "exists and is no run"),
    "refused by force": (
        "train gpt --set data.train=play.txt --quiet --out model --force --set text.kind=bpe --set text.vocabulary=999",
        "text.vocabulary = 999 is more than the data allows",
    ),
    "a text, no run": ("translate translator 'the old cat'", "no such run: the old cat; is it meant for --text?"),
    "a prompt, no run": ("generate model ROMEO:", "no such run: ROMEO:; is it meant for --prompt?"),
    "files, no runs": ("evaluate translator b.en b.de", "no such run: b.en; is it meant for --data?"),
    "wrong kind": ("generate translator --prompt a", "translator translates; use 'regard translate'"),
    "other kind": ("translate model", "model is a language model and reads no source; use 'regard generate'"),
    "both kinds": ("translate translator model", "have different tokenizers and cannot be averaged"),
    "no device": ("generate model --device cuda:99", "no such device: 'cuda:99'; this machine has"),
}
TEXTS = {
    "prompt too long": (f"generate model --prompt {'a' * 64}", "the prompt has 65 tokens and the context holds 64"),
    "streamed too": (f"generate model --stream --prompt {'a' * 64}", "has 65 tokens and the context holds 64"),
    "source too long": (
        f"translate translator --text '{'the ' * 512}'",
        "the source text has 513 tokens and the context holds 512",
    ),
    "scored too long": (f"score model --text {'a' * 64}", "has 65 tokens and the context holds 64"),
    "explained too long": (f"explain model --text {'a' * 64}", "has 65 tokens and the context holds 64"),
    "beam and chance": ("generate model --beam 2 --temperature 1", "a beam does not sample"),
    "beam and stop": ("generate model --prompt R --beam 2 --stop a", "stop strings and a beam do not go together"),
    "too many best": (
        "generate model --beam 2 --n-best 3",
        "--n-best 3: give a number from 1 to the width of the beam",
    ),
    "best of one": ("translate translator --n-best 2", "--n-best 2: give a number from 1 to the width"),
    "none of the best": ("translate translator --n-best 0", "--n-best 0"),
    "no tokens": ("generate model --max-tokens 0", "max_tokens"),
    "cold": ("generate model --temperature=-1", "decode.temperature = -1.0; it must be 0"),
    "penalty": ("translate translator --length-penalty gnm", "did you mean 'gnmt'?"),
    "empty stop": ("generate model --stop ''", "--stop '' is empty"),
    "streamed JSON": ("generate model --stream --json", "--stream prints one text while it is made"),
    "streamed tokens": ("generate model --stream --log-probabilities", "--stream prints one text"),
    "two streams": ("generate model --stream --prompt a --prompt b", "--stream prints one text"),
    "streamed beam": ("generate model --stream --beam 2", "--stream prints one text"),
    "no source": ("score translator --text a", "1 texts and 0 sources: each --text needs its own --source"),
    "needless source": ("score model --text a --source b", "model is a language model: it reads no --source"),
}
SCORES = {
    "unknown tokenizer": ("evaluate translator --tokenize 13b", "no tokenizer '13b'; did you mean '13a'?"),
    "no stride": ("evaluate model --stride 0", "--stride 0 must lie between 1 and the context of 64 tokens"),
    "long stride": ("evaluate model --stride 65", "--stride 65 must lie between 1 and the context of 64 tokens"),
    "whole": ("evaluate translator --stride 3", "--stride is for language models"),
    "no BLEU": ("evaluate model --lowercase", "is a language model: it is not decoded, and BLEU is for translators"),
    "no beam": ("evaluate model --beam 3", "is a language model: it is not decoded"),
    "explain nothing": ("explain translator", "translator translates: give it --source"),
    "explain text": ("explain translator --text a", "translator translates: give it --source"),
    "explain source": ("explain model --source a", "model is a language model: give it --text"),
    "explain emptiness": ("explain model --text ''", "the text '' is empty: there is nothing to look at"),
    "no layer": ("explain model --text abc --steps --layer 7", "no layer 7"),
    "no head": ("explain model --text abc --steps --head 7", "no head 7"),
    "no word": ("explain translator --source 'the cat' --steps --word dog", "no word 'dog'; it has: the, cat"),
    "no steps": ("explain model --text abc --word abc", "--word chooses what --steps walks through"),
    "no picture of a head": ("explain model --text abc --head 1", "name a .svg or .png with --to, or give --steps too"),
    "a page of a head": ("explain model --text abc --head 1 --to x.html", "'x.html' holds every one of them"),
    "no head to draw": ("explain model --text abc --head 7 --to x.svg", "no head 7"),
    "no layer to draw": ("explain model --text abc --layer 7 --to x.svg", "no layer 7"),
    "no picture": ("explain translator --source 'the cat' --to x.pdf", "its name must end in .svg, .png, .html, .json"),
    "no line": ("verify model --only 'cashed = full'", "did you mean 'cached = full'?"),
    "no bench": ("bench stop", "no measurement 'stop'; did you mean 'step'?"),
    "no system": ("bench step --systems gtp", "no preset 'gtp'; did you mean 'gpt'?"),
    "no repeats": ("bench step --repeats 0", "--repeats 0: at least 1 is needed"),
}
SPELLING = {
    "command": ("trian gpt", "no command 'trian'; did you mean 'train'?"),
    "far from any": ("xyzzy", "no command 'xyzzy'; known: systems, train,"),
    "option": ("train gpt --ste a=1", "train: no option --ste; did you mean '--set'?"),
    "one more": ("lectures now", "lectures: nothing takes 'now'; see 'regard lectures --help'"),
    "one less": ("train", "train: PRESET is missing; see 'regard train --help'"),
    "run": ("translate", "translate: RUN is missing"),
    "value": ("train gpt --out", "train: --out needs a value"),
    "values": ("bench step --systems", "bench: --systems needs a value"),
    "dash": ("generate model --prompt -hm", "--prompt needs a value; if '-hm' is it, write --prompt=-hm"),
    "number": ("generate model --seed one", "generate: --seed one is not a whole number"),
    "fraction": ("generate model --temperature hot", "generate: --temperature hot is not a number"),
}
MISTAKES = {
    f"{group}: {name}": case
    for group, cases in {
        "settings": SETTINGS,
        "data": DATA,
        "runs": RUNS,
        "texts": TEXTS,
        "scores": SCORES,
        "spelling": SPELLING,
    }.items()
    for name, case in cases.items()
}


@pytest.fixture(scope="module", autouse=True)
def broken(place: Place) -> None:
    """Files that nothing can be learnt from."""
    lines_file(place.folder / "broken.jsonl", ['{"source": "a", "target": "b"}', '{"source": "a"'])
    lines_file(place.folder / "broken.tsv", ["a\tb", "c"])
    lines_file(place.folder / "one.tsv", ["a\tb"])
    lines_file(place.folder / "long.tsv", ["a " * 600 + "\tb"] * 40)
    (place.folder / "latin.txt").write_bytes("naïve\n".encode() + "naïve\n".encode("latin-1"))
    (place.folder / "empty.txt").touch()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_line_says_what_is_wrong_and_nothing_changes(here: Place, mistake: str) -> None:
    command, because = MISTAKES[mistake]
    with untouched(here.folder):
        refused(*shlex.split(command), because=because)


def test_a_text_that_begins_with_a_dash_can_be_given(place: Place) -> None:
    assert regard("generate", place.model, "--prompt=-hm", "--max-tokens", "1").out.startswith("-hm")


def test_the_traceback_is_there_when_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    from regard.cli import main

    for flags, lines in (([], 1), (["--traceback"], 5)):
        monkeypatch.setattr(sys, "argv", ["regard", "resume", "nowhere", *flags])
        with pytest.raises(SystemExit) as end:
            main()
        err = capsys.readouterr().err
        assert end.value.code == 2
        assert len(err.splitlines()) >= lines
        assert ("Traceback" in err) == bool(flags)
        assert err.splitlines()[-1] == "regard: no such run: nowhere"


def test_a_defect_of_our_own_is_not_dressed_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **rest: Any) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("regard.checkpoint.load", broken)
    with pytest.raises(ZeroDivisionError):
        regard("generate", place.model)


def test_memory_that_runs_out_is_no_defect(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")):

        def broken(*args: object, error: Exception = error, **rest: Any) -> None:
            raise error

        monkeypatch.setattr("regard.checkpoint.load", broken)
        done = regard("generate", place.model)
        assert done.code == 1
        assert done.err == (
            "regard: out of memory: use a smaller train.batch_tokens, or cut the batch into pieces with "
            "train.accumulate\n"
        )


def test_a_file_that_may_not_be_read_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def locked(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self == place.play:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", locked)
    done = regard("evaluate", place.model, "--data", place.play)
    assert (done.code, done.err) == (1, f"regard: {place.play}: Permission denied\n")


def test_a_tokenizer_that_is_not_installed_is_told_before_anything_is_translated(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sacrebleu.metrics import BLEU

    def missing(self: BLEU, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("\nplease install\n\n    pip install sacrebleu[ja]\n")

    monkeypatch.setattr(BLEU, "__init__", missing)
    wanted = "sacrebleu's tokenizer 'ja-mecab' does not start: please install pip install sacrebleu[ja]"
    refused("evaluate", "translator", "--data", "b.en", "b.de", "--tokenize", "ja-mecab", because=wanted)
