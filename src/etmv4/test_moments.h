/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in a trace besides the path: events, time, cycles, instrumentation, transactions.  Each
   must come out of a decoder with its value, in its place among the instructions. */
#ifndef ETMV4_TEST_MOMENTS_H
#define ETMV4_TEST_MOMENTS_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <trackway/etmv4_unit.h>
#include <trackway/tree.h>

struct moment {
    uint8_t type; /* enum tw_etmv4_unit_element_type */
    uint64_t value, more;
    uint64_t at; /* instructions and exceptions before it */
};

struct moments {
    struct moment *items;
    size_t count, room;
    uint64_t things;    /* instructions and exceptions so far, or ... */
    const size_t *told; /* ... where they are counted */
    bool is_peer;
};

static inline void moments_add(struct moments *moments, uint8_t type, uint64_t value,
                               uint64_t more)
{
    if (moments->count == moments->room) {
        moments->room = moments->room ? 2 * moments->room : 64;
        moments->items = realloc(moments->items, moments->room * sizeof *moments->items);
        CHECK(moments->items != NULL);
    }
    /* Where tracing begins in a transaction, its start comes before the instruction at work. */
    moments->items[moments->count++] =
        (struct moment){ type, value, more,
                         type == TW_ETMV4_UNIT_TRANSACTION_START ? 0
                         : moments->told                         ? *moments->told
                                                                 : moments->things };
}

/* A count of cycles that may not be known. */
static inline uint64_t count_or_none(bool is_known, uint64_t count)
{
    return is_known ? count : UINT64_MAX;
}

/* What the unit makes; on_element. */
static inline void unit_moment(void *context, const struct tw_etmv4_unit_element *element)
{
    struct moments *moments = context;

    switch (element->type) {
    case TW_ETMV4_UNIT_EVENT:
        moments_add(moments, element->type, element->number, 0);
        break;
    case TW_ETMV4_UNIT_TIMESTAMP:
        /* A decoder shows a count that is not known as none. */
        moments_add(moments, element->type, element->value,
                    element->is_known ? element->count : 0);
        break;
    case TW_ETMV4_UNIT_CYCLE_COUNT:
        moments_add(moments, element->type, count_or_none(element->is_known, element->count),
                    0);
        break;
    case TW_ETMV4_UNIT_INSTRUMENTATION:
        moments_add(moments, element->type, element->value, element->number);
        break;
    case TW_ETMV4_UNIT_TIMESTAMP_MARKER:
    case TW_ETMV4_UNIT_TRANSACTION_START:
    case TW_ETMV4_UNIT_TRANSACTION_COMMIT:
    case TW_ETMV4_UNIT_TRANSACTION_FAILURE:
        moments_add(moments, element->type, 0, 0);
        break;
    default:
        break;
    }
}

/* What a decoder gives. */
static inline void decoder_moment(struct moments *moments, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
    case TW_ELEMENT_I_RANGE_NOPATH:
        moments->things += element->count;
        break;
    case TW_ELEMENT_EXCEPTION:
        moments->things++;
        break;
    case TW_ELEMENT_EVENT:
        for (uint8_t i = 0; i < 4; i++)
            if (element->count >> i & 1)
                moments_add(moments, TW_ETMV4_UNIT_EVENT, i, 0);
        break;
    case TW_ELEMENT_TIMESTAMP:
        moments_add(moments, TW_ETMV4_UNIT_TIMESTAMP, element->timestamp,
                    element->flags & TW_FLAG_HAS_CYCLES ? element->cycles : 0);
        break;
    case TW_ELEMENT_CYCLE_COUNT:
        moments_add(moments, TW_ETMV4_UNIT_CYCLE_COUNT,
                    count_or_none(!(element->flags & TW_CYCLES_UNKNOWN), element->cycles), 0);
        break;
    case TW_ELEMENT_SYNC_MARKER:
        moments_add(moments, TW_ETMV4_UNIT_TIMESTAMP_MARKER, 0, 0);
        break;
    case TW_ELEMENT_INSTRUMENTATION:
        moments_add(moments, TW_ETMV4_UNIT_INSTRUMENTATION, element->value,
                    element->instrumentation_el);
        break;
    case TW_ELEMENT_MEMTRANS:
        moments_add(moments,
                    (uint8_t)(element->kind == TW_TRANS_START ? TW_ETMV4_UNIT_TRANSACTION_START
                              : element->kind == TW_TRANS_COMMIT
                                  ? TW_ETMV4_UNIT_TRANSACTION_COMMIT
                                  : TW_ETMV4_UNIT_TRANSACTION_FAILURE),
                    0, 0);
        break;
    default:
        break;
    }
}

/* For OpenCSD, which shows a count of cycles that is not known as 0. */
static inline void moments_forget_unknown(struct moments *moments)
{
    for (size_t i = 0; i < moments->count; i++)
        if (moments->items[i].type == TW_ETMV4_UNIT_CYCLE_COUNT &&
            moments->items[i].value == UINT64_MAX)
            moments->items[i].value = 0;
}

static inline void moments_check(const struct moments *got, const struct moments *want)
{
    const size_t last = want->count ? want->count - 1 : 0;

    /* OpenCSD keeps to itself what only a P0 element that never comes would let out. */
    if (got->is_peer && got->count < want->count) {
        for (size_t i = got->count; i < want->count; i++)
            CHECK_EQ(want->items[i].at, want->items[last].at);
    } else {
        CHECK_EQ(got->count, want->count);
    }
    for (size_t i = 0; i < got->count && i < want->count; i++) {
        const struct moment *a = &got->items[i], *b = &want->items[i];

        if (a->type != b->type || a->value != b->value || a->more != b->more || a->at != b->at)
            printf("moment %zu: got %u 0x%" PRIx64 " 0x%" PRIx64 " at %" PRIu64
                   ", want %u 0x%" PRIx64 " 0x%" PRIx64 " at %" PRIu64 "\n",
                   i, a->type, a->value, a->more, a->at, b->type, b->value, b->more, b->at);
        CHECK_EQ(a->type, b->type);
        CHECK_EQ(a->value, b->value);
        CHECK_EQ(a->more, b->more);
        CHECK_EQ(a->at, b->at);
    }
}

#endif
