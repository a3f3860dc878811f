/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: trace units of PTM and ETMv3. */
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/ptm_unit.h>

#include "commands/encode.h"

enum { CONTROL, IDENTITY, FEATURES, TRACE_ID, REGISTER_COUNT };

static const char *const names[REGISTER_COUNT] = { "ETMCR", "ETMIDR", "ETMCCER",
                                                   "ETMTRACEIDR" };

struct v7 {
    uint32_t registers[REGISTER_COUNT];
    uint64_t sync_bytes, return_stack, vectors; /* --unit */
    struct tw_ptm_unit *ptm;                    /* one of the two */
    struct tw_etmv3_unit *etmv3;
};

static bool set_choice(struct encoding *encoding, const char *name, uint64_t value)
{
    struct v7 *v7 = encoding->unit;

    if (strcmp(name, "sync") == 0 && value <= UINT32_MAX)
        v7->sync_bytes = value;
    else if (strcmp(name, "return-stack") == 0 && value <= 16)
        v7->return_stack = value;
    else if (strcmp(name, "vectors") == 0 && value <= UINT32_MAX)
        v7->vectors = value;
    else {
        say("encode: --unit: %s is none of sync, return-stack, vectors, or its value is too "
            "large",
            name);
        return false;
    }
    return true;
}

static bool set_register(struct encoding *encoding, const char *name, uint64_t value)
{
    struct v7 *v7 = encoding->unit;

    for (size_t i = 0; i < REGISTER_COUNT; i++) {
        if (strcmp(names[i], name) == 0 && value <= UINT32_MAX) {
            v7->registers[i] = (uint32_t)value;
            return true;
        }
    }
    say("encode: --config: %s is none of ETMCR, ETMIDR, ETMCCER, ETMTRACEIDR, or its value is "
        "too "
        "large",
        name);
    return false;
}

static bool told(enum tw_status status, const char *text)
{
    if (status != TW_OK)
        say("encode: %s", text && *text ? text : tw_status_name(status));
    return status == TW_OK;
}

static bool new_ptm(struct v7 *v7)
{
    const uint32_t *r = v7->registers;
    const struct tw_ptm_unit_config config = {
        .size = sizeof config,
        .registers = { sizeof config.registers, r[CONTROL], r[IDENTITY], r[FEATURES],
                       r[TRACE_ID] },
        .return_stack_depth = (uint8_t)v7->return_stack,
        .sync_bytes = (uint32_t)v7->sync_bytes,
        .vectors = (uint32_t)v7->vectors,
    };
    struct tw_fault fault = { TW_OK, "" };

    return told(tw_ptm_unit_new(&v7->ptm, &config, &fault), fault.text);
}

static bool new_etmv3(struct v7 *v7, bool is_m)
{
    const uint32_t *r = v7->registers;
    const struct tw_etmv3_unit_config config = {
        .size = sizeof config,
        .registers = { sizeof config.registers, r[CONTROL], r[IDENTITY], r[FEATURES],
                       r[TRACE_ID], is_m ? TW_PROFILE_M : TW_PROFILE_A },
        .sync_bytes = (uint32_t)v7->sync_bytes,
        .vectors = (uint32_t)v7->vectors,
    };
    struct tw_fault fault = { TW_OK, "" };

    return told(tw_etmv3_unit_new(&v7->etmv3, &config, &fault), fault.text);
}

static bool begin(struct encoding *encoding, bool is_ptm)
{
    struct v7 *v7 = arena_room(&encoding->arena, sizeof *v7);

    encoding->unit = v7;
    if (!v7)
        return false;
    /* A PTM 1.0 of a Cortex-A9 with return stack and timestamps; an ETM 3.5 of a Cortex-A5. */
    *v7 = (struct v7){ .registers = { [IDENTITY] = is_ptm ? 0x411cf301 : 0x410cf250,
                                      [FEATURES] = is_ptm ? 0xc19a2 : 0x344008f2,
                                      [TRACE_ID] = 0x10 },
                       .sync_bytes = 1024 };
    if (is_ptm && encoding->is_m) {
        say("encode: the log is of the M profile, which has no PTM: give --protocol etmv3 or "
            "etmv4");
        return false;
    }
    if (encoding->is_m) { /* that of a Cortex-M3 */
        v7->registers[IDENTITY] = 0x4114f250;
        v7->registers[FEATURES] = 0;
    }
    if (!encode_settings(encoding, encoding->options->unit, set_choice) ||
        !encode_settings(encoding, encoding->options->config, set_register) ||
        !(is_ptm ? new_ptm(v7) : new_etmv3(v7, encoding->is_m)))
        return false;
    encoding->device = is_ptm ? "PTM_0" : "ETM_0";
    encoding->device_type = is_ptm ? "PTM1.0" : "ETM3.5";
    encoding->core_type = is_ptm           ? "Cortex-A15"
                          : encoding->is_m ? encode_m_core(encoding)
                                           : "Cortex-A7";
    for (size_t i = 0; i < REGISTER_COUNT; i++)
        encoding->registers[encoding->register_count++] =
            (struct tw_register){ names[i], v7->registers[i] };
    encoding->id = (uint8_t)(v7->registers[TRACE_ID] & 0x7f);
    return true;
}

static bool begin_ptm(struct encoding *encoding)
{
    return begin(encoding, true);
}

static bool begin_etmv3(struct encoding *encoding)
{
    return begin(encoding, false);
}

static bool step(struct encoding *encoding, const struct tw_step *what)
{
    struct v7 *v7 = encoding->unit;
    const enum tw_status status =
        v7->ptm ? tw_ptm_unit_step(v7->ptm, what) : tw_etmv3_unit_step(v7->etmv3, what);

    if (status == TW_OK)
        return true;
    if (what->kind == TW_STEP_EXCEPTION && encoding->is_m) {
        say("encode: ETMv3 has no exception %u (%s): give --protocol etmv4",
            (unsigned)what->cause, tw_exception_name_m((unsigned)what->cause));
        return false;
    }
    say("encode: %s: line %u: %s%s", encoding->options->arguments.items[0], encoding->line,
        tw_status_name(status),
        status == TW_E_UNSUPPORTED || status == TW_E_ARGUMENT
            ? "; this unit traces A32 and T32 only"
            : "");
    return false;
}

static bool end(struct encoding *encoding)
{
    struct v7 *v7 = encoding->unit;

    if (!told(v7->ptm ? tw_ptm_unit_flush(v7->ptm) : tw_etmv3_unit_flush(v7->etmv3), NULL))
        return false;
    encoding->bytes = v7->ptm ? tw_ptm_unit_output(v7->ptm, &encoding->size)
                              : tw_etmv3_unit_output(v7->etmv3, &encoding->size);
    return true;
}

static void free_unit(struct encoding *encoding)
{
    struct v7 *v7 = encoding->unit;

    if (v7) {
        tw_ptm_unit_free(v7->ptm);
        tw_etmv3_unit_free(v7->etmv3);
    }
}

const struct encoder encoder_ptm = {
    .protocol = "ptm", .begin = begin_ptm, .step = step, .end = end, .free = free_unit
};
const struct encoder encoder_etmv3 = {
    .protocol = "etmv3", .begin = begin_etmv3, .step = step, .end = end, .free = free_unit
};
