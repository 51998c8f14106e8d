"""Keys that say NaN where the rows of a query have null.

pandas has one word for what is missing: a null in a column of floats, and from pandas 3 on of
strings, is NaN. The functions of `transformWithStateInPandas` get their keys from pandas, and
Spark's client keeps the state of the null key under what it is given, as a string under the text
`NaN` (`StatefulProcessorApiClient.set_implicit_key` of pyspark 4.3, `EvaluatePython`). The rows
are spread as null all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

from holdfast_spark.checkpoint.files.spark_types import AtomicType, SparkType, StructType

_TEXT = b"NaN"


def readings(keys: pa.StructArray, schema: StructType) -> Iterator[pa.StructArray]:
    """Yield keys as they are, and then as they would be with null for NaN, column by column.

    Args:
        keys: the keys, decoded by `hashable(schema)`.
        schema: their schema, of one column or more.
    """
    columns = [keys.field(place) for place in range(keys.type.num_fields)]
    choices = [
        _choices(column, field.type) for column, field in zip(columns, schema.fields, strict=True)
    ]
    names = [field.name for field in keys.type]
    for chosen in product(*choices):
        yield pa.StructArray.from_arrays(list(chosen), names)


def _choices(column: pa.Array, kind: SparkType) -> list[pa.Array]:
    is_nan = _is_nan(column, kind)
    if is_nan is None or not pc.any(is_nan).as_py():
        return [column]
    return [column, pc.if_else(is_nan, pa.scalar(None, column.type), column)]


def _is_nan(column: pa.Array, kind: SparkType) -> pa.Array | None:
    match kind:
        case AtomicType("string"):
            return pc.equal(column, pa.scalar(_TEXT, column.type))
        case AtomicType("float" | "double"):
            return pc.is_nan(column)
        case _:
            return None
