"""The state variables of `transformWithState`, as the metadata of its operator has them.

They are JSON with `timeMode`, `outputMode` and `stateVariables`, each of these with `stateName`,
`stateVariableType` and `ttlEnabled` (Spark's `TransformWithStateOperatorProperties`, 4.0 to 4.3). A
variable has the column family of its name; a timer that of the form `$procTimers_keyToTimestamp`.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short
from holdfast_spark.checkpoint.files.operators import Operator

VALUE, LIST, MAP, TIMER = "ValueState", "ListState", "MapState", "TimerState"
KEY_TO_TIMESTAMP = "_keyToTimestamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVariable:
    """A state variable.

    Attributes:
        name: its name, which Spark's `statestore` source takes as `stateVarName`.
        type: `ValueState`, `ListState`, `MapState` or `TimerState`.
        ttl_enabled: whether its values expire after a time to live.
    """

    name: str
    type: str
    ttl_enabled: bool

    @property
    def is_timer(self) -> bool:
        """Whether it is the operator's timers, and no variable of the user's."""
        return self.type == TIMER

    def __str__(self) -> str:
        return f"{self.name} ({self.type}{', with time to live' if self.ttl_enabled else ''})"


def state_variables(operator: Operator, *, path: str) -> tuple[StateVariable, ...]:
    """Return the state variables of an operator; none of one that has no such properties.

    Args:
        operator: the operator.
        path: the folder of its metadata, for errors.

    Raises:
        MalformedFileError: the properties are not as Spark writes them.
    """
    if not operator.properties_json:
        return ()
    properties = parse_json_object(operator.properties_json, path=path)
    listed = properties.get("stateVariables", [])
    try:
        return tuple(
            StateVariable(
                name=_text(entry["stateName"]),
                type=_text(entry["stateVariableType"]),
                ttl_enabled=entry["ttlEnabled"] is True,
            )
            for entry in listed
        )
    except (KeyError, TypeError) as e:
        raise MalformedFileError(
            path=path,
            expected="stateVariables of the operator with name, type and time to live",
            found=f"{short(listed, 80)}...",
        ) from e


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("no text")
