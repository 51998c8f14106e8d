"""The codec of state files, as its setting names it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from holdfast_spark._setting_names import CODEC
from holdfast_spark.errors import NoSuchCodecError

# What Spark takes in any case (`CompressionCodec` of Spark 3.5 to 4.3). Whatever else there is, is
# the name of a class.
CODEC_NAMES = ("lz4", "lzf", "snappy", "zstd")
# What may be a class, by the letters that those of Java and Scala have: `MyCodec`.
_CLASS_WITHOUT_PACKAGE = re.compile(r"[A-Z]\w*[a-z]\w*")


def require_codec(settings: Mapping[str, str]) -> None:
    """Check that a state codec is one that Spark may know.

    Only the class paths tell whether there is a class; the session extension looks there when a
    query starts.

    Raises:
        NoSuchCodecError: it cannot be one.
    """
    codec = settings.get(CODEC)
    if codec is None or is_short_name(codec) or "." in codec or "$" in codec:
        return
    if not _CLASS_WITHOUT_PACKAGE.fullmatch(codec):
        raise NoSuchCodecError(setting=CODEC, found=codec, known=CODEC_NAMES)


def is_short_name(codec: str) -> bool:
    """Tell whether a codec is one of Spark's, by the short name."""
    return codec.lower() in CODEC_NAMES
