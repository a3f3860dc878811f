/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: RISC-V trace.  No number of its own is settled for the kind, so it is known by its words. */
#include <inttypes.h>
#include <string.h>

#include <trackway/frame.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    INFO_WORDS = 16, /* offset of the first word in the record */
    KINDS_TAKEN = 8, /* 1 to 7 are other kinds of trace */
    CPU_WORDS = 7,   /* CPU, number of parameters, then these: */
    PARAMETERS = 5,  /* trTeFormat, trTeContext, trTeInhibitSrc, trTeSrcBits, trTeSrcID */
    CPUS_MOST = 4096,
    FORMAT_NTRACE = 1,
    LOOKED_AT = 1 << 20, /* bytes of a piece, for the IDs in it */
    IDS = 0x70
};

static uint64_t word_at(const struct perf_view *info, size_t number)
{
    return perf_u64(info, INFO_WORDS + number * 8);
}

static size_t word_count(const struct perf_view *info)
{
    return info->size < INFO_WORDS ? 0 : (info->size - INFO_WORDS) / 8;
}

enum perf_riscv tw_perf_riscv_form(const struct perf_view *info)
{
    const size_t words = word_count(info);
    const uint64_t cpus = word_at(info, 0) & UINT32_MAX;

    if (perf_u32(info, 8) < KINDS_TAKEN || !words)
        return PERF_RISCV_NONE;
    if (words == 1)
        return PERF_RISCV_SINK;
    if (!cpus || cpus > CPUS_MOST || words < 1 + CPU_WORDS * cpus)
        return PERF_RISCV_NONE;
    for (size_t i = 0; i < cpus; i++)
        if (word_at(info, 2 + CPU_WORDS * i) != PARAMETERS)
            return PERF_RISCV_NONE;
    return PERF_RISCV_FRAMES;
}

static enum tw_status add_source(struct tw_perf *perf, const struct tw_source *source,
                                 uint32_t cpu, bool tid_is_context)
{
    struct tw_capture *capture = perf->capture;

    if (!source->name || (!source->text && !source->core))
        return TW_E_MEMORY;
    capture->sources[capture->source_count++] = *source;
    perf->sources[perf->source_count++] =
        (struct perf_source){ .cpu = cpu, .tid_is_context = tid_is_context };
    return TW_OK;
}

static enum tw_status make_room(struct tw_perf *perf, size_t count)
{
    struct tw_capture *capture = perf->capture;

    perf->sources = tw_capture_keep(capture, count + 1, sizeof *perf->sources);
    if (!perf->sources ||
        !TW_GROW(capture->allocator, &capture->sources, &capture->source_room, count + 1))
        return tw_capture_no_memory(capture);
    return TW_OK;
}

/* Which trace IDs the frames hold. */
static enum tw_status find_ids(const struct tw_perf *perf, uint64_t bytes[IDS])
{
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = TW_FRAMING_MEMORY,
                                               .allocator = perf->capture->allocator };

    memset(bytes, 0, IDS * sizeof *bytes);
    for (size_t i = 0; i < perf->auxtrace_count; i++) {
        const struct perf_auxtrace *auxtrace = &perf->auxtraces[i];
        const struct perf_part *part = tw_perf_part_at(perf, auxtrace->position);
        const size_t size = auxtrace->size < LOOKED_AT ? (size_t)auxtrace->size : LOOKED_AT;
        struct tw_unframer *unframer;

        if (tw_unframer_new(&unframer, &config, NULL) != TW_OK)
            return tw_capture_no_memory(perf->capture);
        if (tw_unframer_feed(unframer, part->view.bytes + (auxtrace->position - part->base),
                             size) == TW_OK)
            for (unsigned id = 1; id < IDS; id++)
                bytes[id] += tw_unframer_stats(unframer)->bytes_by_id[id];
        tw_unframer_free(unframer);
    }
    return TW_OK;
}

/* Frames of an ATB bridge: a source for each trace ID, in which SRC tells the harts apart. */
static enum tw_status make_framed(struct tw_perf *perf)
{
    struct tw_capture *capture = perf->capture;
    const uint32_t cpus = (uint32_t)word_at(&perf->info, 0);
    const struct perf_view *info = &perf->info;
    const char *text = tw_capture_format(capture, "src_bits=%u\ninhibit_src=%u\nownership=%u\n",
                                         (unsigned)word_at(info, 6) & 15, word_at(info, 5) != 0,
                                         word_at(info, 4) != 0);
    uint64_t bytes[IDS];

    perf->harts = tw_capture_keep(capture, cpus, sizeof *perf->harts);
    if (!perf->harts || !text)
        return tw_capture_no_memory(capture);
    for (uint32_t i = 0; i < cpus; i++) {
        const uint64_t format = word_at(info, 3 + (size_t)CPU_WORDS * i);

        if (format != FORMAT_NTRACE)
            return tw_fail(capture->fault, TW_E_UNSUPPORTED,
                           "%s: CPU %" PRIu64 " traced in format %" PRIu64
                           " (trTeFormat); in CoreSight frames N-Trace, 1, is known",
                           capture->path, word_at(info, 1 + (size_t)CPU_WORDS * i), format);
        perf->harts[perf->hart_count++] =
            (struct perf_hart){ (uint32_t)word_at(info, 1 + (size_t)CPU_WORDS * i),
                                (uint32_t)word_at(info, 7 + (size_t)CPU_WORDS * i) };
    }
    TW_TRY(find_ids(perf, bytes));
    TW_TRY(make_room(perf, IDS));
    for (unsigned id = 1; id < IDS; id++) {
        if (!bytes[id])
            continue;
        TW_TRY(add_source(
            perf,
            &(struct tw_source){ .name = tw_capture_format(capture, "ntrace-0x%02x", id),
                                 .type = "NTRACE1.0",
                                 .protocol = "ntrace",
                                 .text = text,
                                 .device = TW_NONE,
                                 .has_id = true,
                                 .id = (uint8_t)id },
            cpus == 1 ? perf->harts[0].cpu : TW_NONE, word_at(info, 4) != 0));
    }
    return TW_OK;
}

/* What a RAM sink wrote, one source for each CPU; how it was set up the caller says. */
static enum tw_status make_unframed(struct tw_perf *perf)
{
    struct tw_capture *capture = perf->capture;
    const struct tw_capture_options *options = &capture->options;
    struct tw_source given = { .protocol = "ntrace", .text = "", .device = TW_NONE };

    if (options->source_count)
        TW_TRY(tw_raw_read_source(capture, &given, &options->sources[0]));
    given.streams = NULL;
    given.stream_count = 0;
    given.image = 0;
    perf->is_unframed = true;
    TW_TRY(make_room(perf, perf->auxtrace_count + 1));
    for (size_t i = 0; i < perf->auxtrace_count; i++) {
        const uint32_t cpu = perf->auxtraces[i].cpu;
        bool is_there = false;

        for (size_t k = 0; k < perf->source_count; k++)
            is_there |= perf->sources[k].cpu == cpu;
        if (is_there)
            continue;
        given.core = tw_capture_format(capture, "cpu%" PRIu32, cpu);
        given.name = tw_capture_format(capture, "%s-cpu%" PRIu32, given.protocol, cpu);
        if (!given.core)
            return TW_E_MEMORY;
        TW_TRY(add_source(perf, &given, cpu, true));
    }
    return TW_OK;
}

enum tw_status tw_perf_make_riscv(struct tw_perf *perf)
{
    return tw_perf_riscv_form(&perf->info) == PERF_RISCV_FRAMES ? make_framed(perf)
                                                                : make_unframed(perf);
}

uint32_t tw_perf_src_cpu(const struct tw_perf *perf, size_t source, uint32_t src)
{
    for (size_t i = 0; i < perf->hart_count; i++)
        if (perf->harts[i].src == src)
            return perf->harts[i].cpu;
    return tw_perf_source_cpu(perf, source);
}
