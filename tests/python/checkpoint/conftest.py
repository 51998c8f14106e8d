"""What tests about checkpoints share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from checkpoint.budget import THOROUGH


@pytest.fixture(scope="session", autouse=True)
def _same_draws() -> Iterator[None]:
    """Let what Hypothesis draws depend on the test alone.

    It also draws constants that it finds in the modules of a project, which are others when other
    tests have run before in the same process.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not THOROUGH:
            patch.setattr(providers, "_get_local_constants", Constants)
        yield
