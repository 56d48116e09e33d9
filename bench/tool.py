"""What a measured tool is, and the two-thread helper that several of them share."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from dataset import Dataset

THREADS = 2

Values = dict[str, float]
# Loads and arranges the data, untimed, and returns what is timed.
Prepare = Callable[[Dataset], Callable[[], Values]]

POOL = ThreadPoolExecutor(THREADS)


@dataclass(frozen=True)
class Tool:
    """One way to do a task.

    `kind` is `library` (what a user would otherwise take), `hand-written` (specialised code, right only here), `presorted`
    (a library that leaves the sort out of the clock) or `floor` (a part of the work that nothing can leave out). `packages` names the distributions it needs. A tool that is too slow
    for all rows takes `max_rows` of them, and its times are scaled up linearly. `tolerance` bounds the relative
    difference of its values from the reference; wide ones belong to strict order instead of ties, and to partial data.
    """

    name: str
    kind: str
    packages: tuple[str, ...]
    prepare: Prepare
    note: str = ""
    max_rows: int | None = None
    tolerance: float = 1e-6

    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [package for package in self.packages if installed(package) is None]


def installed(package: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def in_threads(work: Callable, items) -> list:
    """`work` on each item, in two threads, in order."""
    return list(POOL.map(work, items))
