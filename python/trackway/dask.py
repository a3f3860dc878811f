# SPDX-License-Identifier: BSD-2-Clause
"""Analyses on a cluster of Dask (python3-distributed): captures, and parts of large ones, are tasks; their
results are added up by twos, fours, eights on the workers.

    import distributed, trackway.dask

    client = distributed.Client("tcp://scheduler:8786")
    profile = trackway.dask.profile(["one.perf.data", "two.perf.data"], client)
    print(profile)

Workers open the captures themselves: the paths have to lead there, and trackway has to be installed there. What
comes back is what one process would have found, to the byte, wherever workers come and go.
"""
import copy
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from . import capture as _capture
from . import sums
from .paths import Path, each
from .results import Calls, Coverage, Profile, Statistics

Cut = tuple[int, int] | None  # number and count of a part; None: the whole capture

FAN_IN = 8
LARGE = 256 << 20  # bytes of trace in a part, where it is not said


def _size(path: Path) -> int:
    """Bytes of a capture; 0 where this machine does not see it: then it is one task."""
    try:
        if os.path.isdir(path):
            return sum(entry.stat().st_size for entry in os.scandir(path) if entry.is_file())
        return os.path.getsize(path)
    except OSError:
        return 0


def _is_perf(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(8) == b"PERFILE2"
    except OSError:
        return False


def _parts(path: Path, parts: int | None) -> list[Cut]:
    """(number, count) of each part of a capture; [None]: it is done whole."""
    if parts is None:
        parts = -(-_size(path) // LARGE)
    return [None] if parts <= 1 else [(number, parts) for number in range(1, parts + 1)]


def _answer(kind: str, path: Path, options: dict[str, Any], filters: dict[str, Any], part: Cut) -> Any:
    """One task: what a capture, or a part of it, says."""
    if part is not None:
        filters = {**filters, "part": part}
    with _capture.open(path, **options) as opened:
        return getattr(opened, kind)(**filters)


def _take(make: Callable[[], Any], path: Path, options: dict[str, Any], filters: dict[str, Any], part: Cut) -> Any:
    """One task of the caller's own analysis."""
    return sums.take_one(make, path, options, {**filters, "part": part} if part is not None else filters)


def _add(results: list[Any]) -> Any:
    """One task: a sum. What it is given stays as it is: Dask may ask for it again."""
    total = copy.deepcopy(results[0])
    for other in results[1:]:
        total.add(other)
    return total


def _reduce(client: Any, futures: list[Any], fan_in: int, retries: int, follow: Callable[[Any], Any]) -> Any:
    """The sum of all, in their order."""
    while len(futures) > 1:
        groups = [futures[at:at + fan_in] for at in range(0, len(futures), fan_in)]
        futures = [follow(client.submit(_add, group, retries=retries, pure=False)) if len(group) > 1 else group[0]
                   for group in groups]
    return futures[0]


def _count(parts: int, fan_in: int) -> int:
    """How many tasks there are in all."""
    total, left = parts, parts
    while left > 1:
        groups, rest = divmod(left, fan_in)
        total += groups + (rest > 1)
        left = groups + (rest > 0)
    return total


class _Progress:
    """Calls progress(done, total): one call at a time, each number greater than the one before. What Dask tells of ended
    tasks comes in a thread of its own and may come behind the result: the last number is said by `finish` alone."""

    def __init__(self, call: Callable[[int, int], object] | None, client: Any, total: int) -> None:
        self.call, self.client, self.total = call, client, total
        self.lock = threading.Lock()
        self.done: set[str] = set()
        self.is_over = False
        self.error: BaseException | None = None
        self.last: Any = None

    def follow(self, future: Any) -> Any:
        if self.call:
            future.add_done_callback(self._ended)
        return future

    def _ended(self, future: Any) -> None:
        # A status of "lost" or "pending" is that of a task that did end: its worker has gone since.
        if future.status in ("error", "cancelled"):
            return
        with self.lock:
            if self.is_over:
                return
            self.done.add(future.key)
            if len(self.done) < self.total:
                self._say(len(self.done))
            if self.error and self.last is not None:
                self.client.cancel(self.last)  # whoever waits for it is woken

    def _say(self, done: int) -> None:
        try:
            if self.call:
                self.call(done, self.total)
        except BaseException as error:  # it is raised again where the caller waits
            self.error, self.is_over = error, True

    def wait(self, last: Any) -> Any:
        """The result of the last task; no call comes once this has returned or raised."""
        with self.lock:
            self.last = last
            self._check()
        try:
            result = last.result()
        finally:
            with self.lock:
                self.is_over = True
                self._check()
        self._say(self.total)
        self._check()
        return result

    def _check(self) -> None:
        if self.error:
            raise self.error


def run(task: Callable[[str, Cut], Any], paths: Path | Iterable[Path], client: Any, *, parts: int | None = None,
        fan_in: int = FAN_IN, retries: int = 3, progress: Callable[[int, int], object] | None = None,
        by_time: Callable[[Path], bool] = lambda path: False) -> Any:
    """The sum of task(path, part) over all captures and their parts: what the functions below stand on.

    parts: how many parts each capture is cut into (default: one for each quarter of a gigabyte). What
    needs the order of time (profiles with calls, and calls of perf.data) is done in one piece.
    retries: how often a task that failed is tried again; one whose worker went away is done again anyway.
    progress: called as progress(done, total) while tasks end, `done` always greater than before: one call at a time,
    in a thread of Dask, and as the last one progress(total, total), once, in the caller's thread when the result is
    there. None comes after `run` has returned or raised. What it raises ends the job: tasks that are left are
    cancelled, and `run` raises it.
    by_time: whether a capture is one task in any case.
    """
    work = [(path, part) for path in each(paths) for part in _parts(path, 1 if by_time(path) else parts)]
    if not work:
        raise ValueError("there is no capture")
    if fan_in < 2:
        raise ValueError("fan_in is at least 2")
    told = _Progress(progress, client, _count(len(work), fan_in))
    wanted: weakref.WeakSet[Any] = weakref.WeakSet()  # a result that has been added up is held by nobody

    def follow(future: Any) -> Any:
        wanted.add(future)
        return told.follow(future)

    try:
        return told.wait(_reduce(client, [follow(client.submit(task, os.fspath(path), part, retries=retries, pure=False))
                                          for path, part in work], fan_in, retries, follow))
    except BaseException:
        client.cancel(list(wanted))
        raise


class _Task:
    """A function with all but the path and the part."""

    def __init__(self, function: Callable[..., Any], first: Any, options: dict[str, Any],
                 filters: dict[str, Any]) -> None:
        self.function, self.first, self.options, self.filters = function, first, options, filters

    def __call__(self, path: str, part: Cut) -> Any:
        return self.function(self.first, path, self.options, self.filters, part)


def _kind(kind: str, paths: Path | Iterable[Path], client: Any, *, options: dict[str, Any] | None = None,
          parts: int | None = None, fan_in: int = FAN_IN, retries: int = 3,
          progress: Callable[[int, int], object] | None = None, **filters: Any) -> Any:
    # The first of their parts would do it all.
    by_function = filters.get("by", "function") == "function"
    with_calls = kind == "profile" and bool(filters.get("calls", by_function) or filters.get("with_time"))
    task = _Task(_answer, kind, options or {}, filters)
    return run(task, paths, client, parts=parts, fan_in=fan_in, retries=retries, progress=progress,
               by_time=lambda path: with_calls or kind == "calls" and _is_perf(path))


def profile(paths: Path | Iterable[Path], client: Any, **how: Any) -> Profile:
    """Capture.profile of all captures, added up. `options` are those of trackway.open, `parts`, `fan_in`,
    `retries` and `progress` those of `run`; all others go to Capture.profile."""
    return _kind("profile", paths, client, **how)


def calls(paths: Path | Iterable[Path], client: Any, **how: Any) -> Calls:
    """Capture.calls of all captures, added up; see `profile`."""
    return _kind("calls", paths, client, **how)


def coverage(paths: Path | Iterable[Path], client: Any, **how: Any) -> Coverage:
    """Capture.coverage of all captures, added up; see `profile`."""
    return _kind("coverage", paths, client, **how)


def statistics(paths: Path | Iterable[Path], client: Any, **how: Any) -> Statistics:
    """Capture.statistics of all captures, added up; see `profile`."""
    return _kind("statistics", paths, client, **how)


def analyse(make: Callable[[], sums.One], paths: Path | Iterable[Path], client: Any, *,
            options: dict[str, Any] | None = None, parts: int | None = None, fan_in: int = FAN_IN, retries: int = 3,
            progress: Callable[[int, int], object] | None = None, **filters: Any) -> sums.One:
    """An analysis of the caller's own (`@trackway.analysis`) over all captures."""
    task = _Task(_take, make, options or {}, filters)
    return run(task, paths, client, parts=parts, fan_in=fan_in, retries=retries, progress=progress)
