/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the files of a coverage is meant, and what was counted of it. */
#include "export/feedback.h"

#include "analysis/code_name.h"

/* Whether the subject asks for this file; `path` is that of its symbols. */
static bool is_wanted(const struct tw_subject *subject, const struct tw_coverage_object *about,
                      const char *path)
{
    return !subject->binary || tw_code_has_path(about->name, subject->binary) ||
           tw_code_has_path(path, subject->binary) ||
           tw_code_has_build_id(about->build_id, about->build_id_size, subject->binary);
}

static bool holds(const struct tw_feedback *feedback, uint64_t address)
{
    return address - feedback->bias >= feedback->first &&
           address - feedback->bias < feedback->end;
}

static uint64_t executed(const struct tw_feedback *feedback)
{
    const struct tw_block_count *block;
    uint64_t times = 0;

    for (size_t i = 0;
         (block = tw_coverage_block(feedback->coverage, feedback->object, i)) != NULL; i++)
        if (holds(feedback, block->first))
            times += block->taken + block->not_taken;
    return times;
}

/* Takes the better one of two: executed most; of the same code, the one with symbols. */
static void consider(struct tw_feedback *best, uint64_t *most, const struct tw_feedback *other)
{
    const uint64_t times = executed(other);

    if (best->coverage &&
        (times < *most || (times == *most && (best->has_symbols || !other->has_symbols))))
        return;
    *best = *other;
    *most = times;
}

bool tw_feedback_choose(struct tw_feedback *feedback, const struct tw_subject *subject)
{
    const struct tw_coverage *coverage = subject->coverage;
    const struct tw_coverage_object *about;
    uint64_t most = 0;

    feedback->coverage = NULL;
    for (size_t i = 0; (about = tw_coverage_object(coverage, i)) != NULL; i++) {
        struct tw_feedback one = { .coverage = coverage,
                                   .object = i,
                                   .path = about->name,
                                   .symbols = tw_coverage_symbols(coverage, i),
                                   .end = UINT64_MAX };
        struct tw_symbol_object file = { .size = sizeof file };
        bool has_file = false;

        for (size_t k = 0; one.symbols && tw_symbols_object(one.symbols, &file, k); k++) {
            if (!is_wanted(subject, about, file.path))
                continue;
            has_file = true;
            one.path = about->name ? about->name : file.path;
            one.has_symbols = file.has_symbols;
            one.bias = file.bias;
            one.first = file.first;
            one.end = file.end;
            consider(feedback, &most, &one);
        }
        if (!has_file && is_wanted(subject, about, NULL))
            consider(feedback, &most, &one);
    }
    return feedback->coverage != NULL;
}

bool tw_feedback_block(const struct tw_feedback *feedback, struct tw_block_count *block,
                       size_t *at)
{
    const struct tw_block_count *found;

    while ((found = tw_coverage_block(feedback->coverage, feedback->object, (*at)++)) != NULL) {
        if (!holds(feedback, found->first) || !holds(feedback, found->last))
            continue;
        *block = *found;
        block->first -= feedback->bias;
        block->last -= feedback->bias;
        block->end -= feedback->bias;
        return true;
    }
    return false;
}

bool tw_feedback_jump(const struct tw_feedback *feedback, struct tw_jump_count *jump,
                      size_t *at)
{
    const struct tw_jump_count *found;

    while ((found = tw_coverage_jump(feedback->coverage, feedback->object, (*at)++)) != NULL) {
        const bool leaves = found->to == UINT64_MAX || !holds(feedback, found->to);
        const bool enters = found->from == UINT64_MAX || !holds(feedback, found->from);

        if (leaves && enters)
            continue;
        *jump = *found;
        jump->from = enters ? UINT64_MAX : found->from - feedback->bias;
        jump->to = leaves ? UINT64_MAX : found->to - feedback->bias;
        return true;
    }
    return false;
}
