"""A place in any file system that fsspec knows, and what this package does there."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from holdfast_spark._arguments import OPTIONS, PATH, Kind, require_arguments
from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files import local_files
from holdfast_spark.checkpoint.files.abilities import is_pattern, renames, why_it_keeps_files
from holdfast_spark.checkpoint.files.boundary import TEXT_BYTES, why_no_file, why_outside
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.file_systems import missing_file_system, no_place
from holdfast_spark.checkpoint.files.listings import files_below
from holdfast_spark.checkpoint.files.refusals import AnsweredFile, asked, changing
from holdfast_spark.errors import HoldfastError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder; safe to use from any thread where its fsspec file system is.

    What a file system says of a path that is not what was expected is an `UnreadablePathError`, and
    so is a name, or a link, that leads out of the tree that a location is in. That it says nothing
    is an `UnansweredError`.

    Attributes:
        fs: the file system.
        path: path in it.
        tree: path of the folder that it has to be in; None where it may be anywhere.
        url: the URL that it was named by, which may say more than the path does, such as an account
            of Azure; None where there was none.
    """

    fs: AbstractFileSystem
    path: str
    tree: str | None = field(default=None, compare=False)
    url: str | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str] | Location,
        *,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Location:
        """Return the place that a path or URL names.

        Args:
            path: a local path, or a URL such as `s3://bucket/checkpoint` or `memory://c`; a
                location stays what it is.
            storage_options: what fsspec gives to the file system, such as credentials.

        Raises:
            UnreadablePathError: the path is empty or not UTF-8, or its file system is unknown or
                refuses.
        """
        from fsspec.core import url_to_fs

        if isinstance(path, Location):
            return path
        require_arguments(
            "checkpoint.Location.of", path=(path, PATH), storage_options=(storage_options, OPTIONS)
        )
        path = os.fspath(path)
        if reason := no_place(path):
            raise UnreadablePathError(path=path or "''", doing="open", reason=reason)
        with asked(path, "open"):
            try:
                fs, inner = url_to_fs(_unchained(path), **dict(storage_options or {}))
            except (AttributeError, ImportError, LookupError, OSError, TypeError, ValueError) as e:
                reason = missing_file_system(path, e)
                raise UnreadablePathError(path=path, doing="open", reason=reason) from e
        if _unchained(path) != path:
            inner = str(Path.cwd() / path)
        # The root of an archive has no name.
        url = path.rstrip("/") if "://" in path else None
        place = cls(fs, inner.rstrip("/") or inner[:1], url=url)
        if place.is_local and ".." in inner.split("/"):
            # Above a folder that is not there, the system finds nothing until somebody makes it.
            return place.at(os.path.realpath(place.path))
        return place

    def __truediv__(self, name: object) -> Location:
        return self.at(f"{self.path.rstrip('/')}/{name}" if self.path else str(name))

    def as_tree(self) -> Location:
        """Return it as a folder that nothing below it is followed out of."""
        return replace(self, tree=self.path)

    def at(self, path: str) -> Location:
        """Return another path of its file system, in the same tree."""
        return replace(self, path=path, url=None)

    def below(self, path: str) -> str:
        """Return the rest of a path that lies below it, without a slash before it."""
        return path.removeprefix(f"{self.path.rstrip('/')}/")

    def require_inside(self, doing: str = "use") -> None:
        """Check that neither its name nor a link leads out of its tree.

        Raises:
            UnreadablePathError: one does.
        """
        if self.tree is not None:
            reason = why_outside(self.path, self.tree, is_local=self.is_local)
            if reason:
                raise UnreadablePathError(path=str(self), doing=doing, reason=reason)

    def __str__(self) -> str:
        return self.path if self.is_local else str(self.fs.unstrip_protocol(self.path))

    @property
    def is_local(self) -> bool:
        """Whether it lies in the local file system."""
        protocol = self.fs.protocol
        return "file" in ([protocol] if isinstance(protocol, str) else protocol)

    @property
    def is_dead_link(self) -> bool:
        """Whether it is a link to what is not there."""
        path = Path(self.path)
        return self.is_local and path.is_symlink() and not path.exists()

    def is_in(self, folder: Location) -> bool:
        """Tell whether it is a folder or lies below it, also where a link leads there."""
        # That of local files is one, with whichever options.
        are_local = self.is_local and folder.is_local
        if not are_local and self.fs != folder.fs:
            return False
        mine, its = (
            os.path.realpath(place.path) if are_local else place.path for place in (self, folder)
        )
        return f"{mine}/".startswith(f"{its.rstrip('/')}/")

    def exists(self) -> bool:
        """Tell whether there is a file or folder.

        Raises:
            UnansweredError: the file system does not tell, or not this user. So do all that read
                here.
        """
        return self._type() is not None

    def is_there(self) -> bool:
        """Tell whether there is anything of that name, also a link that leads nowhere."""
        return self._type(follow=False) is not None

    def is_file(self) -> bool:
        """Tell whether there is a file."""
        return self._type() == "file"

    def _type(self, *, follow: bool = True) -> str | None:
        """Return what there is: `file`, `directory`, or another word of fsspec; None for nothing.

        What fsspec has to ask for it takes any failure for nothing, and even a Ctrl-C
        (`AbstractFileSystem.exists`), and to go on from that is how state is lost.
        """
        self._forget_listings()
        nothing = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with asked(self, "look for"), nothing:
            if self.is_local:
                return local_files.type_of(Path(self.path), follow=follow)
            return str(self.fs.info(self.path)["type"])
        return None

    def names(self) -> list[str]:
        """Return the names of the files and folders in a folder; none if there is no folder.

        A store of objects may list an object that stands for the folder (`is_marker`), too.
        """
        self._forget_listings()
        nothing = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with asked(self, "list"), nothing:
            if self.is_local:
                return [path.name for path in Path(self.path).iterdir()]
            listed = (path.rstrip("/") for path in self.fs.ls(self.path, detail=False))
            return [path.rpartition("/")[2] for path in listed if path != self.path.rstrip("/")]
        return []

    def files(self, *, without: Collection[str] = ()) -> list[Entry]:
        """Return all files below a folder, with one listing; none if there is no folder.

        Args:
            without: paths of links to folders that are not looked into, if it is local.
        """
        self._forget_listings()
        with asked(self, "list"):
            return sorted(files_below(self, without), key=lambda entry: entry.path)

    def _forget_listings(self) -> None:
        """Have the file system ask anew: others write too, and some keep what they have listed."""
        self.fs.invalidate_cache()

    def open(self) -> IO[bytes]:
        """Open a file for reading.

        Its reads raise an `UnansweredError`, and no `OSError`, where the file system fails.
        """
        with asked(self, "read"):
            if self.is_local and (reason := why_no_file(self.path)):
                raise UnreadablePathError(path=str(self), doing="read", reason=reason)
            return cast("IO[bytes]", AnsweredFile(self.fs.open(self.path, "rb"), self))

    def read_bytes(self, limit: int = TEXT_BYTES) -> bytes:
        """Return the content of a file.

        Args:
            limit: bytes that it may have.

        Raises:
            UnreadablePathError: it has more, or the file system refuses.
        """
        pieces, size = [], 0
        with self.open() as stream:
            while size <= limit and (piece := stream.read(_PIECE_BYTES)):
                pieces.append(piece)
                size += len(piece)
        if size > limit:
            reason = f"it has more than {limit:,} bytes, which no such file needs"
            raise UnreadablePathError(path=str(self), doing="read", reason=reason)
        return b"".join(pieces)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a file of UTF-8, which may be long while no line of it is.

        What is not UTF-8 becomes U+FFFD.

        Raises:
            UnreadablePathError: a line is longer than one ever is, or the file system refuses.
        """
        rest = b""
        with self.open() as stream:
            while piece := stream.read(_PIECE_BYTES):
                *whole, rest = (rest + piece).split(b"\n")
                yield from (_line(line) for line in whole)
                if len(rest) > _PIECE_BYTES:
                    reason = f"it has a line of more than {_PIECE_BYTES:,} bytes"
                    raise UnreadablePathError(path=str(self), doing="read", reason=reason)
        if rest:
            yield _line(rest)

    def copy_into(self, out: IO[bytes]) -> int:
        """Write the content of a file to an open one, piece by piece; return its size."""
        size = 0
        with self.open() as stream:
            while piece := stream.read(_PIECE_BYTES):
                out.write(piece)
                size += len(piece)
        return size

    def replace(self, content: bytes) -> None:
        """Replace a file by one with this content, or leave it as it is; on disk when it returns.

        In a local file system the new file takes its place in one step, with the mode and, where
        the user may give it, the owner of the old one. Object stores replace in one step by
        themselves; what other file systems do when a write fails, they decide.
        """
        with changing(self, "write"):
            if self.is_local:
                local_files.replace(Path(self.path), content)
            else:
                self.fs.pipe_file(self.path, content)

    def create(self, content: bytes) -> None:
        """Write a new file, whose content is on disk then, and the folders that it lies in."""
        with changing(self, "write"):
            self.fs.makedirs(self.folder.path, exist_ok=True)
            if self.is_local:
                local_files.write(Path(self.path), content)
            else:
                self.fs.pipe_file(self.path, content)

    @contextlib.contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """Open a new file for writing, in folders that are made; on disk when the context ends."""
        with changing(self, "write"):
            self.folder.make_folder()
            if not self.is_local:
                with self.fs.open(self.path, "wb") as stream:
                    yield stream
                return
            with Path(self.path).open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())

    def claim(self, content: bytes, *, by: Location) -> bool:
        """Write a new file, or none if there is one already; tell whether it was written.

        It is on disk then.

        In a local file system, and in those that can create a file exclusively, of several that
        claim a file at once one succeeds. Elsewhere the last one may: who reads it again, knows.

        Args:
            content: what it is to hold.
            by: a file that does not exist, in the same file system, for what is made on the way.
        """
        if self.exists():
            return False
        if self.is_local:
            with changing(self, "write"):
                return local_files.claim(Path(self.path), content, by=Path(by.path))
        with changing(self, "write"):
            try:
                self.fs.pipe_file(self.path, content, mode="create")
            except FileExistsError:
                return False
            except (NotImplementedError, TypeError, ValueError):
                self.fs.pipe_file(self.path, content)
        return True

    def copy(self, target: Location) -> None:
        """Copy a file, to folders that are made; the content of the copy is on disk then."""
        target.folder.make_folder()
        with changing(self, "copy"):
            if self.is_local:
                shutil.copy2(self.path, target.path)
                local_files.sync(Path(target.path))
            else:
                self.fs.cp_file(self.path, target.path)

    def take_mode_of(self, other: Location) -> None:
        """Give a local file the mode and, where the user may, the owner of another one."""
        if self.is_local:
            with changing(self, "write"):
                local_files.take_mode(Path(other.path), Path(self.path))

    def remove_empty(self) -> None:
        """Remove a folder, if it is empty and the file system has such folders."""
        with contextlib.suppress(OSError, NotImplementedError, HoldfastError):
            # Not every file system asks: that of fsspec for HDFS removes all that is in it.
            if self.is_local or not self.names():
                self.fs.rmdir(self.path)

    def move(self, target: Location) -> None:
        """Move a file, in one step where the file system can; another may be replaced.

        Raises:
            UnreadablePathError: the file system refuses, or cannot replace a file.
        """
        if not self.is_local and (reason := why_it_keeps_files(self.fs)):
            raise UnreadablePathError(path=str(self), doing="move", reason=reason)
        target.folder.make_folder()
        with changing(self, "move"):
            if self.is_local:
                Path(self.path).replace(target.path)
            elif renames(self.fs):
                self.fs.mv(self.path, target.path)
            else:
                self.fs.cp_file(self.path, target.path)
                self.fs.rm_file(self.path)

    @property
    def folder(self) -> Location:
        """The folder that it lies in."""
        folder = self.at(self.path.rpartition("/")[0])
        return replace(folder, tree=None) if self.path == self.tree else folder

    def make_folder(self) -> None:
        """Make a folder and those that it lies in, if they are not there."""
        with changing(self, "make"):
            self.fs.makedirs(self.path, exist_ok=True)

    def make_folder_as_above(self) -> None:
        """Make a folder as `make_folder` does, for whoever may use the one that it lies in.

        In a local file system it has the mode and, where the user may give it, the owner of that.
        """
        if not self.is_local:
            self.make_folder()
            return
        with changing(self, "make"):
            local_files.make_folder(Path(self.path))

    def download(self, folder: Path) -> None:
        """Copy all files below a folder to a local one, which is made."""
        for entry in self.files():
            self.at(entry.path).require_inside("copy")
            target = folder / self.below(entry.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with asked(self.at(entry.path), "copy"):
                self.fs.get_file(entry.path, str(target))

    def upload(self, file: Path) -> None:
        """Copy a local file here, with the folders that it lies in; its content is on disk then."""
        self.folder.make_folder()
        with changing(self, "write"):
            self.fs.put_file(str(file), self.path)
            if self.is_local:
                local_files.sync(Path(self.path))

    def remove(self) -> None:
        """Remove a file, if it is there."""
        with changing(self, "remove"), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self.fs.rm_file(self.path)

    def remove_tree(self) -> None:
        """Remove a file or a folder with all that is in it, if it is there."""
        if is_pattern(self.path) and not self.is_local:
            # The file system would remove what the pattern fits.
            self._remove_one_by_one()
            return
        with changing(self, "remove"), contextlib.suppress(FileNotFoundError):
            self.fs.rm(self.path, recursive=True)

    def _remove_one_by_one(self) -> None:
        if self.is_file():
            self.remove()
            return
        for name in self.names():
            (self / name).remove_tree()
        self.remove_empty()

    def read_text(self) -> str:
        """Return the content of a UTF-8 file; what is not UTF-8 becomes U+FFFD."""
        return self.read_bytes().decode("utf-8", errors="replace")


PLACE = Kind("a path, a URL or a Location", lambda f: PATH.fits(f) or isinstance(f, Location))


def _unchained(path: str) -> str:
    """Return a path without the `::` that puts URLs together, and that a plain path may have."""
    return path if "://" in path else path.replace("::", ":")


def _line(content: bytes) -> str:
    return content.decode("utf-8", errors="replace").removesuffix("\r")
