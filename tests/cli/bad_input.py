# SPDX-License-Identifier: BSD-2-Clause
"""Snapshots with something wrong: refused in one clear line, or opened with a warning."""
from harness import add_case, case, equal

FILES = {
    "snapshot.ini": "[snapshot]\nversion=1.0\n\n[device_list]\ndevice0=cpu_0.ini\n"
                    "device1=etm_0.ini\n\n[trace]\nmetadata=trace.ini\n",
    "cpu_0.ini": "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n\n[dump1]\nfile=code.bin\n"
                 "address=0x4000\nlength=0x20\n",
    "etm_0.ini": "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4.0\n\n[regs]\n"
                 "TRCTRACEIDR(0x010)=0x10\nTRCIDR0=0x28000ea1\n",
    "trace.ini": "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=ETB_0\nfile=etb.bin\n"
                 "format=coresight\n\n[source_buffers]\nETM_0=ETB_0\n\n"
                 "[core_trace_sources]\ncpu_0=ETM_0\n",
    "code.bin": bytes(32),
    "etb.bin": bytes(64),
}


def write(tool, **changes):
    """The good snapshot with some files changed; a file of None is left out."""
    files = dict(FILES)
    files.update({name.replace("__", "."): content for name, content in changes.items()})
    for name, content in files.items():
        if content is not None:
            tool.write(f"snap/{name}", content)


def changed(name, old, new):
    assert old in FILES[name]
    return {name.replace(".", "__"): FILES[name].replace(old, new)}


# What is changed, and words that the one line must hold.
REFUSED = {
    "missing_snapshot_ini": ({"snapshot__ini": None}, ["snap"]),
    "missing_trace_ini": ({"trace__ini": None}, ["trace.ini"]),
    "missing_trace_file": ({"etb__bin": None}, ["trace.ini", "etb.bin"]),
    "wrong_version": (changed("snapshot.ini", "version=1.0", "version=9.0"),
                      ["snapshot.ini", ":2", "9.0"]),
    "no_version": (changed("snapshot.ini", "version=1.0\n", ""), ["snapshot.ini", "version"]),
    "absolute_path": (changed("trace.ini", "file=etb.bin", "file=/etc/hostname"),
                      ["trace.ini", "/etc/hostname"]),
    "absolute_device": (changed("snapshot.ini", "device0=cpu_0.ini", "device0=/etc/hostname"),
                        ["snapshot.ini", "/etc/hostname"]),
    "register_that_is_no_number": (changed("etm_0.ini", "=0x28000ea1", "=0x28zz"),
                                   ["etm_0.ini", ":8", "TRCIDR0"]),
    "two_devices_of_one_name": (changed("etm_0.ini", "name=ETM_0", "name=cpu_0"),
                                ["etm_0.ini", "cpu_0"]),
    "two_buffers_of_one_name": (
        {"trace__ini": FILES["trace.ini"].replace("buffers=buffer0", "buffers=buffer0,buffer1")
         + "\n[buffer1]\nname=ETB_0\nfile=etb.bin\nformat=coresight\n"},
        ["trace.ini", "ETB_0"]),
    "equal_keys_in_device_list": (changed("snapshot.ini", "device1=", "device0="),
                                  ["snapshot.ini", ":6", "device0"]),
    "path_that_leads_outside": (changed("trace.ini", "file=etb.bin", "file=../../etc/passwd"),
                                ["trace.ini", "../../etc/passwd"]),
}


def refuse(name):
    changes, words = REFUSED[name]

    def run(tool):
        write(tool, **changes)
        for command in ["info", "frames", "packets", "decode"]:
            done = tool.run(command, "snap", "-o", "out.txt", status=3)
            equal(done.out, "")
            equal(done.err.count("\n"), 1, done.err)
            assert done.err.startswith("trackway: "), done.err
            for word in words:
                assert word in done.err, f"no {word} in: {done.err}"
            assert not (tool.folder / "out.txt").exists()

    return run


for each in REFUSED:
    add_case(f"refused_{each}", refuse(each))


@case
def the_good_snapshot_opens_without_a_word(tool):
    write(tool)
    equal(tool.run("info", "snap").err, "")


def warned(tool, word):
    done = tool.run("info", "snap")
    assert done.err.startswith("trackway: warning: ") and word in done.err, done.err
    equal(tool.run("info", "snap", "-q").err, "")
    return done


@case
def missing_device_file_is_a_warning(tool):
    write(tool, etm_0__ini=None)
    equal(warned(tool, "etm_0.ini").err.count("etm_0.ini"), 2)


@case
def missing_dump_is_a_warning(tool):
    write(tool, code__bin=None)
    assert "ETM_0" in warned(tool, "code.bin").out


@case
def short_dump_is_a_warning(tool):
    write(tool, code__bin=bytes(16))
    assert "16 bytes" in warned(tool, "code.bin").out


@case
def outside_is_allowed_when_asked_for(tool):
    write(tool, **changed("trace.ini", "file=etb.bin", "file=../etb.bin"))
    tool.write("etb.bin", bytes(64))
    tool.run("info", "snap", status=3)
    tool.run("info", "snap", "--allow-outside")


@case
def repeated_core_trace_sources_are_legal(tool):
    write(tool, trace__ini=FILES["trace.ini"] + "cpu_0=ETM_0\n")
    equal(tool.run("info", "snap").err, "")


@case
def a_trailing_comma_in_buffers_is_legal(tool):
    write(tool, **changed("trace.ini", "buffers=buffer0", "buffers=buffer0,"))
    equal(tool.run("info", "snap").err, "")


@case
def broken_bytes_in_the_ini_files_never_crash(tool):
    write(tool)
    for name in ["snapshot.ini", "trace.ini", "etm_0.ini", "cpu_0.ini"]:
        whole = FILES[name].encode()
        for size in range(0, len(whole), 7):
            tool.write(f"snap/{name}", whole[:size])
            tool.run("info", "snap", status=None)
        for at in range(0, len(whole), 5):
            tool.write(f"snap/{name}", whole[:at] + b"\xff\x00=[" + whole[at + 1:])
            tool.run("info", "snap", status=None)
        tool.write(f"snap/{name}", whole)
