/* SPDX-License-Identifier: BSD-2-Clause */
/* What is used of libelf. */
#ifndef IMAGE_LIBELF_H
#define IMAGE_LIBELF_H

#include <gelf.h>

#include "base/library.h"

#define TW_LIBELF_CALLS(CALL)                                                                  \
    CALL(elf_begin)                                                                            \
    CALL(elf_end)                                                                              \
    CALL(elf_errmsg)                                                                           \
    CALL(elf_getdata)                                                                          \
    CALL(elf_getphdrnum)                                                                       \
    CALL(elf_getscn)                                                                           \
    CALL(elf_getshdrstrndx)                                                                    \
    CALL(elf_kind)                                                                             \
    CALL(elf_ndxscn)                                                                           \
    CALL(elf_nextscn)                                                                          \
    CALL(elf_rawdata)                                                                          \
    CALL(elf_strptr)                                                                           \
    CALL(elf_version)                                                                          \
    CALL(gelf_fsize)                                                                           \
    CALL(gelf_getehdr)                                                                         \
    CALL(gelf_getphdr)                                                                         \
    CALL(gelf_getshdr)                                                                         \
    CALL(gelf_getsym)

/* Of a file that it was to read. */
#define TW_LIBELF_MISSING "%s: libelf is not on this machine, or too old (Debian: libelf1)"

TW_LIBRARY(tw_libelf, TW_LIBELF_CALLS);

#endif
