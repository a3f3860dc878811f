# SPDX-License-Identifier: BSD-2-Clause
"""An analysis that workers import."""
import collections
import time

import trackway


@trackway.analysis
class Types:
    """How many elements there are of each type."""

    def __init__(self):
        self.counts = collections.Counter()

    def take(self, part):
        self.counts.update(int(one) for one in part.elements["type"])

    def add(self, other):
        self.counts += other.counts


class FailsOnce:
    """A task whose first try fails."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, path, part):
        if not self.mark.exists():
            self.mark.touch()
            raise OSError("not yet")
        with trackway.open(path) as capture:
            return capture.profile()


class Waits:
    """A profile of each capture; that of the last one waits for a file, so that what comes before it is in the middle."""

    def __init__(self, last, mark):
        self.last, self.mark = str(last), mark

    def __call__(self, path, part):
        end = time.monotonic() + 120
        while path == self.last and not self.mark.exists():
            if time.monotonic() > end:
                raise OSError("nobody made the file")
            time.sleep(0.01)
        with trackway.open(path) as capture:
            return capture.profile(calls=False, **({"part": part} if part else {}))
