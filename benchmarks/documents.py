"""Long documents summed up by the five systems of the lectures' table (S13, C20): perplexity and ROUGE-L of each.

    python benchmarks/documents.py [SCITLDR] [--data articles scitldr] [--rows NAME ...] [--scale full small tiny]
        [--seeds 0] [--steps N] [--seconds S] [--workers N] [--device cuda] [--out FOLDER]

SCITLDR is a folder with train.jsonl, dev.jsonl and test.jsonl of that data set; `articles` needs none.

| row | reads of a document | |
|---|---|---|
| seq2seq-attention | 500 tokens | an encoder-decoder of LSTMs with attention |
| transformer-ed | 500 | an encoder and a decoder |
| transformer-d | 4,000 | a decoder alone |
| dmca | 11,000 | the same with local blocks and compressed memory in turn: L M L M L |
| dmca-moe | 7,500 | the same with 128 experts in place of each feed-forward layer |
| dmca-moe-128, dmca-moe-256 | 11,000, 7,500 | with 128 and 256 experts; only when asked for |

Of `articles` the test are 200 documents of about 10,900 tokens, the same for all rows: what a summary needs stands all
over them, and a row sees of it what it can read. A decoder's row of tokens holds the summary too. All rows learn from
the same documents in the same three stages, short ones first, by as many steps of as many tokens. Of SciTLDR, whose
abstracts are short, every row reads all. Models have about the same size, experts left aside.

`--scale small` takes documents and inputs 11 times shorter, for a CPU. Each training is given `--seconds` in all, of
which its stages have their shares. Perplexity is that of the first reference; ROUGE-L takes the best of several. What
was measured stands in FOLDER/results.json and is not measured again; the tables go to FOLDER/documents.md.
"""

import argparse
import json
import math
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trials import Plan, Result, digest, ended, kept, limits, spread, table

NEVER = 10**6
WRITTEN = 64  # the most tokens of a summary


@dataclass(frozen=True)
class Row:
    """One system of the table: how many tokens it reads, and what sets it apart from the others."""

    input: int
    objective: str
    system: dict[str, Any]


RECURRENT = {"kind": "seq2seq-attention", "cell": "lstm", "depth": 1, "query": "current", "score": "bilinear"}
LONG = {"kind": "gpt", "depth": 5, "position": "rotary", "attention": "dmca", "stride": 3}
ROWS = {
    "seq2seq-attention": Row(500, "translation", RECURRENT),
    "transformer-ed": Row(500, "translation", {"kind": "transformer", "depth": 3, "position": "rotary"}),
    "transformer-d": Row(4000, "continuation", {"kind": "gpt", "depth": 5, "position": "rotary"}),
    "dmca": Row(11_000, "continuation", LONG),
    "dmca-moe": Row(7500, "continuation", {**LONG, "experts": 128}),
    "dmca-moe-128": Row(11_000, "continuation", {**LONG, "experts": 128}),
    "dmca-moe-256": Row(7500, "continuation", {**LONG, "experts": 256}),
}
USUAL = list(ROWS)[:5]


@dataclass(frozen=True)
class Stage:
    """So many training documents of `least` to `most` words, read for so many steps of so many tokens."""

    documents: int
    least: int
    most: int
    steps: int
    batch_tokens: int
    share: float  # of the seconds


@dataclass(frozen=True)
class Scale:
    """How large all is; `shorter` is what inputs are divided by."""

    shorter: int
    width: int
    heads: int
    block: int
    rate: float
    stages: tuple[Stage, ...]
    words: int  # of a document of the test
    tests: int
    steps: int  # on SciTLDR
    few_experts: int = 0  # in place of a row's own


SCALES = {
    "full": Scale(
        *(1, 256, 4, 256, 7e-4),
        stages=(
            Stage(40_000, 30, 300, 1200, 8_000, 0.3),
            Stage(40_000, 30, 2_000, 800, 16_000, 0.25),
            Stage(60_000, 30, 9_600, 1000, 44_000, 0.45),
        ),
        words=9_600,
        tests=200,
        steps=700,
    ),
    "small": Scale(
        *(11, 128, 4, 64, 1e-3),
        stages=(
            Stage(16_000, 30, 60, 1500, 640, 0.35),
            Stage(16_000, 30, 250, 500, 1_500, 0.3),
            Stage(16_000, 30, 870, 300, 2_500, 0.35),
        ),
        words=870,
        tests=100,
        steps=300,
        few_experts=8,
    ),
    "tiny": Scale(
        *(50, 16, 2, 8, 1e-3),
        stages=(Stage(50, 30, 60, 2, 300, 0.5), Stage(50, 30, 100, 2, 600, 0.5)),
        words=100,
        tests=3,
        steps=2,
        few_experts=4,
    ),
}
DATA = ("articles", "scitldr")
SPLITS = {"train": "train", "valid": "dev", "test": "test"}  # of SciTLDR
LEAD = {"articles": 3, "scitldr": 1}  # sentences of the beginning that are taken for a summary


def system_of(name: str, scale: Scale, data: str) -> dict[str, Any]:
    """The settings of a row's model: all have about as many weights, experts left aside."""
    row, width = ROWS[name], scale.width
    read = row.input // scale.shorter if data == "articles" else 1000 // min(scale.shorter, 2)
    made = {**row.system, "width": width, "context": read, "dropout": 0.0 if data == "articles" else 0.3}
    if made["kind"] == "seq2seq-attention":
        return {**made, "width": 7 * width // 4}
    made["heads"] = scale.heads
    if made.get("attention"):
        made["block"] = scale.block
    if "experts" in made:
        experts = scale.few_experts or made["experts"]
        return {**made, "feedforward": "experts", "experts": experts, "chosen": 2, "hidden": 2 * width}
    return {**made, "hidden": (2 if made["kind"] == "transformer" else 4) * width}


def plan(data: str, name: str, seed: int, given: argparse.Namespace) -> Plan:
    """All that a result depends on, but for SciTLDR's files: what each stage is trained by."""
    scale = SCALES[given.scale]
    shared = {
        "seed": seed,
        "text": {"kind": "wordpiece", "vocabulary": 0 if data == "articles" else vocabulary(scale)},
        "system": system_of(name, scale, data),
        "objective": {"kind": ROWS[name].objective, "smoothing": 0.0},
        "decode": {"max_tokens": WRITTEN if given.scale != "tiny" else 8},
    }
    usual = {"rate": scale.rate, "warmup": 100, "schedule": "constant", "weight_decay": 0.01, "device": given.device}
    usual |= {"save_every": NEVER, "evaluate_every": NEVER, "threads": 1, "compile": given.compile}
    stages = [{**shared, **each, "train": {**usual, **each["train"]}} for each in stages_of(data, scale, given)]
    return json.loads(json.dumps({"data": data, "row": name, "seed": seed, "scale": given.scale, "stages": stages}))


def corpus(data: str, folder: Path) -> Plan:
    """What tells a folder of SciTLDR from another; `articles` are always the same."""
    return {"corpus": digest(files(folder))} if data == "scitldr" else {}


def files(folder: Path) -> list[Path]:
    """SciTLDR's three files."""
    from regard.errors import UserError

    found = [folder / f"{name}.jsonl" for name in SPLITS.values()]
    for path in found:
        if not path.is_file():
            raise UserError(f"no such file: {path}; the folder of SciTLDR has train.jsonl, dev.jsonl and test.jsonl")
    return found


def vocabulary(scale: Scale) -> int:
    return 6000 if scale.shorter == 1 else 1000


def stages_of(data: str, scale: Scale, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What is read in each stage, and for how long. The rate falls at the end of each, for longest in the last."""
    if data == "scitldr":
        files = {split: f"scitldr-{split}.jsonl" for split in ("train", "valid")}
        tokens = 16_000 if scale.shorter == 1 else 2_000
        best = {"evaluate_every": 50, "patience": 10}  # few documents are learnt by heart: what fits best is kept
        yield staged(files, scale.steps, tokens, given, 1.0, decay=0.6, **best)
        return
    for number, each in enumerate(scale.stages):
        files = {split: f"articles-{number}-{split}.jsonl" for split in ("train", "valid")}
        last = number == len(scale.stages) - 1
        yield staged(files, each.steps, each.batch_tokens, given, each.share, decay=0.4 if last else 0.2)


def staged(files: dict, steps: int, tokens: int, given: argparse.Namespace, share: float, **more: Any) -> dict:
    asked = limits(given.steps, share * given.seconds if given.seconds else None)
    train = {"steps": steps, "batch_tokens": tokens, **more, **asked}
    return {"data": {**files, "too_long": "truncate"}, "train": train}


def write_data(data: str, folder: Path, given: argparse.Namespace) -> None:
    """The files that a data set is trained and tested on."""
    scale = SCALES[given.scale]
    if data == "articles":
        for number, stage in enumerate(scale.stages):
            for split, count in (("train", stage.documents), ("valid", min(40, stage.documents))):
                rows = documents(split, count, stage.least, stage.most)
                written(folder / f"articles-{number}-{split}.jsonl", rows)
        written(folder / "articles-test.jsonl", documents("test", scale.tests, scale.words, scale.words))
        return
    for split, path in zip(SPLITS, files(given.scitldr), strict=True):
        rows = read(path)
        rows = rows[: scale.tests] if split == "test" else rows[: 60 if given.scale == "tiny" else None]
        written(folder / f"scitldr-{split}.jsonl", (pair(row, split) for row in rows))


def pair(row: dict[str, Any], split: str) -> dict[str, Any]:
    """An abstract and its summaries; the first of them where one is learnt."""
    source = " ".join(" ".join(row["source"]).split())
    return {"source": source, "target": row["target"][0], "targets": row["target"] if split == "test" else []}


def documents(split: str, count: int, least: int, most: int) -> Iterator[dict[str, Any]]:
    """Of `articles`, as many as asked for, as its lengths are drawn."""
    from regard.data.corpora.articles import document

    chance = random.Random(f"documents {split} {least} {most}")
    for _ in range(count):
        source, target = document(chance, split, round(1 / chance.uniform(1 / most, 1 / least)))
        yield {"source": source, "target": target}


def written(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    part.replace(path)


def measure(plan: Plan, folder: Path) -> Result:
    """Train one model, stage after stage, and let it sum up the test."""
    import regard
    from regard.recipe import Recipe
    from regard.systems import parameters

    figures: list[Result] = []
    out = None
    with tempfile.TemporaryDirectory() as place:
        for number, values in enumerate(plan["stages"]):
            data = {key: str(folder / name) if "." in name else name for key, name in values["data"].items()}
            recipe = Recipe.parse({**values, "data": data}, where="documents.py")
            out = regard.train(recipe, Path(place) / str(number), start_from=out, quiet=True)
            figures.append(json.loads((out / "report.json").read_text())["measured"])
        assert out is not None
        run = regard.load(out, device=device_of(plan))
        found = tested(run, folder / f"{plan['data']}-test.jsonl")
    return {**found, "parameters": parameters(run.model), **of_training(figures)}


def device_of(plan: Plan) -> str:
    from regard.train.device import choose_device

    return str(choose_device(plan["stages"][-1]["train"]["device"]))


def of_training(told: list[Result]) -> Result:
    """Over all stages."""
    return {
        "steps": [each["steps"] for each in told],
        "tokens": sum(each["tokens"] for each in told),
        "train_seconds": round(sum(each["seconds"] for each in told), 1),
        "stage_seconds": [round(each["seconds"], 1) for each in told],
        "peak_memory_bytes": max(each["peak_memory_bytes"] for each in told),
        "device": told[-1]["device"],
    }


def tested(run: Any, path: Path) -> Result:
    """Perplexity of the first reference by token, ROUGE-L of what is written greedily, and some of it to read."""
    from regard.data.sources import Source
    from regard.evaluate.job import Job
    from regard.evaluate.likelihood import likelihood
    from regard.evaluate.rouge import rouge_l
    from regard.evaluate.translating import translated

    rows = read(path)
    sources = [as_read(run, row["source"]) for row in rows]
    records = list(zip(sources, [row["target"] for row in rows], strict=True))
    began = time.perf_counter()
    told, _ = likelihood(job := Job(run, Source(path.name, lambda: iter(records), len(records))), job.source)
    scored = time.perf_counter()
    summaries, lost = translated(run, sources, None)
    return {
        "perplexity": math.exp(told["loss"]),
        "rouge_l": rouge_l(summaries, [references(row) for row in rows]),
        "documents": len(rows),
        **lost,
        "likelihood_seconds": round(scored - began, 1),
        "decode_seconds": round(time.perf_counter() - scored, 1),
        "examples": [{"written": a, "reference": b} for a, (_, b) in zip(summaries[:3], records, strict=False)],
    }


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def references(row: dict[str, Any]) -> list[str]:
    return row.get("targets") or [row["target"]]


def as_read(run: Any, text: str) -> str:
    """As much as the run was trained to read, of a system that would read any length; others cut it themselves."""
    if run.model.limit is not None:
        return text
    ends = run.tokenizer.encode_with_offsets(text).offsets[: run.model.context - 1]
    return text[: ends[-1][1]] if ends else text


def baselines(data: str, folder: Path) -> dict[str, float]:
    """ROUGE-L of what needs no reading: another document's summary, and the document's own first sentences."""
    from regard.evaluate.rouge import rouge_l

    rows, count = read(folder / f"{data}-test.jsonl"), LEAD[data]
    wanted = [references(row) for row in rows]
    others = [row["target"] for row in [*rows[1:], rows[0]]]
    first = [". ".join(row["source"].split(". ")[:count]) for row in rows]
    lead = "the first sentence" if count == 1 else f"the first {count} sentences"
    return {"the summary of another document": rouge_l(others, wanted), lead: rouge_l(first, wanted)}


def markdown(results: list[Result], beside: dict[str, dict[str, float]]) -> str:
    """A table for each data set: means and spreads over seeds."""
    head = ["", "input", "parameters", "perplexity", "ROUGE-L", "steps", "target tokens", "seconds"]
    parts = []
    for data in DATA:
        mine = [each for each in results if each["plan"]["data"] == data]
        rows = {name: [each for each in mine if each["plan"]["row"] == name] for name in ROWS}
        lines = [[f"`{name}`", *cells(same)] for name, same in rows.items() if same]
        lines += [[name, "", "", "", f"{score:.1f}", "", "", ""] for name, score in beside.get(data, {}).items()]
        if mine:
            parts.append(f"{data}: {mine[0]['documents']} documents, on {mine[0]['device']}\n\n{table(head, *lines)}")
    return "\n\n".join(parts) + "\n"


def cells(same: list[Result]) -> list[str]:
    first = same[0]
    return [
        f"{first['plan']['stages'][-1]['system']['context']:,}",
        f"{first['parameters']:,}",
        spread([each["perplexity"] for each in same], 3),
        spread([each["rouge_l"] for each in same], 1),
        " + ".join(map(str, first["steps"])),
        f"{statistics.mean(each['tokens'] for each in same):,.0f}",
        f"{statistics.mean(each['train_seconds'] for each in same):.0f}",
    ]


def arguments() -> argparse.Namespace:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("scitldr", type=Path, nargs="?", help="the folder of SciTLDR")
    about.add_argument("--data", nargs="+", choices=DATA, default=["articles"])
    about.add_argument("--rows", nargs="+", choices=list(ROWS), default=USUAL)
    about.add_argument("--scale", choices=list(SCALES), default="full")
    about.add_argument("--seeds", type=int, nargs="+", default=[0])
    about.add_argument("--steps", type=int, help="of each stage of a training, in place of its own")
    about.add_argument("--seconds", type=float, help="the most that a training may take, all its stages together")
    about.add_argument("--workers", type=int, default=1, help="trainings at a time, one thread each")
    about.add_argument("--device", default="auto")
    about.add_argument("--compile", action="store_true", help="compile training steps; by default nothing is compiled")
    about.add_argument("--out", type=Path, default=Path("runs/documents-benchmark"))
    given = about.parse_args()
    if "scitldr" in given.data and given.scitldr is None:
        about.error("--data scitldr needs the folder of SciTLDR")
    return given


def main() -> None:
    given = arguments()
    of = {data: corpus(data, given.scitldr) for data in given.data}
    rows = [(data, seed, name) for data in given.data for seed in given.seeds for name in given.rows]
    wanted = [plan(data, name, seed, given) | of[data] for data, seed, name in rows]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for data in given.data:
            write_data(data, folder, given)
        results = kept(wanted, partial(measure, folder=folder), given.out, workers=given.workers, tell=told)
        tables = markdown(results, {data: baselines(data, folder) for data in given.data})
    (given.out / "documents.md").write_text(tables)
    print(tables)


def told(result: Result) -> str:
    of = result["plan"]
    return f"{of['data']} {of['row']} {of['seed']} {result['perplexity']:.3f} {result['rouge_l']:.1f}"


if __name__ == "__main__":
    ended(main)
