# SPDX-License-Identifier: BSD-2-Clause
"""Uses in any order: batches kept long, runs closed in the middle, exceptions, threads. Nothing dangles."""
import ctypes
import gc
import os
import random
import threading

import encode_cases
import trackway
from captures import DEMO, some
from harness import Skip, case

SEED = 0x7079


def in_a_child(run, packets, kept):
    """What was made before a fork says so after it; arrays that are kept stay as they are."""
    child = os.fork()
    if child == 0:
        good = all(array.tobytes() == copy for array, copy in kept[-3:])
        for made in (run, packets):
            try:
                next(made)
                good = False
            except (RuntimeError, ValueError):
                pass
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0, "a child went wrong"


class Trouble:
    """An analysis whose take fails now and then."""

    def __init__(self, chance):
        self.chance, self.parts = chance, 0

    def take(self, part):
        self.parts += 1
        if self.chance.random() < 0.1:
            raise KeyError("in a callback")

    def add(self, other):
        self.parts += other.parts


def unit_use(chance):
    """Units that are finished or not, fail or not, and outlive the image that they were given."""
    image = trackway.Image()
    if chance.random() < 0.5:
        image.add(DEMO / "recur.elf")
    protocol, text = chance.choice([*encode_cases.OWN.items(), ("itm", encode_cases.M), ("stm", encode_cases.M)])
    log = text.encode()
    if chance.random() < 0.5:
        at = chance.randrange(len(log))
        log = log[:at] + bytes([chance.randrange(256)]) * chance.randrange(3) + log[at + chance.randrange(3):]
    unit = trackway.Unit(protocol, image=image)
    del image
    try:
        for _ in range(chance.randrange(3)):
            unit.log(log)
        if chance.random() < 0.7:
            made = unit.finish()
            del unit
            assert isinstance(made["data"], bytes)
    except trackway.Error:
        pass
    if chance.random() < 0.5:
        itm = trackway.ItmUnit()
        itm.write(chance.randrange(256), chance.randrange(1 << 32))
        trackway.unframe(trackway.frame({1: itm.take()}))


def other_use(chance, path, options, forks, what=None):
    """Packets, results, callbacks that fail."""
    what = chance.randrange(6) if what is None else what
    if what == 5:
        unit_use(chance)
        return
    with trackway.open(path, **options) as capture:
        packets = capture.packets()
        for number, packet in enumerate(packets):
            if number > 50:
                break
        if what == 0:
            run = capture.run()
            next(run, None)
            if forks:
                in_a_child(run, packets, [])
        elif what == 1:
            one = capture.coverage()
            one += trackway.Coverage.from_bytes(one.to_bytes())
        elif what == 2:
            capture.close()
            next(packets, None)
        elif what == 3:
            part = next((part for part in capture.run(batch=chance.randrange(64, 9000)) if len(part)), None)
            if part is not None:
                view = memoryview(part)
                del part, packets
                gc.collect()
                bytes(view[:32])
    if what == 4:
        trackway.analyse(lambda: Trouble(chance), [path], options)


def use(chance, captures, kept, forks=True):
    """One random use of the package."""
    path, options = chance.choice(captures)
    if chance.random() < 0.2:
        try:
            other_use(chance, path, options, forks)
        except KeyError:
            pass
        return
    capture = trackway.open(path, **options)
    run = capture.run(threads=chance.randrange(1, 3), order=chance.choice(("capture", "time")),
                      not_after=chance.random() < 0.2)
    if chance.random() < 0.3:
        capture.close()
    try:
        for number, part in enumerate(run):
            if chance.random() < 0.2 and len(part):
                array = part.elements
                kept.append((array, array.tobytes()))
            if chance.random() < 0.02:
                raise KeyError("an exception in the middle")
            if chance.random() < 0.02:
                run.close()
            if number > 200:
                break
    except (KeyError, ValueError):
        pass
    while len(kept) > 300:
        array, copy = kept.pop(chance.randrange(len(kept)))
        assert array.tobytes() == copy, "a batch that was kept has changed"
    if chance.random() < 0.1:
        gc.collect()


@case
def any_use_leaves_everything_as_it_was(tool):
    rounds = 10000 if os.environ.get("TW_TEST_FULL") else 300
    chance = random.Random(SEED)
    print(f"seed {SEED}, {rounds} rounds")
    captures = some()
    kept = []
    for _ in range(rounds):
        use(chance, captures, kept)
    for array, copy in kept:
        assert array.tobytes() == copy


@case
def any_use_on_several_threads(tool):
    rounds = 1000 if os.environ.get("TW_TEST_FULL") else 30
    problems = []

    def work(seed):
        chance, kept = random.Random(seed), []
        try:
            for _ in range(rounds):
                use(chance, some(), kept, forks=False)
        except Exception as problem:  # pylint: disable=broad-except
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(SEED + i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems


def resident():
    """Memory of this process, in KiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def taken():
    """Bytes that malloc gave and did not get back."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        raise Skip("no mallinfo2")
    library.mallinfo2.restype = Mallinfo
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


@case
def every_byte_is_given_back(tool):
    """What malloc gave is the same after many uses of each kind, but for caches of the interpreter."""
    if os.environ.get("LD_PRELOAD"):
        raise Skip("a sanitizer has its own malloc")
    captures = some()[:2]
    for kind in range(7):
        chance = random.Random(SEED + kind)

        def uses(count):
            for _ in range(count):
                if kind == 6:
                    use(chance, captures, [], forks=False)
                    continue
                try:
                    other_use(chance, *captures[0], False, kind)
                except KeyError:
                    pass
            gc.collect()
            return taken()

        # Threads that other cases left behind (Dask's) take memory, too, now and then; a leak grows each time.
        counts = [uses(count) for count in (10, 10, 40, 40, 40)]
        grown = min(after - before for before, after in zip(counts[1:], counts[2:]))
        assert grown < 10 << 10, f"{grown} bytes more after 40 uses of kind {kind}"


@case
def nothing_leaks(tool):
    """Memory does not grow with the number of uses."""
    rounds = 1000 if os.environ.get("TW_TEST_FULL") else 60
    if os.environ.get("LD_PRELOAD"):
        raise Skip("sanitizers keep what is freed")
    chance, captures = random.Random(SEED + 9), some()[:4]
    for _ in range(rounds):
        use(chance, captures, [], forks=False)
    gc.collect()
    before = resident()
    for _ in range(2 * rounds):
        use(chance, captures, [], forks=False)
    gc.collect()
    grown = resident() - before
    assert grown < 24 << 10, f"{grown} KiB more after {2 * rounds} uses"
