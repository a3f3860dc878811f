# SPDX-License-Identifier: BSD-2-Clause
"""Results of analyses: rows, tables, sums, files, pictures."""
import copy
import html
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from typing import Any, Self

from . import _core
from .paths import Path
from .pictures import inside_a_page


class Result:
    """What an analysis found. `rows` are dicts, `totals` the sums; results of one kind add up."""

    kind = ""
    _columns: tuple[str, ...] = ()
    _picture: str | None = None  # a format that is a picture

    def __init__(self, core: _core.Result) -> None:
        self._core = core

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What was found, a dict each."""
        return self._core.rows

    @property
    def totals(self) -> dict[str, int]:
        """Sums over all."""
        return self._core.totals

    def save(self, path: Path) -> None:
        """As a file, which `load` reads and `merge` adds to others."""
        self._core.save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """A result that was saved."""
        return cls(_core.load(cls.kind, path))

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        with tempfile.NamedTemporaryFile(prefix="trackway-") as file:
            self.save(file.name)
            return pathlib.Path(file.name).read_bytes()  # another file took its place

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The result that `to_bytes` gave."""
        with tempfile.NamedTemporaryFile(prefix="trackway-") as file:
            file.write(data)
            file.flush()
            return cls.load(file.name)

    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]:
        """Copies and pickles are saved results."""
        return type(self).from_bytes, (self.to_bytes(),)

    def add(self, other: Self) -> Self:
        """Adds another result to this one."""
        self._core.add(other._core)
        return self

    def __iadd__(self, other: Self) -> Self:
        return self.add(other)

    def export(self, form: str, path: Path | None = None) -> bytes | None:
        """The result in a format that other programs read (`trackway.formats()` lists them): its bytes, or
        a file."""
        data = self._core.export(form)
        if path is None:
            return data
        with open(path, "wb") as out:
            out.write(data)
        return None

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self.rows)

    def __str__(self) -> str:
        rows = self.rows
        lines = ["  ".join(f"{name:>12}" for name in self._columns)]
        for row in rows[:20]:
            lines.append("  ".join(f"{'' if row.get(name) is None else row.get(name):>12}" for name in self._columns))
        if len(rows) > 20:
            lines.append(f"... and {len(rows) - 20} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        picture = ""
        if self._picture:
            try:
                picture = inside_a_page(self._core.export(self._picture).decode(errors="replace"))
            except (ValueError, _core.Error):
                picture = ""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape('' if row.get(name) is None else str(row.get(name)), quote=True)}</td>"
                                        for name in self._columns) + "</tr>" for row in self.rows[:20])
        return f"{picture}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Profile(Result):
    """Where the instructions went."""

    kind = "profile"
    _columns = ("self", "total", "entries", "name", "file", "line")


class Calls(Result):
    """Who called whom. `rows` are functions, `edges` calls between them, `paths` stacks."""

    kind = "calls"
    _columns = ("self", "total", "entries", "name")
    _picture = "svg"

    @property
    def is_part(self) -> bool:
        """Whether parts of a capture are missing beside those that it holds (`part=`): they have to be added before
        anything is read, and what is read is then said as if there were none."""
        return self._core.is_part

    def add(self, other: Self) -> Self:
        """Adds another result to this one."""
        return super().add(copy.copy(other) if other.is_part else other)  # the library moves the ends of parts

    @property
    def edges(self) -> list[dict[str, Any]]:
        """caller and callee (numbers of rows), kind, count, total."""
        return self._core.edges

    @property
    def paths(self) -> list[tuple[tuple[int, ...], int, int]]:
        """Stacks, outermost first, as (row numbers, self, entries)."""
        return self._core.paths


class Coverage(Result):
    """What was executed and what was not. `rows` are source lines."""

    kind = "coverage"
    _columns = ("count", "file", "line")

    @property
    def functions(self) -> list[dict[str, Any]]:
        """Functions with their counts."""
        return self._core.functions


class Statistics(Result):
    """What a trace is made of. `rows` are trace sources."""

    kind = "statistics"
    _columns = ("buffer", "id", "protocol", "instructions", "errors")


def load(path: Path) -> Result:
    """A saved result, of whichever kind it is."""
    problem = _core.Error("there is no such kind")
    for kind in (Profile, Calls, Coverage, Statistics):
        try:
            return kind.load(path)
        except _core.Error as error:
            problem = error
    raise problem


def merge(out: Path, parts: Iterable[Path]) -> None:
    """Adds saved results of one kind and saves the sum; memory does not grow with their number."""
    _core.merge(out, list(parts))
