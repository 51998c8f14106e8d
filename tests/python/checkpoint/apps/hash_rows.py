"""Writes random rows as the keys of state and Spark's hash of them; prints how many.

    PYTHONPATH=tests/python hash_rows.py FOLDER

A query keeps the rows of `FOLDER/rows` as the keys of its state, with the checkpoint
`FOLDER/checkpoint`. `FOLDER/hashes.json` has by the number of each row, which is its column `id`,
Spark's `hash` of the whole key and of each column of it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from checkpoint.apps.spark_classes import FILE_MANAGER

ROWS = 600

# r(n) is a random long that depends on the row and on n.
COLUMNS = {
    "bool": "r(1) % 2 = 0",
    "i8": "cast(r(2) % 256 - 128 as byte)",
    "i16": "cast(r(3) % 65536 - 32768 as short)",
    "i32": "cast(r(4) as int)",
    "i64": "r(5)",
    "f32": "case r(6) % 6 when 0 then float('NaN') when 1 then float('-0.0') when 2 then float(0)"
    " when 3 then float('-Infinity') else cast(r(7) as float) / 1e9 end",
    "f64": "case r(8) % 6 when 0 then double('NaN') when 1 then double('-0.0') when 2 then 0D"
    " when 3 then double('Infinity') else r(9) / 7D end",
    "dec_small": "cast(r(10) % 1000000000000000 as decimal(18, 3))",
    "dec_tiny": "cast(r(11) % 100 as decimal(4, 1))",
    "dec_large": "cast(cast(r(12) as decimal(20, 0)) * power(-10, r(13) % 17) as decimal(38, 2))",
    "dec_edge": "cast(element_at(array(0, 1, -1, 127, 128, -128, -129, 255, 256, -256, 32767,"
    " 32768, -32768, -32769), cast(r(14) % 14 + 1 as int)) as decimal(38, 0))",
    "str": "substr(repeat(concat('aé漢😀', r(15)), 3), 1, cast(r(16) % 40 as int))",
    "bin": "substr(unhex(repeat(hex(r(17)), 4)), 1, cast(r(18) % 34 as int))",
    "day": "date_add(date'1970-01-01', cast(r(19) % 100000 - 50000 as int))",
    "ts": "timestamp_micros(r(20) % 4000000000000000 - 2000000000000000)",
    "ts_ntz": "cast(timestamp_micros(r(21) % 4000000000000000) as timestamp_ntz)",
    "dt": "make_dt_interval(cast(r(22) % 1000 - 500 as int), 1, 2, r(23) % 100 / 7)",
    "ym": "make_ym_interval(cast(r(24) % 200 - 100 as int), 7)",
    "st": "named_struct('a', if(r(25) % 3 = 0, null, r(26)), 'b', cast(r(27) as string),"
    " 'c', named_struct('d', array(r(28), null, r(29) % 5), 'e', float('-0.0')))",
    "ints": "transform(sequence(0, cast(r(30) % 6 as int)), i -> if(i % 3 = 2, null, i * 7))",
    "empty": "slice(array(1L), 1, cast(r(31) % 2 as int))",
    "strs": "array(cast(r(32) as string), null, '', repeat('x', cast(r(33) % 9 as int)))",
    "structs": "array(named_struct('x', cast(r(34) as int), 'y', array('a', null)), null)",
    "nested": "array(array(cast(r(35) as short)), array(), null, array(null, 3S))",
    "decs": "array(cast(r(36) as decimal(30, 3)), null, cast(r(37) % 10 as decimal(30, 3)))",
    "raw": "cast(substr(unhex(hex(r(38))), 1, cast(r(39) % 9 as int)) as string)",
    "doubles": "array(double('NaN'), -0D, r(40) / 3D)",
}
# What parquet does not keep.
CLOCK = "make_time(cast(r(41) % 24 as int), 7, cast(r(42) % 60000 as decimal(8, 0)) / 1000)"


def main(folder: Path) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "5")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "false")
        .config("spark.sql.timeType.enabled", "true")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILE_MANAGER)
        .getOrCreate()
    )
    columns = [F.expr(_random(sql)).alias(name) for name, sql in COLUMNS.items()]
    spark.range(ROWS).select(*columns, "id").write.parquet(str(folder / "rows"))
    schema = spark.read.parquet(str(folder / "rows")).schema
    (
        spark.readStream.schema(schema)
        .parquet(str(folder / "rows"))
        .withColumn("clock", F.expr(_random(CLOCK)))
        .groupBy(*schema.names, "clock")
        .count()
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .format("noop")
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )
    # Spark's own order of the columns in the key, and its normal form of their values.
    keys = spark.read.format("statestore").load(str(folder / "checkpoint")).select("key.*")
    hashed = [F.hash(name).alias(name) for name in keys.columns]
    hashes = keys.select("id", F.hash(*keys.columns).alias("all"), F.struct(*hashed).alias("each"))
    found = {row["id"]: [row["all"], *row["each"]] for row in hashes.collect()}
    (folder / "hashes.json").write_text(json.dumps(found))
    spark.stop()
    print(json.dumps({"rows": len(found)}))


def _random(sql: str) -> str:
    """The SQL with every r(n) spelled out, and null in every eighth row."""
    for n in reversed(range(1, 43)):
        sql = sql.replace(f"r({n})", f"(xxhash64(id, {n}) & 9223372036854775807)")
    return f"if(xxhash64(id, {sum(sql.encode())}) % 8 = 0, null, {sql})"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
