"""Why the file system of a URL cannot be had, and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from holdfast_spark._text import cause_text

# What to install for the schemes that checkpoints are named with; fsspec brings the other ones.
_PACKAGES: Mapping[str, str] = {
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "dbfs": "requests",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "http": "aiohttp requests",
    "https": "aiohttp requests",
    "oci": "ocifs",
    "oss": "ossfs",
    "s3": "s3fs",
    "s3a": "s3fs",
    "sftp": "paramiko",
    "webhdfs": "requests",
}
_BUILT_IN = ("file", "hdfs", "memory")
# Hadoop's names of what fsspec has under another one.
_SAME_AS: Mapping[str, str] = {"s3n": "s3", "wasb": "abfs", "wasbs": "abfss"}

_HADOOP = (
    "hdfs:// needs Java and Hadoop's client library; set JAVA_HOME, set HADOOP_HOME (or "
    "ARROW_LIBHDFS_DIR to the folder of libhdfs), and set CLASSPATH to what hadoop classpath "
    "--glob prints. Or read over HTTP, with webhdfs://"
)
_ONE_SLASH = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]+):/(?!/)(?P<rest>.*)")


def missing_file_system(path: str, error: BaseException) -> str:
    """Return why fsspec has no file system for a path or URL, and what to do.

    Args:
        path: what was asked for.
        error: what fsspec said.
    """
    scheme, separator, _ = path.rpartition("::")[2].partition("://")
    if not separator:
        return cause_text(error)
    if scheme == "hdfs":
        return f"{_HADOOP} ({cause_text(error)})"
    from fsspec import available_protocols

    is_known = scheme in available_protocols()
    if scheme in _PACKAGES and (isinstance(error, ImportError) or not is_known):
        return _to_install(scheme, error)
    return cause_text(error) if is_known else _unknown(scheme)


def _unknown(scheme: str) -> str:
    if scheme in _SAME_AS:
        return f"no file system is known for {scheme}://; write {_SAME_AS[scheme]}:// instead"
    known = ", ".join(f"{name}://" for name in sorted((*_BUILT_IN, *_PACKAGES)))
    return (
        f"no file system is known for {scheme}://; known are {known} and what other packages "
        "bring to fsspec"
    )


def no_place(path: str) -> str | None:
    """Return why a text names no place for a checkpoint, as the end of a sentence; None if it may.

    Java takes no name that is not UTF-8, which Python has with surrogates in the place of bytes.
    """
    if not path:
        return "the path is empty"
    if path.encode(errors="replace").decode() != path:
        return (
            "the name is no UTF-8, and Java, and Spark with it, cannot open it; rename the folder"
        )
    if path.startswith("data:"):
        return "a data: URL is a file by itself, and a checkpoint is a folder"
    return _not_a_url(path)


def _not_a_url(path: str) -> str | None:
    """Return why what looks like a URL is none; None for a path or a whole URL.

    Hadoop takes `dbfs:/x` for a URL, and fsspec for a folder `dbfs:`. It is that if there is one.
    """
    found = _ONE_SLASH.fullmatch(path)
    if found is None or found["scheme"] == "file" or Path(f"{found['scheme']}:").is_dir():
        return None
    url = f"{found['scheme']}://{found['rest']}"
    if found["scheme"] == "dbfs":
        return f"a URL has two slashes behind the colon; on Databricks give /dbfs/{found['rest']}"
    return f"a URL has two slashes behind the colon; give {url}"


def _to_install(scheme: str, error: BaseException) -> str:
    package, cause = _PACKAGES[scheme], error.__cause__
    if isinstance(cause, ImportError) and not isinstance(cause, ModuleNotFoundError):
        return f"{scheme}:// needs {package}, which cannot be imported ({cause_text(cause)})"
    missing = f"{scheme}:// needs what is not installed"
    return f"{missing}; run pip install {package}"
