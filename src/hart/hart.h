/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readers of a hart's logs share. */
#ifndef HART_HART_H
#define HART_HART_H

#include <string.h>

#include <trackway/hart.h>
#include <trackway/log.h>

#include "base/fault.h"
#include "base/memory.h"
#include "image/file.h"
#include "isa/isa.h"

enum { TW_HART_QUEUE = 8, TW_HART_COLUMNS = 40, TW_HART_CODES = 4096, TW_HART_BATCH = 64 };

/* An instruction that was looked at. */
struct tw_hart_code {
    uint64_t address; /* plus one; 0: none */
    uint32_t opcode;
    struct tw_rv_instruction what;
};

/* Blocks that are given at once, one a cycle. */
struct tw_hart_batch {
    struct tw_etrace_block blocks[TW_HART_BATCH]; /* what no run has in them stays 0 */
    size_t count;
    uint64_t repeats; /* of the last of them, each `step` later than the one before */
    uint64_t step;
};

/* How the hart reports the last instruction of a run. */
struct tw_hart_exit {
    uint8_t itype;
    bool is_sequential;
    bool ends; /* a block */
};

struct tw_hart {
    struct tw_hart_options options;
    struct tw_etrace_config trace;
    bool drops_ecalls; /* what traps does not retire, whatever the log says */
    struct tw_fault fault;
    struct tw_file file;
    uint8_t *inflated;
    const char *at, *end;
    unsigned line;
    bool is_ended;
    enum tw_status (*next)(struct tw_hart *hart);

    /* What is ready to be given. */
    struct tw_etrace_block blocks[TW_HART_QUEUE];
    size_t given, count;
    struct tw_etrace_access access;
    bool has_access;
    bool is_row;    /* what is ready is of one cycle */
    uint16_t halts; /* bit n: the hart stood still before block n */
    bool is_response;
    struct tw_hart_response response;
    uint8_t signals;
    bool has_signals;
    bool was_halted, was_reset; /* as the encoder was told */

    /* addresses to blocks */
    uint8_t isa;
    struct tw_rv_options rv;
    uint8_t priv, last_priv; /* in force, and of the last instruction */
    bool has_last, has_before;
    bool is_free; /* where the program goes on is not known: a trap, a gap */
    uint64_t last_pc;
    const struct tw_rv_instruction *last;
    struct tw_rv_instruction before, current;
    struct tw_etrace_block open;
    uint32_t open_count;
    bool keeps_open; /* the last instruction: a trap belongs to its block */
    uint64_t instructions;

    /* runs of the path form */
    uint64_t run_at, run_last, run_left;

    /* csv */
    uint8_t columns[TW_HART_COLUMNS];
    unsigned column_count;

    /* execution logs, or the function that gives steps instead of one */
    struct tw_log *log;
    enum tw_status (*step)(void *context, struct tw_step *step);
    void *step_context;
    const struct tw_retired *retired;
    size_t retired_left;
    const struct tw_retired_run *runs;
    size_t runs_left;
    uint32_t run_done;    /* instructions of the first of them ... */
    uint32_t run_repeats; /* ... which was executed so many times */
    struct tw_hart_batch batch;

    struct tw_hart_code codes[TW_HART_CODES];
};

/* Says what is wrong with the log, and in which line. */
enum tw_status tw_hart_wrong(struct tw_hart *hart, const char *format, ...) TW_PRINTF(2, 3);
/* The next line, without its end; false: there is none. */
bool tw_hart_line(struct tw_hart *hart, const char **line, size_t *size);
void tw_hart_queue(struct tw_hart *hart, const struct tw_etrace_block *block);

/* path.c: the program came here, was trapped, ended. */
enum tw_status tw_hart_step(struct tw_hart *hart, uint64_t pc);
/* It came to the first of these, which are no jumps, and went on to the others; returns how many it
   took: no more than one block holds. */
size_t tw_hart_pass(struct tw_hart *hart, const struct tw_retired *list, size_t count,
                    enum tw_status *status);
struct tw_hart_trap {
    uint64_t epc, tval, cause;
    bool is_interrupt;
};
enum tw_status tw_hart_trap(struct tw_hart *hart, const struct tw_hart_trap *trap);
/* Instructions that the log does not show: the hart stands still. */
void tw_hart_gap(struct tw_hart *hart);
/* The code at an address, for programs that no one gave. */
void tw_hart_note_new(struct tw_hart *hart, uint64_t address, uint32_t opcode);
static inline void tw_hart_note(struct tw_hart *hart, uint64_t address, uint32_t opcode)
{
    const struct tw_hart_code *code = &hart->codes[address >> 1 & (TW_HART_CODES - 1)];

    if (code->address != address + 1 || code->opcode != opcode)
        tw_hart_note_new(hart, address, opcode);
}
void tw_hart_finish(struct tw_hart *hart);
enum tw_status tw_hart_set_priv(struct tw_hart *hart, uint64_t priv);

/* The last instruction went on to `next`. */
enum tw_status tw_hart_leave(struct tw_hart *hart, uint64_t next);
/* The code that the hart puts on itype for a jump. */
uint8_t tw_hart_jump_type(const struct tw_hart *hart, const struct tw_rv_instruction *what);
/* What was noted of this address. */
static inline const struct tw_rv_instruction *tw_hart_known(const struct tw_hart *hart,
                                                            uint64_t address)
{
    return &hart->codes[address >> 1 & (TW_HART_CODES - 1)].what;
}

/* blocks.c: as many of the runs that wait as go into hart->batch, no more than `most`; false: the next one is not for
   it. */
bool tw_hart_gather(struct tw_hart *hart, size_t most, enum tw_status *status);
/* Runs that an encoder may take as they are, and how many of them it took. */
size_t tw_hart_whole_runs(const struct tw_hart *hart);
void tw_hart_took_runs(struct tw_hart *hart, size_t count);

/* Each takes what it needs of the log's beginning, or says that it is not its own. */
enum tw_status tw_hart_csv_begin(struct tw_hart *hart, bool *is_mine);
enum tw_status tw_hart_runs_begin(struct tw_hart *hart, bool *is_mine);
enum tw_status tw_hart_log_begin(struct tw_hart *hart, const uint8_t *bytes, size_t size);
void tw_hart_steps_begin(struct tw_hart *hart);

/* Digits of a number; false: it is none. */
bool tw_hart_number(uint64_t *value, const char *text, size_t size, unsigned base);

#endif
