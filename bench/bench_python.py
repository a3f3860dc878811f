#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_python.py FOLDER: the Python package beside C, beside memcpy and beside lines of JSON; analyses on Dask with two workers
beside one. The captures are the demo, again and again. Times of CPU, but for Dask."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ELEMENTS, TABLE, LINES = 100_000_000, 10_000_000, 300_000
ONE = 15601  # elements of the demo


def made(folder, elements):
    """A snapshot with at least so many elements."""
    path = folder / f"demo-{elements}"
    if not path.exists():
        shutil.copytree(ROOT / "tests" / "captures" / "demo", path)
        (path / "ETB_0.bin").write_bytes((path / "ETB_0.bin").read_bytes() * (-(-elements // ONE) + 10))
    return path


def best(function, times=5):
    return min(function() for _ in range(times))


def iterate(path):
    """CPU seconds, elements, the sum, and what memory grew by meanwhile in MiB."""
    import trackway
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, count, total = time.process_time(), 0, 0
    with trackway.open(path) as capture:
        for part in capture.run(threads=1):
            count += len(part)
            if len(part):
                total += int(part.elements["count"].sum(dtype="u8"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    return time.process_time() - begun, count, total, grown / 1024


def in_c(folder, path):
    out = subprocess.run([folder / "bench_run", path, "sum"], stdout=subprocess.PIPE, check=True).stdout.split()
    return float(out[0]) / 1000, int(out[1]), int(out[2])


def beside_c(folder, path):
    iterate(made(path.parent, ONE))  # what is loaded once is loaded
    ours, theirs = [], []
    for _ in range(5):
        ours.append(iterate(path))
        theirs.append(in_c(folder, path))
    assert ours[0][1:3] == theirs[0][1:], "Python and C differ"
    mine, other = min(one[0] for one in ours), min(one[0] for one in theirs)
    print(f"python/of-c {other / mine:.2f} {ours[0][1] / mine / 1e6:.0f} million elements a second in Python,"
          f" {ours[0][1] / other / 1e6:.0f} in C")
    print(f"python/memory-mib {ours[0][3]:.1f} more than before while {ours[0][1]} elements went by")
    return ours[0][1] / mine


def tables(path):
    import numpy
    import trackway
    with trackway.open(path) as capture:
        elements = capture.elements()[:TABLE]

    def copy():
        begun = time.process_time()
        fresh = numpy.empty(len(elements), dtype="V32")
        fresh[:] = elements.view("V32")
        return time.process_time() - begun

    def table():
        begun = time.process_time()
        trackway.to_pandas(elements)
        return time.process_time() - begun

    mine, other = best(table, 9), best(copy, 9)
    print(f"python/to-pandas {mine / other:.2f} {mine * 1000:.0f} ms for {len(elements)} elements, copying them"
          f" {other * 1000:.0f} ms")


def json_lines(tool, path, rate):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun, count, total = time.process_time(), 0, 0
    with subprocess.Popen([tool, "decode", path, "--format", "jsonl"], stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            total += json.loads(line).get("n", 0)
            count += 1
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = time.process_time() - begun + after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"python/of-json-lines {rate * spent / count:.0f} {count / spent / 1e6:.2f} million lines a second")


def dask(path):
    sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests")]
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import distributed  # noqa: F401
    except ImportError:
        print("# no Dask (python3-distributed)")
        return
    import trackway.dask
    from dask_cases import cluster
    seconds = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder, cluster(pathlib.Path(folder), workers) as (client, _):
            trackway.dask.profile([path] * 4, client, calls=False, threads=1)

            def once(client=client):
                begun = time.monotonic()
                trackway.dask.profile([path] * 32, client, calls=False, threads=1)
                return time.monotonic() - begun
            seconds[workers] = best(once, 3)
    print(f"dask/two-workers {seconds[1] / seconds[2]:.2f} {seconds[1]:.2f} s with one, {seconds[2]:.2f} s with two")


def main():
    folder = pathlib.Path(sys.argv[1])
    package = folder.parent / "python"
    if not (package / "trackway" / "_core.abi3.so").exists():
        print("# no Python package was built")
        return
    sys.path.insert(0, str(package))
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("# no NumPy")
        return
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        rate = beside_c(folder, made(temporary, ELEMENTS))
        json_lines(folder.parent / "trackway", made(temporary, LINES), rate)
        tables(made(temporary, TABLE))
        dask(made(temporary, ELEMENTS))


main()
