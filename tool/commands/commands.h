/* SPDX-License-Identifier: BSD-2-Clause */
/* Every sub-command, in the order of the help: NAME is `command_NAME` of commands/NAME.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "shared/options.h"

/* Those that start programs and talk to them are not there on Windows, nor in a page. */
#if defined(_WIN32) || defined(__EMSCRIPTEN__)
#define ON_POSIX(COMMAND, name)
#else
#define ON_POSIX(COMMAND, name) COMMAND(name)
#endif

/* clang-format off */
#define EACH_COMMAND(COMMAND) \
    COMMAND(identify)         \
    COMMAND(doctor)           \
    COMMAND(info)             \
    COMMAND(frames)           \
    COMMAND(packets)          \
    COMMAND(decode)           \
    COMMAND(branches)         \
    COMMAND(calls)            \
    COMMAND(profile)          \
    COMMAND(annotate)         \
    COMMAND(timeline)         \
    COMMAND(interrupts)       \
    COMMAND(coverage)         \
    COMMAND(report)           \
    ON_POSIX(COMMAND, serve)  \
    ON_POSIX(COMMAND, view)   \
    ON_POSIX(COMMAND, gdb)    \
    COMMAND(diff)             \
    COMMAND(shard)            \
    COMMAND(merge)            \
    COMMAND(formats)          \
    COMMAND(stats)            \
    COMMAND(channels)         \
    COMMAND(pack)             \
    COMMAND(index)            \
    COMMAND(snapshot)         \
    COMMAND(encode)           \
    ON_POSIX(COMMAND, record) \
    COMMAND(check_sequence)   \
    COMMAND(sim)
/* clang-format on */

/* In the details of a command that lists each capture. */
#define LISTS_EACH "Several captures are listed one after the other, each under its name.\n"

#define DECLARE_COMMAND(name) extern const struct command command_##name;
EACH_COMMAND(DECLARE_COMMAND)

#endif
