# SPDX-License-Identifier: BSD-2-Clause
"""Holds the program's JSON lines against the lines that a reference decoder gave.

Both are grouped by trace ID and walked in step. A line of the reference agrees when we have each
of its members with an equal value; members of ours that it lacks do not matter. Left out: `i` (the
reference counts it its own way), `s` (its text), `buf`, and lines that mark an operation (`op`).
"""
import gzip
import json

NOT_COMPARED = ("i", "s", "buf")


def number(value):
    """0x strings, numbers and truth values on one footing; other text as it is."""
    if isinstance(value, str) and value[:2] in ("0x", "0X"):
        try:
            return int(value, 16)
        except ValueError:
            return value
    return int(value) if isinstance(value, bool) else value


def agrees(want, got):
    for key, value in want.items():
        if key in NOT_COMPARED:
            continue
        if key not in got:
            return False
        if got[key] != value and number(got[key]) != number(value):
            return False
    return True


def rows_of(lines):
    return [row for row in map(json.loads, lines) if "op" not in row]


def read_expected(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return rows_of(lines)


def group_by_id(text):
    groups = {}
    for row in rows_of(filter(None, text.splitlines())):
        groups.setdefault(row.get("id"), []).append(row)
    return groups


def walk(want, got, known, may_go_on):
    """Differences as (line of the reference, its row or None, our row or None).

    known maps a line of the reference to (lines of the reference, lines of ours) that stand against
    each other there; what is used is removed from it.
    """
    different = []
    w = g = 0
    while w < len(want) or g < len(got):
        if w in known:
            skip_want, skip_got = known.pop(w)
            w += skip_want
            g += skip_got
            continue
        if w >= len(want) and may_go_on:
            break
        if w >= len(want) or g >= len(got):
            rest = max(len(want) - w, len(got) - g)
            row = want[w] if w < len(want) else None
            different += [(w, row, got[g] if g < len(got) else None)] * rest
            break
        if not agrees(want[w], got[g]):
            different.append((w, want[w], got[g]))
        w += 1
        g += 1
    return different


def compare(folder, kind, text, known_rows):
    """What differs between `text` and the expected files of one run.

    known_rows: the rows of the known differences for this run and kind. Returns (lines compared,
    list of texts); a known difference that is not there any more is one too.
    """
    prefix = {"packets": "pkts-", "elements": "elems-"}[kind]
    about = json.loads((folder / "run.json").read_text())
    may_go_on = any(buffer.get("fatal") for buffer in about["buffers"])
    groups = group_by_id(text)
    total, said = 0, []
    for path in sorted(folder.glob(prefix + "*.jsonl.gz")):
        ident = int(path.name[len(prefix):].split(".")[0], 16)
        known = {row["line"]: (row["want"], row["got"]) for row in known_rows
                 if row["id"] == ident}
        want = read_expected(path)
        total += len(want)
        for line, wanted, got in walk(want, groups.get(ident, []), known, may_go_on):
            said.append(f"id 0x{ident:02x} line {line}\n  want {json.dumps(wanted)[:300]}\n"
                        f"  got  {json.dumps(got)[:300]}")
        said += [f"id 0x{ident:02x} line {line}: the known difference is not there any more"
                 for line in known]
    return total, said
