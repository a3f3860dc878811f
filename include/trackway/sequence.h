/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the order of register accesses and barriers by which software drives a trace unit
   and its Trace Buffer Unit.  Experimental. */
#ifndef TRACKWAY_SEQUENCE_H
#define TRACKWAY_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/export.h>
#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_sequence_config {
    size_t size;    /* sizeof(struct tw_sequence_config) */
    bool is_strict; /* also: polling loops without a bound */
    const struct tw_allocator *allocator;
};

/* A rule that was broken.  The texts live as long as the sequence. */
struct tw_sequence_finding {
    uint32_t line;      /* from 1: where it goes wrong */
    uint32_t cause;     /* the line that it has to do with; 0: none */
    const char *rule;   /* "TS3" */
    const char *also;   /* other rules that the same place touches: "TS6 TS8"; may be empty */
    const char *what;   /* what is wrong */
    const char *hazard; /* what may happen */
    const char *fix;
};

/* What is known of a rule. */
struct tw_sequence_rule {
    const char *name; /* "TS3" */
    const char *tags; /* where the architecture has it: "R_VTNCS" */
    const char *title;
    const char *needs; /* what software has to do */
    const char *hazard, *fix;
};

struct tw_sequence;

/* Reads the text (docs/formats.md says in which forms) and checks it.  Lines that say nothing about
   trace are passed over.  NULL config: the defaults. */
TW_API TW_MUST_USE enum tw_status tw_sequence_check(struct tw_sequence **sequence,
                                                    const char *text, size_t size,
                                                    const struct tw_sequence_config *config,
                                                    struct tw_fault *fault);
TW_API void tw_sequence_free(struct tw_sequence *sequence);

/* By line, then in the order in which they were found. */
TW_API size_t tw_sequence_count(const struct tw_sequence *sequence);
TW_API const struct tw_sequence_finding *tw_sequence_finding(const struct tw_sequence *sequence,
                                                             size_t index);
/* How many lines were read, and how many of them matter to trace. */
TW_API void tw_sequence_lines(const struct tw_sequence *sequence, size_t *lines, size_t *steps);

/* Every rule, from 0 until NULL; or the one of a name, in any case. */
TW_API const struct tw_sequence_rule *tw_sequence_rule(size_t index);
TW_API const struct tw_sequence_rule *tw_sequence_find_rule(const char *name);

#ifdef __cplusplus
}
#endif

#endif
