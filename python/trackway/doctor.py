# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a capture, and what a file is."""
import html
from typing import Any

from .pictures import inside_a_page


class Doctor:
    """What `trackway doctor` finds: `findings`, the heaviest first (severity, code, count, offset, text, remedy), `strips` (what there is
    of each source in a hundred stretches of the capture), `summary`, `is_whole`."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.findings: list[dict[str, Any]] = found["findings"]
        self.strips: list[dict[str, Any]] = found["strips"]
        self.summary: str = found["summary"]
        self.is_whole: bool = found["is_whole"]
        self.svg: str = found["svg"]

    def __bool__(self) -> bool:
        return self.is_whole

    def __str__(self) -> str:
        lines = [self.summary]
        for one in self.findings:
            lines.append(f"{one['severity']}: {one['code']}: {one['text']}")
            if one["remedy"]:
                lines.append(f"    {one['remedy']}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<trackway.Doctor {self.summary!r}>"

    def _repr_html_(self) -> str:
        picture = inside_a_page(self.svg)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(str(one[key] or ''))}</td>"
                                        for key in ("severity", "code", "count", "text", "remedy")) + "</tr>"
                       for one in self.findings)
        return f"<p>{html.escape(self.summary)}</p>{picture}<table>{rows}</table>"


class Identity(dict[str, Any]):
    """What a file is: what, format, framing, sources, confidence, evidence, command ..."""

    def __str__(self) -> str:
        return f"{self['what']} ({100 * self['confidence']:.0f} %)"
