"""Steps of `./dev`."""

from __future__ import annotations

import io
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from devtools.steps import Log, StepFailedError, Steps, fingerprint


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(folder=tmp_path / ".dev", terminal=io.StringIO())


def shown(steps: Steps) -> str:
    assert isinstance(steps.terminal, io.StringIO)
    return steps.terminal.getvalue()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_step_is_shown_with_its_time_and_its_output_is_logged(steps: Steps) -> None:
    steps.do("say hello", lambda log: log.run(*python("print('hello')")))
    assert shown(steps).splitlines()[-1].split()[:2] == ["say", "hello"]
    assert shown(steps).endswith(" s\n")
    assert "hello\n" in (steps.folder / "logs" / "say-hello.log").read_text()
    assert "print" not in shown(steps)


def test_a_step_is_done_again_only_when_its_fingerprint_or_its_product_is_gone(
    steps: Steps, tmp_path: Path
) -> None:
    done: list[str] = []
    product = tmp_path / "product"

    def do(stamp: str | None) -> None:
        steps.do("count", lambda log: done.append(log.name), fingerprint=stamp, product=product)

    product.touch()
    do("one")
    do("one")
    assert len(done) == 1
    do("two")
    assert len(done) == 2
    product.unlink()
    do("two")
    assert len(done) == 3
    do(None)
    do(None)
    assert len(done) == 5


def test_a_step_that_two_threads_ask_for_is_done_once(steps: Steps) -> None:
    begun, asked = threading.Event(), threading.Event()
    done: list[str] = []

    def make(log: Log) -> None:
        begun.set()
        asked.wait()
        done.append(log.name)

    with ThreadPoolExecutor() as pool:
        first = pool.submit(steps.do, "make", make, fingerprint="same")
        begun.wait()
        asked.set()
        steps.do("make", make, fingerprint="same")
        first.result()
    assert done == ["make"]


def test_a_failed_step_shows_its_output_and_is_done_again(steps: Steps) -> None:
    def fail(log: Log) -> None:
        log.run(*python("import sys; print('broken'); sys.exit(3)"))

    for _ in range(2):
        with pytest.raises(StepFailedError, match="make failed; its whole output is in"):
            steps.do("make", fail, fingerprint="same")
    assert shown(steps).count("    broken\n") == 2
    assert shown(steps).count("failed\n") == 2


def test_a_program_that_is_not_there_fails_the_step(steps: Steps) -> None:
    with pytest.raises(StepFailedError):
        steps.do("start", lambda log: log.run("no-such-program"))
    assert "no-such-program" in shown(steps)


def test_a_fingerprint_depends_on_names_and_content_but_not_on_what_a_build_made(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "source"
    (folder / "target").mkdir(parents=True)
    (folder / "a").write_text("1")

    def current() -> str:
        return fingerprint("value", files=[folder], root=tmp_path)

    first = current()
    (folder / "target" / "built").touch()
    assert current() == first
    (folder / "a").write_text("2")
    second = current()
    (folder / "a").rename(folder / "b")
    third = current()
    assert len({first, second, third, fingerprint(files=[folder], root=tmp_path)}) == 4
