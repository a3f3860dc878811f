/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs of harts: opening, lines, and giving cycle after cycle. */
#include "hart/hart.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fault.h"
#include "base/gunzip.h"
#include "base/memory.h"
#include "base/sized.h"
#include "log/log.h"

enum { BLOCK_MOST = 200 }; /* instructions of a block for N-Trace */

enum tw_status tw_hart_wrong(struct tw_hart *hart, const char *format, ...)
{
    char text[400];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (hart->line)
        return tw_fail(&hart->fault, TW_E_CONFIG, "line %u: %s", hart->line, text);
    return tw_fail(&hart->fault, TW_E_CONFIG, "%s", text);
}

bool tw_hart_line(struct tw_hart *hart, const char **line, size_t *size)
{
    const char *stop;

    if (hart->at == hart->end)
        return false;
    stop = memchr(hart->at, '\n', (size_t)(hart->end - hart->at));
    *line = hart->at;
    *size = (size_t)((stop ? stop : hart->end) - hart->at);
    hart->at = stop ? stop + 1 : hart->end;
    hart->line++;
    while (*size && ((*line)[*size - 1] == '\r' || (*line)[*size - 1] == ' '))
        --*size;
    return true;
}

bool tw_hart_number(uint64_t *value, const char *text, size_t size, unsigned base)
{
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                      : 99;

        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return size != 0;
}

void tw_hart_queue(struct tw_hart *hart, const struct tw_etrace_block *block)
{
    if (hart->count < TW_HART_QUEUE)
        hart->blocks[hart->count++] = *block;
}

static enum tw_status begin(struct tw_hart *hart, const uint8_t *bytes, size_t size)
{
    bool is_mine;

    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        const enum tw_status status = tw_gunzip(&hart->inflated, &size, bytes, size,
                                                TW_GUNZIP_LOG_MOST, hart->options.allocator);

        if (status != TW_OK)
            return tw_fail(&hart->fault, status,
                           status == TW_E_MEMORY ? "no memory"
                                                 : "the gzip data is damaged, or too large");
        bytes = hart->inflated;
    }
    if (size >= 6 && (!memcmp(bytes, "exlog ", 6) || !memcmp(bytes, "trackw", 6)))
        return tw_hart_log_begin(hart, bytes, size);
    hart->at = (const char *)bytes;
    hart->end = hart->at + size;
    TW_TRY(tw_hart_csv_begin(hart, &is_mine));
    if (!is_mine)
        TW_TRY(tw_hart_runs_begin(hart, &is_mine));
    if (!is_mine)
        return tw_fail(&hart->fault, TW_E_CONFIG,
                       "no log of a hart: neither CSV with names of signals in its first line, "
                       "nor runs, nor addresses, nor an execution log");
    return TW_OK;
}

/* The ingress port of an N-Trace encoder. */
static void set_ntrace(struct tw_hart *hart, const struct tw_ntrace_config *config)
{
    tw_etrace_config_init(&hart->trace, TW_ETRACE_LAYOUT_V2);
    hart->trace.itype_width = 4;
    hart->trace.retires = BLOCK_MOST;
    hart->trace.xlen = config->xlen;
    hart->trace.iaddress_width = config->xlen;
    hart->trace.privilege_width = 3;
    hart->trace.ctype_width = 2;
    hart->trace.context_width = 64;
    hart->trace.nocontext = false;
    hart->trace.has_zcmp_zcmt = config->has_zcmp_zcmt;
    hart->trace.jvt = config->jvt;
    hart->rv.jalr_is_indirect = true;
    hart->drops_ecalls = true;
}

/* What the encoder's configuration says of the hart; callers' structs may have other sizes than ours. */
static enum tw_status set_trace(struct tw_hart *hart, struct tw_fault *fault)
{
    struct tw_ntrace_config ntrace;

    if (!hart->options.ntrace)
        return TW_SIZED_TAKE(&hart->trace, hart->options.trace, "tw_etrace_config", fault);
    TW_TRY(TW_SIZED_TAKE(&ntrace, hart->options.ntrace, "tw_ntrace_config", fault));
    set_ntrace(hart, &ntrace);
    return TW_OK;
}

static enum tw_status make(struct tw_hart **made, const struct tw_hart_options *options,
                           struct tw_fault *fault)
{
    struct tw_hart_options copy;
    const struct tw_etrace_config *trace;
    struct tw_hart *hart;
    enum tw_status status;
    unsigned xlen;

    *made = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, options, "tw_hart_options", fault));
    if (!copy.trace && !copy.ntrace)
        return tw_fail(fault, TW_E_ARGUMENT, "tw_hart_options has no trace configuration");
    hart = tw_take(copy.allocator, sizeof *hart);
    if (!hart)
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    hart->options = copy;
    status = set_trace(hart, fault);
    hart->options.trace = NULL;
    hart->options.ntrace = NULL;
    if (status != TW_OK) {
        tw_give(copy.allocator, hart);
        return status;
    }
    trace = &hart->trace;
    xlen = trace->xlen ? trace->xlen : trace->iaddress_width <= 32 ? 32u : 64u;
    hart->isa = xlen == 32 ? TW_ISA_RV32 : TW_ISA_RV64;
    hart->rv.has_zcmp = hart->rv.has_zcmt = trace->has_zcmp_zcmt;
    hart->rv.x1_links_only = trace->x1_links_only;
    hart->rv.jvt_base = trace->jvt;
    hart->priv = trace->privilege_width >= 2 ? 3 : 0;
    hart->is_free = true;
    *made = hart;
    return TW_OK;
}

static enum tw_status made(struct tw_hart **out, struct tw_hart *hart, enum tw_status status,
                           struct tw_fault *fault)
{
    if (status == TW_OK) {
        *out = hart;
        return TW_OK;
    }
    if (fault)
        *fault = hart->fault;
    tw_hart_free(hart);
    return status;
}

enum tw_status tw_hart_open_memory(struct tw_hart **hart, const uint8_t *bytes, size_t size,
                                   const struct tw_hart_options *options,
                                   struct tw_fault *fault)
{
    struct tw_hart *opened;

    *hart = NULL;
    TW_TRY(make(&opened, options, fault));
    return made(hart, opened, begin(opened, bytes, size), fault);
}

enum tw_status tw_hart_open(struct tw_hart **hart, const char *path,
                            const struct tw_hart_options *options, struct tw_fault *fault)
{
    struct tw_hart *opened;
    enum tw_status status;

    *hart = NULL;
    TW_TRY(make(&opened, options, fault));
    status = tw_file_map(&opened->file, opened->options.allocator, path, &opened->fault);
    if (status == TW_OK)
        status = begin(opened, opened->file.bytes, opened->file.size);
    return made(hart, opened, status, fault);
}

enum tw_status tw_hart_open_steps(struct tw_hart **hart,
                                  enum tw_status (*next)(void *context, struct tw_step *step),
                                  void *context, const struct tw_hart_options *options,
                                  struct tw_fault *fault)
{
    *hart = NULL;
    if (!next)
        return tw_fail(fault, TW_E_ARGUMENT,
                       "tw_hart_open_steps: no function that gives steps");
    TW_TRY(make(hart, options, fault));
    (*hart)->step = next;
    (*hart)->step_context = context;
    tw_hart_steps_begin(*hart);
    return TW_OK;
}

void tw_hart_free(struct tw_hart *hart)
{
    if (!hart)
        return;
    tw_log_free(hart->log);
    tw_file_unmap(&hart->file);
    tw_give(hart->options.allocator, hart->inflated);
    tw_give(hart->options.allocator, hart);
}

/* Something is ready. */
static bool is_ready(const struct tw_hart *hart)
{
    return hart->given < hart->count || hart->has_access || hart->is_response ||
           hart->has_signals;
}

enum tw_status tw_hart_next(struct tw_hart *hart, struct tw_hart_event *event)
{
    *event = (struct tw_hart_event){ .has_response = false };
    if (hart->given == hart->count) {
        hart->halts = (uint16_t)(hart->halts >> hart->count);
        hart->given = hart->count = 0;
    }
    if (hart->is_row)
        hart->has_access = hart->is_response = hart->has_signals = hart->is_row = false;
    while (!is_ready(hart)) {
        enum tw_status status;

        if (hart->is_ended)
            return hart->fault.status == TW_OK ? TW_END : hart->fault.status;
        status = hart->next(hart);
        if (status == TW_MORE)
            return status;
        if (status != TW_OK)
            hart->is_ended = true;
        if (status != TW_OK && status != TW_END)
            return status;
    }
    if (hart->halts >> hart->given & 1) {
        hart->halts &= (uint16_t) ~(1u << hart->given);
        event->is_halted = true;
        return TW_OK;
    }
    event->is_halted = hart->signals & 1;
    event->is_reset = hart->signals >> 1 & 1;
    if (hart->given < hart->count) {
        event->cycle.blocks = &hart->blocks[hart->given];
        event->cycle.block_count = hart->is_row ? hart->count - hart->given : 1;
        hart->given += event->cycle.block_count;
    }
    if (hart->has_access) {
        event->cycle.accesses = &hart->access;
        event->cycle.access_count = 1;
    }
    event->has_response = hart->is_response;
    event->response = hart->response;
    return TW_OK;
}

/* Who is given what the hart does: one of the two. */
struct encoder {
    struct tw_etrace_unit *etrace;
    struct tw_ntrace_unit *ntrace;
};

static const char *encoder_fault(const struct encoder *to)
{
    return to->etrace ? tw_etrace_unit_fault(to->etrace) : tw_ntrace_unit_fault(to->ntrace);
}

static size_t give_runs(struct tw_hart *hart, const struct encoder *to, size_t count)
{
    const struct tw_retired_run *runs = hart->runs;
    uint32_t most = hart->trace.retires;

    return to->etrace ? tw_etrace_unit_retire_runs(to->etrace, runs, count, hart->priv, most,
                                                   &hart->instructions)
                      : tw_ntrace_unit_retire_runs(to->ntrace, runs, count, hart->priv, most,
                                                   &hart->instructions);
}

static enum tw_status give_batch(const struct encoder *to, const struct tw_hart_batch *batch)
{
    const struct tw_etrace_block *last;

    TW_TRY(to->etrace ? tw_etrace_unit_retire(to->etrace, batch->blocks, batch->count)
                      : tw_ntrace_unit_retire(to->ntrace, batch->blocks, batch->count));
    if (!batch->repeats)
        return TW_OK;
    last = &batch->blocks[batch->count - 1];
    return to->etrace ? tw_etrace_unit_repeat(to->etrace, last, batch->repeats, batch->step)
                      : tw_ntrace_unit_repeat(to->ntrace, last, batch->repeats, batch->step);
}

static void give_signals(struct tw_hart *hart, const struct encoder *to,
                         const struct tw_hart_event *event)
{
    if (event->is_halted != hart->was_halted) {
        if (to->etrace)
            tw_etrace_unit_halted(to->etrace, event->is_halted);
        else
            tw_ntrace_unit_halted(to->ntrace, event->is_halted);
    }
    if (event->is_reset != hart->was_reset) {
        if (to->etrace)
            tw_etrace_unit_reset(to->etrace, event->is_reset);
        else
            tw_ntrace_unit_reset(to->ntrace, event->is_reset);
    }
    hart->was_halted = event->is_halted;
    hart->was_reset = event->is_reset;
}

static enum tw_status give(struct tw_hart *hart, const struct encoder *to,
                           const struct tw_hart_event *event)
{
    const struct tw_hart_response *response = &event->response;

    give_signals(hart, to, event);
    if (to->ntrace) /* which has no data trace */
        return tw_ntrace_unit_retire(to->ntrace, event->cycle.blocks, event->cycle.block_count);
    if (event->cycle.block_count || event->cycle.access_count)
        TW_TRY(tw_etrace_unit_cycle(to->etrace, &event->cycle));
    if (event->has_response)
        TW_TRY(tw_etrace_unit_response(to->etrace, response->lrid, response->data,
                                       response->data_high, response->is_error));
    return TW_OK;
}

/* The log is at its end, or what the encoder was given was refused. */
static enum tw_status end_run(struct tw_hart *hart, enum tw_status status, const char *refused,
                              struct tw_fault *fault)
{
    if (status == TW_END)
        return TW_OK;
    if (status == TW_MORE)
        return status;
    if (refused) {
        (void)tw_hart_wrong(hart, "%.380s", refused);
        hart->fault.status = status;
    }
    if (fault)
        *fault = hart->fault;
    return status;
}

static enum tw_status run(struct tw_hart *hart, const struct encoder *to,
                          struct tw_fault *fault)
{
    struct tw_hart_event event;
    enum tw_status status;

    for (;;) {
        size_t whole = 0;

        do {
            whole = tw_hart_whole_runs(hart);
            if (whole)
                whole = give_runs(hart, to, whole);
            tw_hart_took_runs(hart, whole);
            if (!tw_hart_gather(hart, whole ? 1 : TW_HART_BATCH, &status))
                break;
            status = give_batch(to, &hart->batch);
            if (status != TW_OK)
                return end_run(hart, status, encoder_fault(to), fault);
        } while (true);
        if (status == TW_OK)
            status = tw_hart_next(hart, &event);
        if (status != TW_OK)
            return end_run(hart, status, NULL, fault);
        status = give(hart, to, &event);
        if (status != TW_OK)
            return end_run(hart, status, encoder_fault(to), fault);
    }
}

enum tw_status tw_hart_run(struct tw_hart *hart, struct tw_etrace_unit *unit,
                           struct tw_fault *fault)
{
    return run(hart, &(struct encoder){ .etrace = unit }, fault);
}

enum tw_status tw_hart_run_ntrace(struct tw_hart *hart, struct tw_ntrace_unit *unit,
                                  struct tw_fault *fault)
{
    return run(hart, &(struct encoder){ .ntrace = unit }, fault);
}

const char *tw_hart_fault(const struct tw_hart *hart)
{
    return hart->fault.text;
}

uint64_t tw_hart_instructions(const struct tw_hart *hart)
{
    return hart->instructions;
}
