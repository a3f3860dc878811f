# SPDX-License-Identifier: BSD-2-Clause
"""--plugin: protocols from a shared object (examples/plugin.c), and ranges that repeat."""
import json
import pathlib
import shutil
import subprocess

from harness import ROOT, Skip, case, equal

# At 0x4000: nop; cbz x0, 0x4000; nop; ret.
CODE = bytes.fromhex("1f2003d5e0ffffb41f2003d5c0035fd6")


def go(address):
    return b"G" + address.to_bytes(4, "little")


def rounds(count):
    return b"R" + count.to_bytes(2, "little")


def lap(tool, trace, name="lap.bin"):
    """The words that open a trace of laps."""
    plugin = pathlib.Path(tool.program).parent / "examples" / "lap.so"
    if not plugin.exists():
        raise Skip("no examples/lap.so in this build")
    tool.write(name, trace)
    tool.write("code.bin", CODE)
    return [name, "--plugin", plugin, "--protocol", "lap", "--image", "code.bin@0x4000"]


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


# [CSD 2.1.5/10]
@case
def a_plugin_is_packets_and_elements(tool):
    words = lap(tool, go(0x4000) + b"TN" + rounds(2))
    equal([r["t"] for r in rows(tool.run("packets", *words[:-2], "--format", "jsonl"))],
          ["GO", "TAKEN", "NOT_TAKEN", "ROUND"])
    found = rows(tool.run("decode", *words, "--format", "jsonl"))
    equal([r["t"] for r in found], ["NO_SYNC"] + 3 * ["INSTR_RANGE"] + ["REPEAT", "EO_TRACE"])
    found = rows(tool.run("decode", *lap(tool, go(0x4000) + b"T" + rounds(65535)), "--format", "jsonl"))
    equal(found[3], {"i": 6, "id": 0, "t": "REPEAT", "k": 1, "n": 65535})
    info = tool.run("info", *words).out
    assert "lap" in info, info
    equal(tool.run("stats", *words, "--format", "jsonl").err, "")


@case
def a_plugin_can_be_indexed(tool):
    words = lap(tool, (go(0x4000) + 100 * b"T") * 100)
    tool.run("index", "build", *words[:-2])
    shown = tool.run("index", "show", *words[:-2], "--format", "jsonl")
    stream = next(r for r in rows(shown) if r["t"] == "STREAM")
    equal((stream["protocol"], stream["SYNC"]), ("lap", 100))
    whole = rows(tool.run("decode", *words, "--format", "jsonl"))
    part = rows(tool.run("decode", *words, "--format", "jsonl", "--at", "sync:50"))
    wanted = [r for r in whole if r["i"] >= 49 * 105]
    equal(part[-len(wanted):], wanted)
    equal(len(part), len(wanted))


@case
def repeated_ranges_are_counted(tool):
    words = lap(tool, go(0x4000) + rounds(65535) + rounds(9) + b"N")
    stats = rows(tool.run("stats", *words, "--format", "jsonl"))
    source = next(r for r in stats if "instructions" in r)
    equal(source["instructions"], 2 * (65536 + 10 + 1))


@case
def path_pcs_and_runs_list_repeated_ranges(tool):
    words = lap(tool, go(0x4000) + rounds(3) + b"N" + go(0x4000) + b"N")
    run, last = "R 4000 4004 2\n", "R 4000 4004 2\n"
    equal(tool.run("decode", *words, "--format", "path").out, 4 * run + 2 * last)
    equal(tool.run("decode", *words, "--format", "pcs").out, 6 * "4000\n4004\n")
    found = rows(tool.run("decode", *words, "--instructions", "--format", "jsonl"))
    equal([r["t"] for r in found], ["NO_SYNC"] + 12 * ["INSTR"] + ["EO_TRACE"])


@case
def the_limit_of_repeats_is_said(tool):
    words = lap(tool, go(0x4000) + rounds(1000) + b"N") + ["--opt", "repeat-limit=10"]
    for listing, one in (("path", "R 4000 4004 2\n"), ("pcs", "4000\n4004\n")):
        done = tool.run("decode", *words, "--format", listing)
        equal(done.out, 11 * one + "# the last 1 ranges 990 more times\n" + one)
        assert "990 repeated ranges are not listed; --opt repeat-limit=N" in done.err, done.err
    found = rows(tool.run("decode", *words, "--instructions", "--format", "jsonl"))
    equal([r["t"] for r in found], ["NO_SYNC"] + 22 * ["INSTR"] + ["REPEAT"] + 2 * ["INSTR"] + ["EO_TRACE"])
    equal(found[23]["n"], 990)
    equal(tool.run("decode", *words, "-q", "--format", "path").err, "")
    # Without --opt a few bytes of trace give no more than four million lines and some.
    words = lap(tool, go(0x4000) + 100 * rounds(65535))
    done = tool.run("decode", *words, "--format", "path")
    assert 4194304 < done.out.count("\n") < 5000000
    assert "repeated ranges are not listed" in done.err


@case
def plugins_that_cannot_be_are_refused(tool):
    words = lap(tool, go(0x4000))
    rest = words[:1] + words[3:]
    done = tool.run("decode", *rest, "--plugin", "nowhere.so", status=3)
    assert "nowhere.so" in done.err, done.err
    done = tool.run("decode", *rest, "--plugin", "code.bin", status=3)
    assert done.err.startswith("trackway: --plugin: "), done.err
    # The same twice is two protocols of one name.
    done = tool.run("decode", *words, "--plugin", words[2], status=3)
    assert "there is a protocol 'lap' already" in done.err, done.err
    done = tool.run("decode", *rest, status=2)
    assert 'there is no protocol "lap"' in done.err, done.err


@case
def plugins_of_another_interface_are_refused(tool):
    words = lap(tool, go(0x4000))
    compiler = shutil.which("cc")
    if not compiler:
        raise Skip("no compiler")

    def refused(name, text):
        source = tool.write(name + ".c", "#include <trackway/plugin.h>\n" + text)
        subprocess.run([compiler, "-shared", "-fPIC", "-I", ROOT / "include", "-o",
                        tool.folder / (name + ".so"), source], check=True)
        # A name alone is that of a file here.
        return tool.run("decode", words[0], "--plugin", name + ".so", "--protocol", "lap", status=3).err

    older = """const struct tw_plugin *trackway_plugin(void)
    { static struct tw_plugin p = { sizeof p, TW_PLUGIN_INTERFACE - 1, "old", 0, 0 }; return &p; }"""
    assert "old.so: the plug-in was built for interface 1, this is 2: build it again" in refused("old", older)
    assert "no plug-in: it has no function trackway_plugin" in refused("none", "int x;")
    assert "refuses" in refused("null", "const struct tw_plugin *trackway_plugin(void) { return 0; }")
    assert "brings no protocol" in refused("empty", older.replace("- 1", "+ 0"))
    assert "not complete" in refused("half", """
    static const struct tw_custom_protocol half = { .size = sizeof half, .name = "lap" };
    static const struct tw_custom_protocol *const all[] = { &half };
    const struct tw_plugin *trackway_plugin(void)
    { static struct tw_plugin p = { sizeof p, TW_PLUGIN_INTERFACE, "half", all, 1 }; return &p; }""")


@case
def a_snapshot_has_no_name_for_a_plugins_protocol(tool):
    """The trace is copied, and it is said what is left out."""
    words = lap(tool, go(0x4000) + b"TT")
    done = tool.run("snapshot", "--from", *words, "-o", "out")
    assert "is left out: a snapshot has no name for its protocol" in done.err, done.err
