"""Changes checkpoints of running queries; prints as JSON what became of each, and of all.

    live_changes.py FOLDER SEED COUNT [COMMAND ...]

Each of COUNT trials starts a query, lets a command change its checkpoint at some moment, gives the
query more data, starts it anew and compares what its sink has with the same computed in batch. The
commands take turns, or those named; moments, providers, checkpoint formats and sinks are drawn. A
trial ends well when

- the command is refused, and the query goes on to the right result, if need be after the command
  has been run again with the query stopped; or
- the command is done, the query fails at its next batch, and when started anew it comes to the
  right result; or
- the command was cut off, no run gets past it until it is undone or completed, and then the same.

The sink is a dictionary by key, or Spark's file sink, whose log is compacted at every second batch
and refuses numbers that are missing.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import holdfast_spark as holdfast
import stores_in_memory
from holdfast_spark.checkpoint import Checkpoint, CheckpointError
from holdfast_spark.checkpoint.changes.change import finish_unfinished
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.files.journals import standing_fences, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.providers import PROVIDERS

STREAMING = "spark.sql.streaming"
STORE = f"{STREAMING}.stateStore"
MAINTENANCE_SECONDS = 0.2
KEYS, ROWS = 40, 60
# A command comes at any moment, also right after a batch.
AT_ONCE = timedelta(0)
# The version whose files are lost, and those of all later ones.
LOST = 4
_CHANGING = ("claim", "copy", "create", "make_folder", "move", "remove", "remove_tree", "replace")
# Where the file comes between the look for it and the rename, Spark speaks of queries.
CONCURRENT = (
    *("Multiple streaming jobs", "Multiple streaming queries"),
    "CONCURRENT_STREAM_LOG_UPDATE",
)
WANTED = "This batch fails because its trial wants it."
FENCED = "Holdfast is changing this checkpoint"

ROCKSDB_SHARE = 0.4
MOMENTS = ("idle", "between", "in the batch", "before the commit", "maintenance", "failed in it")
COMMANDS = ("repartition", "migrate", "rebuild", "give up", "cut off")


class CutOffError(BaseException):
    """The process of a command has ended."""


@dataclass
class Trial:
    """A trial, and what became of it."""

    number: int
    command: str
    moment: str
    provider: str
    checkpoint_format: int
    sink: str
    outcome: str = ""
    wrong: list[str] = field(default_factory=list)


class Query:
    """A query over the files of a folder, of which one makes a batch."""

    def __init__(self, spark: SparkSession, folder: Path, trial: Trial) -> None:
        self.checkpoint = folder / "checkpoint"
        self._spark, self._folder, self._sink = spark, folder, trial.sink
        self._rows: list[str] = []
        self._found: dict[str, int] = {}
        self._files = 0
        self.before = self.after = threading.Event()
        self.entered = threading.Event()
        self.fails = False
        self.open()
        (folder / "words").mkdir(parents=True)

    def open(self) -> None:
        """Let batches pass."""
        for name in ("before", "after"):
            event = threading.Event()
            event.set()
            setattr(self, name, event)
        self.entered = threading.Event()
        self.fails = False

    def feed(self, rng: random.Random) -> None:
        """Write a file."""
        words = [f"word {rng.randrange(KEYS)}" for _ in range(ROWS)]
        self._rows += words
        hidden = self._folder / "words" / f".{self._files}"
        hidden.write_text("\n".join(words))
        hidden.rename(self._folder / "words" / f"{self._files}.txt")
        self._files += 1

    def start(self) -> StreamingQuery:
        reader = self._spark.readStream.option("maxFilesPerTrigger", 1)
        words = reader.text(str(self._folder / "words"))
        if self._sink == "files":
            writer = words.dropDuplicates(["value"]).writeStream.format("json")
            writer = writer.option("path", str(self._folder / "out"))
        else:
            counts = words.groupBy("value").agg(F.count("*").alias("times"))
            writer = counts.writeStream.outputMode("update").foreachBatch(self._keep)
        writer = writer.trigger(processingTime="0 seconds")
        return writer.option("checkpointLocation", str(self.checkpoint)).start()

    def unload(self) -> None:
        """Let go of all stores, as the end of the process would."""
        stores_in_memory.let_go(self._spark._jvm)

    def _keep(self, batch: DataFrame, _: int) -> None:
        self.entered.set()
        self.before.wait()
        rows = batch.collect()
        self.after.wait()
        if self.fails:
            raise RuntimeError(WANTED)
        self._found.update({row["value"]: row["times"] for row in rows})

    def result(self) -> Counter[str]:
        """What the sink has."""
        if self._sink == "files":
            out = self._spark.read.schema("value string").json(str(self._folder / "out"))
            return Counter(row["value"] for row in out.collect())
        return Counter(self._found)

    def expected(self) -> Counter[str]:
        """The same in batch."""
        counted = Counter(self._rows)
        return Counter(set(counted)) if self._sink == "files" else counted


def change(trial: Trial, query: Query, rng: random.Random) -> str:
    """Run the command of a trial; return what became of it."""
    stopped = trial.moment == "failed in it"
    command = _command(trial, query, rng, stopped=stopped)
    checkpoint = Checkpoint.open(str(query.checkpoint))
    try:
        applied = command(checkpoint).applied
    except CheckpointError as e:
        return f"refused: {e}"
    except CutOffError:
        if unfinished(checkpoint.location):
            return "cut off"
        # Ended before anything was done, or after everything.
        now = Checkpoint.open(str(query.checkpoint)).settings
        applied = now.shuffle_partitions != checkpoint.settings.shuffle_partitions
    return "done" if applied else "nothing to do"


def _command(
    trial: Trial, query: Query, rng: random.Random, *, stopped: bool
) -> Callable[[Checkpoint], Any]:
    partitions = rng.choice((1, 3, 5))
    other = {"holdfast": "hdfs", "hdfs": "holdfast", "rocksdb": "holdfast"}[trial.provider]
    if trial.command == "repartition":
        return lambda found: repartition(
            found, partitions, apply=True, stopped=stopped, settled=AT_ONCE
        )
    if trial.command == "migrate":
        return lambda found: migrate(found, other, apply=True, stopped=stopped, settled=AT_ONCE)
    if trial.command == "cut off":
        return lambda found: _cut_off(found, partitions, rng, stopped=stopped)
    files = sorted((query.checkpoint / "state/0").glob("*/*.delta"), key=_version)
    if trial.command == "rebuild":
        snapshots = sorted((query.checkpoint / "state/0").glob("*/*.snapshot"))
        for snapshot in snapshots[:1]:
            with contextlib.suppress(FileNotFoundError):
                snapshot.write_bytes(snapshot.read_bytes()[:-10])
        return lambda found: repair(found, apply=True, settled=AT_ONCE)
    later = [*files, *(query.checkpoint / "state/0").glob("*/*.snapshot")]
    for file in [file for file in later if _version(file) >= LOST]:
        file.unlink(missing_ok=True)
    return lambda found: repair(found, drop_tail=True, apply=True, stopped=stopped, settled=AT_ONCE)


def _version(file: Path) -> int:
    return int(file.name.partition(".")[0].partition("_")[0])


def _cut_off(found: Checkpoint, partitions: int, rng: random.Random, *, stopped: bool) -> Any:  # noqa: ANN401
    """Repartition, and end the process at one of the changes of files."""
    left = rng.randrange(80)
    former = {name: getattr(Location, name) for name in _CHANGING}

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            nonlocal left
            left -= 1
            if left < 0:
                raise CutOffError
            return call(*arguments, **more)

        return checked

    try:
        for name, call in former.items():
            setattr(Location, name, dying(call))
        return repartition(found, partitions, apply=True, stopped=stopped, settled=AT_ONCE)
    finally:
        for name, call in former.items():
            setattr(Location, name, call)


def run(spark: SparkSession, folder: Path, trial: Trial, rng: random.Random) -> None:
    """Run a trial."""
    _configure(spark, trial)
    query = Query(spark, folder, trial)
    place = Location.of(str(query.checkpoint))
    for _ in range(5):
        query.feed(rng)
    running = query.start()
    running.processAllAvailable()
    with _moment(trial, query, running, rng):
        trial.outcome = change(trial, query, rng)
    fenced = bool(standing_fences(place))
    failed = _go_on(query, running, rng)
    done = trial.outcome == "done" and trial.command != "rebuild"
    if (done or fenced) and not _expected(failed):
        trial.wrong.append(f"the run went on, or failed otherwise: {failed}")
    if failed and not (done or fenced) and trial.moment != "failed in it":
        trial.wrong.append(f"the run failed: {failed}")
    if fenced and FENCED not in (why := _end_of(query.start())):
        trial.wrong.append(f"a run was started in the middle of the change: {why}")
    finish_unfinished(place)
    if trial.command == "give up" and trial.outcome.startswith("refused"):
        # As the refusal says: now that the run has ended, there is no other way on.
        query.unload()
        repair(
            Checkpoint.open(str(query.checkpoint)),
            drop_tail=True,
            apply=True,
            stopped=True,
            settled=AT_ONCE,
        )
    if trial.command == "migrate" and done:
        spark.conf.set(f"{STORE}.checkpointFormatVersion", "1")
    _start_anew(trial, query, rng)


def _configure(spark: SparkSession, trial: Trial) -> None:
    spark.conf.set(f"{STORE}.providerClass", PROVIDERS[trial.provider])
    spark.conf.set(f"{STORE}.checkpointFormatVersion", str(trial.checkpoint_format))
    spark.conf.set("spark.sql.shuffle.partitions", "2")


@contextlib.contextmanager
def _moment(
    trial: Trial, query: Query, running: StreamingQuery, rng: random.Random
) -> Iterator[None]:
    """Bring the query to the moment of a trial, and let it go on afterwards."""
    if trial.moment == "idle":
        yield
        return
    if trial.moment == "maintenance":
        threading.Event().wait(rng.random() * MAINTENANCE_SECONDS)
        yield
        return
    if trial.moment == "between":
        feeder = threading.Timer(rng.random() / 4, query.feed, [rng])
        feeder.start()
        yield
        feeder.join()
        return
    gate = "before" if trial.moment == "in the batch" else "after"
    setattr(query, gate, threading.Event())
    query.fails = trial.moment == "failed in it"
    query.entered = threading.Event()
    query.feed(rng)
    query.entered.wait()
    if query.fails:
        getattr(query, gate).set()
        _end_of(running)
        query.unload()
    yield
    getattr(query, gate).set()
    query.open()


def _end_of(running: StreamingQuery) -> str:
    """Wait for a run to fail; return why."""
    try:
        running.awaitTermination()
    except StreamingQueryException as e:
        return str(e)
    return "it did not fail"


def _go_on(query: Query, running: StreamingQuery, rng: random.Random) -> str:
    """Give a run more data; return what it fails with, if it does, and stop it."""
    query.feed(rng)
    try:
        running.processAllAvailable()
    except StreamingQueryException as e:
        return str(e)
    running.stop()
    return ""


def _expected(error: str) -> bool:
    """Tell whether a run failed at the fence, or as its trial has it."""
    return any(text in error for text in (*CONCURRENT, WANTED))


def _start_anew(trial: Trial, query: Query, rng: random.Random) -> None:
    for _ in range(2):
        query.feed(rng)
    again = query.start()
    try:
        again.processAllAvailable()
    except StreamingQueryException as e:
        trial.wrong.append(f"it does not start again: {e}")
        return
    again.stop()
    if query.result() != query.expected():
        differ = query.expected() - query.result(), query.result() - query.expected()
        trial.wrong.append(f"the result is wrong by {differ}")


def trials(rng: random.Random, count: int, commands: tuple[str, ...]) -> Iterator[Trial]:
    """Yield so many trials."""
    for number in range(count):
        command = commands[number % len(commands)]
        moment = MOMENTS[number // len(commands) % len(MOMENTS)]
        provider = rng.choice(("holdfast", "hdfs"))
        if command == "migrate" and moment == "idle" and rng.random() < ROCKSDB_SHARE:
            provider = "rocksdb"
        whole = moment in ("idle", "between", "maintenance") and command != "give up"
        yield Trial(
            number=number,
            command=command,
            moment=moment,
            provider=provider,
            checkpoint_format=1 if provider == "hdfs" else rng.choice((1, 2)),
            sink=rng.choice(("files", "dictionary")) if whole else "dictionary",
        )


def main(folder: Path, seed: str, count: str, *commands: str) -> None:
    rng = random.Random(int(seed))
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config(f"{STORE}.maintenanceInterval", f"{MAINTENANCE_SECONDS * 1000:.0f}ms")
        .config(f"{STORE}.minDeltasForSnapshot", "2")
        .config(f"{STREAMING}.fileSink.log.compactInterval", "2")
        .config(f"{STREAMING}.pollingDelay", "20ms")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
    done = []
    for trial in trials(rng, int(count), commands or COMMANDS):
        run(spark, folder / str(trial.number), trial, rng)
        done.append(asdict(trial))
        print(json.dumps(done[-1]), flush=True)
    spark.stop()
    wrong = sum(bool(trial["wrong"]) for trial in done)
    outcomes = Counter(trial["outcome"].partition(":")[0] for trial in done)
    print(json.dumps({"seed": int(seed), "wrong": wrong, "outcomes": outcomes}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
