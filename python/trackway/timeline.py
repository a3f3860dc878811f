# SPDX-License-Identifier: BSD-2-Clause
"""What happened when."""
from collections.abc import Iterable
from typing import Any

from .pictures import inside_a_page


class Timeline(list[dict[str, Any]]):
    """Events of a capture, a dict each (kind, track, span, name, low, high, estimate, index, value, text), those of a track in the order
    of time; `svg` is a picture of them, of bounded size."""

    def __init__(self, events: Iterable[dict[str, Any]] = (), svg: str = "") -> None:
        super().__init__(events)
        self.svg = svg

    def to_pandas(self) -> Any:
        """The events as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self)

    def _repr_html_(self) -> str:
        return inside_a_page(self.svg)
