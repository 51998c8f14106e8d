"""What `verify` says of `sources/` and of the offsets of sources."""

from __future__ import annotations

import json
import os
import random
import shutil
import tracemalloc
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE
from checkpoint.checks.harm import content, exchanged, gone, invoke, text, verified
from checkpoint.whole import BATCHES
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repartition import repartition


def test_an_input_file_that_is_not_there_is_named_if_older_ones_are(
    path: Path, tmp_path: Path
) -> None:
    inputs = tmp_path / "in %"
    inputs.mkdir()
    for batch in range(BATCHES):
        (inputs / f"{batch}.json").touch()
        uri = inputs.as_uri()
        text(f"sources/0/{batch}", "file:///in", uri)(path)
    assert verified(path).sound
    (inputs / "0.json").unlink()
    assert verified(path).sound  # who cleans up begins with the oldest
    text("sources/0/3", "3.json", "s.json")(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "sources/0/3"), True)
    assert "s.json, which is not there" in broken.error


@pytest.mark.parametrize(("right", "wrong"), [("in #/0.json", "io #/0.json"), ("/0.", "/2.")])
def test_a_damaged_name_of_the_oldest_input_file_is_told_by_the_file_that_no_batch_names(
    path: Path, tmp_path: Path, right: str, wrong: str
) -> None:
    inputs = tmp_path / "in #"
    inputs.mkdir()
    for batch in range(1, BATCHES):
        text(f"sources/0/{batch}", f"/in/{batch}.json", f"/in/{batch + 10}.json")(path)
    for number in (0, *range(11, 10 + BATCHES)):
        (inputs / f"{number}.json").touch()
        os.utime(inputs / f"{number}.json", (number, number))
    for batch in range(BATCHES):
        text(f"sources/0/{batch}", "file:///in", inputs.as_uri())(path)
        text(f"sources/0/{batch}", f'"timestamp":{batch},', f'"timestamp":{1000 * batch},')(path)
    assert verified(path).broken == ()
    text("sources/0/0", right.replace(" #", "%20%23"), wrong.replace(" #", "%20%23"))(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "sources/0/0"), True)
    assert f"expected {inputs / '0.json'}, which is of the time that the log has" in broken.error
    (inputs / "0.json").unlink()
    assert verified(path).sound


def test_offsets_of_the_rate_source_by_micro_batch_do_not_go_back(path: Path) -> None:
    shutil.rmtree(path / "sources")
    for batch in range(BATCHES):
        offset = json.dumps({"offset": 9 * batch, "timestamp": 1000 * batch})
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', offset)(path)
    assert verified(path).sound
    text("offsets/4", '"offset": 36', '"offset": 8')(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "offsets/4"), True)
    assert "expected source 0 at 27 or further, found 8" in broken.error


def second_folder(path: Path) -> None:
    """Give `sources` a second folder, of a source that reads other files."""
    shutil.copytree(path / "sources/0", path / "sources/1")
    for batch in range(BATCHES):
        text(f"sources/1/{batch}", "file:///in/", "file:///more/")(path)


def read_twice(path: Path) -> None:
    """Give each offsets file a second line, which says what the only one does."""
    for batch in range(BATCHES):
        content(f"offsets/{batch}", lambda whole: whole + b"\n" + whole.splitlines()[-1])(path)


def test_logs_of_two_sources_that_were_exchanged_are_told_by_where_the_files_are(
    path: Path,
) -> None:
    second_folder(path)
    read_twice(path)
    assert verified(path).broken == ()
    exchanged("sources/0/3", "sources/1/3")(path)
    found = verified(path).broken
    assert [broken.path for broken in found] == [str(path / f"sources/{n}/3") for n in (0, 1)]
    assert "expected some below file:///in, as its other batches have them" in found[0].error
    assert all(broken.stops for broken in found)


def of_rate_source(path: Path) -> Path:
    """Make the source one of rates, and return the file that says when it began."""
    for batch in range(BATCHES):
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', f"{batch}")(path)
    shutil.rmtree(path / "sources/0")
    start = path / "sources/0/0"
    start.parent.mkdir()
    start.write_text("v1\n1000")
    return start


def test_a_rate_source_begins_when_its_offsets_say(path: Path) -> None:
    start = of_rate_source(path)
    assert verified(path).sound
    for damaged in ("v1\n91000", "v1\n", "", "v2\n1000", "v1\n1000\n"):
        start.write_text(damaged)
        (broken, *_) = verified(path).broken
        assert (broken.path, broken.stops) == (str(start), True)
    start.unlink()
    (broken,) = verified(path).broken
    assert "is empty: expected what a source keeps there" in broken.error


def test_a_rate_source_is_not_judged_by_a_batch_that_a_change_has_planned(path: Path) -> None:
    start = of_rate_source(path)
    # Each plans a batch without data, long after the rate source's newest offset.
    assert migrate(Checkpoint.open(str(path)), "holdfast", apply=True, settled=AT_ONCE).applied
    assert verified(path).sound
    assert repartition(
        Checkpoint.open(str(path)), 3, apply=True, stopped=True, settled=AT_ONCE
    ).applied
    assert verified(path).sound
    start.write_text("v1\n91000")
    assert [broken.path for broken in verified(path).broken] == [str(start)]


def test_what_a_writer_left_that_died_is_nothing_that_a_source_keeps(path: Path) -> None:
    for name in (".9.compact.c4bdb69d.tmp", "..9.compact.c4bdb69d.tmp.crc"):
        (path / "sources/0" / name).write_bytes(b"")
    assert verified(path).sound
    for batch in range(BATCHES):
        for name in (f"{batch}", f".{batch}.crc"):
            (path / "sources/0" / name).unlink(missing_ok=True)
    assert any(
        "is empty: expected what a source keeps there" in broken.error
        for broken in verified(path).broken
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"reservoirVersion":2,"index":5}', '{"reservoirVersion":3,"index":-1}'),
        ('{"version":1,"snapshot_id":99}', '{"version":1,"snapshot_id":7}'),
        ('{"a":1}', '{"a":1,"b":2}'),
    ],
)
def test_offsets_of_unknown_sources_are_their_own_affair(
    path: Path, before: str, after: str
) -> None:
    shutil.rmtree(path / "sources")
    for batch in range(BATCHES):
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', after if batch == 4 else before)(path)
    assert verified(path).broken == ()


def test_a_file_source_that_has_seen_no_file_has_an_empty_folder(path: Path) -> None:
    (path / "sources/1").mkdir()
    for batch in range(BATCHES):
        content(f"offsets/{batch}", lambda whole: whole + b"\n-")(path)
    assert verified(path).broken == ()


def test_the_log_of_a_named_source_is_found_by_its_name(path: Path) -> None:
    (path / "sources/0").rename(path / "sources/clicks")
    for batch in range(BATCHES):
        text(f"offsets/{batch}", '{"logOffset"', 'clicks:{"logOffset"')(path)
        text(f"offsets/{batch}", "v1", "v2")(path)
    assert verified(path).broken == ()
    gone("sources/clicks/4")(path)
    assert [file.path for file in verified(path).broken] == [str(path / "sources/clicks/4")]


def compacted(path: Path, batch: int) -> Path:
    """Make the file of a batch one that carries all before it, and return it."""
    log = path / "sources/0"
    entries = [(log / f"{b}").read_text().split("\n")[1] for b in range(batch + 1)]
    file = log / f"{batch}.compact"
    file.write_text("\n".join(["v1", *entries]))
    (log / f"{batch}").unlink()
    return file


@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("others", [True, False])
def test_a_compact_file_that_is_cut_after_a_line_lacks_batches(
    path: Path, lines: int, *, others: bool
) -> None:
    file = compacted(path, 4)
    for batch in () if others else range(4):
        (path / f"sources/0/{batch}").unlink()
    assert verified(path).sound
    file.write_text("\n".join(file.read_text().split("\n")[:-lines]))
    found = verified(path)
    (broken,) = found.broken
    assert (found.goes_on, broken.path, broken.stops) == (False, str(file), True)
    assert "expected the input files of all batches from 0 to 4" in broken.error
    assert f"found none of {'4' if lines == 1 else '2-4'}" in broken.error


def test_a_compact_file_has_each_input_file_of_the_batches_beside_it(path: Path) -> None:
    more = '\n{"path":"file:///in/more.json","timestamp":2,"batchId":2}'
    content("sources/0/2", lambda whole: whole + more.encode())(path)
    file = compacted(path, 4)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(file), True)
    assert f"none that says file:///in/more.json, as {path / 'sources/0/2'} does" in broken.error
    file.write_text(file.read_text() + more)
    assert verified(path).sound


def test_a_cut_compact_file_that_a_newer_one_stands_in_for_stops_nothing(path: Path) -> None:
    last = (path / "sources/0/4").read_text().split("\n")[1]
    older = compacted(path, 3)
    (path / "sources/0/4").unlink()
    (path / "sources/0/4.compact").write_text(f"{older.read_text()}\n{last}")
    assert verified(path).sound
    older.write_text("\n".join(older.read_text().split("\n")[:-1]))
    found = verified(path)
    assert [(file.path, file.stops) for file in found.broken] == [(str(older), False)]
    assert found.goes_on


@pytest.mark.parametrize("seed", range(30))
def test_a_compact_file_that_lacks_any_of_what_is_beside_it_is_told(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = path / "sources/0"
    batches = [
        [entry(f"file:///in/{b}-{n}", b) for n in range(chance.choice((1, 1, 3)))]
        for b in range(BATCHES)
    ]
    compact = {b for b in range(BATCHES) if chance.random() < 0.4}
    found: dict[int, list[str]] = {}
    for batch, lines in enumerate(batches):
        (log / str(batch)).unlink()
        carries = [line for of in batches[:batch] for line in of] if batch in compact else []
        found[batch] = chance.sample([*carries, *lines], len(carries) + len(lines))
        if len(found[batch]) > 1 and chance.random() < 0.3:
            found[batch].pop(chance.randrange(len(found[batch])))
        if chance.random() < 0.2:
            found[batch].append(chance.choice(found[batch]))
        if chance.random() < 0.2:
            found[batch].append(entry("file:///in/more", batch))
        name = f"{batch}.compact" if batch in compact else str(batch)
        (log / name).write_text("\n".join(["v1", *found[batch]]))

    has = {batch: [json.loads(line) for line in lines] for batch, lines in found.items()}
    lacking = set()
    for batch in compact:
        carried = {each["batchId"] for each in has[batch]}
        beside = {each["path"] for b in range(batch) for each in has[b]}
        if carried != set(range(batch + 1)) or not beside <= {each["path"] for each in has[batch]}:
            lacking.add(str(log / f"{batch}.compact"))
    broken = verified(path).broken
    assert {file.path for file in broken if "of all batches from 0 to" in file.error} == lacking
    newest = f"{max(compact, default=0)}.compact"
    assert all(file.stops == file.path.endswith(newest) for file in broken)


def entry(uri: str, batch: int) -> str:
    return json.dumps({"path": uri, "timestamp": batch, "batchId": batch})


@pytest.mark.slow
def test_no_more_than_one_compact_file_is_in_memory(path: Path) -> None:
    log, files = path / "sources/0", 20_000

    def grown(batch: int) -> str:
        return "\n".join(
            ["v1", *(entry(f"file:///in/{b}-{n}", b) for b in range(batch + 1) for n in of(b))]
        )

    def of(batch: int) -> range:
        return range(1 if batch else files)

    def measured() -> int:
        tracemalloc.start()
        try:
            assert verified(path).broken == ()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    for batch in range(BATCHES):
        (log / str(batch)).unlink()
    (log / f"{BATCHES - 1}.compact").write_text(grown(BATCHES - 1))
    alone = measured()
    for batch in range(BATCHES - 1):
        (log / f"{batch}.compact").write_text(grown(batch))
    assert measured() < 1.5 * alone


def test_a_source_in_two_places_has_two_lines_and_one_folder(path: Path) -> None:
    read_twice(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "sources/1"), True)
    assert "reads one source in several places" in broken.error
    assert "or --shared-sources where the query reads" in broken.error
    found = verified(path, shared_sources=True)
    assert found.sound
    assert any("line 1 of those of sources" in note for note in found.notes)
    verifying = invoke("verify", path)
    assert verifying.exit_code == 1
    assert "unless it reads one source in several places (--shared-sources).\n" in verifying.output
    assert invoke("verify", path, "--shared-sources").exit_code == 0
    repaired = invoke("repair", path, "--settled", "0")
    assert repaired.exit_code == 1
    assert "or give --shared-sources if the query reads one source" in repaired.output
    assert "reads one source in several places" in repaired.output
    assert invoke("repair", path, "--settled", "0", "--shared-sources").exit_code == 0
    (path / "sources/0/3").unlink()
    (broken,) = verified(path, shared_sources=True).broken
    assert broken.path == str(path / "sources/0/3")


def test_a_source_behind_one_in_two_places_has_the_folder_of_its_own(path: Path) -> None:
    second_folder(path)
    read_twice(path)
    for batch in range(BATCHES):
        with (path / f"offsets/{batch}").open("a") as file:
            file.write(f'\n{{"logOffset":{max(batch - 1, 0)}}}')
    for name in (f"{BATCHES - 1}", f".{BATCHES - 1}.crc"):
        (path / "sources/1" / name).unlink(missing_ok=True)
    assert verified(path, shared_sources=True).sound
    assert str(path / "sources/2") in {broken.path for broken in verified(path).broken}
    (path / "sources/1/2").unlink()
    (broken,) = verified(path, shared_sources=True).broken
    assert broken.path == str(path / "sources/1/2")


def test_a_folder_whose_name_has_other_digits_is_that_of_no_source(path: Path) -> None:
    read_twice(path)
    (path / "sources/\u00b2").mkdir()
    (broken,) = verified(path, shared_sources=True).broken
    assert broken.path == f"{path}/sources/\u00b2"


def test_sources_that_have_a_folder_each_are_not_taken_for_one(path: Path) -> None:
    second_folder(path)
    read_twice(path)
    (path / "sources/1/3").unlink()
    (broken,) = verified(path, shared_sources=True).broken
    assert broken.path == str(path / "sources/1/3")
    shutil.rmtree(path / "sources/0")
    assert str(path / "sources/0") in {
        broken.path for broken in verified(path, shared_sources=True).broken
    }
