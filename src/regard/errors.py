"""The two ways in which a command may end badly."""


class UserError(Exception):
    """The user's mistake: one line that names the value and the way out. The CLI exits 2."""


class WorldError(Exception):
    """A failure of the world: a full disk, a lost device, a loss that is no number. The CLI exits 1."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM, after the checkpoint was written. The CLI exits 130."""


def suggest(word: str, known: list[str]) -> str:
    """`; did you mean 'width'?` when something near is known, else the list of what is known."""
    import difflib

    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; known: {', '.join(known)}" if known else ""
