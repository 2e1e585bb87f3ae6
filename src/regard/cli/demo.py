"""What the demonstration prints after training."""

from pathlib import Path

from regard.checkpoint import load
from regard.cli.looking import show_line
from regard.cli.output import note
from regard.cli.showing import show_scores
from regard.evaluate import evaluate, translations
from regard.explain import draw_word, trace
from regard.verify import verify

TIRED, WIDE = (f"The chicken didn't cross the road because it was too {adjective}." for adjective in ("tired", "wide"))


def show(folder: Path) -> bool:
    """Scores on sentences never seen, translations, the certificate, and a picture of what "it" looks at.

    Whether the certificate holds is given back.
    """
    run = load(folder)
    note("\nscores on the test sentences")
    show_scores(evaluate([run], say=note))
    note("\ntranslations: German must know what 'it' stands for")
    for source, target in zip((TIRED, WIDE), translations(run, [TIRED, WIDE], None), strict=True):
        print(f"  {source}\n    {target}")
    note("\nthe certificate: what must be equal, and by how much it differs")
    certificate = verify(run, skip=("compiled = eager",), on_line=show_line)
    note(f"  ('regard verify {folder}' checks compilation too)")
    for source, name in ((TIRED, "it-tired.svg"), (WIDE, "it-wide.svg")):
        target = translations(run, [source], None)[0]
        draw_word(trace(run, source=source, target=target), "it", folder / name)
    note(f"\nwhat 'it' looks at: {folder / 'it-tired.svg'} and {folder / 'it-wide.svg'}")
    return certificate.passed
