"""What `./dev kills` and `./dev soak-query` run.

    PYTHONPATH=tests/python:python python -m soak.command kills FOLDER --count 100 --seed 1
    PYTHONPATH=tests/python:python python -m soak.command soak-query FOLDER --hours 2 --seed 1

Exit code 0 means that every result was right, and of a long run that nothing grew.
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections import Counter
from math import inf
from pathlib import Path

from histories import counts, new_folder, say

from devtools import delta
from soak.charts import draw
from soak.crashes import BRIEF, CLUSTER, LOCAL, Crashes
from soak.endurance import SAMPLE_BATCHES, Endurance
from soak.events import Events
from soak.growth import LEAST_ROUNDS, courses
from soak.process import DriverError, Job
from soak.samples import Samples
from soak.sinks import SINKS
from soak.sources import FILES, KAFKA, RATE, SOURCES, Rate, Source, SourceError, kafka
from soak.sources.files import Files
from soak.sources.kafka.source import Kafka

_SMALL = Events(rows=60, cycle=6)
_LARGE = Events(rows=3_000, cycle=12)
_KILLS_OF_A_HISTORY = 12
_IN_A_CLUSTER = 0.25
# What a batch has read stands in a log that is kept as long; it is looked at in time.
_FEW_BATCHES = {RATE: 3, FILES: 20, KAFKA: 20}
_LONG_LIVED = {
    # The heap is as large at first as it ever gets: what the process takes besides shows.
    "spark.driver.memory": "640m",
    "spark.driver.extraJavaOptions": "-Xms640m -XX:+AlwaysPreTouch",
    "spark.sql.streaming.minBatchesToRetain": "20",
}


def kills(arguments: argparse.Namespace, jars: tuple[Path, ...]) -> int:
    """Run histories until so many drivers have been killed, or one is wrong."""
    if arguments.source == KAFKA:
        jars += kafka.connector()
    killed: Counter[str] = Counter()
    happened: Counter[str] = Counter()
    seed = arguments.seed
    end = time.monotonic() + 60 * arguments.minutes
    while killed["drivers"] < arguments.count and time.monotonic() < end:
        drawn = random.Random(seed)
        few = _FEW_BATCHES[arguments.source]
        conf = {
            **BRIEF,
            "spark.sql.streaming.minBatchesToRetain": str(drawn.choice([few, 100])),
            "spark.sql.streaming.stateStore.minDeltasForSnapshot": str(drawn.choice([2, 5])),
        }
        master = CLUSTER if drawn.random() < _IN_A_CLUSTER else LOCAL
        sinks = tuple(drawn.sample(SINKS, len(SINKS)))
        folder = new_folder(arguments.folder / str(seed))
        with _source(arguments.source, folder, _SMALL, seed) as source:
            job = Job(folder=folder, source=source, master=master, conf=conf, jars=jars)
            crashes = Crashes(job=job, seed=seed, sinks=sinks, kills=_KILLS_OF_A_HISTORY)
            try:
                wrong = [*crashes.wrong()]
            except (DriverError, SourceError) as error:
                wrong = [str(error)]
        killed += crashes.killed
        happened += source.happened
        told = f"{counts(crashes.killed)}; {counts(source.happened)}"
        say(f"seed {seed}, {job.master}: {told}: {'; '.join(wrong) or 'right'}")
        if wrong:
            return 1
        shutil.rmtree(job.folder)
        seed += 1
    told = f"{counts(killed)}; {counts(happened)}"
    say(f"in all: {told}; every result is that of the batch computation")
    return 0


def _source(name: str, folder: Path, events: Events, seed: int) -> Source:
    """Return a source, that brings nothing before it is entered."""
    drawn = random.Random(f"{name} {seed}")
    if name == RATE:
        return Rate(events)
    if name == FILES:
        return Files(folder / "input", events, seed, at_most=drawn.choice([None, 1, 3]))
    at_most, nodes = drawn.choice([None, 30, 200]), drawn.choice([1, 2])
    return Kafka(folder / "kafka", events, seed, nodes=nodes, at_most=at_most)


def soak_query(arguments: argparse.Namespace, jars: tuple[Path, ...]) -> int:
    """Run one query for hours, and judge what it held."""
    folder = new_folder(arguments.folder / str(arguments.seed))
    job = Job(folder=folder, source=Rate(_LARGE), master="local[1]", conf=_LONG_LIVED, jars=jars)
    with (folder / "samples.csv").open("w", newline="") as file:
        samples = Samples(file)
        end = time.monotonic() + 3600 * arguments.hours
        run = Endurance(
            job=job,
            seed=arguments.seed,
            sinks=SINKS,
            samples=samples,
            say=say,
            over=lambda: time.monotonic() > end,
        )
        try:
            run.run()
        except DriverError as error:
            run.wrong.append(str(error))
    say(f"happened: {counts(run.happened)}")
    for sentence in run.wrong:
        say(f"wrong: {sentence}")
    if samples.taken:
        note = (
            f"Sampled every {SAMPLE_BATCHES} batches. Dotted: the driver was killed, another began."
        )
        say(f"drawn: {draw(folder / 'soak.svg', samples.taken, note=note)}")
    gone = [*courses(samples.taken, run.batches_of_a_round)]
    for course in gone:
        say(str(course))
    judged = {course.bound.metric for course in gone}
    if "heap_mib" not in judged:
        say(f"too short: growth is judged where a driver lives for {LEAST_ROUNDS + 3} rounds")
        return 1
    return 1 if run.wrong or not all(course.holds for course in gone) else 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for name, run in (("kills", kills), ("soak-query", soak_query)):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--seed", type=int, default=1)
        command.set_defaults(run=run)
        if name == "kills":
            command.add_argument("--count", type=int, default=100)
            command.add_argument("--minutes", type=float, default=inf)
            command.add_argument("--source", choices=SOURCES, default=RATE)
        else:
            command.add_argument("--hours", type=float, default=2.0)
    arguments = parser.parse_args()
    return int(arguments.run(arguments, delta.fetch()))


if __name__ == "__main__":
    raise SystemExit(main())
