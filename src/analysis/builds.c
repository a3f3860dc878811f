/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and their build IDs. */
#include "analysis/builds.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "run/run.h"

void tw_builds_release(struct tw_builds *builds)
{
    for (size_t i = 0; i < builds->count; i++)
        tw_give(builds->allocator, builds->items[i].file);
    tw_give(builds->allocator, builds->items);
    builds->items = NULL;
    builds->count = builds->room = 0;
}

/* Where a file is, or would be. */
static size_t place_of(const struct tw_builds *builds, const char *file, bool *is_there)
{
    size_t low = 0, high = builds->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(builds->items[middle].file, file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *is_there = low < builds->count && strcmp(builds->items[low].file, file) == 0;
    return low;
}

static struct tw_build *put(struct tw_builds *builds, const char *file, bool *is_there)
{
    const size_t at = place_of(builds, file, is_there);
    char *copy;

    if (*is_there)
        return &builds->items[at];
    copy = tw_copy_text(builds->allocator, file);
    if (!copy ||
        !TW_GROW(builds->allocator, &builds->items, &builds->room, builds->count + 1)) {
        tw_give(builds->allocator, copy);
        return NULL;
    }
    memmove(builds->items + at + 1, builds->items + at,
            (builds->count++ - at) * sizeof *builds->items);
    builds->items[at] = (struct tw_build){ .file = copy };
    return &builds->items[at];
}

bool tw_builds_note(struct tw_builds *builds, const struct tw_run *run, const char *file)
{
    bool is_there = true;
    struct tw_build *build = file ? put(builds, file, &is_there) : NULL;

    if (build && !is_there)
        build->id_size = (uint8_t)tw_run_object_id(run, build->id, file);
    return build || !file;
}

enum tw_status tw_builds_add(struct tw_builds *builds, const struct tw_builds *other,
                             struct tw_fault *fault)
{
    bool is_there;

    for (size_t i = 0; i < other->count; i++) {
        const struct tw_build *theirs = &other->items[i];
        const size_t at = place_of(builds, theirs->file, &is_there);
        const struct tw_build *ours = is_there ? &builds->items[at] : NULL;

        if (ours && ours->id_size && theirs->id_size &&
            (ours->id_size != theirs->id_size ||
             memcmp(ours->id, theirs->id, ours->id_size) != 0))
            return tw_fail(fault, TW_E_ARGUMENT, "%s is of another build there", theirs->file);
    }
    for (size_t i = 0; i < other->count; i++) {
        struct tw_build *ours = put(builds, other->items[i].file, &is_there);

        if (!ours)
            return tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
        if (ours->id_size)
            continue;
        memcpy(ours->id, other->items[i].id, sizeof ours->id);
        ours->id_size = other->items[i].id_size;
    }
    return TW_OK;
}

void tw_builds_save(const struct tw_builds *builds, struct tw_save *save)
{
    tw_save_u64(save, builds->count);
    for (size_t i = 0; i < builds->count; i++) {
        tw_save_text(save, builds->items[i].file);
        tw_save_u64(save, builds->items[i].id_size);
        tw_save_bytes(save, builds->items[i].id, sizeof builds->items[i].id);
    }
}

void tw_builds_load(struct tw_builds *builds, struct tw_load *load)
{
    for (size_t left = tw_load_count(load, 8 + 8 + 20); left; left--) {
        bool has_name, is_there;
        char *name = tw_load_text(load, &has_name);
        const uint64_t size = tw_load_u64(load);
        const uint8_t *id = tw_load_bytes(load, 20);
        struct tw_build *build = NULL;

        if (name && id && size <= 20) {
            build = put(builds, name, &is_there);
            tw_load_need(load, build);
        }
        tw_give(load->allocator, name);
        load->is_wrong |= !build;
        if (!build)
            return;
        memcpy(build->id, id, 20);
        build->id_size = (uint8_t)size;
    }
}
