/* SPDX-License-Identifier: BSD-2-Clause */
/* What is used of libdw. */
#ifndef IMAGE_LIBDW_H
#define IMAGE_LIBDW_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "base/library.h"

#define TW_LIBDW_CALLS(CALL)                                                                   \
    CALL(dwarf_attr)                                                                           \
    CALL(dwarf_attr_integrate)                                                                 \
    CALL(dwarf_begin)                                                                          \
    CALL(dwarf_child)                                                                          \
    CALL(dwarf_decl_line)                                                                      \
    CALL(dwarf_dieoffset)                                                                      \
    CALL(dwarf_end)                                                                            \
    CALL(dwarf_filesrc)                                                                        \
    CALL(dwarf_formstring)                                                                     \
    CALL(dwarf_formudata)                                                                      \
    CALL(dwarf_getsrc_die)                                                                     \
    CALL(dwarf_getsrcfiles)                                                                    \
    CALL(dwarf_haspc)                                                                          \
    CALL(dwarf_linediscriminator)                                                              \
    CALL(dwarf_lineno)                                                                         \
    CALL(dwarf_linesrc)                                                                        \
    CALL(dwarf_nextcu)                                                                         \
    CALL(dwarf_offdie)                                                                         \
    CALL(dwarf_ranges)                                                                         \
    CALL(dwarf_siblingof)                                                                      \
    CALL(dwarf_tag)                                                                            \
    CALL(dwfl_begin)                                                                           \
    CALL(dwfl_end)                                                                             \
    CALL(dwfl_module_getdwarf)                                                                 \
    CALL(dwfl_module_getelf)                                                                   \
    CALL(dwfl_report_elf)                                                                      \
    CALL(dwfl_report_end)

TW_LIBRARY(tw_libdw, TW_LIBDW_CALLS);

#endif
