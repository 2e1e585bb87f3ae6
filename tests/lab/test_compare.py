"""The fair comparison: one budget, one sweep, several seeds; what is done stays done, and its figures can be redone."""

import json
import os
import signal
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from regard.data.prepare import prepare
from regard.errors import Interrupted, WorldError
from regard.evaluate import cost
from regard.lab import member as runs_of_members
from regard.lab.compare import compare
from regard.lab.plan import Budget, ask, opened
from regard.lab.results import same_tokenizer
from tests.cli.shell import regard
from tests.helpers import lines_file, refused
from tests.lab.members import member
from tests.train.runs import identical, listen

TOKENS = Budget("tokens", 2_300)


@pytest.fixture(autouse=True, scope="module")
def quick():
    """A rate is measured in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "LONG_ENOUGH", 0.01)
        patch.setitem(cost.SIZES, "cpu", 64)
        yield


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare")


@pytest.fixture(scope="module")
def translators(folder: Path) -> list[str]:
    return [member(folder, "rnn"), member(folder, "looker")]


@pytest.fixture(scope="module")
def results(folder: Path, translators: list[str]) -> dict[str, Any]:
    return compare(translators, [], out=folder / "out", seeds=2, budget=TOKENS)


def by_name(results: dict[str, Any]) -> dict[str, Any]:
    return {each["member"]: each for each in results["members"]}


def test_all_train_on_as_many_tokens_and_no_more_than_the_budget(results: dict[str, Any]) -> None:
    for each in results["members"]:
        assert [run["seed"] for run in each["runs"]] == [0, 1]
        for run in each["runs"]:
            events = [json.loads(line) for line in (Path(run["run"]) / "log.jsonl").read_text().splitlines()]
            last, _, end = events[-3:]
            assert run["seconds"] == last["seconds"] < end["seconds"], "the validation is not counted"
        assert all(TOKENS.amount - 92 <= run["tokens"] <= TOKENS.amount for run in each["runs"])
    first, second = ([run["tokens"] for run in each["runs"]] for each in results["members"])
    assert first == second


def test_speed_is_that_of_training_alone_as_the_run_reports_it(results: dict[str, Any]) -> None:
    for each in results["members"]:
        for run in each["runs"]:
            told = read(Path(run["run"]) / "report.json")["measured"]
            assert run["training_seconds"] == pytest.approx(told["seconds"] - told["validation_seconds"])
            assert run["tokens_per_second"] == pytest.approx(told["tokens_per_second"])


def test_the_choice_is_the_trial_with_the_lowest_validation_loss(results: dict[str, Any], folder: Path) -> None:
    sweep = read(folder / "out" / "sweep.json")
    for name, found in by_name(results).items():
        trials = [trial for trial in sweep["trials"] if trial["member"] == name]
        rates = sorted({trial["rate"] for trial in trials})
        assert {0.0033, 0.01, 0.03} <= set(rates) and len(trials) == len(rates) + 2
        assert len(rates) == 5 or found["rate"] not in (rates[0], rates[-1]), "beyond an edge more is tried"
        assert (name in sweep["at_edge"]) == (found["rate"] in (rates[0], rates[-1]))
        assert {trial["dropout"] for trial in trials} == {0.0, 0.1, 0.3}
        best = min(trials, key=lambda trial: trial["loss"])
        assert (found["rate"], found["dropout"]) == (best["rate"], best["dropout"])
        assert [trial for trial in trials if trial["chosen"]] == [best]
        assert all(trial["tokens"] <= 0.2 * TOKENS.amount for trial in trials)


def test_runs_have_what_was_chosen_and_share_the_rest(results: dict[str, Any]) -> None:
    for each in results["members"]:
        per_step = results["plan"]["rehearsals"][each["member"]]["tokens_per_step"]
        for run in each["runs"]:
            config = read(Path(run["run"]) / "config.json")
            assert config["train"]["rate"] == each["rate"] and config["system"]["dropout"] == each["dropout"]
            assert config["train"]["warmup"] == round(2 * TOKENS.amount / (10 * per_step)), "2 of the preset's 10 steps"
            assert config["seed"] == run["seed"]


def test_figures_are_mean_and_deviation_over_seeds(results: dict[str, Any]) -> None:
    for each in results["members"]:
        for name in ("bleu", "chrf", "rouge_l", "loss"):
            values = [run["scores"][name] for run in each["runs"]]
            assert each["figures"][name]["mean"] == pytest.approx(np.mean(values))
            assert each["figures"][name]["spread"] == pytest.approx(np.std(values, ddof=1))
        flops = [
            run["tokens"] * results["plan"]["rehearsals"][each["member"]]["flops_per_token"] for run in each["runs"]
        ]
        assert each["figures"]["flops"]["each"] == pytest.approx(flops)
        estimates = [run["seconds"] * results["plan"]["sustained"] for run in each["runs"]]
        assert each["figures"]["flops_2017"]["each"] == pytest.approx(estimates)


def test_scores_can_be_computed_again_from_what_each_example_got(results: dict[str, Any], folder: Path) -> None:
    assert read(folder / "out" / "results.json") == json.loads(json.dumps(results))
    examples = results["examples"]
    for each in results["members"]:
        for run, kept in zip(each["runs"], examples["members"][each["member"]], strict=True):
            again = BLEU().corpus_score(kept["hypothesis"], [examples["reference"]]).score
            assert again == pytest.approx(run["scores"]["bleu"])
        lengths = [len(text.split()) for text in examples["source"]]
        for bucket in each["by_length"]:
            assert bucket["texts"] == sum(bucket["from"] <= n <= bucket["to"] for n in lengths) >= 10
        assert sum(bucket["texts"] for bucket in each["by_length"]) == len(lengths)


def test_one_is_the_best_and_the_other_is_told_its_distance(results: dict[str, Any]) -> None:
    best = max(results["members"], key=lambda each: each["figures"]["bleu"]["mean"])
    other = next(each for each in results["members"] if each is not best)
    assert best["best"] and best["against_best"] is None
    distance = other["against_best"]
    assert distance["best"] == best["member"] and distance["score"] == "bleu"
    assert distance["low"] <= distance["worse_by"] <= distance["high"] and 0 < distance["p"] <= 1


def test_table_and_picture_are_written(results: dict[str, Any], folder: Path) -> None:
    table = (folder / "out" / "table.md").read_text()
    for words in ("| rnn |", "| looker |", "BLEU by words", "nrefs:1", "Koehn", "FLOP/s", "2,300 predicted tokens"):
        assert words in table
    picture = (folder / "out" / "plot.svg").read_text()
    assert all(words in picture for words in ("looker", "training FLOPs", " texts"))
    assert (folder / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_again_does_nothing_again(
    results: dict[str, Any], folder: Path, translators: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials: list[str] = []
    monkeypatch.setattr(runs_of_members, "resume", lambda *args, **kwargs: trials.append("train"))
    monkeypatch.setattr(runs_of_members, "evaluate", lambda *args, **kwargs: trials.append("evaluate"))
    assert compare(translators, [], out=folder / "out", seeds=2, budget=TOKENS) == json.loads(json.dumps(results))
    assert not trials


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 3}, "holds another comparison: seeds is 2 there and 3 now; give another --out"),
        ({"budget": Budget("tokens", 2_400)}, "budget.amount is 2300 there and 2400 now"),
        ({"sweep": "rate"}, "sweep is 'full' there and 'rate' now"),
        ({"settings": ["system.width=18"]}, "members.rnn.system.width is 16 there and 18 now (and 1 more)"),
    ],
)
def test_another_comparison_in_the_same_folder_is_refused(
    results: dict[str, Any], folder: Path, translators: list[str], change: dict[str, Any], message: str
) -> None:
    asked: dict[str, Any] = {"settings": [], "seeds": 2, "budget": TOKENS, **change}
    with refused(message):
        compare(translators, out=folder / "out", **asked)


@pytest.mark.usefixtures("results")
def test_an_interrupted_comparison_goes_on_to_the_same_end(
    folder: Path, translators: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"out": tmp_path / "out", "seeds": 2, "budget": TOKENS}
    with monkeypatch.context() as patch:
        heard: list[int] = []

        def interrupt(event: dict[str, Any]) -> None:
            if event["event"] == "step" and event["step"] == 20:
                heard.append(event["step"])
                if len(heard) == 3:
                    os.kill(os.getpid(), signal.SIGINT)

        listen(patch, interrupt)
        with refused("the same command goes on", Interrupted):
            compare(translators, **asked)
    assert len(list((tmp_path / "out" / "scores").iterdir())) == 2, "two of four runs were finished"
    results = compare(translators, **asked)
    for each in results["members"]:
        for run in each["runs"]:
            identical(Path(run["run"]), folder / "out" / "runs" / Path(run["run"]).name)


def test_a_member_that_fails_does_not_lose_the_others(translators: list[str], tmp_path: Path, monkeypatch) -> None:
    words = ["compare", *translators, "--out", tmp_path / "out", "--seeds", "1", "--sweep", "none", "--quiet"]
    real = runs_of_members.resume

    def lost(out, **more):
        if "looker" in str(out):
            raise WorldError("the device is gone")
        return real(out, **more)

    with monkeypatch.context() as patch:
        patch.setattr(runs_of_members, "resume", lost)
        done = regard(*words)
    assert done.code == 1
    assert "looker: the device is gone" in done.err and "FAILED" in done.out
    found = by_name(read(tmp_path / "out" / "results.json"))
    assert found["looker"]["errors"] == ["the device is gone"] and not found["looker"]["figures"]
    assert found["rnn"]["best"] and not found["rnn"]["errors"]
    rnn = (tmp_path / "out" / "scores" / "rnn-0.json").stat().st_mtime_ns
    again = regard(*words, "--json")
    assert again.code == 0 and not any(each["errors"] for each in again.json["members"])
    assert (tmp_path / "out" / "scores" / "rnn-0.json").stat().st_mtime_ns == rnn


def test_a_rate_that_loses_the_loss_is_a_finding(folder: Path, tmp_path: Path) -> None:
    presets = [member(tmp_path, "speaker", rate=1e6), member(tmp_path, "carrier")]
    found = compare(presets, ["train.clip=0"], out=tmp_path / "out", seeds=1, budget=TOKENS, sweep="rate")
    trials = [each for each in read(tmp_path / "out" / "sweep.json")["trials"] if each["loss"] is None]
    assert trials and all(trial["member"] == "speaker" for trial in trials)
    assert all("no longer a number" in trial["lost"] for trial in trials)
    assert not by_name(found)["carrier"]["errors"]


def test_language_models_are_compared_by_the_loss_of_the_same_documents(tmp_path: Path) -> None:
    presets = [member(tmp_path, "speaker"), member(tmp_path, "carrier")]
    found = compare(presets, [], out=tmp_path / "out", seeds=1, sweep="none")
    for each in found["members"]:
        nats, tokens = np.sum(found["examples"]["members"][each["member"]][0]["nats"], axis=0)
        assert nats / tokens == pytest.approx(each["runs"][0]["scores"]["loss"], rel=1e-5)
        assert "perplexity_word" in each["figures"] and each["figures"]["loss"]["spread"] is None
    worse = next(each for each in found["members"] if not each["best"])
    assert worse["against_best"]["score"] == "loss" and worse["against_best"]["worse_by"] > 0
    budget = found["plan"]["budget"]
    steps = [found["plan"]["rehearsals"][name]["tokens_per_step"] * 10 for name in ("speaker", "carrier")]
    assert budget == {"kind": "tokens", "amount": min(steps)}
    assert any("as many as the shortest training of these presets" in note for note in found["notes"])


def of_one_text(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Members whose file is one document; their tests are one long text each."""
    presets = [member(folder, name) for name in names]
    for path in map(Path, presets):
        path.write_text(path.read_text().replace('document = "line"', 'document = "file"'))
    return presets


def test_of_one_long_text_blocks_are_drawn_again_whose_loss_is_the_tables(tmp_path: Path) -> None:
    """One member sees windows and the other carries its state through: both are cut at the same tokens."""
    found = compare(of_one_text(tmp_path, ("speaker", "carrier")), [], out=tmp_path / "out", seeds=1, sweep="none")
    assert found["paired"]
    blocks = {name: np.array(runs[0]["nats"]) for name, runs in found["examples"]["members"].items()}
    for each in found["members"]:
        nats, tokens = blocks[each["member"]].sum(0)
        assert nats / tokens == pytest.approx(each["runs"][0]["scores"]["loss"])
        assert tokens == each["runs"][0]["scores"]["tokens"]
    assert len(blocks["speaker"]) >= 100 and np.array_equal(blocks["speaker"][:, 1], blocks["carrier"][:, 1])
    one, other = (each["figures"]["loss"]["mean"] for each in found["members"])
    worse = next(each["against_best"] for each in found["members"] if not each["best"])
    assert worse["worse_by"] == pytest.approx(abs(one - other))
    notes = " ".join(found["notes"])
    assert "blocks of their tokens" in notes and "with one seed the chance of training is not in it" in notes


def test_an_empty_text_among_the_test_data_loses_nothing(tmp_path: Path) -> None:
    presets = [member(tmp_path, "speaker"), member(tmp_path, "carrier")]
    test = lines_file(tmp_path / "test.txt", ["abc", "", "cba ab", "  "])
    settings = [f'data.test="{test}"', "train.steps=2"]
    found = compare(presets, settings, out=tmp_path / "out", seeds=1, sweep="none")
    assert not any(each["errors"] for each in found["members"]) and found["paired"]


def single_letters(folder: Path) -> list[str]:
    """Members who say the last letter of three; the second of them has no time to learn it."""
    presets = [member(folder, name) for name in ("looker", "rnn")]
    texts = [" ".join(letters) for letters in product("abcdefg", repeat=3)]
    lines_file(folder / "pairs.tsv", [f"{text}\t{text[-1]}" for text in texts])
    return presets


def test_where_bleu_says_nothing_exact_match_ranks(tmp_path: Path) -> None:
    settings = ["train.warmup=0", "system.dropout=0"]
    presets = single_letters(tmp_path)
    slow = Path(presets[0])
    slow.write_text(slow.read_text().replace("rate = 0.01", "rate = 1e-9"))
    out = tmp_path / "out"
    found = by_name(
        results := compare(presets, settings, out=out, seeds=1, budget=Budget("tokens", 9_000), sweep="none")
    )
    looker, rnn = found["looker"], found["rnn"]
    assert {each["figures"]["bleu"]["mean"] for each in found.values()} == {0}
    assert rnn["figures"]["exact_match"]["mean"] > looker["figures"]["exact_match"]["mean"]
    assert rnn["best"] and looker["against_best"]["score"] == results["score"] == "exact_match"
    assert looker["against_best"]["worse_by"] > 0.2 and looker["against_best"]["p"] < 0.01
    table = (out / "table.md").read_text()
    assert "| system | exact match | chrf |" in table and "Exact match by words in the source" in table
    assert "bleu" not in table.splitlines()[2] and "BLEU says nothing here" in table
    assert "exact match (higher is better)" in (out / "plot.svg").read_text()


def test_those_who_are_equal_are_a_tie_and_none_is_the_best(tmp_path: Path) -> None:
    presets = single_letters(tmp_path)
    other = Path(presets[0]).with_name("again.toml")
    other.write_text(Path(presets[0]).read_text().replace("rate =", "beta1 = 0.8\nrate ="))
    out = tmp_path / "out"
    settings = ["train.rate=1e-9", "decode.max_tokens=1"]
    results = compare([presets[0], str(other)], settings, out=out, seeds=1, budget=Budget("tokens", 400), sweep="none")
    assert [each["best"] for each in results["members"]] == [False, False]
    table = (out / "table.md").read_text()
    assert "tie with again" in table and "tie with looker" in table and "A tie: looker, again" in table
    assert "| best |" not in table and " worse" not in table


def test_data_are_prepared_once_for_each_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(
        "regard.train.run.prepare", lambda *args, **more: made.append("again") or prepare(*args, **more)
    )
    presets = [member(tmp_path, "speaker"), member(tmp_path, "carrier")]
    found = compare(presets, ["train.steps=2"], out=tmp_path / "out", seeds=2, sweep="none")
    assert len(made) == 2
    for run in (run for each in found["members"] for run in each["runs"]):
        report, config = (read(Path(run["run"]) / f"{name}.json") for name in ("report", "config"))
        assert report["seed"] == config["seed"] == run["seed"]


def begun(folder: Path) -> tuple[list[str], Path]:
    """A comparison that has its plan and nothing else."""
    presets, out = [member(folder, "rnn"), member(folder, "looker")], folder / "out"
    opened(ask(presets, ["train.device=auto"], seeds=1, budget=TOKENS, sweep="none"), out, lambda line: None)
    return presets, out


def test_a_comparison_does_not_go_on_on_another_kind_of_device(tmp_path: Path) -> None:
    presets, out = begun(tmp_path)
    plan = read(out / "compare.json")
    (out / "compare.json").write_text(json.dumps({**plan, "device": "tpu"}))
    with refused(f"was begun on the device 'tpu' and '{plan['device']}' is the one here"):
        compare(presets, ["train.device=auto"], out=out, seeds=1, budget=TOKENS, sweep="none")


def test_going_on_with_other_versions_is_said_and_noted(tmp_path: Path) -> None:
    presets, out = begun(tmp_path)
    plan = read(out / "compare.json")
    here = plan["here"] | {"torch": "0.4.1", "machine": "abacus"}
    (out / "compare.json").write_text(json.dumps({**plan, "here": here}))
    said: list[str] = []
    asked: dict[str, Any] = {"out": out, "seeds": 1, "budget": TOKENS, "sweep": "none"}
    found = compare(presets, ["train.device=auto"], **asked, say=said.append)
    assert any("torch is '0.4.1' there and" in line and "machine is 'abacus'" in line for line in said)
    assert sum("elsewhere or with other versions" in note for note in found["notes"]) == 2


def test_members_whose_tokenizers_differ_are_not_compared(tmp_path: Path) -> None:
    with refused("b and a have different tokenizers"):
        same_tokenizer({"a": ["x", "x"], "c": [], "b": ["x", "y"]})
    same_tokenizer({"a": ["x"], "b": ["x"], "c": []})


def test_side_by_side_everything_comes_out_the_same(
    results: dict[str, Any], folder: Path, translators: list[str], tmp_path: Path
) -> None:
    said: list[str] = []
    asked: dict[str, Any] = {"out": tmp_path / "out", "seeds": 2, "budget": TOKENS}
    found = compare(translators, [], **asked, jobs=2, say=said.append)
    for each in found["members"]:
        assert each["figures"]["bleu"] == by_name(results)[each["member"]]["figures"]["bleu"]
        for run in each["runs"]:
            identical(Path(run["run"]), folder / "out" / "runs" / Path(run["run"]).name)
    assert any(line.startswith("rnn, seed 1 finished after") and "valid loss" in line for line in said)
    assert any("side by side" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (["rnn"], {}, "there is nothing to compare"),
        (["rnn", "rnn"], {}, "two members are named 'rnn'"),
        (["rnn", "speaker"], {}, "'speaker' is trained for next-token, the first preset for translation"),
        (["rnn", "looker"], {"seeds": 0}, "--seeds 0: at least 1 is needed"),
        (["rnn", "looker"], {"jobs": 0}, "--jobs 0: at least 1 is needed"),
        (["rnn", "looker"], {"jobs": 2, "budget": Budget("seconds", 3)}, "equal seconds are no equal budget"),
        (["rnn", "looker"], {"sweep": "all"}, "sweep = 'all' is not known; known: none, rate, full"),
        (["rnn", "looker"], {"settings": ["train.patience=3"]}, "each training is validated once, at its end"),
        (["rnn", "looker"], {"settings": ["train.max_seconds=3"]}, "the budget says how long is trained"),
        (["rnn", "looker"], {"settings": ["train.steps=3"], "budget": TOKENS}, "the budget says how long is trained"),
        (["rnn", "looker"], {"settings": ["system.heads=4"]}, "no setting 'heads'"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    tmp_path: Path, names: list[str], asked: dict[str, Any], message: str
) -> None:
    with refused(message):
        compare([member(tmp_path, name) for name in names], **{"out": tmp_path / "out", **asked})
    assert not (tmp_path / "out").exists()


def test_without_sacrebleu_translators_are_not_even_trained(
    tmp_path: Path, translators: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with refused("pip install sacrebleu"):
        compare(translators, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path, translators: list[str]) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with refused("exists and holds no comparison; give another --out"):
        compare(translators, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    done = regard("compare", *translators, "--out", tmp_path, "--budget-flops", "1e9", "--budget-tokens", "5")
    assert done.code == 2 and "give one budget" in done.err
    done = regard("compare", *translators, "--out", tmp_path, "--budget-seconds", "-1")
    assert done.code == 2 and "--budget-seconds -1: it must be more than 0" in done.err
