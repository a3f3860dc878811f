# SPDX-License-Identifier: BSD-2-Clause
"""perf, as it is installed, on the drop-in: what it prints is what it prints on the original."""
import os
import shutil
import subprocess

from harness import Skip, add_case, corpus

SCRIPT = [["script"], ["script", "--no-itrace"], ["script", "--itrace=b"], ["script", "--itrace=i10il16"],
          ["script", "--itrace=i1000i"], ["script", "--itrace=le"], ["script", "-F", "+insn"]]
REPORT = [["report", "--stdio"], ["report", "-D"], ["annotate", "--stdio"]]
INJECT = [["inject", "--itrace=i100il"]]
FORMS = SCRIPT + REPORT + INJECT

# What the plain run looks at: a capture of each kind of decoder, with one form each.
USUAL = {
    "p01-uname-perthread-etmv4-v1.perf.data": [["script", "--itrace=i10il16"]],
    "p10-walk-percpu-etmv4-v1.perf.data": [["script"]],
    "p12-walk-percpu-ete-raw-vmid-v1.perf.data": [["script", "--itrace=b"], ["report", "-D"]],
}


def run(words, library, folder):
    """What perf prints, to both streams, and what it writes."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKWAY_")}
    environment.update(HOME=str(folder), PERF_BUILDID_DIR=str(folder / "buildid"), PAGER="cat", LC_ALL="C")
    environment["LD_LIBRARY_PATH"] = str(library.parent) if library else ""
    written = folder / "injected"
    written.unlink(missing_ok=True)
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=600)
    return done.returncode, done.stdout, done.stderr, written.read_bytes() if written.exists() else b""


def uses(library, folder):
    """Whether perf takes the drop-in at all."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
    done = subprocess.run(["ldd", shutil.which("perf")], env=environment, cwd=folder, capture_output=True,
                          text=True, check=False)
    return str(library.parent) in done.stdout


def first_difference(want, got):
    for number, (a, b) in enumerate(zip(want.split(b"\n"), got.split(b"\n"))):
        if a != b:
            return f"line {number + 1}\nwant {a[:300]!r}\ngot  {b[:300]!r}"
    return f"{len(want)} bytes, not {len(got)}"


def check(path, form):
    def compare(tool):
        if not shutil.which("perf"):
            raise Skip("no perf")
        if not uses(tool.library, tool.folder):
            raise Skip("perf without OpenCSD")
        words = ["perf", *form, "-i", str(path)]
        if form[0] == "inject":
            words += ["-o", "injected"]
        else:
            words.append(f"--symfs={path.parent / 'root'}")
        want = run(words, None, tool.folder)
        if want[0] < 0:
            raise Skip("perf itself dies of it")
        got = run(words, tool.library, tool.folder)
        for what, a, b in zip(("status", "output", "messages", "file"), want, got):
            assert a == b, f"{' '.join(words)}: {what}: " + (
                first_difference(a, b) if isinstance(a, bytes) else f"{b}, not {a}")
    return compare


def recordings():
    folder = corpus() / "perf"
    return sorted(folder.glob("*.data")) + sorted((folder / "simpleperf").glob("*.data"))


def add_cases():
    try:
        paths = recordings()
    except Skip:
        return
    full = os.environ.get("TW_TEST_FULL") == "1"
    for path in paths:
        for form in FORMS if full else USUAL.get(path.name, []):
            add_case(f"perf/{path.name}/{'_'.join(form)}", check(path, form))


add_cases()
