"""Steps: named pieces of work that show their progress and keep a log.

A step with a fingerprint leaves a stamp when it succeeds and is not done again until its
fingerprint changes.
"""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from devtools import processes
from devtools.errors import DevError

_TICK_SECONDS = 1.0
_LINES_SHOWN = 100
_NAME_WIDTH = 28
_NOT_INPUTS = {"target", "__pycache__", ".bsp"}


# Steps that run at the same time share the terminal.
_TERMINAL = threading.Lock()


class StepFailedError(DevError):
    """A step's command ended with an error; its output has been shown."""

    def __init__(self, *, step: str, log: Path) -> None:
        super().__init__(f"{step} failed; its whole output is in {log}.")


class CommandFailedError(Exception):
    """A command ended with an exit code other than 0."""


@dataclass(kw_only=True)
class Log:
    """The output of one step: a file, and a line on the terminal that shows that time passes."""

    name: str
    file: TextIO
    terminal: TextIO
    started: float = field(default_factory=time.monotonic)

    def run(
        self, *command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """Run a command to its end, its output in the log.

        Raises:
            CommandFailedError: its exit code is not 0, or it cannot be started.
        """
        words = self.note(*command)
        try:
            process = processes.start(
                words,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=self.file,
                stderr=subprocess.STDOUT,
            )
        except OSError as e:
            self.file.write(f"{e}\n")
            raise CommandFailedError from e
        try:
            self.wait(lambda seconds: processes.wait(process, seconds))
        except BaseException:
            process.terminate()
            raise
        if process.returncode != 0:
            raise CommandFailedError

    def show(self, state: str, *, end: str = "\n") -> None:
        """Write the step's line, over the one that shows that it is running."""
        start = "\r\x1b[K" if self.terminal.isatty() else ""
        with _TERMINAL:
            self.terminal.write(f"{start}  {self.name:<{_NAME_WIDTH}} {state}{end}")
            self.terminal.flush()

    def elapsed(self) -> str:
        """Return the time since the step began, in seconds."""
        return f"{time.monotonic() - self.started:7.1f} s"

    def note(self, *command: str | Path) -> list[str]:
        """Write a command that is about to run; return its words."""
        words = [str(word) for word in command]
        self.file.write(f"$ {shlex.join(words)}\n")
        self.file.flush()
        return words

    def wait(self, ended: Callable[[float], bool]) -> None:
        """Wait until `ended`, which is given the seconds that it may take, returns True."""
        while not ended(_TICK_SECONDS):
            if self.terminal.isatty():
                self.show(f"{self.elapsed()}  ...", end="")


@dataclass(kw_only=True)
class Steps:
    """Does steps, with stamps and logs below `folder`."""

    folder: Path
    terminal: TextIO = field(default_factory=lambda: sys.stdout)
    _turns: dict[str, threading.Lock] = field(default_factory=dict, init=False, repr=False)

    def do(
        self,
        name: str,
        action: Callable[[Log], None],
        *,
        fingerprint: str | None = None,
        product: Path | None = None,
    ) -> None:
        """Do a step, unless it has been done with the same fingerprint and its product is there.

        A thread that asks for it while another does it waits for that.

        Raises:
            StepFailedError: a command of the step failed; the end of its output has been shown.
        """
        with self._turns.setdefault(name, threading.Lock()):
            self._do_unless_done(name, action, fingerprint, product)

    def _do_unless_done(
        self,
        name: str,
        action: Callable[[Log], None],
        fingerprint: str | None,
        product: Path | None,
    ) -> None:
        file_name = name.replace(" ", "-")
        stamp = self.folder / "stamps" / file_name
        path = self.folder / "logs" / f"{file_name}.log"
        done = stamp.read_text() if stamp.is_file() else None
        if fingerprint and done == fingerprint and (product is None or product.exists()):
            return
        stamp.unlink(missing_ok=True)
        self._do(name, action, path)
        if fingerprint:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(fingerprint)

    def _do(self, name: str, action: Callable[[Log], None], path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", errors="replace") as file:
            log = Log(name=name, file=file, terminal=self.terminal)
            log.show("...", end="" if self.terminal.isatty() else "\n")
            try:
                action(log)
            except CommandFailedError:
                log.show(f"{log.elapsed()}  failed")
                self._show_end_of(path)
                raise StepFailedError(step=name, log=path) from None
            log.show(log.elapsed())

    def _show_end_of(self, log: Path) -> None:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        with _TERMINAL:
            for line in lines[-_LINES_SHOWN:]:
                self.terminal.write(f"    {line}\n")


def fingerprint(*values: str, files: Iterable[Path] = (), root: Path) -> str:
    """Return a digest of values and of files: their paths below `root` and their content.

    A folder stands for the files in it, at any depth, but for those that a build made.
    """
    digest = hashlib.sha256()
    for value in values:
        digest.update(value.encode() + b"\0")
    for path in sorted(_all_files(files)):
        digest.update(str(path.relative_to(root)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _all_files(paths: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    for path in paths:
        inside = path.rglob("*") if path.is_dir() else [path]
        found.update(
            file
            for file in inside
            if file.is_file() and _NOT_INPUTS.isdisjoint(file.relative_to(path).parts)
        )
    return found
