# SPDX-License-Identifier: BSD-2-Clause
"""Elements as NumPy arrays: 32 bytes each, as the library has them."""
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from . import _core

Elements = numpy.ndarray[Any, Any]

_NAMES = _core.names()
ELEMENT_NAMES = tuple(_NAMES["element"])
ISA_NAMES = tuple(_NAMES["isa"])

# What lies where in an element. Members that share their place have several names: `type` says which
# of them means something, as <trackway/types.h> describes.
_PLACES = {
    "index": ("<u8", 0),
    "start": ("<u8", 8), "address": ("<u8", 8), "timestamp": ("<u8", 8), "payload": ("<u8", 8),
    "return_address": ("<u8", 8), "value": ("<u8", 8), "data_address": ("<u8", 8), "skipped": ("<u8", 8),
    "times": ("<u8", 8), "first": ("<u8", 8), "itm_time": ("<u8", 8), "context_id": ("<u4", 8),
    "vmid": ("<u4", 12),
    "length": ("<u4", 16), "next": ("<u8", 16), "data_value": ("<u8", 16), "sw_time": ("<u8", 16),
    "itm_value": ("<u4", 16), "tval": ("<u8", 16), "cycles": ("<u4", 20),
    "count": ("<u4", 24), "number": ("<u4", 24), "master": ("<u2", 24), "channel": ("<u2", 26), "pc": ("<u4", 24),
    "type": ("u1", 28), "flags": ("u1", 29),
    "isa": ("u1", 30), "reason": ("u1", 30), "kind": ("u1", 30), "error": ("u1", 30), "width": ("u1", 30),
    "last": ("u1", 31), "level": ("u1", 31), "size": ("u1", 31),
}

ELEMENT = numpy.dtype({"names": list(_PLACES), "formats": [form for form, _ in _PLACES.values()],
                       "offsets": [place for _, place in _PLACES.values()], "itemsize": 32})

# The columns of a table: one name for each place.
COLUMNS = ("index", "type", "start", "length", "cycles", "count", "flags", "isa", "last")
_ARROW = {"<u8": "L", "<u4": "I", "<u2": "S", "u1": "C", "|u1": "C"}


def _as_array(part: Any) -> Elements:
    return numpy.frombuffer(part, dtype=ELEMENT)


_core.set_array(_as_array)


class Columns(dict[str, Elements]):
    """Columns by name, each an array of its own; pandas, pyarrow, polars and DuckDB take it as it is."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream([(name, _ARROW[values.dtype.str], values.dtype.itemsize, values)
                                   for name, values in self.items()])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over the same columns."""
        import pandas
        return pandas.DataFrame(dict(self), copy=False)


def concatenate(parts: Iterable[_core.Part]) -> Elements:
    """The elements of many parts as one array (a copy)."""
    # As bytes: joined by their members, those that share their place would come apart.
    arrays = [part.elements.view("V32") for part in parts if len(part)]
    return numpy.concatenate(arrays).view(ELEMENT) if arrays else numpy.empty(0, dtype=ELEMENT)


def columns(elements: Elements, names: Sequence[str] = COLUMNS) -> Columns:
    """The columns of an array of elements, each in memory of its own.

    The rows are cut into blocks that fit the processor's cache, so that memory is read once however
    many columns are wanted.
    """
    out = {name: numpy.empty(len(elements), dtype=ELEMENT[name]) for name in names}
    block = 4096
    for at in range(0, len(elements), block):
        rows = elements[at:at + block]
        for name, values in out.items():
            values[at:at + block] = rows[name]
    return Columns(out)


def to_pandas(parts: Iterable[_core.Part] | Elements, names: Sequence[str] = COLUMNS) -> Any:
    """The elements of parts (or an array of elements) as a pandas.DataFrame."""
    elements = parts if isinstance(parts, numpy.ndarray) else concatenate(parts)
    return columns(elements, names).to_pandas()


def text(element: Any, trace_id: int = 0) -> str:
    """One element as a line for people."""
    return _core.text_of(bytes(element.tobytes()), trace_id)
