"""The table of a comparison, for a terminal and in Markdown, and in words what its columns mean."""

import math
from statistics import mean, stdev
from typing import Any

from regard.lab.bootstrap import EXACT, LOSS
from regard.train.forecast import quantity

ORDER = (
    "exact_match",
    "bleu",
    "chrf",
    "rouge_l",
    "pronoun_accuracy",
    "accuracy",
    "f1",
    "loss",
    "perplexity_token",
    "perplexity_word",
)
COST = {
    "tokens": "tokens",
    "flops": "FLOPs",
    "flops_2017": "FLOPs 2017",
    "seconds": "seconds",
    "tokens_per_second": "tokens/s",
}
HIDDEN = ("valid_loss", "perplexity_character")
BESIDE = ("perplexity_word", "perplexity_byte")  # of translations in results.json alone, with the score not ranked by
LOWER = ("loss", "perplexity")


def score_names(results: dict[str, Any]) -> list[str]:
    """The scores that some member has, the ones people look for first."""
    found = dict.fromkeys(name for member in results["members"] for name in member["figures"])
    unranked = "bleu" if results["score"] == EXACT.name else EXACT.name
    hidden = {*COST, *HIDDEN, *((*BESIDE, unranked) if "bleu" in found else ())}
    known = sorted((name for name in ORDER if name in found), key=lambda name: name != main_score(results))
    others = [name for name in found if name not in known]
    return [name for name in (*known, *others) if name not in hidden]


def main_score(results: dict[str, Any]) -> str:
    """The one that members are ranked by."""
    accurate = any("accuracy" in member["figures"] for member in results["members"])
    return results["score"] or ("accuracy" if accurate and not hides(results) else LOSS.name)


def hides(results: dict[str, Any]) -> bool:
    """Whether members guess hidden words. Often the same word is guessed everywhere; then only the loss tells more."""
    return any("unigram_entropy" in member["figures"] for member in results["members"])


def by_words(results: dict[str, Any]) -> str:
    """The heading of the scores by length."""
    return f"{'BLEU' if results['score'] == 'bleu' else 'Exact match'} by words in the source"


def cost_rows(results: dict[str, Any]) -> list[dict[str, str]]:
    """What each member is and what it took."""
    return [
        {
            "system": member["member"],
            "parameters": quantity(member["parameters"]).strip(),
            "rate": f"{member['rate']:g}" if "rate" in member else "",
            "dropout": "" if member.get("dropout") is None else f"{member['dropout']:g}",
            **{label: large(member["figures"].get(name)) for name, label in COST.items()},
            "seconds": cell(member["figures"].get("seconds")),
        }
        for member in results["members"]
    ]


def score_rows(results: dict[str, Any]) -> list[dict[str, str]]:
    """How good each member is, and how far from the best."""
    return [
        {
            "system": member["member"],
            **{name.replace("_", " "): cell(member["figures"].get(name)) for name in score_names(results)},
            "against best": standing(member),
        }
        for member in results["members"]
    ]


def standing(member: dict[str, Any]) -> str:
    """Its distance from the best in words."""
    if not member["figures"]:
        return "FAILED"
    if member.get("best"):
        return "best"
    if tied := member.get("tied"):
        return f"tie with {tied[0]}" if len(tied) == 1 else f"tie of {1 + len(tied)}"
    distance = member.get("against_best")
    return f"{distance['worse_by']:.2g} worse, p {distance['p']:.3f}" if distance else ""


def large(figure: dict[str, Any] | None) -> str:
    return "" if figure is None else quantity(figure["mean"]).strip()


def cell(figure: dict[str, Any] | None) -> str:
    """Mean and spread, with as many digits as the spread allows."""
    if figure is None:
        return ""
    mean, spread = figure["mean"], figure["spread"]
    if not spread or mean >= 1e5:
        return f"{mean:.4g}" + ("" if spread is None else f" ± {spread:.2g}")
    digits = min(4, max(0, 1 - math.floor(math.log10(spread))))
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"


def length_rows(results: dict[str, Any]) -> list[dict[str, str]]:
    """The score of each member by the length of the source; empty where nothing is translated."""
    table, (score, digits) = [], (results["score"], 1 if results["score"] == "bleu" else 3)
    for member in results["members"]:
        if "by_length" in member:
            cells = {"system": member["member"]}
            for bucket in member["by_length"]:
                spread = f" ± {stdev(bucket[score]):.{digits}f}" if len(bucket[score]) > 1 else ""
                cells[f"{lengths(bucket)} ({bucket['texts']})"] = f"{mean(bucket[score]):.{digits}f}{spread}"
            table.append(cells)
    return table


def lengths(bucket: dict[str, Any]) -> str:
    """`7–9`, or `10` where all are alike."""
    first, last = bucket["from"], bucket["to"]
    return str(first) if first == last else f"{first}–{last}"


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    parts = [f"# {results['title']}", grid(score_rows(results)), grid(cost_rows(results))]
    if by_length := length_rows(results):
        parts += [f"## {by_words(results)}", "In brackets how many texts.", grid(by_length)]
    if failed := failures(results):
        parts += ["## Failed", "\n".join(f"- {line}" for line in failed)]
    parts += ["## How this was measured", "\n".join(f"- {note}" for note in results["notes"])]
    return "\n\n".join(parts) + "\n"


def grid(table: list[dict[str, str]]) -> str:
    names = list(table[0])
    lines = [names, ["---"] + ["---:"] * (len(names) - 1), *([line.get(name, "") for name in names] for line in table)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def failures(results: dict[str, Any]) -> list[str]:
    return [f"{member['member']}: {error}" for member in results["members"] for error in member["errors"]]
