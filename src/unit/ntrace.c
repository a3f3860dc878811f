/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder. */
#include <string.h>

#include "base/text.h"
#include "unit/unit.h"

struct ntrace {
    struct tw_ntrace_config config;
    struct tw_ntrace_unit_config choices;
    struct tw_ntrace_unit *unit;
    struct tw_unit_hart hart;
    struct tw_text bytes;
    bool has_tracing; /* choices say when tracing begins */
    char text[TW_UNIT_TEXT];
};

static void keep(void *context, const uint8_t *bytes, size_t size)
{
    tw_text_add_size(&((struct ntrace *)context)->bytes, (const char *)bytes, size);
}

static enum tw_status read_config(struct tw_unit *unit, struct ntrace *ntrace)
{
    const char *text = unit->config.parameters;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status = TW_OK;

    tw_ntrace_config_init(&ntrace->config);
    if (unit->xlen)
        ntrace->config.xlen = (uint8_t)unit->xlen;
    if (text)
        status = tw_ntrace_config_read(&ntrace->config, text, &fault);
    if (status != TW_OK)
        return tw_fail(&unit->fault, status, "%s: %s", unit->config.registers_name, fault.text);
    if (ntrace->config.dialect == TW_NTRACE_AUTO)
        ntrace->config.dialect = TW_NTRACE_1_0;
    if (!ntrace->config.mode)
        ntrace->config.mode = TW_NTRACE_MODE_HTM;
    if (!ntrace->config.id)
        ntrace->config.id = 1;
    return TW_OK;
}

static enum tw_status set_choice(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct ntrace *ntrace = unit->model;

    (void)(tw_ntrace_unit_config_set(&ntrace->choices, name, value) == TW_OK);
    return TW_OK; /* the others are fields, once there is a unit */
}

static enum tw_status set_field(struct tw_unit *unit, const char *name, uint64_t value)
{
    struct ntrace *ntrace = unit->model;
    enum tw_status status;

    if (tw_ntrace_unit_config_set(&ntrace->choices, name, value) == TW_OK)
        return TW_OK;
    if (strcmp(name, "trTeInstTracing") == 0)
        ntrace->has_tracing = true;
    status = tw_ntrace_unit_write_field(ntrace->unit, name, value);
    if (status != TW_OK)
        return tw_fail(&unit->fault, status, "%s: %s", unit->config.choices_name,
                       tw_ntrace_unit_fault(ntrace->unit));
    return TW_OK;
}

/* What decoders and snapshots have to know. */
static void describe(struct tw_unit *unit, struct ntrace *ntrace)
{
    struct tw_ntrace_config config = ntrace->config;

    tw_ntrace_unit_trace(ntrace->unit, &config);
    (void)tw_ntrace_config_text(ntrace->text, sizeof ntrace->text, &config);
    unit->device = "NTRACE_0";
    unit->trace.device_type = "NTRACE1.0";
    unit->trace.core_type = config.xlen == 32 ? "RV32" : "RV64";
    unit->trace.text = ntrace->text;
    unit->trace.id = config.id;
}

static enum tw_status begin(struct tw_unit *unit)
{
    struct ntrace *ntrace = tw_unit_room(unit, sizeof *ntrace);

    unit->model = ntrace;
    if (!ntrace)
        return tw_unit_no_memory(unit);
    ntrace->bytes.allocator = unit->allocator;
    TW_TRY(read_config(unit, ntrace));
    ntrace->choices = (struct tw_ntrace_unit_config){ .size = sizeof ntrace->choices,
                                                      .trace = &ntrace->config,
                                                      .write = keep,
                                                      .write_context = ntrace,
                                                      .allocator = unit->allocator };
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_ntrace_unit_new(&ntrace->unit, &ntrace->choices, &unit->fault));
    TW_TRY(tw_unit_choices(unit, set_field));
    TW_TRY(set_field(unit, "trTeEnable", 1));
    if (!ntrace->has_tracing)
        TW_TRY(set_field(unit, "trTeInstTracing", 1));
    ntrace->hart = (struct tw_unit_hart){
        .options = { .size = sizeof ntrace->hart.options, .ntrace = &ntrace->config },
        .ntrace = ntrace->unit,
    };
    tw_unit_add_register(unit, "TRACEID", ntrace->config.id);
    describe(unit, ntrace);
    return TW_OK;
}

static enum tw_status run(struct tw_unit *unit)
{
    struct ntrace *ntrace = unit->model;

    return tw_unit_run_hart(unit, &ntrace->hart);
}

static enum tw_status step(struct tw_unit *unit, const struct tw_step *what)
{
    struct ntrace *ntrace = unit->model;

    TW_TRY(tw_unit_step_hart(unit, &ntrace->hart, what));
    return ntrace->bytes.failed ? tw_unit_no_memory(unit) : TW_OK;
}

static enum tw_status end(struct tw_unit *unit)
{
    struct ntrace *ntrace = unit->model;

    if (unit->takes_steps)
        TW_TRY(tw_unit_step_hart(unit, &ntrace->hart, NULL));
    TW_TRY(set_field(unit, "trTeEnable", 0));
    tw_ntrace_unit_flush(ntrace->unit);
    if (ntrace->bytes.failed)
        return tw_unit_no_memory(unit);
    describe(unit, ntrace);
    unit->trace.bytes = (const uint8_t *)ntrace->bytes.chars;
    unit->trace.size = ntrace->bytes.size;
    return TW_OK;
}

static const uint8_t *output(const struct tw_unit *unit, size_t *size)
{
    const struct ntrace *ntrace = unit->model;

    *size = ntrace->bytes.size;
    return (const uint8_t *)ntrace->bytes.chars;
}

static void take(struct tw_unit *unit)
{
    ((struct ntrace *)unit->model)->bytes.size = 0;
}

static void free_model(struct tw_unit *unit)
{
    struct ntrace *ntrace = unit->model;

    tw_hart_free(ntrace->hart.hart);
    tw_ntrace_unit_free(ntrace->unit);
    tw_text_free(&ntrace->bytes);
}

const struct tw_unit_kind tw_unit_ntrace = { .protocol = "ntrace",
                                             .takes_riscv = true,
                                             .begin = begin,
                                             .step = step,
                                             .run = run,
                                             .end = end,
                                             .output = output,
                                             .take = take,
                                             .free = free_model };
