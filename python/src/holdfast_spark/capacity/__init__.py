"""How much memory and disk the state of a query takes, as `holdfast plan` calculates it.

Of an operator that is planned, from its schema:

    from holdfast_spark.capacity import Description, Surroundings, make_plan, workload_of

    workload = workload_of(
        Description(
            operator="aggregation",
            key="user bigint",
            value="clicks bigint, last timestamp",
            keys=50_000_000,
            changes=200_000,
        )
    )
    made = make_plan(workload, Surroundings(partitions=400, heap_bytes=16 << 30))
    print({found.provider: found.executors for found in made.providers})

Of one that is there already, from its checkpoint: `grown(observe(checkpoint, 0), keys=50_000_000)`
takes the place of `workload_of`.
"""

from holdfast_spark.capacity.described import Description, DescriptionError, workload_of
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.observed import UnplannableError, grown, observe
from holdfast_spark.capacity.plan import Plan, ProviderPlan, StorePlan, Surroundings, make_plan
from holdfast_spark.capacity.workload import Workload

__all__ = [
    "Description",
    "DescriptionError",
    "Plan",
    "ProviderPlan",
    "StoreLoad",
    "StorePlan",
    "Surroundings",
    "UnplannableError",
    "Workload",
    "grown",
    "make_plan",
    "observe",
    "workload_of",
]
