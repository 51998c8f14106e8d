"""How much of what could be tried is tried: a part by default, all with HOLDFAST_THOROUGH=1."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("HOLDFAST_THOROUGH", "") not in ("", "0")
