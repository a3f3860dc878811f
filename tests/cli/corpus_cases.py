# SPDX-License-Identifier: BSD-2-Clause
"""The captures of the corpus: they open, and their frames hold the expected streams."""
import hashlib
import json

from harness import Skip, add_case, corpus, equal


def folders(kind):
    try:
        root = corpus()
    except Skip:
        return []
    return sorted(path for group in ["coresight", "perf-real"]
                  for path in (root / group / kind).iterdir() if path.is_dir())


def opens(folder):
    def run(tool):
        text = tool.run("info", folder)
        assert "buffers\n" in text.out
        for line in tool.run("info", folder, "--format", "jsonl").out.splitlines():
            json.loads(line)
    return run


def streams_equal(run_folder):
    about = json.loads((run_folder / "run.json").read_text())

    def run(tool):
        words = [run_folder.parents[2] / "snapshots" / run_folder.parent.name,
                 "--format", "jsonl", "-q"]
        if about.get("options", "").startswith("src="):
            words += ["--buffer", about["options"][4:]]
        elif len(about["buffers"]) == 1 and about["buffers"][0].get("name"):
            words += ["--buffer", about["buffers"][0]["name"]]
        hashes, sizes = {}, {}
        # A new stream begins with each buffer; several are joined.
        for line in tool.run("frames", *words, status=None).out.splitlines():
            row = json.loads(line)
            name = "none" if row["id"] is None else f"0x{row['id']:02x}"
            content = bytes.fromhex(row["b"])
            hashes.setdefault(name, hashlib.sha256()).update(content)
            sizes[name] = sizes.get(name, 0) + len(content)
        got = {name: {"bytes": sizes[name], "sha256": hashes[name].hexdigest()}
               for name in sizes}
        equal(got, {name: one for name, one in about["streams"].items() if one["bytes"]},
              run_folder)

    return run


def no_corpus(tool):
    corpus()


for each in folders("snapshots"):
    add_case(f"info_{each.name}", opens(each))
for each in folders("expected"):
    for one in sorted(each.iterdir()):
        if (one / "run.json").exists() and "streams" in json.loads((one / "run.json").read_text()):
            add_case(f"streams_{each.name}_{one.name}", streams_equal(one))
if not folders("snapshots"):
    add_case("corpus", no_corpus)
