# SPDX-License-Identifier: BSD-2-Clause
"""Analyses: the program's answers, sums that do not depend on order, files that other programs read."""
import pickle
from xml.etree import ElementTree

import trackway
from captures import DEMO, lines, some, words_of
from harness import case, equal


@case
def profiles_are_those_of_the_program(tool):
    for path, options in some():
        with trackway.open(path, **options) as capture:
            rows = capture.profile(calls=False).rows
        listed = [line for line in lines(tool, "profile", path, "--self", "--format", "jsonl", *words_of(options),
                                         status=None) if "self" in line and "name" in line]
        ours = sorted(row["self"] for row in rows if row["self"])
        equal(ours, sorted(line["self"] for line in listed if line["self"]), str(path))


@case
def calls_add_up(tool):
    with trackway.open(DEMO) as capture:
        calls = capture.calls()
        total = calls.totals["instructions"]
        equal(sum(row["self"] for row in calls.rows), total)
        equal(sum(own for _, own, _ in calls.paths), total)
        again = capture.calls()
        again += capture.calls()
        equal(again.totals["instructions"], 2 * total)
        names = [row["name"] for row in calls.rows]
        edge = max(calls.edges, key=lambda one: one["count"])
        assert names[edge["caller"]] and names[edge["callee"]]


@case
def results_are_saved_loaded_and_merged(tool):
    with trackway.open(DEMO) as capture:
        for make in (capture.profile, capture.calls, capture.coverage, capture.statistics):
            one = make()
            path = tool.folder / f"{one.kind}.twr"
            one.save(path)
            loaded = trackway.load(path)
            equal(type(loaded), type(one))
            both = tool.folder / f"{one.kind}-both.twr"
            trackway.merge(both, [path, path])
            theirs = tool.folder / f"{one.kind}-theirs.twr"
            tool.run("merge", "-o", theirs, path, path)
            equal(both.read_bytes(), theirs.read_bytes(), one.kind)


@case
def parts_make_the_whole(tool):
    """Cut as the program cuts, and added up: the bytes of the whole."""
    kinds = (("profile", {"calls": False}), ("profile", {}), ("calls", {}), ("coverage", {}), ("statistics", {}))
    for path, options in some()[:5]:
        with trackway.open(path, **options) as capture:
            for kind, how in kinds:
                make = getattr(capture, kind)
                total = make(part=(1, 5), **how)
                for number in range(2, 6):
                    total += make(part=(number, 5), **how)
                equal(total.to_bytes(), make(**how).to_bytes(), f"{path} {kind}")
    with trackway.open(DEMO) as capture:
        one = tool.folder / "calls.twr"
        tool.run("calls", DEMO, "--part", "2/3", "--save", one)
        equal(capture.calls(part=(2, 3)).to_bytes(), one.read_bytes(), "calls of a part are those of the program")
        first, second = capture.calls(part=(1, 3)), capture.calls(part=(2, 3))
        assert first.is_part and second.is_part and not capture.calls().is_part
        before, third = second.to_bytes(), capture.calls(part=(3, 3))
        total = capture.calls(part=(1, 3)).add(third).add(second)
        equal((total.is_part, second.to_bytes()), (False, before), "what was added stays as it is")
        assert second.rows
        for one_way, other in ((first, second), (second, first)):
            try:
                one_way += other
            except trackway.Error as problem:
                assert "before they are read" in str(problem), problem
            else:
                raise AssertionError("what was read as if there were no neighbours cannot be joined to them")
        equal(capture.calls(threads=3).to_bytes(), capture.calls(threads=1).to_bytes(), "calls on threads")
        whole = capture.elements()
        parts = [capture.elements(part=(number, 3)) for number in (1, 2, 3)]
        equal(sum(int(part["count"][part["type"] == trackway.INSTR_RANGE].sum()) for part in parts),
              int(whole["count"][whole["type"] == trackway.INSTR_RANGE].sum()))
        one = tool.folder / "one.twr"
        tool.run("profile", DEMO, "--self", "--part", "2/3", "--save", one)
        equal(capture.profile(calls=False, part=(2, 3)).to_bytes(), one.read_bytes())
        for wrong in ((0, 3), (4, 3), (1, None), (None, 2), (1, 1 << 40), 3, (1, 2, 3)):
            try:
                capture.run(part=wrong)
            except (TypeError, ValueError):
                continue
            raise AssertionError(f"{wrong} was taken")
        try:
            capture.timeline(part=(1, 2))
        except ValueError:
            return
        raise AssertionError("was taken")


@case
def coverage_is_that_of_the_program(tool):
    with trackway.open(DEMO) as capture:
        coverage = capture.coverage()
        totals = coverage.totals
        equal(sum(1 for row in coverage.rows if row["count"]), totals["lines_covered"])
        equal(sum(1 for row in coverage.functions if row["entries"]) > 0, True)
        lcov = coverage.export("lcov")
    out = tool.run("coverage", DEMO, "--format", "lcov").stdout
    equal(lcov, out)


@case
def formats_are_written(tool):
    with trackway.open(DEMO) as capture:
        calls = capture.calls()
        for form in trackway.formats():
            if form["calls"] and form["extension"]:
                assert calls.export(form["name"]), form["name"]
        calls.export("folded", tool.folder / "folded")
        equal(sum(int(line.rsplit(" ", 1)[1]) for line in (tool.folder / "folded").read_text().splitlines()),
              calls.totals["instructions"])
        assert "<svg" in calls._repr_html_() and "memset" in calls._repr_html_()
        assert "memset" in str(capture.profile())
        events = capture.timeline()
        equal(sum(event["kind"] == "begin" for event in events), sum(event["kind"] == "end" for event in events))
        assert capture.timeline(format="chrome").startswith((b"[", b"{"))
        equal(capture.timeline(format="svg").decode(), events.svg)
        picture = ElementTree.fromstring(events._repr_html_())
        named = {title.text.split("\n")[0] for title in picture.iter("{http://www.w3.org/2000/svg}title")}
        begun = {event["name"] for event in events if event["kind"] == "begin"}
        assert "memset" in named and named <= begun | {event["track"] for event in events}, named - begun
        equal(len(events.to_pandas()), len(events))
        equal((pickle.loads(pickle.dumps(events)), pickle.loads(pickle.dumps(events)).svg), (events, events.svg))


@case
def timelines_and_interrupts_are_those_of_the_program(tool):
    """Of many sources and threads, in the order of time."""
    for path, options in some():
        with trackway.open(path, **options) as capture:
            ours = capture.timeline(format="jsonl").decode().splitlines()
            exceptions = capture.interrupts()
        theirs = tool.run("timeline", path, "--format", "jsonl", *words_of(options), status=None).out.splitlines()
        equal(sorted(ours), sorted(theirs), str(path))  # tracks come as their times become known
        listed = [line for line in lines(tool, "interrupts", path, "--format", "jsonl", *words_of(options), status=None)
                  if line["t"] == "EXCEPTION"]
        equal(len(exceptions), len(listed), str(path))
        for one, other in zip(exceptions, listed):
            equal([one[key] for key in ("number", "count", "name", "unit", "nested", "id", "chained", "preempted", "open", "depth")],
                  [other[key] for key in ("num", "count", "name", "unit", "nested", "id", "tail", "preempted", "open", "depth")], str(path))
            for key in ("gross", "net", "period", "instructions"):
                equal([one[key].get(part) for part in ("min", "max", "sum")], [other[key].get(part) for part in ("min", "max", "sum")], key)
            equal([count for _, count in one["interrupted"]][:5], [row["count"] for row in other["interrupted"]][:5], str(path))


@trackway.analysis
class Ranges:
    """How many ranges there are, and how many instructions."""

    def __init__(self):
        self.ranges = self.instructions = 0

    def take(self, part):
        found = part.elements["type"] == trackway.INSTR_RANGE
        self.ranges += int(found.sum())
        self.instructions += int(part.elements["count"][found].sum())

    def add(self, other):
        self.ranges += other.ranges
        self.instructions += other.instructions


@case
def an_analysis_of_ones_own_adds_up(tool):
    one = trackway.analyse(Ranges, DEMO)
    three = trackway.analyse(Ranges, [DEMO, DEMO, DEMO])
    equal((three.ranges, three.instructions), (3 * one.ranges, 3 * one.instructions))
    with trackway.open(DEMO) as capture:
        equal(one.instructions, capture.profile().totals["instructions"])
    try:
        trackway.analysis(type("Half", (), {"take": lambda self, part: None}))
    except TypeError as problem:
        assert "add" in str(problem)
    else:
        raise AssertionError("an analysis without add was taken")
