/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and their build IDs. */
#include "analysis/builds.h"

#include <stdlib.h>
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

/* NULL: it is not there. */
static struct tw_build *find(const struct tw_builds *builds, const char *file)
{
    size_t low = 0, high = builds->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(builds->items[middle].file, file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < builds->count && strcmp(builds->items[low].file, file) == 0
               ? &builds->items[low]
               : NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that are in no order, each once and in order. */
static size_t put_in_order(const char **names, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            names[kept++] = names[i];
    return kept;
}

/* Takes over files that are not there yet, and come in order: all others move but once.  There is room. */
static void merge(struct tw_builds *builds, const struct tw_build *added, size_t count)
{
    size_t from = builds->count, left = count;

    builds->count += count;
    while (left) {
        struct tw_build *to = &builds->items[from + left - 1];

        if (from && strcmp(builds->items[from - 1].file, added[left - 1].file) > 0)
            *to = builds->items[--from];
        else
            *to = added[--left];
    }
}

static bool put_all(struct tw_builds *builds, const char *const *names, size_t count)
{
    struct tw_build *added = tw_take(builds->allocator, (count + 1) * sizeof *added);
    size_t done = 0;

    if (!added ||
        !TW_GROW(builds->allocator, &builds->items, &builds->room, builds->count + count)) {
        tw_give(builds->allocator, added);
        return false;
    }
    while (done < count && (added[done].file = tw_copy_text(builds->allocator, names[done])))
        done++;
    if (done == count)
        merge(builds, added, count);
    for (size_t i = 0; i < done && done < count; i++)
        tw_give(builds->allocator, added[i].file);
    tw_give(builds->allocator, added);
    return done == count;
}

bool tw_builds_note(struct tw_builds *builds, const struct tw_run *run,
                    tw_build_file_fn *file_of, const void *context, size_t count)
{
    const char **names = tw_take(builds->allocator, (count + 1) * sizeof *names);
    size_t fresh = 0;
    bool is_good = names != NULL;

    for (size_t i = 0; is_good && i < count; i++) {
        const char *file = file_of(context, i);

        if (file && !find(builds, file))
            names[fresh++] = file;
    }
    if (is_good) {
        fresh = put_in_order(names, fresh);
        is_good = put_all(builds, names, fresh);
    }
    for (size_t i = 0; is_good && i < fresh; i++) {
        struct tw_build *build = find(builds, names[i]);

        if (build) /* put_all has put it there */
            build->id_size = (uint8_t)tw_run_object_id(run, build->id, names[i]);
    }
    tw_give(builds->allocator, names);
    return is_good;
}

/* Those of theirs that we do not have. */
static bool put_theirs(struct tw_builds *builds, const struct tw_builds *other)
{
    const char **names = tw_take(builds->allocator, (other->count + 1) * sizeof *names);
    size_t fresh = 0;
    bool is_good = names != NULL;

    for (size_t i = 0; is_good && i < other->count; i++)
        if (!find(builds, other->items[i].file))
            names[fresh++] = other->items[i].file;
    is_good = is_good && put_all(builds, names, fresh);
    tw_give(builds->allocator, names);
    return is_good;
}

enum tw_status tw_builds_add(struct tw_builds *builds, const struct tw_builds *other,
                             struct tw_fault *fault)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct tw_build *theirs = &other->items[i];
        const struct tw_build *ours = find(builds, theirs->file);

        if (ours && ours->id_size && theirs->id_size &&
            (ours->id_size != theirs->id_size ||
             memcmp(ours->id, theirs->id, ours->id_size) != 0))
            return tw_fail(fault, TW_E_ARGUMENT, "%s is of another build there", theirs->file);
    }
    if (!put_theirs(builds, other))
        return tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
    for (size_t i = 0; i < other->count; i++) {
        struct tw_build *ours = find(builds, other->items[i].file);

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

/* They were saved in order: others are wrong. */
static bool is_behind(const struct tw_builds *builds, const char *name)
{
    return !builds->count || strcmp(builds->items[builds->count - 1].file, name) < 0;
}

void tw_builds_load(struct tw_builds *builds, struct tw_load *load)
{
    for (size_t left = tw_load_count(load, 8 + 8 + 20); left; left--) {
        bool has_name, is_good = false;
        char *name = tw_load_text(load, &has_name);
        const uint64_t size = tw_load_u64(load);
        const uint8_t *id = tw_load_bytes(load, 20);
        const char *const names[] = { name };

        if (name && id && size <= 20 && is_behind(builds, name)) {
            is_good = put_all(builds, names, 1);
            tw_load_need(load, is_good ? builds->items : NULL);
        }
        tw_give(load->allocator, name);
        load->is_wrong |= !is_good;
        if (!is_good)
            return;
        memcpy(builds->items[builds->count - 1].id, id, 20);
        builds->items[builds->count - 1].id_size = (uint8_t)size;
    }
}
