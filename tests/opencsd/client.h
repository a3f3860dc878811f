/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of the OpenCSD interface that writes down all that happens to it.  What it does next
   depends on a seed, the place in the trace and what it is given, so that two libraries that differ at one
   place are asked the same behind it. */
#ifndef OPENCSD_TESTS_CLIENT_H
#define OPENCSD_TESTS_CLIENT_H

#include "library.h"
#include "subject.h"

/* What is not compared, by a rule that docs/known-differences.jsonl has a row of kind "opencsd-mask" for:
   nothing is masked that the plan does not name. */
enum mask {
    MASK_PTM_RESET = 1, /* "ptm-reset" */
    MASK_STM_ASYNC = 2, /* "stm-async" */
    MASK_NOTSYNC = 4,   /* "notsync" */
    MASK_PASSED = 8     /* "passed" */
};

struct plan {
    unsigned masks; /* enum mask */
    unsigned seed;
    bool is_full;     /* elements; else packets alone */
    bool has_monitor; /* packets and their bytes, beside */
    bool is_printed;  /* by the library's printers instead of callbacks */
    bool uses_memory_callback;
    bool cuts;          /* pieces of any size, else one */
    unsigned waits;     /* in 1000 answers: WAIT */
    unsigned flushes;   /* in 1000 pieces: a FLUSH that nothing asks for, ... */
    unsigned resets;    /* ... a RESET, ... */
    unsigned ends;      /* ... an EOT */
    unsigned verbosity; /* of the error log */
    bool stops_early;   /* at the first fatal answer */
    /* only the order inside a stream counts: of an ID and a kind of callback; what is answered is not
       told */
    bool is_loose;
};

/* What an event is about; EVENT_CALL is what the client did. */
enum event_kind {
    EVENT_CALL,
    EVENT_ELEMENT,
    EVENT_PACKET,
    EVENT_MONITOR,
    EVENT_TEXT,
    EVENT_KINDS
};

/* What happened, a line each. */
struct events {
    uint64_t *hashes;
    uint16_t *streams; /* kind of event << 8 | trace ID */
    size_t count, room;
    /* Lines from `from` on are kept as text, `keep` of them. */
    size_t from, keep;
    char **lines;
};

void events_free(struct events *events);

void client_run(struct events *events, const struct library *library,
                const struct subject *subject, const struct plan *plan);

#endif
