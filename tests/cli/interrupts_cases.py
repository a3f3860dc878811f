# SPDX-License-Identifier: BSD-2-Clause
"""trackway interrupts: counts and lengths of exceptions whose truth is known, from ETM and from the DWT."""
import csv
import io

from harness import Skip, add_case, corpus, equal
from timeline_cases import lines_of, true_exceptions, truth_rows


def folder():
    return corpus() / "exec-m"


def etm_words(name):
    program = name.rsplit("-etm", 1)[0]
    return program, [folder() / "etm" / name, "--symbols", folder() / "logs" / f"{program}.elf", "--unit", "instructions"]


def sums_equal_truth(name):
    def run(tool):
        program, words = etm_words(name)
        rows = {row["num"]: row for row in
                lines_of(tool.run("interrupts", *words, "--format", "jsonl", "-q", status=None).out)}
        truth = truth_rows(folder() / "truth" / f"{program}.exceptions.gz")
        left_open = [row[0] for row in true_exceptions(program) if row[2] is None]
        for row in truth:
            if row[0] != "N":
                continue
            number, count, chained, least, most, total = (0 if word == "-" else int(word) for word in row[1:7])
            mine = rows.pop(number)
            equal(mine["count"], count, f"entries of {number}")
            equal(mine["open"], left_open.count(number), f"open ones of {number}")
            if "etmv3" not in name:  # it cannot tell a chain from a return with an entry at once
                equal(mine["tail"], chained, f"chained ones of {number}")
            if not mine["open"]:
                equal([mine["gross"]["min"], mine["gross"]["max"], mine["gross"]["sum"]], [least, most, total],
                      f"lengths of {number}")
            equal(sum(each["count"] for each in mine["interrupted"]), count, "all of them interrupted something")
        equal(rows, {}, "no others")
    return run


def each_equals_truth(tool):
    program, words = etm_words("m3-nested-etmv4")
    got = [(row["num"], row["n0"], row["n1"], row["tail"]) for row in
           lines_of(tool.run("interrupts", *words, "--events", "--format", "jsonl", "-q").out)]
    equal(sorted(got), true_exceptions(program), "exceptions")
    depths = {}
    for row in truth_rows(folder() / "truth" / "m3-nested.exceptions.gz"):
        if row[0] == "E":
            depths[int(row[1]), int(row[2])] = int(row[6])
    for row in lines_of(tool.run("interrupts", *words, "--events", "--format", "jsonl", "-q").out):
        equal(row["depth"] + 1, depths[row["n0"], row["num"]], row)
        assert row["net"] <= row["gross"]
    assert "chained" in tool.run("interrupts", *words, "--events").out
    rows = list(csv.DictReader(io.StringIO(tool.run("interrupts", *words, "--events", "--format", "csv", "-q").out)))
    equal([(int(row["num"]), int(row["n0"]), int(row["n1"]), row["tail"] == "1") for row in rows],
          [(num, n0, n1, bool(tail)) for num, n0, n1, tail in got], "the same as a table")
    assert all(row["interrupted"] and int(row["net"]) <= int(row["gross"]) for row in rows), rows[0]


def dwt_equals_truth(name):
    def run(tool):
        words = [folder() / "swo" / f"{name}.swo", "--protocol", "itm"]
        if name.endswith("-b"):
            words += ["--config", "ITMTCR=0x10107"]
        if name.endswith("-c"):
            words += ["--assume-sync"]
        rows = {row["num"]: row for row in
                lines_of(tool.run("interrupts", *words, "--format", "jsonl", "-q", status=None).out)}
        for row in truth_rows(folder() / "swo" / f"{name}.stats.gz"):
            number, count, least, most, total, net = map(int, row)
            mine = rows[number]
            equal(mine["count"] - mine["open"], count, f"count of {number}")
            if name.endswith("-b"):  # a timestamp counts four cycles
                continue
            equal([mine["gross"]["min"], mine["gross"]["max"], mine["gross"]["sum"], mine["net"]["sum"]],
                  [least, most, total, net], f"lengths of {number}")
    return run


def losses_are_not_lengths(tool):
    """A slow port loses packets: what is whole is one of the true lengths."""
    program = "m3-nested"
    true = {}
    for number, entered, left, _ in true_exceptions(program):
        true.setdefault(number, []).append((entered, left))
    rows = lines_of(tool.run("interrupts", folder() / "swo" / f"{program}-d.swo", "--protocol", "itm", "--format", "jsonl",
                             "-q", status=None).out)
    assert sum(row["open"] for row in rows) > 0
    for row in rows:
        assert row["count"] <= len(true[row["num"]]) + row["open"], row


def table(tool):
    _, words = etm_words("m3-nested-etmv4")
    text = tool.run("interrupts", *words, "-q").out
    assert "SysTick" in text and "interrupts work_round" in text, text
    rows = list(csv.DictReader(io.StringIO(tool.run("interrupts", *words, "--format", "csv", "-q").out)))
    tick = next(row for row in rows if row["name"] == "SysTick")
    equal([tick["num"], tick["count"], tick["unit"]], ["15", "147", "instructions"], "a row")


def flow_and_dwt_are_joined(tool):
    """Of one program: the times of the DWT, the instructions and who was interrupted of the flow; in either order."""
    etm, swo = folder() / "etm" / "m3-nested-etmv4", folder() / "swo" / "m3-nested-a.swo"
    more = ["--protocol", "itm", "--symbols", folder() / "logs" / "m3-nested.elf", "--unit", "cycles", "-q"]
    truth = {int(row[0]): list(map(int, row)) for row in truth_rows(folder() / "swo" / "m3-nested-a.stats.gz")}
    rows = lines_of(tool.run("interrupts", etm, swo, *more, "--format", "jsonl", status=None).out)
    joined = {row["num"]: row for row in rows if row["t"] == "JOINED"}
    flow = {row["num"]: row for row in rows if row["t"] == "EXCEPTION" and row["interrupted"][0]["name"] != "?"}
    equal(sorted(joined), sorted(truth), "all of them")
    for number, row in joined.items():
        _, count, least, most, total, net = truth[number]
        equal([row["count"], row["flow"], row["dwt"], row["times"]], [count, count, count, "dwt"], number)
        equal([row["gross"]["min"], row["gross"]["max"], row["gross"]["sum"], row["net"]["sum"]], [least, most, total, net],
              f"lengths of {number}")
        equal(row["interrupted"], flow[number]["interrupted"], f"what {number} interrupted")
    equal([row for row in lines_of(tool.run("interrupts", swo, etm, *more, "--format", "jsonl", status=None).out)
           if row["t"] == "JOINED"], list(joined.values()), "the other way round")
    text = tool.run("interrupts", etm, swo, *more, status=None).out
    assert "from both, in cycles" in text and "differ" not in text, text


def no_time_is_no_length(tool):
    """Local timestamps count cycles: they are no time, and none is made up."""
    swo = [folder() / "swo" / "m3-nested-a.swo", "--protocol", "itm", "-q", "--format", "jsonl"]
    for row in lines_of(tool.run("interrupts", *swo, "--unit", "time", status=None).out):
        equal([row["net"], row["gross"], row["period"]], [{}, {}, {}], row["name"])
    assert all(row["net"] for row in lines_of(tool.run("interrupts", *swo, status=None).out))


def none(tool):
    got = tool.run("interrupts", tool.write("empty.bin", bytes(64)), "--protocol", "itm", status=None)
    equal(got.out, "", "no rows")
    assert "no exceptions" in got.err, got.err


try:
    for each in sorted((folder() / "etm").iterdir()):
        add_case(f"interrupts_{each.name}", sums_equal_truth(each.name))
    for each in sorted((folder() / "swo").glob("*.stats.gz")):
        add_case(f"interrupts_{each.name[:-9]}", dwt_equals_truth(each.name[:-9]))
except Skip:
    pass
add_case("interrupts_each", each_equals_truth)
add_case("interrupts_losses", losses_are_not_lengths)
add_case("interrupts_table", table)
add_case("interrupts_none", none)
add_case("interrupts_joined", flow_and_dwt_are_joined)
add_case("interrupts_without_time", no_time_is_no_length)
