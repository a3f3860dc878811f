# SPDX-License-Identifier: BSD-2-Clause
"""A second witness: AArch64 programs that count for themselves (--coverage), recorded by trackway record while they do.
What gcov says of a run is what the trace of the same run must say."""
import json
import pathlib
import shutil
import subprocess

from harness import Skip

COMPILER, GCOV = "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcov"


def do(words, folder):
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=300)
    assert done.returncode == 0, (words, done.stderr[-2000:])
    return done.stdout


def need_recorder(tool):
    for program in (COMPILER, GCOV, "qemu-aarch64"):
        if not shutil.which(program):
            raise Skip(f"no {program}")
    if not (pathlib.Path(tool.program).parent / "trackway-qemu.so").exists():
        raise Skip("this build has no plug-in for QEMU")


def record(tool, source, *options, arguments=()):
    """Builds a program (C source, compiler options), runs it under trackway record: leaves it.elf and perf.data in the
    tool's folder.  Gives what gcov says of each source file: its JSON."""
    need_recorder(tool)
    tool.write("it.c", source)
    do([COMPILER, "-g", "-static", "--coverage", *options, "it.c", "-o", "it.elf"], tool.folder)
    for old in tool.folder.glob("*.gcda"):
        old.unlink()
    tool.run("record", "-o", "perf.data", "--force", "--", "./it.elf", *arguments)
    assert list(tool.folder.glob("*.gcda")), "the program kept no counts"
    text = do([GCOV, "--json-format", "--stdout", "it.elf-it.c"], tool.folder)
    return json.loads(text)["files"]
