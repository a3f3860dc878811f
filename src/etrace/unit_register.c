/* SPDX-License-Identifier: BSD-2-Clause */
/* The encoder's control fields: tables 2.1 to 2.6, and what writing them does. */
#include "etrace/unit.h"

#include <inttypes.h>

enum group { BASIC, FILTER, COMPARATOR };
enum kind {
    PLAIN,
    READ_ONLY,
    MODE,
    I_ENABLE,
    D_ENABLE,
    EMPTY,
    RESYNC,
    ACTIVE,
    COMPARED,
    COMPRESS
};

/* A field: how wide, where it is kept (offset and bytes: 1, 2 or 8), what it means to write it. */
struct field {
    const char *name;
    uint8_t group, kind, width, bytes;
    uint32_t at; /* offset; MODE: the option */
};

#define U(member)                                                                              \
    sizeof((struct tw_etrace_unit *)0)->member, offsetof(struct tw_etrace_unit, member)
#define F(member)                                                                              \
    sizeof((struct tw_ingress_filter *)0)->member, offsetof(struct tw_ingress_filter, member)
#define C(member)                                                                              \
    sizeof((struct tw_ingress_comparator *)0)->member,                                         \
        offsetof(struct tw_ingress_comparator, member)

/* clang-format off */
static const struct field fields[] = {
    /* Table 2.1 */
    { "Active",             BASIC, ACTIVE,    1, U(is_active) },
    { "iEnable",            BASIC, I_ENABLE,  1, U(is_enabled) },
    { "dEnable",            BASIC, D_ENABLE,  1, U(data_enabled) },
    { "iTrigEnable",        BASIC, PLAIN,     1, U(trigger_enabled) },
    { "dTrigEnable",        BASIC, PLAIN,     1, U(data_trigger_enabled) },
    { "stallEnable",        BASIC, PLAIN,     1, U(stall_enabled) },
    { "Empty",              BASIC, EMPTY,     1, 0, 0 },
    { "ResyncMode",         BASIC, RESYNC,    2, U(resync_mode) },
    { "ResyncMax",          BASIC, RESYNC,    4, U(resync_max) },
    /* Table 2.2 */
    { "FullAddress",        BASIC, MODE,      1, 0, TW_ETRACE_FULL_ADDRESS },
    { "ImplicitExcept",     BASIC, MODE,      1, 0, TW_ETRACE_IMPLICIT_EXCEPTION },
    { "siJump",             BASIC, MODE,      1, 0, TW_ETRACE_SIJUMP },
    { "ImplicitReturn",     BASIC, MODE,      1, 0, TW_ETRACE_IMPLICIT_RETURN },
    { "BranchPrediction",   BASIC, MODE,      1, 0, TW_ETRACE_BRANCH_PREDICTION },
    { "JumpTargetCache",    BASIC, MODE,      1, 0, TW_ETRACE_JUMP_TARGET_CACHE },
    { "noData",             BASIC, MODE,      1, 0, TW_ETRACE_NO_DATA },
    { "noAddress",          BASIC, MODE,      1, 0, TW_ETRACE_NO_ADDRESS },
    { "DataCompress",       BASIC, COMPRESS,  2, U(data_compress) },
    /* Table 2.3 */
    { "iFilters",           BASIC, COMPARED, 16, U(ingress.filters_used) },
    { "dFilters",           BASIC, COMPARED, 16, U(ingress.data_filters_used) },
    /* Table 2.4; it prints the third comparator's names like the second's. */
    { "filterEnable",       FILTER, COMPARED, 1, F(is_enabled) },
    { "matchComp1",         FILTER, COMPARED, 1, F(match_comparator[0]) },
    { "comp1",              FILTER, COMPARED, 3, F(comparator[0]) },
    { "matchComp2",         FILTER, COMPARED, 1, F(match_comparator[1]) },
    { "comp2",              FILTER, COMPARED, 3, F(comparator[1]) },
    { "matchComp3",         FILTER, COMPARED, 1, F(match_comparator[2]) },
    { "comp3",              FILTER, COMPARED, 3, F(comparator[2]) },
    { "matchPrivilege",     FILTER, PLAIN,    1, F(match_privilege) },
    { "matchEcause",        FILTER, PLAIN,    1, F(match_ecause) },
    { "matchInterrupt",     FILTER, PLAIN,    1, F(match_interrupt) },
    { "matchImpdef",        FILTER, PLAIN,    1, F(match_impdef) },
    { "matchDtype",         FILTER, PLAIN,    1, F(match_dtype) },
    { "matchDsize",         FILTER, PLAIN,    1, F(match_dsize) },
    /* Table 2.5 */
    { "matchChoicePrivilege", FILTER, PLAIN,  8, F(privileges) },
    { "matchValueInterrupt", FILTER, PLAIN,   1, F(interrupt) },
    { "matchChoiceEcause",  FILTER, PLAIN,   32, F(ecauses) },
    /* impdef_width_p may be up to 128: the bits above 64 have fields of their own. */
    { "matchMaskImpdef",    FILTER, PLAIN,   64, F(impdef_mask[0]) },
    { "matchMaskImpdefHigh", FILTER, PLAIN,  64, F(impdef_mask[1]) },
    { "matchValueImpdef",   FILTER, PLAIN,   64, F(impdef_value[0]) },
    { "matchValueImpdefHigh", FILTER, PLAIN, 64, F(impdef_value[1]) },
    { "matchChoiceDtype",   FILTER, PLAIN,   16, F(types) },
    { "matchChoiceDsize",   FILTER, PLAIN,    8, F(sizes) },
    /* Table 2.6 */
    { "pInput",             COMPARATOR, PLAIN,    2, C(input[0]) },
    { "sInput",             COMPARATOR, PLAIN,    2, C(input[1]) },
    { "pFunction",          COMPARATOR, PLAIN,    3, C(function[0]) },
    { "sFunction",          COMPARATOR, PLAIN,    3, C(function[1]) },
    { "matchMode",          COMPARATOR, PLAIN,    2, C(mode) },
    { "pMatch",             COMPARATOR, PLAIN,   64, C(match[0]) },
    { "sMatch",             COMPARATOR, PLAIN,   64, C(match[1]) },
    { "pNotify",            COMPARATOR, COMPARED, 1, C(notify[0]) },
    { "sNotify",            COMPARATOR, COMPARED, 1, C(notify[1]) },
};
/* clang-format on */

static bool is_same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        const char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
        const char y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;

        if (x != y)
            return false;
    }
    return *a == *b;
}

/* "filter12." or "comparator3.": which one; the rest of the name. */
static const char *take_prefix(const char *name, const char *prefix, unsigned *number)
{
    const size_t size = strlen(prefix);
    char head[16];

    if (strlen(name) < size)
        return NULL;
    memcpy(head, name, size);
    head[size] = 0;
    if (!is_same(head, prefix) || name[size] < '0' || name[size] > '9')
        return NULL;
    *number = 0;
    for (name += size; *name >= '0' && *name <= '9'; name++)
        *number = *number < 100 ? *number * 10 + (unsigned)(*name - '0') : *number;
    return *name == '.' ? name + 1 : NULL;
}

/* A field by its name; *at: where its value is kept. */
static const struct field *find(const struct tw_etrace_unit *unit, const char *name, size_t *at)
{
    unsigned number = 0;
    enum group group = BASIC;
    size_t base = 0;
    const char *rest = take_prefix(name, "filter", &number);

    if (rest) {
        group = FILTER;
        if (number >= unit->config.filters)
            return NULL;
        base = offsetof(struct tw_etrace_unit, ingress.filters) +
               number * sizeof unit->ingress.filters[0];
    } else if ((rest = take_prefix(name, "comparator", &number)) != NULL) {
        group = COMPARATOR;
        if (number >= unit->config.comparators)
            return NULL;
        base = offsetof(struct tw_etrace_unit, ingress.comparators) +
               number * sizeof unit->ingress.comparators[0];
    } else {
        rest = name;
    }
    for (size_t i = 0; i < TW_LENGTH(fields); i++)
        if (fields[i].group == group && is_same(fields[i].name, rest)) {
            *at = base + (fields[i].kind == MODE ? 0 : fields[i].at);
            return &fields[i];
        }
    return NULL;
}

static void store(struct tw_etrace_unit *unit, const struct field *field, size_t at,
                  uint64_t value)
{
    uint8_t *to = (uint8_t *)unit + at;
    const bool flag = value != 0;
    const uint8_t byte = (uint8_t)value;
    const uint16_t half = (uint16_t)value;

    if (field->width == 1 && field->bytes == sizeof flag)
        memcpy(to, &flag, sizeof flag);
    else if (field->bytes == 1)
        memcpy(to, &byte, sizeof byte);
    else if (field->bytes == 2)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &value, sizeof value);
}

static uint64_t load(const struct tw_etrace_unit *unit, const struct field *field, size_t at)
{
    const uint8_t *from = (const uint8_t *)unit + at;
    uint16_t half;
    uint64_t value;

    switch (field->bytes) {
    case 1:
        return *from;
    case 2:
        memcpy(&half, from, sizeof half);
        return half;
    default:
        memcpy(&value, from, sizeof value);
        return value;
    }
}

void tw_etrace_unit_enable(struct tw_etrace_unit *unit, bool is_enabled)
{
    if (unit->is_enabled == is_enabled)
        return;
    unit->is_enabled = is_enabled;
    unit->is_running = is_enabled && !unit->is_halted && !unit->is_reset;
    if (is_enabled) {
        unit->must_sync = true;
        unit->resync_count = 0;
        tw_etrace_emit_support(unit, TW_ETRACE_NO_CHANGE);
        return;
    }
    if (unit->slot.flags & TW_SLOT_QUALIFIED)
        tw_etrace_unit_end(unit);
    else if (!unit->is_lost)
        tw_etrace_emit_support(unit, TW_ETRACE_NO_CHANGE);
    if (unit->is_lost) { /* the sink gets the time it needs */
        unit->cycle += unit->fifo.used * unit->fifo.cycles_per_byte;
        if (tw_etrace_has_room(unit))
            tw_etrace_emit_support(unit, TW_ETRACE_TRACE_LOST);
    }
    tw_etrace_sink_flush(unit);
}

void tw_etrace_unit_enable_data(struct tw_etrace_unit *unit, bool is_enabled)
{
    if (unit->data_enabled == is_enabled)
        return;
    unit->data_enabled = is_enabled;
    unit->data.has_address = unit->data.has_value = 0;
    if (!unit->is_lost)
        tw_etrace_emit_support(unit, TW_ETRACE_NO_CHANGE);
    if (!is_enabled)
        tw_etrace_sink_flush(unit);
}

/* The support packet has a bit for this option. */
static bool is_shown(const struct tw_etrace_unit *unit, uint32_t option)
{
    for (unsigned i = 0; i < unit->shape.ioptions; i++)
        if (unit->shape.ioption_order[i] == option)
            return true;
    for (unsigned i = 0; unit->is_v2 && i < unit->shape.doptions; i++)
        if (unit->shape.doption_order[i] == option)
            return true;
    return false;
}

void tw_etrace_show_data_modes(struct tw_etrace_unit *unit, uint32_t options)
{
    static const uint16_t modes[] = { TW_ETRACE_NO_ADDRESS, TW_ETRACE_NO_DATA };
    struct tw_etrace_config *config = &unit->config;

    if (unit->is_v2 || unit->has_begun)
        return;
    for (size_t i = 0; i < TW_LENGTH(modes); i++)
        if (options & modes[i] && !is_shown(unit, modes[i]) &&
            config->ioptions_bits < TW_ETRACE_OPTION_BITS) {
            config->ioption_order[config->ioptions_bits++] = modes[i];
            tw_etrace_shape_init(&unit->shape, config);
        }
}

/* The operating mode: what was traced under the old one ends first (6.5). */
static enum tw_status set_mode(struct tw_etrace_unit *unit, uint32_t option, bool is_set)
{
    const uint32_t f0 = TW_ETRACE_BRANCH_PREDICTION | TW_ETRACE_JUMP_TARGET_CACHE;
    const uint32_t options = is_set ? unit->options | option : unit->options & ~option;
    const struct tw_etrace_config *config = &unit->config;

    if ((options & TW_ETRACE_BRANCH_PREDICTION && !config->bpred_size) ||
        (options & TW_ETRACE_JUMP_TARGET_CACHE && !config->cache_size) ||
        ((options & f0) == f0 && !config->f0s_width) ||
        (options & TW_ETRACE_IMPLICIT_RETURN &&
         (!unit->depth_max || config->itype_width == 3)) ||
        (options & TW_ETRACE_SIJUMP && !config->sijump))
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "the encoder does not have this mode");
    if (options == unit->options)
        return TW_OK;
    tw_etrace_show_data_modes(unit, options);
    if (unit->has_begun && !is_shown(unit, option)) /* 3.2: the decoder needs to be informed */
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "the support packet has no bit that tells of a change of this mode");
    if (unit->slot.flags & TW_SLOT_QUALIFIED)
        tw_etrace_unit_end(unit);
    unit->options = options;
    unit->must_sync = true;
    unit->depth = 0;
    tw_etrace_forget_prediction(unit);
    memset(unit->cache, 0, sizeof unit->cache[0] << unit->shape.index);
    if (unit->is_enabled || unit->data_enabled)
        tw_etrace_emit_support(unit, TW_ETRACE_NO_CHANGE);
    return TW_OK;
}

static enum tw_status write_field(struct tw_etrace_unit *unit, const struct field *field,
                                  size_t at, uint64_t value)
{
    switch (field->kind) {
    case I_ENABLE:
        tw_etrace_unit_enable(unit, value && unit->is_active);
        return TW_OK;
    case D_ENABLE:
        tw_etrace_unit_enable_data(unit, value && unit->is_active);
        return TW_OK;
    case ACTIVE:
        if (!value) {
            tw_etrace_unit_enable(unit, false);
            tw_etrace_unit_enable_data(unit, false);
        }
        unit->is_active = value;
        return TW_OK;
    case MODE:
        return set_mode(unit, field->at, value);
    case EMPTY:
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "Empty can only be read");
    case COMPRESS: /* 7.1.3: a diff field of one bit is for one kind */
        if (unit->config.diff_bits == 1 && value && value != unit->config.data_compress)
            return tw_fail(&unit->fault, TW_E_ARGUMENT,
                           "diff_bits of 1 offer one kind of compression, data_compress=%u",
                           unit->config.data_compress);
        store(unit, field, at, value);
        return TW_OK;
    default:
        store(unit, field, at, value);
    }
    if (field->kind == RESYNC)
        unit->resync_limit = (uint64_t)16 << unit->resync_max;
    if (field->kind == COMPARED)
        tw_ingress_note(&unit->ingress);
    return TW_OK;
}

enum tw_status tw_etrace_unit_write_field(struct tw_etrace_unit *unit, const char *name,
                                          uint64_t value)
{
    size_t at = 0;
    const struct field *field = find(unit, name, &at);

    if (!field)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no field %.60s", name);
    if (field->width < 64 && value >> field->width)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "%.60s has %u bits; %" PRIu64 " has more",
                       name, field->width, value);
    if (field->group == FILTER && !strncmp(field->name, "comp", 4) &&
        value >= unit->config.comparators)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no comparator %" PRIu64, value);
    return write_field(unit, field, at, value);
}

enum tw_status tw_etrace_unit_read_field(const struct tw_etrace_unit *unit, uint64_t *value,
                                         const char *name)
{
    size_t at = 0;
    const struct field *field = find(unit, name, &at);

    *value = 0;
    if (!field)
        return TW_E_ARGUMENT;
    if (field->kind == MODE)
        *value = (unit->options & field->at) != 0;
    else if (field->kind == EMPTY)
        *value = unit->used[0] + unit->used[1] == 0 && unit->fifo.used == 0 &&
                 !(unit->slot.flags & TW_SLOT_QUALIFIED);
    else
        *value = load(unit, field, at);
    return TW_OK;
}

enum tw_status tw_etrace_unit_config_set(struct tw_etrace_unit_config *config, const char *name,
                                         uint64_t value)
{
    if (strcmp(name, "fifo") == 0 && value <= UINT32_MAX)
        config->fifo_size = (uint32_t)value;
    else if (strcmp(name, "cycles-per-byte") == 0 && value <= UINT32_MAX)
        config->cycles_per_byte = (uint32_t)value;
    else if (strcmp(name, "literal-returns") == 0 && value <= 1)
        config->literal_returns = value;
    else if (strcmp(name, "always-index") == 0 && value <= 1)
        config->always_index = value;
    else if (strcmp(name, "resync-anywhere") == 0 && value <= 1)
        config->resync_anywhere = value;
    else
        return TW_E_ARGUMENT;
    return TW_OK;
}
