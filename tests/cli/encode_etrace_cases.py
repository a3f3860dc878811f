# SPDX-License-Identifier: BSD-2-Clause
"""Logs of RISC-V harts through the trace encoder, and back."""
import gzip
import subprocess
import sys

from harness import case, corpus, equal

# The code stands in the log.
TEXT = """trackway-log 1
isa rv64
i 0x1000 00000013
i 0x1004 00050463 taken     # beqz a0, 0x100c
i 0x100c 008000ef           # jal ra, 0x1014
i 0x1014 00008067 taken 0x1010
i 0x1010 00000013
i 0x1014 00008067 taken 0x1010
i 0x1010 00000013
"""
PCS = [0x1000, 0x1004, 0x100c, 0x1014, 0x1010, 0x1014, 0x1010]
BLOCKS = """itype_0,cause,tval,priv,iaddr_0,context,ctype,iretire_0,ilastsize_0
0,0,0,3,1000,0,0,1,1
5,0,0,3,1004,0,0,1,1
9,0,0,3,100c,0,0,1,1
13,0,0,3,1014,0,0,1,1
0,0,0,3,1010,0,0,1,1
"""
WIDE = "layout=v2,iaddress_width_p=64,privilege_width_p=2,itype_width_p=4"


def pcs(done):
    return [int(line, 16) for line in done.out.split() if not line.startswith("#")]


@case
def a_riscv_log_comes_back(tool):
    tool.write("run.log", TEXT)
    tool.write("core.scf", f"[Required Attributes]\n{WIDE}\nreturn_stack_size_p=3\n")
    for more in [(), ("--framing", "memory"), ("--config", "core.scf"),
                 ("--config", "core.scf", "--unit", "ImplicitReturn=1,ResyncMode=3,ResyncMax=0"),
                 ("--config", WIDE.replace("v2", "seed") + ",encapsulation=atb"),
                 ("--config", WIDE + ",encapsulation=riscv,type_bits=1,block_size=32"),
                 ("--unit", "fifo=64,stallEnable=1,cycles-per-byte=9")]:
        tool.run("encode", "run.log", "--protocol", "etrace", "-o", "snap", "--force", *more)
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), PCS, more)


@case
def filters_of_the_riscv_encoder(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "etrace", "-o", "snap", "--config",
             WIDE + ",filters_p=2,comparators_p=2", "--unit",
             "iFilters=1,filter0.filterEnable=1,filter0.matchComp1=1,filter0.comp1=1,"
             "comparator1.pFunction=5,comparator1.pMatch=0x100c")
    equal(pcs(tool.run("decode", "snap", "--format", "pcs")), [pc for pc in PCS if pc >= 0x100c])


@case
def blocks_of_a_hart(tool):
    tool.write("input", BLOCKS)
    tool.run("encode", "input", "--protocol", "etrace", "-o", "snap", "--config",
             WIDE + ",retires_p=1")
    rows = tool.run("packets", "snap").out
    for packet in ["address=0x1000", "branches=1 branch_map=0x0 field=0x8 address=0x1010",
                   "ienable=0 encoder_mode=0 qual_status=3"]:
        assert packet in rows, rows


@case
def data_accesses_of_a_hart(tool):
    tool.write("data.csv", "DRETIRE,DTYPE,DADDR,DSIZE,DATA\n1,0,80000010,3,1122334455667788\n"
                           "1,1,80000018,2,55\n")
    for how in ["len5-type2", "atb"]:
        tool.run("encode", "data.csv", "--protocol", "etrace", "-o", "snap", "--force", "--config",
                 f"{WIDE},data_width_p=64,daddress_width_p=64,encapsulation={how}", "--unit",
                 "dEnable=1,DataCompress=3")
        done = tool.run("decode", "snap").out
        assert "0x80000010" in done and "0x1122334455667788" in done and "0x80000018" in done, done


@case
def what_is_wrong_with_a_harts_log_is_told(tool):
    tool.write("run.log", TEXT)
    tool.write("skips", BLOCKS.replace("5,0,0,3,1004", "7,0,0,3,1004"))
    tool.write("addresses", "1000\n9000\n")
    for arguments, said in [
            (("skips", "--config", WIDE + ",retires_p=1"), "skips: line 3: block at 0x1004: there is no such itype"),
            (("addresses",), "addresses: line 1: 0x1000 is not in the program"),
            (("run.log", "--config", "layout=v2,itype_width_p=2"), "itype_width_p is 2; it must be 3 or 4"),
            (("run.log", "--config", "layout=v2,colour=red"), 'unknown key "colour"'),
            (("run.log", "--config", "nowhere"), "cannot read nowhere"),
            (("run.log", "--unit", "iFilters=70000"), "iFilters has 16 bits; 70000 has more"),
            (("run.log", "--unit", "filter9.comp1=1"), "there is no field filter9.comp1")]:
        done = tool.run("encode", *arguments, "--protocol", "etrace", "-o", "x", status=3)
        assert said in done.err, (said, done.err)
        assert not (tool.folder / "x").exists()
    done = tool.run("encode", "run.log", "--preset", "minimal", "--protocol", "etrace", "-o", "x", status=2)
    assert "--preset minimal is not for etrace" in done.err, done.err
    tool.run("encode", "run.log", "--protocol", "etrace", "-o", "x")
    assert "exists" in tool.run("encode", "run.log", "--protocol", "etrace", "-o", "x", status=3).err
    tool.run("encode", "run.log", "--protocol", "etrace", "-o", "x", "--force")


@case
def riscv_programs_of_the_corpus_come_back(tool):
    folder = corpus() / "exec"
    for name in ["rv64-recur", "rv64-interp"]:
        log = folder / "logs" / f"{name}.exlog.gz"
        want = subprocess.run([sys.executable, folder / "tools" / "exlog.py", "pcs", log],
                              stdout=subprocess.PIPE, check=True).stdout.split()
        for more in [("--elf", folder / "logs" / f"{name}.elf"), ()]:
            tool.run("encode", log, "--protocol", "etrace", "-o", name, "--force", *more)
            got = tool.run("decode", name, "--format", "pcs").out.split()
            equal([int(word, 16) for word in got], [int(word, 16) for word in want], name)


@case
def a_packed_list_of_addresses(tool):
    tool.write("code.log", TEXT)
    tool.write("run.gz", gzip.compress(b"trackway-log 1\nisa rv64\ni 0x1000 00000013\n"))
    tool.run("encode", "run.gz", "--protocol", "etrace", "-o", "snap")
    equal(pcs(tool.run("decode", "snap", "--format", "pcs")), [0x1000])
