#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files that are no trace: random bytes, text, and those of the system.  usage: strange_files.py PROGRAM [COUNT]

Of none of them may identify be sure that it is trace."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

FOLDERS = ["/usr/bin", "/usr/lib", "/usr/share", "/usr/include", "/etc"]
KINDS = 40  # files with one ending, at most
FEW = 200  # files of the system: they come from the folders themselves


def of_the_system(count, dice):
    """Files of as many kinds as there are, the same ones on the same system."""
    kinds = {}
    for folder in FOLDERS:
        # All that a system has takes a while to walk through.
        for path in sorted(pathlib.Path(folder).glob("**/*" if count > FEW else "*")):
            try:
                if path.is_file() and not path.is_symlink() and 64 <= path.stat().st_size <= 4 << 20:
                    kinds.setdefault(path.suffix[:8], []).append(path)
            except OSError:
                pass
    found = []
    for suffix in sorted(kinds):
        found += dice.sample(kinds[suffix], min(KINDS if suffix else 4 * KINDS, len(kinds[suffix])))
    dice.shuffle(found)
    return found[:count]


def made(folder, count, dice):
    """Random bytes of several kinds, and parts of true files."""
    for n in range(count):
        size = dice.choice([40, 300, 1500, 5000, 70000, 300000])
        kind = n % 7
        if kind == 0:
            content = dice.randbytes(size)
        elif kind == 1:  # mostly zeros
            content = bytes(dice.randrange(256) if dice.random() < 0.2 else 0 for _ in range(size))
        elif kind == 2:  # few values
            few = dice.randbytes(dice.choice([2, 5, 20]))
            content = bytes(dice.choice(few) for _ in range(size))
        elif kind == 3:  # numbers of four bytes
            content = b"".join(dice.randrange(1 << dice.choice([4, 10, 20])).to_bytes(4, "little") for _ in range(size // 4))
        elif kind == 4:  # the same again and again
            content = (dice.randbytes(dice.choice([3, 16, 100])) * size)[:size]
        elif kind == 5:  # samples of a wave
            content = b"".join((int(1000 * (i % 97) / 97) + dice.randrange(9)).to_bytes(2, "little") for i in range(size // 2))
        else:  # low bytes
            content = bytes(min(255, int(dice.expovariate(0.05))) for _ in range(size))
        path = folder / f"made{n}"
        path.write_bytes(content)
        yield path


def sure(program, count):
    """(files that it is sure to be trace, how many were looked at)."""
    dice = random.Random(23)
    with tempfile.TemporaryDirectory() as folder:
        paths = list(made(pathlib.Path(folder), count // 3, dice)) + of_the_system(count - count // 3, dice)
        found = []
        for at in range(0, len(paths), 50):
            out = subprocess.run([program, "identify", "--format", "json", *map(str, paths[at:at + 50])], capture_output=True,
                                 text=True, errors="replace", check=True).stdout
            for line in out.splitlines():
                answer = json.loads(line)
                if answer["framing"] and answer["confidence"] >= 0.95:
                    found.append(f"{answer['file']}: {answer['what']} {answer['confidence']}")
    return found, len(paths)


def main():
    found, total = sure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    print(*found, f"{total} files that are no trace: {len(found)} taken for trace with certainty", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
