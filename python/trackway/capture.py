# SPDX-License-Identifier: BSD-2-Clause
"""Captures, and what can be asked of them."""
from types import TracebackType
from typing import Any, Self, overload

import numpy

from . import _core
from .doctor import Doctor
from .paths import Path
from .results import Calls, Coverage, Profile, Statistics
from .timeline import Timeline


class Capture(_core.Capture):
    """A snapshot folder, a perf.data or a raw file.

    Options (all captures): images=[path or (path, address)], no_barrier, strip_stop, allow_outside;
    raw files: framing, core_type, sources=[(id, protocol, config)]; perf.data: sysroot, kernel, vdso,
    build_ids, trust_time.

    Filters, which every method below takes: buffers, sources, comms, functions (names), ids, srcs,
    cpus, pids, tids, levels (numbers), ranges=[(first, end)], offsets=(first, end), time=(first, end),
    instructions=(first, end), part=(number, count) (the first is 1: of as many parts of the capture, cut as
    `trackway shard` does; results of all of them add up to that of the whole); and how: order="capture" or "time", threads, keep_failed, symbols=[ELF
    files], core_type, index. What is left is said as if nothing was left out.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trackway.Capture {self.path!r}>"

    def profile(self, by: str = "function", **filters: Any) -> Profile:
        """Where the instructions went: exact counts by function, line, address, thread, program or source.

        calls=False counts on all cores and leaves out totals and entries; with_time=True adds cycles
        and time; inlined=True counts inlined code for the function it was written in.
        """
        return Profile(self.analyse(kind="profile", by=by, **filters))

    def calls(self, **filters: Any) -> Calls:
        """Who called whom, how often, and what was executed under each; logical=True for tail calls that
        stand on their caller."""
        return Calls(self.analyse(kind="calls", **filters))

    def coverage(self, **filters: Any) -> Coverage:
        """What was executed and what was not: lines, functions, branches."""
        return Coverage(self.analyse(kind="coverage", **filters))

    def statistics(self, **filters: Any) -> Statistics:
        """Instructions, exceptions, losses and time of each source."""
        return Statistics(self.analyse(kind="statistics", **filters))

    def doctor(self) -> Doctor:
        """What is wrong with it, by weight, each with its evidence and what to do."""
        return Doctor(super().doctor())

    @overload
    def timeline(self, format: None = None, **filters: Any) -> Timeline: ...
    @overload
    def timeline(self, format: str, **filters: Any) -> bytes: ...
    @overload
    def timeline(self, format: str | None = None, **filters: Any) -> Timeline | bytes: ...

    def timeline(self, format: str | None = None, **filters: Any) -> Timeline | bytes:  # noqa: A002 - as the formats are called
        """What happened when: a `Timeline`; or a file of a format for timelines, as bytes."""
        found = super().timeline(format=format, **filters)
        return Timeline(*found) if format is None else bytes(found)

    def elements(self, **filters: Any) -> numpy.ndarray[Any, Any]:
        """All elements in one array (a copy): for captures that fit into memory."""
        from .elements import concatenate
        return concatenate(self.run(**filters))

    def to_pandas(self, **filters: Any) -> Any:
        """All elements as a pandas.DataFrame."""
        from .elements import columns
        return columns(self.elements(**filters)).to_pandas()


def open(path: Path, **options: Any) -> Capture:  # noqa: A001 - as people write it
    """Opens a capture; `help(trackway.Capture)` lists the options."""
    return Capture(path, **options)
