"""Which rooms of the package import from which: no arrow goes up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import holdfast_spark

PACKAGE = Path(holdfast_spark.__file__).parent
NAME = PACKAGE.name

# The rooms below each room of the package. What lies in the package itself is below all of them,
# but for the module that starts the command line.
TOP = "__main__.py"
# Sessions are made by a module of the package itself, which puts the room `transform` into them.
ENTRANCE = ("session.py", "transform")
# Errors of all rooms can be had from one module, which imports each when it is first asked for.
ALL_ERRORS = PACKAGE / "errors.py"
ROOMS: Mapping[str, frozenset[str]] = {
    "checkpoint": frozenset(),
    "capacity": frozenset({"checkpoint"}),
    "report": frozenset({"checkpoint"}),
    "demo": frozenset({"checkpoint"}),
    "doctor": frozenset(),
    "transform": frozenset(),
    "cli": frozenset({"checkpoint", "capacity", "report", "demo", "doctor"}),
}
# The same within `checkpoint`, whose modules that read lie between its rooms.
READING = "reading"
CHECKPOINT: Mapping[str, frozenset[str]] = {
    "files": frozenset(),
    "rows": frozenset({"files"}),
    READING: frozenset({"files", "rows"}),
    "checks": frozenset({"files", "rows", READING}),
    "changes": frozenset({"files", "rows", READING, "checks"}),
}
BELOW_ALL = "checkpoint/errors.py"


def modules(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if path.is_file())


def imported(module: Path) -> Iterator[Path]:
    """Yield the modules of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (found for alias in node.names if (found := of_package(alias.name)))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            assert node.module is not None
            for alias in node.names:
                found = of_package(f"{node.module}.{alias.name}") or of_package(node.module)
                if found:
                    yield found


def of_package(name: str) -> Path | None:
    """Return the module of that full name, None where the package has none."""
    first, *others = name.split(".")
    if first != NAME:
        return None
    place = PACKAGE.joinpath(*others)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def room_of_package(module: Path) -> str | None:
    """Return the room that a module lies in, None for the package itself."""
    parts = module.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def room_of_checkpoint(module: Path) -> str | None:
    """Return the room of `checkpoint` that a module lies in, None for another's or its errors."""
    parts = module.relative_to(PACKAGE).parts
    if parts[0] != "checkpoint" or "/".join(parts) == BELOW_ALL:
        return None
    return parts[1] if len(parts) > 2 else READING


def arrow(module: Path, other: Path) -> str:
    return f"{module.relative_to(PACKAGE)} imports {other.relative_to(PACKAGE)}"


def test_rooms_of_the_package_import_only_from_rooms_below_them() -> None:
    up = [
        arrow(module, other)
        for module in modules(PACKAGE)
        if module.name != TOP and module != ALL_ERRORS
        for other in imported(module)
        if (target := room_of_package(other)) is not None
        and target != (room := room_of_package(module))
        and target not in (ROOMS[room] if room else ())
        and (module.name, target) != ENTRANCE
    ]
    assert up == []


def test_rooms_of_checkpoint_import_only_from_rooms_below_them() -> None:
    face = PACKAGE / "checkpoint" / "__init__.py"  # re-exports what lies in all of its rooms
    up = [
        arrow(module, other)
        for module in modules(PACKAGE / "checkpoint")
        if module != face
        for other in imported(module)
        if other == face
        or (
            (room := room_of_checkpoint(module)) is not None
            and room_of_checkpoint(other) not in {None, room, *CHECKPOINT[room]}
        )
    ]
    assert up == []


def test_every_folder_of_the_package_is_a_room() -> None:
    folders = {path.parent for path in modules(PACKAGE)}
    rooms = {PACKAGE, *(PACKAGE / room for room in ROOMS)}
    assert folders == rooms | {PACKAGE / "checkpoint" / room for room in CHECKPOINT} - {
        PACKAGE / "checkpoint" / READING
    }
