# SPDX-License-Identifier: BSD-2-Clause
"""The page that needs no server: it reads ELF files as the tool does, and says of every snapshot and perf.data of the corpora what the tool says,
byte by byte.  The page is built and opened in the full run alone; without emscripten or a browser the cases are skipped."""
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess

from browser_cases import browser
from harness import ROOT, Skip, add_case, case, corpus, equal
from report_cases import DEMO

FULL = bool(os.environ.get("TW_TEST_FULL"))


@case
def static_page_reads_elf_files_of_any_kind(tool):
    """The reader alone: what binutils say of good ones, and nothing worse than less of damaged ones."""
    if os.environ.get("TW_SANITIZED"):
        raise Skip("the tool has no part in it: once is enough")
    if not shutil.which("node") or not shutil.which("readelf"):
        raise Skip("no node, or no readelf")
    names = [DEMO / "recur.elf", *sorted((ROOT / "tests" / "captures").glob("**/*.elf"))][:8]
    try:
        names += sorted(path for path in (corpus() / "perf" / "root").glob("**/*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF")[:6]
    except Skip:
        pass
    spec = []
    for name in names:
        said = subprocess.run(["readelf", "-lSn", "--wide", name], stdout=subprocess.PIPE, check=True, stderr=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C")).stdout.decode("utf-8", "replace")
        loads = [[int(word, 16) for word in found] for found in re.findall(r"^  LOAD +0x(\w+) 0x(\w+) 0x(\w+) 0x(\w+) 0x(\w+)", said, re.M)]
        identity = re.search(r"Build ID: (\w+)", said)
        symbols = re.findall(r"contains (\d+) entr", subprocess.run(["readelf", "-s", "--wide", name], stdout=subprocess.PIPE, check=True, stderr=subprocess.DEVNULL,
                                                               env=dict(os.environ, LC_ALL="C")).stdout.decode("utf-8", "replace"))
        spec.append({"path": str(name), "loads": [[str(value) for value in row] for row in loads], "buildId": identity[1] if identity else "",
                     "symbols": sorted(map(int, symbols))})
    path = tool.write("spec.json", json.dumps({"files": spec, "damaged": 4000 if FULL else 300}))
    done = subprocess.run(["node", ROOT / "tests" / "browser" / "elf.js", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == 0, done.stdout.decode()[-500:] + done.stderr.decode()[-3000:]


@functools.lru_cache(maxsize=None)
def built_page():
    if not FULL:
        raise Skip("in the full run alone: the library is compiled to WebAssembly for it")
    if not shutil.which("emcc"):
        raise Skip("no emscripten")
    for words in (["--preset", "web"], ["--build", "--preset", "web", "--target", "static_page"]):
        done = subprocess.run(["cmake", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, done.stdout.decode()[-3000:]
    return ROOT / "build" / "web" / "trackway.html"


def in_browser(tool, **more):
    spec = dict(browser(), page=str(built_page()), **more)
    path = tool.write("spec.json", json.dumps(spec))
    done = subprocess.run(["node", ROOT / "tests" / "browser" / "static.js", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=3000,
                          env=dict(os.environ, HOME=str(tool.folder)))
    assert done.returncode == 0, done.stdout.decode()[-500:] + done.stderr.decode()[-3000:]
    return done.stdout.decode()


def native(tool, folder, words):
    """Digest of what the tool writes, run beside the files, and its exit status."""
    out = tool.folder / "native"
    done = subprocess.run([tool.program, *words, "-q", "-o", out], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    digest = hashlib.sha256(out.read_bytes()).hexdigest() if out.exists() else ""
    out.unlink(missing_ok=True)
    return {"status": done.returncode, "digest": digest}


def cases_of_the_corpora(tool):
    found = []
    for name in sorted(corpus().glob("**/snapshot.ini")):
        found.append(([name.parent], []))
    for name in sorted((corpus() / "perf").glob("**/*.data")):
        root = next(folder / "root" for folder in name.parents if (folder / "root").is_dir())
        words = ["--sysroot", str(root)]
        words += ["--kernel", str(root / "vmlinux")] if (root / "vmlinux").exists() else []
        words += ["--vdso", str(root / "lib" / "vdso.so")] if (root / "lib" / "vdso.so").exists() else []
        found.append(([name, root], words))
    for files, words in found:
        if b"zstd" in files[0].name.encode():
            continue
        runs = []
        for command, more in (("stats", ["--format", "jsonl"]), ("decode", []), ("calls", ["--format", "jsonl"])):
            runs.append(dict(native(tool, files[0].parent, [command, files[0].name, *words, *more]), command=command, words=more + ["-q"]))
        yield {"files": [str(one) for one in files], "runs": runs}


def static_page(tool):
    zstd = sorted((corpus() / "perf").glob("*zstd*.data"))
    in_browser(tool, checks=["people", "refused"], demo=str(DEMO), hottest="memset", instructions=51431, refused=[[str(name), "zstd"] for name in zstd])


def static_page_corpora(tool):
    browser(), built_page()
    cases = list(cases_of_the_corpora(tool))
    assert len(cases) > 60, len(cases)
    said = in_browser(tool, checks=["corpora"], cases=cases)
    equal(said.count("\nok ") + said.startswith("ok "), len(cases) + 1)


add_case("static_page_in_a_browser", static_page)
add_case("static_page_says_what_the_tool_says", static_page_corpora)
