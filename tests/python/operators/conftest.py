"""The run that all tests of this folder look at."""

from __future__ import annotations

import pytest

from operators.matrix import Matrix


@pytest.fixture(scope="session")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return Matrix.run(tmp_path_factory.mktemp("operators"))
