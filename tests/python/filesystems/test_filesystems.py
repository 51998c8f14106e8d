"""Every file system by the same cases, HDFS with parts that stop, and a query that is killed on it.

In one file, so that one process runs them and starts one cluster.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from filesystems.cluster import Cluster
from filesystems.conftest import S3A_ENDPOINT
from filesystems.contract import *  # noqa: F403 - the cases
from filesystems.disturbed import *  # noqa: F403
from filesystems.history import History
from filesystems.judge import judge
from harness import spark_variables

if S3A_ENDPOINT in os.environ:
    from filesystems.stored import *  # noqa: F403

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.usefixtures("no_spark_settings")
def test_a_killed_query_goes_on_while_the_cluster_is_disturbed(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "history"
    folder.mkdir()
    history = History(seed=16, folder=folder, master="local[2]", files=8, kills=1)
    history.run(cluster, spark_variables())
    assert list(judge(history, cluster)) == []
    assert history.happened["data nodes stopped"] == 1
    # It may fail by itself, at the first call of a NameNode that is not there.
    assert history.happened["drivers killed"] + history.happened["queries failed"] >= 1
    assert history.happened["name node restarted"] + history.happened["safe mode"] >= 1
