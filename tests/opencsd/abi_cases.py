# SPDX-License-Identifier: BSD-2-Clause
"""The drop-in has the layout, the numbers and the names of the library that it stands in for."""
import pathlib
import re
import subprocess

import headers
from harness import ROOT, Skip, case

OURS = ROOT / "compat" / "opencsd" / "include"


def compile_and_run(tool, compiler, name, text, *flags):
    source = tool.folder / f"{name}.c"
    source.write_text(text)
    program = tool.folder / name
    subprocess.run([*compiler, "-std=c11", "-w", *flags, "-o", program, source], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def theirs(tool):
    if not headers.system_folder(tool.compiler):
        raise Skip("no libopencsd-dev")
    return headers.preprocess(tool.compiler)


@case
def structs_and_numbers_are_those_of_the_headers(tool):
    text = theirs(tool)
    program = headers.layout_program(text, headers.macros(tool.compiler))
    want = compile_and_run(tool, tool.compiler, "theirs", program).splitlines()
    got = compile_and_run(tool, tool.compiler, "ours", program, f"-I{OURS}").splitlines()
    assert len(want) > 700, len(want)
    wrong = [f"{a} / {b}" for a, b in zip(want, got) if a != b]
    assert want == got, "\n".join(wrong[:20])


@case
def functions_are_those_of_the_headers(tool):
    text = theirs(tool)
    declared = headers.functions(text)
    assert len(declared) == 33, sorted(declared)
    source = tool.folder / "functions.c"
    source.write_text(f"#include <{headers.MAIN}>\n" + "".join(f"{d};\n" for d in declared.values()))
    subprocess.run([*tool.compiler, "-std=c11", "-fsyntax-only", "-Werror", f"-I{OURS}", source],
                   check=True)


@case
def headers_compile_alone_and_as_cxx(tool):
    for header in sorted(OURS.rglob("*.h")):
        name = header.relative_to(OURS)
        for compiler in (tool.compiler + ["-std=c11", "-x", "c"], tool.compiler + ["-std=c99", "-x", "c"],
                         ["c++", "-std=c++11", "-x", "c++"], ["c++", "-std=c++17", "-x", "c++"]):
            for version in ([], ["-DTRACKWAY_OPENCSD_API=0x10701"]):
                subprocess.run([*compiler, "-Wall", "-Wextra", "-Wpedantic", "-fsyntax-only", "-Werror",
                                f"-I{OURS}", *version, "-include", str(name), "/dev/null"], check=True)


@case
def later_layout_has_the_known_sizes(tool):
    program = ('#include <stdio.h>\n#include <stddef.h>\n#include <opencsd/c_api/opencsd_c_api.h>\n'
               'int main(void) { printf("%zu %zu %zu %d %d %d %zu %zu\\n", sizeof(ocsd_generic_trace_elem),'
               ' offsetof(ocsd_generic_trace_elem, ptr_extended_data), sizeof(ocsd_etmv4_i_pkt),'
               ' OCSD_GEN_TRC_ELEM_CUSTOM, UNSYNC_EOT, OCSD_ERR_LAST, sizeof(ocsd_instr_info),'
               ' offsetof(ocsd_instr_info, type)); return 0; }\n')
    got = compile_and_run(tool, tool.compiler, "later", program, f"-I{OURS}",
                          "-DTRACKWAY_OPENCSD_API=0x10701")
    assert got == "96 88 176 19 7 47 64 32\n", got


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[2].split("@")[0] for line in done.stdout.splitlines()}


@case
def exports_are_the_functions_and_nothing_else(tool):
    declared = set(headers.functions(headers.preprocess(tool.compiler, f"-I{OURS}")))
    assert len(declared) == 34, len(declared)
    assert exported(tool.library) == declared, exported(tool.library) ^ declared
    system = [path for path in pathlib.Path("/usr/lib").glob("*/libopencsd_c_api.so.1")]
    if not system:
        raise Skip("no libopencsd1")
    original = {name for name in exported(system[0]) if name.startswith("ocsd_")}
    assert declared - original == {"ocsd_dt_set_mem_acc_cacheing"} and not original - declared


@case
def names_that_loaders_ask_for(tool):
    for name in ("libopencsd_c_api.so.1", "libopencsd.so.1"):
        done = subprocess.run(["readelf", "-d", tool.library.parent / name], check=True,
                              capture_output=True, text=True)
        assert re.search(rf"SONAME.*\[{re.escape(name)}\]", done.stdout), done.stdout
        assert "RPATH" not in done.stdout and "trackway" not in done.stdout, done.stdout
