/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles added to each other, saved and loaded: rows, which are sums. */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile.h"
#include "base/fault.h"
#include "base/memory.h"

static const struct tw_saved_kind saved_kind = { "profile", 1 };

enum { ROW_SIZE = 19 * 8, BRANCH_SIZE = 4 * 8, TARGET_SIZE = 5 * 8 };

/* ---- saving ---- */

static const char *file_of(const void *context, size_t number)
{
    const struct tw_profiler *profile = context;

    return profile->rows[number].object;
}

static bool note_builds(struct tw_profiler *profile)
{
    return tw_builds_note(&profile->builds, profile->code.run, file_of, profile,
                          profile->row_count);
}

static void save_spent(struct tw_save *save, const struct tw_spent *spent)
{
    tw_save_u64(save, spent->estimate);
    tw_save_u64(save, spent->least);
    tw_save_u64(save, spent->most);
}

static void save_row(struct tw_save *save, const struct tw_profile_row *row)
{
    tw_save_text(save, row->name);
    tw_save_text(save, row->object);
    tw_save_text(save, row->file);
    tw_save_u64(save, row->line);
    tw_save_u64(save, row->pid);
    tw_save_u64(save, row->tid);
    tw_save_u64(save, row->address);
    tw_save_u64(save, row->context);
    tw_save_u64(save, (uint64_t)row->known | (uint64_t)row->isa << 8);
    tw_save_u64(save, row->entries);
    tw_save_u64(save, row->self);
    tw_save_u64(save, row->total);
    save_spent(save, &row->cycles);
    save_spent(save, &row->time);
}

/* Totals that are no sums of rows, in the order of the file. */
static uint64_t *total_at(struct tw_profile_totals *totals, size_t number)
{
    uint64_t *const all[] = { &totals->instructions, &totals->unknown,  &totals->untraced,
                              &totals->missing,      &totals->cycles,   &totals->time,
                              &totals->lost_cycles,  &totals->lost_time };

    return number < TW_LENGTH(all) ? all[number] : NULL;
}

static void write_saved(struct tw_profiler *profile, struct tw_save *save)
{
    struct tw_profile_totals *totals = &profile->totals;

    save->has_failed |= !note_builds(profile);
    tw_save_u64(save, (uint64_t)profile->by | (uint64_t)profile->with_inlined << 8 |
                          (uint64_t)(profile->has_calls) << 9);
    tw_save_u64(save, (uint64_t)totals->clock | (uint64_t)totals->has_cycles << 8 |
                          (uint64_t)totals->has_time << 9);
    for (size_t i = 0; total_at(totals, i); i++)
        tw_save_u64(save, *total_at(totals, i));
    tw_builds_save(&profile->builds, save);
    tw_save_u64(save, profile->row_count);
    for (size_t i = 0; i < profile->row_count; i++)
        save_row(save, &profile->rows[i]);
    tw_save_u64(save, profile->branch_count);
    for (size_t i = 0; i < profile->branch_count; i++) {
        tw_save_text(save, profile->branches[i].object);
        tw_save_u64(save, profile->branches[i].address);
        tw_save_u64(save, profile->branches[i].taken);
        tw_save_u64(save, profile->branches[i].not_taken);
    }
    tw_save_u64(save, profile->target_count);
    for (size_t i = 0; i < profile->target_count; i++) {
        tw_save_text(save, profile->targets[i].object);
        tw_save_u64(save, profile->targets[i].from);
        tw_save_u64(save, profile->targets[i].to);
        tw_save_u64(save, profile->targets[i].count);
        tw_save_u64(save, profile->targets[i].is_call);
    }
}

enum tw_status tw_profile_save(struct tw_profiler *profile, const char *path,
                               struct tw_fault *fault)
{
    struct tw_save save = { .allocator = profile->allocator };

    if (tw_profile_finish(profile) != TW_OK)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the profile");
    write_saved(profile, &save);
    return tw_save_end(&save, &saved_kind, path, fault);
}

/* ---- loading ---- */

static const char *load_kept(struct tw_load *load, struct tw_profiler *profile)
{
    bool has;
    char *text = tw_load_text(load, &has);
    const char *kept = text ? tw_profile_keep(profile, text) : NULL;

    tw_load_need(load, kept || !text);
    tw_give(load->allocator, text);
    load->is_wrong |= has && !kept;
    return kept;
}

static uint32_t load_u32(struct tw_load *load)
{
    const uint64_t value = tw_load_u64(load);

    load->is_wrong |= value > UINT32_MAX;
    return (uint32_t)value;
}

static struct tw_spent load_spent(struct tw_load *load)
{
    struct tw_spent spent;

    spent.estimate = tw_load_u64(load);
    spent.least = tw_load_u64(load);
    spent.most = tw_load_u64(load);
    return spent;
}

static void load_row(struct tw_load *load, struct tw_profiler *profile)
{
    struct tw_profile_row row = { .name = load_kept(load, profile) };
    uint64_t about;

    row.object = load_kept(load, profile);
    row.file = load_kept(load, profile);
    row.line = load_u32(load);
    row.pid = load_u32(load);
    row.tid = load_u32(load);
    row.address = tw_load_u64(load);
    row.context = tw_load_u64(load);
    about = tw_load_u64(load);
    load->is_wrong |= about >> 16 != 0 || (about & 0x80);
    row.known = (uint8_t)about;
    row.isa = (uint8_t)(about >> 8);
    row.entries = tw_load_u64(load);
    row.self = tw_load_u64(load);
    row.total = tw_load_u64(load);
    row.cycles = load_spent(load);
    row.time = load_spent(load);
    if (load->is_wrong || load->in.short_read)
        return;
    tw_load_need(load, TW_GROW(profile->allocator, &profile->rows, &profile->row_room,
                               profile->row_count + 1));
    if (!load->no_memory)
        profile->rows[profile->row_count++] = row;
}

static void load_branch(struct tw_load *load, struct tw_profiler *profile)
{
    struct tw_profile_branch branch = { .object = load_kept(load, profile) };

    branch.address = tw_load_u64(load);
    branch.taken = tw_load_u64(load);
    branch.not_taken = tw_load_u64(load);
    tw_load_need(load, TW_GROW(profile->allocator, &profile->branches, &profile->branch_room,
                               profile->branch_count + 1));
    if (!load->no_memory)
        profile->branches[profile->branch_count++] = branch;
}

static void load_target(struct tw_load *load, struct tw_profiler *profile)
{
    struct tw_profile_target target = { .object = load_kept(load, profile) };
    uint64_t is_call;

    target.from = tw_load_u64(load);
    target.to = tw_load_u64(load);
    target.count = tw_load_u64(load);
    is_call = tw_load_u64(load);
    load->is_wrong |= is_call > 1;
    target.is_call = is_call != 0;
    tw_load_need(load, TW_GROW(profile->allocator, &profile->targets, &profile->target_room,
                               profile->target_count + 1));
    if (!load->no_memory)
        profile->targets[profile->target_count++] = target;
}

void tw_profile_read_saved(struct tw_profiler *profile, struct tw_load *load)
{
    const uint64_t what = tw_load_u64(load), clock = tw_load_u64(load);
    struct tw_profile_totals *totals = &profile->totals;
    size_t left;

    load->is_wrong |= (uint8_t)what > TW_PROFILE_SOURCE || what >> 10 || clock >> 10;
    profile->by = (enum tw_profile_by)(load->is_wrong ? 0 : (uint8_t)what);
    profile->with_inlined = what >> 8 & 1;
    profile->has_calls = what >> 9 & 1;
    totals->clock = (uint8_t)clock;
    totals->has_cycles = clock >> 8 & 1;
    totals->has_time = clock >> 9 & 1;
    for (size_t i = 0; total_at(totals, i); i++)
        *total_at(totals, i) = tw_load_u64(load);
    tw_builds_load(&profile->builds, load);
    for (left = tw_load_count(load, ROW_SIZE - 3 * 8); left && !load->is_wrong; left--)
        load_row(load, profile);
    for (left = tw_load_count(load, BRANCH_SIZE); left && !load->is_wrong; left--)
        load_branch(load, profile);
    for (left = tw_load_count(load, TARGET_SIZE); left && !load->is_wrong; left--)
        load_target(load, profile);
    profile->is_finished = true;
}

enum tw_status tw_profile_load(struct tw_profiler **profile, const char *path,
                               const struct tw_allocator *allocator, struct tw_fault *fault)
{
    const struct tw_profile_config config = { .size = sizeof config, .allocator = allocator };
    struct tw_load load;
    struct tw_profiler *made;
    enum tw_status status;

    *profile = NULL;
    TW_TRY(tw_load_begin(&load, &saved_kind, path, allocator, fault));
    if (tw_profile_new(&made, &config, fault) != TW_OK) {
        (void)tw_load_end(&load, path, NULL);
        return TW_E_MEMORY;
    }
    tw_profile_read_saved(made, &load);
    status = tw_load_end(&load, path, fault);
    if (status != TW_OK)
        tw_profile_free(made);
    else
        *profile = made;
    return status;
}

/* ---- adding ---- */

static int by_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Rows of the same thing are equal. */
static int by_what(const void *left, const void *right)
{
    const struct tw_profile_row *a = left, *b = right;
    const uint8_t bits = TW_PROFILE_IS_KNOWN | TW_PROFILE_IS_INLINED;
    const int orders[] = {
        by_text(a->name, b->name),         by_text(a->object, b->object),
        by_text(a->file, b->file),         by_number(a->line, b->line),
        by_number(a->pid, b->pid),         by_number(a->tid, b->tid),
        by_number(a->address, b->address), by_number(a->context, b->context),
        by_number(a->isa, b->isa),         (a->known & bits) - (b->known & bits)
    };

    for (size_t i = 0; i < TW_LENGTH(orders); i++)
        if (orders[i])
            return orders[i];
    return 0;
}

static void add_spent(struct tw_spent *to, const struct tw_spent *from)
{
    to->estimate += from->estimate;
    to->least += from->least;
    to->most += from->most;
}

static void join_rows(struct tw_profiler *profile)
{
    size_t count = 0;

    qsort(profile->rows, profile->row_count, sizeof *profile->rows, by_what);
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct tw_profile_row *row = &profile->rows[i];
        struct tw_profile_row *to = count ? &profile->rows[count - 1] : NULL;

        if (!to || by_what(to, row) != 0) {
            profile->rows[count++] = *row;
            continue;
        }
        to->known |= row->known;
        to->function = to->function ? to->function : row->function;
        to->entries += row->entries;
        to->self += row->self;
        to->total += row->total;
        add_spent(&to->cycles, &row->cycles);
        add_spent(&to->time, &row->time);
    }
    profile->row_count = count;
}

/* A copy of a text that the other may take away. */
static const char *keep(struct tw_profiler *profile, const char *text)
{
    const char *kept = text ? tw_profile_keep(profile, text) : NULL;

    profile->is_out |= text && !kept;
    return kept;
}

static bool add_rows(struct tw_profiler *profile, const struct tw_profiler *other)
{
    if (!TW_GROW(profile->allocator, &profile->rows, &profile->row_room,
                 profile->row_count + other->row_count + 1))
        return false;
    for (size_t i = 0; i < other->row_count; i++) {
        struct tw_profile_row *row = &profile->rows[profile->row_count++];

        *row = other->rows[i];
        row->name = keep(profile, row->name);
        row->object = keep(profile, row->object);
        row->file = keep(profile, row->file);
        row->function = 0;
    }
    return !profile->is_out;
}

static bool add_branches(struct tw_profiler *profile, const struct tw_profiler *other)
{
    if (!TW_GROW(profile->allocator, &profile->branches, &profile->branch_room,
                 profile->branch_count + other->branch_count + 1) ||
        !TW_GROW(profile->allocator, &profile->targets, &profile->target_room,
                 profile->target_count + other->target_count + 1))
        return false;
    for (size_t i = 0; i < other->branch_count; i++) {
        profile->branches[profile->branch_count] = other->branches[i];
        profile->branches[profile->branch_count++].object =
            keep(profile, other->branches[i].object);
    }
    for (size_t i = 0; i < other->target_count; i++) {
        profile->targets[profile->target_count] = other->targets[i];
        profile->targets[profile->target_count++].object =
            keep(profile, other->targets[i].object);
    }
    return !profile->is_out;
}

enum tw_status tw_profile_add(struct tw_profiler *profile, struct tw_profiler *other,
                              struct tw_fault *fault)
{
    struct tw_profile_totals *totals = &profile->totals;

    if (tw_profile_finish(profile) != TW_OK || tw_profile_finish(other) != TW_OK)
        return tw_fail(fault, TW_E_MEMORY, "no memory for the profile");
    if (profile == other || profile->by != other->by ||
        profile->with_inlined != other->with_inlined || profile->has_calls != other->has_calls)
        return tw_fail(fault, TW_E_ARGUMENT, "rows are of another kind there");
    if (totals->has_time && other->totals.has_time && totals->clock != other->totals.clock)
        return tw_fail(fault, TW_E_ARGUMENT, "time is counted by another clock there");
    if (!note_builds(profile) || !note_builds(other))
        return tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
    TW_TRY(tw_builds_add(&profile->builds, &other->builds, fault));
    if (!add_rows(profile, other) || !add_branches(profile, other))
        return tw_fail(fault, TW_E_MEMORY, "no memory for the sum");
    for (size_t i = 0; total_at(totals, i); i++)
        *total_at(totals, i) += *total_at(&other->totals, i);
    if (!totals->has_time && (other->totals.has_time || other->totals.clock > totals->clock))
        totals->clock = other->totals.clock;
    totals->has_time |= other->totals.has_time;
    totals->has_cycles |= other->totals.has_cycles;
    join_rows(profile);
    tw_profile_know_time(profile);
    tw_profile_sort(profile);
    tw_profile_sort_branches(profile);
    return TW_OK;
}
