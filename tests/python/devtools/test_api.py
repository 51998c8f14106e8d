"""docs/api.md, which is written from the docstrings."""

from __future__ import annotations

import importlib
import re

from devtools.api import MODULES, reference
from harness import ROOT


def test_the_page_is_as_the_docstrings_have_it() -> None:
    assert (ROOT / "docs" / "api.md").read_text() == reference()


def test_it_has_every_name_that_a_module_offers_with_what_it_is() -> None:
    page = reference()
    for module in MODULES:
        for name in getattr(importlib.import_module(module), "__all__", ()):
            if name not in ("__version__", "metrics"):
                assert re.search(rf"^### {name}\n\n\S", page, re.MULTILINE), f"{module}.{name}"
    assert not re.search(r"^#+ \S+\n\n#", page, re.MULTILINE)
    assert " at 0x" not in page
