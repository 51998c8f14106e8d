"""Holdfast's own settings, by the rules that the JVM has for them when a query starts.

The names are those of docs/settings.md, which the JVM's settings are written to (`HoldfastConf`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast_spark._memory_limit import limit_error
from holdfast_spark._setting_names import EVICTION_HINTS, MEMORY_LIMIT, OWN_SETTINGS, REAL_TIME_MODE
from holdfast_spark.errors import HoldfastError, NoSuchSettingError, WrongSettingError

_FLAGS = (EVICTION_HINTS, REAL_TIME_MODE)
# Parts of what the names begin with may have been left out, or be in another case. Spark gives such
# settings to nobody, so that only who sets them can be told.
_MEANT = re.compile(
    r"spark\.(sql\.)?(streaming\.)?(stateStore\.)?holdfast\.(?P<name>.*)", re.IGNORECASE
)


def own_setting_errors(settings: Mapping[str, str], *, line: str) -> Iterator[HoldfastError]:
    """Yield why settings of Holdfast cannot be meant: a `NoSuchSettingError`, and others.

    Args:
        settings: what is set.
        line: the Spark line.
    """
    for setting in settings:
        if setting not in OWN_SETTINGS and (meant := _MEANT.fullmatch(setting)):
            yield NoSuchSettingError(setting=setting, instead=_nearest(meant["name"]))
    for setting in _FLAGS:
        flag = settings.get(setting, "true")
        if flag.strip().lower() not in ("true", "false"):
            yield WrongSettingError(setting=setting, found=flag, expected="true or false")
    if MEMORY_LIMIT in settings and (error := limit_error(settings[MEMORY_LIMIT], line=line)):
        yield error


def _nearest(name: str) -> Sequence[str]:
    """Return the settings whose names are most like one, all where none is."""
    known = {setting.rpartition(".")[2].lower(): setting for setting in OWN_SETTINGS}
    return [known[each] for each in difflib.get_close_matches(name.lower(), known)] or OWN_SETTINGS
