/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a capture.

     examine.c   decodes it once and counts
     compare.c   how it is described against what it is found to be (identify/)
     bias.c      the distance by which an image is off
     programs.c  perf.data: builds, and code made at run time; symbols
     changed.c   code that is not what ran: where, when, and whether it was changed meanwhile
     lost.c      how many instructions an overflow lost at least
     overflow.c  what the trace unit needed and had, and which settings would cut it
     untold.c    contexts and times that the trace unit was not asked for
     times.c     times that cannot be compared, two cores in one stream
     faults.c    exceptions that hint at a fault of the program
     findings.c  from counts to findings: the rules, and their order
     strip.c     where trace is missing, as a picture */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <trackway/doctor.h>
#include <trackway/run.h>

#include "base/compiler.h"
#include "base/text.h"

enum {
    TW_PATIENTS_MOST = 256,
    TW_MISSING_KEPT = 64, /* addresses */
    TW_SPOTS_KEPT = 16,
    TW_OBJECTS_KEPT = 32,
    TW_ABORTS_KEPT = 16,
    TW_LEVEL_UNKNOWN = 255
};

/* Times of one core go up; those of two in one stream go up and down. */
struct tw_patient_times {
    uint64_t count, backward;
    uint64_t last, least, most;
    uint64_t first_at, last_at; /* offsets in the capture, buffer after buffer */
    uint64_t first_back;        /* offset where time first goes back */
};

/* Contexts: a core goes from one to another where it may, not from one instruction to the next. */
struct tw_patient_contexts {
    uint64_t count;
    uint32_t id, before;  /* the last one, the one before */
    bool has_id, is_told; /* is_told: something since it came that can bring another one */
    bool is_named;        /* some had a number that is not 0 */
    bool is_m;            /* M profile */
    uint8_t level;
    uint32_t levels;       /* that were seen: bit by bit */
    uint64_t sudden;       /* back to the one before, and nothing told of it ... */
    uint64_t first_sudden; /* ... the first time: offset */
};

/* Counts up to a place. */
struct tw_patient_mark {
    uint64_t offset, instructions, ticks;
};

/* How much trace was made of how much code: of all, and shortly before overflows. */
struct tw_patient_rate {
    struct tw_patient_mark older, mark, timed; /* places whose time is known */
    struct tw_patient_mark begin;              /* of the bytes that are looked at */
    bool has_mark, has_time;
    uint64_t ticks, last_time;
    uint64_t full_bytes, full_instructions;
    uint64_t full_timed_bytes, full_ticks; /* of those whose time is known */
    bool is_in_gap;                        /* an overflow came since the last time */
    uint64_t gap_ticks, gap_instructions;  /* between the times before and after overflows */
};

/* Instructions that overflows lost. */
struct tw_patient_lost {
    struct tw_element last;    /* range before */
    bool has_last;             /* ... and it is known that none came behind it */
    bool is_open;              /* an overflow was told, and nothing came since */
    uint64_t searched;         /* overflows */
    uint64_t least;            /* instructions of all of them */
    uint64_t most, most_after; /* of one, and the address before it */
};

/* Where the trace contradicts the code. */
struct tw_patient_spots {
    uint64_t count, first_at, address; /* of the first */
    uint64_t addresses[TW_SPOTS_KEPT];
    size_t kept, kernel; /* different addresses */
    bool is_many;
    uint64_t ranges_before, ranges_until; /* that were read before the first, before the last */
};

/* A program or library, and whether its code has names. */
struct tw_object_names {
    const char *name; /* NULL: perf.data does not tell, or it is no perf.data */
    uint64_t named, unnamed;
    uint64_t address; /* of an unnamed one */
};

/* An exception that may be a fault: from where, and what came of it. */
struct tw_abort {
    uint32_t source, number;
    uint32_t who;  /* thread or context; TW_NONE: not known */
    uint8_t level; /* or TW_LEVEL_UNKNOWN */
    bool has_no_address, is_elsewhere;
    uint64_t address; /* where the program was */
    uint64_t offset;
    uint64_t since; /* instructions of the source before it */
    uint64_t times;
};

/* Faults of the program. */
struct tw_patient_faults {
    uint64_t count, first_at;
    struct tw_abort last;
    const char *why;
};

/* What was counted of a source in all its buffers. */
struct tw_patient {
    uint32_t source; /* for tw_capture_source */
    uint8_t id;
    bool is_left_out;
    const char *why; /* in that case */
    uint64_t bytes, unsynced;
    uint64_t instructions, ranges;
    uint64_t low_code, kernel_code; /* ranges of 32-bit code, by what Linux has there */
    uint64_t elements;              /* that tell of packets which were read */
    uint64_t missing, kernel_missing;
    uint64_t first_missing;              /* offset */
    uint64_t addresses[TW_MISSING_KEPT]; /* of code that is missing: some */
    uint32_t spaces[TW_MISSING_KEPT];    /* where they were looked for: enum tw_space */
    size_t address_count;
    uint64_t errors[TW_ERROR_CODES], first_error[TW_ERROR_CODES];
    struct tw_patient_spots spots;
    struct tw_patient_times times;
    struct tw_patient_contexts contexts;
    struct tw_patient_rate rate;
    struct tw_patient_lost lost;
    uint64_t overflows, first_overflow, discards, gaps, first_gap;
    uint64_t exceptions;
    struct tw_patient_faults faults;
    uint32_t src; /* whose times and contexts are looked at, of those that share a stream */
    bool has_src;
    uint64_t parts, unattributed; /* perf.data: of no thread that is known */
    bool has_begin; /* nothing was read yet since the beginning of a buffer, ... */
    uint64_t begin; /* ... which is in this column */
    struct tw_strip strip;
    uint8_t states[TW_STRIP_COLUMNS];
};

struct tw_doctor {
    struct tw_capture *capture;
    struct tw_doctor_options options;
    struct tw_run_config how; /* as the caller wishes */
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
    struct tw_patient *patients;
    size_t patient_count, patient_room;
    bool checks_atoms, checks_continuity; /* of the code against the trace */
    uint64_t total;                       /* bytes of all buffers */
    uint64_t *starts;                     /* of each buffer in that */
    struct tw_run_losses losses;
    struct tw_lost_search *search; /* of lost.c, for one overflow after the other; or NULL */
    struct tw_object_names objects[TW_OBJECTS_KEPT];
    size_t object_count;
    struct tw_abort aborts[TW_ABORTS_KEPT]; /* the oldest first */
    size_t abort_count;
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
void tw_doctor_judge_symbols(struct tw_doctor *doctor);
void tw_doctor_judge_code(struct tw_doctor *doctor, struct tw_patient *patient);
void tw_doctor_judge_overflow(struct tw_doctor *doctor, struct tw_patient *patient);
void tw_doctor_judge_times(struct tw_doctor *doctor);
void tw_doctor_judge_untold(struct tw_doctor *doctor);
void tw_doctor_judge_faults(struct tw_doctor *doctor);
void tw_doctor_judge_cores(struct tw_doctor *doctor, struct tw_patient *patient);
void tw_doctor_conclude(struct tw_doctor *doctor);
/* True: with the image moved by *bias the trace fits it. */
bool tw_doctor_find_bias(const struct tw_doctor *doctor, const struct tw_patient *patient,
                         int64_t *bias);

/* Bytes before an overflow that are looked at: this to twice as many. */
enum { TW_RATE_WINDOW = 256 };

/* Times and contexts of an element, and what the trace of it costs. */
void tw_doctor_time(struct tw_patient *patient, const struct tw_element *element, uint64_t at);
void tw_doctor_rate(struct tw_patient *patient, const struct tw_element *element, uint64_t at,
                    bool is_overflow);
void tw_doctor_exception(struct tw_doctor *doctor, struct tw_patient *patient,
                         const struct tw_part *part, const struct tw_element *element);
/* Programs ran, and a kernel that may have switched between them. */
bool tw_doctor_has_processes(const struct tw_patient *patient);
/* True: an overflow begins. */
bool tw_doctor_lost(struct tw_doctor *doctor, struct tw_patient *patient,
                    const struct tw_part *part, const struct tw_element *element);
/* "; at least ...", as far as it can be told. */
const char *tw_doctor_lost_text(struct tw_doctor *doctor, const struct tw_patient *patient);
void tw_doctor_contradiction(struct tw_patient *patient, const struct tw_element *element);
uint64_t tw_doctor_damage(const struct tw_patient *patient, uint64_t *first);

const char *tw_doctor_name(const struct tw_doctor *doctor, const struct tw_patient *patient);
void tw_doctor_at(struct tw_finding *finding, uint64_t count, uint64_t offset);
const char *tw_doctor_text(struct tw_doctor *doctor, const char *format, ...) TW_PRINTF(2, 3);
/* Adds a finding; `weight` orders those of one severity. */
struct tw_finding *tw_doctor_find(struct tw_doctor *doctor, enum tw_finding_severity severity,
                                  const char *code, double weight);

#endif
