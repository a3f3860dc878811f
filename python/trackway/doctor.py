# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a capture, and what a file is."""
import html


class Doctor:
    """What `trackway doctor` finds: `findings`, the heaviest first (severity, code, count, offset, text, remedy), `strips` (what there is
    of each source in a hundred stretches of the capture), `summary`, `is_whole`."""

    def __init__(self, found):
        self.findings, self.strips = found["findings"], found["strips"]
        self.summary, self.is_whole, self.svg = found["summary"], found["is_whole"], found["svg"]

    def __bool__(self):
        return self.is_whole

    def __str__(self):
        lines = [self.summary]
        for one in self.findings:
            lines.append(f"{one['severity']}: {one['code']}: {one['text']}")
            if one["remedy"]:
                lines.append(f"    {one['remedy']}")
        return "\n".join(lines)

    def __repr__(self):
        return f"<trackway.Doctor {self.summary!r}>"

    def _repr_html_(self):
        picture = self.svg[self.svg.find("<svg"):]
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(str(one[key] or ''))}</td>"
                                        for key in ("severity", "code", "count", "text", "remedy")) + "</tr>"
                       for one in self.findings)
        return f"<p>{html.escape(self.summary)}</p>{picture}<table>{rows}</table>"


class Identity(dict):
    """What a file is: what, format, framing, sources, confidence, evidence, command ..."""

    def __str__(self):
        return f"{self['what']} ({100 * self['confidence']:.0f} %)"
