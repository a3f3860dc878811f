/* SPDX-License-Identifier: BSD-2-Clause */
/* The RISC-V trace encoder. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "unit/unit.h"

enum { STREAMS = 2 };

struct riscv {
    struct tw_etrace_config config;
    struct tw_etrace_unit_config choices;
    struct tw_etrace_unit *unit;
    struct tw_unit_hart hart;
    struct tw_text bytes[STREAMS];
    bool has_enable; /* choices say when tracing begins */
    char text[TW_UNIT_TEXT], data_text[TW_UNIT_TEXT];
};

static void keep(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct riscv *riscv = context;

    tw_text_add_size(&riscv->bytes[stream], (const char *)bytes, size);
}

/* The parameters, upon those of the preset. */
static enum tw_status read_config(struct tw_unit *unit, struct riscv *riscv)
{
    const char *preset = unit->config.preset, *text = unit->config.parameters;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status;

    if (preset) {
        const size_t room = (text ? strlen(text) : 0) + strlen(preset) + sizeof "preset=\n";
        char *whole = tw_unit_room(unit, room);

        if (!whole)
            return tw_unit_no_memory(unit);
        (void)snprintf(whole, room, "preset=%s\n%s", preset, text ? text : "");
        text = whole;
    }
    status = tw_etrace_config_make(&riscv->config, text, TW_ETRACE_LAYOUT_NONE,
                                   tw_unit_xlen(unit), &fault);
    if (status != TW_OK)
        return tw_fail(&unit->fault, status, "%s: %s", unit->config.registers_name, fault.text);
    return TW_OK;
}

static enum tw_status set_choice(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct riscv *riscv = unit->model;

    (void)(tw_etrace_unit_config_set(&riscv->choices, name, value) == TW_OK);
    return TW_OK; /* the others are fields, once there is a unit */
}

static enum tw_status set_field(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct riscv *riscv = unit->model;
    enum tw_status status;

    if (tw_etrace_unit_config_set(&riscv->choices, name, value) == TW_OK)
        return TW_OK;
    if (strcmp(name, "iEnable") == 0 || strcmp(name, "dEnable") == 0)
        riscv->has_enable = true;
    status = tw_etrace_unit_write_field(riscv->unit, name, value);
    if (status != TW_OK)
        return tw_fail(&unit->fault, status, "%s: %s", unit->config.choices_name,
                       tw_etrace_unit_fault(riscv->unit));
    return TW_OK;
}

/* What decoders and snapshots have to know. */
static void describe(struct tw_unit *unit, struct riscv *riscv)
{
    struct tw_etrace_config config, data;
    bool is_seed;
    unsigned width;

    tw_etrace_unit_trace(riscv->unit, &config);
    data = config;
    data.is_data = true;
    data.id++;
    (void)tw_etrace_config_text(riscv->text, sizeof riscv->text, &config);
    (void)tw_etrace_config_text(riscv->data_text, sizeof riscv->data_text, &data);
    is_seed = config.layout == TW_ETRACE_LAYOUT_SEED;
    width = config.xlen ? config.xlen : config.iaddress_width;
    unit->device = "ETRACE_0";
    unit->trace.device_type = is_seed ? "ETRACE1.1" : "ETRACE2.0";
    unit->trace.data_device_type = is_seed ? "ETRACED1.1" : "ETRACED2.0";
    unit->trace.core_type = width <= 32 ? "RV32" : "RV64";
    unit->trace.text = riscv->text;
    unit->trace.data_text = riscv->data_text;
    unit->trace.id = config.id;
}

static enum tw_status begin(struct tw_unit *unit)
{
    struct riscv *riscv = tw_unit_room(unit, sizeof *riscv);

    unit->model = riscv;
    if (!riscv)
        return tw_unit_no_memory(unit);
    for (unsigned i = 0; i < STREAMS; i++)
        riscv->bytes[i].allocator = unit->allocator;
    TW_TRY(read_config(unit, riscv));
    if (!riscv->config.id)
        riscv->config.id = 1;
    riscv->choices = (struct tw_etrace_unit_config){ .size = sizeof riscv->choices,
                                                     .trace = &riscv->config,
                                                     .write = keep,
                                                     .write_context = riscv,
                                                     .allocator = unit->allocator };
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_etrace_unit_new(&riscv->unit, &riscv->choices, &unit->fault));
    TW_TRY(tw_unit_choices(unit, set_field));
    if (!riscv->has_enable)
        TW_TRY(set_field(unit, riscv->config.is_data ? "dEnable" : "iEnable", 1));
    riscv->hart = (struct tw_unit_hart){
        .options = { .size = sizeof riscv->hart.options, .trace = &riscv->config },
        .etrace = riscv->unit,
    };
    tw_unit_add_register(unit, "TRACEID", riscv->config.id);
    describe(unit, riscv);
    return TW_OK;
}

static enum tw_status run(struct tw_unit *unit)
{
    struct riscv *riscv = unit->model;

    return tw_unit_run_hart(unit, &riscv->hart);
}

static bool is_out_of_memory(const struct riscv *riscv)
{
    return riscv->bytes[0].failed || riscv->bytes[1].failed;
}

static enum tw_status step(struct tw_unit *unit, const struct tw_step *what)
{
    struct riscv *riscv = unit->model;

    TW_TRY(tw_unit_step_hart(unit, &riscv->hart, what));
    return is_out_of_memory(riscv) ? tw_unit_no_memory(unit) : TW_OK;
}

static enum tw_status end(struct tw_unit *unit)
{
    static const char *const names[] = { "iEnable", "dEnable" };
    struct riscv *riscv = unit->model;

    if (unit->takes_steps)
        TW_TRY(tw_unit_step_hart(unit, &riscv->hart, NULL));
    for (size_t i = 0; i < 2; i++)
        TW_TRY(set_field(unit, names[i], 0));
    tw_etrace_unit_flush(riscv->unit);
    if (is_out_of_memory(riscv))
        return tw_unit_no_memory(unit);
    describe(unit, riscv);
    unit->trace.bytes = (const uint8_t *)riscv->bytes[0].chars;
    unit->trace.size = riscv->bytes[0].size;
    unit->trace.data_bytes = (const uint8_t *)riscv->bytes[1].chars;
    unit->trace.data_size = riscv->bytes[1].size;
    return TW_OK;
}

static const uint8_t *output(const struct tw_unit *unit, size_t *size)
{
    const struct riscv *riscv = unit->model;

    *size = riscv->bytes[0].size;
    return (const uint8_t *)riscv->bytes[0].chars;
}

static void take(struct tw_unit *unit)
{
    struct riscv *riscv = unit->model;

    for (unsigned i = 0; i < STREAMS; i++)
        riscv->bytes[i].size = 0;
}

static void free_model(struct tw_unit *unit)
{
    struct riscv *riscv = unit->model;

    tw_hart_free(riscv->hart.hart);
    tw_etrace_unit_free(riscv->unit);
    for (unsigned i = 0; i < STREAMS; i++)
        tw_text_free(&riscv->bytes[i]);
}

const struct tw_unit_kind tw_unit_etrace = { .protocol = "etrace",
                                             .presets =
                                                 "reference|reference-data|te_codec|siemens|"
                                                 "pulp|esp32",
                                             .takes_riscv = true,
                                             .begin = begin,
                                             .step = step,
                                             .run = run,
                                             .end = end,
                                             .output = output,
                                             .take = take,
                                             .free = free_model };
