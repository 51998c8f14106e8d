"""What ends `./dev` ends what it has started; a small program stands in for it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import ROOT

# Two steps at a time, each of which starts a process that starts one that has no end, or is one.
STEPS = """
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from devtools import processes
from devtools.steps import Steps

START = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
END_LESS = r'''
import os, signal, time
if DEAF:  # a print in the midst of another one would fail
    signal.signal(signal.SIGTERM, lambda *_: os.write(2, b"heard\\n"))
os.write(2, b"begun\\n")
while True:
    time.sleep(600)
'''.replace("DEAF", str("deaf" in sys.argv))
ALONE = "alone" in sys.argv


def endless(log):
    processes.run([sys.executable, "-c", *([] if ALONE else [START]), END_LESS])
    print("went on")


steps = Steps(folder=Path(sys.argv[1]))
if "ignoring" in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
else:  # whatever the shell of the tests has for what runs in the background
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
try:
    with processes.ending_with_signals(), ThreadPoolExecutor() as pool:
        for number in [pool.submit(steps.do, name, endless) for name in ("one", "two")]:
            number.result()
        print("went on")
except processes.EndedError as e:
    sys.exit(e.code)
"""


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """The program, when all that it starts has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", STEPS, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "python")},
        text=True,
    ) as process:
        both_say(process, "begun")
        try:
            yield process
        finally:
            process.kill()


def both_say(process: subprocess.Popen[str], word: str) -> None:
    assert process.stderr is not None
    for _ in ("one", "two"):
        assert process.stderr.readline() == f"{word}\n"


def rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What is printed to the end, which comes when nothing that was started is left to print."""
    return process.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_that_was_started(number: int, tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.send_signal(number)
        out, err = rest(process)
    assert process.returncode == 128 + number
    assert "went on" not in out
    assert "failed" not in out
    assert "EndedError" not in err


def test_what_is_ignored_ends_nothing(tmp_path: Path) -> None:
    with running(tmp_path, "ignoring") as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        out, _ = rest(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert "went on" not in out


def test_a_second_signal_kills_what_does_not_end_with_the_first(tmp_path: Path) -> None:
    with running(tmp_path, "deaf", "alone") as process:
        process.send_signal(signal.SIGTERM)
        both_say(process, "heard")
        process.send_signal(signal.SIGTERM)
        out, _ = rest(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert "went on" not in out


def test_what_is_left_of_what_has_ended_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, "deaf") as process:
        process.send_signal(signal.SIGTERM)
        out, _ = rest(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert "went on" not in out


def test_nothing_is_started_when_a_signal_has_come(tmp_path: Path) -> None:
    program = f"""
import os, signal
from devtools import processes
with processes.ending_with_signals():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except processes.EndedError:
        print("came", flush=True)
    processes.run(["touch", "{tmp_path}/started"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        text=True,
    )
    assert done.stdout == "came\n"
    assert done.returncode == 1
    assert not (tmp_path / "started").exists()
    assert "EndedError: Ended by SIGTERM." in done.stderr
