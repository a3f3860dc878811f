# SPDX-License-Identifier: BSD-2-Clause
"""A second witness: AArch64 programs that count for themselves (--coverage), recorded by trackway record while they do.
What gcov says of a run is what the trace of the same run must say."""
import json
import shutil
import subprocess

from harness import Skip

COMPILER, GCOV = "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcov"


def do(words, folder):
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=300)
    assert done.returncode == 0, (words, done.stderr[-2000:])
    return done.stdout


def record(tool, source, *options, arguments=()):
    """Builds a program (C source, compiler options), runs it under trackway record: leaves it.elf and perf.data in the
    tool's folder.  Gives what gcov says of each source file: its JSON."""
    for program in (COMPILER, GCOV, "qemu-aarch64"):
        if not shutil.which(program):
            raise Skip(f"no {program}")
    tool.write("it.c", source)
    do([COMPILER, "-g", "-static", "--coverage", *options, "it.c", "-o", "it.elf"], tool.folder)
    for old in tool.folder.glob("*.gcda"):
        old.unlink()
    tool.run("record", "-o", "perf.data", "--force", "--", "./it.elf", *arguments)
    assert list(tool.folder.glob("*.gcda")), "the program kept no counts"
    text = do([GCOV, "--json-format", "--stdout", "it.elf-it.c"], tool.folder)
    return json.loads(text)["files"]
