/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: feature sections that tell of the machine and the recording, kept as text. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "capture/perfdata.h"

/* "u32 length, bytes": moves on; NULL when it does not fit. */
static const char *take_string(const struct perf_view *view, size_t *at)
{
    const uint32_t size = perf_u32(view, *at);
    const char *text = (const char *)view->bytes + *at + 4;

    if (*at > view->size || view->size - *at < 4 || size > view->size - *at - 4 || !size ||
        !memchr(text, 0, size))
        return NULL;
    *at += 4 + (size_t)size;
    return text;
}

static void put_word(struct tw_text *out, const char *word)
{
    if (out->size)
        tw_text_char(out, ' ');
    tw_text_add(out, word);
}

static void put_string(struct tw_text *out, const struct perf_view *section)
{
    size_t at = 0;
    const char *word = take_string(section, &at);

    if (word)
        put_word(out, word);
}

static void put_list(struct tw_text *out, const struct perf_view *section)
{
    uint32_t count = perf_u32(section, 0);
    size_t at = 4;
    const char *word;

    for (; count && (word = take_string(section, &at)) != NULL; count--)
        put_word(out, word);
}

/* Siblings in a core, siblings in a thread; then of each CPU its core and socket. */
static void put_topology(struct tw_text *out, const struct perf_view *section)
{
    static const char *const titles[] = { "cores", "threads" };
    size_t at = 0;

    for (unsigned list = 0; list < 2; list++) {
        uint32_t count = perf_u32(section, at);
        const char *word = titles[list];

        if (section->size < 4 || at > section->size - 4)
            return;
        at += 4;
        while (count-- && (word = take_string(section, &at)) != NULL) {
            tw_text_format(out, "%s%s %s", out->size ? ", " : "", titles[list], word);
        }
        if (!word)
            return;
    }
}

static void put_cpus(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "%" PRIu32 " online of %" PRIu32, perf_u32(section, 4),
                   perf_u32(section, 0));
}

static void put_memory(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "%" PRIu64 " KiB", perf_u64(section, 0));
}

/* Of each event: attribute, number of ids, name, ids. */
static void put_events(struct tw_text *out, const struct perf_view *section)
{
    uint32_t count = perf_u32(section, 0);
    const uint32_t attribute = perf_u32(section, 4);
    size_t at = 8;

    for (; count && at <= section->size && attribute <= section->size - at; count--) {
        const uint64_t ids = 8 * (uint64_t)perf_u32(section, at + attribute);
        const char *name;

        at += (size_t)attribute + 4;
        name = take_string(section, &at);
        if (!name || ids > section->size - at)
            return;
        put_word(out, name);
        at += (size_t)ids;
    }
}

static void put_pmus(struct tw_text *out, const struct perf_view *section)
{
    uint32_t count = perf_u32(section, 0);
    size_t at = 4;

    for (; count; count--) {
        const uint32_t type = perf_u32(section, at);
        const char *name;

        at += 4;
        name = take_string(section, &at);
        if (!name)
            return;
        tw_text_format(out, "%s%s=%" PRIu32, out->size ? " " : "", name, type);
    }
}

static void put_times(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "%" PRIu64 " to %" PRIu64 " ns", perf_u64(section, 0),
                   perf_u64(section, 8));
}

static void put_clock(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "%" PRIu64 " ns", perf_u64(section, 0));
}

static void put_clock_data(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "clock %" PRIu32 " at %" PRIu64 " ns is %" PRIu64 " ns of the day",
                   perf_u32(section, 4), perf_u64(section, 16), perf_u64(section, 8));
}

static void put_compression(struct tw_text *out, const struct perf_view *section)
{
    tw_text_format(out, "%s, level %" PRIu32 ", ratio %" PRIu32,
                   perf_u32(section, 4) == 1 ? "zstd" : "unknown", perf_u32(section, 8),
                   perf_u32(section, 12));
}

/* Key and value in turns. */
static void put_meta(struct tw_text *out, const struct perf_view *section)
{
    const char *between = "";

    for (size_t at = 0; at < section->size;) {
        const char *word = tw_perf_text(section, at);

        if (!word || !*word)
            return;
        tw_text_add(out, between);
        tw_text_add(out, word);
        between = *between == '=' ? " " : "=";
        at += strlen(word) + 1;
    }
}

static const struct {
    const char *name;
    uint8_t number;
    uint8_t least; /* bytes */
    void (*put)(struct tw_text *out, const struct perf_view *section);
} features[] = {
    /* clang-format off */
    { "hostname",    3,   0,  put_string },
    { "osrelease",   4,   0,  put_string },
    { "version",     5,   0,  put_string },
    { "arch",        6,   0,  put_string },
    { "cpus",        7,   8,  put_cpus },
    { "cpudesc",     8,   0,  put_string },
    { "cpuid",       9,   0,  put_string },
    { "memory",      10,  8,  put_memory },
    { "cmdline",     11,  0,  put_list },
    { "events",      12,  0,  put_events },
    { "topology",    13,  0,  put_topology },
    { "pmus",        16,  0,  put_pmus },
    { "sample_time", 21,  16, put_times },
    { "clock_resolution", 23, 8, put_clock },
    { "compressed",  27,  20, put_compression },
    { "clock",       29,  24, put_clock_data },
    { "meta",        129, 0,  put_meta },
    /* clang-format on */
};

_Static_assert(sizeof features / sizeof features[0] == PERF_FEATURES,
               "each has its place in struct tw_perf");

const char *tw_perf_feature_name(size_t number)
{
    return number < PERF_FEATURES ? features[number].name : NULL;
}

const char *tw_perf_feature(const struct tw_perf *perf, const char *name)
{
    for (size_t i = 0; i < PERF_FEATURES; i++)
        if (strcmp(features[i].name, name) == 0)
            return perf->features[i];
    return NULL;
}

enum tw_status tw_perf_keep_feature(struct tw_perf *perf, unsigned number,
                                    const struct perf_view *section)
{
    struct tw_text text = { .allocator = perf->capture->allocator };
    size_t slot = 0;

    while (slot < PERF_FEATURES && features[slot].number != number)
        slot++;
    if (slot == PERF_FEATURES || section->size < features[slot].least)
        return TW_OK;
    features[slot].put(&text, section);
    if (!text.failed)
        perf->features[slot] =
            text.size ? tw_capture_keep_text(perf->capture, text.chars, text.size) : "";
    tw_text_free(&text);
    return perf->features[slot] ? TW_OK : tw_capture_no_memory(perf->capture);
}
