/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of runs: all that a run says, element by element. */
#ifndef RUN_TEST_H
#define RUN_TEST_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "all_runs.h"

/* An element, and what is said of it. */
struct record {
    struct tw_element element;
    uint8_t id;
    uint32_t src, buffer, source, tid, pid, cpu, context_id;
    uint8_t level, known;
    const char *comm;
    struct tw_view view;
    struct tw_when when;
};

struct records {
    struct record *items;
    size_t count, room;
    uint64_t events[TW_PART_LOSS + 1];
};

static inline void record_part(struct records *records, const struct tw_part *part)
{
    for (size_t i = 0; i < part->batch.count; i++) {
        struct record *record;

        if (records->count == records->room) {
            records->room = records->room ? 2 * records->room : 4096;
            records->items = realloc(records->items, records->room * sizeof *records->items);
            CHECK(records->items != NULL);
        }
        record = &records->items[records->count++];
        memset(record, 0, sizeof *record); /* they are compared byte by byte */
        record->element = part->batch.elements[i];
        record->id = part->batch.id;
        record->src = part->batch.src;
        record->buffer = part->buffer;
        record->source = part->source_number;
        record->tid = part->who.tid;
        record->pid = part->who.pid;
        record->cpu = part->who.cpu;
        record->context_id = part->who.context_id;
        record->level = part->who.level;
        record->known = part->who.known;
        record->comm = part->who.comm;
        record->view.space = part->who.view.space;
        record->view.context = part->who.view.context;
        record->view.time = part->who.view.time;
        record->when.not_before = part->when.not_before;
        record->when.not_after = part->when.not_after;
        record->when.clock = part->when.clock;
    }
}

/* What a part promises: one context, one time. */
static inline void check_part(const struct tw_part *part)
{
    const struct tw_element *first = &part->batch.elements[0];

    CHECK(part->batch.count > 0);
    CHECK((part->source != NULL || part->batch.id == TW_ID_TRIGGER) &&
          part->when.not_before <= part->when.not_after);
    for (size_t i = 1; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_TIMESTAMP && first->type == TW_ELEMENT_TIMESTAMP)
            CHECK_EQ(element->timestamp, first->timestamp);
        if (element->type == TW_ELEMENT_PE_CONTEXT) {
            CHECK_EQ(element->context_id, part->who.context_id);
            CHECK_EQ(element->vmid, part->who.vmid);
        }
    }
}

static inline struct records record_all(struct tw_capture *capture,
                                        const struct tw_run_config *config,
                                        const struct tw_run_place *place)
{
    struct records records = { 0 };
    struct tw_part part = { .size = sizeof part };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_run *run;
    enum tw_status status = tw_run_new(&run, capture, config, &fault);

    CHECK_TEXT(fault.text, "");
    CHECK_EQ(status, TW_OK);
    if (place)
        CHECK_EQ(tw_run_seek(run, place), TW_OK);
    while ((status = tw_run_next(run, &part)) == TW_OK) {
        records.events[part.kind]++;
        if (part.kind != TW_PART_ELEMENTS)
            continue;
        check_part(&part);
        CHECK(part.stream < tw_run_stream_count(run));
        record_part(&records, &part);
    }
    CHECK_TEXT(tw_run_fault(run), "");
    CHECK_EQ(status, TW_END);
    tw_run_free(run);
    return records;
}

/* Equal but for threads' names, which are pointers. */
static inline bool record_is_same(const struct record *a, const struct record *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline void records_check(const struct records *got, const struct records *want)
{
    for (size_t i = 0; i < got->count && i < want->count; i++)
        if (!record_is_same(&got->items[i], &want->items[i])) {
            char text[2][512];

            (void)tw_element_text(text[0], 512, &got->items[i].element, got->items[i].id);
            (void)tw_element_text(text[1], 512, &want->items[i].element, want->items[i].id);
            CHECK_TEXT(text[0], text[1]);
            CHECK_EQ(got->items[i].buffer, want->items[i].buffer);
            CHECK_EQ(got->items[i].tid, want->items[i].tid);
            CHECK_EQ(got->items[i].when.not_before, want->items[i].when.not_before);
            CHECK_EQ(got->items[i].when.not_after, want->items[i].when.not_after);
            CHECK_EQ(got->items[i].view.time, want->items[i].view.time);
            check_case("%s: record %zu", text[0], i);
            CHECK(record_is_same(&got->items[i], &want->items[i]));
        }
    CHECK_EQ(got->count, want->count);
}

/* The captures of the corpus, some of them in a usual test run. */
static inline void each_capture(struct check_random *random, size_t full,
                                void (*each)(struct tw_capture *capture,
                                             struct check_random *random))
{
    struct runs runs = runs_find();
    const size_t wanted = check_scale(full < runs.count ? full : runs.count);
    const size_t step = runs.count / wanted ? runs.count / wanted : 1;
    size_t done = 0;

    for (size_t i = check_random_below(random, step); i < runs.count; i += step) {
        struct tw_capture *capture;

        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        check_case("%s", runs.runs[i].path);
        each(capture, random);
        tw_capture_free(capture);
        done++;
    }
    CHECK(done > 0);
    free(runs.runs);
}

#endif
