/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace encoder: its registers to a unit of either protocol, the hart's log through it. */
#include <stdio.h>
#include <string.h>

#include <trackway/control.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trsim/sim.h"

enum {
    TRACING = 1 << 2, /* trTeControl */
    OVERFLOW = 1 << 12,
    DATA_CONTROL = 0x10,
    DATA_FILTERS = 0x1c,
    EXT_OUT = 0x58,
    BLOCKS = 64, /* of a cycle, at most */
    CONFIG = 16384
};

static uint32_t control_of(const struct tw_trsim_part *part)
{
    return part->registers[TW_TRCTL_CONTROL / 4];
}

/* ---- messages ---- */

/* The unit's bytes come later than its messages: their sizes are kept. */
static void note_size(struct tw_trsim_part *part, uint32_t size)
{
    tw_text_add_size(&part->encoder->sizes, (const char *)&size, sizeof size);
}

static void note_ntrace(void *context, const struct tw_ntrace_packet *packet)
{
    note_size(context, packet->base.size);
}

static void note_etrace(void *context, const struct tw_etrace_packet *packet)
{
    note_size(context, packet->base.size);
}

static void put_messages(struct tw_trsim *sim, struct tw_trsim_part *part, const uint8_t *bytes,
                         size_t size)
{
    struct tw_text *sizes = &part->encoder->sizes;
    size_t at = 0, done = 0;

    while (at < size) {
        uint32_t length = (uint32_t)(size - at);

        if (done + sizeof length <= sizes->size) {
            memcpy(&length, sizes->chars + done, sizeof length);
            done += sizeof length;
        }
        if (length == 0 || length > size - at)
            length = (uint32_t)(size - at);
        part->messages++;
        part->bytes += length;
        if (!tw_trsim_push(sim, &part->queue, bytes + at, length))
            return;
        at += length;
    }
    tw_text_clear(sizes);
}

static void take_ntrace(void *context, const uint8_t *bytes, size_t size)
{
    struct tw_trsim *sim = context;

    put_messages(sim, sim->at_work, bytes, size);
}

static void take_etrace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct tw_trsim *sim = context;

    (void)stream;
    put_messages(sim, sim->at_work, bytes, size);
}

/* ---- N-Trace ---- */

/* What a part of an encoder does not take, or the log of one. */
static enum tw_status refused(struct tw_trsim *sim, const char *whose,
                              const struct tw_fault *fault)
{
    if (fault->status == TW_E_MEMORY)
        return tw_trsim_no_memory(sim);
    return tw_trsim_wrong(sim, "%s%s%s%.200s", *whose ? "the log of " : "", whose,
                          *whose ? ": " : "", fault->text);
}

static enum tw_status start_ntrace(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    struct tw_ntrace_config trace;
    struct tw_ntrace_unit_config config = { .size = sizeof config,
                                            .trace = &trace,
                                            .write = take_ntrace,
                                            .write_context = sim,
                                            .on_packet = note_ntrace,
                                            .packet_context = part,
                                            .fifo_size = encoder->fifo,
                                            .cycles_per_byte = tw_trsim_pace(sim, part),
                                            .allocator = sim->config->allocator };
    struct tw_fault fault = { TW_OK, "" };

    tw_ntrace_config_init(&trace);
    trace.time_width = encoder->time_width;
    if (encoder->settings.size &&
        tw_ntrace_config_read(&trace, encoder->settings.chars, &fault) != TW_OK)
        return refused(sim, "", &fault);
    trace.dialect = TW_NTRACE_1_0;
    if (tw_ntrace_unit_new(&encoder->ntrace, &config, &fault) != TW_OK)
        return refused(sim, "", &fault);
    for (uint32_t offset = TW_TRCTL_INST_FEATURES; offset < TW_TRCTL_SIZE; offset += 4)
        if (tw_trctl_at(TW_TRCTL_ENCODER, offset))
            tw_ntrace_unit_write(encoder->ntrace, offset, part->registers[offset / 4]);
    tw_ntrace_unit_write(encoder->ntrace, TW_TRCTL_CONTROL,
                         control_of(part) | TW_TRSIM_ACTIVE | TW_TRSIM_ENABLE);
    return TW_OK;
}

/* ---- E-Trace ---- */

/* Fields of a filter and of a comparator, by their names in either document. */
static const struct field_names {
    const char *ours, *theirs;
} filter_fields[] = {
    { "trTeFilter%uEnable", "filter%u.filterEnable" },
    { "trTeFilter%uMatchPrivilege", "filter%u.matchPrivilege" },
    { "trTeFilter%uMatchEcause", "filter%u.matchEcause" },
    { "trTeFilter%uMatchInterrupt", "filter%u.matchInterrupt" },
    { "trTeFilter%uMatchComp1", "filter%u.matchComp1" },
    { "trTeFilter%uComp1", "filter%u.comp1" },
    { "trTeFilter%uMatchComp2", "filter%u.matchComp2" },
    { "trTeFilter%uComp2", "filter%u.comp2" },
    { "trTeFilter%uMatchComp3", "filter%u.matchComp3" },
    { "trTeFilter%uComp3", "filter%u.comp3" },
    { "trTeFilter%uMatchImpdef", "filter%u.matchImpdef" },
    { "trTeFilter%uMatchDtype", "filter%u.matchDtype" },
    { "trTeFilter%uMatchDsize", "filter%u.matchDsize" },
    { "trTeFilter%uMatchChoicePrivilege", "filter%u.matchChoicePrivilege" },
    { "trTeFilter%uMatchValueInterrupt", "filter%u.matchValueInterrupt" },
    { "trTeFilter%uMatchChoiceEcauseLow", "filter%u.matchChoiceEcause" },
    { "trTeFilter%uMatchValueImpdef", "filter%u.matchValueImpdef" },
    { "trTeFilter%uMatchMaskImpdef", "filter%u.matchMaskImpdef" },
    { "trTeFilter%uMatchChoiceDtype", "filter%u.matchChoiceDtype" },
    { "trTeFilter%uMatchChoiceDsize", "filter%u.matchChoiceDsize" },
}, comparator_fields[] = {
    { "trTeComp%uPInput", "comparator%u.pInput" },
    { "trTeComp%uSInput", "comparator%u.sInput" },
    { "trTeComp%uPFunction", "comparator%u.pFunction" },
    { "trTeComp%uSFunction", "comparator%u.sFunction" },
    { "trTeComp%uMatchMode", "comparator%u.matchMode" },
    { "trTeComp%uPNotify", "comparator%u.pNotify" },
    { "trTeComp%uSNotify", "comparator%u.sNotify" },
    { "trTeComp%uPMatchLow", "comparator%u.pMatch" },
    { "trTeComp%uSMatchLow", "comparator%u.sMatch" },
};

/* A field's value in the component's registers; matches have two words. */
static uint64_t field_of(const struct tw_trsim_part *part, const char *name)
{
    uint16_t offset;
    const struct tw_trctl_field *field = tw_trctl_find_field(name, strlen(name), &offset);

    if (!field)
        return 0;
    if (strstr(name, "MatchLow"))
        return tw_trsim_pair(part, offset);
    return tw_trctl_get(field, part->registers[offset / 4]);
}

/* What is 0 need not be there. */
static enum tw_status set_etrace(struct tw_trsim *sim, struct tw_trsim_part *part,
                                 const char *name, uint64_t value)
{
    if (value && tw_etrace_unit_write_field(part->encoder->etrace, name, value) != TW_OK)
        return tw_trsim_wrong(sim, "%s: %.160s", name,
                              tw_etrace_unit_fault(part->encoder->etrace));
    return TW_OK;
}

/* These fields of so many filters or comparators. */
static enum tw_status set_numbered(struct tw_trsim *sim, struct tw_trsim_part *part,
                                   const struct field_names *fields, size_t field_count,
                                   unsigned count)
{
    char ours[48], theirs[48];

    for (unsigned n = 0; n < count; n++)
        for (size_t i = 0; i < field_count; i++) {
            (void)snprintf(ours, sizeof ours, fields[i].ours, n);
            (void)snprintf(theirs, sizeof theirs, fields[i].theirs, n);
            TW_TRY(set_etrace(sim, part, theirs, field_of(part, ours)));
        }
    return TW_OK;
}

static enum tw_status set_filters(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    TW_TRY(set_numbered(sim, part, filter_fields, TW_LENGTH(filter_fields), TW_TRCTL_FILTERS));
    TW_TRY(set_numbered(sim, part, comparator_fields, TW_LENGTH(comparator_fields),
                        TW_TRCTL_COMPARATORS));
    TW_TRY(set_etrace(sim, part, "iFilters", part->registers[TW_TRCTL_INST_FILTERS / 4]));
    return set_etrace(sim, part, "dFilters", part->registers[DATA_FILTERS / 4]);
}

static enum tw_status set_fields(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const uint32_t control = control_of(part), data = part->registers[DATA_CONTROL / 4];

    TW_TRY(set_filters(sim, part));
    TW_TRY(set_etrace(sim, part, "ResyncMode", control >> 16 & 3));
    TW_TRY(set_etrace(sim, part, "ResyncMax", control >> 20 & 15));
    TW_TRY(set_etrace(sim, part, "stallEnable", control >> 13 & 1));
    TW_TRY(set_etrace(sim, part, "iTrigEnable", control >> 11 & 1));
    if (part->encoder->has_data) {
        TW_TRY(set_etrace(sim, part, "dTrigEnable", data >> 2 & 1));
        TW_TRY(set_etrace(sim, part, "noData", data >> 16 & 1));
        TW_TRY(set_etrace(sim, part, "noAddress", data >> 17 & 1));
        TW_TRY(set_etrace(sim, part, "DataCompress", data >> 18 & 3));
        TW_TRY(set_etrace(sim, part, "dEnable", data >> 1 & 1));
    }
    return set_etrace(sim, part, "iEnable", control >> 2 & 1 && control >> 4 & 7);
}

static unsigned xlen_of(const struct tw_trsim *sim)
{
    return sim->config->image ? tw_image_xlen(sim->config->image) : 0;
}

/* The configuration that a dump of the registers gives a decoder, then what the script adds. */
static enum tw_status configure(struct tw_trsim *sim, struct tw_trsim_part *part,
                                struct tw_etrace_config *config)
{
    const struct tw_allocator *allocator = sim->config->allocator;
    struct tw_text text = { .allocator = allocator };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_control *control = NULL;
    size_t size = CONFIG;
    char *room = tw_take(allocator, CONFIG);
    enum tw_status status = room ? TW_OK : TW_E_MEMORY;

    tw_trsim_dump(sim, part, &text);
    if (status == TW_OK)
        status = text.failed
                     ? TW_E_MEMORY
                     : tw_control_read(&control, text.chars, text.size, allocator, &fault);
    if (status == TW_OK)
        status = tw_control_config(control, room, &size, &fault);
    tw_text_clear(&text);
    if (status == TW_OK) {
        tw_text_add_size(&text, room, size);
        tw_text_format(&text, "srcid=%u\n",
                       (unsigned)(part->registers[TW_TRCTL_INST_FEATURES / 4] >> 16 & 0xfff));
        tw_text_add(&text, part->encoder->settings.size ? part->encoder->settings.chars : "");
        status = text.failed ? TW_E_MEMORY
                             : tw_etrace_config_make(config, text.chars, TW_ETRACE_LAYOUT_NONE,
                                                     xlen_of(sim), &fault);
    }
    tw_control_free(control);
    tw_text_free(&text);
    tw_give(allocator, room);
    return status == TW_E_MEMORY ? tw_trsim_no_memory(sim)
           : status != TW_OK     ? tw_trsim_wrong(sim, "%.200s", fault.text)
                                 : TW_OK;
}

static enum tw_status start_etrace(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    struct tw_etrace_config trace;
    struct tw_etrace_unit_config config = { .size = sizeof config,
                                            .trace = &trace,
                                            .write = take_etrace,
                                            .write_context = sim,
                                            .on_packet = note_etrace,
                                            .packet_context = part,
                                            .fifo_size = encoder->fifo,
                                            .cycles_per_byte = tw_trsim_pace(sim, part),
                                            .allocator = sim->config->allocator };
    struct tw_fault fault = { TW_OK, "" };

    TW_TRY(configure(sim, part, &trace));
    if (tw_etrace_unit_new(&encoder->etrace, &config, &fault) != TW_OK)
        return refused(sim, "", &fault);
    return set_fields(sim, part);
}

/* ---- enabling ---- */

void tw_trsim_drop_unit(struct tw_trsim_part *part)
{
    tw_ntrace_unit_free(part->encoder->ntrace);
    tw_etrace_unit_free(part->encoder->etrace);
    part->encoder->ntrace = NULL;
    part->encoder->etrace = NULL;
    part->encoder->told_halt = part->encoder->told_reset = part->encoder->told_sleep = false;
    tw_text_clear(&part->encoder->sizes);
}

/* What the unit made goes to the queue; losses show in trTeControl. */
static enum tw_status collect(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    uint64_t lost = 0, stalled = 0;

    sim->at_work = part;
    if (encoder->ntrace) {
        struct tw_ntrace_unit_counts counts;

        tw_ntrace_unit_flush(encoder->ntrace);
        tw_ntrace_unit_counts(&counts, encoder->ntrace);
        lost = counts.lost;
        stalled = tw_ntrace_unit_stalled(encoder->ntrace);
    } else if (encoder->etrace) {
        struct tw_etrace_unit_counts counts;

        tw_etrace_unit_flush(encoder->etrace);
        tw_etrace_unit_counts(encoder->etrace, &counts);
        lost = counts.lost;
        stalled = tw_etrace_unit_stalled(encoder->etrace);
    }
    if ((lost > encoder->lost || stalled) && !(part->registers[0] & OVERFLOW)) {
        part->registers[0] |= OVERFLOW;
        tw_trsim_event(sim, part, stalled ? "STALL" : "OVERFLOW", NULL);
    }
    encoder->lost = lost;
    sim->now += stalled;
    return sim->status;
}

/* External trigger outputs tell when tracing starts and stops. */
static void tell_tracing(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    const bool is_tracing = tw_trsim_unit_bits(part) & TRACING;
    const uint32_t outputs = part->registers[EXT_OUT / 4];
    char text[64];

    if (is_tracing == part->encoder->was_tracing)
        return;
    part->encoder->was_tracing = is_tracing;
    for (unsigned i = 0; i < 8; i++)
        if (outputs >> (4 * i) & (is_tracing ? 1 : 2)) {
            (void)snprintf(text, sizeof text, "output %u: tracing %s", i,
                           is_tracing ? "started" : "stopped");
            tw_trsim_event(sim, part, "EXTERNAL_OUTPUT", text);
        }
}

enum tw_status tw_trsim_start(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    tw_trsim_drop_unit(part);
    sim->at_work = part;
    part->encoder->lost = 0;
    TW_TRY((control_of(part) >> 24 & 7) == TW_TRSIM_NTRACE ? start_ntrace(sim, part)
                                                           : start_etrace(sim, part));
    TW_TRY(tw_trsim_signals(sim, part));
    tell_tracing(sim, part);
    return collect(sim, part);
}

enum tw_status tw_trsim_stop(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    const uint32_t bits = tw_trsim_unit_bits(part);

    sim->at_work = part;
    if (encoder->ntrace)
        tw_ntrace_unit_write(encoder->ntrace, TW_TRCTL_CONTROL,
                             (control_of(part) & ~(uint32_t)TW_TRSIM_ENABLE) | TW_TRSIM_ACTIVE);
    if (encoder->etrace) {
        (void)(tw_etrace_unit_write_field(encoder->etrace, "iEnable", 0) == TW_OK);
        (void)(tw_etrace_unit_write_field(encoder->etrace, "dEnable", 0) == TW_OK);
    }
    TW_TRY(collect(sim, part));
    part->registers[0] = (part->registers[0] & ~(uint32_t)TRACING) | (bits & TRACING);
    tw_trsim_drop_unit(part);
    encoder->was_tracing = false;
    return TW_OK;
}

enum tw_status tw_trsim_control(struct tw_trsim *sim, struct tw_trsim_part *part,
                                uint32_t value)
{
    struct tw_trsim_encoder *encoder = part->encoder;

    if (!(value & TW_TRSIM_ENABLE))
        return TW_OK; /* that comes when the level falls */
    sim->at_work = part;
    if (encoder->ntrace)
        tw_ntrace_unit_write(encoder->ntrace, TW_TRCTL_CONTROL,
                             control_of(part) | TW_TRSIM_ACTIVE | TW_TRSIM_ENABLE |
                                 (value & OVERFLOW));
    if (encoder->etrace &&
        tw_etrace_unit_write_field(encoder->etrace, "iEnable", value >> 2 & 1) != TW_OK)
        return tw_trsim_wrong(sim, "%.200s", tw_etrace_unit_fault(encoder->etrace));
    tell_tracing(sim, part);
    return collect(sim, part);
}

uint32_t tw_trsim_unit_bits(const struct tw_trsim_part *part)
{
    const struct tw_trsim_encoder *encoder = part->encoder;
    uint64_t value = 0;

    if (encoder->ntrace)
        return tw_ntrace_unit_read(encoder->ntrace, TW_TRCTL_CONTROL) & TRACING;
    if (!encoder->etrace)
        return part->registers[0] & TRACING;
    return tw_etrace_unit_read_field(encoder->etrace, &value, "iEnable") == TW_OK && value
               ? TRACING
               : 0;
}

/* ---- the hart ---- */

enum tw_status tw_trsim_signals(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    const bool is_halted = encoder->is_halted || encoder->logged_halt;
    const bool is_reset = encoder->is_reset || encoder->logged_reset;

    sim->at_work = part;
    if (encoder->ntrace) {
        if (is_halted != encoder->told_halt)
            tw_ntrace_unit_halted(encoder->ntrace, is_halted);
        if (is_reset != encoder->told_reset)
            tw_ntrace_unit_reset(encoder->ntrace, is_reset);
        if (encoder->is_asleep != encoder->told_sleep)
            tw_ntrace_unit_asleep(encoder->ntrace, encoder->is_asleep);
    }
    if (encoder->etrace) {
        tw_etrace_unit_halted(encoder->etrace, is_halted);
        tw_etrace_unit_reset(encoder->etrace, is_reset);
    }
    encoder->told_halt = is_halted;
    encoder->told_reset = is_reset;
    encoder->told_sleep = encoder->is_asleep;
    return sim->status;
}

static enum tw_status open_hart(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    struct tw_ntrace_config ntrace;
    struct tw_etrace_config etrace;
    struct tw_hart_options options = { .size = sizeof options,
                                       .image = sim->config->image,
                                       .allocator = sim->config->allocator };
    struct tw_fault fault = { TW_OK, "" };

    if (!encoder->log)
        return tw_trsim_wrong(sim, "%s has no log to run", tw_trsim_known(sim, part)->name);
    if ((control_of(part) >> 24 & 7) == TW_TRSIM_NTRACE) {
        tw_ntrace_config_init(&ntrace);
        if (encoder->settings.size &&
            tw_ntrace_config_read(&ntrace, encoder->settings.chars, &fault) != TW_OK)
            return refused(sim, "", &fault);
        options.ntrace = &ntrace;
    } else {
        TW_TRY(configure(sim, part, &etrace));
        options.trace = &etrace;
    }
    if (tw_hart_open_memory(&encoder->hart, encoder->log, encoder->log_size, &options,
                            &fault) != TW_OK)
        return refused(sim, tw_trsim_known(sim, part)->name, &fault);
    return TW_OK;
}

/* The time that a block gets: of the log, or of a counter. */
static uint64_t block_time(const struct tw_trsim *sim, const struct tw_trsim_part *part,
                           uint64_t logged)
{
    const uint32_t control = part->registers[TW_TRCTL_TS_CONTROL / 4];

    if ((control >> 4 & 7) == 1 || (control >> 4 & 7) > 4)
        return logged;
    return tw_trsim_peek(sim, part, 0x48) | (uint64_t)tw_trsim_peek(sim, part, 0x4c) << 32;
}

static enum tw_status give(struct tw_trsim *sim, struct tw_trsim_part *part,
                           const struct tw_hart_event *event)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    struct tw_etrace_block blocks[BLOCKS];
    struct tw_etrace_cycle cycle = event->cycle;
    enum tw_status status = TW_OK;

    if (cycle.block_count > BLOCKS)
        return tw_trsim_wrong(sim, "a cycle of more than %u blocks", BLOCKS);
    for (size_t i = 0; i < cycle.block_count; i++) {
        blocks[i] = cycle.blocks[i];
        blocks[i].time = block_time(sim, part, blocks[i].time);
    }
    if (cycle.block_count) {
        blocks[0].trigger |= encoder->trigger & TW_ETRACE_TRIGGER_ON;
        blocks[cycle.block_count - 1].trigger |=
            encoder->trigger & (uint8_t)~TW_ETRACE_TRIGGER_ON;
        encoder->trigger = 0;
    }
    cycle.blocks = blocks;
    if (encoder->ntrace)
        status = tw_ntrace_unit_retire(encoder->ntrace, blocks, cycle.block_count);
    else if (encoder->etrace)
        status = tw_etrace_unit_cycle(encoder->etrace, &cycle);
    if (status == TW_OK && encoder->etrace && event->has_response)
        status =
            tw_etrace_unit_response(encoder->etrace, event->response.lrid, event->response.data,
                                    event->response.data_high, event->response.is_error);
    if (status != TW_OK)
        return tw_trsim_wrong(sim, "%.200s",
                              encoder->ntrace ? tw_ntrace_unit_fault(encoder->ntrace)
                                              : tw_etrace_unit_fault(encoder->etrace));
    return TW_OK;
}

enum tw_status tw_trsim_cycle(struct tw_trsim *sim, struct tw_trsim_part *part)
{
    struct tw_trsim_encoder *encoder = part->encoder;
    struct tw_hart_event event;
    enum tw_status status;
    uint64_t before;

    if (encoder->is_at_end || encoder->is_halted || encoder->is_reset || encoder->is_asleep)
        return TW_END;
    if (!encoder->hart)
        TW_TRY(open_hart(sim, part));
    before = tw_hart_instructions(encoder->hart);
    status = tw_hart_next(encoder->hart, &event);
    if (status == TW_END || status == TW_MORE) {
        encoder->is_at_end = true;
        return TW_END;
    }
    if (status == TW_E_MEMORY)
        return tw_trsim_no_memory(sim);
    if (status != TW_OK)
        return tw_trsim_wrong(sim, "%.200s", tw_hart_fault(encoder->hart));
    sim->executed += tw_hart_instructions(encoder->hart) - before;
    encoder->logged_halt = event.is_halted;
    encoder->logged_reset = event.is_reset;
    TW_TRY(tw_trsim_signals(sim, part));
    sim->at_work = part;
    TW_TRY(give(sim, part, &event));
    tell_tracing(sim, part);
    return collect(sim, part);
}
