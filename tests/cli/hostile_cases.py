# SPDX-License-Identifier: BSD-2-Clause
"""Files of strangers: they reach nothing but what they were given."""
import os

from bad_input import changed, write
from harness import ROOT, Skip, case, equal
from perf_file import ETMV4, RAW, PerfFile

REGISTERS = {"TRCCONFIGR": 1, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403, "TRCIDR2": 0x488}
ELF = (b"\x7fELF\2\1\1".ljust(16, b"\0") + bytes.fromhex("0200b70001000000") + bytes(8) + (64).to_bytes(8, "little") + bytes(12) +
       bytes.fromhex("40003800010000000000") + b"\0\0" +
       bytes.fromhex("0100000005000000") + bytes(24) + (200).to_bytes(8, "little") * 2 + bytes(8)).ljust(200, b"\x1f")


def recording(tool, name, build_id=b""):
    """perf.data of a process that had this file mapped."""
    perf = PerfFile()
    perf.info(ETMV4, {0: REGISTERS})
    perf.comm(100, "a", 1)
    if build_id:
        perf.records += with_build_id(perf, name, build_id)
    else:
        perf.map(100, 0x400000, 0x1000, 0, name, 2)
    perf.start(100, 3)
    perf.aux(0, 16, RAW, 100, 4)
    perf.trace(bytes(11) + b"\x80\x01\x01\x00\x04", 0)
    tool.write("perf.data", perf.bytes())


def with_build_id(perf, name, build_id):
    other = PerfFile()
    other.map(100, 0x400000, 0x1000, 0, name, 2, mode=2 | 1 << 14)
    made = bytearray(other.records)
    made[40:64] = bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0")
    return bytes(made)


def copied(tool, *words):
    """What a snapshot of the recording holds of the file's bytes."""
    tool.run("snapshot", "--from", "perf.data", "-o", "snap", "--force", *words, status=None)
    folder = tool.folder / "snap"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*"))) if folder.is_dir() else b""


@case
def a_recording_does_not_leave_the_sysroot(tool):
    tool.write("root/usr/bin/a", b"PUBLIC" * 10)
    tool.write("secret", b"SECRET" * 10)
    recording(tool, "/usr/bin/a")
    assert b"PUBLIC" in copied(tool, "--sysroot", "root")
    for name in ("/../secret", "/usr/../../secret", "//usr/./bin/../../../../secret", "../secret"):
        recording(tool, name)
        assert b"SECRET" not in copied(tool, "--sysroot", "root"), name
        assert b"SECRET" not in copied(tool, "--sysroot", "root/"), name


@case
def links_in_a_sysroot_lead_to_its_own_files(tool):
    tool.write("root/usr/lib/a", b"PUBLIC" * 10)
    tool.write("secret", b"SECRET" * 10)
    (tool.folder / "root/lib").symlink_to("/usr/lib")
    (tool.folder / "root/usr/up").symlink_to("../..")
    (tool.folder / "root/usr/out").symlink_to(tool.folder / "secret")
    (tool.folder / "root/usr/loop").symlink_to("loop")
    recording(tool, "/lib/a")
    assert b"PUBLIC" in copied(tool, "--sysroot", "root")
    for name in ("/usr/up/secret", "/usr/out", "/usr/loop", "/usr/loop/a"):
        recording(tool, name)
        assert b"SECRET" not in copied(tool, "--sysroot", "root"), name


@case
def what_is_no_program_is_not_taken_from_this_machine(tool):
    tool.write("program", ELF + b"PUBLIC" * 10)
    tool.write("secret", b"SECRET" * 10)
    recording(tool, str(tool.folder / "program"))
    assert b"\x1f\x1f\x1f" in copied(tool)
    recording(tool, str(tool.folder / "secret"))
    assert b"SECRET" not in copied(tool)


@case
def a_file_without_the_build_id_is_another_file(tool):
    tool.write("root/bin/a", ELF + b"SECRET" * 10)
    tool.write("root/bin/b", b"SECRET" * 10)
    for name in ("/bin/a", "/bin/b"):
        recording(tool, name, build_id=b"0123456789abcdef0123")
        assert b"SECRET" not in copied(tool, "--sysroot", "root"), name
        assert "build ID" in tool.run("info", "perf.data", "--sysroot", "root", status=None).err


@case
def a_link_in_a_snapshot_stays_inside(tool):
    write(tool)
    (tool.folder / "snap/code.bin").rename(tool.folder / "snap/there.bin")
    (tool.folder / "snap/code.bin").symlink_to("there.bin")
    equal(tool.run("info", "snap").err, "")
    (tool.folder / "snap/code.bin").unlink()
    tool.write("secret.bin", bytes(64))
    for target in ("../secret.bin", str(tool.folder / "secret.bin")):
        (tool.folder / "snap/code.bin").symlink_to(target)
        assert "leads out of the snapshot's folder" in tool.run("info", "snap", status=3).err
        tool.run("info", "snap", "--allow-outside", status=None)
        (tool.folder / "snap/code.bin").unlink()
    write(tool, **changed("trace.ini", "file=etb.bin", "file=sub/etb.bin"))
    tool.write("etb.bin", bytes(64))
    (tool.folder / "snap/sub").symlink_to("..")
    assert "leads out" in tool.run("info", "snap", status=3).err


SCRIPT = """memory 0x10000 0x2000
TRBBASER_EL1 = 0x10000
TRBPTR_EL1 = 0x10000
TRBLIMITR_EL1 = 0x12001
isb
file {file}
tsb
dsb
drain 0x10000 to {drain}
"""


@case
def a_script_stays_in_its_folder(tool):
    tool.write("secret", bytes(64))
    tool.write("run/bytes", bytes(64))
    (tool.folder / "run/out").symlink_to("..")
    where = tool.folder

    def run(file, drain, *words, status=0):
        tool.write("run/s.sim", SCRIPT.format(file=file, drain=drain))
        return tool.run("sim", "trbe", "run/s.sim", *words, status=status).err

    run("bytes", "drained")
    assert (where / "run/drained").exists()
    assert "exists already; --force" in run("bytes", "drained", status=3)
    run("bytes", "drained", "--force")
    for file, drain in ((where / "secret", "new"), ("../secret", "new"), ("out/secret", "new"),
                        ("bytes", where / "new"), ("bytes", "../new"), ("bytes", "out/new")):
        assert "leads out of the script's folder; --allow-outside" in run(file, drain, status=3)
        assert not (where / "new").exists() and not (where / "run/new").exists()
        run(file, drain, "--allow-outside")
        for name in ("new", "run/new"):
            if (where / name).exists():
                os.remove(where / name)


CONFIG = ("--protocol", "etmv4", "--config", ",".join(f"{name}={value:#x}" for name, value in REGISTERS.items()))
SYNC = bytes(11) + b"\x80\x01\x01\x00\x04"


@case
def a_capture_that_shrinks_is_an_error(tool):
    """The output is held up until the file is cut: what is mapped of it is gone."""
    path = tool.write("c.bin", (SYNC + b"\xf7" * 1000) * 30000)
    for words in (("packets",), ("packets", "-o", "fifo")):
        os.truncate(path, 30000 * 1016)
        if len(words) > 1:
            os.mkfifo(tool.folder / "fifo")
        process = tool.start(words[0], "c.bin", *CONFIG, *words[1:])
        out = open(tool.folder / "fifo", "rb") if len(words) > 1 else process.stdout
        out.read(1 << 16)
        os.truncate(path, 4096)
        while out.read(1 << 20):
            pass
        said = process.stderr.read().decode()
        equal(process.wait(), 3, said)
        assert "has become shorter" in said, said
        if len(words) > 1:
            out.close()
        tool.write("c.bin", (SYNC + b"\xf7" * 1000) * 30000)


@case
def packets_up_to_a_place_read_no_further(tool):
    """What lies behind it is not looked at: it is damaged, and nobody says so."""
    good, bad = (SYNC + b"\xf7" * 100) * 10, SYNC + b"\x01\x01\x00" + b"\x02\x02\x05\xff" * 50000
    tool.write("c.bin", good + bad)
    tool.run("packets", "c.bin", *CONFIG, status=1)
    done = tool.run("packets", "c.bin", *CONFIG, "--to", "0x200")
    equal(done.err, "")
    whole = tool.run("packets", "c.bin", *CONFIG, status=1).out.splitlines()
    equal(done.out.splitlines(), [line for line in whole if int(line.split()[0], 16) < 0x200])


@case
def a_count_is_of_what_is_shown(tool):
    demo = ROOT / "tests" / "captures" / "demo"
    whole = tool.run("decode", demo, "--from", "0x400").out.splitlines()
    equal(tool.run("decode", demo, "--from", "0x400", "--count", "3").out.splitlines(), whole[:3])
    equal(len(whole[:3]), 3)


@case
def an_index_replaces_files_alone(tool):
    tool.write("c.bin", SYNC * 10)
    os.mkfifo(tool.folder / "pipe")
    for name in ("pipe", "."):
        assert "could not be written" in tool.run("index", "build", "c.bin", *CONFIG, "--index", name, status=3).err
    assert (tool.folder / "pipe").is_fifo()


@case
def two_builders_of_one_index(tool):
    """Whichever is last, the file is a whole index and nothing else is left."""
    tool.write("c.bin", (SYNC + b"\xf7" * 200) * 2000)
    tool.run("index", "build", "c.bin", *CONFIG)
    want = (tool.folder / "c.bin.twx").read_bytes()
    for _ in range(5):
        (tool.folder / "c.bin.twx").unlink()
        builders = [tool.start("index", "build", "c.bin", *CONFIG) for _ in range(4)]
        for builder in builders:
            equal(builder.wait(), 0, builder.stderr.read())
        equal((tool.folder / "c.bin.twx").read_bytes(), want)
        equal(sorted(path.name for path in tool.folder.iterdir()), ["c.bin", "c.bin.twx"])


@case
def commands_give_up_what_they_do_not_need(tool):
    """Seen in /proc while the command waits for its reader."""
    if not os.path.exists("/proc/self/status") or os.environ.get("TW_SANITIZED") or os.uname().machine not in ("x86_64", "aarch64"):
        raise Skip("no filter here")
    tool.write("c.bin", (SYNC + b"\xf7" * 1000) * 3000)
    for words, want in (((), "2"), (("--no-sandbox",), "0")):
        process = tool.start("packets", "c.bin", *CONFIG, *words)
        process.stdout.read(1 << 16)
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            state = dict(line.split(":", 1) for line in file if ":" in line)
        process.stdout.close()
        process.stderr.read()
        process.wait()
        if "Seccomp" not in state:
            raise Skip("no filter in this kernel")
        base = int(open("/proc/self/status", encoding="utf-8").read().split("Seccomp:")[1].split()[0])
        equal(state["Seccomp"].strip() if base == 0 or want == "2" else "0", want, words)


@case
def confined_commands_say_what_free_ones_say(tool):
    demo = ROOT / "tests" / "captures" / "demo"
    for command in ("info", "packets", "decode", "stats", "calls", "profile", "coverage", "timeline", "interrupts", "branches"):
        for more in ((), ("--threads", "3")) if command in ("decode", "profile") else ((),):
            one = tool.run(command, demo, *more, status=None)
            two = tool.run(command, demo, *more, "--no-sandbox", status=None)
            equal((one.returncode, one.stdout, one.stderr), (two.returncode, two.stdout, two.stderr), command)
