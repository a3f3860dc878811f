# SPDX-License-Identifier: BSD-2-Clause
"""Reports and served captures in a browser: one is started, and does with all of them what people do.  Where there is none
(Debian's chromium, playwright-core from npm: npm install --prefix build/node playwright-core, or under the folder that
TRACKWAY_NODE names) the cases are skipped; TRACKWAY_BROWSER=required makes that a failure.  What the browser is shown is the
same for every build of the tool, so that the optimised one alone is asked; every capture of corpus_captures() in the full run."""
import json
import os
import pathlib
import shutil
import subprocess

from harness import ROOT, Skip, case, corpus, equal
from report_cases import DEMO, HOSTILE, SOURCES, corpus_captures, hostile_capture, lines_of, repeated, report
from report_data import read_report
from serve_cases import Server, tiles_known

FULL = bool(os.environ.get("TW_TEST_FULL"))


def node_folder():
    for folder in (os.environ.get("TRACKWAY_NODE"), ROOT / "build" / "node"):
        if folder and (pathlib.Path(folder) / "node_modules" / "playwright-core").is_dir():
            return pathlib.Path(folder) / "node_modules" / "playwright-core"
    return None


def browser():
    """Programs that the cases need, or Skip."""
    if os.environ.get("TW_SANITIZED"):
        raise Skip("asked of the optimised build alone")
    chromium, node, playwright = shutil.which("chromium"), shutil.which("node"), node_folder()
    for what, found in (("chromium", chromium), ("node", node), ("npm package playwright-core", playwright)):
        if not found:
            assert os.environ.get("TRACKWAY_BROWSER") != "required", f"no {what}, and TRACKWAY_BROWSER is \"required\""
            raise Skip(f"no {what}")
    return {"chromium": chromium, "playwright": str(playwright)}


def drive(tool, programs, checks, **spec):
    spec.update(programs, checks=checks)
    path = tool.write("spec.json", json.dumps(spec))
    done = subprocess.run(["node", ROOT / "tests" / "browser" / "report.js", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=500, env=dict(os.environ, HOME=str(tool.folder)))
    assert done.returncode == 0, done.stdout.decode()[-500:] + done.stderr.decode()[-3000:]
    equal([line[3:] for line in done.stdout.decode().splitlines() if line.startswith("ok ")], checks)
    return done.stdout.decode()


TITLES = {"overview": "Overview", "flame": "Flame graph", "timeline": "Timeline", "functions": "Functions", "code": "Source and assembly",
          "coverage": "Coverage", "losses": "Losses", "interrupts": "Interrupts", "channels": "Channels", "differences": "Differences"}


def pages_of(path):
    """Which pages a report has: those with data."""
    reports = read_report(path)
    data = reports[0]
    rows = {name: about["rows"] for name, about in data.directory.items() if isinstance(about, dict) and "rows" in about}
    there = {"flame": rows["paths"], "timeline": rows["spans"] + rows["marks"], "functions": rows["functions"], "code": rows["code"],
             "coverage": rows["coverFunctions"], "interrupts": rows["interrupts"], "channels": rows["marks"], "differences": len(reports) > 1}
    return [{"key": key, "title": title} for key, title in TITLES.items() if there.get(key, 1)]


def demo_spec(tool):
    functions = [row for row in lines_of(tool, "calls", DEMO) if row["t"] == "FUNCTION"]
    hottest = max(functions, key=lambda row: row["self"])
    coverage = read_report(report(tool, "demo.html", DEMO))[0].info
    branches = read_report(tool.folder / "demo.html")[0].rows("branches")
    slices = [row for row in lines_of(tool, "timeline", DEMO) if row["t"] == "SLICE"]
    hot = next(row for row in slices if row["name"] == hottest["name"])
    annotated = [row for row in lines_of(tool, "annotate", DEMO, "--function", "ack") if row["t"] == "INSTR"]
    return {
        "demo": str(tool.folder / "demo.html"), "hottest": hottest["name"], "hottestSelf": hottest["self"],
        "caller": next(row["from"] for row in lines_of(tool, "calls", DEMO) if row["t"] == "CALL" and row["to"] == hottest["name"]),
        "hottestPath": ["all", "_start", "rt_start", "run", hottest["name"]],
        "instructions": sum(row["self"] for row in functions), "recursive": "fib",
        "mostEntered": max(functions, key=lambda row: row["entries"])["name"],
        "functions": [{"name": row["name"], "self": row["self"], "total": row["inclusive"], "entries": row["entries"]} for row in functions],
        "coverage": [[coverage[a], coverage[b]] for a, b in (("codeLinesCovered", "codeLines"), ("codeBoth", "codeBranches"),
                                                             ("codeFunctionsCovered", "codeFunctions"), ("codeCovered", "codeInstructions"))],
        "oneWay": sum(1 for row in branches if bool(row["taken"]) != bool(row["not_taken"])),
        "interrupts": [{"num": row["num"], "count": row["count"]} for row in lines_of(tool, "interrupts", DEMO) if row["t"] == "EXCEPTION"],
        "annotated": {"function": "ack", "counts": [row["count"] for row in annotated]},
        "span": {"from": hot["est"], "to": hot["est_end"], "length": hot["est_end"] - hot["est"], "offset": hot["i"]},
        "spanCommand": f"trackway decode {DEMO} --at +{hot['i']}",
    }


def reports_of_all(tool):
    """Those whose every page is opened."""
    yield report(tool, "sources.html", DEMO, "--embed-sources", "--source-root", SOURCES)
    try:
        for number, words in enumerate(corpus_captures()):
            if FULL or number == 0 or words[0].suffix == ".swo":
                yield report(tool, f"{number}.html", *words, status=None)
        if FULL:  # no symbols: all of its code is one function
            yield report(tool, "stripped.html", corpus() / "coresight" / "snapshots" / "bugfix-exact-match-part", status=None)
    except Skip:
        pass


def names_spec(tool, hostile):
    names = [name.decode("utf-8", "replace") for name in HOSTILE.values()]
    return {"hostile": str(report(tool, "hostile.html", hostile)), "hostileNames": [name[:250] for name in names],
            "hostileLinks": [name for name in names if len(name) < 1000]}


def differences_spec(tool, hostile):
    path = report(tool, "two.html", DEMO, hostile)
    return {"two": str(path), "twoSums": [data.info["instructions"] for data in read_report(path)]}


def large_spec(tool):
    """A hundred megabytes of trace; a hundredth of it in the plain run, with a budget as much smaller beside the page's own size."""
    share = 1 if FULL else 100
    budget = 20000000 // share + (0 if FULL else 150000)
    path = report(tool, "large.html", repeated(tool, 36000 // share), "--budget", budget, status=None)
    assert path.stat().st_size < budget + 100000, path.stat().st_size
    return {"large": str(path)}


def address(server):
    return f"http://127.0.0.1:{server.port}/?k={server.token}"


@case
def browser_shows_reports_and_served_captures(tool):
    programs = browser()
    hostile = hostile_capture(tool)
    spec = dict(demo_spec(tool), **names_spec(tool, hostile), **differences_spec(tool, hostile), **large_spec(tool))
    spec["reports"] = [{"file": str(path), "pages": pages_of(path)} for path in reports_of_all(tool)]
    checks = ["pages", "numbers", "keys", "flame", "timeline", "prints", "names", "differences", "large", "served"]
    with Server(tool, repeated(tool, 30, "served"), DEMO) as server:
        drive(tool, programs, checks, url=address(server), window=[2848, 2 * 2848], **spec)
    # the command that the page shows is one
    assert tool.run(*spec["spanCommand"].split()[1:], "--count", "40").out


@case
def browser_shows_windows_by_time(tool):
    programs = browser()
    with Server(tool, corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data", "--sysroot", corpus() / "perf" / "root") as server:
        drive(tool, programs, ["timed"], timed=address(server))


@case
def browser_shows_large_captures_from_afar(tool):
    if not FULL:
        raise Skip("in the full run alone: 64 MiB of trace")
    programs = browser()
    folder = repeated(tool, 24000)
    tool.run("index", "build", folder, status=None)
    with Server(tool, folder) as server:
        tiles_known(server, 24000 * 2848, 1 << 20)
        drive(tool, programs, ["mapped"], mapped=address(server))


@case
def browser_takes_pictures(tool):
    """Into the folder that TRACKWAY_SHOTS names: to be looked at; docs/view has two of 1000 pixels."""
    folder = os.environ.get("TRACKWAY_SHOTS")
    if not folder:
        raise Skip("TRACKWAY_SHOTS names no folder")
    report(tool, "demo.html", DEMO, "--embed-sources", "--source-root", SOURCES)
    drive(tool, browser(), ["shots"], demo=str(tool.folder / "demo.html"), folder=folder, shots=["overview", "flame", "timeline", "functions", "code/f=ack", "coverage", "losses", "interrupts"],
          sizes=[{"width": width, "height": height, "scheme": scheme} for width, height in ((1000, 640), (1280, 800), (1920, 1080)) for scheme in ("light", "dark")])
