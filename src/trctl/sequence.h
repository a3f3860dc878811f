/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks sequences of accesses to the RISC-V Trace Control Interface. */
#ifndef TRCTL_SEQUENCE_H
#define TRCTL_SEQUENCE_H

#include <trackway/sequence.h>

#include "trctl/table.h"

enum tw_trctl_rule {
    TW_TRCTL_ACTIVE,
    TW_TRCTL_ACTIVE_WAIT,
    TW_TRCTL_SINK_FIRST,
    TW_TRCTL_SETTING,
    TW_TRCTL_ENABLE_WAIT,
    TW_TRCTL_NO_SYNC,
    TW_TRCTL_SOURCES,
    TW_TRCTL_NOTHING,
    TW_TRCTL_MODIFY,
    TW_TRCTL_STOP_ORDER,
    TW_TRCTL_READ_EARLY,
    TW_TRCTL_LIMIT,
    TW_TRCTL_TIME,
    TW_TRCTL_FILTER_OFF,
    TW_TRCTL_NOT_HERE,
    TW_TRCTL_DEFAULTS,
    TW_TRCTL_READ_BACK,
    TW_TRCTL_DRAIN,
    TW_TRCTL_POINTERS,
    TW_TRCTL_MODE_FIRST,
    TW_TRCTL_PROBE,
    TW_TRCTL_BOUND,
    TW_TRCTL_INPUT,
    TW_TRCTL_RULES
};

extern const struct tw_sequence_rule tw_trctl_rules[TW_TRCTL_RULES];

typedef void tw_trctl_find_fn(void *context, uint32_t line, uint32_t cause,
                              const struct tw_sequence_rule *rule, const char *what);

struct tw_trctl_checking {
    bool is_strict;
    tw_trctl_find_fn *find;
    void *context;
    size_t lines, steps; /* read, and of them about trace */
};

/* Whether a text speaks of these registers. */
bool tw_trctl_is_sequence(const char *text, size_t size);
void tw_trctl_check(struct tw_trctl_checking *checking, const char *text, size_t size);

/* ---- what sequence.c and sequence_check.c share ---- */

enum { TW_TRCTL_PARTS = 24, TW_TRCTL_NAME = 24, TW_TRCTL_NOWHERE = -1 };

enum tw_trctl_level {
    TW_TRCTL_UNKNOWN,
    TW_TRCTL_OFF,
    TW_TRCTL_RISING,
    TW_TRCTL_ON,
    TW_TRCTL_FALLING
};

/* A component, as far as the sequence has told. */
struct tw_trctl_part {
    char name[TW_TRCTL_NAME];
    uint8_t type;
    bool has_base;
    uint64_t base;
    int feeds; /* the part behind it, or TW_TRCTL_NOWHERE: the only one that it could be */

    uint8_t active, enable; /* enum tw_trctl_level */
    uint32_t active_line, enable_line;
    bool is_empty_seen, is_unwaited_told, was_enabled;
    bool has_traced;       /* trTeInstTracing was set, or triggers may set it */
    uint32_t pointer_line; /* Start, Limit or WP were written */
    uint32_t registers[TW_TRCTL_SIZE / 4];
    uint32_t line_of[TW_TRCTL_SIZE / 4]; /* of the last write; 0: none */
    bool is_read[TW_TRCTL_SIZE / 4];     /* since then */
};

enum tw_trctl_verb {
    TW_TRCTL_WRITE,
    TW_TRCTL_READ,
    TW_TRCTL_POLL,
    TW_TRCTL_READ_MEMORY,
    TW_TRCTL_RUN,
    TW_TRCTL_PROBE_START,
    TW_TRCTL_PROBE_STOP
};

/* One access. */
struct tw_trctl_step {
    uint8_t verb;
    struct tw_trctl_part *part;
    uint16_t offset;
    uint32_t mask; /* bits of the register that it is about */
    uint32_t value;
    bool has_value, is_bounded;
    uint64_t limit; /* of a loop; 0: not said */
};

struct tw_trctl_checker {
    struct tw_trctl_checking *out;
    uint32_t line;
    struct tw_trctl_part parts[TW_TRCTL_PARTS];
    size_t count;
    bool has_probe;
};

/* What a line is. */
enum tw_trctl_line {
    TW_TRCTL_LINE_EMPTY,
    TW_TRCTL_LINE_PART, /* declares a component, the last one of `parts` */
    TW_TRCTL_LINE_STEP,
    TW_TRCTL_LINE_NEW, /* begins another sequence */
    TW_TRCTL_LINE_WRONG
};

/* Reads a line: components that it names for the first time are added. */
enum tw_trctl_line tw_trctl_read_line(struct tw_trctl_checker *c, struct tw_trctl_step *step,
                                      const char *line, size_t size);
/* The part behind one: the one that was declared, or the only one that it can be. */
const struct tw_trctl_part *tw_trctl_behind(const struct tw_trctl_checker *c,
                                            const struct tw_trctl_part *part);
void tw_trctl_take(struct tw_trctl_checker *c, const struct tw_trctl_step *step);
void tw_trctl_end(struct tw_trctl_checker *c);
void tw_trctl_find_broken(struct tw_trctl_checker *c, uint32_t cause, enum tw_trctl_rule rule,
                          const char *format, ...);

#endif
