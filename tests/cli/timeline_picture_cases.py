# SPDX-License-Identifier: BSD-2-Clause
"""Timelines as pictures: every box stands where the JSON lines have a span of that name, none is without a box, and
the picture is no larger than it may be."""
import re
import shutil
from xml.etree import ElementTree

from calls_cases import DEMO
from harness import add_case, corpus, equal
from reader_cases import browse
from timeline_cases import lines_of
from timeline_format_cases import CAPTURES

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ["core", "thread", "exception", "gap", "event", "port", "data", "sample", "counter"]
DEPTHS, LANES, COLUMNS, ROW = 8, 48, 512, 15


class Box:
    def __init__(self, group):
        self.name, _, about = group.find(SVG + "title").text.rpartition("\n")
        first, last, self.unit, begun, self.what = re.fullmatch(r"(\d+) to (\d+) (\w+), (\d+) (begin|happen)", about).groups()
        self.first, self.last, self.begun = int(first), int(last), int(begun)
        rect = group.find(SVG + "rect")
        self.y, self.x, self.width = int(rect.get("y")), float(rect.get("x")), float(rect.get("width"))


def lanes_of(picture):
    """Boxes of each lane, by the name of its track and its number among the track's."""
    labels = {int(text.get("y")): text.text for text in picture.findall(SVG + "text") if text.get("x") == "4"}
    lanes = {}
    for group in picture.findall(SVG + "g"):
        box = Box(group)
        above = max(y for y in labels if y <= box.y + ROW)
        lanes.setdefault((above, (box.y + ROW - above) // ROW), []).append(box)
    return lanes, labels


def spans_of(tool, words):
    """(begin, end, name) by kind of track, track and depth; and how many are too deep."""
    tracks, found, deep = {}, {}, 0
    for row in lines_of(tool.run("timeline", *words, "--format", "jsonl", "-q", status=None).out):
        if row["t"] == "TRACK":
            tracks[row["track"]] = row
        if row["t"] not in ("SLICE", "GAP", "MARK") or row["est"] is None or row.get("est_end", 0) is None:
            continue
        about = tracks[row["track"]]
        depth = row["depth"] if row["t"] == "SLICE" and about["kind"] == "thread" else 0
        if depth >= DEPTHS:
            deep += 1
            continue
        name = about["name"] if row["t"] == "MARK" else row["reason"] if row["t"] == "GAP" else row["name"]
        found.setdefault((KINDS.index(about["kind"]), row["track"], depth), []).append(
            (row["est"], row.get("est_end", row["est"]), re.sub(r"\[\d+ short\]", "[short]", name), row.get("count", 1)))
    return found, deep


def check(tool, words):
    text = tool.run("timeline", *words, "--format", "svg", "-q", status=None).out
    picture = ElementTree.fromstring(text)
    want, deep = spans_of(tool, words)
    lanes, _ = lanes_of(picture)
    assert len(lanes) <= LANES, len(lanes)
    notes = " ".join(note.text or "" for note in picture.findall(SVG + "text") if note.get("class") == "note")
    equal(re.findall(r"(\d+) span\(s\) deeper than 8", notes), [str(deep)] if deep else [], "what is too deep is told")
    equal("not wholly" in notes, len(want) > LANES, "tracks that are left out are told")
    if len(want) > LANES:
        return picture
    equal(len(lanes), len(want), "lanes")
    for (_, boxes), (key, spans) in zip(sorted(lanes.items()), sorted(want.items())):
        assert len(boxes) <= COLUMNS
        equal(sum(box.begun for box in boxes), sum(span[3] for span in spans), f"spans of {key}")
        for box in boxes:
            assert 159 < box.x and box.x + box.width < 1185, (box.x, box.width)
            inside = [span for span in spans if span[0] <= box.last and max(span[1], span[0] + 1) > box.first]
            assert box.name in {span[2] for span in inside}, (key, box.name, box.first, box.last)
            equal(box.begun, sum(span[3] for span in spans if box.first <= span[0] <= box.last), f"{key} {box.name}")
        ends = [(box.first, box.last) for box in boxes]
        assert all(one[1] < two[0] for one, two in zip(ends, ends[1:])), key
    return picture


def of(capture):
    return lambda tool: check(tool, CAPTURES[capture](tool))


def many(tool):
    check(tool, [DEMO] * 20)
    check(tool, [DEMO, "--min-duration", "40"])
    check(tool, [DEMO, "--limit", "1"])


def threads(tool):
    for path in sorted((corpus() / "perf").glob("*.data"))[:3]:
        check(tool, [path])


def empty(tool):
    picture = check(tool, [DEMO, "--to", "10"])
    assert "nothing has a time" in "".join(picture.itertext())


def hostile_names(tool):
    shutil.copytree(DEMO, tool.folder / "capture")
    elf = tool.folder / "capture" / "recur.elf"
    elf.chmod(0o644)
    elf.write_bytes(elf.read_bytes().replace(b"\0memset\0", b"\0<\"\\\n\xe9,\0"))
    picture = ElementTree.fromstring(tool.run("timeline", "capture", "--format", "svg", "-q").out)
    assert any((title.text or "").startswith("<\"\\\N{REPLACEMENT CHARACTER}") for title in picture.iter(SVG + "title"))


def opens_in_a_page(tool):
    """Several pictures in one page, as a notebook has them: the boxes of each are its own."""
    flames = tool.run("calls", DEMO, "--format", "svg", "-q").out
    times = tool.run("timeline", DEMO, "--format", "svg", "-q").out
    inside = [text[text.index("<svg"):] for text in (flames, times, flames)]
    (tool.folder / "page.html").write_text(
        "<!doctype html><meta charset=utf-8><p id=said></p>" + "".join(inside) +
        "<script>const all=[...document.querySelectorAll('svg')],shown=s=>[...s.querySelectorAll('.f')].filter("
        "g=>g.style.display!=='none').length;all[0].querySelectorAll('.f')[3].dispatchEvent(new MouseEvent('click',{bubbles:true}));"
        "const one=shown(all[0]);all[0].dispatchEvent(new MouseEvent('click',{bubbles:true}));"
        "document.getElementById('said').textContent=[one,shown(all[0]),shown(all[2])].join(' ')</script>")
    page = browse(tool, (tool.folder / "page.html").as_uri())
    zoomed, back, other = (int(number) for number in re.search(r"<p id=\"said\">(\d+) (\d+) (\d+)</p>", page).groups())
    boxes = flames.count("class=\"f\"")
    assert 0 < zoomed < boxes, (zoomed, boxes)
    equal((back, other), (boxes, boxes), "boxes of this and of the other picture")
    assert "NaN" not in page


for each in CAPTURES:
    add_case(f"timeline_svg_{each}", of(each))
add_case("timeline_svg_many", many)
add_case("timeline_svg_threads", threads)
add_case("timeline_svg_empty", empty)
add_case("timeline_svg_hostile_names", hostile_names)
add_case("timeline_svg_in_a_page", opens_in_a_page)
