/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: runs of random RISC-V programs through the models of the encoders, E-Trace and N-Trace, without damage. */
#ifndef TREE_TEST_RECORDING_H
#define TREE_TEST_RECORDING_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "rv_program.h"

enum {
    RECORDING_SIZE = 96 << 10,
    RECORDING_SYNC = 100, /* packets */
    RECORDING_TEXT = 16384
};

/* A trace as it is written, and what a decoder has to know of it. */
struct recording {
    struct program program;
    struct history history;
    char text[RECORDING_TEXT];
    uint8_t bytes[RECORDING_SIZE];
    size_t size;
};

static inline void recording_append(struct recording *recording, const uint8_t *bytes,
                                    size_t size)
{
    if (size > RECORDING_SIZE - recording->size)
        size = RECORDING_SIZE - recording->size;
    if (size)
        memcpy(recording->bytes + recording->size, bytes, size);
    recording->size += size;
}

/* Runs the program; `retire` takes an instruction at a time.  Nothing traps: what is told in full then would put a wrong
   guess right. */
static inline void recording_run(struct recording *recording, struct check_random *random,
                                 enum tw_status (*retire)(void *unit,
                                                          const struct tw_etrace_block *block),
                                 void *unit)
{
    const struct run_options options = { .may_trap = false };
    struct machine machine = { .program = &recording->program,
                               .options = &options,
                               .random = random,
                               .history = &recording->history,
                               .context = 7,
                               .next_context = 7 };
    uint64_t pc = recording->program.entry[0][0];

    while (recording->size < RECORDING_SIZE) {
        recording->history.count = 0;
        pc = run_one(&machine, pc);
        for (size_t i = 0; i < recording->history.count; i++)
            CHECK_EQ(retire(unit, &recording->history.steps[i].block), TW_OK);
    }
}

static inline void recording_write_etrace(void *context, unsigned stream, const uint8_t *bytes,
                                          size_t size)
{
    if (stream == 0)
        recording_append(context, bytes, size);
}

static inline enum tw_status recording_retire_etrace(void *unit,
                                                     const struct tw_etrace_block *block)
{
    const enum tw_status status = tw_etrace_unit_retire(unit, block, 1);

    tw_etrace_unit_flush(unit);
    return status;
}

static inline void recording_etrace(struct recording *recording, struct check_random *random)
{
    struct tw_etrace_config trace;
    const struct tw_etrace_unit_config config = { .size = sizeof config,
                                                  .trace = &trace,
                                                  .write = recording_write_etrace,
                                                  .write_context = recording };
    struct tw_etrace_unit *unit;

    tw_etrace_config_init(&trace, TW_ETRACE_LAYOUT_V2);
    trace.iaddress_width = trace.xlen = 64;
    trace.itype_width = 4;
    trace.retires = 8;
    trace.resync_packets = RECORDING_SYNC;
    trace.encapsulation = TW_ETRACE_ENCAP_LEN5_TYPE2;
    CHECK(tw_etrace_config_text(recording->text, RECORDING_TEXT, &trace) < RECORDING_TEXT);
    CHECK_EQ(tw_etrace_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "iEnable", 1), TW_OK);
    recording_run(recording, random, recording_retire_etrace, unit);
    tw_etrace_unit_free(unit);
}

static inline void recording_write_ntrace(void *context, const uint8_t *bytes, size_t size)
{
    recording_append(context, bytes, size);
}

static inline enum tw_status recording_retire_ntrace(void *unit,
                                                     const struct tw_etrace_block *block)
{
    return tw_ntrace_unit_retire(unit, block, 1);
}

static inline void recording_ntrace(struct recording *recording, struct check_random *random)
{
    struct tw_ntrace_config trace;
    const struct tw_ntrace_unit_config config = { .size = sizeof config,
                                                  .trace = &trace,
                                                  .write = recording_write_ntrace,
                                                  .write_context = recording };
    struct tw_ntrace_unit *unit;

    tw_ntrace_config_init(&trace);
    trace.mode = TW_NTRACE_MODE_HTM;
    trace.sync_messages = RECORDING_SYNC;
    CHECK(tw_ntrace_config_text(recording->text, RECORDING_TEXT, &trace) < RECORDING_TEXT);
    CHECK_EQ(tw_ntrace_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeEnable", 1), TW_OK);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeInstTracing", 1), TW_OK);
    recording_run(recording, random, recording_retire_ntrace, unit);
    tw_ntrace_unit_free(unit);
}

/* The protocols, and how a program's run is recorded. */
static const struct {
    const char *protocol;
    void (*record)(struct recording *recording, struct check_random *random);
} recording_kinds[] = { { "etrace", recording_etrace }, { "ntrace", recording_ntrace } };

/* A random program and its run; free it. */
static inline struct recording *recording_of(size_t kind, struct check_random *random)
{
    struct recording *recording = calloc(1, sizeof *recording);

    CHECK(recording != NULL);
    make_program(&recording->program, random);
    recording_kinds[kind].record(recording, random);
    return recording;
}

#endif
