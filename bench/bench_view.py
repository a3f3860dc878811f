#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_view.py FOLDER: what it costs to look at captures. Reports: memory beside that of a quarter of the trace, and the page in a browser. The
server: its map beside decoding alone, the first picture and windows. The page that needs no server beside one thread of the tool. All in CPU time.
Captures are the bundled one, and an execution log of the corpus, run after run."""
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests")]
os.environ["TW_TEST_FULL"] = "1"  # sizes of the full run
from browser_cases import browser, drive, large_spec  # noqa: E402
from exec_log import Log  # noqa: E402
from harness import Skip, Tool  # noqa: E402
from report_cases import repeated  # noqa: E402
from serve_cases import Server, processor_seconds, window_seconds  # noqa: E402
from static_cases import built_page, in_browser, native  # noqa: E402

MEGABYTES, WINDOWS = 200, 200


def peak_kib(words):
    """Peak memory of a command beside the file that it maps."""
    done = subprocess.run(["/usr/bin/env", sys.executable, "-c", "import resource, subprocess, sys\n"
                           "subprocess.run(sys.argv[1:], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", *map(str, words)], stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def report_memory(tool, logs):
    """Of a program that runs longer: what it calls stays the same."""
    log, elf = Log(logs / "a64-sorts-big.exlog.gz"), logs / "a64-sorts-big.elf"
    peaks = []
    for times in (1, 4):
        log.write(tool.folder / "long.exlog.gz", log.events * (3 * times))
        tool.run("encode", tool.folder / "long.exlog.gz", "--elf", elf, "--protocol", "ete", "--log-repeats", 10**9, "-o", f"long{times}")
        size = sum(path.stat().st_size for path in (tool.folder / f"long{times}").iterdir())
        peaks.append(peak_kib([tool.program, "report", tool.folder / f"long{times}", "--threads", "1", "-q", "-o", tool.folder / "long.html"]) - (size >> 10))
    print(f"report/memory {peaks[1] / peaks[0]:.2f} of the peak of a quarter of the trace ({peaks[1] >> 10} and {peaks[0] >> 10} MiB)")


def report_page(tool):
    said = drive(tool, browser(), ["large"], **large_spec(tool))
    seconds = float(re.search(r"opened in ([\d.]+) s", said)[1])
    print(f"report/open-ms {1000 * seconds:.0f} ms of CPU of the page until its first picture, 100 MB of trace")


def serve(tool, folder):
    capture = repeated(tool, MEGABYTES * 10**6 // 2848, "served")
    size = (capture / "ETB_0.bin").stat().st_size
    decoding = min(float(subprocess.run([folder / "bench_run", capture], stdout=subprocess.PIPE, check=True).stdout) for _ in range(3)) / 1000
    tool.run("index", "build", capture, status=None)
    with Server(tool, capture, "--build-index", "--threads", "1") as server:
        saved = tool.folder / "served.twp"
        while not saved.exists():
            time.sleep(0.2)
        building = processor_seconds(server)
    print(f"serve/map-of-decode {decoding / building:.2f} of the rate of decoding alone ({building:.2f} s of CPU and {decoding:.2f} s)")
    chance = random.Random(12)
    with Server(tool, capture) as server:
        server.data("/data", capture=0)
        first = processor_seconds(server)
        spent = []
        for _ in range(WINDOWS):
            length = int(1024 * 4096 ** chance.random())
            at = chance.randrange(0, size - length)
            spent.append(1000 * window_seconds(server, at, at + length))
    spent.sort()
    print(f"serve/first-ms {1000 * first:.0f} ms of CPU until the first picture, with the map")
    print(f"serve/window-ms {spent[WINDOWS // 2]:.1f} ms of CPU, half of the windows of 1 KiB to 4 MiB")
    print(f"serve/window-99-ms {spent[WINDOWS * 99 // 100]:.0f} ms of CPU, 99 of 100 of them")


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rates(tool):
    """Instructions a second of the tool and of the page: the same work in the same minute, on one thread, by processor time."""
    browser(), built_page()
    folder = repeated(tool, 6000)
    best = 1e9
    for _ in range(4):
        before = spent()
        native(tool, tool.folder, ["stats", folder.name, "--threads", "1"])
        best = min(best, spent() - before)
    said = in_browser(tool, checks=["rate"], rate={"files": [str(folder)]})
    took = json.loads(re.search(r"^took (.*)$", said, re.M)[1])["seconds"]
    return 6000 * 51431 / best, 6000 * 51431 / took


def static_page(tool):
    native, page = rates(tool)
    print(f"static/of-native {page / native:.2f} of one thread of the tool ({page / 1e6:.0f} and {native / 1e6:.0f} million instructions a second)")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    work = folder / "view-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    logs = pathlib.Path(os.environ.get("TRACKWAY_CORPUS") or ROOT / ".." / "shared" / "corpus") / "exec" / "logs"
    for what, name in ((lambda tool: report_memory(tool, logs), "report/memory"), (report_page, "report/open-ms"),
                       (lambda tool: serve(tool, folder), "serve"), (static_page, "static")):
        own = work / name.replace("/", "-")
        own.mkdir()
        try:
            what(Tool(str(folder.parent / "trackway"), own))
        except (Skip, FileNotFoundError) as why:
            print(f"# {name}: skipped, {why}")
    shutil.rmtree(work)


main()
