/* SPDX-License-Identifier: BSD-2-Clause */
/* A script at work: the buffer unit, its memory and translation, the trace unit and its log. */
#ifndef TRBE_SIM_H
#define TRBE_SIM_H

#include <trackway/etmv4_unit.h>
#include <trackway/log.h>
#include <trackway/sim.h>
#include <trackway/trbe.h>

#include "base/text.h"

enum { SIM_WORDS = 24, SIM_REGIONS = 16, SIM_MAPS = 16, SIM_HELD = 4096, SIM_PES = 16 };

struct sim_region {
    uint64_t base, size;
    uint8_t *bytes;
};

struct sim_map {
    uint64_t from, to, size;
};

/* A PE: its buffer unit, its trace unit, and what it is to execute. */
struct sim_pe {
    struct tw_trbe_config unit_config;
    struct tw_trbe *unit;
    uint8_t buffered[SIM_HELD]; /* in the trace unit */
    size_t buffered_size;
    struct tw_etmv4_unit_config tracer_config;
    struct tw_etmv4_unit *tracer;
    struct tw_log *log, *own_log;
    struct tw_step step; /* the instructions at work, and how far */
    size_t step_at;
    size_t sent;                    /* of the tracer's output */
    bool is_running;                /* the log */
    bool is_full;                   /* it has overflowed */
    bool is_allowed;                /* trace, as the tracer was told */
    uint64_t hcr_el2;               /* likewise */
    uint64_t executed;              /* instructions */
    uint64_t next;                  /* address behind the last of them ... */
    uint8_t next_isa;               /* ... and its instruction set */
    struct tw_step_context context; /* of the processor */
    uint64_t trace_bytes;           /* that the tracer made */
    uint64_t misuses;               /* of the tracer */
};

struct sim {
    const struct tw_sim_config *config;
    struct tw_sim_result *result;
    struct tw_fault *fault;
    struct sim_pe *pes[SIM_PES]; /* made when they are first named */
    struct sim_pe *pe;           /* the one at work ... */
    unsigned pe_number;          /* ... and its number */
    bool has_pes;                /* the script names them */
    struct sim_region regions[SIM_REGIONS];
    size_t region_count;
    struct sim_map maps[SIM_MAPS];
    size_t map_count;
    bool has_fault, is_abort;
    uint64_t fault_at, busy_at; /* busy_at 0: nowhere */
    struct tw_trbe_fault kind;
    uint64_t spent; /* of the limit */

    size_t number; /* of the line */
    struct tw_text text;
    enum tw_status status;

    char *word[SIM_WORDS];
    size_t count;
};

/* sim_print.c */
void tw_sim_begin(struct sim *sim, const char *type);
void tw_sim_end(struct sim *sim);
void tw_sim_event(void *context, const struct tw_trbe_event *event);
void tw_sim_show(struct sim *sim);
void tw_sim_tracer_register(struct sim *sim, const char *name, uint64_t value);
/* Software did to the trace unit what it must not. */
void tw_sim_misuse(struct sim *sim, const char *text);
void tw_sim_ran(struct sim *sim, uint64_t instructions, uint64_t bytes, bool is_end);
void tw_sim_register(struct sim *sim, enum tw_trbe_register name, uint64_t value);
void tw_sim_expected(struct sim *sim, const char *what, uint64_t got, uint64_t want);
void tw_sim_drained(struct sim *sim, const uint8_t *bytes, size_t size, const char *name);

/* sim_setup.c */
bool tw_sim_is_word(const char *word, const char *name); /* in any case */
bool tw_sim_number(uint64_t *value, const char *text);
/* The number at a word; names of modes are numbers too. */
enum tw_status tw_sim_number_at(struct sim *sim, size_t index, uint64_t *value);
enum tw_status tw_sim_config(struct sim *sim);
enum tw_status tw_sim_memory(struct sim *sim);
enum tw_status tw_sim_map(struct sim *sim);
enum tw_status tw_sim_fault(struct sim *sim);
enum tw_status tw_sim_busy(struct sim *sim);

/* sim_unit.c: the trace unit and its log. */
enum tw_status tw_sim_tracer(struct sim *sim); /* "unit ..." */
enum tw_status tw_sim_need_tracer(struct sim *sim);
enum tw_status tw_sim_preset(struct sim *sim);
enum tw_status tw_sim_log(struct sim *sim);
enum tw_status tw_sim_run_log(struct sim *sim);
/* The script's processor takes an interrupt, or returns from one. */
enum tw_status tw_sim_level(struct sim *sim, bool is_exception, unsigned el);
/* What the buffer unit tells reaches the tracer. */
void tw_sim_heed(struct sim *sim, const struct tw_trbe_event *event);
/* The processor's registers may have changed. */
enum tw_status tw_sim_look_again(struct sim *sim);
size_t tw_sim_flush_tracer(struct sim *sim, uint8_t *bytes, size_t room);
/* TW_END: the tracer has no register of this name. */
enum tw_status tw_sim_tracer_write(struct sim *sim, const char *name, uint64_t value);
bool tw_sim_tracer_read(struct sim *sim, const char *name, uint64_t *value);
/* The PE's OS Lock, which is the trace unit's too. */
enum tw_status tw_sim_lock(struct sim *sim, bool is_locked);
/* Told when a register is read whose value is not known while the tracer is enabled. */
void tw_sim_check_read(struct sim *sim, const char *name);
/* All trace that is made goes to the buffer unit, and its triggers. */
enum tw_status tw_sim_offer(struct sim *sim);

/* sim_command.c: one line, already cut into words. */
enum tw_status tw_sim_command(struct sim *sim);

/* sim.c */
enum tw_status tw_sim_wrong(struct sim *sim, const char *format, ...) TW_PRINTF(2, 3);
enum tw_status tw_sim_need_unit(struct sim *sim);
bool tw_sim_read_memory(void *context, uint8_t *bytes, uint64_t address, size_t size);
/* Makes a PE the one that the following lines are of. */
enum tw_status tw_sim_select(struct sim *sim, unsigned number);
/* False: beyond the limit; said so. */
bool tw_sim_spend(struct sim *sim, uint64_t size);

#endif
