/* SPDX-License-Identifier: BSD-2-Clause */
/* A script for the Trace Buffer Unit: lines to words, memory, translation, the trace unit's hold. */
#include "trbe/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum { LINE_ROOM = 4096 };

enum tw_status tw_sim_wrong(struct sim *sim, const char *format, ...)
{
    char text[300];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tw_fail(sim->fault, TW_E_ARGUMENT, "line %zu: %s", sim->number, text);
}

bool tw_sim_spend(struct sim *sim, uint64_t size)
{
    const uint64_t limit = sim->config->limit ? sim->config->limit : (uint64_t)256 << 20;

    if (size > limit - sim->spent) {
        (void)tw_sim_wrong(sim, "the script asks for more than %llu bytes in all",
                           (unsigned long long)limit);
        return false;
    }
    sim->spent += size;
    return true;
}

static uint8_t *find_memory(struct sim *sim, uint64_t address, size_t *room)
{
    for (size_t i = 0; i < sim->region_count; i++) {
        const struct sim_region *region = &sim->regions[i];

        if (address >= region->base && address - region->base < region->size) {
            *room = (size_t)(region->size - (address - region->base));
            return region->bytes + (address - region->base);
        }
    }
    return NULL;
}

/* As the processor sees it: through the translation. */
static uint64_t physical(const struct sim *sim, uint64_t address, uint64_t *size)
{
    for (size_t i = 0; i < sim->map_count; i++) {
        const struct sim_map *map = &sim->maps[i];

        if (address >= map->from && address - map->from < map->size) {
            if (*size > map->size - (address - map->from))
                *size = map->size - (address - map->from);
            return map->to + (address - map->from);
        }
        if (map->from > address && map->from - address < *size)
            *size = map->from - address;
    }
    return address;
}

bool tw_sim_read_memory(void *context, uint8_t *bytes, uint64_t address, size_t size)
{
    struct sim *sim = context;

    while (size) {
        uint64_t piece = size;
        size_t room = 0;
        const uint8_t *from = find_memory(sim, physical(sim, address, &piece), &room);

        if (!from)
            return false;
        if (piece > room)
            piece = room;
        memcpy(bytes, from, (size_t)piece);
        bytes += piece;
        address += piece;
        size -= (size_t)piece;
    }
    return true;
}

static enum tw_trbe_reply translate(void *context, struct tw_trbe_walk *walk)
{
    struct sim *sim = context;

    if (sim->has_fault && !sim->is_abort && sim->fault_at >= walk->address &&
        sim->fault_at - walk->address < walk->size) {
        if (sim->fault_at == walk->address) {
            walk->fault = sim->kind;
            return TW_TRBE_FAULT;
        }
        walk->size = sim->fault_at - walk->address;
    }
    if (!walk->is_stage1_off)
        walk->physical = physical(sim, walk->address, &walk->size);
    return TW_TRBE_DONE;
}

/* Where there is no memory, an External abort. */
static enum tw_trbe_reply write_memory(void *context, struct tw_trbe_store *store)
{
    struct sim *sim = context;
    size_t done = 0;

    while (done < store->size) {
        size_t room = 0;
        uint8_t *to = find_memory(sim, store->physical + done, &room);
        const uint64_t address = store->address + done;
        const bool is_abort = sim->has_fault && sim->is_abort && address == sim->fault_at;

        if ((sim->busy_at && address == sim->busy_at) || !to || is_abort) {
            store->done = done;
            store->fault = is_abort ? sim->kind
                                    : (struct tw_trbe_fault){ .class_code = TW_TRBE_EC_STAGE1,
                                                              .status = 0x10 };
            return sim->busy_at && address == sim->busy_at ? TW_TRBE_BUSY : TW_TRBE_FAULT;
        }
        *to = store->bytes[done++];
    }
    return TW_TRBE_DONE;
}

static size_t flush(void *context, uint8_t *bytes, size_t room)
{
    struct sim *sim = context;
    const size_t size = sim->pe->buffered_size < room ? sim->pe->buffered_size : room;

    if (size == 0 && sim->pe->tracer) {
        const size_t given = tw_sim_flush_tracer(sim, bytes, room);

        if (given)
            return given;
    }
    if (size == 0 && sim->config->source.flush)
        return sim->config->source.flush(sim->config->source.context, bytes, room);
    memcpy(bytes, sim->pe->buffered, size);
    memmove(sim->pe->buffered, sim->pe->buffered + size, sim->pe->buffered_size - size);
    sim->pe->buffered_size -= size;
    return size;
}

/* Made at the first command that is no "config": executing at EL1, trace allowed, owner EL1. */
enum tw_status tw_sim_need_unit(struct sim *sim)
{
    struct tw_trbe_config *config = &sim->pe->unit_config;
    enum tw_status status;

    if (sim->pe->unit)
        return TW_OK;
    config->size = sizeof *config;
    config->context = sim;
    config->translate = translate;
    config->write = write_memory;
    config->flush = flush;
    config->event = tw_sim_event;
    config->allocator = sim->config->allocator;
    status = tw_trbe_new(&sim->pe->unit, config, NULL);
    if (status == TW_E_CONFIG)
        return tw_sim_wrong(sim, "no Trace Buffer Unit is configured so");
    if (status != TW_OK)
        return tw_fail(sim->fault, status, "out of memory");
    tw_trbe_write(sim->pe->unit, TW_TRBE_TRFCR_EL1, 3);
    tw_trbe_write(sim->pe->unit, TW_TRBE_MDCR_EL2, 0x3000000);
    tw_trbe_write(sim->pe->unit, TW_TRBE_MDCR_EL3, 0x3000000);
    tw_trbe_write(sim->pe->unit, TW_TRBE_SCR_EL3, 1);
    tw_trbe_enter(sim->pe->unit, 1);
    return TW_OK;
}

/* Words are parted by white space; '=' is a word of its own; '#' begins a comment. */
static enum tw_status split(struct sim *sim, char *line, char *room)
{
    sim->count = 0;
    for (char *at = line; *at && *at != '#';) {
        if (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
            continue;
        }
        if (sim->count == SIM_WORDS)
            return tw_sim_wrong(sim, "too many words");
        sim->word[sim->count++] = room;
        if (*at == '=') {
            *room++ = *at++;
        } else {
            while (*at && !strchr(" \t\r=#", *at))
                *room++ = *at++;
        }
        *room++ = 0;
    }
    return TW_OK;
}

static enum tw_status run_line(struct sim *sim, const char *raw, size_t size)
{
    char line[LINE_ROOM], room[2 * LINE_ROOM];

    if (size >= sizeof line)
        return tw_sim_wrong(sim, "longer than %u characters", LINE_ROOM - 1);
    memcpy(line, raw, size);
    line[size] = 0;
    for (size_t i = 0; i < size; i++)
        if (!line[i])
            line[i] = ' ';
    TW_TRY(split(sim, line, room));
    if (!sim->count)
        return TW_OK;
    TW_TRY(tw_sim_command(sim));
    return sim->pe->tracer ? tw_sim_look_again(sim) : TW_OK;
}

enum tw_status tw_sim_select(struct sim *sim, unsigned number)
{
    if (!sim->pes[number])
        sim->pes[number] = tw_take(sim->config->allocator, sizeof *sim->pe);
    if (!sim->pes[number])
        return tw_fail(sim->fault, TW_E_MEMORY, "out of memory");
    sim->pe = sim->pes[number];
    sim->pe_number = number;
    return TW_OK;
}

static void end_pe(struct sim *sim, struct sim_pe *pe)
{
    if (!pe)
        return;
    if (pe->unit)
        sim->result->misuses += tw_trbe_get_counts(pe->unit)->misuses;
    sim->result->misuses += pe->misuses;
    tw_trbe_free(pe->unit);
    tw_etmv4_unit_free(pe->tracer);
    tw_log_free(pe->own_log);
    tw_give(sim->config->allocator, pe);
}

static void end(struct sim *sim)
{
    for (size_t i = 0; i < sim->region_count; i++)
        tw_give(sim->config->allocator, sim->regions[i].bytes);
    for (unsigned i = 0; i < SIM_PES; i++) {
        sim->pe = sim->pes[i]; /* the unit may ask for a last flush */
        end_pe(sim, sim->pes[i]);
    }
    tw_text_free(&sim->text);
    tw_give(sim->config->allocator, sim);
}

enum tw_status tw_sim_run(struct tw_sim_result *result, const char *script, size_t size,
                          const struct tw_sim_config *config, struct tw_fault *fault)
{
    enum tw_status status = TW_OK;
    struct tw_sim_config copy;
    struct sim *sim;

    *result = (struct tw_sim_result){ 0 };
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_sim_config", fault));
    config = &copy;
    if (!config->line)
        return tw_fail(fault, TW_E_ARGUMENT, "tw_sim_config has no function for lines");
    sim = tw_take(config->allocator, sizeof *sim);
    if (!sim)
        return tw_fail(fault, TW_E_MEMORY, "out of memory");
    sim->config = config;
    sim->result = result;
    sim->fault = fault;
    sim->text.allocator = config->allocator;
    status = tw_sim_select(sim, 0);
    if (status == TW_OK)
        sim->pe->log = config->log;
    for (size_t at = 0; at < size && status == TW_OK;) {
        const char *stop = memchr(script + at, '\n', size - at);
        const size_t length = stop ? (size_t)(stop - (script + at)) : size - at;

        sim->number++;
        status = run_line(sim, script + at, length);
        if (status == TW_OK && sim->text.failed)
            status = tw_fail(fault, TW_E_MEMORY, "out of memory");
        at += length + 1;
    }
    result->lines = sim->number;
    end(sim);
    return status;
}
