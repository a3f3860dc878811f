/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder's registers, and what writing them does. */
#include "ntrace/unit.h"

#include <inttypes.h>

enum { FORMAT_NTRACE = 1 };

uint32_t tw_ntrace_unit_get(const struct tw_ntrace_unit *unit, const char *name)
{
    uint64_t value;

    return tw_ntrace_unit_read_field(unit, name, &value) == TW_OK ? (uint32_t)value : 0;
}

void tw_ntrace_unit_set(struct tw_ntrace_unit *unit, const char *name, uint32_t value)
{
    uint16_t offset;
    const struct tw_trctl_field *field = tw_trctl_find_field(name, strlen(name), &offset);

    if (field)
        unit->registers[offset / 4] = (unit->registers[offset / 4] & ~tw_trctl_mask(field)) |
                                      (value << field->low & tw_trctl_mask(field));
}

/* What of a value the encoder accepts: N-Trace has no differences to switch off, no prediction and no
   cache; modes that there are not leave the old one. */
static uint32_t accept(const struct tw_ntrace_unit *unit, uint32_t offset, uint32_t value)
{
    enum { NOT_HERE = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5 };
    const uint32_t old = unit->registers[offset / 4];
    const uint32_t mode = value >> 4 & 7;

    if (offset == TW_TRCTL_INST_FEATURES) {
        value &= ~(uint32_t)NOT_HERE;
        if (value >> 28 > TW_NTRACE_SRC_BITS_MAX)
            value = (value & 0x0fffffff) | (uint32_t)TW_NTRACE_SRC_BITS_MAX << 28;
    }
    if (offset == TW_TRCTL_CONTROL) {
        value = (value & ~UINT32_C(0x07000000)) | (uint32_t)FORMAT_NTRACE << 24;
        if (mode != 0 && mode != TW_NTRACE_MODE_BTM && mode != TW_NTRACE_MODE_HTM)
            value = (value & ~UINT32_C(0x70)) | (old & 0x70);
    }
    return value;
}

static uint32_t word(const struct tw_ntrace_unit *unit, uint32_t offset)
{
    return unit->registers[offset / 4];
}

static uint64_t two_words(const struct tw_ntrace_unit *unit, uint32_t offset)
{
    return word(unit, offset) | (uint64_t)word(unit, offset + 4) << 32;
}

static void take_filter(struct tw_ingress_filter *filter, const struct tw_ntrace_unit *unit,
                        uint32_t at)
{
    const uint32_t control = word(unit, at), inst = word(unit, at + 4),
                   data = word(unit, at + 0x18);

    filter->is_enabled = control & 1;
    filter->match_privilege = control >> 1 & 1;
    filter->match_ecause = control >> 2 & 1;
    filter->match_interrupt = control >> 3 & 1;
    for (unsigned i = 0; i < 3; i++) {
        filter->match_comparator[i] = control >> (4 + 4 * i) & 1;
        filter->comparator[i] = control >> (5 + 4 * i) & 7;
    }
    filter->match_impdef = control >> 16 & 1;
    filter->match_dtype = control >> 24 & 1;
    filter->match_dsize = control >> 25 & 1;
    filter->privileges = (uint8_t)inst;
    filter->interrupt = inst >> 8 & 1;
    filter->ecauses = two_words(unit, at + 8);
    filter->impdef_value[0] = word(unit, at + 0x10);
    filter->impdef_mask[0] = word(unit, at + 0x14);
    filter->types = (uint16_t)data;
    filter->sizes = (uint8_t)(data >> 16);
}

static void take_comparator(struct tw_ingress_comparator *comparator,
                            const struct tw_ntrace_unit *unit, uint32_t at)
{
    const uint32_t control = word(unit, at);

    comparator->input[0] = control & 3;
    comparator->input[1] = control >> 2 & 3;
    comparator->function[0] = control >> 4 & 7;
    comparator->function[1] = control >> 8 & 7;
    comparator->mode = control >> 12 & 3;
    comparator->notify[0] = control >> 14 & 1;
    comparator->notify[1] = control >> 15 & 1;
    comparator->match[0] = two_words(unit, at + 0x10);
    comparator->match[1] = two_words(unit, at + 0x18);
}

static void take_filters(struct tw_ntrace_unit *unit)
{
    struct tw_ingress *ingress = &unit->ingress;

    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++)
        take_filter(&ingress->filters[i], unit, TW_TRCTL_FILTER + TW_TRCTL_STRIDE * i);
    for (unsigned i = 0; i < TW_INGRESS_COMPARATORS; i++)
        take_comparator(&ingress->comparators[i], unit,
                        TW_TRCTL_COMPARATOR + TW_TRCTL_STRIDE * i);
    ingress->filters_used = (uint16_t)word(unit, TW_TRCTL_INST_FILTERS);
    ingress->nesting_bits = TW_NTRACE_NESTING_BITS;
    tw_ingress_note(ingress);
}

/* Begins or ends what the registers and the hart's state say. */
static void run(struct tw_ntrace_unit *unit, bool is_running)
{
    if (unit->is_running && !is_running) {
        tw_ntrace_unit_stop(unit);
        unit->is_announced = false;
    }
    unit->is_running = is_running;
}

void tw_ntrace_unit_refresh(struct tw_ntrace_unit *unit)
{
    struct tw_ntrace_config *config = &unit->codec.config;
    const uint32_t mode = tw_ntrace_unit_get(unit, "trTeInstMode");
    const bool is_on = tw_ntrace_unit_get(unit, "trTeActive") &&
                       tw_ntrace_unit_get(unit, "trTeEnable") &&
                       tw_ntrace_unit_get(unit, "trTeInstTracing") && mode;

    run(unit, is_on && !unit->is_halted && !unit->is_asleep);
    unit->is_htm = mode != TW_NTRACE_MODE_BTM;
    unit->has_times = tw_ntrace_unit_get(unit, "trTsEnable");
    unit->has_ownership = tw_ntrace_unit_get(unit, "trTeContext");
    unit->may_stall = tw_ntrace_unit_get(unit, "trTeInstStallEna");
    unit->sync_mode = (uint8_t)tw_ntrace_unit_get(unit, "trTeInstSyncMode");
    config->inhibit_src = tw_ntrace_unit_get(unit, "trTeInhibitSrc");
    config->src_bits = (uint8_t)tw_ntrace_unit_get(unit, "trTeSrcBits");
    config->src =
        (uint16_t)(tw_ntrace_unit_get(unit, "trTeSrcID") & ((1u << config->src_bits) - 1));
    config->extend_addr = tw_ntrace_unit_get(unit, "trTeInstExtendAddrMSB");
    config->all_jumps = tw_ntrace_unit_get(unit, "trTeInstEnAllJumps");
    config->sequential_jump = tw_ntrace_unit_get(unit, "trTeInstEnSequentialJump");
    config->repeat_history = tw_ntrace_unit_get(unit, "trTeInstEnRepeatedHistory");
    unit->return_mode = tw_ntrace_unit_get(unit, "trTeInstEnImplicitReturn")
                            ? (uint8_t)tw_ntrace_unit_get(unit, "trTeInstImplicitReturnMode")
                            : TW_NTRACE_RETURN_NONE;
    tw_ntrace_shape_init(&unit->codec.shape, config);
    take_filters(unit);
}

/* The registers as the configuration has them. */
void tw_ntrace_unit_setup(struct tw_ntrace_unit *unit)
{
    const struct tw_ntrace_config *config = &unit->codec.config;
    uint32_t exponent = 0;

    unit->stop_code = TW_NTRACE_EVCODE_DISABLED;
    unit->icnt_limit = config->icnt_max ? config->icnt_max : TW_NTRACE_ICNT_MAX;
    unit->hist_limit = config->hist_max ? config->hist_max : 32;
    unit->depth_max = config->return_depth                            ? config->return_depth
                      : config->return_mode == TW_NTRACE_RETURN_COUNT ? TW_NTRACE_COUNT_MAX
                                                                      : TW_NTRACE_CALLS_MAX;
    while (exponent < 15 && UINT32_C(16) << exponent < config->sync_messages)
        exponent++;
    unit->sync_limit = config->sync_messages;
    unit->registers[TW_TRCTL_IMPL / 4] = 1 | TW_TRCTL_ENCODER << 8 | 1 << 16;
    tw_ntrace_unit_set(unit, "trTeActive", 1);
    tw_ntrace_unit_set(unit, "trTeFormat", FORMAT_NTRACE);
    tw_ntrace_unit_set(unit, "trTeInstMode",
                       config->mode ? config->mode : (uint32_t)TW_NTRACE_MODE_HTM);
    tw_ntrace_unit_set(unit, "trTeContext", config->ownership);
    tw_ntrace_unit_set(unit, "trTeInhibitSrc", config->inhibit_src);
    tw_ntrace_unit_set(unit, "trTeInstSyncMode", config->sync_messages ? 1 : 0);
    tw_ntrace_unit_set(unit, "trTeInstSyncMax", exponent);
    tw_ntrace_unit_set(unit, "trTeInstEnSequentialJump", config->sequential_jump);
    tw_ntrace_unit_set(unit, "trTeInstEnImplicitReturn", config->return_mode != 0);
    tw_ntrace_unit_set(unit, "trTeInstImplicitReturnMode", config->return_mode);
    tw_ntrace_unit_set(unit, "trTeInstEnRepeatedHistory", config->repeat_history);
    tw_ntrace_unit_set(unit, "trTeInstEnAllJumps", config->all_jumps);
    tw_ntrace_unit_set(unit, "trTeInstExtendAddrMSB", config->extend_addr);
    tw_ntrace_unit_set(unit, "trTeSrcID", config->src);
    tw_ntrace_unit_set(unit, "trTeSrcBits", config->src_bits);
    tw_ntrace_unit_set(unit, "trTsActive", config->timestamps);
    tw_ntrace_unit_set(unit, "trTsEnable", config->timestamps);
    tw_ntrace_unit_set(unit, "trTsWidth", config->time_width < 64 ? config->time_width : 0);
    tw_ntrace_unit_refresh(unit);
}

/* trTeActive 0: all is as after power-up. */
static void release(struct tw_ntrace_unit *unit)
{
    const uint32_t impl = unit->registers[TW_TRCTL_IMPL / 4];

    run(unit, false);
    memset(unit->registers, 0, sizeof unit->registers);
    unit->registers[TW_TRCTL_IMPL / 4] = impl;
    tw_ntrace_unit_set(unit, "trTeFormat", FORMAT_NTRACE);
    tw_ntrace_unit_set(unit, "trTeInstMode", TW_NTRACE_MODE_HTM);
    unit->sync_limit = 16;
    tw_ntrace_unit_refresh(unit);
}

/* Disabling sends what is queued; the sink gets the time that it needs. */
static void drain(struct tw_ntrace_unit *unit)
{
    if (unit->is_lost) {
        unit->cycle += unit->fifo.used * unit->fifo.cycles_per_byte;
        (void)tw_ntrace_emit_loss(unit);
    }
    unit->cycle += unit->fifo.used * unit->fifo.cycles_per_byte;
    tw_fifo_drain(&unit->fifo, unit->cycle);
    tw_ntrace_sink_flush(unit);
}

void tw_ntrace_unit_write(struct tw_ntrace_unit *unit, uint32_t offset, uint32_t value)
{
    const uint32_t mask = tw_trctl_writable(TW_TRCTL_ENCODER, offset);
    const bool was_enabled = tw_ntrace_unit_get(unit, "trTeEnable");
    const uint32_t sync_max = tw_ntrace_unit_get(unit, "trTeInstSyncMax");
    const uint32_t sync_mode = tw_ntrace_unit_get(unit, "trTeInstSyncMode");
    uint32_t *to;

    if (offset >= TW_TRCTL_SIZE || offset % 4 || !tw_trctl_at(TW_TRCTL_ENCODER, offset))
        return;
    to = &unit->registers[offset / 4];
    if (offset == TW_TRCTL_CONTROL && !(value & 1)) {
        release(unit);
        return;
    }
    if (!tw_ntrace_unit_get(unit, "trTeActive") && offset != TW_TRCTL_CONTROL)
        return;
    if (offset == TW_TRCTL_CONTROL && value >> 12 & 1) /* trTeInstStallOrOverflow */
        *to &= ~(UINT32_C(1) << 12);
    *to = (*to & ~mask) | (accept(unit, offset, value) & mask);
    if (offset == TW_TRCTL_CONTROL) {
        if (tw_ntrace_unit_get(unit, "trTeInstSyncMax") != sync_max ||
            tw_ntrace_unit_get(unit, "trTeInstSyncMode") != sync_mode)
            unit->sync_limit = UINT64_C(16) << tw_ntrace_unit_get(unit, "trTeInstSyncMax");
        if (!was_enabled && tw_ntrace_unit_get(unit, "trTeEnable"))
            *to &= ~(UINT32_C(1) << 12);
    }
    tw_ntrace_unit_refresh(unit);
    if (was_enabled && !tw_ntrace_unit_get(unit, "trTeEnable"))
        drain(unit);
}

uint32_t tw_ntrace_unit_read(const struct tw_ntrace_unit *unit, uint32_t offset)
{
    const bool is_empty = unit->used == 0 && unit->fifo.used == 0;

    if (offset >= TW_TRCTL_SIZE || offset % 4)
        return 0;
    if (offset == TW_TRCTL_CONTROL)
        return unit->registers[0] | (is_empty ? 1u << 3 : 0);
    return unit->registers[offset / 4];
}

enum tw_status tw_ntrace_unit_write_field(struct tw_ntrace_unit *unit, const char *name,
                                          uint64_t value)
{
    uint16_t offset;
    const struct tw_trctl_field *field = tw_trctl_find_field(name, strlen(name), &offset);
    uint32_t mask;

    if (!field || field->component != TW_TRCTL_ENCODER)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no field %.60s", name);
    if (field->access == TW_TRCTL_RO)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "%.60s can only be read", name);
    mask = tw_trctl_mask(field);
    if (value > mask >> field->low)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "%.60s has %u bits; %" PRIu64 " has more",
                       name, field->high - field->low + 1u, value);
    tw_ntrace_unit_write(
        unit, offset,
        (unit->registers[offset / 4] & ~mask & tw_trctl_writable(TW_TRCTL_ENCODER, offset)) |
            (uint32_t)value << field->low);
    return TW_OK;
}

enum tw_status tw_ntrace_unit_read_field(const struct tw_ntrace_unit *unit, const char *name,
                                         uint64_t *value)
{
    uint16_t offset;
    const struct tw_trctl_field *field = tw_trctl_find_field(name, strlen(name), &offset);

    *value = 0;
    if (!field || field->component != TW_TRCTL_ENCODER)
        return TW_E_ARGUMENT;
    *value = tw_trctl_get(field, tw_ntrace_unit_read(unit, offset));
    return TW_OK;
}

void tw_ntrace_unit_trace(const struct tw_ntrace_unit *unit, struct tw_ntrace_config *config)
{
    config->src_bits = (uint8_t)tw_ntrace_unit_get(unit, "trTeSrcBits");
    config->src =
        (uint16_t)(tw_ntrace_unit_get(unit, "trTeSrcID") & ((1u << config->src_bits) - 1));
    config->inhibit_src = tw_ntrace_unit_get(unit, "trTeInhibitSrc");
    config->extend_addr = tw_ntrace_unit_get(unit, "trTeInstExtendAddrMSB");
    config->all_jumps = tw_ntrace_unit_get(unit, "trTeInstEnAllJumps");
}

static bool *choice_of(struct tw_ntrace_unit_config *config, const char *name)
{
    return strcmp(name, "short-messages") == 0   ? &config->short_messages
           : strcmp(name, "sync-when-full") == 0 ? &config->sync_when_full
           : strcmp(name, "hcontext") == 0       ? &config->has_hcontext
           : strcmp(name, "sparse-times") == 0   ? &config->sparse_times
                                                 : NULL;
}

enum tw_status tw_ntrace_unit_config_set(struct tw_ntrace_unit_config *config, const char *name,
                                         uint64_t value)
{
    bool *flag = choice_of(config, name);

    if (strcmp(name, "fifo") == 0 && value <= UINT32_MAX)
        config->fifo_size = (uint32_t)value;
    else if (strcmp(name, "cycles-per-byte") == 0 && value <= UINT32_MAX)
        config->cycles_per_byte = (uint32_t)value;
    else if (flag)
        *flag = value != 0;
    else
        return TW_E_ARGUMENT;
    return TW_OK;
}
