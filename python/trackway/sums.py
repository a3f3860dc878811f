# SPDX-License-Identifier: BSD-2-Clause
"""Analyses of one's own: anything that takes parts and adds up."""
import functools
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from ._core import Part
from .paths import Path, each


class Analysis(Protocol):
    """What adds up."""

    def take(self, part: Part, /) -> None:
        """Looks at a part."""

    def add(self, other: Any, /) -> None:
        """Adds another of its kind."""


Class = TypeVar("Class", bound=type)
One = TypeVar("One", bound=Analysis)


def analysis(cls: Class) -> Class:
    """Marks a class as an analysis: `take(self, part)` looks at a part, `add(self, other)` adds another of
    its kind.

        @trackway.analysis
        class Exceptions:
            def __init__(self):
                self.count = 0
            def take(self, part):
                self.count += int((part.elements["type"] == trackway.EXCEPTION).sum())
            def add(self, other):
                self.count += other.count

        print(trackway.analyse(Exceptions, ["one.perf.data", "two.perf.data"]).count)
    """
    for verb in ("take", "add"):
        if not callable(getattr(cls, verb, None)):
            raise TypeError(f"an analysis has take and add: {cls.__name__} has no {verb}")
    setattr(cls, "is_trackway_analysis", True)
    return cls


def take_one(make: Callable[[], One], path: Path, options: dict[str, Any] | None = None,
             filters: dict[str, Any] | None = None) -> One:
    """One capture's part of the sum."""
    from .capture import open as open_capture
    result = make()
    with open_capture(path, **(options or {})) as capture:
        for part in capture.run(**(filters or {})):
            if len(part):
                result.take(part)
    return result


def add_two(one: One, other: One) -> One:
    """The sum of two results."""
    one.add(other)
    return one


def analyse(make: Callable[[], One], paths: Path | Iterable[Path], options: dict[str, Any] | None = None,
            **filters: Any) -> One:
    """The sum of an analysis over captures."""
    return functools.reduce(add_two, (take_one(make, path, options, filters) for path in each(paths)))
