/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of a part: which map it lies in, and its symbols by way of the run. */
#include "analysis/code_place.h"

#include <string.h>

#include "base/memory.h"
#include "run/run.h"

void tw_code_places_init(struct tw_code_places *places, const struct tw_allocator *allocator)
{
    *places = (struct tw_code_places){ .allocator = allocator,
                                       .maps.allocator = allocator,
                                       .files.allocator = allocator };
}

void tw_code_places_release(struct tw_code_places *places)
{
    tw_map_free(&places->maps);
    tw_map_free(&places->files);
}

/* Numbers from 1 on, in the order in which keys come; 0: no memory. */
static uint32_t number_of(struct tw_map *map, uint64_t key)
{
    uint64_t *number = tw_map_put(map, key);

    if (number && !*number)
        *number = map->count;
    return number ? (uint32_t)*number : 0;
}

/* A compiler moves cold code of a function away: "f.cold" is a part of "f". */
static void join_cold(struct tw_symbols *symbols, struct tw_symbol *symbol)
{
    static const char end[] = ".cold";
    const size_t size = strlen(symbol->name);
    char name[512];
    struct tw_symbol hot;

    if (size < sizeof end || size - (sizeof end - 1) >= sizeof name ||
        strcmp(symbol->name + size - (sizeof end - 1), end) != 0)
        return;
    memcpy(name, symbol->name, size - (sizeof end - 1));
    name[size - (sizeof end - 1)] = 0;
    if (tw_symbols_by_name(symbols, &hot, name, 0))
        *symbol = hot;
}

bool tw_code_function(struct tw_symbols *symbols, struct tw_symbol *symbol, uint64_t *first,
                      uint64_t *end, uint64_t link)
{
    if (!symbols || !tw_symbols_function(symbols, symbol, link))
        return false;
    *first = symbol->address;
    *end = symbol->address + symbol->size;
    join_cold(symbols, symbol);
    return true;
}

uint32_t tw_code_places_file(struct tw_code_places *places, const char *name)
{
    uint64_t hash = 14695981039346656037u;

    if (!name)
        return 0;
    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 1099511628211u;
    return number_of(&places->files, hash);
}

static bool find_symbol(struct tw_code_places *places, struct tw_function *function,
                        uint64_t *first, uint64_t *end, uint64_t address)
{
    struct tw_symbol symbol;
    uint64_t link = address;
    struct tw_symbols *symbols = tw_run_symbols(places->run, &link, places->part, address);

    if (!tw_code_function(symbols, &symbol, first, end, link)) {
        *first = *end = address;
        if (symbols && !tw_symbols_count(symbols))
            tw_names_reach(places->run, first, end, places->part, address);
        return false;
    }
    *first += address - link;
    *end += address - link;
    function->name = symbol.name;
    function->address = symbol.address;
    function->size = symbol.size;
    function->object = tw_run_object(places->run, NULL, places->part, address);
    function->file = tw_code_places_file(places, function->object);
    function->symbols = symbols;
    return true;
}

/* Symbols are one for all threads. */
static bool find(void *context, struct tw_function *function, uint64_t *first, uint64_t *end,
                 uint64_t address)
{
    struct tw_code_places *places = context;
    bool is_found;

    if (places->lock)
        (void)pthread_mutex_lock(places->lock);
    is_found = find_symbol(places, function, first, end, address);
    if (places->lock)
        (void)pthread_mutex_unlock(places->lock);
    return is_found;
}

static size_t frames_of(void *context, struct tw_source_frame *frames, size_t room,
                        struct tw_function *about, uint64_t address)
{
    struct tw_code_places *places = context;
    uint64_t link = address;

    about->symbols = tw_run_symbols(places->run, &link, places->part, address);
    about->object = tw_run_object(places->run, NULL, places->part, address);
    about->file = tw_code_places_file(places, about->object);
    return about->symbols ? tw_symbols_frames(about->symbols, frames, room, link) : 0;
}

bool tw_code_places_of(struct tw_code_places *places, struct tw_code_place *place,
                       struct tw_run *run, const struct tw_part *part)
{
    /* A view's time moves on where something is mapped anew. */
    const uint64_t key = tw_hash64(tw_hash64((uintptr_t)part->image) ^ part->who.view.time) ^
                         (uint64_t)part->who.view.context;

    if (!places->last || places->last_key != key) {
        places->last_key = key;
        places->last = number_of(&places->maps, key);
    }
    places->run = run;
    places->part = part;
    *place = (struct tw_code_place){ .map = places->last,
                                     .image = part->image,
                                     .view = part->who.view,
                                     .find = find,
                                     .frames = frames_of,
                                     .context = places };
    return place->map != 0;
}
