"""Looks for versions of the state that an object store makes a query lose: `./dev objects`.

    PYTHONPATH=tests/python python -m objectstores.search JARS FOLDER --minutes 30 --seed 1

Runs one history after the other in a store of objects on this machine. Exit code 0 means that each
ended with the right output, and that every version that had to be there held the right rows.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

from holdfast_spark.checkpoint import Checkpoint
from objectstores.faulty import Faults, FaultyStore
from objectstores.history import ABORTABLE, BUCKET, MANAGER, PROVIDER, SPARKS, History
from objectstores.judge import wrong_output, wrong_state

_COUNTED_BATCHES = 12


def serve() -> tuple[FaultyStore, dict[str, object]]:
    """Start a store, and what stands before it; return that, and how Python gets past it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = server.get_host_and_port()
    options: dict[str, object] = {
        "key": "any",
        "secret": "any",
        "client_kwargs": {
            "endpoint_url": f"http://{address[0]}:{address[1]}",
            "region_name": "us-east-1",
        },
    }
    boto3.client(
        "s3",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106 - of no use anywhere
        endpoint_url=f"http://{address[0]}:{address[1]}",
        region_name="us-east-1",
    ).create_bucket(Bucket=BUCKET)
    store = FaultyStore(address, Faults(0, 0))
    store.start()
    return store, options


def judge(history: History, options: dict[str, object]) -> list[str]:
    """Return what is wrong after a history, a sentence each."""
    checkpoint = Checkpoint.open(f"s3://{history.checkpoint}", storage_options=options)
    wrong = [*wrong_output(history.folder / "output", history.batches)]
    wrong += wrong_state(checkpoint, history.batches, retained=history.retained)
    return wrong


def search(arguments: argparse.Namespace, store: FaultyStore, options: dict[str, object]) -> int:
    """Run histories until the time is over or one is wrong."""
    end = time.monotonic() + 60 * arguments.minutes
    happened: Counter[str] = Counter()
    seed = arguments.seed
    while time.monotonic() < end:
        history = History(seed=seed, folder=_new(arguments.folder / str(seed)))
        history.run(store, os.environ, arguments.jars)
        happened += history.happened
        wrong = judge(history, options)
        _say(f"seed {seed}: {_counts(history.happened)}: {'; '.join(wrong) or 'right'}")
        if wrong:
            return 1
        seed += 1
    _say(f"happened in all: {_counts(happened)}")
    return 0


def count(arguments: argparse.Namespace, store: FaultyStore, options: dict[str, object]) -> int:
    """Print the requests of an undisturbed query for each batch, beside Spark's provider."""
    for manager in (None, ABORTABLE):
        for provider in (None, SPARKS):
            name = f"count-{'abortable' if manager else 'renaming'}-{provider is not None}"
            history = History(
                *(), seed=1, folder=_new(arguments.folder / name), batches=_COUNTED_BATCHES,
                kills=0, rate=0.0,
            )  # fmt: skip
            history.conf = {MANAGER: manager} if manager else {}
            if provider:
                history.conf[PROVIDER] = provider
            history.run(store, os.environ, arguments.jars)
            history.retained = _COUNTED_BATCHES
            wrong = judge(history, options)
            requests = store.faults.requests
            each = {method: round(n / history.batches, 1) for method, n in sorted(requests.items())}
            in_all = round(sum(requests.values()) / history.batches, 1)
            _say(f"{name}: {in_all} requests a batch, {each}: {'; '.join(wrong) or 'right'}")
            if wrong:
                return 1
    return 0


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counted.items()))


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def _new(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("jars", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", action="store_true")
    arguments = parser.parse_args()
    store, options = serve()
    return (count if arguments.count else search)(arguments, store, options)


if __name__ == "__main__":
    raise SystemExit(main())
