#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_gdb.py FOLDER: going back in GDB over 100 million instructions beside stepping there, on all cores beside one, diff of two such runs
beside decoding both, and what the first prompt costs on a capture of 1 GiB. The captures are made of an execution log of the corpus, run after run."""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from exec_log import Log  # noqa: E402

INSTRUCTIONS, STEPS, GIB = 100_000_000, 2000, 1 << 30
SCRIPT = """
import gdb, time
begun = time.process_time(), time.time()
gdb.execute("reverse-stepi %d", to_string=True)
each = (time.time() - begun[1]) / %d
gdb.execute("trackway goto last", to_string=True)
gdb.execute("break memcmp", to_string=True)
begun = time.time()
gdb.execute("reverse-continue", to_string=True)
print("@", each, time.time() - begun)
""" % (STEPS, STEPS)


def packet(text):
    return b"$" + text.encode() + b"#%02x" % (sum(text.encode()) & 255)


def first_prompt(tool, capture, elf):
    """CPU time of the server until GDB has asked what it asks before its first prompt; in ms."""
    asked = ["qSupported", "qXfer:features:read:target.xml:0,fff", "qXfer:threads:read::0,fff", "?", "g"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([tool, "gdb", "--serve", str(capture), str(elf)], input=b"".join(map(packet, asked)),
                   stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def diff_beside_decoding(tool, folder, capture):
    """CPU time of a diff of equal runs, on as many threads as it takes by itself, over that of decoding both."""
    decoding = min(float(subprocess.run([folder / "bench_run", capture], stdout=subprocess.PIPE, check=True).stdout)
                   for _ in range(7))
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([tool, "diff", capture, capture], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
    return min(times) / (2 * decoding), min(times), 2 * decoding


def search_ms(tool, capture, elf, address, threads):
    """Wall time of the server alone until the answer to a reverse-continue to a place that is never come to; in ms."""
    begun = time.monotonic()
    server = subprocess.Popen([tool, "gdb", "--serve", str(capture), str(elf), "--threads", str(threads)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said, _ = server.communicate(packet(f"Z0,{address:x},4") + packet("bc"))
    assert b"replaylog:begin" in said, said
    return 1000 * (time.monotonic() - begun)


def search_on_threads(tool, capture, elf):
    """The same search on all cores beside one thread."""
    one, all_cores = (min(search_ms(tool, capture, elf, 4, threads) for _ in range(5))
                      for threads in (1, os.cpu_count()))
    return one / all_cores, one, all_cores


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tool = str(folder.parent / "trackway")
    logs = pathlib.Path(os.environ.get("TRACKWAY_CORPUS") or ROOT / ".." / "shared" / "corpus") / "exec" / "logs"
    elf = logs / "a64-sorts-big.elf"
    if not shutil.which("gdb-multiarch") or not elf.exists():
        print("# gdb: skipped, no gdb-multiarch or no corpus")
        return
    work = folder / "gdb-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    log = Log(logs / "a64-sorts-big.exlog.gz")
    once = sum(log.runs[what][2] for kind, what in log.events if kind == "run")
    times = -(-INSTRUCTIONS // once)
    log.write(work / "long.exlog.gz", log.events * times)
    subprocess.run([tool, "encode", work / "long.exlog.gz", "--elf", elf, "--protocol", "ete", "--log-repeats",
                    str(10 * INSTRUCTIONS), "-o", work / "long"], check=True)
    (work / "script.py").write_text(SCRIPT, encoding="utf-8")
    out = subprocess.run([tool, "gdb", work / "long", elf, "--", "-nx", "-batch", "-x", work / "script.py"],
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    each, back = map(float, next(line for line in out.splitlines() if line.startswith("@")).split()[1:])
    print(f"gdb/reverse-continue {each * once * times / back:.0f} times as fast as stepping ({back:.2f} s for "
          f"{once * times / 1e6:.0f} million instructions)")
    gain, one, many = search_on_threads(tool, work / "long", elf)
    print(f"gdb/search-threads {gain:.2f} times as fast as on one thread ({many:.0f} ms on {os.cpu_count()} and {one:.0f} ms)")
    ratio, ours, decoding = diff_beside_decoding(tool, folder, work / "long")
    print(f"gdb/diff {ratio:.3f} of decoding both ({ours:.0f} ms and {decoding:.0f} ms of CPU)")
    trace = (work / "long" / "trace.bin").read_bytes()
    with open(work / "long" / "trace.bin", "wb") as file:
        for _ in range(-(-GIB // len(trace))):
            file.write(trace)
    print(f"gdb/first-prompt-ms {first_prompt(tool, work / 'long', elf):.0f} ms of CPU, 1 GiB without an index")
    subprocess.run([tool, "index", "build", work / "long", "-q"], check=True, stdout=subprocess.DEVNULL)
    print(f"gdb/first-prompt-index-ms {first_prompt(tool, work / 'long', elf):.0f} ms of CPU, 1 GiB with an index")
    shutil.rmtree(work)


main()
