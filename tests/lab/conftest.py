"""Experiments about letters."""

import pytest

from regard.lab.claims.experiment import Experiment
from tests.lab.letters import all_alike, letters


@pytest.fixture
def made(tmp_path) -> Experiment:
    return letters(tmp_path)


@pytest.fixture
def alike(made) -> Experiment:
    """One whose arms are measured together."""
    return all_alike(made)
