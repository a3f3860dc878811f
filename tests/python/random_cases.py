# SPDX-License-Identifier: BSD-2-Clause
"""Uses in any order: batches kept long, runs closed in the middle, exceptions, threads. Nothing dangles."""
import gc
import os
import random
import threading

import trackway
from captures import some
from harness import case

SEED = 0x7079


def use(chance, captures, kept):
    """One random use of the package."""
    path, options = chance.choice(captures)
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
                use(chance, some(), kept)
        except Exception as problem:  # pylint: disable=broad-except
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(SEED + i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems
