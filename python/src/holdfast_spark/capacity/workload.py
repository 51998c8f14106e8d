"""What a plan is made for."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast_spark._arguments import Kind
from holdfast_spark.capacity.load import StoreLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A stateful operator: what it holds and what a batch does to it.

    Attributes:
        operator: Spark's name of it.
        loads: its stores, all partitions together.
        partitions: partitions of its stores; None where that is to be chosen.
        compression: size of its state files beside what is in them; None where nobody knows.
        assumptions: what the figures take for granted, a sentence each.
    """

    operator: str
    loads: tuple[StoreLoad, ...]
    partitions: int | None = None
    compression: float | None = None
    assumptions: tuple[str, ...] = ()


WORKLOAD = Kind(
    "a Workload with a StoreLoad or more",
    lambda found: (
        isinstance(found, Workload)
        and bool(found.loads)
        and all(isinstance(load, StoreLoad) for load in found.loads)
    ),
)
