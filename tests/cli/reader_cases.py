# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles as other programs read them: pprof, callgrind_annotate, a browser, speedscope.  They show the same
numbers as the JSON lines.  Where a program is not there its test is skipped; speedscope comes from npm (npm install
--prefix build/node speedscope), or lies under the folder that TRACKWAY_NODE names."""
import base64
import html
import json
import os
import re
import subprocess

from calls_cases import DEMO, truth_folder
from harness import ROOT, Skip, add_case, equal
from timeline_format_cases import need, read_with

NODE = ROOT / "build" / "node"
NUMBER = r"([0-9,]+) \( ?[0-9.]+%\)"


def programs(tool):
    """Options for calls of several programs."""
    yield "demo", [DEMO]
    for name in ("a64-counts", "rv64-recur"):
        folder = truth_folder()
        unit = "etrace" if name.startswith("rv") else "etmv4"
        tool.run("encode", folder / f"{name}.exlog.gz", "--elf", folder / f"{name}.elf", "--protocol", unit, "-o", name)
        yield name, [name, "--symbols", folder / f"{name}.elf"]


def functions_of(tool, words):
    """Self instructions by function; names that several have are added up."""
    table = {}
    for line in tool.run("calls", *words, "--tail-calls", "logical", "--format", "jsonl", "-q").out.splitlines():
        row = json.loads(line)
        if row["t"] == "FUNCTION":
            had = table.get(row["name"], (0, 0))
            table[row["name"]] = (had[0] + row["self"], had[1] + row["inclusive"])
    return table


def recursive_of(tool, words):
    """Functions that stand on a stack twice, and those between: the format adds up what a call costs, again and again."""
    found = set()
    for line in tool.run("calls", *words, "--tail-calls", "logical", "--format", "folded", "-q").out.splitlines():
        frames = line.rsplit(" ", 1)[0].split(";")
        for name in frames:
            first, last = frames.index(name), len(frames) - 1 - frames[::-1].index(name)
            found.update(frames[first:last + 1] if last > first else [])
    return found


def keep(tool, words, name):
    tool.run("calls", *words, "--format", name, "-q", "-o", f"out.{name}")
    return tool.folder / f"out.{name}"


def pprof_shows_the_same(tool):
    need("go")
    home = dict(os.environ, HOME=str(tool.folder), PPROF_TMPDIR=str(tool.folder))
    for name, words in programs(tool):
        done = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", keep(tool, words, "pprof")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300, env=home)
        text = done.stdout.decode()
        equal(done.returncode, 0, done.stderr)
        assert "Type: instructions" in text, text[:300]
        shown = {row[2]: (int(row[0]), int(row[1]))
                 for row in re.findall(r"^ +(\d+) +[0-9.]+% +[0-9.]+% +(\d+) +[0-9.]+% +(\S+)$", text, re.M)}
        want = {key: value for key, value in functions_of(tool, words).items() if value[1]}
        equal({key: value[0] for key, value in shown.items() if key[0] != "["},
              {key: value[0] for key, value in want.items() if key[0] != "["}, name)
        equal(sum(value[0] for value in shown.values()), sum(value[0] for value in want.values()), name)
        for key in shown.keys() & want.keys():
            equal(shown[key][1], want[key][1], f"{name}: with what {key} called")


def callgrind_annotate_shows_the_same(tool):
    need("callgrind_annotate")
    for name, words in programs(tool):
        text = read_with("callgrind_annotate", "--threshold=100", "--auto=no", keep(tool, words, "callgrind")).decode()
        want = {key: value[0] for key, value in functions_of(tool, words).items() if value[0]}
        total = int(re.search(NUMBER + r"  PROGRAM TOTALS", text)[1].replace(",", ""))
        equal(total, sum(want.values()), name)
        shown = {key: int(count.replace(",", "")) for count, key in re.findall(NUMBER + r"  (?:\?|\S+\.[a-zA-Z]+):(\S+)", text)}
        equal(shown, want, name)
        text = read_with("callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=yes",
                         tool.folder / "out.callgrind").decode()
        shown = {key: int(count.replace(",", "")) for count, key in re.findall(NUMBER + r"  (?:\?|\S+\.[a-zA-Z]+):(\S+)", text)}
        recursive = recursive_of(tool, words)
        for key, value in functions_of(tool, words).items():
            if key not in recursive:
                equal(shown.get(key, 0), value[1], f"{name}: with what {key} called")


def browse(tool, address):
    """The page as the browser has it, and what its console said."""
    done = subprocess.run([need("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           "--allow-file-access-from-files", "--virtual-time-budget=10000",
                           f"--user-data-dir={tool.folder}/browser", "--dump-dom", address],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=200,
                          env=dict(os.environ, HOME=str(tool.folder)))
    said = done.stderr.decode("utf-8", "replace")
    assert "Uncaught" not in said and "SyntaxError" not in said, said[-2000:]
    return done.stdout.decode("utf-8", "replace")


def flame_graph_opens(tool):
    paths = {}
    for line in tool.run("calls", DEMO, "--format", "folded", "-q").out.splitlines():
        stack, count = line.rsplit(" ", 1)
        frames = stack.split(";")
        for depth in range(1, len(frames) + 1):
            key = tuple(frames[:depth])
            paths[key] = paths.get(key, 0) + int(count)
    page = browse(tool, keep(tool, [DEMO], "svg").as_uri())
    shown = sorted((html.unescape(name), int(count))
                   for name, count in re.findall(r"<title>(.*?) \((\d+) instructions", page))
    want = sorted((key[-1], count) for key, count in paths.items())
    missing = [row for row in want if row not in shown]
    total = max(paths.values())
    assert not [row for row in missing if row[1] * 10000 > total], missing[:3]
    assert all(row in want for row in shown), "a box that is no path"
    assert f"{total} instructions" in page


def node_module(name):
    for folder in (os.environ.get("TRACKWAY_NODE"), NODE):
        path = os.path.join(folder, "node_modules", name) if folder else ""
        if path and os.path.isdir(path):
            return path
    raise Skip(f"no npm package {name}")


def speedscope_fits_its_schema(tool):
    try:
        import jsonschema
    except ImportError:
        raise Skip("no python3-jsonschema") from None
    with open(node_module("speedscope") + "/dist/release/file-format-schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    for name, words in programs(tool):
        profile = json.loads(keep(tool, words, "speedscope").read_text())
        jsonschema.validate(profile, schema)
        want = sum(value[0] for value in functions_of(tool, words).values())
        equal(sum(sum(each["weights"]) for each in profile["profiles"]), want, name)


def speedscope_opens(tool):
    page = node_module("speedscope") + "/dist/release/index.html"
    tool.run("timeline", DEMO, "--format", "chrome", "-q", "-o", "out.chrome")
    for name in ("speedscope", "folded", "callgrind", "pprof", "chrome"):
        path = tool.folder / "out.chrome" if name == "chrome" else keep(tool, [DEMO], name)
        text = base64.b64encode(path.read_bytes()).decode()
        given = {"callgrind": "callgrind.out.1", "pprof": "it.pb.gz", "chrome": "it.json"}.get(name, "it." + name)
        script = tool.write(f"{name}.js", f'speedscope.loadFileFromBase64("{given}", "{text}")')
        shown = browse(tool, f"file://{page}#localProfilePath={script}")
        title = re.search("<title>(.*?)</title>", shown)[1]
        assert title.endswith(" - speedscope"), (name, title)
        assert "Left Heavy" in shown, f"{name}: no profile is shown"


add_case("reader_pprof", pprof_shows_the_same)
add_case("reader_callgrind", callgrind_annotate_shows_the_same)
add_case("reader_browser_svg", flame_graph_opens)
add_case("reader_speedscope_schema", speedscope_fits_its_schema)
add_case("reader_browser_speedscope", speedscope_opens)
