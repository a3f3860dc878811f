# SPDX-License-Identifier: BSD-2-Clause
"""Analyses on Dask: a scheduler and workers in processes of their own, over TCP on loopback."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
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


def wait_for_json(path):
    """The scheduler makes the file and then writes it: who reads it between the two finds half of it."""
    end = time.monotonic() + 60
    while True:
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.05)


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
    try:
        wait_for_json(about)
        workers = [start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
                   for _ in range(count)]
        processes += workers
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


class Told:
    """What `progress` was told, and in which threads; kills a worker in the middle."""

    def __init__(self, kill=None, at=0, mark=None):
        self.seen, self.threads, self.busy = [], [], threading.Lock()
        self.kill, self.at, self.mark = kill, at, mark

    def __call__(self, done, total):
        assert self.busy.acquire(blocking=False), "two calls at once"
        self.seen.append((done, total))
        self.threads.append(threading.get_ident())
        if self.kill and done >= self.at:
            self.kill.kill()
            self.kill.wait()
            self.kill = None
            self.mark.touch()
        self.busy.release()

    def check(self, total):
        numbers = [done for done, _ in self.seen]
        equal(numbers, sorted(set(numbers)))
        equal({total for _, total in self.seen}, {total})
        equal(self.seen[-1], (total, total))
        equal(self.threads[-1], threading.get_ident())


@case
def sixty_four_captures_and_a_worker_that_dies(tool):
    modules()
    from dask_analysis import Waits
    paths, mark = many(tool.folder), tool.folder / "killed"
    with cluster(tool.folder, 2) as (client, workers):
        told = Told(workers[0], 20, mark)
        result = trackway.dask.run(Waits(paths[-1], mark), paths, client, progress=told)
        equal(workers[0].wait(), -9)
        equal(result.to_bytes(), one_process("profile", paths, calls=False))
        told.check(64 + 8 + 1)
        told = Told()
        result = trackway.dask.coverage(paths, client, fan_in=2, progress=told)
        equal(result.to_bytes(), one_process("coverage", paths))
        told.check(64 + 63)


@case
def progress_ends_with_all_of_them(tool):
    """The last call is (total, total), once, whichever thread is first; none comes after `run`; what it raises ends the job."""
    modules()
    with cluster(tool.folder, 1) as (client, _):
        for count in (1, 2, 9, 2, 1, 9) * 4:
            told = Told()
            trackway.dask.statistics([DEMO] * count, client, progress=told)
            calls = len(told.seen)
            told.check(count + {1: 0, 2: 1, 9: 2}[count])
            later, told_last = client.submit(int, pure=False), threading.Event()
            later.add_done_callback(lambda _, event=told_last: event.set())
            assert told_last.wait(60)  # what Dask had still to tell is behind us
            equal(len(told.seen), calls)

        class Enough(Exception):
            pass

        for limit in (1, 3, 11):
            seen = []

            def progress(done, total):
                seen.append(done)
                if done >= limit:
                    raise Enough(done)

            try:
                trackway.dask.statistics([DEMO] * 9, client, progress=progress)
            except Enough as error:
                equal(error.args, (seen[-1],))
            else:
                raise AssertionError("was swallowed")
            assert all(done < limit for done in seen[:-1]), seen
        equal(trackway.dask.statistics(DEMO, client).to_bytes(), one_process("statistics", [DEMO]))


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
        told = Told(workers[0], 3, tool.folder / "killed")
        got = trackway.dask.profile(large, client, calls=False, parts=9, fan_in=3, progress=told)
        equal(got.to_bytes(), one_process("profile", [large], calls=False))
        told.check(9 + 3 + 1)
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
        for kind in ("calls", "coverage"):
            steps = []
            equal(getattr(trackway.dask, kind)(DEMO, client, parts=5, fan_in=8, progress=lambda *step: steps.append(step)).to_bytes(),
                  one_process(kind, [DEMO]), f"{kind} in parts")
            equal(steps[-1], (6, 6), f"tasks of {kind}")
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
