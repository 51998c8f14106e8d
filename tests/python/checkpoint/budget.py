"""How much of what could be tried is tried: a part by default, all with HOLDFAST_THOROUGH=1."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

THOROUGH = os.environ.get("HOLDFAST_THOROUGH", "") not in ("", "0")


def drawn(few: int, many: int, *, steps: int = 50) -> settings:
    """Settings of a test that Hypothesis draws for.

    By default the same is drawn in each run, and shown as it was drawn when it fails: to make it
    smaller takes minutes. With HOLDFAST_THOROUGH=1 other seeds draw other things, and what fails is
    shown in its smallest form.

    Args:
        few: examples by default.
        many: examples with HOLDFAST_THOROUGH=1.
        steps: most steps of a history.
    """
    return settings(
        max_examples=many if THOROUGH else few,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=not THOROUGH,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if THOROUGH else [Phase.generate],
        print_blob=False,
    )
