/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units by name: what the kinds share. */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <trackway/hart.h>
#include <trackway/unit.h>

#include "base/compiler.h"
#include "base/fault.h"

enum { TW_UNIT_REGISTERS = 32, TW_UNIT_TEXT = 16384 };

/* Code of the logs that is in no program file. */
struct tw_unit_page {
    uint64_t base;
    uint8_t *bytes; /* NULL: the program file has this page */
};

struct tw_unit_block; /* of memory that is given back with the unit */

struct tw_unit {
    struct tw_unit_config config;
    const struct tw_allocator *allocator;
    const struct tw_unit_kind *kind;
    struct tw_unit_block *blocks;
    struct tw_fault fault;
    bool has_begun, has_finished, has_failed;
    bool takes_steps; /* not logs */

    /* The log that is at work: a file or bytes. */
    const char *path;
    const uint8_t *bytes;
    size_t size;
    unsigned line; /* of a text log; 0: of none */

    /* What logs told of the processor. */
    bool is_m;
    unsigned xlen;                            /* RISC-V; 0: not told */
    const char *cpu;                          /* NULL: they do not say */
    bool has_nonsecure;                       /* M profile: code of the Non-secure state ran */
    bool has_pointer_auth, has_late_branches; /* what of its code not every core has */

    struct tw_unit_page *pages;
    size_t page_count, page_room, last_page;

    void *model; /* the kind's */
    struct tw_register registers[TW_UNIT_REGISTERS];
    struct tw_unit_trace trace;
    const char *device; /* its name in a snapshot */
    bool is_of_no_core; /* STM */

    struct tw_snapshot_device devices[3];
    struct tw_snapshot_buffer buffers[2];
    struct tw_register data_id;
    struct tw_framer *framer;
};

struct tw_unit_kind {
    const char *protocol;
    const char *presets; /* or NULL */
    bool takes_riscv;
    enum tw_status (*begin)(struct tw_unit *unit);
    enum tw_status (*step)(struct tw_unit *unit, const struct tw_step *step);
    enum tw_status (*run)(struct tw_unit *unit); /* reads the log itself; or NULL: step does */
    enum tw_status (*end)(struct tw_unit *unit);
    const uint8_t *(*output)(const struct tw_unit *unit, size_t *size);
    void (*take)(struct tw_unit *unit);
    void (*free)(struct tw_unit *unit);
};

extern const struct tw_unit_kind tw_unit_ete, tw_unit_etmv4, tw_unit_ptm, tw_unit_etmv3,
    tw_unit_itm, tw_unit_stm, tw_unit_etrace, tw_unit_ntrace;

/* Zeroed memory until the unit is freed; NULL: there is none. */
void *tw_unit_room(struct tw_unit *unit, size_t size);
char *tw_unit_copy(struct tw_unit *unit, const char *text);

/* The model is made, when the first log or step comes. */
enum tw_status tw_unit_begin_once(struct tw_unit *unit);

/* The log that is at work, opened. */
enum tw_status tw_unit_open_log(const struct tw_unit *unit, struct tw_log **log,
                                struct tw_fault *fault);
/* A fault at the line, or in the file, that is at work. */
enum tw_status tw_unit_wrong(struct tw_unit *unit, enum tw_status status, const char *text);
enum tw_status tw_unit_no_memory(struct tw_unit *unit);
/* A register that a decoder needs. */
void tw_unit_add_register(struct tw_unit *unit, const char *name, uint64_t value);

typedef enum tw_status tw_unit_set_fn(struct tw_unit *unit, const char *name, uint64_t value);
/* Calls `set` for each choice, or register, of the configuration. */
enum tw_status tw_unit_choices(struct tw_unit *unit, tw_unit_set_fn *set);
enum tw_status tw_unit_registers(struct tw_unit *unit, tw_unit_set_fn *set);

/* arm.c: the names of an ETE or ETMv4 in a snapshot, once the code was seen. */
void tw_unit_describe_arm(struct tw_unit *unit, bool is_ete);
/* The core that an M-profile log is of, by a name that other decoders know too. */
const char *tw_unit_m_core(const struct tw_unit *unit);

/* memory.c: the program's memory for the snapshot. */
enum tw_status tw_unit_dumps(struct tw_unit *unit, struct tw_snapshot_dump **dumps,
                             size_t *count);
void tw_unit_free_pages(struct tw_unit *unit);

/* riscv.c: what the encoders of RISC-V trace share. */

/* 32 or 64, as the program or the log says; 0: neither does. */
unsigned tw_unit_xlen(const struct tw_unit *unit);

/* What runs through an encoder of either protocol. */
struct tw_unit_hart {
    struct tw_hart_options options;
    struct tw_etrace_unit *etrace; /* one of the two */
    struct tw_ntrace_unit *ntrace;
    struct tw_hart *hart;       /* of steps; NULL: there was none yet */
    const struct tw_step *step; /* not yet taken by the hart; NULL: none */
    bool has_ended;
};
/* The log that is at work. */
enum tw_status tw_unit_run_hart(struct tw_unit *unit, struct tw_unit_hart *hart);
/* A step; NULL: the last was. */
enum tw_status tw_unit_step_hart(struct tw_unit *unit, struct tw_unit_hart *hart,
                                 const struct tw_step *step);

#endif
