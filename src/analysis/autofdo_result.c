/* SPDX-License-Identifier: BSD-2-Clause */
/* AutoFDO profiles added to each other, saved and loaded, and what they tell. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/autofdo.h"
#include "analysis/code_name.h"
#include "analysis/saved.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "index/hash.h"

static const struct tw_saved_kind saved_kind = { "autofdo", 1 };

/* ---- adding, saving, loading ---- */

static bool is_same_file(const struct tw_autofdo_object *a, const struct tw_autofdo_object *b)
{
    return strcmp(a->name, b->name) == 0 && a->build_id_size == b->build_id_size &&
           memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

static uint64_t hash_of_file(const struct tw_autofdo_object *file)
{
    return tw_hash_of((const uint8_t *)file->name, strlen(file->name)) ^
           tw_hash64(tw_hash_of(file->build_id, file->build_id_size));
}

/* Files by name and build ID; those with the same hash are chained. */
static bool know_file(struct tw_autofdo *autofdo, struct tw_map *by_name, size_t number)
{
    uint64_t *first = tw_map_put(by_name, hash_of_file(&autofdo->files[number]));

    if (!first)
        return false;
    autofdo->files[number].same_hash = (uint32_t)*first;
    *first = number + 1;
    return true;
}

/* The number that a file of another profile has here, made when it is new; TW_NONE: no memory. */
static uint32_t number_of(struct tw_autofdo *autofdo, struct tw_map *by_name,
                          const struct tw_autofdo_object *file)
{
    const uint64_t *first = tw_map_find(by_name, hash_of_file(file));

    for (uint64_t at = first ? *first : 0; at; at = autofdo->files[at - 1].same_hash)
        if (is_same_file(&autofdo->files[at - 1], file))
            return (uint32_t)at - 1;
    if (!tw_autofdo_add_file(autofdo, file->name, file->build_id, file->build_id_size) ||
        !know_file(autofdo, by_name, autofdo->file_count - 1))
        return TW_NONE;
    return (uint32_t)autofdo->file_count - 1;
}

enum tw_status tw_autofdo_add(struct tw_autofdo *autofdo, struct tw_autofdo *other)
{
    const size_t count = other->file_count;
    struct tw_map by_name = { .allocator = autofdo->allocator };
    uint32_t *numbers;
    bool is_good;

    if (autofdo == other || (autofdo->file_count && other->file_count &&
                             autofdo->is_simpleperf != other->is_simpleperf))
        return TW_E_ARGUMENT;
    autofdo->is_simpleperf |= other->is_simpleperf;
    numbers = tw_take(autofdo->allocator, (count + 1) * sizeof *numbers);
    is_good = numbers && tw_autofdo_settle(autofdo) && tw_autofdo_settle(other);
    for (size_t i = 0; is_good && i < autofdo->file_count; i++)
        is_good = know_file(autofdo, &by_name, i);
    for (size_t i = 0; is_good && i < count; i++) {
        numbers[i] = number_of(autofdo, &by_name, &other->files[i]);
        is_good = numbers[i] != TW_NONE;
    }
    for (size_t i = 0; is_good && i < other->settled.count; i++) {
        struct tw_autofdo_entry pair = other->settled.items[i];

        pair.file = numbers[pair.file];
        is_good = tw_autofdo_count(autofdo, &autofdo->settled, &pair);
    }
    tw_map_free(&by_name);
    tw_give(autofdo->allocator, numbers);
    return is_good ? TW_OK : TW_E_MEMORY;
}

enum tw_status tw_autofdo_save(struct tw_autofdo *autofdo, const char *path,
                               struct tw_fault *fault)
{
    struct tw_save save = { .allocator = autofdo->allocator };

    if (!tw_autofdo_settle(autofdo))
        return tw_fail(fault, TW_E_MEMORY, "no memory to write %s", path);
    tw_save_u64(&save, autofdo->is_simpleperf);
    tw_save_u64(&save, autofdo->file_count);
    for (size_t i = 0; i < autofdo->file_count; i++) {
        tw_save_text(&save, autofdo->files[i].name);
        tw_save_u64(&save, autofdo->files[i].build_id_size);
        tw_save_bytes(&save, autofdo->files[i].build_id, sizeof autofdo->files[i].build_id);
    }
    tw_save_u64(&save, autofdo->settled.count);
    for (size_t i = 0; i < autofdo->settled.count; i++) {
        const struct tw_autofdo_entry *pair = &autofdo->settled.items[i];

        tw_save_u64(&save, pair->from);
        tw_save_u64(&save, pair->to);
        tw_save_u64(&save, pair->count);
        tw_save_u64(&save, (uint64_t)pair->is_branch << 32 | pair->file);
    }
    return tw_save_end(&save, &saved_kind, path, fault);
}

static void load_files(struct tw_autofdo *autofdo, struct tw_load *load)
{
    enum { FILE_LEAST = 8 + 8 + 20 };
    const size_t count = tw_load_count(load, FILE_LEAST);

    for (size_t i = 0; i < count && !load->is_wrong && !load->in.short_read; i++) {
        bool is_there;
        char *name = tw_load_text(load, &is_there);
        const uint64_t size = tw_load_u64(load);
        const uint8_t *build_id = tw_load_bytes(load, 20);

        load->is_wrong |= !name || size > 20 || !build_id;
        if (!load->is_wrong)
            tw_load_need(load, tw_autofdo_add_file(autofdo, name, build_id, (uint8_t)size));
        tw_give(load->allocator, name);
    }
}

static void load_pairs(struct tw_autofdo *autofdo, struct tw_load *load)
{
    enum { PAIR_SIZE = 32 };
    const size_t count = tw_load_count(load, PAIR_SIZE);

    for (size_t i = 0; i < count && !load->is_wrong; i++) {
        struct tw_autofdo_entry pair = { .from = tw_load_u64(load), .to = tw_load_u64(load) };
        uint64_t word;

        pair.count = tw_load_u64(load);
        word = tw_load_u64(load);
        pair.file = (uint32_t)word;
        pair.is_branch = word >> 32 & 1;
        load->is_wrong |= pair.file >= autofdo->file_count || word >> 33 || !pair.count;
        if (!load->is_wrong)
            tw_load_need(load, tw_autofdo_count(autofdo, &autofdo->settled, &pair));
    }
}

void tw_autofdo_read(struct tw_autofdo *autofdo, struct tw_load *load)
{
    autofdo->is_simpleperf = tw_load_u64(load) != 0;
    load_files(autofdo, load);
    load_pairs(autofdo, load);
}

enum tw_status tw_autofdo_load(struct tw_autofdo **autofdo, const char *path,
                               const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_autofdo *made;
    struct tw_load load;
    enum tw_status status;

    *autofdo = NULL;
    TW_TRY(tw_autofdo_new(&made, NULL, allocator, fault));
    status = tw_load_begin(&load, &saved_kind, path, allocator, fault);
    if (status == TW_OK) {
        tw_autofdo_read(made, &load);
        status = tw_load_end(&load, path, fault);
    }
    if (status != TW_OK) {
        tw_autofdo_free(made);
        return status;
    }
    *autofdo = made;
    return TW_OK;
}

/* ---- results ---- */

static uint64_t ranges_of(const struct tw_autofdo *autofdo, size_t file)
{
    uint64_t ranges = 0;

    for (size_t i = 0; i < autofdo->settled.count; i++)
        if (!autofdo->settled.items[i].is_branch && autofdo->settled.items[i].file == file)
            ranges += autofdo->settled.items[i].count;
    return ranges;
}

bool tw_autofdo_file(struct tw_autofdo *autofdo, struct tw_autofdo_file *file, size_t number)
{
    struct tw_autofdo_file told = { .size = sizeof told };
    const struct tw_autofdo_object *of;

    if (number >= autofdo->file_count || !tw_autofdo_settle(autofdo))
        return false;
    of = &autofdo->files[number];
    told.name = of->name;
    told.build_id_size = of->build_id_size;
    memcpy(told.build_id, of->build_id, sizeof told.build_id);
    told.ranges = ranges_of(autofdo, number);
    return TW_SIZED_GIVE(file, &told);
}

static bool is_named(const struct tw_autofdo_object *file, const char *name)
{
    return tw_code_has_path(file->name, name) ||
           tw_code_has_build_id(file->build_id, file->build_id_size, name);
}

size_t tw_autofdo_choose(struct tw_autofdo *autofdo, const char *name)
{
    uint64_t *times = tw_take(autofdo->allocator, (autofdo->file_count + 1) * sizeof *times);
    uint64_t most = 0;
    size_t chosen = SIZE_MAX;

    if (!times || !tw_autofdo_settle(autofdo)) {
        tw_give(autofdo->allocator, times);
        return SIZE_MAX;
    }
    for (size_t i = 0; i < autofdo->settled.count; i++)
        if (!autofdo->settled.items[i].is_branch)
            times[autofdo->settled.items[i].file] += autofdo->settled.items[i].count;
    for (size_t i = 0; i < autofdo->file_count; i++) {
        if (name && !is_named(&autofdo->files[i], name))
            continue;
        if (times[i] > most || (name && chosen == SIZE_MAX)) {
            most = times[i];
            chosen = i;
        }
    }
    tw_give(autofdo->allocator, times);
    return chosen;
}

static int compare(const void *a, const void *b)
{
    const struct tw_autofdo_pair *left = a, *right = b;

    if (left->is_branch != right->is_branch)
        return left->is_branch ? 1 : -1;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    return left->to < right->to ? -1 : left->to > right->to;
}

enum tw_status tw_autofdo_pairs(struct tw_autofdo *autofdo,
                                const struct tw_autofdo_pair **pairs, size_t *count,
                                size_t file)
{
    *pairs = NULL;
    *count = 0;
    if (file >= autofdo->file_count)
        return TW_E_ARGUMENT;
    if (!tw_autofdo_settle(autofdo) ||
        !TW_GROW(autofdo->allocator, &autofdo->results, &autofdo->result_room,
                 autofdo->settled.count + 1))
        return TW_E_MEMORY;
    for (size_t i = 0; i < autofdo->settled.count; i++) {
        const struct tw_autofdo_entry *pair = &autofdo->settled.items[i];

        if (pair->file == file)
            autofdo->results[(*count)++] =
                (struct tw_autofdo_pair){ pair->from, pair->to, pair->count, pair->is_branch };
    }
    qsort(autofdo->results, *count, sizeof *autofdo->results, compare);
    for (size_t i = 0; i < *count; i++)
        if (autofdo->results[i].to == TW_AUTOFDO_NOWHERE)
            autofdo->results[i].to = 0;
    *pairs = autofdo->results;
    return TW_OK;
}

/* ---- text ---- */

static void put_hex(struct tw_text *text, uint64_t value)
{
    tw_text_format(text, "%" PRIx64, value);
}

static void put_pair(struct tw_text *text, const struct tw_autofdo_pair *pair)
{
    put_hex(text, pair->from);
    tw_text_add(text, pair->is_branch ? "->" : "-");
    put_hex(text, pair->to);
    tw_text_char(text, ':');
    tw_text_decimal(text, pair->count);
    tw_text_char(text, '\n');
}

static void put_name(const struct tw_autofdo *autofdo, struct tw_text *text,
                     const struct tw_autofdo_object *file)
{
    if (file->build_id_size) {
        tw_text_add(text, "// build_id: 0x");
        tw_text_hex_bytes(text, file->build_id, file->build_id_size);
        tw_text_char(text, '\n');
    }
    tw_text_add(text, "// ");
    tw_text_add(text, file->name);
    tw_text_add(text, autofdo->is_simpleperf ? "\n\n" : "\n");
}

enum tw_status tw_autofdo_write(struct tw_autofdo *autofdo, size_t file,
                                bool (*write)(void *context, const char *text, size_t size),
                                void *context)
{
    enum { PIECE = 1 << 16 };
    struct tw_text text = { .allocator = autofdo->allocator };
    const struct tw_autofdo_pair *pairs;
    size_t count, ranges = 0;
    bool goes_on = true;

    TW_TRY(tw_autofdo_pairs(autofdo, &pairs, &count, file));
    while (ranges < count && !pairs[ranges].is_branch)
        ranges++;
    tw_text_format(&text, "%zu\n", ranges);
    for (size_t i = 0; i < count && goes_on; i++) {
        if (i == ranges)
            tw_text_format(&text, "0\n%zu\n", count - ranges);
        put_pair(&text, &pairs[i]);
        if (text.size > PIECE) {
            goes_on = write(context, text.chars, text.size);
            tw_text_clear(&text);
        }
    }
    if (ranges == count)
        tw_text_add(&text, "0\n0\n");
    put_name(autofdo, &text, &autofdo->files[file]);
    if (goes_on && !text.failed)
        (void)write(context, text.chars, text.size);
    goes_on = !text.failed;
    tw_text_free(&text);
    return goes_on ? TW_OK : TW_E_MEMORY;
}
