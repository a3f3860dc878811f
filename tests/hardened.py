#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is installed is hard to attack, and the same bytes wherever it is built: looks at the files of an optimised build, and
compiles some of them once more in another folder (TW_TEST_FULL: all of them, and what is installed).  usage: hardened.py PROGRAM"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
from harness import ROOT, case  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve().parent if len(sys.argv) > 1 else pathlib.Path()
# Of each folder that is installed, with assertions, strings and names of the library's own.
SAMPLE = ["src/registry.c", "src/etmv4/queue.c", "src/base/platform.c", "tool/main.c", "qemu/maps.c", "python/core/arrow.c",
          "compat/opencsd/log.c"]


def files():
    """What is installed and holds code, as far as it is built here."""
    names = ["trackway", "src/libtrackway.so", "trackway-qemu.so", "python/trackway/_core.abi3.so",
             "compat/opencsd/lib/libopencsd_c_api.so"]
    return [BUILD / name for name in names if (BUILD / name).exists()]


def readelf(path, *options):
    done = subprocess.run(["readelf", "-W", *options, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return done.stdout.decode("utf-8", "replace")


def cache():
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([A-Za-z0-9_]+):[A-Z]+=(.*)$", text, re.M))


def compiler_takes(flag):
    return cache().get("TW_COMPILER_TAKES" + re.sub("[^a-z]", "_", flag)) == "1"


@case
def nothing_of_a_program_is_both_written_and_run(_):
    assert len(files()) >= 2
    for path in files():
        header, segments, dynamic = readelf(path, "-h"), readelf(path, "-l"), readelf(path, "-d")
        assert re.search(r"Type:\s+DYN", header), f"{path} is bound to an address"
        assert "GNU_RELRO" in segments, f"{path}: no RELRO"
        assert re.search(r"GNU_STACK.* RW ", segments), f"{path}: its stack can be run"
        assert not re.search(r"LOAD .* RWE ", segments), f"{path}: a segment is written and run"
        # The plug-in is loaded into shells that start QEMU, too, where what QEMU offers is not to be found.
        is_lazy = path.name == "trackway-qemu.so"
        assert bool(re.search(r"BIND_NOW|Flags:.* NOW", dynamic)) != is_lazy, f"{path}: bound when called, or when loaded"
        assert "TEXTREL" not in dynamic, path


@case
def stacks_have_canaries_and_copies_are_checked(_):
    for path in files():
        if not compiler_takes("-fstack-protector-strong"):
            raise harness.Skip("no stack protector")
        symbols = readelf(path, "--dyn-syms")
        assert "__stack_chk_fail" in symbols, f"{path}: no canaries"
        if path.name in ("trackway", "libtrackway.so"):
            assert re.search(r"__\w+_chk\b(?<!stack_chk)", symbols.replace("__stack_chk_fail", "")), f"{path}: not fortified"


@case
def every_object_of_the_library_knows_where_calls_land(_):
    if not compiler_takes("-fcf-protection"):
        raise harness.Skip("another machine than x86")
    notes = readelf(BUILD / "src/libtrackway.a", "-n")
    objects = notes.count("File: ")
    assert objects > 100 and notes.count("IBT, SHSTK") == objects, f"{notes.count('IBT, SHSTK')} of {objects}"


@case
def no_file_tells_where_it_was_built(_):
    for path in [*files(), BUILD / "src/libtrackway.a"]:
        content = path.read_bytes()
        for place in (ROOT, BUILD):
            assert os.fsencode(place) + b"/" not in content, f"{path} names {place}"
        assert not re.search(r"\((RPATH|RUNPATH)\).*\[[^$]", readelf(path, "-d")), f"{path}: a path to libraries"


def copy_of_the_sources(folder):
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"], check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().split("\n")
    names = [n for n in names if n and not n.startswith(("fuzz/corpus", "tests/", "docs/conf"))]
    if not names:
        raise harness.Skip("no git: what belongs to the sources is not known")
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def environment():
    """Nothing from a compiler's cache, which may have it from another folder."""
    return {**{n: v for n, v in os.environ.items() if n != "CMAKE_C_COMPILER_LAUNCHER"}, "CCACHE_DISABLE": "1"}


def run(line, **more):
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), check=False, **more)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]


def configure_again(folder):
    """The same configuration in another folder."""
    words = [f"-D{name}={value}" for name, value in cache().items()
             if re.fullmatch(r"TW_(WITH_\w+|OPENCSD_COMPAT|QEMU_PLUGIN|PYTHON_PACKAGE|HARDEN)|CMAKE_BUILD_TYPE|CMAKE_C_COMPILER|"
                             r"CMAKE_C_FLAGS|CMAKE_INSTALL_PREFIX|Python3_EXECUTABLE", name) and value]
    copy_of_the_sources(folder)
    run(["cmake", "-G", "Ninja", "-S", str(folder), "-B", str(folder / "elsewhere"), "-DTW_TESTS=OFF", *words])
    return folder / "elsewhere"


def compiled(build, source, out):
    """The bytes of an object, made by the line that the build has for it."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"] == str(source):
            words = shlex.split(entry["command"])
            words[words.index("-o") + 1] = str(out)
            run(words, cwd=entry["directory"])
            return out.read_bytes()
    return None


@case
def objects_are_the_same_bytes_in_another_folder(tool):
    with tempfile.TemporaryDirectory(prefix="a-folder-with-a-longer-name-") as name:
        folder = pathlib.Path(name).resolve()
        again, count = configure_again(folder), 0
        for source in SAMPLE:
            first = compiled(BUILD, ROOT / source, tool.folder / "a.o")
            if first is not None:
                assert first == compiled(again, folder / source, folder / "b.o"), f"{source} differs"
                count += 1
        assert count >= 4, count


def installed(build, root):
    subprocess.run(["cmake", "--install", str(build), "--prefix", "/usr"], env={**os.environ, "DESTDIR": str(root)}, check=True,
                   stdout=subprocess.DEVNULL)
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


@case
def what_is_installed_is_the_same_bytes_in_another_folder(_):
    if "TW_TEST_FULL" not in os.environ:
        raise harness.Skip("all of it: TW_TEST_FULL")
    with tempfile.TemporaryDirectory() as short, tempfile.TemporaryDirectory(prefix="a-folder-with-a-longer-name-") as long:
        both = []
        folders = [pathlib.Path(short).resolve(), pathlib.Path(long).resolve()]
        # Both first: building takes long, and someone may change the sources meanwhile.
        for folder, built in [(folder, configure_again(folder)) for folder in folders]:
            run(["cmake", "--build", str(built)])
            both.append(installed(built, folder / "root"))
        first, second = both
        assert len(first) > 100 and first.keys() == second.keys(), sorted(first.keys() ^ second.keys())[:10]
        assert not [n for n in first if first[n] != second[n]], [n for n in first if first[n] != second[n]][:10]


if __name__ == "__main__":
    sys.exit(harness.main())
