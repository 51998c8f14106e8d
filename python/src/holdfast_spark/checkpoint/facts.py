"""The facts about a checkpoint as a person reads them."""

from collections.abc import Iterator

from holdfast_spark._operator_names import GROUPS, GROUPS_IN_PANDAS, spark_name
from holdfast_spark._text import counted, size_text
from holdfast_spark.checkpoint.inspection import Inspection


def checkpoint_facts(found: Inspection) -> list[tuple[str, str]]:
    """Return the facts about a checkpoint as names and values for people."""
    committed = found.newest_committed_batch
    formats = ", ".join(f"{name} {n}" for name, n in _formats(found))
    planned = found.newest_batch_started
    first, last = found.first_batch, found.newest_batch
    batches = str(last) if first == last else f"{first} to {last}"
    newest = f"; the newest was planned at {planned}" if planned else ""
    return [
        ("checkpoint", found.path),
        ("query", found.query_id or "unknown"),
        ("provider", found.provider_class),
        ("codec", found.codec + (", with row checksums" if found.row_checksums else "")),
        ("partitions", str(found.shuffle_partitions or "unknown")),
        *([("state formats", formats)] if formats else []),
        ("batches", f"{batches}{newest}"),
        ("committed", "none" if committed is None else f"up to {committed}"),
        ("state", f"{counted(found.files, 'file')}, {size_text(found.bytes)}"),
    ]


def _formats(found: Inspection) -> Iterator[tuple[str, int]]:
    """Yield the state formats of operators that are there; a query pins those of all kinds."""
    names = {spark_name(operator.name) for operator in found.operators}
    if GROUPS_IN_PANDAS in names:  # which has the format of the other one
        names.add(GROUPS)
    for name, version in found.state_format_versions.items():
        if spark_name(name) in names or None in names:  # of an unknown one anything may count
            yield name, version
