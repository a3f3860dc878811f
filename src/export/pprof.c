/* SPDX-License-Identifier: BSD-2-Clause */
/* pprof's profile.proto, gzip'd: a sample for each path of calls. */
#include "base/memory.h"
#include "export/export.h"
#include "export/gzip.h"
#include "export/protobuf.h"

/* Field numbers of Profile and of the messages in it. */
enum {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    MAPPING = 3,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    DEFAULT_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_START_LINE = 5
};

/* The table of strings: number 0 must be empty; the names of functions follow, and then the source files of those
   that have one. */
enum { EMPTY, INSTRUCTIONS, COUNT, ENTRIES, TITLE, NAMES };

struct pprof {
    const struct tw_subject *subject;
    struct tw_gzip gzip;
    struct tw_text out, inner, packed;
    bool lacks_memory;
};

static void flush(struct pprof *pprof)
{
    tw_gzip_bytes(&pprof->gzip, pprof->out.chars, pprof->out.size);
    pprof->lacks_memory |= pprof->out.failed || pprof->packed.failed;
    tw_text_clear(&pprof->out);
}

static void put_sample(void *context, const struct tw_call_path *path)
{
    struct pprof *pprof = context;

    if (!path->self && !path->entries)
        return;
    for (size_t i = path->depth; i--;) /* innermost first */
        tw_protobuf_varint(&pprof->packed, (uint64_t)path->functions[i] + 1);
    tw_protobuf_message(&pprof->inner, SAMPLE_LOCATION, &pprof->packed);
    tw_protobuf_varint(&pprof->packed, path->self);
    tw_protobuf_varint(&pprof->packed, path->entries);
    tw_protobuf_message(&pprof->inner, SAMPLE_VALUE, &pprof->packed);
    tw_protobuf_message(&pprof->out, SAMPLE, &pprof->inner);
    flush(pprof);
}

static void put_types(struct pprof *pprof)
{
    static const uint8_t types[] = { INSTRUCTIONS, ENTRIES };

    for (size_t i = 0; i < sizeof types; i++) {
        tw_protobuf_number(&pprof->inner, TYPE_TYPE, types[i]);
        tw_protobuf_number(&pprof->inner, TYPE_UNIT, COUNT);
        tw_protobuf_message(&pprof->out, SAMPLE_TYPE, &pprof->inner);
    }
    tw_protobuf_number(&pprof->out, DEFAULT_TYPE, INSTRUCTIONS); /* else the last is shown */
    /* All addresses lie in one mapping, whose functions are known: nothing is to be looked up. */
    tw_protobuf_number(&pprof->inner, MAPPING_ID, 1);
    tw_protobuf_number(&pprof->inner, MAPPING_LIMIT, UINT64_MAX);
    tw_protobuf_number(&pprof->inner, MAPPING_FILE, TITLE);
    tw_protobuf_number(&pprof->inner, MAPPING_HAS_FUNCTIONS, 1);
    tw_protobuf_message(&pprof->out, MAPPING, &pprof->inner);
    flush(pprof);
}

static void put_functions(struct pprof *pprof)
{
    const struct tw_functions *functions = tw_calls_functions(pprof->subject->calls);
    uint64_t file = NAMES + tw_functions_count(functions);

    for (uint32_t i = 0; i < tw_functions_count(functions); i++) {
        struct tw_source_line line;
        const bool has_line = tw_function_line(tw_functions_get(functions, i), &line);

        tw_protobuf_number(&pprof->packed, LINE_FUNCTION, (uint64_t)i + 1);
        if (has_line)
            tw_protobuf_number(&pprof->packed, LINE_LINE, line.line);
        tw_protobuf_number(&pprof->inner, LOCATION_ID, (uint64_t)i + 1);
        tw_protobuf_number(&pprof->inner, LOCATION_MAPPING, 1);
        tw_protobuf_number(&pprof->inner, LOCATION_ADDRESS,
                           tw_functions_get(functions, i)->address);
        tw_protobuf_message(&pprof->inner, LOCATION_LINE, &pprof->packed);
        tw_protobuf_message(&pprof->out, LOCATION, &pprof->inner);
        tw_protobuf_number(&pprof->inner, FUNCTION_ID, (uint64_t)i + 1);
        tw_protobuf_number(&pprof->inner, FUNCTION_NAME, (uint64_t)i + NAMES);
        tw_protobuf_number(&pprof->inner, FUNCTION_SYSTEM_NAME, (uint64_t)i + NAMES);
        if (has_line) {
            tw_protobuf_number(&pprof->inner, FUNCTION_FILE, file++);
            tw_protobuf_number(&pprof->inner, FUNCTION_START_LINE, line.line);
        }
        tw_protobuf_message(&pprof->out, FUNCTION, &pprof->inner);
        flush(pprof);
    }
}

static void put_strings(struct pprof *pprof)
{
    const struct tw_functions *functions = tw_calls_functions(pprof->subject->calls);
    const char *const first[NAMES] = { [EMPTY] = "",
                                       [INSTRUCTIONS] = "instructions",
                                       [COUNT] = "count",
                                       [ENTRIES] = "entries",
                                       [TITLE] =
                                           pprof->subject->title ? pprof->subject->title : "" };

    for (size_t i = 0; i < NAMES; i++)
        tw_protobuf_text(&pprof->out, STRING, first[i]);
    for (uint32_t i = 0; i < tw_functions_count(functions); i++) {
        tw_protobuf_text(&pprof->out, STRING,
                         tw_subject_name(pprof->subject, tw_functions_get(functions, i)->name));
        flush(pprof);
    }
    for (uint32_t i = 0; i < tw_functions_count(functions); i++) {
        struct tw_source_line line;

        if (!tw_function_line(tw_functions_get(functions, i), &line))
            continue;
        tw_protobuf_text(&pprof->out, STRING, line.file);
        flush(pprof);
    }
}

void tw_write_pprof(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct pprof *pprof = tw_take(sink->allocator, sizeof *pprof);

    if (!pprof) {
        sink->lacks_memory = true;
        return;
    }
    pprof->subject = subject;
    pprof->out.allocator = pprof->inner.allocator = pprof->packed.allocator = sink->allocator;
    tw_gzip_begin(&pprof->gzip, sink);
    put_types(pprof);
    if (tw_calls_paths(subject->calls, put_sample, pprof) != TW_OK)
        sink->lacks_memory = true;
    put_functions(pprof);
    put_strings(pprof);
    flush(pprof);
    tw_gzip_end(&pprof->gzip);
    sink->lacks_memory |= pprof->lacks_memory;
    tw_text_free(&pprof->out);
    tw_text_free(&pprof->inner);
    tw_text_free(&pprof->packed);
    tw_give(sink->allocator, pprof);
}
