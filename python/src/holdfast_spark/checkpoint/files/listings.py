"""All files below a folder, as its file system lists them."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast_spark.checkpoint.files import local_files
from holdfast_spark.checkpoint.files.abilities import lists_trees
from holdfast_spark.checkpoint.files.entries import Entry, is_marker
from holdfast_spark.checkpoint.files.refusals import asked

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.files.location import Location


def files_below(folder: Location, without: Collection[str]) -> Iterator[Entry]:
    """Yield the files below a folder, in no order; none if there is no folder.

    One after the other: what a file system tells of a file takes more room than an entry.

    Args:
        folder: the folder.
        without: paths of links to folders that are not looked into, if it is local.

    Raises:
        UnreadablePathError: the file system refuses; of a folder that it refuses to list, too.
    """
    listed = _tree(folder) if lists_trees(folder.fs) else _folder_by_folder(folder, without)
    return (Entry.of(path, info) for path, info in listed if not is_marker(path))


def _tree(folder: Location) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = folder.fs.find(folder.path, detail=True)
    # Of a file, that for Azure has the name alone.
    named = found if isinstance(found, Mapping) else {name: folder.fs.info(name) for name in found}
    yield from named.items()


def _folder_by_folder(
    top: Location, without: Collection[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # What fsspec has for such file systems leaves out the folders that it may not list.
    folders = [top.path]
    while folders:
        folder = folders.pop()
        gone = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with asked(top.at(folder), "list"), gone:
            for info in _listed(top, folder):
                name = info["name"]
                if name in without:
                    continue
                if info["type"] != "directory" and not _leads_on(top, info):
                    yield name, info
                elif name.rstrip("/") != folder.rstrip("/"):
                    folders.append(name)


def _listed(top: Location, folder: str) -> Iterable[Mapping[str, Any]]:
    if top.is_local:
        return local_files.listed(folder)
    listed: list[dict[str, Any]] = top.fs.ls(folder, detail=True)
    return listed


def _leads_on(top: Location, info: Mapping[str, Any]) -> bool:
    """Tell whether it is a local link to a folder of the tree, and to none that it lies in."""
    if not top.is_local or not info.get("islink") or not _is_folder(Path(info["name"])):
        return False
    link = top.at(info["name"])
    return link.is_in(top.at(top.tree or top.path)) and not link.folder.is_in(link)


def _is_folder(link: Path) -> bool:
    """Tell whether a link leads to a folder; not if it leads nowhere, or where nobody may look."""
    try:
        return local_files.type_of(link, follow=True) == "directory"
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    except OSError as e:
        if e.errno == errno.ELOOP:
            return False
        raise
