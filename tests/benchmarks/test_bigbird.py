"""The script that measures BigBird: every way trains the same little model, and what cannot run says so."""

import json
import os
import subprocess
import sys

from tests.docs.pages import ROOT

WAYS = ("full", "bigbird", "gathered", "none", "huggingface")


def test_every_way_takes_its_steps() -> None:
    script = ROOT / "benchmarks" / "bigbird.py"
    done = subprocess.run(
        [sys.executable, script, "--tiny", "--lengths", "256", "--steps", "1", "--dropout", "0.1"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert tuple(row["way"] for row in rows) == WAYS
    assert all(row["tokens_per_second"] > 0 for row in rows), rows
    losses = {row["way"]: row["loss"] for row in rows}
    assert len({losses["full"], losses["none"]}) == 2, "without attention it is another model"
