# SPDX-License-Identifier: BSD-2-Clause
"""Analyses of one's own: anything that takes parts and adds up."""
import functools


def analysis(cls):
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
    cls.is_trackway_analysis = True
    return cls


def take_one(make, path, options=None, filters=None):
    """One capture's part of the sum."""
    from .capture import open as open_capture
    result = make()
    with open_capture(path, **(options or {})) as capture:
        for part in capture.run(**(filters or {})):
            if len(part):
                result.take(part)
    return result


def add_two(one, other):
    """The sum of two results."""
    one.add(other)
    return one


def analyse(make, paths, options=None, **filters):
    """The sum of an analysis over captures."""
    paths = [paths] if isinstance(paths, (str, bytes)) or hasattr(paths, "__fspath__") else list(paths)
    return functools.reduce(add_two, (take_one(make, path, options, filters) for path in paths))
