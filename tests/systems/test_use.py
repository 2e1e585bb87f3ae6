"""Every system with every head says what it is for, and the command for it exists."""

import pytest

from regard.cli.app import app
from regard.errors import UserError
from regard.systems import SYSTEMS, built, use_of
from regard.systems.heads import HEADS


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kind", SYSTEMS)
def test_what_it_is_for_has_a_command(kind: str, head: str) -> None:
    try:
        model = built(SYSTEMS[kind](), 11, 3, head)
    except UserError:
        pytest.skip("the two do not fit")
    use = use_of(model)
    assert use.command in list(app)
    assert (use.command in ("generate", "translate")) == model.writes_text
    assert {"labels": "classifier", "tags": "tagger"}.get(head, use.name) == use.name
