"""What Holdfast asks of an object store in fewer requests than Hadoop needs for a file."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

from filesystems.jvm import Jvm
from filesystems.places import Files


def test_a_listed_file_is_read_and_never_another_one_in_its_place(stored: Files) -> None:
    for name in ("1.delta", "2.delta", "3.delta"):
        stored.write(name, b"first")
    first, second, third = stored.manager.list(stored.path())
    stored.write("2.delta", b"other")
    stored.delete("3.delta")
    stream = stored.manager.open(first)
    assert bytes(stream.readAllBytes()) == b"first"
    stream.close()
    for gone in (second, third):
        with pytest.raises(Py4JJavaError, match=r"IOException|FileNotFound"):
            stored.manager.open(gone).readAllBytes()


def test_many_files_are_deleted_at_once_and_those_that_are_gone_are_no_error(
    client: Jvm, stored: Files
) -> None:
    names = [f"{version}.delta" for version in range(1, 5)]
    for name in names:
        stored.write(name, b"rows")
    gone = client.classes.java.util.ArrayList()
    for name in (*names[:3], "9.delta"):
        gone.add(stored.path(name))
    scala = client.classes.scala.jdk.javaapi.CollectionConverters
    stored.manager.deleteAll(stored.path(), scala.asScala(gone).toSeq())
    assert stored.names() == names[3:]
