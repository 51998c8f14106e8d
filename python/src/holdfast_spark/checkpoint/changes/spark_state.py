"""Spark's RocksDB provider, driven through py4j in a local session."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast_spark import _jvm
from holdfast_spark._jars import installed_spark_line, is_before
from holdfast_spark.checkpoint.errors import CheckpointError, ConversionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# `StateStoreProvider.getStore` with `loadEmpty`, and `ReadStateStore.allColumnFamilyNames`.
_FIRST_LINE_WITH_WHOLE_STATES = "4.2"

# Nothing but errors: the session is none of the user's.
_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
logger.python.name = org.apache.spark.api.python.PythonGatewayServer
logger.python.level = error
"""


class SparkStateError(CheckpointError):
    """Spark's RocksDB provider cannot read or write a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFamily:
    """A column family of a store as Spark's provider has to know it.

    Attributes:
        table: number that its rows have in files of records.
        name: its name.
        key_encoder: how its keys are ordered, Spark's JSON.
        key_schema: schema of the keys, Spark's JSON.
        value_schema: schema of the values, Spark's JSON.
        has_many_values: whether a key has a list of values.
        is_internal: whether it is the operator's own.
        key_schemas: the schemas that keys may have been written with, by Spark's numbers of them.
        value_schemas: the same of values.
    """

    table: int
    name: str
    key_encoder: str
    key_schema: str
    value_schema: str
    has_many_values: bool
    is_internal: bool
    key_schemas: Mapping[int, str]
    value_schemas: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkStore:
    """A store as Spark's provider has to know it.

    Attributes:
        state_folder: local path of the folder `state` that the store lies below.
        operator_id: number of the stateful operator.
        partition_id: number of the partition.
        store_name: name of the store.
        version: the version to read or write.
        key_schema: schema of the keys, Spark's JSON.
        value_schema: schema of the values, Spark's JSON.
        prefix_columns: leading key columns that a prefix scan goes by.
        settings: what the query is bound to, by full names, with RocksDB as its provider.
        families: its column families, in a store that has them; None in others. Schemas and prefix
            columns are then theirs.
    """

    state_folder: str
    operator_id: int
    partition_id: int
    store_name: str
    version: int
    key_schema: str
    value_schema: str
    prefix_columns: int
    settings: Mapping[str, str]
    families: tuple[SparkFamily, ...] | None = None

    def __str__(self) -> str:
        return f"{self.operator_id}/{self.partition_id}/{self.store_name}"

    def json(self) -> str:
        """Return what `io.holdfast.python.DescribedStore` is made of."""
        described = _camel_cased(self)
        if self.families is not None:
            described["families"] = [_camel_cased(family) for family in self.families]
        return json.dumps(described)


class SparkState:
    """Spark's RocksDB provider in the JVM of a session; for the thread that made it."""

    def __init__(self, spark: SparkSession) -> None:
        self._rows = _jvm.store_rows(spark)
        # A provider reports snapshots to a coordinator, which starts with the session's streams.
        spark.streams  # noqa: B018

    def read(self, store: SparkStore, records: Path) -> int:
        """Write all rows of a store to a file of uncompressed records; return their number.

        Of a store with column families a record has the number of its table in front, and each
        value of a list is one, behind the value before it.

        Raises:
            SparkStateError: Spark cannot read the store.
        """
        return self._call(self._rows.read, "read", store, records)

    def write(self, store: SparkStore, records: Path) -> int:
        """Make a store of the rows in a file of uncompressed records; return their number.

        Raises:
            SparkStateError: Spark cannot write the store.
        """
        return self._call(self._rows.write, "write", store, records)

    @staticmethod
    def _call(call: Callable[[str, str], int], what: str, store: SparkStore, records: Path) -> int:
        from py4j.protocol import Py4JJavaError

        try:
            return call(store.json(), str(records))
        except Py4JJavaError as e:
            raise SparkStateError(
                f"Spark's RocksDB provider could not {what} version {store.version} of the store "
                f"{store}: {_root_cause(e.java_exception)}."
            ) from e


@contextlib.contextmanager
def spark_state(work: Path, *, writes: bool, families: bool) -> Iterator[SparkState]:
    """Give Spark's RocksDB provider: in the active session, else in one that is stopped afterwards.

    Args:
        work: a folder for what the session leaves behind.
        writes: whether it is to write stores, and not only to read them.
        families: whether some of them have column families.

    Raises:
        ConversionError: one of both, and the installed pyspark cannot.
        PySparkNotInstalledError: there is no pyspark.
        NoJarForSparkLineError: there is no Holdfast jar for the installed pyspark.
        NoJavaError: there is no Java that runs Spark.
        SessionWithoutHoldfastError: the active session was started without Holdfast.
    """
    line = installed_spark_line()
    if (writes or families) and is_before(line, _FIRST_LINE_WITH_WHOLE_STATES):
        done, can = ("written", "writes whole stores") if writes else ("read", "tells all families")
        raise ConversionError(
            f"The files of Spark's RocksDB provider are {done} by a local Spark session, which "
            f"{can} from Spark {_FIRST_LINE_WITH_WHOLE_STATES} on, and the installed "
            f"pyspark is of Spark {line}: run holdfast migrate where pyspark "
            f"{_FIRST_LINE_WITH_WHOLE_STATES} or newer is installed. The query itself may stay "
            "where it is."
        )
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    spark = active or _start(work)
    try:
        yield SparkState(spark)
    finally:
        if not active:
            spark.stop()


def _start(work: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    from holdfast_spark._java import check_java
    from holdfast_spark.session import configure

    check_java()
    logging = work / "log4j2.properties"
    logging.write_text(_LOGGING)
    builder = (
        SparkSession.Builder()
        .appName("holdfast migrate")
        .master("local[1]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f'-Dlog4j2.configurationFile="{logging}"')
        .config("spark.local.dir", str(work))
        .config("spark.sql.warehouse.dir", f"file://{work}/warehouse")
        .config("spark.ui.enabled", "false")
    )
    return configure(builder).getOrCreate()


def _root_cause(error: Any) -> str:  # noqa: ANN401 - a Java exception
    while error.getCause() is not None:
        error = error.getCause()
    return str(error.toString()).partition("\n")[0].rstrip(".")


def _camel_cased(described: SparkStore | SparkFamily) -> dict[str, Any]:
    return {_camel_case(name): value for name, value in asdict(described).items()}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
