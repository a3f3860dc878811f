# SPDX-License-Identifier: BSD-2-Clause
"""perf, as it is installed, on the drop-in: what it prints is what it prints on the original, or there is a
row of kind "opencsd-perf" in docs/known-differences.jsonl: `line` is the first line of its output that
differs, want and got are how many lines there are."""
import json
import os
import re
import shutil
import subprocess

from harness import ROOT, Skip, add_case, corpus

SCRIPT = [["script"], ["script", "--no-itrace"], ["script", "--itrace=b"], ["script", "--itrace=i10il16"],
          ["script", "--itrace=i1000i"], ["script", "--itrace=le"], ["script", "-F", "+insn"]]
REPORT = [["report", "--stdio"], ["report", "-D"], ["annotate", "--stdio"]]
INJECT = [["inject", "--itrace=i100il"]]
FORMS = SCRIPT + REPORT + INJECT

# What the plain run looks at besides one form of each recording.
USUAL = {
    "p01-uname-perthread-etmv4-v1.perf.data": [["script", "--itrace=i10il16"]],
    "p04-tc2-etmv3-ptm-v1.perf.data": [["script", "--itrace=b"], ["report", "-D"]],
    "p12-walk-percpu-ete-raw-vmid-v1.perf.data": [["script", "--itrace=b"], ["report", "-D"]],
}
# perf ends a report with a piece of advice, drawn by lot.
TIP = re.compile(rb"# \(Tip: .*\)")


def known():
    rows = map(json.loads, (ROOT / "docs" / "known-differences.jsonl").read_text().splitlines())
    return {row["run"]: (row["line"], row["want"], row["got"]) for row in rows if row["kind"] == "opencsd-perf"}


def run(words, library, folder, **settings):
    """What perf prints, to both streams, and what it writes."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKWAY_")}
    environment.update(HOME=str(folder), PERF_BUILDID_DIR=str(folder / "buildid"), PAGER="cat", LC_ALL="C")
    environment.update(settings, LD_LIBRARY_PATH=str(library.parent) if library else "")
    written = folder / "injected"
    written.unlink(missing_ok=True)
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=600)
    return done.returncode, TIP.sub(b"", done.stdout), done.stderr, written.read_bytes() if written.exists() else b""


def uses(library, folder):
    """Whether perf takes the drop-in at all."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
    done = subprocess.run(["ldd", shutil.which("perf")], env=environment, cwd=folder, capture_output=True,
                          text=True, check=False)
    return str(library.parent) in done.stdout


def first_difference(want, got):
    """Its line, from 0 on, and what stands there; None: there is none."""
    want, got = want.split(b"\n"), got.split(b"\n")
    for number, (a, b) in enumerate(zip(want, got)):
        if a != b:
            return number, a, b
    return (min(len(want), len(got)), b"", b"") if len(want) != len(got) else None


def check(path, form):
    name = f"{path.name}/{'_'.join(form)}"
    row = known().get(name)

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
            raise Skip(f"{name}: perf itself dies of it")
        got = run(words, tool.library, tool.folder)
        assert want[0] == got[0], f"{name}: status {got[0]}, not {want[0]}"
        for what, a, b in zip(("output", "messages", "file"), want[1:], got[1:]):
            found = first_difference(a, b)
            if what == "output" and row:
                assert found and (found[0], a.count(b"\n"), b.count(b"\n")) == row, \
                    f"{name}: {found}, {a.count(10)} {b.count(10)} lines, not {row}"
            else:
                assert not found, f"{name}: {what}: {found}"
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
    for number, path in enumerate(paths):
        for form in FORMS if full else [FORMS[number % len(FORMS)], *USUAL.get(path.name, [])]:
            add_case(f"perf/{path.name}/{'_'.join(form)}", check(path, form))


add_cases()
