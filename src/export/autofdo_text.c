/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges and branches with their counts, for create_llvm_prof and create_gcov (AutoFDO's text) and for
   llvm-profgen --unsymbolized-profile.  Addresses count from the first loaded segment. */
#include <inttypes.h>

#include <trackway/perfdata.h>

#include "export/export.h"
#include "export/feedback.h"

static void put_ranges(struct tw_sink *sink, const struct tw_feedback *feedback)
{
    struct tw_block_count block;
    size_t count = 0;

    for (size_t at = 0; tw_feedback_block(feedback, &block, &at);)
        count++;
    tw_sink_format(sink, "%zu\n", count);
    for (size_t at = 0; tw_feedback_block(feedback, &block, &at) && !sink->is_over;)
        tw_sink_format(sink, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
                       block.first - feedback->first, block.last - feedback->first,
                       block.taken + block.not_taken);
}

/* What came from elsewhere has no place to be said at. */
static bool next_branch(const struct tw_feedback *feedback, struct tw_jump_count *jump,
                        size_t *at)
{
    bool is_there;

    do
        is_there = tw_feedback_jump(feedback, jump, at);
    while (is_there && jump->from == UINT64_MAX);
    return is_there;
}

static void put_branches(struct tw_sink *sink, const struct tw_feedback *feedback)
{
    struct tw_jump_count jump;
    size_t count = 0;

    for (size_t at = 0; next_branch(feedback, &jump, &at);)
        count++;
    tw_sink_format(sink, "%zu\n", count);
    for (size_t at = 0; next_branch(feedback, &jump, &at) && !sink->is_over;)
        tw_sink_format(sink, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
                       jump.from - feedback->first,
                       jump.to == UINT64_MAX ? 0 : jump.to - feedback->first, jump.count);
}

/* Whose it is, for people and those who keep profiles by build ID. */
static void put_identity(struct tw_sink *sink, const struct tw_feedback *feedback)
{
    const struct tw_coverage_object *about =
        tw_coverage_object(feedback->coverage, feedback->object);
    uint8_t own[20];
    const uint8_t *id = about->build_id;
    size_t size = about->build_id_size;

    if (!size && feedback->path) {
        size = tw_perf_build_id(own, feedback->path);
        id = own;
    }
    if (size)
        tw_sink_text(sink, "// build_id: 0x");
    for (size_t i = 0; i < size; i++)
        tw_sink_format(sink, "%02x", (unsigned)id[i]);
    tw_sink_text(sink, size ? "\n" : "");
    if (!feedback->path)
        return;
    tw_sink_text(sink, "// ");
    for (const char *at = feedback->path; *at; at++)
        tw_sink_bytes(sink, (unsigned char)*at < 0x20 ? "?" : at, 1);
    tw_sink_text(sink, "\n");
}

static void put(struct tw_sink *sink, const struct tw_subject *subject, const char *addresses)
{
    struct tw_feedback feedback;

    if (!tw_feedback_choose(&feedback, subject))
        return;
    put_ranges(sink, &feedback);
    tw_sink_text(sink, addresses);
    put_branches(sink, &feedback);
    if (*addresses) /* llvm-profgen reads no comments */
        put_identity(sink, &feedback);
}

void tw_write_autofdo(struct tw_sink *sink, const struct tw_subject *subject)
{
    put(sink, subject, "0\n"); /* addresses that were only sampled: none */
}

void tw_write_unsymbolized(struct tw_sink *sink, const struct tw_subject *subject)
{
    put(sink, subject, "");
}
