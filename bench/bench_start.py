#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_start.py FOLDER: a capture of 4 KiB a thousand times, each in a process of its own: the time from its start to its end, beside
that of a process that does nothing (true) and that of OpenCSD's lister, in turn; and all thousand in one process. The same of the
tool that is one file (./dev static), if it was built."""
import os
import pathlib
import shutil
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS, STARTS = (1, 5) if os.environ.get("BENCH_QUICK") else (20, 50)
MANY = 1000  # captures of one process


def start(words, times=STARTS):
    """Milliseconds for each of some starts."""
    null = os.open(os.devnull, os.O_WRONLY)
    before = time.perf_counter()
    for _ in range(times):
        _, status = os.waitpid(os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)]), 0)
        if os.waitstatus_to_exitcode(status) > 1:
            sys.exit(f"bench: {words} failed")
    took = time.perf_counter() - before
    os.close(null)
    return 1000 * took / times


def installed(program, folder):
    """A copy, as it would be installed: a file that was copied lies in larger pieces in the system's memory than one that a linker
    wrote here and there, and takes fewer page faults."""
    folder.mkdir(exist_ok=True)
    return shutil.copy(program, folder / program.name)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tool = installed(folder.parent / "trackway", folder / "installed")
    static = folder.parent.parent / "static" / "trackway"
    corpus = pathlib.Path(os.environ.get("TRACKWAY_CORPUS", ROOT / "../shared/corpus")).resolve()
    capture = str(corpus / "coresight" / "snapshots" / "maxspec0_commopt1")
    nothing = shutil.which("true")
    print("# start: wall time of a process that decodes 4 KiB, by that of one that does nothing")
    if not os.path.isdir(capture) or not nothing:
        print("# start: skipped, no corpus")
        return
    commands = {"nothing": [nothing], "version": [tool, "--version"], "decode": [tool, "decode", capture, "-q"],
                "stats": [tool, "stats", capture, "-q"]}
    if static.exists():
        static = installed(static, folder / "installed-static")
        commands |= {"static-decode": [static, "decode", capture, "-q"], "static-stats": [static, "stats", capture, "-q"]}
    lister = shutil.which("trc_pkt_lister")
    if lister:
        os.chdir(sys.argv[1])  # where it leaves its log
        commands["lister"] = [lister, "-ss_dir", capture, "-decode_only", "-logstdout"]
    best = {name: start(words) for name, words in commands.items()}
    for _ in range(ROUNDS):
        for name, words in commands.items():
            best[name] = min(best[name], start(words, 5 if name == "lister" else STARTS))
    for name in ("version", "decode", "stats", "static-decode", "static-stats"):
        if name in best:
            print(f"start/{name}-of-nothing {best[name] / best['nothing']:.3f}  {best[name]:.3f} ms, of which {best[name] - best['nothing']:.3f} are the tool's own")
    for name in ("decode", "stats"):
        each = min(start([tool, name, "-q", *[capture] * MANY], 1) / MANY for _ in range(ROUNDS // 4 + 1))
        print(f"start/{name}-each {best[name] / each:.2f}  times the {each:.3f} ms for each of {MANY} captures of one process")
        if lister and name == "decode":
            print(f"start/lister-of-decode {best['lister'] / best[name]:.2f}  times as long takes trc_pkt_lister: {best['lister']:.2f} ms; "
                  f"{best['lister'] / each:.1f} times one of {MANY}")


main()
