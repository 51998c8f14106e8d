"""Runs the Python of pages in one session, page after page.

Prints as JSON how many blocks ran of each, how many settings of Spark all pages of the repository
name, and which of these Spark does not know.

    run_pages.py FOLDER PAGE...

FOLDER is the working directory, and takes the place of /data in the code. What one block defines,
those behind it have, as for a reader who types them one after the other.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from pages.markdown import blocks, pages

# A whole name of a setting, neither a class nor what names begin with.
NAME = re.compile(r"(?<![.\w])spark\.sql\.[\w.]*\w(?!\.?[\w*])")
# SQLConf has the name of this one, and does not register it.
NOT_REGISTERED = {"spark.sql.streaming.checkpointFileManagerClass"}
CLICKS = [{"user": user, "time": f"2030-01-01 10:0{user}:00"} for user in range(5)]


def prepare(folder: Path) -> None:
    """Write the data that the pages speak of."""
    (folder / "clicks").mkdir()
    lines = [json.dumps(click) for click in CLICKS]
    (folder / "clicks" / "1.json").write_text("\n".join(lines))


def before(page: str, folder: Path, names: dict[str, object]) -> None:
    """Do what a page takes for done: a query that runs, or one that has been stopped."""
    spark = SparkSession.getActiveSession()
    if page in ("switching.md", "watching.md"):
        assert spark is not None
        if page == "switching.md":
            spark.conf.set(
                "spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
            )
        query = (
            spark.readStream.schema("user string, time timestamp")
            .json(str(folder / "clicks"))
            .groupBy("user")
            .count()
            .writeStream.outputMode("update")
            .format("noop")
            .option("checkpointLocation", str(folder / "checkpoints" / "clicks"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        if page == "switching.md":
            # It was stopped an hour ago.
            for file in (folder / "checkpoints" / "clicks").rglob("*"):
                os.utime(file, (time.time() - 3600,) * 2)
        names.update(spark=spark, query=query)


def settings() -> dict[str, object]:
    """Return how many settings of Spark the pages name, and those that there are not."""
    named = {name for page in pages() for name in NAME.findall(page.read_text())}
    of_spark = {name for name in named if ".holdfast" not in name}
    jvm = SparkSession.active()._jvm
    assert jvm is not None
    # Scala's object itself: its class forwards only some of its methods.
    known = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    unknown = sorted(
        name for name in of_spark - NOT_REGISTERED if not known.containsConfigKey(name)
    )
    return {"named": len(of_spark), "unknown": unknown}


def main(folder: Path, *chosen: str) -> None:
    prepare(folder)
    ran = {}
    for page in map(Path, chosen):
        names: dict[str, object] = {}
        before(page.name, folder, names)
        ran[page.name] = 0
        for block in blocks(page, "python"):
            code = re.sub(r"/data\b", str(folder), block)
            exec(compile(code, str(page), "exec"), names)  # noqa: S102 - the repository's own pages
            ran[page.name] += 1
        for query in SparkSession.active().streams.active:
            query.processAllAvailable()
            query.stop()
    print(json.dumps({"ran": ran, **settings()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
