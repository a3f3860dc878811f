# SPDX-License-Identifier: BSD-2-Clause
"""Reads the OpenCSD headers that a compiler finds: structs with their members, constants, functions."""
import pathlib
import re
import subprocess

MAIN = "opencsd/c_api/opencsd_c_api.h"


def preprocess(compiler, *flags):
    """All declarations of the interface, without comments and macros."""
    done = subprocess.run([*compiler, "-E", "-P", *flags, "-include", MAIN, "-x", "c", "/dev/null"],
                          check=True, capture_output=True, text=True)
    return done.stdout


def block_end(text, at):
    """The place behind the brace that closes the one before `at`."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def members(body):
    """(path, is a bit-field) of everything in a struct or union."""
    found, at = [], 0
    while True:
        nested = re.compile(r"\s*(?:struct|union)\s*\w*\s*\{").match(body, at)
        if nested:
            end = block_end(body, nested.end())
            name = re.compile(r"\s*(\w*)\s*;").match(body, end)
            inner = members(body[nested.end():end - 1])
            if name.group(1):
                found.append((name.group(1), False))
                inner = [(f"{name.group(1)}.{path}", is_bits) for path, is_bits in inner]
            found += inner
            at = name.end()
            continue
        end = body.find(";", at)
        if end < 0:
            return found
        text, at = body[at:end].strip(), end + 1
        bits = re.search(r"(\w+)\s*:\s*\d+$", text)
        if bits:
            found.append((bits.group(1), True))
        elif text:
            found.append((re.search(r"(\w+)\s*(\[[^\]]*\])?$", text).group(1), False))


def structs(text):
    """{name: members} of every typedef of a struct or union."""
    found = {}
    for start in re.finditer(r"typedef\s+(?:struct|union)\s+_\w+\s*\{", text):
        end = block_end(text, start.end())
        name = re.compile(r"\s*(\w+)\s*;").match(text, end).group(1)
        if "ocsd" in name or "etmv" in name or "ptm" in name or name.startswith(("trace_", "swt_")):
            found[name] = members(text[start.end():end - 1])
    return found


def constants(text):
    """Every name in an enum of the interface."""
    found = []
    for body, _ in re.findall(r"typedef\s+enum\s+_\w+\s*\{(.*?)\}\s*(\w+)\s*;", text, re.S):
        found += [re.match(r"\w+", word.strip()).group(0) for word in body.split(",") if word.strip()]
    return found


def macros(compiler, *flags):
    """Names of macros of the interface that stand for a number."""
    done = subprocess.run([*compiler, "-E", "-dM", *flags, "-include", MAIN, "-x", "c", "/dev/null"],
                          check=True, capture_output=True, text=True)
    return sorted(name for name, value in re.findall(r"^#define (\w+) (.+)$", done.stdout, re.M)
                  if re.match(r"(OCSD_|C_API_|ETE_|ETM4_|DATA_ADDR)", name)
                  and re.match(r"[(\d]", value) and "dcd_tree" not in value)


def functions(text):
    """{name: declaration} of every function."""
    return {name: declaration for declaration, name in
            re.findall(r"((?:const\s+)?\w+[\s*]+(ocsd_\w+)\s*\([^;{}]*\)\s*);", text)
            if "typedef" not in declaration}


def layout_program(text, numbers):
    """C that prints sizes, offsets, bits and numbers."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <string.h>", f"#include <{MAIN}>",
             "static void bits(const char *name, const void *value, size_t size) {",
             "    const unsigned char *bytes = value;", '    printf("%s", name);',
             '    for (size_t i = 0; i < size; i++) if (bytes[i]) printf(" %zu:%02x", i, bytes[i]);',
             '    puts(""); }', "int main(void) {"]
    for name, found in structs(text).items():
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for path, is_bits in found:
            if is_bits:
                lines.append(f"    {{ {name} v; memset(&v, 0, sizeof v); v.{path} = (unsigned)~0u;"
                             f' bits("{name}.{path}", &v, sizeof v); }}')
            else:
                lines.append(f'    printf("{name}.{path} %zu %zu\\n", offsetof({name}, {path}),'
                             f" sizeof((({name} *)0)->{path}));")
    for name in constants(text) + numbers:
        lines.append(f'    printf("{name} %lld\\n", (long long)({name}));')
    return "\n".join(lines + ["    return 0; }", ""])


def system_folder(compiler):
    """Where libopencsd-dev has put its headers, or None."""
    folder = pathlib.Path("/usr/include")
    return folder if (folder / MAIN).exists() else None


def system_library(compiler):
    """The original, or None."""
    done = subprocess.run([*compiler, "-print-file-name=libopencsd_c_api.so.1"], capture_output=True, text=True,
                          check=False)
    path = pathlib.Path(done.stdout.strip())
    return path if path.is_absolute() and path.exists() else None
