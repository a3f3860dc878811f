/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace encoders of RISC-V harts: E-Trace and N-Trace. */
#include <stdlib.h>
#include <string.h>

#include <trackway/hart.h>

#include "qemu/unit_kind.h"

enum { TEXT = 16384 };

struct riscv {
    struct tw_etrace_config etrace_config;
    struct tw_ntrace_config ntrace_config;
    struct tw_etrace_unit *etrace; /* one of the two */
    struct tw_ntrace_unit *ntrace;
    struct tw_hart *hart;
    const struct tw_step *step; /* not yet taken by the hart; NULL: none */
    bool is_ended, is_out_of_memory;
    uint8_t *bytes;
    size_t count, room;
    char text[TEXT];
};

static void keep(struct riscv *riscv, const uint8_t *bytes, size_t size)
{
    if (riscv->count + size > riscv->room) {
        const size_t room = 2 * (riscv->count + size);
        uint8_t *more = realloc(riscv->bytes, room);

        if (!more) {
            riscv->is_out_of_memory = true;
            return;
        }
        riscv->bytes = more;
        riscv->room = room;
    }
    memcpy(riscv->bytes + riscv->count, bytes, size);
    riscv->count += size;
}

static void keep_etrace(void *state, unsigned stream, const uint8_t *bytes, size_t size)
{
    if (stream == 0)
        keep(state, bytes, size);
}

static void keep_ntrace(void *state, const uint8_t *bytes, size_t size)
{
    keep(state, bytes, size);
}

static enum tw_status next_step(void *state, struct tw_step *step)
{
    struct riscv *riscv = state;

    if (!riscv->step)
        return riscv->is_ended ? TW_END : TW_MORE;
    *step = *riscv->step;
    riscv->step = NULL;
    return TW_OK;
}

/* The settings as one text, as the configuration's reader takes it. */
static bool join(char *text, size_t room, const struct unit_options *options)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < options->register_count; i++) {
        const size_t size = strlen(options->registers[i]);

        if (used + size + 2 > room)
            return false;
        memcpy(text + used, options->registers[i], size);
        used += size;
        text[used++] = '\n';
        text[used] = 0;
    }
    return true;
}

static bool open_hart(struct riscv *riscv, struct tw_fault *fault)
{
    const struct tw_hart_options options = {
        .size = sizeof options,
        .trace = riscv->etrace ? &riscv->etrace_config : NULL,
        .ntrace = riscv->ntrace ? &riscv->ntrace_config : NULL,
    };

    return tw_hart_open_steps(&riscv->hart, next_step, riscv, &options, fault) == TW_OK;
}

/* ---- E-Trace ---- */

static bool begin_etrace(void *state, const struct unit_options *options,
                         struct tw_fault *fault)
{
    struct riscv *riscv = state;
    struct tw_etrace_config *config = &riscv->etrace_config;
    struct tw_etrace_unit_config choices = {
        .size = sizeof choices, .trace = config, .write = keep_etrace, .write_context = riscv
    };
    bool has_enable = false;
    char name[64];
    uint64_t value;

    tw_etrace_config_init(config, TW_ETRACE_LAYOUT_V2);
    config->iaddress_width = options->is_64bit ? 64 : 32;
    config->xlen = config->iaddress_width;
    config->privilege_width = 3;
    config->ecause_width = 6;
    config->retires = 200;
    config->id = 1;
    for (size_t i = 0; i < options->choice_count; i++) /* the others are fields */
        if (unit_split(options->choices[i], name, sizeof name, &value))
            (void)(tw_etrace_unit_config_set(&choices, name, value) == TW_OK);
    if (!join(riscv->text, TEXT, options) ||
        (riscv->text[0] && tw_etrace_config_read(config, riscv->text, fault) != TW_OK) ||
        tw_etrace_unit_new(&riscv->etrace, &choices, fault) != TW_OK)
        return false;
    for (size_t i = 0; i < options->choice_count; i++) {
        if (!unit_split(options->choices[i], name, sizeof name, &value) ||
            (tw_etrace_unit_config_set(&choices, name, value) != TW_OK &&
             tw_etrace_unit_write_field(riscv->etrace, name, value) != TW_OK))
            return unit_bad(fault, "choice", options->choices[i]);
        has_enable |= strcmp(name, "iEnable") == 0;
    }
    return (has_enable || tw_etrace_unit_write_field(riscv->etrace, "iEnable", 1) == TW_OK) &&
           open_hart(riscv, fault);
}

/* Everything that is given is taken at once: TW_MORE. */
static enum tw_status run(struct riscv *riscv)
{
    const enum tw_status status = riscv->etrace
                                      ? tw_hart_run(riscv->hart, riscv->etrace, NULL)
                                      : tw_hart_run_ntrace(riscv->hart, riscv->ntrace, NULL);

    if (riscv->is_out_of_memory)
        return TW_E_MEMORY;
    return status == TW_MORE ? TW_OK : status;
}

static enum tw_status take_step(void *state, const struct tw_step *step)
{
    struct riscv *riscv = state;

    riscv->step = step;
    return run(riscv);
}

static enum tw_status end_etrace(void *state)
{
    struct riscv *riscv = state;
    enum tw_status status;

    riscv->is_ended = true;
    status = run(riscv);
    if (status == TW_OK)
        status = tw_etrace_unit_write_field(riscv->etrace, "iEnable", 0);
    tw_etrace_unit_flush(riscv->etrace);
    return status;
}

static const char *text_etrace(void *state)
{
    struct riscv *riscv = state;
    struct tw_etrace_config config;

    tw_etrace_unit_trace(riscv->etrace, &config);
    (void)tw_etrace_config_text(riscv->text, TEXT, &config);
    return riscv->text;
}

/* ---- N-Trace ---- */

static bool begin_ntrace(void *state, const struct unit_options *options,
                         struct tw_fault *fault)
{
    struct riscv *riscv = state;
    struct tw_ntrace_config *config = &riscv->ntrace_config;
    struct tw_ntrace_unit_config choices = {
        .size = sizeof choices, .trace = config, .write = keep_ntrace, .write_context = riscv
    };
    bool has_tracing = false;
    char name[64];
    uint64_t value;

    tw_ntrace_config_init(config);
    config->xlen = options->is_64bit ? 64 : 32;
    for (size_t i = 0; i < options->choice_count; i++) /* the others are fields */
        if (unit_split(options->choices[i], name, sizeof name, &value))
            (void)(tw_ntrace_unit_config_set(&choices, name, value) == TW_OK);
    if (!join(riscv->text, TEXT, options) ||
        (riscv->text[0] && tw_ntrace_config_read(config, riscv->text, fault) != TW_OK) ||
        tw_ntrace_unit_new(&riscv->ntrace, &choices, fault) != TW_OK)
        return false;
    for (size_t i = 0; i < options->choice_count; i++) {
        if (!unit_split(options->choices[i], name, sizeof name, &value) ||
            (tw_ntrace_unit_config_set(&choices, name, value) != TW_OK &&
             tw_ntrace_unit_write_field(riscv->ntrace, name, value) != TW_OK))
            return unit_bad(fault, "choice", options->choices[i]);
        has_tracing |= strcmp(name, "trTeInstTracing") == 0;
    }
    return tw_ntrace_unit_write_field(riscv->ntrace, "trTeEnable", 1) == TW_OK &&
           (has_tracing ||
            tw_ntrace_unit_write_field(riscv->ntrace, "trTeInstTracing", 1) == TW_OK) &&
           open_hart(riscv, fault);
}

static enum tw_status end_ntrace(void *state)
{
    struct riscv *riscv = state;
    enum tw_status status;

    riscv->is_ended = true;
    status = run(riscv);
    return status != TW_OK ? status
                           : tw_ntrace_unit_write_field(riscv->ntrace, "trTeEnable", 0);
}

static const char *text_ntrace(void *state)
{
    struct riscv *riscv = state;

    tw_ntrace_unit_trace(riscv->ntrace, &riscv->ntrace_config);
    (void)tw_ntrace_config_text(riscv->text, TEXT, &riscv->ntrace_config);
    return riscv->text;
}

/* ---- both ---- */

static const uint8_t *output(void *state, size_t *size)
{
    const struct riscv *riscv = state;

    *size = riscv->count;
    return riscv->bytes;
}

static void take(void *state)
{
    ((struct riscv *)state)->count = 0;
}

static enum tw_status get(const void *state, struct tw_register *out, size_t number)
{
    const struct riscv *riscv = state;

    if (number)
        return TW_END;
    *out = (struct tw_register){ "TRACEID", riscv->etrace ? riscv->etrace_config.id : 1 };
    return TW_OK;
}

static void free_riscv(void *state)
{
    struct riscv *riscv = state;

    tw_hart_free(riscv->hart);
    tw_etrace_unit_free(riscv->etrace);
    tw_ntrace_unit_free(riscv->ntrace);
    free(riscv->bytes);
}

const struct unit_kind unit_kind_etrace = { .protocol = "etrace",
                                            .size = sizeof(struct riscv),
                                            .begin = begin_etrace,
                                            .step = take_step,
                                            .end = end_etrace,
                                            .output = output,
                                            .take = take,
                                            .get = get,
                                            .text = text_etrace,
                                            .free = free_riscv };
const struct unit_kind unit_kind_ntrace = { .protocol = "ntrace",
                                            .size = sizeof(struct riscv),
                                            .begin = begin_ntrace,
                                            .step = take_step,
                                            .end = end_ntrace,
                                            .output = output,
                                            .take = take,
                                            .get = get,
                                            .text = text_ntrace,
                                            .free = free_riscv };
