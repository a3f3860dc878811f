/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions get numbers when they are first met. */
#include "analysis/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "image/symbols.h"

enum { FUNCTIONS_MAX = 1 << 28 };

static uint64_t place_key(uint32_t file, uint64_t address, unsigned kind)
{
    return tw_hash64(address ^ (uint64_t)file << 40 ^ (uint64_t)kind << 60) | 1;
}

/* Captures that name no files may hold different programs at one address. */
static bool is_same(const struct tw_function *a, const struct tw_function *b)
{
    return a->address == b->address && a->file == b->file && a->kind == b->kind &&
           ((a->kind != TW_FUNCTION_SYMBOL && a->kind != TW_FUNCTION_INLINED) ||
            strcmp(a->name, b->name) == 0);
}

/* Linker veneers, PLT entries and what compilers put outside a function to save space. */
static bool is_stub_name(const char *name)
{
    static const char *const begins[] = { "__aarch64_ld",       "__aarch64_st",
                                          "__aarch64_cas",      "__aarch64_swp",
                                          "__riscv_save_",      "__riscv_restore_",
                                          "OUTLINED_FUNCTION_", "_dl_runtime_resolve" };
    static const char *const ends[] = { "@plt", "_from_thumb", "_from_arm", "_veneer" };
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t end = strlen(ends[i]);

        if (length > end && strcmp(name + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

static uint32_t out_of_memory(struct tw_functions *functions)
{
    functions->is_out = true;
    return TW_FUNCTION_NONE;
}

static bool make_room(struct tw_functions *functions)
{
    const size_t wanted = functions->count + 1;

    return wanted < FUNCTIONS_MAX &&
           TW_GROW(functions->allocator, &functions->items, &functions->room, wanted) &&
           TW_GROW(functions->allocator, &functions->older, &functions->older_room, wanted);
}

uint32_t tw_functions_number(struct tw_functions *functions, const struct tw_function *about)
{
    uint64_t *head =
        tw_map_put(&functions->by_place, place_key(about->file, about->address, about->kind));
    uint32_t number;

    if (!head)
        return out_of_memory(functions);
    for (number = (uint32_t)*head; number; number = functions->older[number])
        if (is_same(&functions->items[number], about))
            return number;
    if (!make_room(functions))
        return out_of_memory(functions);
    number = (uint32_t)functions->count++;
    functions->items[number] = *about;
    functions->older[number] = (uint32_t)*head;
    if (about->kind == TW_FUNCTION_SYMBOL) {
        functions->items[number].is_stub = is_stub_name(about->name);
        functions->items[number].is_resume = strcmp(about->name, "_Unwind_Resume") == 0;
    }
    *head = number;
    return number;
}

bool tw_functions_index(struct tw_functions *functions)
{
    tw_map_clear(&functions->by_place);
    for (size_t i = 1; i < functions->count; i++) {
        const struct tw_function *about = &functions->items[i];
        uint64_t *head = tw_map_put(&functions->by_place,
                                    place_key(about->file, about->address, about->kind));

        if (!head)
            return false;
        functions->older[i] = (uint32_t)*head;
        *head = i;
    }
    return true;
}

char *tw_functions_keep(struct tw_functions *functions, const char *text)
{
    char *copy;

    if (!TW_GROW(functions->allocator, &functions->names, &functions->name_room,
                 functions->name_count + 1))
        return NULL;
    copy = tw_copy_text(functions->allocator, text);
    if (copy)
        functions->names[functions->name_count++] = copy;
    return copy;
}

uint32_t tw_functions_made(struct tw_functions *functions, enum tw_function_kind kind,
                           uint32_t file, uint64_t address)
{
    struct tw_function about = {
        .name = "", .address = address, .file = file, .kind = (uint8_t)kind
    };
    const size_t before = functions->count;
    const uint32_t number = tw_functions_number(functions, &about);
    char text[48] = "[not traced]";
    char *name;

    if (number == TW_FUNCTION_NONE || functions->count == before)
        return number;
    if (kind == TW_FUNCTION_UNNAMED)
        (void)snprintf(text, sizeof text, "[0x%" PRIx64 "]", address);
    else if (kind == TW_FUNCTION_KERNEL)
        (void)snprintf(text, sizeof text, "[kernel]");
    else if (kind == TW_FUNCTION_NO_CODE)
        (void)snprintf(text, sizeof text, "[no code at 0x%" PRIx64 "]", address);
    name = tw_functions_keep(functions, text);
    if (!name)
        return out_of_memory(functions);
    functions->items[number].name = name;
    return number;
}

bool tw_functions_init(struct tw_functions *functions, const struct tw_allocator *allocator)
{
    *functions =
        (struct tw_functions){ .allocator = allocator, .by_place.allocator = allocator };
    if (!make_room(functions))
        return false;
    functions->items[0] = (struct tw_function){ .name = "[callers unknown]" };
    functions->older[0] = 0;
    functions->count = 1;
    return true;
}

void tw_functions_release(struct tw_functions *functions)
{
    for (size_t i = 0; i < functions->name_count; i++)
        tw_give(functions->allocator, functions->names[i]);
    tw_give(functions->allocator, functions->names);
    tw_give(functions->allocator, functions->items);
    tw_give(functions->allocator, functions->older);
    tw_map_free(&functions->by_place);
    *functions = (struct tw_functions){ 0 };
}

size_t tw_functions_count(const struct tw_functions *functions)
{
    return functions->count;
}

const struct tw_function *tw_functions_get(const struct tw_functions *functions,
                                           uint32_t number)
{
    return number < functions->count ? &functions->items[number] : NULL;
}

bool tw_functions_are_whole(const struct tw_functions *functions)
{
    for (size_t i = 1; i < functions->count; i++)
        if (functions->items[i].symbols && functions->items[i].symbols->lacks_lines)
            return false;
    return !functions->is_out;
}

bool tw_function_line(const struct tw_function *function, struct tw_source_line *line)
{
    *line = function->line;
    if (line->file)
        return true;
    return function->symbols && tw_symbols_line(function->symbols, line, function->address);
}
