"""`regard lab`: what is listed, what is run, and how it ends when something has no verdict."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab import claims
from regard.lab.claims.experiment import Experiment, Prediction
from regard.lab.claims.panels import Bars
from regard.lab.claims.trial import Arm, Row, Size, Trial
from tests.cli.shell import fine, refused, regard


def letters(trial: Trial) -> list[Row]:
    return [{"letters": len(trial.arm.preset)}]


def broken(trial: Trial) -> list[Row]:
    raise ValueError("nothing works")


def stopped(trial: Trial) -> list[Row]:
    """Somebody presses Ctrl-C in the trial of the longer name, once."""
    if trial.arm.preset == "abcdef" and not Path("pressed").exists():
        Path("pressed").touch()
        raise KeyboardInterrupt
    return letters(trial)


SOUND = Experiment(
    id="C1",
    title="Letters",
    claim="Long names have more letters.",
    method="Letters are counted.",
    refuted="short names have more",
    arms={"short": Arm("ab"), "long": Arm("abcdef")},
    small=Size(30),
    full=Size(300),
    measure=letters,
    predictions=(Prediction("the long one has more", lambda of: of("letters", "long") > of("letters", "short")),),
    tells=lambda of: f"{of('letters', 'long'):g} and not {of('letters', 'short'):g}",
    otherwise="other names",
    panels=(Bars(y="letters", title="Letters", label="letters"),),
)


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Experiment]:
    """A laboratory of two claims, of which the second fails, and a zoo."""
    made = {"C1": SOUND, "C2": replace(SOUND, id="C2", measure=broken), "bugs": replace(SOUND, id="bugs")}
    monkeypatch.setattr(claims, "names", lambda: dict.fromkeys(["C1", "C2"], ""))
    monkeypatch.setattr(claims, "experiment", made.__getitem__)
    monkeypatch.chdir(tmp_path)
    return made


def test_one_says_before_it_runs_what_must_be_seen_and_then_what_was() -> None:
    done = fine("lab", "C1", "--jobs", "1")
    assert done.err.index("prediction 1: the long one has more") < done.err.index("[1 of 4] C1 short-0")
    assert "refuted if short names have more" in done.err
    assert "True here: 6 and not 2." in done.out and "True here" not in done.err
    assert "prediction 1: the long one has more: held for 2 of 2 seeds" in done.lines[5]
    assert Path("runs/lab/small/C1/figure.svg").exists()


def test_the_list_has_the_last_verdict_and_the_minutes_of_a_size(two: dict[str, Experiment]) -> None:
    two["C2"] = replace(two["C2"], together=True)
    fine("lab", "C1", "--jobs", "1", "--quiet")
    first, second, zoo = fine("lab", "--json").json
    assert (first["claim"], first["last_verdict"], second["last_verdict"]) == ("C1", "true here (small)", "")
    assert (first["minutes"], second["minutes"]) == (1.0, 0.5)
    assert (zoo["claim"], zoo["lectures"], zoo["last_verdict"]) == ("bugs", "-", "")
    assert [row["minutes"] for row in fine("lab", "--size", "full", "--json").json] == [15.0, 5.0, 15.0]
    assert "Long names have more letters." in fine("lab").out


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_trial_that_fails_is_told_and_the_report_has_the_others(quiet: tuple[str, ...]) -> None:
    done = regard("lab", "all", "--jobs", "1", *quiet)
    assert done.code == 1
    assert "True here: 6 and not 2." in done.out
    why = (
        "C2 has no verdict: 4 of 4 trials failed (C2 short-0: ValueError: nothing works); the same command tries again"
    )
    assert done.err.splitlines()[-1] == why
    report = Path("runs/lab/small/report.md").read_text()
    assert report.startswith("# The laboratory: 1 claim: 1 true here\n")
    assert " ".join(why.split()) in " ".join(report.split())
    assert Path("runs/lab/small/report.html").exists()


def test_a_run_that_is_interrupted_goes_on_where_it_stopped(two: dict[str, Experiment]) -> None:
    two["C1"] = replace(SOUND, measure=stopped)
    words = ("lab", "C1", "--jobs", "1", "--seeds", "1")
    done = regard(*words)
    assert (done.code, done.out) == (130, "")
    assert done.err.splitlines()[-1].startswith("regard: stopped; what is done is kept")
    assert not Path("runs/lab/small/C1/results.json").exists()
    done = fine(*words)
    assert "[1 of 1] C1 long-0" in done.err
    assert "True here (one seed): 6 and not 2." in done.out


def test_json_is_one_document_whatever_fails() -> None:
    done = regard("lab", "C2", "C1", "C1", "--json", "--jobs", "1", "--seeds", "1")
    assert done.code == 1
    assert [(each["id"], each["seeds"]) for each in done.json] == [("C1", [0])]
    assert done.err.count("[") == 4, "each trial is run once"


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("C1", "--seeds", "0"), "--seeds 0: at least 1 is needed"),
        (("C1", "--jobs", "-1"), "--jobs -1: at least 1 is needed; 0 stands for two"),
        (("C1", "--size", "huge"), "huge"),
        (("--seeds", "3"), "name some, such as C7, or all"),
        (("--quiet",), "name some, such as C7, or all"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], because: str) -> None:
    refused("lab", *words, because=because)
    assert not Path("runs").exists()


def test_several_jobs_are_refused_where_nothing_may_run_beside_what_is_timed(two: dict[str, Experiment]) -> None:
    two["C1"] = replace(SOUND, timed=("seconds",))
    refused("lab", "C1", "--jobs", "2", because="--jobs 2: trials that are timed (C1) run alone")


def test_what_is_no_folder_is_refused_before_anything_is_said() -> None:
    Path("taken").write_text("a file")
    refused("lab", "C1", "--jobs", "1", "--out", "taken", because="--out taken is no folder")


def test_looking_again_keeps_every_seed_and_says_that_nothing_was_run() -> None:
    fine("lab", "C1", "--jobs", "1", "--seeds", "3")
    done = fine("lab", "C1", "--jobs", "1", "--json")
    assert done.json[0]["seeds"] == [0, 1, 2]
    assert "C1: nothing is run again, all trials are there" in done.err


def test_the_report_has_all_that_was_found_so_far(two: dict[str, Experiment]) -> None:
    fine("lab", "C1", "--jobs", "1")
    two["C2"] = replace(SOUND, id="C2", title="Again")
    fine("lab", "C2", "--jobs", "1")
    for ending in ("md", "html"):
        report = Path(f"runs/lab/small/report.{ending}").read_text()
        assert "C1: Letters" in report and "C2: Again" in report
        assert "every prediction holds for every seed" in report
    assert "<code>regard lab C1 --size small --seeds 2</code>" in report
