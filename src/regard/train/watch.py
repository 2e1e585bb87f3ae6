"""Watching a training: a live bar in a terminal, plain lines elsewhere, `log.jsonl`, TensorBoard."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from regard.checkpoint import LOG, appended
from regard.errors import UserError, writing
from regard.train.forecast import duration

Watcher = Callable[[dict[str, Any]], None]


def interactive() -> bool:
    """Whether progress may be drawn over itself."""
    return sys.stderr.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


@contextmanager
def watchers(folder: Path, *, quiet: bool = False, tensorboard: bool = False) -> Iterator[list[Watcher]]:
    """All that listen to a training in this folder."""
    with ExitStack() as stack:
        found: list[Watcher] = [kept(stack.enter_context(appended(folder / LOG)))]
        if tensorboard:
            found.append(stack.enter_context(board(folder)))
        if not quiet:
            found.append(stack.enter_context(bar()) if interactive() else plain())
        yield found


def forget_after(log: Path, step: int) -> None:
    """Cut off what was logged after the checkpoint, or half logged when the run was killed: those steps come again."""
    kept = 0
    for line in log.read_bytes().splitlines(keepends=True):
        if not 0 <= logged_step(line) <= step:
            break
        kept += len(line)
    with writing(log):
        os.truncate(log, kept)


def logged_step(line: bytes) -> int:
    """The step of a line of the log; -1 of one that is damaged or not whole."""
    try:
        return int(json.loads(line)["step"]) if line.endswith(b"\n") else -1
    except (ValueError, KeyError, TypeError):
        return -1


def kept(emit: Watcher) -> Watcher:
    """All but how far a validation is: that is of no use afterwards."""

    def watch(event: dict[str, Any]) -> None:
        if event["event"] != "validating":
            emit(event)

    return watch


def status(event: dict[str, Any]) -> str:
    return (
        f"step {event['step']:,}  loss {event['loss']:.3f}  {event['tokens_per_second']:,.0f} tokens/s  "
        f"rate {event['rate']:.1e}"
    )


def validating(event: dict[str, Any]) -> str:
    return f"step {event['step']:,}  validating, {event['part']:.0%} done"


def busiest(event: dict[str, Any]) -> str:
    """How uneven the experts' loads are, where there are experts: the largest share, as a multiple of an even one."""
    loads = [[share * len(layer) for share in layer] for layer in event.get("expert_load", {}).values()]
    if not loads:
        return ""
    cv = max(event["expert_load_cv"].values())
    return f"  expert load at most {max(map(max, loads)):.2f} times the mean, CV {cv:.2f}"


def time_left(event: dict[str, Any]) -> str:
    done = event["done"]
    return duration(event["seconds"] / done * (1 - done)) + " left" if 0 < done < 1 else ""


def plain(every: float = 5.0) -> Watcher:
    """A line at most every few seconds, also while it validates, and one for each validation."""
    last = 0.0

    def watch(event: dict[str, Any]) -> None:
        nonlocal last
        if event["event"] == "valid":
            line = f"step {event['step']:,}  validation loss {event['loss']:.4f}{busiest(event)}"
            print(line, file=sys.stderr, flush=True)
        elif event["event"] == "step" and (time.monotonic() - last > every or event["done"] >= 1):
            last = time.monotonic()
            print(
                f"{event['done']:4.0%}  {status(event)}  {time_left(event)}".rstrip(),
                file=sys.stderr,
                flush=True,
            )
        elif event["event"] == "validating" and event["part"] and time.monotonic() - last > every:
            last = time.monotonic()
            print(f"{event['done']:4.0%}  {validating(event)}", file=sys.stderr, flush=True)

    return watch


@contextmanager
def bar() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.table import Column

    done = TaskProgressColumn(table_column=Column(min_width=4, no_wrap=True))  # stays where a narrow terminal cuts
    columns = (BarColumn(bar_width=24), done, TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=1.0)
        valid = ""

        def watch(event: dict[str, Any]) -> None:
            nonlocal valid
            if event["event"] == "valid":
                valid = f"  valid {event['loss']:.3f}{busiest(event)}"
                progress.update(task, description=f"step {event['step']:,}{valid}")
            elif event["event"] == "validating":
                progress.update(task, description=f"{validating(event)}{valid}")
            elif event["event"] == "step":
                text = f"{status(event)}{valid}  {time_left(event)}"
                progress.update(task, completed=min(1.0, event["done"]), description=text)

        yield watch


def board_writer() -> type:
    """TensorBoard's writer, which is an extra."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UserError("TensorBoard is not installed: pip install 'regard[tensorboard]'") from None
    return SummaryWriter


@contextmanager
def board(folder: Path) -> Iterator[Watcher]:
    with board_writer()(str(folder / "tensorboard")) as writer:

        def watch(event: dict[str, Any]) -> None:
            for name in ("loss", "rate", "norm", "tokens_per_second"):
                if name in event:
                    writer.add_scalar(f"{event['event']}/{name}", event[name], event["step"])

        yield watch
