/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on their way: from the encoders through funnels to memory, pins or an ATB.  They travel
   whole; what is behind takes one of each input a cycle, so that none starves. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trsim/sim.h"

enum {
    DIS_INPUT = 0x08,
    RAM_START = 0x10,
    RAM_LIMIT = 0x18,
    RAM_WP = 0x20,
    SMEM_MODE = 1 << 4,
    STOP_ON_WRAP = 1 << 8,
    CALIBRATE = 1 << 9,
    WRAP = 1,
    NTRACE_IDLE = 0xff,
    ETRACE_IDLE = 0x00,
    ETRACE_ALIGN = 0x80
};

/* ---- queues ---- */

static bool is_open(const struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    const struct tw_trsim_part *to = tw_trsim_behind(sim, part);

    return to && to->enable.is;
}

bool tw_trsim_push(struct tw_trsim *sim, struct tw_trsim_queue *queue, const uint8_t *bytes,
                   size_t size)
{
    const uint32_t length = (uint32_t)size;

    if (!tw_trsim_spend(sim, size)) {
        sim->status = TW_E_ARGUMENT;
        return false;
    }
    if (queue->at == queue->used)
        queue->at = queue->used = 0;
    if (queue->at > queue->used / 2 && queue->at > TW_TRSIM_WAITING) {
        memmove(queue->bytes, queue->bytes + queue->at, queue->used - queue->at);
        queue->used -= queue->at;
        queue->at = 0;
    }
    if (!TW_GROW(sim->config->allocator, &queue->bytes, &queue->room,
                 queue->used + size + sizeof length)) {
        sim->status = tw_trsim_no_memory(sim);
        return false;
    }
    memcpy(queue->bytes + queue->used, &length, sizeof length);
    memcpy(queue->bytes + queue->used + sizeof length, bytes, size);
    queue->used += size + sizeof length;
    return true;
}

/* The oldest message; NULL: there is none. */
static const uint8_t *pop(struct tw_trsim_queue *queue, size_t *size)
{
    const uint8_t *bytes;
    uint32_t length;

    if (queue->at == queue->used)
        return NULL;
    bytes = queue->bytes + queue->at;
    memcpy(&length, bytes, sizeof length);
    queue->at += length + sizeof length;
    *size = length;
    return bytes + sizeof length;
}

/* Before a component that is disabled messages wait, up to a point. */
static void drop_waiting(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    size_t size;

    while (!is_open(sim, part) && part->queue.used - part->queue.at > TW_TRSIM_WAITING &&
           pop(&part->queue, &size)) {
        part->lost += size;
        if (!part->is_told)
            tw_trsim_event(sim, part, "LOST", "what is behind it is not enabled");
        part->is_told = true;
    }
}

/* ---- RAM sink ---- */

uint8_t *tw_trsim_memory(struct tw_trsim *sim, uint64_t address, size_t *room)
{
    for (size_t i = 0; i < sim->region_count; i++) {
        const struct tw_trsim_region *region = &sim->regions[i];

        if (address >= region->base && address - region->base < region->size) {
            *room = (size_t)(region->size - (address - region->base));
            return region->bytes + (address - region->base);
        }
    }
    *room = 0;
    return NULL;
}

static uint8_t *place_of(struct tw_trsim *sim, struct tw_trsim_part *part, uint64_t address,
                         size_t *room)
{
    if (part->registers[0] & SMEM_MODE)
        return tw_trsim_memory(sim, address, room);
    *room = address < part->sram_size ? part->sram_size - (size_t)address : 0;
    return *room ? part->sram + address : NULL;
}

static void set_pointer(struct tw_trsim_part *part, uint64_t address, bool is_wrapped)
{
    part->registers[RAM_WP / 4] =
        (uint32_t)address | (part->registers[RAM_WP / 4] & WRAP) | (is_wrapped ? WRAP : 0);
    part->registers[RAM_WP / 4 + 1] = (uint32_t)(address >> 32);
}

/* A full word goes to memory; behind the last one the buffer begins again. */
static void write_word(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const uint64_t at = tw_trsim_pair(part, RAM_WP) & ~(uint64_t)3;
    const uint64_t limit = tw_trsim_pair(part, RAM_LIMIT);
    size_t room;
    uint8_t *to = place_of(sim, part, at, &room);

    if (to && room >= part->word_size)
        memcpy(to, part->word, part->word_size);
    else {
        part->lost += part->word_size;
        if (!part->is_told)
            tw_trsim_event(sim, part, "FAULT", "there is no memory at the write pointer");
        part->is_told = true;
    }
    part->word_used = 0;
    if (at + part->word_size - 4 != limit) {
        set_pointer(part, at + part->word_size, false);
        return;
    }
    set_pointer(part, tw_trsim_pair(part, RAM_START), true);
    part->wraps++;
    tw_trsim_event(sim, part, "WRAP", NULL);
    if (part->registers[0] & STOP_ON_WRAP) {
        part->enable.is = part->enable.goal = false;
        part->is_stopped = true;
        tw_trsim_event(sim, part, "STOPPED", "trRamStopOnWrap");
    }
}

static void store(struct tw_trsim *sim, struct tw_trsim_part *part, const uint8_t *bytes,
                  size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (part->is_stopped) {
            part->lost += size - i; /* the last message is cut */
            return;
        }
        part->word[part->word_used++] = bytes[i];
        if (part->word_used == part->word_size)
            write_word(sim, part);
    }
}

/* What fills a word that no message does: the protocol of whoever sends. */
static uint8_t idle_byte(const struct tw_trsim *sim)
{
    for (size_t i = 0; i < sim->count; i++)
        if (sim->parts[i]->encoder &&
            (sim->parts[i]->registers[0] >> 24 & 7) == TW_TRSIM_ETRACE)
            return ETRACE_IDLE;
    return NTRACE_IDLE;
}

enum tw_status tw_trsim_buffer(struct tw_trsim *sim, struct tw_trsim_part *part, bool in_order,
                               struct tw_text *bytes)
{
    const uint64_t start = tw_trsim_pair(part, RAM_START);
    const uint64_t end = tw_trsim_pair(part, RAM_LIMIT) + 4;
    const uint64_t at = tw_trsim_pair(part, RAM_WP) & ~(uint64_t)3;
    const bool is_wrapped = part->registers[RAM_WP / 4] & WRAP;
    size_t room;
    const uint8_t *from = place_of(sim, part, start, &room);

    if (at < start || at > end || end < start || end - start > room || !from)
        return tw_trsim_wrong(sim, "the buffer of %s lies where there is no memory",
                              tw_trsim_known(sim, part)->name);
    if (!tw_trsim_spend(sim, end - start))
        return TW_E_ARGUMENT;
    if (!in_order) {
        tw_text_add_size(bytes, (const char *)from, (size_t)(end - start));
        return TW_OK;
    }
    if (is_wrapped)
        tw_text_add_size(bytes, (const char *)from + (at - start), (size_t)(end - at));
    tw_text_add_size(bytes, (const char *)from, (size_t)(at - start));
    return TW_OK;
}

/* ---- PIB sink and ATB bridge ---- */

/* The pins take their time for each byte. */
static void send_pins(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const uint32_t pace = tw_trsim_pins_pace(part);
    const uint8_t *message;
    uint32_t length;
    size_t size;

    part->idle_byte = idle_byte(sim);
    if (!pace)
        return;
    if (part->registers[0] & CALIBRATE) {
        if (sim->has_probe && tw_trsim_spend(sim, 8))
            tw_trsim_pins_calibrate(part);
        return;
    }
    if (part->queue.at == part->queue.used)
        return;
    memcpy(&length, part->queue.bytes + part->queue.at, sizeof length);
    if (++part->credit < (uint64_t)length * pace)
        return;
    part->credit = 0;
    message = pop(&part->queue, &size);
    if (sim->has_probe && message && tw_trsim_spend(sim, size))
        tw_trsim_pins(part, message, size);
    else
        part->lost += size;
}

static enum tw_status send_frames(struct tw_trsim *sim, const struct tw_trsim_part *part,
                                  const uint8_t *bytes, size_t size)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY,
                                             .allocator = sim->config->allocator };
    const uint8_t id = part->registers[0] >> 8 & 0x7f;

    if (!sim->framer && tw_framer_new(&sim->framer, &config, sim->fault) != TW_OK)
        return tw_trsim_no_memory(sim);
    if (tw_framer_write(sim->framer, id, bytes, size) != TW_OK)
        return tw_trsim_wrong(sim, "trAtbBridgeID of %s is 0", tw_trsim_known(sim, part)->name);
    return TW_OK;
}

/* ---- all ---- */

/* E-Trace out of a stream without frames is found again by a run of null packets that an alignment
   packet ends.  How often: after 2^(AsyncFreq + 4) messages. */
static void align(struct tw_trsim *sim, struct tw_trsim_part *part, unsigned type)
{
    const uint32_t word = part->registers[type == TW_TRCTL_ATB_BRIDGE ? 1 : 0];
    const unsigned frequency = word >> 12 & 7;
    uint8_t run[40];

    if (!frequency || idle_byte(sim) != ETRACE_IDLE ||
        ++part->since_align < (uint64_t)16 << frequency)
        return;
    part->since_align = 0;
    memset(run, ETRACE_IDLE, sizeof run);
    run[sizeof run - 1] = ETRACE_ALIGN;
    if (type == TW_TRCTL_RAM_SINK)
        store(sim, part, run, sizeof run);
    else if (type == TW_TRCTL_PIB_SINK)
        (void)tw_trsim_push(sim, &part->queue, run, sizeof run);
    else
        (void)(send_frames(sim, part, run, sizeof run) == TW_OK);
}

static enum tw_status take_message(struct tw_trsim *sim, struct tw_trsim_part *part,
                                   const uint8_t *bytes, size_t size)
{
    const unsigned type = tw_trsim_known(sim, part)->type;

    part->messages++;
    part->bytes += size;
    if (type == TW_TRCTL_FUNNEL || type == TW_TRCTL_PIB_SINK) {
        if (type == TW_TRCTL_PIB_SINK)
            align(sim, part, type);
        return tw_trsim_push(sim, &part->queue, bytes, size) ? TW_OK : sim->status;
    }
    align(sim, part, type);
    if (type == TW_TRCTL_ATB_BRIDGE)
        return send_frames(sim, part, bytes, size);
    store(sim, part, bytes, size);
    return TW_OK;
}

/* A message of each input. */
static enum tw_status pull(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const bool is_funnel = tw_trsim_known(sim, part)->type == TW_TRCTL_FUNNEL;
    unsigned input = 0;

    for (size_t i = 0; i < sim->count; i++) {
        struct tw_trsim_part *from = sim->parts[i];
        const uint8_t *message;
        size_t size;

        if (from == part || tw_trsim_behind(sim, from) != part)
            continue;
        message = pop(&from->queue, &size);
        if (message && is_funnel && part->registers[DIS_INPUT / 4] >> (input & 15) & 1)
            part->lost += size;
        else if (message)
            TW_TRY(take_message(sim, part, message, size));
        input++;
    }
    return TW_OK;
}

/* Internal counters run, divided; one of the core's own stops with it. */
static void count_time(struct tw_trsim_part *part)
{
    const uint32_t control = part->registers[TW_TRCTL_TS_CONTROL / 4];
    const uint32_t mode = control >> 4 & 7;

    if (!(control & 1) || !(control >> 1 & 1) || (mode != 2 && mode != 3))
        return;
    if (mode == 3 && part->encoder && part->encoder->is_halted && !(control >> 3 & 1))
        return;
    if (++part->time_rest >= UINT64_C(1) << (2 * (control >> 8 & 3))) {
        part->time_rest = 0;
        part->time++;
        if (part->encoder && part->encoder->time_width < 64)
            part->time &= (UINT64_C(1) << part->encoder->time_width) - 1;
    }
}

enum tw_status tw_trsim_tick(struct tw_trsim *sim)
{
    if (!tw_trsim_spend(sim, 1))
        return TW_E_ARGUMENT;
    sim->now++;
    for (size_t i = 0; i < sim->count; i++) {
        struct tw_trsim_part *part = sim->parts[i];
        const unsigned type = sim->checker.parts[i].type;

        TW_TRY(tw_trsim_settle(sim, part));
        if (type == TW_TRCTL_ENCODER || type == TW_TRCTL_FUNNEL)
            count_time(part);
        if (type != TW_TRCTL_ENCODER && (part->enable.is || part->is_stopped))
            TW_TRY(pull(sim, part));
        if (type == TW_TRCTL_PIB_SINK)
            send_pins(sim, part);
        else if (type == TW_TRCTL_ENCODER || type == TW_TRCTL_FUNNEL)
            drop_waiting(sim, part);
    }
    return sim->status;
}

enum tw_status tw_trsim_finish(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const uint8_t idle = idle_byte(sim);

    while (tw_trsim_known(sim, part)->type == TW_TRCTL_RAM_SINK && part->word_used) {
        part->word[part->word_used++] = idle;
        if (part->word_used == part->word_size)
            write_word(sim, part);
    }
    return TW_OK;
}

uint32_t tw_trsim_pace(const struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    const struct tw_trsim_part *sink = tw_trsim_behind(sim, part);
    uint32_t pace = part->encoder->cycles_per_byte, sharing = 0;

    while (sink && tw_trsim_known(sim, sink)->type == TW_TRCTL_FUNNEL)
        sink = tw_trsim_behind(sim, sink);
    if (!sink || tw_trsim_known(sim, sink)->type != TW_TRCTL_PIB_SINK)
        return pace;
    for (size_t i = 0; i < sim->count; i++)
        sharing += sim->parts[i]->encoder && sim->parts[i]->enable.goal;
    if (!pace)
        pace = tw_trsim_pins_pace(sink);
    return pace * (sharing ? sharing : 1);
}
