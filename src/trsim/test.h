/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts for the Trace Control Interface in tests: what they print and the files they name. */
#ifndef TRSIM_TEST_H
#define TRSIM_TEST_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

enum { TEST_FILES = 8 };

struct sim_file {
    const char *name;
    uint8_t *bytes;
    size_t size;
    bool is_ours; /* saved by the script */
};

struct sim_run {
    char out[16384];
    size_t size;
    struct sim_file files[TEST_FILES];
    size_t file_count;
    char names[TEST_FILES][32];
    struct tw_sim_result result;
    struct tw_fault fault;
};

static inline void keep_line(void *context, const char *text, size_t size)
{
    struct sim_run *run = context;

    if (run->size + size + 2 > sizeof run->out)
        return;
    memcpy(run->out + run->size, text, size);
    run->size += size;
    run->out[run->size++] = '\n';
    run->out[run->size] = 0;
}

static inline struct sim_file *sim_file(struct sim_run *run, const char *name)
{
    for (size_t i = 0; i < run->file_count; i++)
        if (strcmp(run->files[i].name, name) == 0)
            return &run->files[i];
    return NULL;
}

static inline bool load_file(void *context, const char *name, const uint8_t **bytes,
                             size_t *size)
{
    const struct sim_file *file = sim_file(context, name);

    if (!file)
        return false;
    *bytes = file->bytes;
    *size = file->size;
    return true;
}

static inline bool save_file(void *context, const char *name, const uint8_t *bytes, size_t size)
{
    struct sim_run *run = context;
    struct sim_file *file = sim_file(run, name);

    if (!file && run->file_count == TEST_FILES)
        return false;
    if (!file) {
        strncpy(run->names[run->file_count], name, sizeof run->names[0] - 1);
        file = &run->files[run->file_count];
        *file = (struct sim_file){ .is_ours = false };
        file->name = run->names[run->file_count++];
    }
    if (file->is_ours)
        free(file->bytes);
    file->bytes = malloc(size + 1);
    CHECK(file->bytes != NULL);
    memcpy(file->bytes, bytes, size);
    file->size = size;
    file->is_ours = true;
    return true;
}

static inline enum tw_status run_script(struct sim_run *run, const char *script,
                                        struct tw_image *image, bool is_json)
{
    const struct tw_sim_config config = { .size = sizeof config,
                                          .is_json = is_json,
                                          .context = run,
                                          .line = keep_line,
                                          .load = load_file,
                                          .save = save_file,
                                          .image = image };

    run->size = 0;
    run->out[0] = 0;
    run->fault = (struct tw_fault){ TW_OK, "" };
    return tw_sim_run_riscv(&run->result, script, strlen(script), &config, &run->fault);
}

static inline void end_scripts(struct sim_run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].is_ours)
            free(run->files[i].bytes);
    run->file_count = 0;
}

#endif
