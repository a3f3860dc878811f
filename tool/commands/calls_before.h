/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of trackway calls --before share. */
#ifndef CALLS_BEFORE_H
#define CALLS_BEFORE_H

#include <trackway/disassembly.h>
#include <trackway/walk.h>

#include "commands/calls.h"
#include "shared/source_text.h"

enum { BEFORE_FRAMES = 256 };

enum before_kind {
    BEFORE_END,
    BEFORE_OFFSET,
    BEFORE_TIME,
    BEFORE_INSTRUCTION,
    BEFORE_EXCEPTION,
    BEFORE_TRIGGER,
    BEFORE_ADDRESS,
    BEFORE_FUNCTION
};

/* A call or return, or a range, and whose it was. */
struct before_step {
    struct tw_run *run;
    struct tw_part part;
    struct tw_call_event event;
    struct tw_element range;
};

struct before_command {
    struct output out;
    struct tw_calls *calls;
    struct names names;
    struct source_texts texts;
    struct feed *feed;
    struct tw_walk *walk;
    struct tw_disassembler *disassembler;
    bool has_tried_disassembler;

    enum before_kind kind;
    uint64_t value, nth;
    uint64_t executed; /* instructions so far */
    char text[512];    /* name of a function */

    struct tw_run *run;
    const struct tw_part *part;
    bool by_instruction;
    struct before_step *steps; /* the newest `room` of step_count */
    size_t room;
    uint64_t step_count;

    bool is_found;
    struct tw_call_place stack[BEFORE_FRAMES];
    size_t depth;
    uint32_t thread;
    uint64_t here; /* address, if has_here; else behind the last range */
    bool has_here;
    struct tw_part last; /* part of the last range */
    struct tw_run *last_run;
    struct tw_element last_range;
    bool has_last;
};

/* calls_before_text.c */
/* Instructions of a range up to and with the one at an address. */
uint32_t before_instructions(struct before_command *command, const struct tw_part *part,
                             const struct tw_element *range, uint64_t address);
/* The first so many instructions of a range. */
struct tw_element before_cut(struct before_command *command, const struct tw_part *part,
                             const struct tw_element *range, uint32_t instructions);
void before_print(struct before_command *command);
void before_close(struct before_command *command);

#endif
