# SPDX-License-Identifier: BSD-2-Clause
"""Cases, counted as cmocka counts them, for tests that run the built program."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = []


class Skip(Exception):
    """The case cannot run here; the text says why."""


def case(function):
    """Marks a function as a case; it gets a Tool whose folder is empty."""
    CASES.append((function.__name__, function))
    return function


def add_case(name, function):
    CASES.append((name, function))


IS_SAMPLED = bool(os.environ.get("TW_SANITIZED")) and os.environ.get("TW_TEST_FULL") != "1"


def some(rows, one_of=3):
    """All rows; of a build with sanitizers one of three: it looks for faults, results are the same in every build."""
    return list(rows)[::one_of] if IS_SAMPLED else list(rows)


def corpus():
    """The folder of the corpus, or Skip."""
    folder = pathlib.Path(os.environ.get("TRACKWAY_CORPUS") or ROOT / ".." / "shared" / "corpus")
    if not folder.is_dir():
        raise Skip("no corpus")
    return folder.resolve()


class Tool:
    """The program under test, and an empty folder to run it in."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)

    def start(self, *words, **more):
        return subprocess.Popen([self.program, *map(str, words)], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run(self, *words, status=0):
        """Runs it; the exit status must be the one named (None: any that is no crash)."""
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        done.out = done.stdout.decode("utf-8", "replace")
        done.err = done.stderr.decode("utf-8", "replace")
        wanted = (0, 1, 2, 3) if status is None else (status,)
        assert done.returncode in wanted and "Sanitizer" not in done.err, (
            f"trackway {' '.join(map(str, words))}: status {done.returncode}, wanted {wanted}\n"
            f"{done.out[-2000:]}\n{done.err[-4000:]}")
        return done

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path


def equal(got, want, what=""):
    assert got == want, f"{what}\ngot  {str(got)[:400]}\nwant {str(want)[:400]}"


def main(make=Tool):
    """usage: run.py PROGRAM [NAME...]: runs the cases, or those whose "file.name" holds a NAME and
    no !NAME."""
    if len(sys.argv) < 2:
        print(main.__doc__)
        return 2
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = [word for word in sys.argv[2:] if not word.startswith("!")]
    unwanted = [word[1:] for word in sys.argv[2:] if word.startswith("!")]
    passed, failed, skipped = 0, [], 0
    # $TW_SHARD, "K/N": every n-th case, so that several processors share the work.
    shard, shards = (int(word) for word in os.environ.get("TW_SHARD", "0/1").split("/"))
    for name, function in CASES[shard::shards]:
        whole = f"{function.__module__}.{name}"
        if (wanted and not any(w in whole for w in wanted)) or any(w in whole for w in unwanted):
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(make(program, folder))
                passed += 1
            except Skip as why:
                print(f"skipped: {why}")
                skipped += 1
            except Exception as error:  # pylint: disable=broad-except
                failed.append(name)
                print(f"[  FAILED  ] {name}")
                if isinstance(error, AssertionError):
                    print(error)
                    print("".join(traceback.format_tb(error.__traceback__, limit=-2)))
                else:
                    traceback.print_exc(file=sys.stdout)
        if "TW_CASE_TIMES" in os.environ:  # a file: which cases are slow
            with open(os.environ["TW_CASE_TIMES"], "a", encoding="utf-8") as times:
                times.write(f"{time.monotonic() - begun:8.2f} {whole} {program}\n")
    print(f"[  PASSED  ] {passed} test(s).")
    if skipped:
        print(f"[  SKIPPED ] {skipped} test(s).")
    if failed:
        print(f"[  FAILED  ] {len(failed)} test(s): {' '.join(failed)}")
    return 1 if failed else 0
