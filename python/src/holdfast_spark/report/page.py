"""The report as one HTML page, which needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from holdfast_spark._operator_names import both_names
from holdfast_spark._text import counted
from holdfast_spark._version import __version__
from holdfast_spark.checkpoint.facts import checkpoint_facts
from holdfast_spark.checkpoint.family_history import FamilyFigures
from holdfast_spark.checkpoint.history_figures import HotKey, StoreHistory
from holdfast_spark.checkpoint.inspection import Inspection
from holdfast_spark.report.plots import bytes_text, count_text, store_plots
from holdfast_spark.report.report import Report

_KEY_CHARACTERS = 200


def page(report: Report) -> str:
    """Return a report as an HTML page."""
    environment = Environment(
        loader=PackageLoader("holdfast_spark.report", package_path=""),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": count_text,
        "counted": counted,
        "size": bytes_text,
        "operator": both_names,
    }
    return environment.get_template("page.html.jinja").render(
        version=__version__,
        made=datetime.now(tz=timezone.utc).isoformat(sep=" ", timespec="seconds"),
        inspection=report.inspection,
        facts=checkpoint_facts(report.inspection),
        stores=[_store(store, report.inspection) for store in report.stores],
    )


def _store(store: StoreHistory, inspection: Inspection) -> Mapping[str, Any]:
    most = max((key.changes_at_most for key in store.hottest_keys), default=1)
    return {
        "history": store,
        "facts": _facts(store, inspection),
        "plots": store_plots(store),
        "hottest_keys": [_hot_key(key, most) for key in store.hottest_keys],
        "families": [_family(family) for family in store.families],
        "counted_exactly": all(k.changes == k.changes_at_most for k in store.hottest_keys),
    }


def _facts(store: StoreHistory, inspection: Inspection) -> list[tuple[str, str]]:
    (found,) = (
        summary
        for operator in inspection.operators
        for summary in operator.stores
        if (operator.operator_id, summary.name) == (store.operator_id, store.name)
    )
    return [
        ("partitions", count_text(found.partitions)),
        ("recoverable", f"versions {found.versions}" if found.versions else "no version"),
        ("deltas", f"{counted(found.deltas, 'file')}, {bytes_text(found.delta_bytes)}"),
        ("snapshots", f"{counted(found.snapshots, 'file')}, {bytes_text(found.snapshot_bytes)}"),
        ("snapshot lag", counted(found.snapshot_lag, "version")),
    ]


def _family(family: FamilyFigures) -> Mapping[str, Any]:
    newest = family.versions[-1]
    known = [version for version in family.versions if version.puts is not None]
    return {
        "name": family.name,
        "type": family.state_variable or "",
        "rows": "unknown" if newest.rows is None else count_text(newest.rows),
        "size": "unknown" if newest.row_bytes is None else bytes_text(newest.row_bytes),
        "puts": count_text(sum(version.puts or 0 for version in known)),
        "removals": count_text(sum(version.removals or 0 for version in known)),
    }


def _hot_key(key: HotKey, most: int) -> Mapping[str, Any]:
    text = key.key if isinstance(key.key, str) else json.dumps(key.key, ensure_ascii=False)
    if key.column_family is not None:
        text = f"{key.column_family} {text}"
    if len(text) > _KEY_CHARACTERS:
        text = f"{text[:_KEY_CHARACTERS]}…"
    return {
        "text": text,
        "partition_id": key.partition_id,
        "changes": key.changes,
        "changes_at_most": key.changes_at_most,
        "percent": f"{100 * key.changes / most:.1f}",
    }
