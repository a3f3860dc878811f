# SPDX-License-Identifier: BSD-2-Clause
"""A copy of the sources with build trees of its own, where one file at a time is changed.

All programs use one shared library, so a mutant costs one compilation and one link.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess

FEATURES = ["-DTW_WITH_ELF=ON", "-DTW_WITH_DW=ON", "-DTW_WITH_ZSTD=ON", "-DTW_WITH_LLVM=ON",
            "-DTW_TESTS=ON", "-DTW_ONE_LIBRARY=ON"]


class BuildError(Exception):
    """The unchanged sources do not build."""


def run(words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)


class Copy:
    """The sources in a folder that mutants may spoil."""

    def __init__(self, root, work):
        self.root, self.folder = pathlib.Path(root), pathlib.Path(work) / "source"

    def refresh(self):
        """Makes the copy equal to the sources; what is equal keeps its time of change."""
        listed = run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=self.root).stdout
        names = {name for name in listed.decode().split("\0") if name}
        for name in names:
            source, target = self.root / name, self.folder / name
            if not source.is_file():
                continue
            content = source.read_bytes()
            if target.is_file() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(source, target)
        for path in list(self.folder.rglob("*")):
            if path.is_file() and str(path.relative_to(self.folder)) not in names:
                path.unlink()

    def write(self, path, text):
        (self.folder / path).write_text(text)


class Build:
    """One build tree of the copy."""

    def __init__(self, copy, name, sanitize=""):
        self.copy, self.folder = copy, copy.folder.parent / name
        # No debug information: it only costs time here.
        self.options = FEATURES + ["-DCMAKE_BUILD_TYPE=None", f"-DTW_SANITIZE={sanitize}",
                                   "-DCMAKE_C_FLAGS=-O1 -w -fno-semantic-interposition",
                                   "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic",
                                   "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--copy-dt-needed-entries"]
        if shutil.which("ccache"):
            self.options.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        self.library = self.folder / "src" / "libtrackway.so"
        self.clean = ""  # digest of the unchanged library

    def prepare(self):
        if not (self.folder / "build.ninja").exists():
            done = run(["cmake", "-G", "Ninja", "-S", self.copy.folder, "-B", self.folder,
                        *self.options])
            if done.returncode:
                raise BuildError(done.stdout.decode())
        done = self.make()
        if done.returncode:
            raise BuildError(done.stdout.decode()[-4000:])
        self.clean = self.digest()

    def make(self, *targets):
        jobs = str(min(2, os.cpu_count() or 1))
        return run(["ninja", "-C", self.folder, "-j", jobs, *targets])

    def make_library(self, *programs):
        """Whether the library (and these programs) builds with what the copy holds now."""
        return self.make("trackway_shared", *programs).returncode == 0

    def digest(self):
        return hashlib.sha256(self.library.read_bytes()).hexdigest()

    def is_same(self):
        return self.digest() == self.clean

    def programs(self):
        """Test programs by name."""
        found = {}
        for folder in ("src", "tests", "fuzz"):
            for path in (self.folder / folder).iterdir():
                if path.is_file() and path.name.startswith(("test_", "replay_")) and \
                        os.access(path, os.X_OK):
                    found[path.name] = path
        return found
