"""Every system with every head says what it is for, and the command for it exists."""

import pytest

from regard.cli.app import app
from regard.errors import UserError
from regard.systems import SYSTEMS, built, use_of
from regard.systems.heads import HEADS


def fits(kind: str, head: str) -> bool:
    try:
        built(SYSTEMS[kind](), 11, 3, head)
    except UserError:
        return False
    return True


PAIRS = [(kind, head) for kind in SYSTEMS for head in HEADS if fits(kind, head)]


@pytest.mark.parametrize(("kind", "head"), PAIRS)
def test_what_it_is_for_has_a_command(kind: str, head: str) -> None:
    model = built(SYSTEMS[kind](), 11, 3, head)
    use = use_of(model)
    assert use.command in list(app)
    assert (use.command in ("generate", "translate")) == model.writes_text
    assert {"labels": "classifier", "tags": "tagger"}.get(head, use.name) == use.name


def test_every_system_and_every_head_is_among_them() -> None:
    assert {kind for kind, _ in PAIRS} == set(SYSTEMS)
    assert {head for _, head in PAIRS} == set(HEADS)
