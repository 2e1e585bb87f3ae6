"""The list of commands. Each imports what it needs when it runs, so that `--help` does not wait for torch."""

from collections.abc import Callable
from typing import Any

from cyclopts import App, Group

from regard import __version__
from regard.cli import (
    comparing,
    embedding,
    exercising,
    filling,
    importing,
    laboratory,
    looking,
    training,
    using,
    wording,
)

app = App(
    name="regard",
    help="Train, run, check and open up the systems of the lectures on attention and Transformers. "
    "--traceback after any command shows where an error comes from.",
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)

COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Train": (training.systems, training.train, training.resume, importing.import_, importing.export, training.demo),
    "Use": (
        *(using.evaluate, using.generate, using.translate, using.classify, using.tag),
        *(filling.fill, embedding.embed, wording.neighbours, using.score),
    ),
    "Look and check": (looking.verify, looking.explain, looking.lectures),
    "Compare and learn": (comparing.compare, looking.bench, laboratory.lab, exercising.exercise),
}

for order, (title, commands) in enumerate(COMMANDS.items()):
    group = Group(title, sort_key=order)
    for command in commands:
        app.command(command, group=group)
