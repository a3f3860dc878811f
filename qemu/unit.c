/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of one thread: a row for each protocol. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/etmv4_unit.h>
#include <trackway/ptm_unit.h>

enum { V7_CONTROL, V7_IDENTITY, V7_FEATURES, V7_TRACE_ID, V7_REGISTERS };

enum {
    V7_TIMESTAMPS = 1 << 28,
    V7_RETURN_STACK = 1 << 29,
    V7_CONTEXT_ID = 3 << 14, /* four bytes */
    V4_CONTEXT_ID = 1 << 6,
    V4_TIMESTAMPS = 1 << 11,
    V4_RETURN_STACK = 1 << 12,
    SYNC_BYTES = 1 << 12
};

struct unit {
    const struct kind *kind;
    struct tw_etmv4_unit *etmv4;
    struct tw_ptm_unit *ptm;
    struct tw_etmv3_unit *etmv3;
    uint32_t v7[V7_REGISTERS];
};

struct kind {
    const char *protocol;
    bool (*begin)(struct unit *unit, const struct unit_options *options,
                  struct tw_fault *fault);
    enum tw_status (*step)(struct unit *unit, const struct tw_step *step);
    enum tw_status (*end)(struct unit *unit);
    const uint8_t *(*output)(struct unit *unit, size_t *size);
    void (*take)(struct unit *unit);
    enum tw_status (*get)(const struct unit *unit, struct tw_register *out, size_t number);
};

/* "NAME=VALUE" into its two parts. */
static bool split(const char *text, char *name, size_t room, uint64_t *value)
{
    const char *equals = strchr(text, '=');
    char *end;

    if (!equals || (size_t)(equals - text) >= room)
        return false;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    *value = strtoull(equals + 1, &end, 0);
    return end != equals + 1 && !*end;
}

static bool bad(struct tw_fault *fault, const char *what, const char *text)
{
    fault->status = TW_E_CONFIG;
    (void)snprintf(fault->text, sizeof fault->text, "%s \"%.200s\" is not understood", what,
                   text);
    return false;
}

/* ---- ETMv4 and ETE ---- */

static bool set_v4(struct unit *unit, const struct unit_options *options,
                   struct tw_fault *fault)
{
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->register_count; i++)
        if (!split(options->registers[i], name, sizeof name, &value) ||
            tw_etmv4_unit_write_register(unit->etmv4, name, value) != TW_OK)
            return bad(fault, "register", options->registers[i]);
    return true;
}

static bool begin_v4(struct unit *unit, const struct unit_options *options,
                     struct tw_fault *fault)
{
    struct tw_etmv4_unit_config config = { .size = sizeof config,
                                           .is_ete = strcmp(options->protocol, "ete") == 0 };
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->choice_count; i++)
        if (!split(options->choices[i], name, sizeof name, &value) ||
            tw_etmv4_unit_config_set(&config, name, value) != TW_OK)
            return bad(fault, "choice", options->choices[i]);
    if (tw_etmv4_unit_new(&unit->etmv4, &config, fault) != TW_OK ||
        tw_etmv4_unit_preset(unit->etmv4, TW_ETMV4_UNIT_MINIMAL, 0, 0) != TW_OK ||
        tw_etmv4_unit_write_register(unit->etmv4, "TRCVICTLR", 0x201) != TW_OK ||
        tw_etmv4_unit_write_register(unit->etmv4, "TRCCONFIGR",
                                     V4_CONTEXT_ID | V4_TIMESTAMPS | V4_RETURN_STACK | 1) !=
            TW_OK ||
        !set_v4(unit, options, fault) ||
        tw_etmv4_unit_write_register(unit->etmv4, "TRCPRGCTLR", 1) != TW_OK)
        return fault->text[0] ? false : bad(fault, "unit", options->protocol);
    return true;
}

static enum tw_status step_v4(struct unit *unit, const struct tw_step *step)
{
    return tw_etmv4_unit_step(unit->etmv4, step);
}

static enum tw_status end_v4(struct unit *unit)
{
    return tw_etmv4_unit_write_register(unit->etmv4, "TRCPRGCTLR", 0);
}

static const uint8_t *output_v4(struct unit *unit, size_t *size)
{
    return tw_etmv4_unit_output(unit->etmv4, size);
}

static void take_v4(struct unit *unit)
{
    tw_etmv4_unit_take(unit->etmv4);
}

static enum tw_status get_v4(const struct unit *unit, struct tw_register *out, size_t number)
{
    return tw_etmv4_unit_register(unit->etmv4, out, number);
}

/* ---- PTM and ETMv3 ---- */

static const char *const v7_names[V7_REGISTERS] = { "ETMCR", "ETMIDR", "ETMCCER",
                                                    "ETMTRACEIDR" };

static bool set_v7(struct unit *unit, const struct unit_options *options,
                   struct tw_fault *fault)
{
    char name[64];
    uint64_t value;

    for (size_t i = 0; i < options->register_count; i++) {
        size_t found = 0;

        if (!split(options->registers[i], name, sizeof name, &value))
            return bad(fault, "register", options->registers[i]);
        while (found < V7_REGISTERS && strcmp(v7_names[found], name) != 0)
            found++;
        if (found == V7_REGISTERS || value > UINT32_MAX)
            return bad(fault, "register", options->registers[i]);
        unit->v7[found] = (uint32_t)value;
    }
    return true;
}

static bool begin_v7(struct unit *unit, const struct unit_options *options,
                     struct tw_fault *fault)
{
    const bool is_ptm = strcmp(options->protocol, "ptm") == 0;
    struct tw_ptm_unit_config ptm = { .size = sizeof ptm, .sync_bytes = SYNC_BYTES };
    struct tw_etmv3_unit_config etmv3 = { .size = sizeof etmv3, .sync_bytes = SYNC_BYTES };
    const uint32_t *r = unit->v7;
    char name[64];
    uint64_t value;

    unit->v7[V7_CONTROL] = V7_CONTEXT_ID | V7_TIMESTAMPS | (is_ptm ? V7_RETURN_STACK : 0u);
    unit->v7[V7_IDENTITY] = is_ptm ? 0x411cf301 : 0x410cf250;
    unit->v7[V7_FEATURES] = is_ptm ? 0xc19a2 : 0x344008f2;
    unit->v7[V7_TRACE_ID] = 0x10;
    if (!set_v7(unit, options, fault))
        return false;
    for (size_t i = 0; i < options->choice_count; i++) {
        if (!split(options->choices[i], name, sizeof name, &value) || value > UINT32_MAX)
            return bad(fault, "choice", options->choices[i]);
        if (strcmp(name, "sync") == 0)
            ptm.sync_bytes = etmv3.sync_bytes = (uint32_t)value;
        else if (strcmp(name, "return-stack") == 0 && value <= 16)
            ptm.return_stack_depth = (uint8_t)value;
        else
            return bad(fault, "choice", options->choices[i]);
    }
    ptm.registers = (struct tw_ptm_config){ sizeof ptm.registers, r[V7_CONTROL], r[V7_IDENTITY],
                                            r[V7_FEATURES], r[V7_TRACE_ID] };
    etmv3.registers =
        (struct tw_etmv3_config){ sizeof etmv3.registers, r[V7_CONTROL],  r[V7_IDENTITY],
                                  r[V7_FEATURES],         r[V7_TRACE_ID], TW_PROFILE_A };
    return (is_ptm ? tw_ptm_unit_new(&unit->ptm, &ptm, fault)
                   : tw_etmv3_unit_new(&unit->etmv3, &etmv3, fault)) == TW_OK;
}

static enum tw_status step_v7(struct unit *unit, const struct tw_step *step)
{
    return unit->ptm ? tw_ptm_unit_step(unit->ptm, step)
                     : tw_etmv3_unit_step(unit->etmv3, step);
}

static enum tw_status end_v7(struct unit *unit)
{
    return unit->ptm ? tw_ptm_unit_flush(unit->ptm) : tw_etmv3_unit_flush(unit->etmv3);
}

static const uint8_t *output_v7(struct unit *unit, size_t *size)
{
    return unit->ptm ? tw_ptm_unit_output(unit->ptm, size)
                     : tw_etmv3_unit_output(unit->etmv3, size);
}

static void take_v7(struct unit *unit)
{
    if (unit->ptm)
        tw_ptm_unit_take(unit->ptm);
    else
        tw_etmv3_unit_take(unit->etmv3);
}

static enum tw_status get_v7(const struct unit *unit, struct tw_register *out, size_t number)
{
    if (number >= V7_REGISTERS)
        return TW_END;
    *out = (struct tw_register){ v7_names[number], unit->v7[number] };
    return TW_OK;
}

/* ---- all ---- */

static const struct kind kinds[] = {
    { "ete", begin_v4, step_v4, end_v4, output_v4, take_v4, get_v4 },
    { "etmv4", begin_v4, step_v4, end_v4, output_v4, take_v4, get_v4 },
    { "ptm", begin_v7, step_v7, end_v7, output_v7, take_v7, get_v7 },
    { "etmv3", begin_v7, step_v7, end_v7, output_v7, take_v7, get_v7 },
};

struct unit *unit_new(const struct unit_options *options, struct tw_fault *fault)
{
    struct unit *unit = calloc(1, sizeof *unit);

    *fault = (struct tw_fault){ TW_OK, "" };
    for (size_t i = 0; unit && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].protocol, options->protocol) == 0)
            unit->kind = &kinds[i];
    if (!unit || !unit->kind || !unit->kind->begin(unit, options, fault)) {
        if (unit && !unit->kind)
            (void)bad(fault, "protocol", options->protocol);
        unit_free(unit);
        return NULL;
    }
    return unit;
}

void unit_free(struct unit *unit)
{
    if (!unit)
        return;
    tw_etmv4_unit_free(unit->etmv4);
    tw_ptm_unit_free(unit->ptm);
    tw_etmv3_unit_free(unit->etmv3);
    free(unit);
}

bool unit_step(struct unit *unit, const struct tw_step *step)
{
    return unit->kind->step(unit, step) == TW_OK;
}

bool unit_end(struct unit *unit)
{
    return unit->kind->end(unit) == TW_OK;
}

const uint8_t *unit_output(struct unit *unit, size_t *size)
{
    return unit->kind->output(unit, size);
}

void unit_take(struct unit *unit)
{
    unit->kind->take(unit);
}

bool unit_register(const struct unit *unit, struct tw_register *out, size_t number)
{
    return unit->kind->get(unit, out, number) == TW_OK;
}
