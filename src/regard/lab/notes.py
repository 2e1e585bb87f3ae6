"""What a comparison held equal and what its figures mean, in words that stand under the table."""

from collections import Counter
from pathlib import Path
from typing import Any

from regard.data.splits import as_paths
from regard.lab.bootstrap import DRAWS, EXACT, LOSS
from regard.lab.plan import Asked, Budget, line
from regard.lab.sweep import DROPOUTS, PART, RATES
from regard.lab.table import hides, main_score
from regard.train.forecast import quantity

TUNING = {
    "none": "Learning rates and dropouts are the presets' own: no sweep was made.",
    "rate": f"Learning rates: the best of {len(RATES)} around the preset's, or of more beyond an edge, by validation "
    f"loss, in trials of {PART:.0%} of the budget with one seed (sweep.json).",
    "full": f"Learning rates and dropouts: the best of {len(RATES)} rates around the preset's, or of more beyond an "
    f"edge, then of {len(DROPOUTS)} dropouts, by validation loss, in trials of {PART:.0%} of the budget with one seed "
    "(sweep.json). Short trials favour little dropout.",
}


def explained(asked: Asked, plan: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """Title, caption and notes."""
    data, budget = asked.recipe.data.train, Budget(**plan["budget"])
    name = " ".join(Path(path).name for path in as_paths(data))
    seeds = f"{asked.seeds} seeds, mean ± standard deviation" if asked.seeds > 1 else "one seed"
    failed = Counter(trial["member"] for trial in results["sweep"]["trials"] if "error" in trial)
    caption = f"{name}; {budget} each; {seeds}; sweep: {asked.sweep}"
    notes = [
        f"Data: {name}. Data, tokenizer, objective, decoding, batch size ({asked.recipe.train.batch_tokens:,} tokens), "
        "device and precision are the same for all.",
        f"{line(budget, asked).capitalize()}; it takes the place of the presets' own train.steps, max_tokens and "
        "max_seconds, and the warm-up keeps its share of it. Each is validated once, at its end.",
        TUNING[asked.sweep],
        *(f"The best rate of {name} stands at the edge of what was tried." for name in results["sweep"]["at_edge"]),
        *(f"{count} of the trials of {name} failed and had no part in its choice." for name, count in failed.items()),
        f"Seeds from {asked.recipe.seed}: {seeds}.",
        *costs(plan),
        *distances(results, asked.seeds),
        *ranked(results),
        *learnt_nothing(results),
        *(f"Begun elsewhere or with other versions: {change}." for change in plan["changed"]),
        *found(plan, [run for member in results["members"] for run in member["runs"]]),
    ]
    return {"title": f"Comparison on {name}", "caption": caption, "notes": notes}


def costs(plan: dict[str, Any]) -> list[str]:
    precision = next(iter(plan["rehearsals"].values()))["precision"]
    return [
        "FLOPs: multiplications and additions of matrix products, forward and backward, counted on one typical batch.",
        f"FLOPs 2017: seconds of training times 1 device times {quantity(plan['sustained'])}FLOP/s, the rate that a "
        f"matrix product in {precision} was measured to sustain here ({plan['here']['machine']}).",
    ]


def distances(results: dict[str, Any], seeds: int) -> list[str]:
    if not results["paired"]:
        return [f"No bootstrap: {results['unpaired']}."]
    examples = "test examples"
    if hides(results):
        examples = "test texts, or windows of them where they are longer than the context,"
    elif main_score(results) == LOSS.name:
        examples = "test texts, or blocks of their tokens where they are few,"
    trainings = (
        f"and over each member's {seeds} seeds; so few tell only roughly what other trainings would give"
        if seeds > 1
        else "alone: with one seed the chance of training is not in it, and another seed may turn the order"
    )
    return [
        f"Against best: the difference of the means, and p by a paired bootstrap (Koehn, 2004) over {examples} "
        f"{trainings}. p is the share of {DRAWS:,} draws in which the member is at least as good as the best."
    ]


def ranked(results: dict[str, Any]) -> list[str]:
    """What is not as readers expect: another score than BLEU, and a first place that is shared."""
    notes, score = [], main_score(results)
    if score == EXACT.name:
        notes.append(
            "Ranked by exact match, the share of outputs equal to the reference: no reference has the four words in a "
            "row that BLEU counts, so that BLEU says nothing here (it stands in results.json)."
        )
    if hides(results):
        notes.append(
            "Ranked by loss: where one common word is the guess for all, accuracy does not tell members apart. What is "
            "hidden is drawn from the seed of a run" + (", the same for all members." if results["paired"] else ".")
        )
    if tied := [member["member"] for member in results["members"] if member.get("tied")]:
        notes.append(
            f"A tie: {', '.join(tied)} have the same {score.replace('_', ' ')}; none is better than the other."
        )
    return notes


def learnt_nothing(results: dict[str, Any]) -> list[str]:
    """Who guesses no better than one who knows how common each hidden token is, and nothing else."""
    notes = []
    for member in results["members"]:
        scores = [run["scores"] for run in member["runs"] if "unigram_entropy" in run["scores"]]
        if bad := sum(each["loss"] >= each["unigram_entropy"] for each in scores):
            seeds = "" if bad == len(scores) else f" with {bad} of {len(scores)} seeds"
            notes.append(
                f"{member['member']} guesses no better than by how common tokens are: its loss is not below the "
                f"unigram entropy{seeds}."
            )
    return notes


def found(plan: dict[str, Any], runs: list[dict[str, Any]]) -> list[str]:
    """What only the runs can tell."""
    notes = [f"Scores: {run['scores']['signature']}" for run in runs[:1] if "signature" in run["scores"]]
    if any(run["jobs_beside"] for run in runs):
        notes.append("Several trainings ran side by side on one machine: seconds are longer than alone.")
    for name, facts in plan["rehearsals"].items():
        if lost := {split: count for split, count in facts["left_out"].items() if count}:
            notes.append(f"{name} dropped or cut examples longer than its context: {lost}.")
    return notes
