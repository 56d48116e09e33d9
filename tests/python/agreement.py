"""The comparison of fuseval with a peer over many draws.

A test module has a table of `Check`s: a metric as it is asked for, the peer's function of one draw, how close both must come,
and the draws on which they are known to differ, with the reason and what fuseval says there. `Comparison` calls fuseval once
for a whole table.
"""
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import fuseval_cli

DRAWS = 1000
TOLERANCE = 1e-12
NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """Draws on which the peer is known to say something else: where, what fuseval says there, and why."""

    where: Callable
    ours: Callable
    why: str


@dataclass(frozen=True)
class Check:
    """One metric beside one function of a peer.

    Both agree on a draw when |ours − theirs| ≤ tolerance · max(|theirs|, scale), or when neither has a value. A scale above 0
    or another tolerance than 1e-12 needs a reason.
    """

    metric: str
    peer: Callable
    tolerance: float = TOLERANCE
    scale: float = 0.0
    reason: str = ""
    differences: tuple = ()

    def __post_init__(self):
        assert self.reason or (self.tolerance == TOLERANCE and self.scale == 0), f"{self.metric}: no reason for its tolerance"

    def agrees(self, ours, theirs):
        """Whether two values count as the same."""
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        return ours == theirs or abs(ours - theirs) <= self.tolerance * max(abs(theirs), self.scale)

    def compare(self, ours, draws):
        """Fails with the first draws on which the values differ; `ours` is {name of the draw: value}."""
        __tracebackhide__ = True
        wrong, met = [], [0] * len(self.differences)
        for draw in draws:
            value, theirs = ours.get(draw.name, NAN), float(self.peer(draw))
            for place, difference in enumerate(self.differences):
                if difference.where(draw):
                    expected = float(difference.ours(draw))
                    met[place] += not self.agrees(theirs, expected)
                    theirs = expected
                    break
            if not self.agrees(value, theirs):
                wrong.append((len(draw.label), f"fuseval {value!r}, expected {theirs!r}: {draw}"))
        shown = "\n".join(text for _, text in sorted(wrong)[:3])  # the smallest draws
        assert not wrong, f"{self.metric}: {len(wrong)} of {len(draws)} draws differ\n{shown}"
        for difference, times in zip(self.differences, met, strict=True):
            assert times, f"{self.metric}: the peer no longer differs, or no draw is of the kind: {difference.why}"
        assert sum(not math.isnan(value) for value in ours.values()) >= len(draws) // 4, "hardly a draw has a value"


class Comparison:
    """Draws, and what fuseval says about them for a table of checks."""

    def __init__(self, draws, checks, *options, weight=False, segment=False, item=False):
        assert len(draws) >= DRAWS
        self.draws, self.checks, self.options = draws, checks, options
        self.roles = {"weight": weight, "item": item}
        self.with_segments = segment

    @cached_property
    def _found(self):
        metrics = [check.metric for check in self.checks]
        if self.with_segments:
            return fuseval_cli.score_segments(self.draws, metrics, *self.options, **self.roles)
        return fuseval_cli.score(self.draws, metrics, *self.options, **self.roles), {}

    def records(self, metric):
        """{name of the draw: Record}."""
        return self._found[0][metric]

    def check(self, check):
        """Compares the value of each draw."""
        check.compare({name: record.value for name, record in self.records(check.metric).items()}, self.draws)

    def check_segments(self, check, average=None):
        """Compares the value of each segment, and the value of each draw with the mean of the peer's values."""
        segments = {segment.name: segment for draw in self.draws for segment in draw.segments}
        ours = self._found[1][check.metric]
        assert ours.keys() == segments.keys()
        check.compare(ours, list(segments.values()))
        average = average or mean
        for draw in self.draws:
            theirs = average([ours[segment.name] for segment in draw.segments])
            value = self.records(check.metric)[draw.name].value
            assert check.agrees(value, theirs), f"mean: fuseval {value!r}, expected {theirs!r}: {draw}"


def mean(values):
    """The mean of the values that are there."""
    present = [value for value in values if not math.isnan(value)]
    return math.fsum(present) / len(present) if present else NAN


def name(check):
    """The name of a check among pytest's."""
    return check.metric
