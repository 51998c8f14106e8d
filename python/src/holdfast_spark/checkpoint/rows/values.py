"""The values of rows, also where their schema is not theirs.

Deduplication keeps no values: each is a row with one field, which is null. Before Spark 3.4 its
schema file says that they are like the rows of the input (SPARK-39650).
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

from holdfast_spark.checkpoint.files.spark_types import StructType
from holdfast_spark.checkpoint.rows.arrow import arrow_type
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

_NO_VALUE = struct.pack("<QQ", 1, 0)


def decode_values(decoder: RowDecoder, schema: StructType, records: Records) -> pa.Array:
    """Return the values as their schema has them; nulls where there are none.

    Raises:
        DamagedRowError: a value does not fit the schema.
    """
    if len(schema.fields) > 1 and len(records) and _are_none(records):
        return pa.nulls(len(records), arrow_type(schema))
    return decoder.rows(schema, records.value_starts, records.value_lengths)


def _are_none(records: Records) -> bool:
    if not bool(np.all(records.value_lengths == len(_NO_VALUE))):
        return False
    return all(value == _NO_VALUE for value in records.value_bytes())
