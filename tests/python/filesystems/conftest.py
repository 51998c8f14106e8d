"""What the tests of file systems share: a cluster, and a JVM that is its client.

They run where `./dev` gives them the jars: HDFS's for the newest Spark line, and for `s3a`, with a
server, when `./dev filesystems` asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from filesystems import places
from filesystems.cluster import Cluster
from filesystems.jvm import Jvm
from filesystems.places import Files, Place

HDFS_JARS = "HOLDFAST_HDFS_JARS"
S3A_JARS = "HOLDFAST_S3A_JARS"
S3A_ENDPOINT = "HOLDFAST_S3A_ENDPOINT"

for cases in ("contract", "disturbed", "stored"):
    pytest.register_assert_rewrite(f"filesystems.{cases}")

collect_ignore_glob = [] if HDFS_JARS in os.environ else ["test_*.py"]

_KINDS = ["local", "hdfs", *(["s3a"] if S3A_ENDPOINT in os.environ else [])]
_OF_MANAGERS = ["default", "other", "third"]
_MANAGERS = {"local": 2, "hdfs": 2, "s3a": 3}


def _jars(variable: str) -> list[Path]:
    return sorted(Path(os.environ[variable]).glob("*.jar")) if variable in os.environ else []


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(_jars(HDFS_JARS), tmp_path_factory.mktemp("cluster"))
    yield started
    started.close()


@pytest.fixture(scope="session")
def new_client() -> Callable[[], Jvm]:
    """Starts a JVM that reaches all places, and that is nobody special in the cluster."""
    # The package asks for pyspark.
    from holdfast_spark._jars import installed_spark_line, jar_path

    jar = jar_path(installed_spark_line())
    return lambda: Jvm([jar, *_jars(S3A_JARS)])


@pytest.fixture(scope="session")
def client(new_client: Callable[[], Jvm]) -> Iterator[Jvm]:
    started = new_client()
    yield started
    started.close()


@pytest.fixture(
    scope="session",
    params=[(kind, manager) for kind in _KINDS for manager in range(_MANAGERS[kind])],
    ids=lambda p: f"{p[0]}-{_OF_MANAGERS[p[1]]}",
)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    kind, manager = request.param
    if kind == "local":
        known = places.local(str(tmp_path_factory.mktemp("local")))
    elif kind == "hdfs":
        known = places.hdfs(request.getfixturevalue("cluster").url)
    else:
        known = places.s3a(os.environ[S3A_ENDPOINT])
    return known[int(manager)]


@pytest.fixture
def files(client: Jvm, place: Place, request: pytest.FixtureRequest) -> Files:
    """A new folder in a place."""
    return Files(client, place, _folder(request))


@pytest.fixture
def hdfs(client: Jvm, cluster: Cluster, request: pytest.FixtureRequest) -> Files:
    """A new folder in the cluster, by Holdfast's manager, which leaves it to Spark's."""
    return Files(client, places.hdfs(cluster.url)[1], _folder(request))


@pytest.fixture
def stored(client: Jvm, request: pytest.FixtureRequest) -> Files:
    """A new folder in the store of objects, by the manager that Holdfast has for state files."""
    files = Files(client, places.s3a(os.environ[S3A_ENDPOINT])[2], _folder(request))
    files.manager = client.classes.io.holdfast.objects.ObjectCheckpointFiles(
        files.path(), files.conf
    )
    return files


def _folder(request: pytest.FixtureRequest) -> str:
    name: str = request.node.originalname
    return name
