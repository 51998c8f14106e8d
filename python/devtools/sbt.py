"""An sbt that is asked for one thing after another: it loads the build once, and stays warm."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from devtools import processes
from devtools.steps import CommandFailedError, Log


class Sbt:
    """A running sbt, which reads its commands from a pipe.

    For any number of threads; what one asks for is done before what another asks for later.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, env: Mapping[str, str]) -> None:
        """Start it.

        Args:
            command: what starts it.
            folder: that of the build.
            env: its environment variables.
        """
        self._command = list(command)
        self._numbers = itertools.count()
        self._turn = threading.Lock()
        self._process = processes.start(
            self._command,
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def do(self, log: Log, *tasks: str) -> None:
        """Do tasks, one after the other up to the first that fails, their output in the log.

        Raises:
            CommandFailedError: a task failed, or sbt has ended.
        """
        with self._turn:
            log.note(*self._command, *tasks)
            number = next(self._numbers)
            answers: list[str] = []
            reader = threading.Thread(
                target=self._read, args=(log, f"[answer] {number} ", answers), daemon=True
            )
            reader.start()
            try:
                # What follows a task that failed in a line is left out, and the next line is not.
                self._write(f"{'; '.join(tasks)}; answer {number} done\nanswer {number} end\n")
                log.wait(lambda seconds: _has_ended(reader, seconds))
            except BaseException:
                self._process.terminate()
                raise
        processes.check()
        if "done" not in answers:
            raise CommandFailedError

    def close(self) -> None:
        """End it; what it does is cut off."""
        self._process.terminate()
        # What it has not taken any more is of no use.
        with contextlib.suppress(BrokenPipeError), self._process:
            pass
        processes.ended(self._process)

    def _write(self, lines: str) -> None:
        commands = cast(IO[str], self._process.stdin)
        # When it has ended, the reader comes to the end of what it said.
        with contextlib.suppress(BrokenPipeError):
            commands.write(lines)
            commands.flush()

    def _read(self, log: Log, start: str, answers: list[str]) -> None:
        """Keep the output up to the last answer, or to the end of sbt."""
        for line in cast(IO[str], self._process.stdout):
            _, found, answer = line.partition(start)
            if not found:
                log.file.write(line)
                log.file.flush()
            else:
                answers.append(answer.strip())
                if answers[-1] == "end":
                    return


def _has_ended(thread: threading.Thread, seconds: float) -> bool:
    thread.join(seconds)
    return not thread.is_alive()
