/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of this folder: a small snapshot in memory, whole or with changes. */
#ifndef CAPTURE_TEST_H
#define CAPTURE_TEST_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

/* A file of a snapshot that lies in memory. */
struct file {
    const char *name, *text;
};

struct served {
    const struct file *files;
    const uint8_t *replacement; /* of snapshot.ini */
    size_t size;
};

enum { FILES_MAX = 8 };

#define INDEX                                                                                  \
    "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n[trace]\nmetadata=trace."   \
    "ini\n"
#define CORE                                                                                   \
    "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump]\nfile=code.bin\naddress="       \
    "0x1000\n"
#define ETM                                                                                    \
    "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4.2\nlocation=address:0x100\n[regs]\n"  \
    "TRCTRACEIDR(id:4)=0x10\nTRCIDR0(0x78)=0x28000EA1\n"
#define TRACE                                                                                  \
    "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=trace.bin\n"                \
    "format=coresight\n[core_trace_sources]\ncpu_0=ETM_0\n[source_buffers]\nETM_0=ETB_0\n"

static const struct file good[FILES_MAX] = {
    { "snapshot.ini", INDEX }, { "cpu.ini", CORE },          { "etm.ini", ETM },
    { "trace.ini", TRACE },    { "code.bin", "0123456789" }, { "trace.bin", "abcdef" },
};

static inline enum tw_status serve(void *context, const uint8_t **bytes, size_t *size,
                                   const char *path, struct tw_fault *fault)
{
    const struct served *served = context;
    const char *name = strncmp(path, "snap/", 5) == 0 ? path + 5 : path;

    if (served->replacement && strcmp(name, "snapshot.ini") == 0) {
        *size = served->size;
        *bytes = check_copy(served->replacement, *size);
        return TW_OK;
    }
    for (const struct file *file = served->files; file < served->files + FILES_MAX; file++)
        if (file->name && strcmp(file->name, name) == 0) {
            *size = strlen(file->text);
            *bytes = check_copy(file->text, *size);
            return TW_OK;
        }
    (void)snprintf(fault->text, sizeof fault->text, "%s: not there", path);
    return TW_E_FILE;
}

static inline void drop(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)bytes);
}

static inline enum tw_status open_served(struct tw_capture **capture,
                                         const struct served *served,
                                         const struct tw_capture_options *options,
                                         struct tw_fault *fault)
{
    const struct tw_files files = { serve, drop, (void *)(uintptr_t)served };

    return tw_capture_open_files(capture, "snap", options, &files, fault);
}

/* The good snapshot with some files put in place of its own; a NULL text takes a file away. */
static inline enum tw_status open_changed(struct tw_capture **capture,
                                          const struct file changes[4],
                                          const struct tw_capture_options *options,
                                          struct tw_fault *fault)
{
    struct file files[FILES_MAX];
    const struct served served = { .files = files };

    memcpy(files, good, sizeof files);
    for (size_t i = 0; i < 4 && changes[i].name; i++) {
        size_t place = 0;

        while (files[place].name && strcmp(files[place].name, changes[i].name) != 0)
            place++;
        CHECK(place < FILES_MAX);
        files[place] = changes[i];
        if (!changes[i].text)
            files[place].name = "(gone)";
    }
    return open_served(capture, &served, options, fault);
}

static inline struct tw_capture *open_good(const struct file changes[4])
{
    struct tw_capture *capture;
    struct tw_fault fault = { .text = "" };

    if (open_changed(&capture, changes, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

/* Looks at all that a capture says. */
static inline void look_at_all(struct tw_capture *capture)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
        const struct tw_device *device = tw_capture_device(capture, i);

        for (size_t k = 0; k < device->dump_count; k++)
            for (size_t b = 0; b < device->dumps[k].length; b++)
                sum += device->dumps[k].bytes[b];
        for (size_t k = 0; k < device->register_count; k++)
            sum += strlen(device->registers[k].name) + device->details[k].bits;
    }
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        const uint8_t *bytes;
        size_t size;

        for (uint64_t at = 0; tw_capture_read(capture, &bytes, &size, i, at) == TW_OK;
             at += size)
            for (size_t b = 0; b < size; b++)
                sum += bytes[b];
    }
    CHECK(sum < UINT64_MAX);
}

#endif
