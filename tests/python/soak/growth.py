"""Whether what a driver holds grows.

What it holds goes up and down with the state, and differs from sink to sink. So rounds are
compared, of as many batches each as all sinks and all sizes of the state take: in two of them the
same has happened. A round's value is the middle one of its samples. In the first round of a life
classes are loaded and caches filled; from the next on the values of the last third of the rounds
must not be above those of the first third, but for what chance does to them. It does much to a
round: threads of pools come and go by ten within one. So a third has three rounds or more, and what
a shorter life held is drawn and not judged. Compiled code is not judged: it grows for hours, and
the JVM bounds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from soak.samples import Sample

LEAST_ROUNDS = 9
_WARM_UP = 1


@dataclass(frozen=True, slots=True)
class Bound:
    """By how much a value may be above the first one and not count as grown.

    Attributes:
        metric: field or property of a sample.
        share: of the first value.
        more: on top of that, in the metric's unit.
        why: what it is needed for.
        of_a_life: whether it begins anew with each driver.
    """

    metric: str
    share: float
    more: float
    why: str
    of_a_life: bool = True


BOUNDS = (
    Bound("heap_mib", 0.05, 4, "a batch is in its midst when a sample is taken"),
    Bound("classes_mib", 0.02, 4, "plans of batches are compiled, and 100 of them kept"),
    Bound("process_mib", 0.02, 16, "compiler and allocator keep what they once needed"),
    Bound("direct_mib", 0.0, 1, "each thread that writes a file keeps a buffer for it"),
    Bound("threads", 0.0, 4, "pools end threads after a minute without work"),
    Bound("handles", 0.0, 8, "files of the batch are open when a sample is taken"),
    Bound("files", 0.05, 8, "maintenance comes at any moment of a round", of_a_life=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a value went.

    Attributes:
        bound: what it is held against.
        life: of the driver, None for the whole time.
        rounds: that were compared.
        first: the value at first.
        last: the value at last.
    """

    bound: Bound
    life: int | None
    rounds: int
    first: float
    last: float

    @property
    def most(self) -> float:
        """The largest last value that is no growth."""
        return self.first * (1 + self.bound.share) + self.bound.more

    @property
    def holds(self) -> bool:
        """Whether it has not grown."""
        return self.last <= self.most

    def __str__(self) -> str:
        where = "all lives" if self.life is None else f"life {self.life}"
        return (
            f"{self.bound.metric}, {where}, {self.rounds} rounds: {self.first:,.1f}, then "
            f"{self.last:,.1f}, {'within' if self.holds else 'ABOVE'} {self.most:,.1f}"
        )


def courses(samples: Sequence[Sample], batches: int) -> Iterator[Course]:
    """Yield how each value went in each life that was long enough.

    Args:
        samples: all, in order.
        batches: of a round.
    """
    lives: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        lives[sample.life].append(sample)
    for bound in BOUNDS:
        for life, those in lives.items() if bound.of_a_life else [(None, samples)]:
            values = [
                median(getattr(sample, bound.metric) for sample in each)
                for each in _whole_rounds(those, batches)
            ][_WARM_UP:]
            if len(values) >= LEAST_ROUNDS:
                third = len(values) // 3
                yield Course(
                    bound=bound,
                    life=life,
                    rounds=len(values),
                    first=median(values[:third]),
                    last=median(values[-third:]),
                )


def _whole_rounds(samples: Iterable[Sample], batches: int) -> list[list[Sample]]:
    """The samples by rounds, but for those of the first and of the last one, of which some miss."""
    rounds: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        rounds[sample.batch // batches].append(sample)
    return [rounds[number] for number in sorted(rounds)[1:-1]]
