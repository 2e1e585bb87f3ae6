"""`regard translate`, `generate` and `score`: text in, text out."""

import math
import random
from pathlib import Path

import pytest

from regard.cli import reading
from regard.text import Tokenizer
from tests.cli.conftest import WORDS, Place, sentence
from tests.cli.shell import fine, refused, regard

ENGLISH = ["the old cat sees the big dog", "the small house likes the old cat"]
GERMAN = ["die alte Katze sieht die große Hündin", "die kleine Häuser mag die alte Katze"]


def lines(*texts: str) -> str:
    return "".join(text + "\n" for text in texts)


# translate


def test_every_line_in_gives_one_line_out(place: Place) -> None:
    done = fine("translate", place.translator, stdin=lines(*ENGLISH))
    assert done.lines == GERMAN
    assert done.err == ""


def test_a_translation_of_nothing_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of an empty line is empty too, and no surprise."""
    monkeypatch.setattr(Tokenizer, "decode", lambda *_: "")
    done = fine("translate", place.translator, stdin=lines(ENGLISH[0], ""))
    assert done.lines == ["", ""]
    assert done.err == "1 of 2 translations is empty\n"


def test_an_empty_line_stays_empty_and_in_its_place(place: Place) -> None:
    done = fine("translate", place.translator, stdin=lines(ENGLISH[0], "", "  ", ENGLISH[1]))
    assert done.lines == [GERMAN[0], "", "", GERMAN[1]]


def test_a_last_line_without_its_end_counts(place: Place) -> None:
    assert fine("translate", place.translator, stdin="\n".join(ENGLISH)).lines == GERMAN


def test_spaces_and_line_ends_around_a_line_change_nothing(place: Place) -> None:
    """Training strips its lines, so translating must too."""
    done = fine("translate", place.translator, stdin=f"\ufeff  {ENGLISH[0]} \r\n{ENGLISH[1]}\r\n")
    assert done.lines == GERMAN


def test_no_line_in_gives_no_line_out(place: Place) -> None:
    assert fine("translate", place.translator).out == ""
    assert fine("translate", place.translator, "--json").json == []


def test_many_lines_come_in_groups_and_in_order(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    english = [sentence(chance) for _ in range(40)]
    whole = fine("translate", place.translator, stdin=lines(*english)).lines
    right = sum(out == " ".join(WORDS[word] for word in line.split()) for line, out in zip(english, whole, strict=True))
    assert right > 30
    monkeypatch.setattr(reading, "AT_ONCE", 7)
    assert fine("translate", place.translator, stdin=lines(*english)).lines == whole
    sampled = ("translate", place.translator, "--temperature", "2", "--seed", "5")
    in_groups = fine(*sampled, stdin=lines(*english)).lines
    monkeypatch.setattr(reading, "AT_ONCE", 1000)
    assert fine(*sampled, stdin=lines(*english)).lines == in_groups


def test_texts_may_be_arguments(place: Place) -> None:
    done = fine("translate", place.translator, "--text", ENGLISH[0], "--text", ENGLISH[1])
    assert done.lines == GERMAN


def test_words_never_seen_are_no_reason_to_stop(place: Place) -> None:
    assert len(fine("translate", place.translator, stdin="zebra 日本 <s> </s>\n").lines) == 1


def test_words_never_seen_are_told(place: Place) -> None:
    said = fine("translate", place.translator, "--text", "the zebra sees the xylophone").err
    assert "2 of 5 tokens are unknown to this run: zebra xylophone" in said
    assert "unknown to this run: 日" in fine("generate", place.model, "--prompt", "ROMEO日").err


def test_a_translation_that_finds_no_end_is_told(place: Place) -> None:
    done = fine("translate", place.translator, "--max-tokens", "2", stdin=lines(*ENGLISH, ""))
    assert [len(line.split()) for line in done.lines] == [2, 2, 0]
    assert done.err == "2 of 3 translations were cut: no end within 2 tokens\n"


def test_a_beam_gives_the_best_few_with_their_scores(place: Place) -> None:
    done = fine("translate", place.translator, "--beam", "3", "--n-best", "2", "--text", ENGLISH[0])
    scores, texts = zip(*(line.split("\t") for line in done.lines), strict=True)
    assert texts[0] == GERMAN[0] != texts[1]
    assert float(scores[0]) > float(scores[1])


def test_json_has_source_texts_scores_and_tokens(place: Place) -> None:
    options = ("--beam", "2", "--n-best", "2", "--log-probabilities", "--json")
    (found,) = fine("translate", place.translator, *options, "--text", ENGLISH[0]).json
    assert found["source"] == ENGLISH[0]
    best = found["texts"][0]
    assert (best["text"], best["ended"]) == (GERMAN[0], "end")
    assert [token["token"] for token in best["tokens"]] == [*GERMAN[0].split(), "</s>"]
    assert best["log_probability"] == pytest.approx(sum(token["log_probability"] for token in best["tokens"]))
    assert best["score"] == pytest.approx(best["log_probability"] / len(best["tokens"]))


# generate


def test_the_same_seed_draws_the_same_text_and_another_another(place: Place) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--max-tokens", "50", "--seed")
    texts = [fine(*command, seed).out for seed in ("1", "1", "2")]
    assert texts[0].startswith("ROMEO: ")
    assert texts[0] == texts[1] != texts[2]


def test_any_whole_number_is_a_seed(place: Place) -> None:
    for seed in ("-7", "99999999999999999999999"):
        fine("generate", place.model, "--prompt", "R", "--max-tokens", "2", f"--seed={seed}")


def test_a_stream_is_the_same_text(place: Place) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--seed", "3", "--max-tokens", "40")
    assert fine(*command, "--stream").out == fine(*command).out


def test_standard_input_is_a_prompt_of_several_lines(place: Place) -> None:
    done = fine("generate", place.model, "--max-tokens", "5", "--json", stdin="ROMEO: love\nJULIET:\n")
    assert done.json[0]["prompt"] == "ROMEO: love\nJULIET:"
    done = fine("generate", place.model, "--max-tokens", "5", "--json")
    assert done.json[0]["prompt"] == ""


def test_several_prompts_are_continued_each_for_itself(place: Place) -> None:
    command = ("generate", place.model, "--temperature", "0", "--max-tokens", "50", "--json", "--prompt", "JULIET: ")
    both, alone = fine(*command, "--prompt", "R").json, fine(*command).json
    assert [each["prompt"] for each in both] == ["JULIET: ", "R"]
    assert both[0] == alone[0]


@pytest.mark.parametrize("way", ["--json", "--stream"])
def test_a_stop_string_ends_the_text_before_it(place: Place, way: str) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--temperature", "0", "--max-tokens", "60")
    whole = fine(*command, "--json").json[0]["texts"][0]["text"]
    stop = whole[5:8]
    done = fine(*command, "--stop", stop, "--stop", "never this", way)
    made = done.json[0]["texts"][0]["text"] if way == "--json" else done.out.removeprefix("ROMEO:").removesuffix("\n")
    assert made == whole[: whole.index(stop)]
    if way == "--json":
        assert done.json[0]["texts"][0]["ended"] == "stop"


def test_a_beam_may_give_several_texts(place: Place) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--beam", "3", "--n-best", "3", "--max-tokens", "6")
    scores = [float(line.split("\t")[0]) for line in fine(*command).lines if "\t" in line]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_each_token_has_its_log_probability(place: Place) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--temperature", "0", "--max-tokens", "3")
    head, *tokens = fine(*command, "--log-probabilities").lines
    assert head.startswith("ROMEO:")
    values = [float(line.split()[0]) for line in tokens]
    assert len(values) == 3
    assert all(value <= 0 for value in values)


def test_a_text_that_passes_the_context_is_told(place: Place) -> None:
    command = ("generate", place.model, "--prompt", "ROMEO:", "--temperature", "0", "--top-k", "0")
    assert "passed the context of 64 tokens" in fine(*command, "--max-tokens", "70").err
    assert fine(*command, "--max-tokens", "20").err == ""


# ensembles


def test_runs_with_one_tokenizer_are_averaged(place: Place, second: Place) -> None:
    runs = (place.model, second.model)
    each = [math.exp(fine("score", run, "--text", "ROMEO", "--json").json[0]["log_probability"]) for run in runs]
    one = fine("score", *runs, "--text", "ROMEO", "--json").json[0]["tokens"][0]["log_probability"]
    first = [fine("score", run, "--text", "ROMEO", "--json").json[0]["tokens"][0]["log_probability"] for run in runs]
    assert math.exp(one) == pytest.approx(sum(map(math.exp, first)) / 2, rel=1e-4)
    assert each[0] != each[1]
    assert len(fine("generate", *runs, "--prompt", "R", "--max-tokens", "3").lines) >= 1
    assert fine("translate", place.translator, place.translator, stdin=lines(*ENGLISH)).lines == GERMAN
    assert len(fine("translate", place.translator, second.translator, stdin=lines(*ENGLISH)).lines) == 2


def test_runs_with_different_tokenizers_are_refused(place: Place) -> None:
    for command in ("generate", "translate", "score", "evaluate"):
        refused(command, place.model, place.translator, because="have different tokenizers and cannot be averaged")


# score


def test_a_likely_text_scores_above_an_unlikely_one(place: Place) -> None:
    done = fine("score", place.model, stdin=lines("ROMEO: love is a rose", "rose EMOR :evol"))
    (likely, first), (unlikely, second_text) = (line.split("\t") for line in done.lines)
    assert (first, second_text) == ("ROMEO: love is a rose", "rose EMOR :evol")
    assert float(likely) > float(unlikely)


def test_a_translation_is_scored_given_its_source(place: Place) -> None:
    right = fine("score", place.translator, stdin=f"{ENGLISH[0]}\t{GERMAN[0]}\n{ENGLISH[1]}\t{GERMAN[0]}\n")
    values = [float(line.split("\t")[0]) for line in right.lines]
    assert values[0] > values[1]
    found = fine("score", place.translator, "--source", ENGLISH[0], "--text", GERMAN[0], "--json").json[0]
    assert found["log_probability"] == pytest.approx(values[0], abs=1e-4)
    assert [token["token"] for token in found["tokens"]] == [*GERMAN[0].split(), "</s>"]


def test_what_is_scored_is_what_was_made(place: Place) -> None:
    """Two ways to the same number: the tokens as they were chosen, and the finished text."""
    options = ("--text", ENGLISH[0], "--log-probabilities", "--json")
    made = fine("translate", place.translator, *options).json[0]["texts"][0]
    scored = fine("score", place.translator, "--source", ENGLISH[0], "--text", made["text"], "--json").json[0]
    assert scored["log_probability"] == pytest.approx(made["log_probability"], abs=1e-4)


def test_nothing_to_score_prints_nothing(place: Place) -> None:
    for run in (place.model, place.translator):
        assert regard("score", run).out == ""


def test_bytes_that_are_no_characters_are_found_in_their_line(place: Place) -> None:
    broken = b"the cat\n\xff\n"
    for command, run in (("translate", place.translator), ("generate", place.model), ("score", place.model)):
        refused(command, run, because="standard input line 2: not UTF-8", stdin=broken)
    refused("generate", place.model, "--prompt", "a\udcff", because="--prompt 'a\\udcff': not UTF-8")


def test_a_run_may_be_named_from_anywhere(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fine("translate", "translator", stdin=lines(ENGLISH[0])).lines == GERMAN[:1]
    monkeypatch.chdir(tmp_path)
    assert fine("translate", here.translator, stdin=lines(ENGLISH[0])).lines == GERMAN[:1]
