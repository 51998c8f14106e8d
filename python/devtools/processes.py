"""The processes that `./dev` starts: what ends it ends them, and what they have started.

Each is the first of a group and gets the signals that `./dev` gets, whether they come from a
terminal or from a job's time limit; a second signal kills. `./dev` itself ends when they have, and
kills what they have left.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

_Stream = int | IO[str] | None
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedError(BaseException):
    """A signal ends `./dev`; no error of a step, which others could follow.

    Attributes:
        code: the exit code, which names the signal.
    """

    def __init__(self, number: int) -> None:
        self.code = 128 + number
        super().__init__(f"Ended by {signal.Signals(number).name}.")


_running: set[subprocess.Popen[str]] = set()
# The signals that came.
_came: list[int] = []


@contextlib.contextmanager
def ending_with_signals() -> Iterator[None]:
    """Pass on the signals that come. For the main thread.

    Raises:
        EndedError: one has come, from here or from where a process is started or waited for.
    """
    _came.clear()
    # What is ignored, as by nohup, stays so.
    heard = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    # Python runs handlers in the main thread, which may wait for others: a thread passes them on.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    threading.Thread(target=_pass_on, args=(reader,), daemon=True).start()
    written = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, _end_unless_waiting) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(written)
        writer.close()


def start(  # noqa: PLR0913 - those of `Popen`
    command: Sequence[str | Path],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: _Stream = None,
    stdout: _Stream = None,
    stderr: _Stream = None,
) -> subprocess.Popen[str]:
    """Start a process; its end is waited for with `wait`. For any thread.

    Args:
        command: the program and its arguments.
        cwd: the folder that it runs in; this process's for None.
        env: its environment variables; this process's for None.
        stdin: as those of `subprocess.Popen`; pipes are of text in UTF-8.
        stdout: likewise.
        stderr: likewise.

    Raises:
        OSError: it cannot be started.
        EndedError: a signal has come.
    """
    check()
    process = subprocess.Popen(
        command,
        start_new_session=True,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        encoding="utf-8",
        errors="replace",
    )
    _running.add(process)
    if _came:  # meanwhile, and found it not running
        _send(process, signal.SIGKILL)
    return process


def wait(process: subprocess.Popen[str], seconds: float | None = None) -> bool:
    """Wait until a process has ended, or so many seconds; return whether it has. For any thread.

    Raises:
        EndedError: it has, and a signal has come.
    """
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    if _came:  # what it had started may not listen
        _send(process, signal.SIGKILL)
    ended(process)
    check()
    return True


def ended(process: subprocess.Popen[str]) -> None:
    """Send a process no more signals: it has ended. For any thread."""
    _running.discard(process)


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: _Stream = None,
) -> int:
    """Run a process to its end; return its exit code. For any thread, and with `start`'s errors."""
    process = start(command, cwd=cwd, env=env, stdin=stdin)
    wait(process)
    return int(process.returncode)


def check() -> None:
    """Go on only if no signal has come.

    Raises:
        EndedError: one has.
    """
    if _came:
        raise EndedError(_came[0])


def _pass_on(signals: socket.socket) -> None:
    """Send what runs the signals that come, each a byte, until there are no more."""
    with signals:
        while received := signals.recv(1):
            if received[0] in _SIGNALS:
                _came.append(received[0])
                for process in list(_running):
                    _send(process, received[0] if len(_came) == 1 else signal.SIGKILL)


def _end_unless_waiting(number: int, _: FrameType | None) -> None:
    if not _running:
        _came.append(number)  # so that nothing is started, should the thread be late
        raise EndedError(number)


def _send(process: subprocess.Popen[str], number: int) -> None:
    """Send a signal to a process and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
