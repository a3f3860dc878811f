/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs: opening, and what an instruction is. */
#include "log/log.h"

#include "base/fault.h"
#include "base/gunzip.h"
#include "base/memory.h"
#include "base/sized.h"
#include "isa/isa.h"

static void classify_rv(struct tw_retired *out)
{
    const struct tw_rv_options options = { 0 };
    struct tw_rv_instruction what;

    tw_rv_classify(&what, out->opcode, out->address, out->isa, &options);
    out->size = what.flow.size;
    out->target = what.flow.target;
    if (what.flow.kind == TW_FLOW_BRANCH)
        out->kind = TW_RETIRED_BRANCH;
    else if (what.flow.kind == TW_FLOW_INDIRECT)
        out->kind = TW_RETIRED_INDIRECT;
    if (what.flow.is_link)
        out->flags |= TW_RETIRED_LINK;
    if (what.flow.is_return)
        out->flags |= TW_RETIRED_RETURN;
    if (what.flow.is_exception_return)
        out->flags |= TW_RETIRED_EXCEPTION_RETURN;
    if (what.is_branch)
        out->flags |= TW_RETIRED_CONDITIONAL;
    else if (out->kind)
        out->flags |= TW_RETIRED_TAKEN;
}

static uint8_t kind_of(const struct tw_instruction *what, const struct tw_retired *retired)
{
    switch (what->kind) {
    case TW_FLOW_BRANCH:
        return TW_RETIRED_BRANCH;
    case TW_FLOW_INDIRECT:
        return TW_RETIRED_INDIRECT;
    case TW_FLOW_ISB:
        return TW_RETIRED_ISB;
    case TW_FLOW_WFX:
        return retired->isa == TW_ISA_A64 && retired->opcode >> 12 == 0xd5031 ? TW_RETIRED_WFXT
                                                                              : TW_RETIRED_WFX;
    case TW_FLOW_TSTART:
        return TW_RETIRED_TSTART;
    default:
        return TW_RETIRED_OTHER;
    }
}

static bool is_tsb(const struct tw_retired *instruction)
{
    switch (instruction->isa) {
    case TW_ISA_A64:
        return instruction->opcode == 0xd503225f;
    case TW_ISA_A32:
        return instruction->opcode == 0xe320f012;
    case TW_ISA_T32:
        return instruction->opcode == 0xf3af8012;
    default:
        return false;
    }
}

static void classify(struct tw_retired *instruction, uint8_t *it_open, enum tw_profile profile)
{
    const struct tw_isa_options options = { .profile = (uint8_t)profile,
                                            .wfx_is_p0 = true,
                                            .wfet_wfit_is_p0 = true,
                                            .tstart_is_p0 = true };
    struct tw_instruction what;
    const uint8_t open = it_open ? *it_open : 0;

    instruction->kind = TW_RETIRED_OTHER;
    instruction->flags = 0;
    instruction->target = 0;
    if (instruction->isa == TW_ISA_RV32 || instruction->isa == TW_ISA_RV64) {
        classify_rv(instruction);
        return;
    }
    if (instruction->isa == TW_ISA_A64)
        tw_a64_classify(&what, instruction->opcode, instruction->address, &options);
    else if (instruction->isa == TW_ISA_T32)
        tw_t32_classify(&what, instruction->opcode, instruction->address, open, &options);
    else
        tw_a32_classify(&what, instruction->opcode, instruction->address, &options);
    if (it_open)
        *it_open = what.it_remaining;
    instruction->size = what.size;
    instruction->kind = kind_of(&what, instruction);
    if (instruction->kind == TW_RETIRED_OTHER && is_tsb(instruction))
        instruction->kind = TW_RETIRED_TSB;
    if (instruction->kind == TW_RETIRED_OTHER || instruction->kind == TW_RETIRED_TSB)
        return;
    instruction->target = what.target;
    if (what.is_link)
        instruction->flags |= TW_RETIRED_LINK;
    if (what.is_return)
        instruction->flags |= TW_RETIRED_RETURN;
    if (what.is_exception_return)
        instruction->flags |= TW_RETIRED_EXCEPTION_RETURN;
    if (what.is_conditional)
        instruction->flags |= TW_RETIRED_CONDITIONAL;
    if (!what.is_conditional || instruction->kind >= TW_RETIRED_ISB)
        instruction->flags |= TW_RETIRED_TAKEN;
}

void tw_retired_classify(struct tw_retired *instruction, uint8_t *it_open)
{
    classify(instruction, it_open, TW_PROFILE_A);
}

void tw_retired_classify_m(struct tw_retired *instruction, uint8_t *it_open)
{
    classify(instruction, it_open, TW_PROFILE_M);
}

void tw_log_classify(const struct tw_log *log, struct tw_retired *instruction, uint8_t *it_open)
{
    classify(instruction, it_open, log->is_m ? TW_PROFILE_M : TW_PROFILE_A);
}

static enum tw_status begin(struct tw_log *log, const uint8_t *bytes, size_t size)
{
    bool is_mine;

    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        const enum tw_status status = tw_gunzip(&log->inflated, &size, bytes, size,
                                                TW_GUNZIP_LOG_MOST, log->options.allocator);

        if (status == TW_E_MEMORY)
            return tw_fail(&log->fault, status, "no memory");
        if (status != TW_OK)
            return tw_fail(&log->fault, status,
                           "the gzip data is damaged, or more than 256 MiB");
        bytes = log->inflated;
    }
    log->begin = bytes;
    log->in = (struct tw_bytes){ .at = bytes, .end = bytes + size };
    TW_TRY(tw_exlog_begin(log, &is_mine));
    if (!is_mine)
        TW_TRY(tw_textlog_begin(log, &is_mine));
    if (!is_mine)
        return tw_fail(&log->fault, TW_E_CONFIG,
                       "no execution log: begins neither with \"exlog 1\" nor with "
                       "\"trackway-log 1\"");
    return TW_OK;
}

static struct tw_log *make(const struct tw_log_options *options)
{
    const struct tw_allocator *allocator = options ? options->allocator : NULL;
    struct tw_log *log = tw_take(allocator, sizeof *log);

    if (log && options)
        log->options = *options;
    return log;
}

static enum tw_status made(struct tw_log **out, struct tw_log *log, enum tw_status status,
                           struct tw_fault *fault)
{
    if (status == TW_OK) {
        *out = log;
        return TW_OK;
    }
    if (fault)
        *fault = log->fault;
    tw_log_free(log);
    return status;
}

enum tw_status tw_log_open_memory(struct tw_log **log, const uint8_t *bytes, size_t size,
                                  const struct tw_log_options *options, struct tw_fault *fault)
{
    struct tw_log_options copy;
    struct tw_log *opened;

    *log = NULL;
    if (options)
        TW_TRY(TW_SIZED_TAKE(&copy, options, "tw_log_options", fault));
    opened = make(options ? &copy : NULL);
    if (!opened)
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    return made(log, opened, begin(opened, bytes, size), fault);
}

enum tw_status tw_log_open(struct tw_log **log, const char *path,
                           const struct tw_log_options *options, struct tw_fault *fault)
{
    struct tw_log_options copy;
    struct tw_log *opened;
    enum tw_status status;

    *log = NULL;
    if (options)
        TW_TRY(TW_SIZED_TAKE(&copy, options, "tw_log_options", fault));
    opened = make(options ? &copy : NULL);
    if (!opened)
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    status = tw_file_map(&opened->file, opened->options.allocator, path, &opened->fault);
    if (status == TW_OK)
        status = begin(opened, opened->file.bytes, opened->file.size);
    return made(log, opened, status, fault);
}

void tw_log_free(struct tw_log *log)
{
    const struct tw_allocator *allocator;

    if (!log)
        return;
    allocator = log->options.allocator;
    tw_file_unmap(&log->file);
    tw_give(allocator, log->inflated);
    tw_give(allocator, log->runs);
    tw_give(allocator, log->pool);
    tw_give(allocator, log);
}

bool tw_log_is_riscv(const struct tw_log *log)
{
    return log->is_riscv;
}

bool tw_log_is_m(const struct tw_log *log)
{
    return log->is_m;
}

const char *tw_log_cpu(const struct tw_log *log)
{
    return *log->cpu ? log->cpu : NULL;
}

void tw_log_set_cpu(struct tw_log *log, const char *text, size_t size)
{
    if (size >= sizeof log->cpu)
        size = sizeof log->cpu - 1;
    memcpy(log->cpu, text, size);
    log->cpu[size] = 0;
}

enum tw_status tw_log_next(struct tw_log *log, struct tw_step *step)
{
    enum tw_status status;

    if (log->is_ended)
        return log->fault.status == TW_OK ? TW_END : log->fault.status;
    status = log->next(log, step);
    if (status != TW_OK)
        log->is_ended = true;
    return status;
}

unsigned tw_log_line(const struct tw_log *log)
{
    return log->line;
}

const char *tw_log_fault(const struct tw_log *log)
{
    return log->fault.text;
}
