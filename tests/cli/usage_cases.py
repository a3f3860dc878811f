# SPDX-License-Identifier: BSD-2-Clause
"""Help, usage errors, exit statuses, and that the manual and the completions are complete."""
import json
import re
import shutil
import subprocess

from harness import ROOT, case, equal

COMMANDS = ["identify", "doctor", "info", "frames", "packets", "decode", "branches", "calls", "profile", "annotate", "timeline", "interrupts", "coverage", "report", "serve", "view", "gdb", "diff", "shard", "merge", "formats", "stats", "channels", "pack",
            "index", "snapshot", "encode", "record", "check-sequence", "sim"]


def options_of(tool, command):
    """Long and short options that a command's help lists."""
    text = tool.run(command, "--help").out.split("\nOptions:\n")[1]
    return re.findall(r"^  (?:-(\w),|   ) --([a-z-]+)", text, re.M)


@case
def help_lists_every_command(tool):
    text = tool.run("--help").out
    equal(re.findall(r"^  ([\w-]+) +\w", text, re.M)[:len(COMMANDS)], COMMANDS)
    equal(tool.run("help").out, text)


@case
def help_of_each_command(tool):
    for command in COMMANDS:
        text = tool.run("help", command).out
        equal(tool.run(command, "--help").out, text)
        equal(tool.run(command, "-h", "more", "words").out, text)
        assert text.startswith(f"usage: trackway {command} "), text
        assert max(map(len, text.splitlines())) <= 80, text


@case
def version_names_features_and_protocols(tool):
    lines = tool.run("--version").out.splitlines()
    assert re.fullmatch(r"trackway \d+\.\d+\.\d+", lines[0]), lines
    assert lines[1].startswith("features: "), lines
    assert "etmv4" in lines[2].split(), lines


@case
def no_command(tool):
    done = tool.run(status=2)
    equal(done.out, "")
    equal(done.err, 'trackway: what shall it do? "trackway --help" lists the commands\n')


@case
def unknown_command_gets_a_suggestion(tool):
    equal(tool.run("farmes", status=2).err,
          'trackway: no command "farmes"; did you mean "frames"?\n')
    equal(tool.run("help", "decdoe", status=2).err,
          'trackway: no command "decdoe"; did you mean "decode"?\n')
    equal(tool.run("xyzzy-1", status=2).err,
          'trackway: no command "xyzzy-1"; "trackway --help" lists them\n')


@case
def unknown_option_gets_a_suggestion(tool):
    equal(tool.run("info", "x", "--formt", "jsonl", status=2).err,
          "trackway: info: no option --formt; did you mean --format?\n")
    equal(tool.run("info", "x", "--zzzzzzzzzz", status=2).err,
          'trackway: info: no option --zzzzzzzzzz; "trackway info --help" lists them\n')
    equal(tool.run("info", "-Z", "x", status=2).err,
          'trackway: info: no option -Z; "trackway info --help" lists them\n')
    # An option of another command is none of this one.
    tool.run("info", "x", "--split", "d", status=2)


@case
def bad_values_say_what_to_do(tool):
    for words, said in [
            (["frames", "x", "--from", "x1"], '--from: "x1" is no place; give an offset'),
            (["frames", "x", "--from", "0x"], "is no place"),
            (["frames", "x", "--wrapped-at", "x1"],
             '--wrapped-at: "x1" is no number; write 4096, 0x1000'),
            (["frames", "x", "--from", "t:5"], "--from and --to want offsets"),
            (["decode", "x", "--tid", "5,y"], '--tid: "y" is no number'),
            (["frames", "x", "--from", "18446744073709551616"], "is no place"),
            (["frames", "x", "--to"], "--to wants a value: --to PLACE"),
            (["frames", "x", "--all=1"], "--all takes no value"),
            (["frames", "x", "--id", "0x80"], '"0x80" is no trace ID; give numbers from 0'),
            (["frames", "x", "--id", "1,,2"], '"" is no trace ID'),
            (["frames", "x", "--format", "xml"], '--format: there is no "xml"; there is text|jsonl'),
            (["frames", "x", "--framing", "memroy"], 'there is none|memory|tpiu|tpiu-hsync|dstream'),
            (["frames", "x", "--color", "blue"], '--color: there is no "blue"; there is auto|'),
            (["frames", "x", "--source", "zz:etmv4"], "ID:PROTOCOL[:CONFIG]"),
            (["frames", "x", "--config", "A=1"], "--config wants --protocol with it"),
            (["frames", "x", "--protocol", "etmv5"], 'there is no protocol "etmv5"; did you mean'),
            (["decode", "x", "--opt", "fast"], '--opt: there is no "fast"; there are src-addr-n'),
            (["decode", "x", "--opt", "range-limit=0"], "range-limit wants a number from 1"),
            (["decode", "x", "--check=all"], '--check: there is no "all"; there are opcodes'),
            (["decode", "x", "--range", "9-8"], '"9-8" is no range of addresses'),
            (["decode", "x", "--format", "csv", "--columns", "i,zz"], 'there is no "zz"'),
            (["decode", "x", "--image", "@0x10"], "--image wants a file"),
            (["decode", "x", "--image", "f,space=EL9"], 'there is no space "EL9"'),
            (["info"], "usage: trackway info CAPTURE"),
            (["doctor", "a", "b"], 'one argument too many: "b"'),
            (["pack"], "nothing to pack; give --stream ID:FILE"),
            (["pack", "--stream", "0x70:f"], "with an ID from 0x01 to 0x6f"),
            (["pack", "--stream", "f"], "is not ID:FILE"),
            (["snapshot"], "where to? give --output FOLDER"),
            (["snapshot", "-o", "d"], "give at least one --device"),
    ]:
        done = tool.run(*words, status=2)
        equal(done.out, "", words)
        assert done.err.startswith(f"trackway: {words[0]}: ") and said in done.err, done.err
        equal(done.err.count("\n"), 1, done.err)
    equal(list(tool.folder.iterdir()), [])


@case
def a_capture_that_is_not_there(tool):
    for command in ["info", "frames", "packets", "decode", "stats"]:
        done = tool.run(command, "gone", status=3)
        equal(done.out, "")
        assert done.err.startswith("trackway: ") and "gone" in done.err, done.err
        equal(done.err.count("\n"), 1, done.err)


@case
def options_may_stand_anywhere_and_be_joined(tool):
    tool.write("raw.bin", bytes(32))
    want = tool.run("info", "raw.bin", "--framing", "memory").out
    equal(tool.run("info", "--framing=memory", "raw.bin").out, want)
    equal(tool.run("info", "--framing=memory", "--", "raw.bin").out, want)
    equal(tool.run("info", "-qv", "--framing=memory", "raw.bin").out, want)
    tool.run("info", "-qooutput.txt", "--framing=memory", "raw.bin")
    equal((tool.folder / "output.txt").read_text(), want)


@case
def output_file_appears_whole_or_not_at_all(tool):
    tool.write("raw.bin", bytes(32))
    tool.write("old.txt", "old")
    tool.run("info", "gone", "-o", "old.txt", status=3)
    equal((tool.folder / "old.txt").read_text(), "old")
    tool.run("frames", "raw.bin", "--framing", "memory", "-o", "no/such/folder", status=3)
    tool.run("frames", "raw.bin", "--framing", "memory", "-o", ".", status=3)
    tool.run("frames", "raw.bin", "--framing", "memory", "-o", "/dev/null")
    tool.run("frames", "raw.bin", "--framing", "memory", "-o", "old.txt")
    assert (tool.folder / "old.txt").read_text() != "old"
    equal(sorted(p.name for p in tool.folder.iterdir()), ["old.txt", "raw.bin"])


@case
def a_full_disk_is_told(tool):
    tool.write("raw.bin", bytes(1 << 20))
    done = tool.run("frames", "raw.bin", "--framing", "memory", "-o", "/dev/full", status=3)
    assert "cannot write /dev/full" in done.err, done.err


@case
def a_closed_pipe_ends_quietly(tool):
    tool.write("raw.bin", bytes(range(16)) * (1 << 18))
    running = tool.start("frames", "raw.bin", "--framing", "none")
    running.stdout.readline()
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    equal(running.wait(60), 0, said)
    equal(said, b"")


@case
def color_only_when_asked_for(tool):
    tool.write("raw.bin", bytes(32))
    assert "\033" not in tool.run("info", "raw.bin").out
    assert "\033[1m" in tool.run("info", "raw.bin", "--color", "always").out


@case
def manual_names_every_command_and_option(tool):
    manual = (ROOT / "docs" / "man" / "trackway.1").read_text().replace("\\-", "-")
    for command in COMMANDS:
        assert re.search(rf"^\.SS trackway {command}\b", manual, re.M), command
        for letter, option in options_of(tool, command):
            assert re.search(rf"--{option}(?![a-z-])", manual), f"{command} --{option}"
            assert not letter or re.search(rf"-{letter}\b", manual), f"{command} -{letter}"


# Prints what a shell offers for the last of its words, with the shell's own functions where it has to ask.
BASH = """
set -u
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_trackway
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
file=$1; shift
words=("$@"); CURRENT=$#
_files() { print -r -- "files $*" }
_describe() { local one; for one in "${(@P)4}"; do one=${one//\\\\:/$'\\1'}; print -r -- "${${one%%:*}//$'\\1'/:}"; done }
set --
source $file
"""


def offered(tool, shell, *words):
    """What the shell's completion makes of these words."""
    name, text = ("trackway.bash", BASH) if shell == "bash" else ("_trackway", ZSH)
    done = subprocess.run([shell, "-c", text, shell, str(ROOT / "tool" / "completion" / name),
                           tool.program, *words], cwd=tool.folder, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    equal(done.stderr, "")
    return sorted(filter(None, done.stdout.split("\n")))


def every_shell():
    return [shell for shell in ("bash", "zsh") if shutil.which(shell)]


@case
def completions_offer_every_command_and_option(tool):
    for shell in every_shell():
        equal(offered(tool, shell, ""), sorted([*COMMANDS, "help", "--help", "--version"]))
        equal(offered(tool, shell, "help", ""), sorted(COMMANDS))
        equal(offered(tool, shell, "inf"), ["info"])
        for command in COMMANDS:
            options = options_of(tool, command)
            want = [f"--{option}" for _, option in options]
            want += [f"-{letter}" for letter, _ in options if letter]
            equal(offered(tool, shell, command, "-"), sorted(want), f"{shell}: {command}")
        equal(offered(tool, shell, "nothing", "-"), [])


@case
def completions_offer_values(tool):
    tool.write("folder/file", "")
    tool.write("a file", "")
    protocols = re.search(r"^protocols: (.*)", tool.run("--version").out, re.M).group(1).split()
    formats = re.search(r"--format FORMAT\s+(\S+)", tool.run("decode", "--help").out).group(1)
    presets = ("minimal exclude include reference reference-data te_codec siemens pulp esp32").split()
    for shell in every_shell():
        for words, want in [
                (["decode", "--protocol", ""], protocols),
                (["decode", "capture", "--format", ""], formats.split("|")),
                (["decode", "--framing", "tpiu"], ["tpiu", "tpiu-hsync"]),
                (["annotate", "--preset", ""], presets),
                (["info", "--col"], ["--color"]),
                (["info", "--color", ""], ["always", "auto", "never"]),
                (["index", "--buffer", "show", ""], ["build", "find", "show"]),
                (["decode", "--at", ""], []),
        ]:
            equal(offered(tool, shell, *words), sorted(want), f"{shell}: {words}")
    equal(offered(tool, "bash", "decode", "--check", "=", "at"), ["atoms"])
    equal(offered(tool, "bash", "decode", "--check", "="), ["atoms", "continuity", "opcodes"])
    equal(offered(tool, "bash", "decode", "--framing", "=", "tp", "--check", "=", "at"), ["atoms"])
    equal(offered(tool, "bash", "info", ""), ["a file", "folder"])
    equal(offered(tool, "bash", "info", "-o", "f"), ["folder"])
    equal(offered(tool, "bash", "index", "show", ""), ["a file", "folder"])
    equal(offered(tool, "bash", "decode", "--sysroot", ""), ["folder"])
    for words, want in [(["info", ""], ["files "]), (["info", "--sysroot", ""], ["files -/"]),
                        (["decode", "--check=at"], ["--check=atoms"])]:
        if shutil.which("zsh"):
            equal(offered(tool, "zsh", *words), want)


@case
def commands_that_take_captures_take_the_same_options(tool):
    """One group for each: what opens a capture with one command opens it with all."""
    opens = set(("source framing protocol plugin config preset arch no-barrier wrapped-at strip-stop image "
                 "allow-outside no-sandbox sysroot symfs kernel vdso build-ids").split())
    executed = set(("src cpu pid tid comm symbols trust-time opt clock threads on-error assume-sync "
                    "progress buffer id from to output color quiet verbose").split())
    for command in COMMANDS:
        names = [name for _, name in options_of(tool, command)]
        equal(sorted(set(names)), sorted(names), command)
        if "sysroot" in names and command != "record":
            assert opens <= set(names), (command, opens - set(names))
        if "pid" in names:
            # It is GDB, or a page, that writes; in a page one chooses what is looked at.
            other = {"gdb": {"output", "color"}, "serve": {"output", "color", "from", "to", "buffer", "id"}}
            other["view"] = other["serve"]
            wanted = executed - other.get(command, set())
            assert wanted <= set(names), (command, wanted - set(names))
            equal(command in other, "output" not in names, command)


@case
def formats_are_those_of_the_commands(tool):
    """Each format of a command that writes for other programs stands in the table, and nothing else does."""
    table = {}
    for line in tool.run("formats", "--format", "jsonl").out.splitlines():
        row = json.loads(line)
        assert row["commands"], row
        for command in row["commands"]:
            table.setdefault(command, set()).add(row["name"])
    text = tool.run("formats").out.splitlines()
    equal(len(text), 1 + len(tool.run("formats", "--format", "jsonl").out.splitlines()))
    own = {"text", "perf", "profgen", "afl", "afl-map"}  # for people, or of one command alone
    for command in ["calls", "profile", "coverage", "branches", "timeline"]:
        listed = re.search(r"--format FORMAT\s+([a-z|\s-]+?) \(default", tool.run(command, "--help").out)[1]
        equal(table[command], set(re.sub(r"\s", "", listed).split("|")) - own, command)
