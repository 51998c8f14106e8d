"""Random damage to the files of a checkpoint, the same again for the same seed.

A file that is changed keeps its time of change, as one does that a disk, a cable or a faulty copy
damages; what is exchanged takes its time along, as a renamed file does.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_KINDS = (
    ("crc", re.compile(r"(.*/)?\.[^/]*\.crc")),
    ("metadata", re.compile(r"metadata")),
    ("offsets", re.compile(r"offsets/\d+")),
    ("commits", re.compile(r"commits/\d+")),
    ("sources", re.compile(r"sources/\d+/[^/]+")),
    ("delta", re.compile(r"state/.*\.delta")),
    ("snapshot", re.compile(r"state/.*\.snapshot")),
    ("schema", re.compile(r"state/.*/schema")),
    ("schemas", re.compile(r"state/\d+/_stateSchema/.*")),
    ("operator", re.compile(r"state/\d+/_metadata/.*")),
)


@dataclass(frozen=True)
class Mutation:
    """Damage that was done.

    Attributes:
        kind: kind of the file, such as `delta`.
        damage: what was done, such as `flip`.
        text: what was done to which file, in words.
    """

    kind: str
    damage: str
    text: str


def files_by_kind(checkpoint: Path) -> dict[str, list[Path]]:
    """Return the files of a checkpoint by their kind, in order."""
    found: dict[str, list[Path]] = {}
    for path in sorted(path for path in checkpoint.rglob("*") if path.is_file()):
        name = str(path.relative_to(checkpoint))
        kind = next((kind for kind, pattern in _KINDS if pattern.fullmatch(name)), None)
        if kind:
            found.setdefault(kind, []).append(path)
    return found


def checksum_of(path: Path) -> Path:
    """Return where Hadoop keeps the checksums of a local file."""
    return path.with_name(f".{path.name}.crc")


def mutate(checkpoint: Path, rng: random.Random) -> Mutation:
    """Damage a checkpoint: every kind of file equally often, every damage that fits it."""
    kinds = files_by_kind(checkpoint)
    kind = rng.choice(sorted(kinds))
    files = kinds[kind]
    # What a restart reads is most often among the newest.
    newest = max((_number(path) for path in files), default=0)
    recent = [path for path in files if _number(path) >= newest - 1]
    file = rng.choice(recent if rng.random() < 0.5 else files)
    damage = rng.choice(sorted(DAMAGES))
    text = DAMAGES[damage](file, files, rng).replace(f"{checkpoint}/", "")
    return Mutation(kind, damage, text)


def _number(path: Path) -> int:
    found = re.match(r"\.?(\d+)", path.name)
    return int(found[1]) if found else 0


def _rewrite(path: Path, content: bytes) -> None:
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _flip(file: Path, _: list[Path], rng: random.Random) -> str:
    content = bytearray(file.read_bytes())
    if not content:
        return _append(file, _, rng)
    place, bit = rng.randrange(len(content)), rng.randrange(8)
    content[place] ^= 1 << bit
    _rewrite(file, bytes(content))
    return f"bit {bit} of byte {place} of {file} is flipped"


def _cut(file: Path, _: list[Path], rng: random.Random) -> str:
    content = file.read_bytes()
    left = rng.choice((0, rng.randrange(len(content) or 1)))
    _rewrite(file, content[:left])
    return f"{file} is cut from {len(content)} to {left} bytes"


def _zero(file: Path, _: list[Path], rng: random.Random) -> str:
    content = bytearray(file.read_bytes())
    start = rng.randrange(len(content) or 1)
    end = rng.choice((len(content), min(len(content), start + rng.randrange(1, 64))))
    content[start:end] = bytes(end - start)
    _rewrite(file, bytes(content))
    return f"bytes {start} to {end} of {file} are zero"


def _garble(file: Path, _: list[Path], rng: random.Random) -> str:
    content = bytearray(file.read_bytes())
    start = rng.randrange(len(content) or 1)
    end = min(len(content), start + rng.randrange(1, 32))
    content[start:end] = rng.randbytes(end - start)
    _rewrite(file, bytes(content))
    return f"bytes {start} to {end} of {file} are random"


def _append(file: Path, _: list[Path], rng: random.Random) -> str:
    more = rng.choice((b"\n", b"\0" * 8, rng.randbytes(rng.randrange(1, 64)), file.read_bytes()))
    _rewrite(file, file.read_bytes() + more)
    return f"{len(more)} bytes are appended to {file}"


def _delete(file: Path, _: list[Path], rng: random.Random) -> str:
    also = _checksum_too(file, rng)
    file.unlink()
    if also:
        checksum_of(file).unlink()
    return f"{file} is deleted{also}"


def _delete_folder(file: Path, _: list[Path], _rng: random.Random) -> str:
    if file.name == "metadata" and "state" not in str(file):
        return _delete(file, _, _rng)
    shutil.rmtree(file.parent)
    return f"the folder {file.parent} is deleted"


def _duplicate(file: Path, files: list[Path], rng: random.Random) -> str:
    """Copy over another file, or to the number that follows the last one."""
    others = [other for other in files if other != file]
    target = rng.choice(others) if others and rng.random() < 0.5 else _next(file, files)
    also = _checksum_too(file, rng)
    shutil.copy2(file, target)
    if also:
        shutil.copy2(checksum_of(file), checksum_of(target))
    return f"{file} is copied to {target}{also}"


def _next(file: Path, files: list[Path]) -> Path:
    beside = [_number(path) for path in files if path.parent == file.parent]
    number = re.match(r"(\.?)(\d+)(.*)", file.name)
    if not number:
        return file.with_name(f"{file.name}.copy")
    return file.with_name(f"{number[1]}{max(beside) + 1}{number[3]}")


def _swap(file: Path, files: list[Path], rng: random.Random) -> str:
    others = [other for other in files if other != file]
    if not others:
        return _flip(file, files, rng)
    near = [other for other in others if other.parent == file.parent or other.name == file.name]
    other = rng.choice(near or others)
    also = _checksum_too(file, rng) if checksum_of(other).exists() else ""
    _exchange(file, other)
    if also:
        _exchange(checksum_of(file), checksum_of(other))
    return f"{file} and {other} are exchanged{also}"


def _exchange(one: Path, other: Path) -> None:
    aside = one.with_name(f"{one.name}.aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _checksum_too(file: Path, rng: random.Random) -> str:
    """Decide whether the file's checksums share its fate."""
    if checksum_of(file).exists() and rng.random() < 0.5:
        return ", with its checksums"
    return ""


DAMAGES: dict[str, Callable[[Path, list[Path], random.Random], str]] = {
    "flip": _flip,
    "cut": _cut,
    "zero": _zero,
    "garble": _garble,
    "append": _append,
    "delete": _delete,
    "delete folder": _delete_folder,
    "duplicate": _duplicate,
    "swap": _swap,
}
