/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units by name: which there are, their settings, and logs through them. */
#include "unit/unit.h"

#include <string.h>

#include "base/memory.h"
#include "base/sized.h"

struct tw_unit_block {
    struct tw_unit_block *before;
    max_align_t first;
};

/* A new kind of trace unit is one line here. */
static const struct tw_unit_kind *const kinds[] = {
    &tw_unit_ete, &tw_unit_etmv4, &tw_unit_ptm,    &tw_unit_etmv3,
    &tw_unit_itm, &tw_unit_stm,   &tw_unit_etrace, &tw_unit_ntrace,
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct tw_unit_kind *kind_of(const char *protocol)
{
    for (size_t i = 0; protocol && i < KINDS; i++)
        if (strcmp(protocol, kinds[i]->protocol) == 0)
            return kinds[i];
    return NULL;
}

const char *tw_unit_protocol(size_t number)
{
    return number < KINDS ? kinds[number]->protocol : NULL;
}

const char *tw_unit_presets(const char *protocol)
{
    const struct tw_unit_kind *kind = kind_of(protocol);

    return kind ? kind->presets : NULL;
}

bool tw_unit_is_riscv(const char *protocol)
{
    const struct tw_unit_kind *kind = kind_of(protocol);

    return kind && kind->takes_riscv;
}

/* ---- memory and faults ---- */

void *tw_unit_room(struct tw_unit *unit, size_t size)
{
    struct tw_unit_block *block =
        size > SIZE_MAX / 2
            ? NULL
            : tw_take(unit->allocator, offsetof(struct tw_unit_block, first) + size + 1);

    if (!block)
        return NULL;
    block->before = unit->blocks;
    unit->blocks = block;
    return &block->first;
}

char *tw_unit_copy(struct tw_unit *unit, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = tw_unit_room(unit, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

enum tw_status tw_unit_no_memory(struct tw_unit *unit)
{
    return tw_fail(&unit->fault, TW_E_MEMORY, "no memory");
}

enum tw_status tw_unit_wrong(struct tw_unit *unit, enum tw_status status, const char *text)
{
    const char *path = unit->path ? unit->path : "", *mark = unit->path ? ": " : "";

    if (unit->line)
        return tw_fail(&unit->fault, status, "%s%sline %u: %s", path, mark, unit->line, text);
    return tw_fail(&unit->fault, status, "%s", text);
}

const char *tw_unit_name(const struct tw_unit *unit)
{
    return unit->kind->protocol;
}

const char *tw_unit_fault(const struct tw_unit *unit)
{
    return unit->fault.text;
}

/* ---- settings ---- */

/* The caller's settings as ours. */
static bool copy_settings(struct tw_unit *unit, const struct tw_register **settings,
                          size_t count)
{
    struct tw_register *copy = tw_unit_room(unit, count * sizeof *copy);

    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = (*settings)[i];
        copy[i].name = tw_unit_copy(unit, copy[i].name);
        if (!copy[i].name)
            return false;
    }
    *settings = copy;
    return copy != NULL;
}

static bool copy_text(struct tw_unit *unit, const char **text, const char *otherwise)
{
    if (!*text)
        *text = otherwise;
    else
        *text = tw_unit_copy(unit, *text);
    return *text || !otherwise;
}

static enum tw_status copy_config(struct tw_unit *unit, struct tw_fault *fault)
{
    struct tw_unit_config *config = &unit->config;
    const bool has_parameters = config->parameters, has_preset = config->preset;

    config->protocol = unit->kind->protocol;
    if (!copy_text(unit, &config->preset, NULL) ||
        !copy_text(unit, &config->parameters, NULL) ||
        !copy_text(unit, &config->registers_name, "registers") ||
        !copy_text(unit, &config->choices_name, "choices") ||
        has_parameters != (config->parameters != NULL) ||
        has_preset != (config->preset != NULL) ||
        !copy_settings(unit, &config->registers, config->register_count) ||
        !copy_settings(unit, &config->choices, config->choice_count))
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    return TW_OK;
}

/* Whether `preset` is one of "a|b|c". */
static bool is_preset(const char *presets, const char *preset)
{
    const size_t size = strlen(preset);

    for (const char *at = presets; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, preset, size) == 0 && (at[size] == '|' || !at[size]))
            return size != 0;
    }
    return false;
}

enum tw_status tw_unit_new(struct tw_unit **out, const struct tw_unit_config *config,
                           struct tw_fault *fault)
{
    struct tw_unit_config ours;
    struct tw_unit *unit;
    enum tw_status status;

    *out = NULL;
    TW_TRY(TW_SIZED_TAKE(&ours, config, "struct tw_unit_config", fault));
    if (!kind_of(ours.protocol))
        return tw_fail(fault, TW_E_ARGUMENT, "protocol: \"%s\" cannot be encoded",
                       ours.protocol ? ours.protocol : "");
    if (ours.preset && !is_preset(kind_of(ours.protocol)->presets, ours.preset))
        return tw_fail(fault, TW_E_ARGUMENT, "preset: \"%s\" is not for %s", ours.preset,
                       ours.protocol);
    unit = tw_take(ours.allocator, sizeof *unit);
    if (!unit)
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    unit->config = ours;
    unit->allocator = ours.allocator;
    unit->kind = kind_of(ours.protocol);
    status = copy_config(unit, fault);
    if (status != TW_OK) {
        tw_unit_free(unit);
        return status;
    }
    *out = unit;
    return TW_OK;
}

void tw_unit_free(struct tw_unit *unit)
{
    if (!unit)
        return;
    if (unit->model)
        unit->kind->free(unit);
    tw_framer_free(unit->framer);
    tw_unit_free_pages(unit);
    while (unit->blocks) {
        struct tw_unit_block *before = unit->blocks->before;

        tw_give(unit->allocator, unit->blocks);
        unit->blocks = before;
    }
    tw_give(unit->allocator, unit);
}

static enum tw_status set_all(struct tw_unit *unit, const struct tw_register *settings,
                              size_t count, tw_unit_set_fn *set)
{
    for (size_t i = 0; i < count; i++)
        TW_TRY(set(unit, settings[i].name, settings[i].value));
    return TW_OK;
}

enum tw_status tw_unit_choices(struct tw_unit *unit, tw_unit_set_fn *set)
{
    return set_all(unit, unit->config.choices, unit->config.choice_count, set);
}

enum tw_status tw_unit_registers(struct tw_unit *unit, tw_unit_set_fn *set)
{
    return set_all(unit, unit->config.registers, unit->config.register_count, set);
}

void tw_unit_add_register(struct tw_unit *unit, const char *name, uint64_t value)
{
    unit->registers[unit->trace.register_count++] = (struct tw_register){ name, value };
}

/* ---- logs ---- */

enum tw_status tw_unit_open_log(const struct tw_unit *unit, struct tw_log **log,
                                struct tw_fault *fault)
{
    const struct tw_log_options options = { .size = sizeof options,
                                            .image = unit->config.image,
                                            .allocator = unit->allocator,
                                            .repeats_most = unit->config.repeats_most };

    return unit->path ? tw_log_open(log, unit->path, &options, fault)
                      : tw_log_open_memory(log, unit->bytes, unit->size, &options, fault);
}

enum tw_status tw_unit_begin_once(struct tw_unit *unit)
{
    if (unit->has_begun)
        return TW_OK;
    unit->has_begun = true;
    unit->trace.registers = unit->registers;
    return unit->kind->begin(unit);
}

static enum tw_status read_steps(struct tw_unit *unit, struct tw_log *log)
{
    struct tw_step step;
    enum tw_status status;

    if (tw_log_is_riscv(log) != unit->kind->takes_riscv)
        return tw_fail(&unit->fault, TW_E_CONFIG,
                       "the log is of %s processor, which %s does not trace",
                       tw_log_is_riscv(log) ? "a RISC-V" : "an Arm", unit->kind->protocol);
    while ((status = tw_log_next(log, &step)) == TW_OK) {
        unit->line = tw_log_line(log);
        if (step.kind == TW_STEP_CONTEXT && step.context.security == TW_NONSECURE)
            unit->has_nonsecure = true;
        if (step.kind == TW_STEP_INSTRUCTIONS) {
            unit->trace.instructions += step.count;
            TW_TRY(tw_unit_note(unit, &step));
        }
        TW_TRY(unit->kind->step(unit, &step));
    }
    if (status != TW_END)
        return tw_fail(&unit->fault, status, "%s%s%s", unit->path ? unit->path : "",
                       unit->path ? ": " : "", tw_log_fault(log));
    return TW_OK;
}

/* Reads the log that is at work, step by step. */
static enum tw_status take_steps(struct tw_unit *unit)
{
    struct tw_fault fault = { TW_OK, "" };
    struct tw_log *log = NULL;
    enum tw_status status = tw_unit_open_log(unit, &log, &fault);

    if (status != TW_OK) {
        const bool is_named =
            !unit->path || strncmp(fault.text, unit->path, strlen(unit->path)) == 0;

        return tw_fail(&unit->fault, status, "%s%s%s", is_named ? "" : unit->path,
                       is_named ? "" : ": ", fault.text);
    }
    if (!unit->has_begun) {
        unit->is_m = tw_log_is_m(log);
        unit->cpu = tw_log_cpu(log);
        if (unit->cpu && !(unit->cpu = tw_unit_copy(unit, unit->cpu)))
            status = tw_unit_no_memory(unit);
    } else if (unit->is_m != tw_log_is_m(log)) {
        status = tw_fail(&unit->fault, TW_E_CONFIG, "the log is of another profile");
    }
    if (status == TW_OK)
        status = tw_unit_begin_once(unit);
    if (status == TW_OK)
        status = read_steps(unit, log);
    tw_log_free(log);
    return status;
}

static enum tw_status take_log(struct tw_unit *unit)
{
    enum tw_status status;

    if (unit->has_failed)
        return TW_E_ARGUMENT;
    if (unit->has_finished || unit->takes_steps)
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       unit->has_finished ? "tracing has ended" : "the unit is given steps");
    unit->line = 0;
    if (!unit->kind->run) {
        status = take_steps(unit);
    } else {
        status = tw_unit_begin_once(unit);
        if (status == TW_OK)
            status = unit->kind->run(unit);
    }
    unit->has_failed = status != TW_OK;
    return status;
}

enum tw_status tw_unit_log(struct tw_unit *unit, const char *path)
{
    enum tw_status status;

    unit->path = path;
    status = take_log(unit);
    unit->path = NULL;
    return status;
}

enum tw_status tw_unit_log_memory(struct tw_unit *unit, const uint8_t *bytes, size_t size)
{
    enum tw_status status;

    unit->bytes = bytes;
    unit->size = size;
    status = take_log(unit);
    unit->bytes = NULL;
    return status;
}

enum tw_status tw_unit_finish(struct tw_unit *unit)
{
    enum tw_status status;

    if (unit->has_failed || unit->has_finished)
        return unit->has_failed ? TW_E_ARGUMENT : TW_OK;
    if (!unit->has_begun)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there was no log");
    unit->line = 0;
    status = unit->kind->end(unit);
    unit->has_failed = status != TW_OK;
    unit->has_finished = status == TW_OK;
    return status;
}

const struct tw_unit_trace *tw_unit_trace(const struct tw_unit *unit)
{
    static const struct tw_unit_trace nothing;

    return unit->has_finished || unit->takes_steps ? &unit->trace : &nothing;
}
