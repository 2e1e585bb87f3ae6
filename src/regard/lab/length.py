"""What a text costs by its length (C12): seconds and peak memory of reading it and of a training step, and with which
power of the length they grow.

Every system is measured at every length in a process of its own, so that no peak hides another, and one that dies takes
nobody along.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.checkpoint import write, write_json
from regard.errors import UserError
from regard.lab.length_plot import picture
from regard.lab.one_length import FIXED, SHARE, VOCABULARY, WAYS, WRITTEN, model_of, objective_for, own, recipe_of
from regard.lab.peak import RETURNING
from regard.lab.table import grid
from regard.lab.units import Say, ending
from regard.systems.layers import Layers
from regard.systems.long import ATTENTIONS
from regard.train.device import choose_device, choose_precision

LENGTHS = (1024, 2048, 4096, 8192)
SYSTEMS = ("full", "local", "bigbird", "linformer", "dmca")
CHILD = (sys.executable, "-m", "regard.lab.one_length")
OUT_OF_MEMORY = re.compile(r"allocate memory|out of memory|MemoryError|bad_alloc", re.IGNORECASE)
SHORT = ("out of memory", "killed, most likely for want of memory")  # how a want of memory is told
EXPONENTS = {  # of what, by name
    "exponent": "seconds",
    "exponent_forward": "forward_seconds",
    "exponent_memory": "peak_bytes",
    "exponent_forward_memory": "forward_peak_bytes",
}


def measure(
    systems: tuple[str, ...], settings: list[str], *, lengths: tuple[int, ...], repeats: int, say: Say
) -> list[dict[str, Any]]:
    """One record for each system: what it is set to, and a row for each length. A row that failed has an `error`."""
    names, lengths = list(dict.fromkeys(systems or SYSTEMS)), tuple(sorted(set(lengths)))
    if repeats < 1:
        raise UserError(f"--repeats {repeats}: at least 1 is needed")
    if lengths[0] < 2:
        raise UserError(f"--lengths {lengths[0]}: a text of at least 2 tokens is needed")
    asked = {name: settings_of(name, names, settings) for name in names}
    for name in names:
        for length in (lengths[0], lengths[-1]):
            check(name, asked[name], length)
    table = []
    for i, name in enumerate(names):
        rows = []
        for j, length in enumerate(lengths):
            say(f"[{i * len(lengths) + j + 1} of {len(names) * len(lengths)}] {name}, {length:,} tokens")
            rows.append(in_child(name, asked[name], length, repeats))
            if "error" in rows[-1]:
                say(f"{name}, {length:,} tokens FAILED: {rows[-1]['error']}")
        about = {"system": name, "set": asked[name], "own": own(recipe_of(name, asked[name], lengths[0]).system)}
        table.append({**about, **{key: exponent(rows, of) for key, of in EXPONENTS.items()}, "rows": rows})
    return beside_full(table)


def settings_of(name: str, names: list[str], settings: list[str]) -> list[str]:
    """A setting of some ways of looking is given to those that have it; all others to everybody."""

    def has(name: str, key: str) -> bool:
        return name not in WAYS or key in ATTENTIONS[WAYS[name].attention]

    def mine(setting: str) -> bool:
        key = setting.partition("=")[0].strip().removeprefix("system.")
        of_one = any(key in known for known in ATTENTIONS.values())
        return has(name, key) or not (of_one and any(has(other, key) for other in names))

    return [setting for setting in settings if mine(setting)]


def check(name: str, settings: list[str], length: int) -> None:
    """What does not fit stops here, before anything is measured."""
    recipe = recipe_of(name, settings, length)
    choose_precision(recipe.train.precision, choose_device(recipe.train.device))
    try:
        if isinstance(recipe.system, Layers):
            recipe.system.makes_sense(length)
        with torch.device("meta"):
            model = model_of(name, recipe)
    except UserError as error:
        raise UserError(f"{name}, {length:,} tokens: {error}") from None
    if objective_for(model).misfit(model):
        raise UserError(f"'{name}' neither writes text nor guesses words of one: there is no training step to measure")
    if model.trees:
        raise UserError(f"'{name}' reads trees, and random tokens have none: choose another system.position")


def in_child(name: str, settings: list[str], length: int, repeats: int) -> dict[str, Any]:
    asked = {"name": name, "settings": settings, "length": length, "repeats": repeats}
    variables = {**os.environ, **RETURNING}
    done = subprocess.run(CHILD, input=json.dumps(asked), capture_output=True, text=True, env=variables)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"length": length, "error": why(done.returncode, done.stderr)}


def why(code: int, told: str) -> str:
    """What ended a process, in one line."""
    if OUT_OF_MEMORY.search(told):
        return SHORT[0]
    if code == -signal.SIGKILL:
        return SHORT[1]
    last = (told.strip().splitlines() or [""])[-1]
    return f"{ending(code)}: {last}" if last else ending(code)


def exponent(rows: list[dict[str, Any]], of: str) -> float | None:
    """The power of the length with which a figure grows: the slope of a line through the logarithms of both, by least
    squares. None where fewer than two lengths have it."""
    found = [(row["length"], row[of]) for row in rows if row.get(of)]
    if len(found) < 2:
        return None
    length, figure = np.log(np.array(found, dtype=float)).T
    length = length - length.mean()
    return float(length @ figure / (length @ length))


def beside_full(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With `of_full`: what a step costs at the greatest length, as a part of full attention's in the same run and the
    same model."""
    last = {record["system"]: record["rows"][-1].get("seconds") for record in table}
    whole = last.get("full")
    for record in table:
        mine = last[record["system"]] if record["system"] in WAYS else None
        record["of_full"] = mine / whole if mine and whole else None
    return table


def markdown(table: list[dict[str, Any]]) -> str:
    parts = [grid(figures(table)), grid(slopes(table)), "\n".join(f"- {line}" for line in notes(table))]
    return "\n\n".join(parts) + "\n"


def figures(table: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A row for each system and length."""
    return [
        {
            "system": record["system"],
            "tokens": f"{row['length']:,}",
            "reading, s": row.get("error") or f"{row['forward_seconds']:.3f}",
            "step, s": shown(row.get("seconds"), 3),
            "reading, MB": shown(row.get("forward_peak_bytes"), 1, 1e6),
            "step, MB": shown(row.get("peak_bytes"), 1, 1e6),
        }
        for record in table
        for row in record["rows"]
    ]


def slopes(table: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The exponents of each system, and where full attention was measured what a step costs beside it."""
    beside = any(record["of_full"] for record in table)
    last = f"a step at {table[0]['rows'][-1]['length']:,} tokens, of full's"
    return [
        {
            "exponent of": record["system"],
            "reading, time": shown(record["exponent_forward"]),
            "step, time": shown(record["exponent"]),
            "reading, memory": shown(record["exponent_forward_memory"]),
            "step, memory": shown(record["exponent_memory"]),
            **({last: shown(record["of_full"])} if beside else {}),
        }
        for record in table
    ]


def shown(figure: float | None, digits: int = 2, unit: float = 1.0) -> str:
    return "" if figure is None else f"{figure / unit:.{digits}f}"


def notes(table: list[dict[str, Any]]) -> list[str]:
    """What was measured, in words."""
    rows = [row for record in table for row in record["rows"] if "error" not in row]
    found = [
        f"One row of random tokens out of {VOCABULARY}. A system that reads both ways guesses {SHARE:.0%} of them, one "
        f"that writes each next one; one that reads a source has it of this length and writes {WRITTEN} tokens.",
        "A step is forward, backward and update. Memory is the peak above the process with model and optimiser in it.",
    ]
    for device, threads, clock in sorted({(row["device"], row["threads"], row["clock"]) for row in rows}):
        core = f"{device}, {threads} thread{'s' * (threads > 1)}" if device == "cpu" else device
        time = "time that the processor computed" if clock == "processor" else "time on the wall"
        found.append(f"Measured on {core}: {time}, the fewest seconds of all repeats.")
    if ways := [record["system"] for record in table if record["system"] in WAYS]:
        model = ", ".join(f"{key} {value}" for key, value in FIXED["system"].items() if key != "kind")
        found.append(f"The same model ({FIXED['system']['kind']}: {model}), unless set: {', '.join(ways)}.")
    return [*found, *set_to(table)]


def set_to(table: list[dict[str, Any]]) -> list[str]:
    """What was given with `--set`, and what each way of looking is set to, so that it can be measured again."""
    given = dict.fromkeys(setting for record in table for setting in record["set"])
    told = []
    for setting in given:
        to = [record["system"] for record in table if setting in record["set"]]
        told.append(f"`{setting}`" if len(to) == len(table) else f"`{setting}` ({', '.join(to)})")
    own = {record["system"]: ", ".join(f"{key} {value}" for key, value in record["own"].items()) for record in table}
    ways = [f"{name}: {words}" for name, words in own.items() if words]
    return [f"{head}: {'; '.join(each)}." for head, each in (("Settings", told), ("Ways of looking", ways)) if each]


def keep(table: list[dict[str, Any]], out: Path) -> list[Path]:
    """Everything into a folder: the figures, the table and the picture."""
    files = {name: out / name for name in ("length.json", "length.md", "length.svg", "length.png")}
    write_json(files["length.json"], table)
    write(files["length.md"], markdown(table).encode())
    for form in ("svg", "png"):
        write(files[f"length.{form}"], picture(table, form))
    return list(files.values())
