#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Settings that change how trace is read, found with the program's image: usage: identify_settings.py PROGRAM CORPUS.

CoreSight: fields of registers, as far as the trace shows anything of them. E-Trace: the path is the same as with the true
parameters."""
import pathlib
import subprocess
import sys

import identify

CONTEXT, VIRTUAL, CYCLES = 0x40, 0x80, 0x10
# Register, field, and the bit of TRCCONFIGR without which nothing of it is in the trace.
ETMV4 = [("TRCCONFIGR", CYCLES, 0), ("TRCCONFIGR", CONTEXT, 0), ("TRCCONFIGR", VIRTUAL, 0), ("TRCCONFIGR", 0x800, 0),
         ("TRCCONFIGR", 0x1000, 0), ("TRCCONFIGR", 6, 0), ("TRCIDR2", 0x7c00, VIRTUAL), ("TRCIDR2", 0x3e0, CONTEXT),
         ("TRCIDR0", 0x20000000, CYCLES), ("TRCIDR8", 0xffffffff, 0)]
FIELDS = {"etmv4": ETMV4, "ete": ETMV4,
          "ptm": [("ETMCR", 0x1000, 0), ("ETMCR", 0xc000, 0), ("ETMCR", 0x10000000, 0), ("ETMCR", 0x20000000, 0)],
          "etmv3": [("ETMCR", 0x1000, 0), ("ETMCR", 0xc000, 0), ("ETMCR", 0x10000000, 0), ("ETMCR", 0xc, 0),
                    ("ETMIDR", 0x100000, 0)]}
ETRACE = {"layout", "encapsulation", "full_address", "implicit_return", "implicit_exception", "branch_prediction",
          "jump_target_cache", "ecall_retires"}


def snapshots(corpus):
    for kind in ("coresight", "perf-real"):
        yield from (path.parent for path in sorted((corpus / kind / "snapshots").glob("*/snapshot.ini")))
    yield from sorted((corpus / "exec-m" / "etm").iterdir())


def devices_of(folder):
    for name in identify.read_ini(folder / "snapshot.ini")["device_list"].values():
        if (folder / name).exists():
            yield identify.read_ini(folder / name)


def images_of(folder):
    found = {}
    for device in devices_of(folder):
        for section, values in device.items():
            path = folder / values.get("file", "-")
            if section.startswith("dump") and path.exists() and not int(values.get("offset", "0") or "0", 0):
                found[f"{path}@{values['address']}"] = path
    # A dump of memory that begins like an ELF file is taken for one.
    return [word for text, path in found.items() if path.read_bytes()[:4] != b"\x7fELF" for word in ("--image", text)]


def wrong_fields(found, true, fields):
    enabled = true.get("TRCCONFIGR", 0)
    return [f"{name} & {mask:#x}" for name, mask, needs in fields
            if name in true and (not needs or enabled & needs) and int(found.get(name, "0"), 0) & mask != true[name] & mask]


def coresight(program, corpus, every):
    """What is wrong of each source, None where all is right."""
    for folder in list(snapshots(corpus))[::every]:
        images = images_of(folder)
        for path, framing, sources in identify.snapshot_cases(folder):
            if not images or path.stat().st_size < identify.LEAST:
                continue
            answer = identify.identify(program, path, *images)
            config = answer["config"]
            for device in devices_of(folder):
                true = identify.registers(device)
                kind = device["device"].get("type", "").upper()
                fields = FIELDS.get(next((name for word, name in identify.PROTOCOLS if kind.startswith(word)), None))
                number = true.get("TRCTRACEIDR", true.get("ETMTRACEIDR"))
                if not fields or number is None or (framing != "none" and number & 0x7f not in answer["ids"]):
                    continue
                if framing == "none" and None not in sources and number & 0x7f not in sources:
                    continue
                by_id = framing != "none" and any(key.startswith("0x") for key in config)
                own = config.get(f"0x{number & 0x7f:x}") if by_id else config
                wrong = wrong_fields(own, true, fields) if own else ["no protocol"]
                yield f"{path} 0x{number & 0x7f:x}: {', '.join(wrong)}" if wrong else None


def decode(program, path, config, image):
    return subprocess.run([program, "decode", path, "--protocol", "etrace", "--config", config, "--image", image, "--format",
                           "jsonl", "-q"], capture_output=True, check=False).stdout


def etrace_cases(corpus, every):
    """Trace, its keys, and those of them that a decoder takes."""
    paths = [path for path in sorted((corpus / "riscv" / "cases").glob("*/trace.bin"))
             if path.stat().st_size >= identify.LEAST and "dtype" not in path.parent.name]
    for path in paths[::every]:
        true = dict(line.split("=", 1) for line in (path.parent / "case.txt").read_text().splitlines() if "=" in line)
        yield path, true, [f"{key}={value}" for key, value in true.items() if key.endswith(("_p", "bits")) or key in ETRACE]


def etrace_alone(program, corpus, every):
    """Without the image, widths may fit that are not the encoder's: then nobody may be certain."""
    for path, _, words in etrace_cases(corpus, every):
        answer = identify.identify(program, path)
        packets = [subprocess.run([program, "packets", path, "--protocol", "etrace", "--config", ",".join(config), "-q"],
                                  capture_output=True, check=False).stdout
                   for config in (words, [f"{key}={value}" for key, value in answer["config"].items()])]
        yield f"{path}: certain, and other packets" if answer["confidence"] >= 0.95 and packets[0] != packets[1] else None


def etrace(program, corpus, every):
    for path, true, words in etrace_cases(corpus, every):
        image = corpus / "riscv" / "programs" / true["program"] / "image.txt"
        found = identify.identify(program, path, "--image", str(image))["config"]
        same = decode(program, path, ",".join(words), image) == \
            decode(program, path, ",".join(f"{key}={value}" for key, value in found.items()), image)
        yield None if same else f"{path}: another path"


def compare(results):
    """What is wrong, and how many there are."""
    results = list(results)
    return [result for result in results if result], len(results)


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = False
    for name, results in (("CoreSight", coresight(program, corpus, 1)), ("E-Trace", etrace(program, corpus, 1)),
                          ("E-Trace without image", etrace_alone(program, corpus, 1))):
        wrong, total = compare(results)
        print(*wrong, f"{name}: {total - len(wrong)} of {total} right", sep="\n")
        failed = failed or len(wrong) * 10 > total
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
