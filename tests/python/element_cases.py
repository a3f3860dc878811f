# SPDX-License-Identifier: BSD-2-Clause
"""Elements and packets: what the program lists, without a copy, and safe for as long as anyone looks."""
import ctypes
import gc
import os
import re
import threading

import numpy
import trackway
from captures import DEMO, lines, some, words_of
from harness import case, equal


def texts_of(capture, **filters):
    out = []
    for part in capture.run(keep_failed=True, **filters):
        for element in part.elements if len(part) else ():
            out.append(" ".join(trackway.text(element, part.id).split()))
    return out


@case
def elements_are_those_of_the_program(tool):
    for path, options in some():
        counts = {}
        with trackway.open(path, **options) as capture:
            for part in capture.run():
                if not len(part):
                    continue
                elements = part.elements
                equal(elements.dtype.itemsize, 32)
                ranges = elements["type"] == trackway.INSTR_RANGE
                key = part.buffer, part.id
                counts[key] = counts.get(key, 0) + int(elements["count"][ranges].sum())
        listed = {}
        for line in lines(tool, "stats", path, "--format", "jsonl", *words_of(options), status=None):
            if "instructions" in line and "id" in line:
                listed[int(str(line["id"]), 0)] = listed.get(int(str(line["id"]), 0), 0) + line["instructions"]
        summed = {}
        for (_, number), count in counts.items():
            summed[number] = summed.get(number, 0) + count
        equal({k: v for k, v in summed.items() if v}, {k: v for k, v in listed.items() if v}, str(path))


@case
def packets_are_those_of_the_program(tool):
    with trackway.open(DEMO) as capture:
        got = list(capture.packets())
    want = lines(tool, "packets", DEMO, "--format", "jsonl")
    want = [line for line in want if "t" in line and "i" in line]
    equal(len(got), len(want))
    for ours, theirs in zip(got, want):
        equal(ours["t"], theirs["t"])
        equal(ours["i"], theirs["i"])
        equal(ours["b"].hex(), theirs["b"])


@case
def batches_that_are_kept_stay_as_they_were(tool):
    for path, options in some():
        capture = trackway.open(path, **options)
        for order in ("capture", "time"):
            run = capture.run(order=order, threads=2)
            kept = [(part.elements, part.elements.tobytes(), part.comm) for part in run if len(part)]
            run.close()
            del run
            gc.collect()
            for array, copy, _ in kept:
                assert array.tobytes() == copy, f"{path}: a batch has changed"
        capture.close()
        del capture
        gc.collect()
        for array, copy, _ in kept:
            assert array.tobytes() == copy, f"{path}: a batch has changed after all was closed"


@case
def arrays_are_views_that_cannot_be_written_to(tool):
    with trackway.open(DEMO) as capture:
        part = next(part for part in capture.run() if len(part))
    array = part.elements
    assert array.base is not None and not array.flags.writeable and not array.flags.owndata
    equal(memoryview(part).nbytes, 32 * len(part))
    address = numpy.frombuffer(memoryview(part), dtype="u1").ctypes.data
    equal(array.ctypes.data, address, "the array lies where the library's elements lie")


@case
def a_filter_says_the_same_of_what_is_left(tool):
    with trackway.open(DEMO) as capture:
        everything = capture.elements()
        name = capture.calls().rows[2]["name"]
        some_of_it = capture.elements(functions=name)
        assert 0 < len(some_of_it) < len(everything)
        rows = {row["name"]: row["self"] for row in capture.calls().rows}
        inside = some_of_it[some_of_it["type"] == trackway.INSTR_RANGE]
        assert int(inside["count"].sum()) >= rows[name]
        equal(len(capture.elements(ids=[1])), 0)
        equal(capture.elements(instructions=(0, 100))["count"].size > 0, True)


@case
def seeking_begins_where_it_is_asked_to(tool):
    with trackway.open(DEMO) as capture:
        everything = capture.elements()
        run = capture.run()
        run.seek(offset=1000)
        rest = trackway.concatenate(run)
    assert 0 < len(rest) < len(everything)
    equal(rest.tobytes(), everything[-len(rest):].tobytes())


@case
def mistakes_are_exceptions_that_say_what_is_wrong(tool):
    def fails(error, text, function, *arguments, **keywords):
        try:
            function(*arguments, **keywords)
        except error as problem:
            assert text in str(problem), f"{problem!r} says nothing of {text!r}"
        else:
            raise AssertionError(f"no {error.__name__} about {text!r}")

    fails(trackway.Error, "No such file", trackway.open, "/nonexist")
    fails(TypeError, "nonsense", trackway.open, DEMO, nonsense=1)
    capture = trackway.open(DEMO)
    fails(TypeError, "colour", capture.run, colour="red")
    fails(ValueError, "order", capture.run, order="random")
    fails(ValueError, "trace ID", capture.run, ids=[200])
    fails(ValueError, "format", capture.calls().export, "nonsense")
    fails(ValueError, "by", capture.profile, by="moon")
    run = capture.run()
    run.close()
    fails(ValueError, "closed", next, run)
    capture.close()
    fails(ValueError, "closed", capture.run)
    try:
        trackway.open("/nonexist")
    except trackway.Error as problem:
        equal(problem.status, "TW_E_FILE")


@case
def a_run_is_used_by_one_thread_at_a_time(tool):
    """Two threads on one run: each part goes to one of them, or the second is told."""
    with trackway.open(DEMO) as capture:
        run = capture.run()
        counts, problems = [], []

        def work():
            try:
                for part in run:
                    counts.append(len(part))
            except RuntimeError as problem:
                problems.append(str(problem))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all("another thread" in problem for problem in problems), problems
        equal(sum(counts), len(capture.elements()))


@case
def a_child_process_is_told_to_open_its_own(tool):
    capture = trackway.open(DEMO)
    run = capture.run(threads=2)
    next(run)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            next(run)
            answer = b"no exception"
        except RuntimeError as problem:
            answer = str(problem).encode()
        with trackway.open(DEMO) as own:
            answer += b"; %d" % len(own.elements())
        os.write(write, answer)
        os._exit(0)
    os.close(write)
    answer = os.read(read, 1000).decode()
    os.waitpid(child, 0)
    assert "fork" in answer and answer.endswith(str(len(capture.elements()))), answer


class Schema(ctypes.Structure):
    """ArrowSchema."""


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private", ctypes.c_void_p)]


class Array(ctypes.Structure):
    """ArrowArray."""


Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
                  ("private", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    """ArrowArrayStream."""


Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private", ctypes.c_void_p)]


def pointer_of(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, name), ctypes.POINTER(kind))


@case
def arrow_takes_a_part_without_a_copy(tool):
    with trackway.open(DEMO) as capture:
        part = next(part for part in capture.run() if len(part))
    schema, array = part.__arrow_c_array__()
    about = pointer_of(schema, b"arrow_schema", Schema).contents
    values = pointer_of(array, b"arrow_array", Array).contents
    equal(about.format, b"w:32")
    equal((values.length, values.n_buffers, values.null_count), (len(part), 2, 0))
    equal(values.buffers[1], part.elements.ctypes.data)
    want = part.elements.tobytes()
    del part
    gc.collect()
    equal(ctypes.string_at(values.buffers[1], 32 * values.length), want)
    values.release(ctypes.byref(values))
    assert not values.release


@case
def arrow_takes_columns_without_a_copy(tool):
    with trackway.open(DEMO) as capture:
        table = trackway.columns(capture.elements())
    capsule = table.__arrow_c_stream__()
    stream = pointer_of(capsule, b"arrow_array_stream", Stream).contents
    schema, array = Schema(), Array()
    equal(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
    equal(schema.format, b"+s")
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    equal(names, list(table))
    equal(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
    equal(array.length, len(table["index"]))
    for i, name in enumerate(names):
        equal(array.children[i].contents.buffers[1], table[name].ctypes.data, name)
    array.release(ctypes.byref(array))
    equal(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
    assert not array.release, "the stream has one batch"
    schema.release(ctypes.byref(schema))


@case
def tables_hold_what_the_elements_hold(tool):
    try:
        import pandas  # noqa: F401
    except ImportError:
        from harness import Skip
        raise Skip("no pandas (python3-pandas)") from None
    with trackway.open(DEMO) as capture:
        elements, table = capture.elements(), capture.to_pandas()
    equal(len(table), len(elements))
    for name in table.columns:
        assert (table[name].to_numpy() == elements[name]).all(), name


@case
def frames_come_apart_by_id(tool):
    with trackway.open(DEMO) as capture:
        data = bytes(capture.read(0))
        equal(len(data), capture.buffers[0]["size"])
    split = trackway.unframe(data)
    assert split[16], "the demo has one source"
    out = tool.folder / "out"
    tool.run("frames", DEMO, "--split", out, status=None)
    files = sorted(out.glob("*")) if out.is_dir() else []
    for path in files:
        if path.read_bytes() == split[16]:
            return
    raise AssertionError(f"no file of frames --split has the same bytes: {files}")


def executed(capture, **filters):
    """How many instructions the ranges of a run hold."""
    total = 0
    for part in capture.run(**filters):
        if len(part):
            total += int(part.elements["count"][part.elements["type"] == trackway.INSTR_RANGE].sum())
    return total


def filters_of(capture):
    """Filters of every kind that leave something of a capture, each with the program's words for it."""
    source = capture.sources[0]["name"]
    yield {"buffers": capture.buffers[0]["name"]}, ["--buffer", capture.buffers[0]["name"]]
    yield {"sources": [source]}, ["--source", source]
    yield {"ids": [capture.sources[0]["id"]]}, ["--id", str(capture.sources[0]["id"])]
    yield {"offsets": (1000, 9000)}, ["--from", "1000", "--to", "9000"]
    yield {"offsets": (None, 5000)}, ["--to", "5000"]
    yield {"instructions": (100, 5000)}, ["--from", "n:100", "--to", "n:5000"]
    yield {"part": (2, 3)}, ["--part", "2/3"]
    rows = [row for row in capture.profile(calls=False).rows if row["name"]]
    if rows:
        yield {"functions": rows[0]["name"]}, ["--function", rows[0]["name"]]
    starts = [part.elements["start"][part.elements["type"] == trackway.INSTR_RANGE] for part in capture.run() if len(part)]
    middle = int(numpy.median(numpy.concatenate(starts)))
    yield {"ranges": [(middle, middle + 256)]}, ["--range", f"{middle:#x}-{middle + 256:#x}"]
    who = next(((part.cpu, part.pid, part.tid, part.comm) for part in capture.run() if len(part) and part.pid), None)
    for name, value in zip(("cpu", "pid", "tid", "comm"), who or ()):
        yield {name + "s": [value]}, ["--" + name, str(value)]


@case
def filters_are_those_of_the_program(tool):
    seen = set()
    captures = [one for one in some() if "coresight" not in str(one[0])]
    for path, options in captures[:3]:
        with trackway.open(path, **options) as capture:
            whole = executed(capture)
            for filters, words in filters_of(capture):
                said = tool.run("profile", path, "--self", *words_of(options), *words, status=None).err
                got = executed(capture, **filters)
                equal(got, int(re.search(r"(\d+) instructions: ", said).group(1)), (str(path), filters))
                assert got <= whole
                seen.update(filters)
    least = {"buffers", "sources", "ids", "offsets", "instructions", "part", "functions", "ranges"}
    equal(least - seen, set())
    if len(captures) > 1:
        equal({"cpus", "pids", "tids", "comms"} - seen, set())
