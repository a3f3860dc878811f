# SPDX-License-Identifier: BSD-2-Clause
"""Analyses on Dask: a scheduler and workers in processes of their own, over TCP on loopback."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

import trackway
from captures import DEMO, some
from harness import Skip, case, equal


def modules():
    if os.environ.get("LD_PRELOAD"):
        raise Skip("sanitizers: workers would take minutes")
    try:
        import distributed
    except ImportError:
        raise Skip("no Dask (python3-distributed)") from None
    import trackway.dask
    return distributed


@contextlib.contextmanager
def cluster(folder, count):
    """A client, and the processes of its workers."""
    distributed = modules()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(pathlib.Path(trackway.__file__).resolve().parent.parent), str(pathlib.Path(__file__).resolve().parent)])}
    about = folder / "scheduler.json"
    log = open(folder / "dask.log", "wb")

    def start(name, *words):
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{name}", *words, "--scheduler-file", str(about)],
                                env=environment, stdout=log, stderr=log, cwd=folder)

    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    workers = [start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
               for _ in range(count)]
    processes += workers
    try:
        end = time.monotonic() + 60
        while not about.exists() and time.monotonic() < end:
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(about), timeout=60) as client:
            client.wait_for_workers(count, timeout=60)
            yield client, workers
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
        log.close()


def many(folder):
    """64 captures of several kinds, and the options that serve all of them."""
    sources = [path for path, options in some() if not options][:4]
    paths = []
    for number in range(64):
        path = folder / f"capture-{number}"
        path.symlink_to(sources[number % len(sources)])
        paths.append(path)
    return paths


def one_process(kind, paths, **filters):
    total = None
    for path in paths:
        with trackway.open(path) as capture:
            result = getattr(capture, kind)(**filters)
        total = result if total is None else total.add(result)
    return total.to_bytes()


@case
def sixty_four_captures_and_a_worker_that_dies(tool):
    modules()
    paths, seen = many(tool.folder), []
    with cluster(tool.folder, 2) as (client, workers):
        def progress(done, total):
            seen.append((done, total))
            if done == 20:
                workers[0].kill()

        result = trackway.dask.profile(paths, client, calls=False, progress=progress)
        equal(workers[0].wait(), -9)
        equal(result.to_bytes(), one_process("profile", paths, calls=False))
        equal(seen[-1], (64 + 8 + 1, 64 + 8 + 1))
        result = trackway.dask.coverage(paths, client, fan_in=2)
        equal(result.to_bytes(), one_process("coverage", paths))


@case
def parts_of_one_capture(tool):
    """The demo again and again: 1 GiB in full, 4 MiB else."""
    modules()
    large = tool.folder / "large"
    shutil.copytree(DEMO, large)
    size = 1 << 30 if os.environ.get("TW_TEST_FULL") == "1" else 4 << 20
    data = (large / "ETB_0.bin").read_bytes()
    with open(large / "ETB_0.bin", "wb") as out:
        for _ in range(-(-size // (len(data) * 256))):
            out.write(data * 256)
    with cluster(tool.folder, 2) as (client, workers):
        def progress(done, total):
            if done == 3:
                workers[0].kill()

        got = trackway.dask.profile(large, client, calls=False, parts=9, fan_in=3, progress=progress)
        equal(got.to_bytes(), one_process("profile", [large], calls=False))
        got = trackway.dask.coverage([large], client, parts=4)
        equal(got.to_bytes(), one_process("coverage", [large]))


@case
def every_kind_and_analyses_of_ones_own(tool):
    modules()
    from dask_analysis import Types
    paths = [DEMO, DEMO, DEMO]
    with cluster(tool.folder, 1) as (client, _):
        for kind in ("calls", "statistics", "profile"):
            equal(getattr(trackway.dask, kind)(paths, client, fan_in=2).to_bytes(), one_process(kind, paths), kind)
        equal(trackway.dask.analyse(Types, paths, client).counts, trackway.analyse(Types, paths).counts)
        for wrong in (lambda: trackway.dask.profile([], client),
                      lambda: trackway.dask.profile(paths, client, fan_in=1)):
            try:
                wrong()
            except ValueError:
                continue
            raise AssertionError("was taken")


@case
def what_goes_wrong_is_told(tool):
    """An error of a task is that of the caller, after its retries."""
    modules()
    from dask_analysis import FailsOnce
    empty = tool.folder / "nothing"
    with cluster(tool.folder, 1) as (client, _):
        try:
            trackway.dask.profile([DEMO, empty], client, retries=1)
        except trackway.Error as error:
            assert "nothing" in str(error), error
        else:
            raise AssertionError("was taken")
        # A file that comes while it is tried again.
        task = FailsOnce(tool.folder / "tried")
        equal(trackway.dask.run(task, [DEMO], client).to_bytes(), one_process("profile", [DEMO]))


@case
def results_are_copied_as_they_are_saved(tool):
    import copy
    import pickle
    with trackway.open(DEMO) as capture:
        for make in (capture.profile, capture.calls, capture.coverage, capture.statistics):
            one = make()
            two = pickle.loads(pickle.dumps(one))
            equal(two.to_bytes(), one.to_bytes())
            three = copy.deepcopy(one).add(one)
            equal(two.to_bytes(), one.to_bytes())
            assert three.to_bytes() != one.to_bytes()
