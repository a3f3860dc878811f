/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a capture.

     examine.c   decodes it once and counts
     compare.c   how it is described against what it is found to be (identify/)
     bias.c      the distance by which an image is off
     programs.c  perf.data: builds, and code made at run time
     findings.c  from counts to findings: the rules, and their order
     strip.c     where trace is missing, as a picture */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <trackway/doctor.h>
#include <trackway/run.h>

#include "base/compiler.h"
#include "base/text.h"

enum { TW_PATIENTS_MOST = 256, TW_MISSING_KEPT = 64 };

/* What was counted of a source in all its buffers. */
struct tw_patient {
    uint32_t source; /* for tw_capture_source */
    uint8_t id;
    bool is_left_out;
    const char *why;                /* in that case */
    uint64_t bytes, unsynced, head; /* head: before the first synchronization */
    uint64_t instructions, ranges;
    uint64_t elements; /* that tell of packets which were read */
    uint64_t missing, kernel_missing;
    uint64_t first_missing;              /* offset */
    uint64_t addresses[TW_MISSING_KEPT]; /* of code that is missing: some */
    size_t address_count;
    uint64_t errors[TW_ERROR_CODES], first_error[TW_ERROR_CODES];
    uint64_t contradictions, first_contradiction, contradicted_at;
    uint64_t overflows, first_overflow, discards, gaps, first_gap;
    uint64_t contexts, context_ids, timestamps, backward, last_time;
    uint64_t exceptions, faults, first_fault;
    uint32_t last_fault; /* its number */
    uint64_t srcs;
    uint64_t parts, unattributed; /* perf.data: of no thread that is known */
    bool has_begin; /* nothing was read yet since the beginning of a buffer, ... */
    uint64_t begin; /* ... which is in this column */
    struct tw_strip strip;
    uint8_t states[TW_STRIP_COLUMNS];
};

struct tw_doctor {
    struct tw_capture *capture;
    struct tw_doctor_options options;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
    struct tw_patient *patients;
    size_t patient_count, patient_room;
    uint64_t total;   /* bytes of all buffers */
    uint64_t *starts; /* of each buffer in that */
    struct tw_run_losses losses;
    struct tw_finding *findings;
    size_t finding_count, finding_room;
    double *weights; /* of the findings: what orders those of one severity */
    size_t weight_room;
    char **texts;
    size_t text_count, text_room;
    const char *summary;
    bool no_memory;
};

enum tw_status tw_doctor_examine(struct tw_doctor *doctor, struct tw_fault *fault);
void tw_doctor_compare(struct tw_doctor *doctor);
void tw_doctor_judge_programs(struct tw_doctor *doctor);
void tw_doctor_conclude(struct tw_doctor *doctor);
/* True: with the image moved by *bias the trace fits it. */
bool tw_doctor_find_bias(const struct tw_doctor *doctor, const struct tw_patient *patient,
                         int64_t *bias);

const char *tw_doctor_text(struct tw_doctor *doctor, const char *format, ...) TW_PRINTF(2, 3);
/* Adds a finding; `weight` orders those of one severity. */
struct tw_finding *tw_doctor_find(struct tw_doctor *doctor, enum tw_finding_severity severity,
                                  const char *code, double weight);

#endif
