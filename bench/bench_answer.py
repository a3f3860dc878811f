#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_answer.py FOLDER [full]: the whole way from a file to an answer. A perf.data file becomes AutoFDO text, a profile by
function and lcov, a snapshot a profile (64 MiB, "full": 1 GiB too); with the files in the page cache and not in it; wall time and peak memory
beside perf and OpenCSD's lister with a script behind it; and where host instructions go, by stage. The program is run in QEMU."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS, ROUNDS, MIB = 5, 2500, 1 << 20

# What someone writes in an hour around the lister: instructions by range, then by line.
COUNT = r"""awk 'match($0, /INSTR_RANGE\(exec range=0x[0-9a-f]+/) { first = substr($0, RSTART + 25, RLENGTH - 25)
match($0, /num_i\([0-9]+/); count[first] += substr($0, RSTART + 6, RLENGTH - 6) }
END { for (first in count) print first, count[first] }' """

# Where code belongs, by its file or its library; the first that fits.
STAGES = (
    ("starting", r"ld-linux|libc_start|/csu/"),
    ("symbols", r"libdw|libelf|/src/image/(symbols|demangle)"),
    ("reading", r"/src/capture/|/src/image/(file|elf|segments)|libzstd|libz\.so"),
    ("unframing", r"/src/frame/"),
    ("decoding", r"/src/(etmv4|ete|path|isa|image|stage|tree|run|protocol|registry)"),
    ("writing", r"/src/export/|/src/base/(text|escape|members|beside)|/tool/|printf|itoa|IO_|fwrite"),
    ("adding up", r"/src/(analysis|base)/"),
)


class Run:
    """A command: wall time, CPU time and what was read from disk of its best run, peak memory of all."""

    folder = None  # of the benchmarks

    def __init__(self, words, runs=RUNS, cold=()):
        self.wall = self.cpu = float("inf")
        self.peak = self.read = 0
        for _ in range(1 if os.environ.get("BENCH_QUICK") else runs):
            for path in cold:
                forget(path)
            said = subprocess.run([self.folder / "bench_time", os.devnull, *map(str, words)], stdout=subprocess.PIPE,
                                  check=True).stdout
            status, wall, cpu, peak, read = map(float, said.split())
            if status > 1:
                sys.exit(f"bench: {words} ended with {status:.0f}")
            self.peak = max(self.peak, peak / 1024)
            self.cpu = min(self.cpu, cpu)
            if wall < self.wall:
                self.wall, self.read = wall, read / 1024

    def text(self):
        return f"{1000 * self.wall:.0f} ms ({1000 * self.cpu:.0f} of CPU), peak {self.peak:.0f} MiB"


def forget(path):
    """Puts a file, or all in a folder, out of the page cache."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            with open(file, "rb") as open_file:
                os.fsync(open_file.fileno())
                os.posix_fadvise(open_file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def compare(name, ours, peer, files):
    """Warm beside the peer, and with the files out of the cache."""
    warm, cold = Run(ours), Run(ours, cold=files)
    if peer:
        other = Run(peer[1], runs=1)
        print(f"answer/{name} {other.wall / warm.wall:.2f}  times {peer[0]}: {warm.text()}; it {other.text()}")
    else:
        print(f"answer/{name} -  {warm.text()}")
    print(f"answer/{name}/cold-ms {1000 * cold.wall:.1f}  files not in the cache: {cold.text()}, {cold.read:.1f} MiB from disk")
    print(f"answer/{name}/peak-mib {max(warm.peak, cold.peak):.1f}")
    sys.stdout.flush()


def stage_of(where):
    return next((stage for stage, form in STAGES if re.search(form, where)), "other")


def stages(name, words, work):
    """Host instructions by stage: what callgrind counted for each line of source, by the folder of its file."""
    out = work / "callgrind"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-pos=no", *words],
                   stdout=open(work / "under-valgrind", "wb"), stderr=subprocess.DEVNULL, check=False)
    cost, names, inclusive, now = {}, {}, False, {"ob": "", "fl": "", "fn": ""}
    for line in open(out, encoding="utf-8", errors="replace"):
        head = re.match(r"(c?)(fl|fi|fe|ob|fn)=(\(\d+\))(?: (.*))?", line)
        if head:
            kind = "fl" if head[2] in ("fi", "fe") else head[2]
            if head[4] is not None:
                names[kind, head[3]] = head[4]
            if not head[1]:
                now[kind] = names[kind, head[3]]
        elif line.startswith("calls="):
            inclusive = True
        elif line[0].isdigit() or line[0] in "+-*":
            if not inclusive:
                ours = "/src/" in now["fl"] or "/tool/" in now["fl"]
                stage = stage_of(now["fl"] if ours else " ".join(now.values()))
                cost[stage] = cost.get(stage, 0) + int(line.split()[-1])
            inclusive = False
    total = sum(cost.values())
    print(f"answer-ir/{name} {total / 1e6:.1f}  million host instructions")
    for stage in [stage for stage, _ in STAGES] + ["other"]:
        if stage in cost:
            print(f"stage/{name}/{stage.replace(' ', '-')} {cost[stage] / total:.4f}  of {total / 1e6:.1f} million host instructions")
    sys.stdout.flush()


def record(tool, work, program, form, out):
    subprocess.run([tool, "record", "--quiet", "--force", "--protocol", "etmv4", "--format", form, "-o", out, program,
                    str(ROUNDS)], stdout=subprocess.DEVNULL, check=False, cwd=work)  # its status is the program's
    if not out.exists():
        sys.exit("bench: trackway record made nothing")


def lengthen(trace, mib):
    piece = trace.read_bytes()
    with open(trace, "wb") as file:
        for _ in range(-(-mib * MIB // len(piece))):
            file.write(piece)


def perf_answers(tool, work, program):
    data, report = work / "perf.data", shutil.which("perf")
    record(tool, work, program, "perf", data)
    print(f"# {data.stat().st_size / MIB:.1f} MiB of perf.data, from the file to the answer, wall time")
    files = [data, program]
    autofdo = [tool, "branches", data, "--format", "autofdo", "-q"]
    profile = [tool, "profile", data, "-q"]
    lcov = [tool, "coverage", data, "--format", "lcov", "-q"]
    compare("autofdo", autofdo, report and ("perf inject --itrace=i1000il", [
        report, "inject", "--itrace=i1000il", "--strip", "-i", data, "-o", work / "injected"]), files)
    compare("functions", profile, report and ("perf report --itrace=i1000i", [
        report, "report", "--stdio", "--itrace=i1000i", "-i", data]), files)
    snapshot = work / "small"
    record(tool, work, program, "snapshot", snapshot)
    lister = f"cd {work} && trc_pkt_lister -ss_dir {snapshot} -decode_only -logstdout | {COUNT}"
    lines = f"{lister} | cut -d ' ' -f 1 | addr2line -e {program}"
    there = shutil.which("trc_pkt_lister") and shutil.which("addr2line")
    compare("lcov", lcov, there and ("trc_pkt_lister | awk | addr2line", ["sh", "-c", lines]), files)
    compare("snapshot-functions", [tool, "profile", snapshot, "-q"], there and ("trc_pkt_lister | awk", ["sh", "-c", lister]),
            [snapshot])
    if shutil.which("valgrind"):
        for name, words in (("autofdo", autofdo), ("functions", profile), ("lcov", lcov),
                            ("listing", [tool, "decode", framed(), "-q"])):
            stages(name, words, work)


def corpus():
    return pathlib.Path(os.environ.get("TRACKWAY_CORPUS") or ROOT / ".." / "shared" / "corpus")


def framed():
    """A snapshot whose trace lies in the formatter's frames."""
    return corpus() / "coresight/snapshots/bugfix-exact-match-part"


def large(tool, work, program, mib):
    snapshot = work / "large"
    record(tool, work, program, "snapshot", snapshot)
    lengthen(next(snapshot.glob("trace_*.bin")), mib)
    for threads in (1, os.cpu_count()):
        words = [tool, "profile", snapshot, "-q", "--threads", str(threads)]
        warm, cold = Run(words, runs=2), Run(words, runs=2, cold=[snapshot])
        print(f"answer/{mib}-mib/{threads}-threads {mib / warm.wall:.1f}  MiB/s to a profile: {warm.text()}")
        print(f"answer/{mib}-mib/{threads}-threads/cold {mib / cold.wall:.1f}  MiB/s, not in the cache: {cold.text()}, "
              f"{cold.read:.0f} MiB from disk")
        sys.stdout.flush()
    shutil.rmtree(snapshot)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tool = folder.parent / "trackway"
    Run.folder = folder
    elf = corpus() / "analysis/truth/a64-indirect.elf"
    if not shutil.which("qemu-aarch64") or not elf.exists():
        print("# answer: skipped, no QEMU or no corpus")
        return
    work = folder / "answer-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program = work / "indirect"
    shutil.copy(elf, program)
    program.chmod(0o755)
    perf_answers(tool, work, program)
    large(tool, work, program, 64)
    if sys.argv[2:] == ["full"]:
        large(tool, work, program, 1024)
    shutil.rmtree(work)


main()
