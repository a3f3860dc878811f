# SPDX-License-Identifier: BSD-2-Clause
"""Statements of the RISC-V trace document, there and back through the tool."""
import json

from harness import case, equal
from riscv_program import (Code, NOP, auipc, beq, config, csv, jal, jalr, load, lui, retired)

BASE = 0x80000000


def pcs(done):
    return [int(line, 16) for line in done.out.split() if not line.startswith("#")]


def encode(tool, log, unit=None, name="snap", status=0, **keys):
    tool.write(name + ".csv", log)
    more = ["--unit", unit] if unit else []
    return tool.run("encode", name + ".csv", "--protocol", "etrace", "--config", config(**keys), "-o", name,
                    "--force", *more, status=status)


def there_and_back(tool, code, path, unit=None, **keys):
    encode(tool, csv(retired(code, path)), unit, **keys)
    done = tool.run("decode", "snap", "--image", code.write(tool), "--format", "pcs")
    equal(pcs(done), path, (unit, keys))


def accesses(tool, name="snap"):
    """(dtype, daddr, dsize, data) of each access; a field that was not traced is ''."""
    rows = tool.run("decode", name, "--format", "csv").out.split()[1:]
    return [tuple(row.lower().split(",")[1:5]) for row in rows]


DATA = dict(kind="data", data_width_p=64, daddress_width_p=64)


# [RVT 3.2.5/3] [RVT 11/12]
@case
def calls_nested_as_deep_as_the_counter_counts(tool):
    code = Code()
    code.add(NOP, jal(1, 12), NOP, NOP)
    function = code.add(NOP, beq(12), jal(1, -8), NOP)
    leave = code.add(NOP, jalr(0, 1))
    for bits in 1, 2, 3:
        for deep in 2 ** bits - 1, 2 ** bits:
            path = [BASE, BASE + 4]
            path += [function, function + 4, function + 8] * (deep - 1)
            path += [function, function + 4, leave, leave + 4]
            path += [function + 12, leave, leave + 4] * (deep - 1) + [BASE + 8, BASE + 12]
            for layout in "seed", "v2":
                there_and_back(tool, code, path, layout=layout, implicit_return=1, call_counter_size_p=bits)


# [RVT 2.2/3] [RVT 3.2.4/2] [RVT 4.2/8]
@case
def what_the_hart_can_do_is_not_what_the_encoder_does(tool):
    code = Code()
    start = code.add(NOP, auipc(6, 0), jalr(0, 6, 0x40))
    code.next = BASE + 0x44
    target = code.add(NOP, lui(7, BASE), jalr(1, 7, 0x100))
    code.next = BASE + 0x100
    other = code.add(NOP, NOP, jalr(0, 1))
    path = [start, start + 4, start + 8, target, target + 4, target + 8, other, other + 4]
    rows = retired(code, path)
    for row in rows:
        row["sijump"] = int(row["iaddr"] in (start + 8, target + 8))
    for layout in "seed", "v2":
        for mode in 0, 1:
            encode(tool, csv(rows), f"siJump={mode}", layout=layout, sijump_p=1, iaddress_width_p=32)
            done = tool.run("decode", "snap", "--image", code.write(tool), "--format", "pcs")
            equal(pcs(done), path, (layout, mode))
            text = (tool.folder / "snap" / "device_2.ini").read_text() if (
                tool.folder / "snap" / "device_2.ini").exists() else "".join(
                    path.read_text() for path in (tool.folder / "snap").glob("*.ini"))
            assert f"\nsijump={mode}\n" in text and "\nsijump_p=1\n" in text, text
        packets = tool.run("packets", "snap").out.count("\n")
    encode(tool, csv(rows), "siJump=0", name="off", sijump_p=1, iaddress_width_p=32)
    assert tool.run("packets", "off").out.count("\n") > packets
    done = encode(tool, csv(rows), "siJump=1", name="cannot", status=3, sijump_p=0)
    assert "does not have this mode" in done.err, done.err


# [RVT 2.2/7] [RVT 2.2/8] [RVT 6.5/4] [RVT 7/2]
@case
def data_trace_without_data_or_addresses(tool):
    log = "dretire,dtype,daddr,dsize,data\n1,0,1000,3,1122334455667788\n1,1,1010,3,5\n"
    for layout in "seed", "v2":
        for mode, want in (("noData", [("0", "1000", "3", ""), ("1", "1010", "3", "")]),
                           ("noAddress", [("0", "", "3", "1122334455667788"), ("1", "", "3", "5")])):
            encode(tool, log, f"{mode}=1,DataCompress=1", layout=layout, **DATA)
            equal(accesses(tool), want, (layout, mode))
            # The support packet says so too: a decoder that was not told reads the same.
            folder = tool.folder / "snap"
            for path in folder.glob("*.ini"):
                text = path.read_text()
                path.write_text(text.replace("no_data=1", "no_data=0").replace("no_address=1", "no_address=0"))
            equal(accesses(tool), want, (layout, mode, "by the support packet"))


# [RVT 6.5/4]
@case
def data_options_in_the_draft_support_packet(tool):
    log = "dretire,dtype,daddr,dsize,data\n1,0,1000,3,1122334455667788\n"
    order = "ioptions=no_data,implicit_return,no_address,ioptions_bits=3"
    encode(tool, log, "noData=1", layout="seed", **dict(DATA, ioptions_bits=3, ioptions="no_data"))
    rows = [json.loads(line) for line in tool.run("packets", "snap", "--format", "jsonl").out.splitlines()]
    equal([row["ioptions"] for row in rows if row["t"] == "f3s3"][0], 1, order)
    equal(accesses(tool), [("0", "1000", "3", "")])


# [RVT T4.9/7] [RVT T4.9/9] [RVT T4.9/10] [RVT 4.4/1]
@case
def what_a_hart_loads_and_what_it_stores(tool):
    for column in "sdata", "data":
        log = (f"dretire,dtype,daddr,dsize,lrid,lresp,lid,ldata,{column}\n"
               "1,0,1000,3,1,0,0,0,0\n0,0,0,0,0,2,1,99,0\n1,1,4000,3,0,0,0,0,55\n")
        encode(tool, log, lrid_width_p=3, **DATA)
        equal([row[1::2] for row in accesses(tool) if row[3]], [("1000", "99"), ("4000", "55")], column)
    log = ("dretire,dtype,daddr,dsize,sdata,lrid,lresp,lid,ldata\n"
           "1,0,1000,3,,1,,,\n1,1,4000,3,55,,2,1,99\n")
    encode(tool, log, lrid_width_p=3, **DATA)
    equal(sorted(row[1::2] for row in accesses(tool) if row[3]), [("1000", "99"), ("4000", "55")])


PAIR = dict(priv=3, iretire_0=2, ilastsize_0=1, itype_0=0, iaddr_0=BASE, iretire_1=2, ilastsize_1=1, itype_1=0,
            iaddr_1=BASE + 4, cause=0)
ONE = dict(priv=3, iretire=1, ilastsize=1, itype=0, iaddr=BASE, cause=0)
ACCESS = dict(dretire=1, dtype=1, daddr=0x1000, dsize=2, data=5)


# [RVT 4.2/7] [RVT T4.1/2] [RVT T4.1/3] [RVT T4.1/4] [RVT T4.1/5] [RVT T4.1/6] [RVT T4.2/1] [RVT T4.5/1] [RVT T4.9/3] [RVT T4.9/5]
@case
def input_that_the_interface_does_not_allow(tool):
    two = dict(retires_p=4, taken_branches_p=2)
    for said, row, keys in (
            ("group 1 is used", dict(PAIR, itype_0=1, cause=3), two),
            ("group 1 is used", dict(PAIR, iretire_0=0), two),
            ("iretire is more than retires_p", dict(ONE, iretire=40), dict(retires_p=4)),
            ("cause does not fit", dict(ONE, itype=1, cause=99), {}),
            ("tval does not fit", dict(ONE, itype=1, tval=1 << 40), dict(iaddress_width_p=32)),
            ("context does not fit", dict(ONE, context=999, ctype=2), dict(ctype_width_p=2)),
            ("impdef does not fit", dict(ONE, impdef=9), dict(impdef_width_p=2)),
            ("impdef does not fit", dict(ONE, impdef=1 << 127), dict(impdef_width_p=127)),
            ("impdef does not fit", dict(ONE, impdef=1 << 128), dict(impdef_width_p=128)),
            ("iaddr does not fit", dict(ONE, iaddr=1 << 32), dict(iaddress_width_p=32)),
            ("privilege does not fit", dict(ONE, priv=7), {}),
            ("data does not fit", dict(ACCESS, data=1 << 64), DATA),
            ("sdata does not fit", {**{k: v for k, v in ACCESS.items() if k != "data"}, "sdata": 1 << 64}, DATA),
            ("daddr does not fit", dict(ACCESS, daddr=1 << 40), dict(DATA, daddress_width_p=40)),
            ("daddr does not fit", dict(ACCESS, dtype=4, operand=1, daddr=0x1000), DATA)):
        done = encode(tool, csv([row]), name="bad", status=3, **keys)
        assert "line 2: " in done.err and said in done.err, (said, done.err)
    for row, keys in ((dict(ONE, impdef=1 << 100), dict(impdef_width_p=128)),
                      (dict(PAIR, trigger_0=0, trigger_1=4), two),
                      (dict(ONE, iaddr=0xffffffff80000000), dict(iaddress_width_p=32)),
                      (dict(ONE, itype=1, cause=(1 << 64) - 1), dict(ecause_width_p=64))):
        encode(tool, csv([row]), name="good", **keys)


# [RVT T4.5/2] [RVT 4.2.4/4]
@case
def a_trigger_of_the_second_block(tool):
    log = csv([dict(PAIR, trigger_0=0, trigger_1=4), dict(PAIR, iaddr_0=BASE + 8, iaddr_1=BASE + 12)])
    encode(tool, log, retires_p=4, taken_branches_p=2)
    rows = [json.loads(line) for line in tool.run("packets", "snap", "--format", "jsonl").out.splitlines()]
    equal([row["address"] for row in rows if row.get("notify")], [f"{BASE + 4:#x}"])


# [RVT 3.2.6/5]
@case
def the_predictor_forgets_at_every_synchronization(tool):
    code = Code()
    loop = code.add(NOP, beq(8), NOP, jal(0, -12))
    path = [loop, loop + 4, loop + 12] * 85 + [loop, loop + 4, loop + 8, loop + 12] * 200
    keys = dict(branch_prediction=1, bpred_size_p=4)
    for layout in "seed", "v2":
        encode(tool, csv(retired(code, path)), "ResyncMode=2,ResyncMax=4", layout=layout, **keys)
        trace = (tool.folder / "snap" / "trace.bin").read_bytes()
        for ini in (tool.folder / "snap").glob("*.ini"):
            ini.write_text("".join(line for line in ini.read_text().splitlines(True) if "bpred_reset" not in line))
        done = tool.run("decode", "snap", "--image", code.write(tool), "--format", "pcs")
        equal(pcs(done), path, layout)
        encode(tool, csv(retired(code, path)), "ResyncMode=2,ResyncMax=4", layout=layout, bpred_reset_on_sync=1, **keys)
        equal((tool.folder / "snap" / "trace.bin").read_bytes(), trace)


# [RVT 7.1.3/5] [RVT 2.2/9]
@case
def one_bit_of_diff_is_for_one_kind_of_compression(tool):
    log = "dretire,dtype,daddr,dsize,data\n1,1,2000,2,deadbeef\n1,0,2004,2,deadbee0\n"
    for kind in 1, 2:
        keys = dict(DATA, diff_bits=1, no_address=1, data_compress=kind)
        for value in range(4):
            is_offered = value in (0, kind)
            done = encode(tool, log, f"DataCompress={value}", status=0 if is_offered else 3, **keys)
            if is_offered:
                equal([row[3] for row in accesses(tool)], ["deadbeef", "deadbee0"], (kind, value))
            else:
                assert "one kind of compression" in done.err, done.err
    done = encode(tool, log, status=3, **dict(DATA, diff_bits=1, data_compress=3))
    assert "one kind of compression" in done.err, done.err


# [RVT 6.3/4] [RVT T6.4/3]
@case
def widths_that_are_the_implementations(tool):
    log = csv([dict(ONE, itype=1, cause=(1 << 63) + 7), dict(ONE, iaddr=BASE + 64)])
    encode(tool, log, ecause_width_p=64, encoder_mode_bits=32, ioptions_bits=32, doptions_bits=32)
    rows = [json.loads(line) for line in tool.run("packets", "snap", "--format", "jsonl").out.splitlines()]
    equal([row["ecause"] for row in rows if row["t"] == "f3s1"], [(1 << 63) + 7])
    equal([row["doptions"] for row in rows if row["t"] == "f3s3"], [0, 0])


# [RVT 6/7]
@case
def padding_of_zeros_is_read(tool):
    # Format 1 with all outcomes there; two bits of padding that are not the sign.
    tool.write("padded.bin", bytes.fromhex("411f" "4773000000002000" "4501aaaaaa2a"))
    done = tool.run("packets", "padded.bin", "--protocol", "etrace", "--config", config(context_width_p=8),
                    "--format", "jsonl")
    last = json.loads(done.out.splitlines()[-1])
    equal((last["t"], last["branches"], last["branch_map"]), ("f1", 0, "0x55555554"))


def trace(tool, packets, name="h.bin"):
    """Payloads in the reference flow's encapsulation."""
    tool.write(name, b"".join(bytes([0x40 | len(payload)]) + payload for payload in packets))
    return name


def sync(address, context_bits=8):
    """Format 3, subformat 0, privilege 3 of two bits, no time."""
    value = 3 | 1 << 4 | 3 << 5 | address >> 1 << 7 + context_bits
    return value.to_bytes(10, "little").rstrip(b"\0") + b"\0"


SUPPORT, JUMP, BRANCHES = b"\x1f", b"\x0a", b"\x01\x80"


def decode(tool, packets, *more, status=0, **keys):
    code = Code()
    code.add(NOP, jalr(0, 10))
    return tool.run("decode", trace(tool, packets), "--protocol", "etrace", "--config", config(**keys), "--image",
                    code.write(tool), *more, status=status)


# [RVT 11/2]
@case
def packets_before_the_first_synchronization_are_said(tool):
    done = decode(tool, [SUPPORT, JUMP, JUMP])
    assert "packets before the first synchronization; skipped 4 bytes" in done.err, done.err
    done = decode(tool, [SUPPORT, JUMP, JUMP, sync(BASE)], "--format", "pcs")
    assert "packets before the first synchronization; skipped 4 bytes" in done.err, done.err
    equal(pcs(done), [BASE])


# [RVT 11/9]
@case
def an_unexpected_uninferable_jump_is_said_where_it_is(tool):
    done = decode(tool, [SUPPORT, sync(BASE), BRANCHES], "--errors", "--format", "jsonl", status=1)
    rows = [json.loads(line) for line in done.out.splitlines()]
    equal([row["st"] for row in rows if row["t"] == "INSTR_RANGE"], [f"{BASE:#x}"])
    error = next(row for row in rows if row["t"] == "ERROR")
    equal((error["i"], error["code"]), (2 + 1 + len(sync(BASE)), "image-mismatch"))
    assert f"{BASE + 4:#x}" in error["msg"], error


# [RVT T6.4/2]
@case
def an_encoder_mode_that_is_not_branch_trace_is_said(tool):
    # Bit 5 is encoder_mode.
    done = decode(tool, [SUPPORT, sync(BASE), b"\x3f\0", sync(BASE), BRANCHES, SUPPORT + b"\0", sync(BASE)],
                  "--errors", "--format", "jsonl", status=1)
    rows = [json.loads(line) for line in done.out.splitlines()]
    errors = [row for row in rows if row["t"] == "ERROR"]
    equal([row["code"] for row in errors], ["encoder-mode"])
    assert "encoder mode 1 is not branch trace" in errors[0]["msg"], errors
    equal(sum(row["n"] for row in rows if row["t"] == "INSTR_RANGE"), 2)


# [RVT 6.1/1]
@case
def a_packets_line_names_its_type(tool):
    done = tool.run("packets", trace(tool, [SUPPORT, sync(BASE), JUMP]), "--protocol", "etrace", "--config", config())
    words = [line.split() for line in done.out.splitlines()]
    equal([line[3] for line in words], ["f3s3", "f3s0", "f2"])


# [RVT 6/1]
@case
def a_bad_payload_loses_its_packet_alone(tool):
    # Longer than its fields, and the surplus is no padding; often, and with idle bytes between.
    bad = sync(BASE) + b"\x55\x55\x55\x55"
    packets = [SUPPORT]
    for number in range(60):
        packets += [sync(BASE), bad] if number % 5 == 0 else [sync(BASE)]
    for idle in b"", b"\0\0":
        data = b"".join(bytes([0x40 | len(payload)]) + payload + idle for payload in packets)
        tool.write("h.bin", data)
        done = tool.run("packets", "h.bin", "--protocol", "etrace", "--config", config(), "--format", "jsonl", status=1)
        types = [json.loads(line)["t"] for line in done.out.splitlines()]
        equal((types.count("f3s0"), types.count("bad"), types.count("not_sync")), (60, 12, 0), idle)
        code = Code()
        code.add(NOP, jalr(0, 10))
        done = tool.run("decode", "h.bin", "--protocol", "etrace", "--config", config(), "--image", code.write(tool),
                        "--format", "jsonl", "--errors", status=1)
        errors = [json.loads(line) for line in done.out.splitlines() if '"ERROR"' in line]
        equal((len(errors), {row["skipped"] for row in errors}), (12, {1 + len(bad) + len(idle)}))


# [RVT 7.1.2/1]
@case
def accesses_of_sixteen_bytes(tool):
    log = ("dretire,dtype,daddr,dsize,data\n1,0,1000,4,112233445566778899aabbccddeeff00\n1,1,1010,4,1\n"
           "1,1,1020,2,5\n")
    for more in {}, {"no_address": 1}:
        encode(tool, log, **dict(DATA, data_width_p=128, format_bits=2, **more))
        rows = accesses(tool)
        equal([row[2:] for row in rows], [("4", "112233445566778899aabbccddeeff00"), ("4", "1"), ("2", "5")], more)


# [RVT 7.1.3/1]
@case
def what_is_told_as_a_difference_from_what_was_lost_is_not_known(tool):
    log = "dretire,dtype,daddr,dsize,data\n" + "".join(f"1,1,{0x1000 + 8 * k:x},3,{k:x}\n" for k in range(40))
    encode(tool, log, "DataCompress=2", **DATA)
    path = tool.folder / "snap" / "trace.bin"
    data = path.read_bytes()
    first = 1 + (data[0] & 31)  # the support packet, then the first access, which is in full
    size = 1 + (data[first] & 31)
    path.write_bytes(data[:first] + bytes([0x61]) + b"\x0c" + data[first + size:])
    done = tool.run("decode", "snap", "--format", "jsonl", status=1)
    rows = [json.loads(line) for line in done.out.splitlines() if '"DATA_' in line]
    assert rows and not any("addr" in row for row in rows), rows[:3]
    equal([row["value"] for row in rows if "value" in row],
          [f"{k + 1:#x}" for k, row in enumerate(row for row in rows if row["t"] == "DATA_VALUE") if "value" in row])


def with_accesses(code, path):
    """What a hart reports that loads from 0x1000, 0x1008 ...; the addresses of its loads."""
    loads, rows = [], retired(code, path)
    for row, pc in zip(rows, path):
        is_load = code.words[pc] == load()
        row.update(dretire=int(is_load), dtype=0, daddr=0x1000 + 8 * len(loads) if is_load else 0,
                   dsize=3 if is_load else 0, data=len(loads) if is_load else 0)
        loads += [pc] if is_load else []
    return rows, loads


def tied(tool, *more, image):
    done = tool.run("decode", "snap", "--image", image, "--format", "jsonl", *more)
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [(int(line["pc"], 16) if "pc" in line else None, int(line["addr"], 16))
            for line in lines if line["t"] == "DATA_ADDR"]


BOTH = dict(layout="v2", data_width_p=64, daddress_width_p=64)


# [RVT 4.4/4]
@case
def accesses_are_tied_to_their_instructions(tool):
    for base in (BASE, 0xffffffff80000000):
        code = Code(base)
        start = code.add(load(), NOP, load())
        branch = code.add(beq(8), load(), load(), jal(0, -24))
        path = []
        for turn in range(30):
            path += [start, start + 4, start + 8, branch]
            path += [branch + 4] if turn % 3 else []
            path += [branch + 8, branch + 12]
        rows, loads = with_accesses(code, path)
        encode(tool, csv(rows), "iEnable=1,dEnable=1,DataCompress=1", **BOTH)
        image = code.write(tool)
        want = [(pc, 0x1000 + 8 * n) for n, pc in enumerate(loads)]
        equal(tied(tool, image=image), want, base)
        equal(tied(tool, "--threads", "2", image=image), want, base)


# [RVT 4.4/4]
@case
def accesses_that_cannot_be_tied_are_told_without_an_instruction(tool):
    code = Code()
    start = code.add(load(), NOP, load(), jal(0, -12))
    path = [start, start + 4, start + 8, start + 12] * 4
    rows, loads = with_accesses(code, path)
    # Some are filtered out: which, the trace does not say.
    encode(tool, csv(rows), "iEnable=1,dEnable=1,dFilters=1,filter0.filterEnable=1,filter0.matchComp1=1,"
           "filter0.comp1=0,comparator0.pInput=3,comparator0.pFunction=5,comparator0.pMatch=0x1010", **BOTH)
    equal({pc for pc, _ in tied(tool, image=code.write(tool))}, {None})
    # The program is another one.
    encode(tool, csv(rows), "iEnable=1,dEnable=1", **BOTH)
    other = Code()
    other.add(NOP, NOP, 0x00b53023, jal(0, -12))  # a store
    equal({pc for pc, _ in tied(tool, image=other.write(tool))}, {None})


# [RVT 4.1.2/1]
@case
def harts_that_share_a_stream_are_told_apart(tool):
    code = Code()
    start = code.add(NOP, NOP, beq(-4), jalr(0, 10))
    paths = {1: [start] + ([start + 4, start + 8] * 20 + [start + 12, start]) * 3,
             2: [start] + ([start + 4, start + 8] * 7 + [start + 12, start]) * 5}
    keys = dict(layout="v2", encapsulation="riscv", srcid_bits=8, type_bits=0, nocontext_p=1)
    streams = []
    for hart, path in paths.items():
        encode(tool, csv(retired(code, path)), srcid=hart, id=hart, **keys)
        data, at, packets = (tool.folder / "snap/trace.bin").read_bytes(), 0, []
        while at < len(data):
            size = 2 + (data[at] & 31) if data[at] & 31 else 1
            packets.append(data[at:at + size])
            at += size
        streams.append(packets)
    mixed = b"".join(packet for n in range(max(map(len, streams))) for packets in streams for packet in packets[n:n + 1])
    tool.write("mixed.bin", mixed)
    settings = ("--protocol", "etrace", "--config", config(**keys))
    done = tool.run("decode", "mixed.bin", *settings, "--image", code.write(tool), "--format", "jsonl")
    counts = {}
    for line in map(json.loads, done.out.splitlines()):
        if line["t"] == "INSTR_RANGE":
            equal(line["id"], line["src"])
            counts[line["src"]] = counts.get(line["src"], 0) + line["n"]
    equal(counts, {hart: len(path) for hart, path in paths.items()})
    for hart, path in paths.items():
        done = tool.run("decode", "mixed.bin", *settings, "--src", str(hart), "--image", code.write(tool), "--format", "pcs")
        equal(pcs(done), path, hart)
    said = tool.run("info", "mixed.bin", *settings).out
    assert "src 1: " in said and "src 2: " in said, said
    lines = map(json.loads, tool.run("info", "mixed.bin", *settings, "--format", "jsonl").out.splitlines())
    equal([(line["id"], line["src"], line["packets"]) for line in lines if line["t"] == "SRC"],
          [(0, hart + 1, len(packets)) for hart, packets in enumerate(streams)])


@case
def each_of_the_harts_has_its_own_program(tool):
    one, other = Code(), Code()
    one.add(NOP, NOP, jalr(0, 10))
    other.add(NOP, jalr(0, 10))
    keys = dict(layout="v2", encapsulation="riscv", srcid_bits=8, type_bits=0, nocontext_p=1)
    mixed, paths = b"", {1: [BASE, BASE + 4, BASE + 8] * 3, 2: [BASE, BASE + 4] * 3}
    for hart, code in ((1, one), (2, other)):
        encode(tool, csv(retired(code, paths[hart])), srcid=hart, id=hart, **keys)
        mixed += (tool.folder / "snap/trace.bin").read_bytes()
    tool.write("mixed.bin", mixed)
    done = tool.run("decode", "mixed.bin", "--protocol", "etrace", "--config", config(**keys), "--format", "path",
                    "--image", one.write(tool, "one") + ",src=1", "--image", other.write(tool, "other") + ",src=2")
    found, of = {}, None
    for line in done.out.splitlines():
        of = int(line.split()[2]) if line.startswith("# src") else of
        if line[0] == "R":
            found.setdefault(of, []).append(line)
    equal(found, {1: [f"R {BASE:x} {BASE + 8:x} 3"] * 3, 2: [f"R {BASE:x} {BASE + 4:x} 2"] * 3})


@case
def presets_of_public_encoders(tool):
    code = Code()
    start = code.add(NOP, NOP, beq(-4), jalr(0, 10))
    path = [start] + ([start + 4, start + 8] * 20 + [start + 12, start]) * 3
    tool.write("log.csv", csv([dict(row, priv=1 if False else row["priv"]) for row in retired(code, path)]))
    for preset in ("reference", "te_codec", "siemens", "pulp"):
        tool.run("encode", "log.csv", "--protocol", "etrace", "--preset", preset, "-o", "snap", "--force")
        image = code.write(tool)
        equal(pcs(tool.run("decode", "snap", "--image", image, "--format", "pcs")), path, preset)
        done = tool.run("decode", "snap/trace.bin", "--protocol", "etrace", "--preset", preset, "--image", image,
                        "--format", "pcs")
        equal(pcs(done), path, preset + ", raw")
    equal(len((tool.folder / "snap/trace.bin").read_bytes()) % 40, 0)
    tool.run("decode", "snap/trace.bin", "--protocol", "etrace", "--preset", "nobody", status=2)


def either_width():
    """Code that runs otherwise on RV32 and RV64, and the path it takes there."""
    code = Code()
    code.add(0x00012085, NOP)  # c.jal .+0x60 or c.addiw ra, 1; c.nop
    code.next = BASE + 0x60
    code.add(NOP, beq(-0x60))  # to the nop above
    code.next = BASE + 8
    code.add(jalr(0, 10))
    once = {32: [0, 0x60, 0x64, 4, 8], 64: [0, 2, 4, 8]}
    return code, {xlen: [BASE + offset for offset in once[xlen] * 3] for xlen in once}


def device_of(tool, folder):
    """The trace unit's file of a snapshot."""
    return next(f"{folder}/{path.name}" for path in (tool.folder / folder).glob("device*.ini")
                if "trace_source" in path.read_text())


@case
def the_program_says_how_wide_registers_are(tool):
    code, paths = either_width()
    raw = ("snap/trace.bin", "--protocol", "etrace", "--format", "pcs")
    for xlen, path in paths.items():
        tool.write("run.txt", "".join(f"{pc:x}\n" for pc in path))
        program = code.write_elf(tool, xlen, f"prog{xlen}.elf")
        tool.run("encode", "run.txt", "--protocol", "etrace", "--elf", program, "-o", "snap", "--force")
        device = device_of(tool, "snap")
        assert f"\niaddress_width_p={xlen}\n" in (tool.folder / device).read_text()
        assert any(f"type=RV{xlen}\n" in ini.read_text() for ini in (tool.folder / "snap").glob("*.ini")), xlen
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), path, xlen)
        equal(pcs(tool.run("decode", *raw, "--image", program)), path, (xlen, "defaults"))
        equal(pcs(tool.run("decode", *raw, "--image", program, "--config", device)), path, (xlen, "the unit's file"))
        before = (tool.folder / "snap/trace.bin").read_bytes()
        tool.run("encode", "run.txt", "--protocol", "etrace", "--elf", program, "--config", device, "-o", "again", "--force")
        equal((tool.folder / "again/trace.bin").read_bytes(), before, (xlen, "encoded as the unit's file says"))
        # What is told goes before what the program says.
        other = 96 - xlen
        width = f"iaddress_width_p={other}"
        tool.run("encode", "run.txt", "--protocol", "etrace", "--elf", program, "--config", width, "-o", "told", "--force")
        assert f"\n{width}\n" in (tool.folder / device_of(tool, "told")).read_text()
        equal(pcs(tool.run("decode", "told", "--format", "pcs")), path, (xlen, "told"))
    # A flat file says nothing; then the widths do, or the key that names RV32.
    tool.write("run.txt", "".join(f"{pc:x}\n" for pc in paths[32]))
    tool.run("encode", "run.txt", "--protocol", "etrace", "--elf", "prog32.elf", "-o", "snap", "--force")
    wrong = ("--image", "prog64.elf", "--config", "iaddress_width_p=32")
    assert pcs(tool.run("decode", *raw, *wrong, status=None)) != paths[32]
    equal(pcs(tool.run("decode", *raw, *wrong[:3], wrong[3] + ",use-rv32-isa=1")), paths[32])


@case
def programs_are_given_to_encode_as_to_decode(tool):
    code, paths = either_width()
    flat = code.write(tool)
    tool.write("image.txt", f"xlen 64\nseg {BASE:x} 0 {len(code.bytes())}\n")
    tool.write("image.bin", code.bytes())
    code.base, code.words = BASE - 0x1000, {pc - 0x1000: word for pc, word in code.words.items()}
    moved = code.write_elf(tool, 64, "moved.elf") + "@0x1000"
    tool.write("run.txt", "".join(f"{pc:x}\n" for pc in paths[64]))
    for program in (flat, flat + ",space=any", "image.txt", moved):
        words = ("--config", "iaddress_width_p=64")
        tool.run("encode", "run.txt", "--protocol", "etrace", "--elf", program, *words, "-o", "snap", "--force")
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), paths[64], program)
        done = tool.run("decode", "snap/trace.bin", "--protocol", "etrace", *words, "--image", program, "--format", "pcs")
        equal(pcs(done), paths[64], program)
