/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches each way, and where indirect ones led, in order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile.h"
#include "base/memory.h"

static int by_object(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_branches(const void *left, const void *right)
{
    const struct tw_profile_branch *a = left, *b = right;
    const int order = by_object(a->object, b->object);

    return order ? order : by_number(a->address, b->address);
}

static int compare_targets(const void *left, const void *right)
{
    const struct tw_profile_target *a = left, *b = right;
    int order = by_object(a->object, b->object);

    if (!order)
        order = by_number(a->from, b->from);
    if (!order)
        order = by_number(a->to, b->to);
    return order ? order : a->is_call - b->is_call;
}

static bool add_branches(struct tw_profiler *profile, const struct tw_counted_file *file)
{
    for (size_t i = 1; i < file->counts.range_count; i++) {
        const struct tw_range_count *range = &file->counts.ranges[i];

        if (!range->is_conditional)
            continue;
        if (!TW_GROW(profile->allocator, &profile->branches, &profile->branch_room,
                     profile->branch_count + 1))
            return false;
        profile->branches[profile->branch_count++] = (struct tw_profile_branch){
            file->name, range->start + range->length - (uint64_t)(range->last >> 6) * 2,
            range->taken, range->not_taken
        };
    }
    return true;
}

static bool add_targets(struct tw_profiler *profile, const struct tw_counted_file *file)
{
    for (size_t i = 1; i < file->counts.edge_count; i++) {
        const struct tw_edge_count *edge = &file->counts.edges[i];

        if (edge->kind != TW_EDGE_INDIRECT && edge->kind != TW_EDGE_CALL)
            continue;
        if (!TW_GROW(profile->allocator, &profile->targets, &profile->target_room,
                     profile->target_count + 1))
            return false;
        profile->targets[profile->target_count++] =
            (struct tw_profile_target){ file->name, edge->from, edge->to, edge->count,
                                        edge->kind == TW_EDGE_CALL };
    }
    return true;
}

/* A branch may end several ranges. */
static void join_branches(struct tw_profiler *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->branch_count; i++) {
        struct tw_profile_branch *branch = &profile->branches[i];

        if (count && compare_branches(&profile->branches[count - 1], branch) == 0) {
            profile->branches[count - 1].taken += branch->taken;
            profile->branches[count - 1].not_taken += branch->not_taken;
        } else {
            profile->branches[count++] = *branch;
        }
    }
    profile->branch_count = count;
}

static void join_targets(struct tw_profiler *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->target_count; i++) {
        struct tw_profile_target *target = &profile->targets[i];

        if (count && compare_targets(&profile->targets[count - 1], target) == 0)
            profile->targets[count - 1].count += target->count;
        else
            profile->targets[count++] = *target;
    }
    profile->target_count = count;
}

void tw_profile_sort_branches(struct tw_profiler *profile)
{
    if (profile->branch_count)
        qsort(profile->branches, profile->branch_count, sizeof *profile->branches,
              compare_branches);
    if (profile->target_count)
        qsort(profile->targets, profile->target_count, sizeof *profile->targets,
              compare_targets);
    join_branches(profile);
    join_targets(profile);
}

bool tw_profile_branches(struct tw_profiler *profile)
{
    for (size_t i = 0; i < profile->code.count; i++)
        if (!add_branches(profile, profile->code.files[i]) ||
            !add_targets(profile, profile->code.files[i]))
            return false;
    tw_profile_sort_branches(profile);
    return true;
}
