/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: trace units from the metadata, and blocks of trace cut by AUX records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    INFO_WORDS = 16, /* offset of the first word in the record */
    CONFIGR_CID = 1 << 6,
    CONFIGR_VMID = 1 << 7,
    CONFIGR_VMIDOPT = 1 << 15,
    ETMCR_CONTEXT_ID = 1 << 14,
    FORMAT_MASK = 0xff00,
    TRACE_ID_LAST = 0x6f
};

const struct perf_unit perf_units[] = {
    /* clang-format off */
    { 0x3030303030303030, "etmv3", "ETM3.5", 4,
      { "ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR" } },
    { 0x4040404040404040, "etmv4", "ETM4", 7,
      { "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
        "TRCAUTHSTATUS", "TS_SOURCE" } },
    { 0x5050505050505050, "ete", "ETE", 8,
      { "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
        "TRCAUTHSTATUS", "TRCDEVARCH", "TS_SOURCE" } },
    { 0 },
    /* clang-format on */
};

static uint64_t word(const struct tw_perf *perf, size_t number)
{
    return perf_u64(&perf->info, INFO_WORDS + number * 8);
}

static const struct perf_hw_id *hw_id_of(const struct tw_perf *perf, uint32_t cpu)
{
    for (size_t i = 0; i < perf->hw_id_count; i++)
        if (perf->hw_ids[i].cpu == cpu)
            return &perf->hw_ids[i];
    return NULL;
}

/* What the words say beside the registers. */
static void read_meaning(struct tw_perf *perf, struct perf_source *about,
                         const struct tw_source *source)
{
    const uint64_t control = source->registers[0].value;

    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, "TS_SOURCE") == 0)
            perf->clock_is_kernels |= source->registers[i].value == 1;
    if (strcmp(source->registers[0].name, "ETMCR") == 0) {
        about->tid_is_context = control & ETMCR_CONTEXT_ID;
        return;
    }
    about->tid_is_vmid = control & (CONFIGR_VMID | CONFIGR_VMIDOPT);
    about->tid_is_context = !about->tid_is_vmid && (control & CONFIGR_CID);
}

static enum tw_status make_source(struct tw_perf *perf, const struct perf_unit *unit,
                                  size_t first, size_t count, uint32_t cpu)
{
    struct tw_capture *capture = perf->capture;
    const struct perf_hw_id *hw_id = hw_id_of(perf, cpu);
    struct tw_source *source = &capture->sources[capture->source_count];
    struct perf_source *about = &perf->sources[perf->source_count];
    struct tw_register *registers = tw_capture_keep(capture, PERF_PARAMS, sizeof *registers);
    char *core = tw_capture_format(capture, "cpu%" PRIu32, cpu);
    bool is_ptm;

    if (!registers || !core)
        return TW_E_MEMORY;
    *source = (struct tw_source){ .type = unit->type,
                                  .protocol = unit->protocol,
                                  .core = core,
                                  .registers = registers,
                                  .device = TW_NONE,
                                  .image = 0 };
    for (size_t i = 0; i < count && i < PERF_PARAMS && unit->names[i]; i++)
        registers[source->register_count++] =
            (struct tw_register){ unit->names[i], word(perf, first + i) };
    *about = (struct perf_source){ .cpu = cpu };
    read_meaning(perf, about, source);
    is_ptm = unit == &perf_units[0] && source->register_count == 4 &&
             (registers[3].value & 0x300) == 0x300;
    if (is_ptm) {
        source->protocol = "ptm";
        source->type = "PTM1.1";
    }
    if (unit == &perf_units[0] && !capture->options.core_type)
        source->core_type = "ARMv7-A";
    source->id = (uint8_t)(registers[1].value & 0x7f);
    if (hw_id) {
        source->id = hw_id->id;
        about->has_sink = hw_id->has_sink;
        about->sink = hw_id->sink;
    }
    registers[1].value = source->id;
    source->has_id = source->id != 0 && source->id <= TRACE_ID_LAST;
    source->name = tw_capture_format(capture, "%s-cpu%" PRIu32, source->protocol, cpu);
    if (!source->name)
        return TW_E_MEMORY;
    /* Once the kernel tells trace IDs itself, CPUs that it does not name sent nothing. */
    if (perf->hw_id_count && !hw_id)
        return TW_OK;
    capture->source_count++;
    perf->source_count++;
    return TW_OK;
}

static const struct perf_unit *unit_of(uint64_t magic)
{
    for (const struct perf_unit *unit = perf_units; unit->magic; unit++)
        if (unit->magic == magic)
            return unit;
    return NULL;
}

/* Recorded elsewhere, or without trace: says which, as far as the file does. */
static enum tw_status fail_foreign(const struct tw_perf *perf)
{
    const struct tw_capture *capture = perf->capture;
    const char *arch = tw_perf_feature(perf, "arch");
    const bool has_arch = arch && *arch;

    if (perf->foreign)
        return tw_fail(capture->fault, TW_E_UNSUPPORTED,
                       "%s: holds no trace that is known, but %s trace%s%s; \"perf script\" "
                       "may read it",
                       capture->path, perf->foreign, has_arch ? ", recorded on " : "",
                       has_arch ? arch : "");
    return tw_fail(capture->fault, TW_E_UNSUPPORTED,
                   "%s: holds no trace that is known (no AUXTRACE_INFO record)%s%s; on Arm "
                   "\"perf record -e cs_etm//u\" records some",
                   capture->path, has_arch ? ", recorded on " : "", has_arch ? arch : "");
}

enum tw_status tw_perf_make_sources(struct tw_perf *perf)
{
    struct tw_capture *capture = perf->capture;
    const size_t words = (perf->info.size < INFO_WORDS ? 0 : perf->info.size - INFO_WORDS) / 8;
    const uint64_t version = word(perf, 0), cpus = word(perf, 1) & UINT32_MAX;
    size_t at = 3;

    if (!perf->info.size)
        return fail_foreign(perf);
    if (tw_perf_riscv_form(&perf->info) != PERF_RISCV_NONE)
        return tw_perf_make_riscv(perf);
    if (version > 2)
        return tw_fail(capture->fault, TW_E_UNSUPPORTED,
                       "%s: AUXTRACE_INFO record at offset 0x%" PRIx64 " is of version %" PRIu64
                       "; 0, 1 and 2 are known",
                       capture->path, perf->info_offset, version);
    if (cpus > words)
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s: AUXTRACE_INFO record at offset 0x%" PRIx64 " claims %" PRIu64
                       " CPUs in %zu words",
                       capture->path, perf->info_offset, cpus, words);
    perf->sources = tw_capture_keep(capture, (size_t)cpus + 1, sizeof *perf->sources);
    if (!perf->sources || !TW_GROW(capture->allocator, &capture->sources, &capture->source_room,
                                   (size_t)cpus + 1))
        return tw_capture_no_memory(capture);
    perf->clock_is_kernels = capture->options.trust_time;
    for (uint64_t i = 0; i < cpus; i++) {
        const struct perf_unit *unit = unit_of(word(perf, at));
        const size_t head = version ? 3 : 2;
        uint64_t count;

        if (at + head > words || !unit || (!version && unit == &perf_units[2]))
            return tw_fail(capture->fault, TW_E_CONFIG,
                           "%s: AUXTRACE_INFO record at offset 0x%" PRIx64
                           ": CPU block %" PRIu64 " is not understood",
                           capture->path, perf->info_offset, i);
        count = version ? word(perf, at + 2) : unit->count;
        if (count < 4 || count > words - at - head)
            return tw_fail(capture->fault, TW_E_CONFIG,
                           "%s: AUXTRACE_INFO record at offset 0x%" PRIx64
                           ": CPU block %" PRIu64 " has %" PRIu64 " words",
                           capture->path, perf->info_offset, i, count);
        TW_TRY(make_source(perf, unit, at + head, (size_t)count, (uint32_t)word(perf, at + 1)));
        at += head + (size_t)count;
    }
    return TW_OK;
}

/* Whether the pieces are of one ring buffer; and their order. */
static int compare_auxtraces(const void *a, const void *b)
{
    const struct perf_auxtrace *left = a, *right = b;

    if (left->cpu != right->cpu)
        return left->cpu < right->cpu ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return left->record < right->record ? -1 : left->record > right->record;
}

/* The last piece of a ring buffer that begins at or before an offset. */
static struct perf_auxtrace *find_auxtrace(const struct tw_perf *perf, uint32_t cpu,
                                           uint32_t tid, uint64_t offset)
{
    const struct perf_auxtrace key = {
        .cpu = cpu, .tid = tid, .offset = offset, .record = UINT64_MAX
    };
    size_t low = 0, high = perf->auxtrace_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_auxtraces(&perf->auxtraces[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || perf->auxtraces[low - 1].cpu != cpu || perf->auxtraces[low - 1].tid != tid)
        return NULL;
    return &perf->auxtraces[low - 1];
}

static enum tw_status add_block(struct tw_perf *perf, const struct perf_auxtrace *auxtrace,
                                uint64_t offset, uint64_t size, const struct perf_aux *aux)
{
    struct tw_perf_block *block;

    if (!TW_GROW(perf->capture->allocator, &perf->blocks, &perf->block_room,
                 perf->block_count + 1))
        return tw_capture_no_memory(perf->capture);
    block = &perf->blocks[perf->block_count++];
    *block = (struct tw_perf_block){ .offset = auxtrace->position + (offset - auxtrace->offset),
                                     .size = size,
                                     .aux_offset = offset,
                                     .time = aux ? aux->time : 0,
                                     .flags = aux ? aux->flags : 0,
                                     .cpu = auxtrace->cpu,
                                     .tid = auxtrace->cpu == TW_NONE ? auxtrace->tid : TW_NONE,
                                     .on_cpu = auxtrace->cpu != TW_NONE ? auxtrace->cpu
                                               : aux                    ? aux->cpu
                                                                        : TW_NONE,
                                     .stream = auxtrace->index };
    return TW_OK;
}

static enum tw_status note_loss(struct tw_perf *perf, const struct perf_aux *aux)
{
    const uint32_t flags = TW_PERF_TRUNCATED | TW_PERF_PARTIAL | TW_PERF_COLLISION;

    if (!(aux->flags & flags) && (aux->has_data || !aux->size))
        return TW_OK;
    if (!TW_GROW(perf->capture->allocator, &perf->losses, &perf->loss_room,
                 perf->loss_count + 1))
        return tw_capture_no_memory(perf->capture);
    perf->losses[perf->loss_count++] =
        (struct tw_perf_loss){ .record = aux->record,
                               .aux_offset = aux->offset,
                               .size = aux->size,
                               .time = aux->time,
                               .flags = aux->flags,
                               .cpu = aux->cpu,
                               .tid = aux->tid,
                               .has_data = aux->has_data || !aux->size };
    return TW_OK;
}

/* The block that an AUX record cuts out of the data. */
static enum tw_status cut_block(struct tw_perf *perf, struct perf_aux *aux)
{
    const bool is_end = aux->flags & TW_PERF_OVERWRITE; /* its offset is that of the end */
    const uint64_t place = is_end && aux->offset ? aux->offset - 1 : aux->offset;
    struct perf_auxtrace *auxtrace = NULL;
    uint64_t size = aux->size, start = aux->offset, left;

    if (!size)
        return note_loss(perf, aux);
    if (aux->cpu != TW_NONE)
        auxtrace = find_auxtrace(perf, aux->cpu, TW_NONE, place);
    if (!auxtrace && aux->tid != TW_NONE)
        auxtrace = find_auxtrace(perf, TW_NONE, aux->tid, place);
    if (auxtrace && is_end) {
        if (size > auxtrace->size)
            size = auxtrace->size;
        start = aux->offset - (size < aux->offset ? size : aux->offset);
        if (start < auxtrace->offset)
            start = auxtrace->offset;
    }
    if (!auxtrace || start - auxtrace->offset >= auxtrace->size)
        return note_loss(perf, aux);
    left = auxtrace->size - (start - auxtrace->offset);
    aux->has_data = size <= left;
    auxtrace->is_cut = true;
    TW_TRY(note_loss(perf, aux));
    return add_block(perf, auxtrace, start, size < left ? size : left, aux);
}

static int compare_blocks(const void *a, const void *b)
{
    const struct tw_perf_block *left = a, *right = b;

    if (left->stream != right->stream)
        return left->stream < right->stream ? -1 : 1;
    if (left->cpu != right->cpu)
        return left->cpu < right->cpu ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->aux_offset != right->aux_offset)
        return left->aux_offset < right->aux_offset ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* The file that holds the trace at an offset in the capture. */
const struct perf_part *tw_perf_part_at(const struct tw_perf *perf, uint64_t offset)
{
    size_t low = 0, high = perf->part_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (perf->parts[middle].base <= offset)
            low = middle;
        else
            high = middle;
    }
    return &perf->parts[low];
}

static enum tw_status make_buffer(struct tw_perf *perf, const struct tw_perf_block *block)
{
    struct tw_capture *capture = perf->capture;
    struct capture_buffer *buffer = &capture->buffers[capture->buffer_count];
    const bool is_cpu = block->cpu != TW_NONE;
    const bool is_raw = perf->is_unframed || (block->flags & FORMAT_MASK) == TW_PERF_RAW;
    const struct perf_part *part = tw_perf_part_at(perf, block->offset);

    *buffer = (struct capture_buffer){ .part_count = 1, .total = block->size };
    buffer->about.name =
        tw_capture_format(capture, "%s%" PRIu32 "+0x%" PRIx64, is_cpu ? "cpu" : "tid",
                          is_cpu ? block->cpu : block->tid, block->aux_offset);
    buffer->about.format = is_raw ? "raw" : "coresight";
    buffer->about.framing = is_raw ? TW_FRAMING_NONE : TW_FRAMING_MEMORY;
    buffer->about.size = block->size;
    buffer->about.offset = block->offset;
    buffer->about.files = &part->path;
    buffer->about.file_count = 1;
    buffer->parts = tw_capture_keep(capture, 1, sizeof *buffer->parts);
    if (!buffer->parts || !buffer->about.name)
        return TW_E_MEMORY;
    buffer->parts[0] =
        (struct capture_part){ .bytes = part->view.bytes + (block->offset - part->base),
                               .size = (size_t)block->size };
    capture->buffer_count++;
    return TW_OK;
}

/* Numbers the ring buffers in the order of their idx, and makes a buffer of each block. */
static enum tw_status finish_blocks(struct tw_perf *perf)
{
    struct tw_capture *capture = perf->capture;
    uint32_t stream = 0, before = 0;

    if (!TW_GROW(capture->allocator, &capture->buffers, &capture->buffer_room,
                 perf->block_count + 1))
        return tw_capture_no_memory(capture);
    if (perf->block_count)
        qsort(perf->blocks, perf->block_count, sizeof *perf->blocks, compare_blocks);
    for (size_t i = 0; i < perf->block_count; i++) {
        struct tw_perf_block *block = &perf->blocks[i];
        const uint32_t index = block->stream;

        if (i &&
            (index != before || block->cpu != block[-1].cpu || block->tid != block[-1].tid))
            stream++;
        before = index;
        block->stream = stream;
        TW_TRY(make_buffer(perf, block));
    }
    perf->stream_count = perf->block_count ? (size_t)stream + 1 : 0;
    return TW_OK;
}

enum tw_status tw_perf_make_blocks(struct tw_perf *perf)
{
    bool is_raw = false;

    for (size_t i = 0; i < perf->auxtrace_count; i++)
        if (perf->auxtraces[i].cpu != TW_NONE)
            perf->auxtraces[i].tid = TW_NONE;
    if (perf->auxtrace_count)
        qsort(perf->auxtraces, perf->auxtrace_count, sizeof *perf->auxtraces,
              compare_auxtraces);
    for (size_t i = 0; i < perf->aux_count; i++) {
        is_raw |= (perf->auxes[i].flags & FORMAT_MASK) == TW_PERF_RAW;
        TW_TRY(cut_block(perf, &perf->auxes[i]));
    }
    for (size_t i = 0; i < perf->auxtrace_count; i++) {
        const struct perf_auxtrace *auxtrace = &perf->auxtraces[i];
        const struct perf_aux none = { .flags = is_raw ? TW_PERF_RAW : 0,
                                       .time = perf->last_time,
                                       .cpu = TW_NONE };

        if (!auxtrace->is_cut && auxtrace->size)
            TW_TRY(add_block(perf, auxtrace, auxtrace->offset, auxtrace->size, &none));
    }
    return finish_blocks(perf);
}

/* The source of a raw block: that of the CPU it was made on; the first one if that is not said. */
static bool is_raw_source(const struct tw_perf *perf, size_t source, uint32_t cpu)
{
    if (perf->sources[source].cpu != cpu && cpu != TW_NONE)
        return false; /* soon said of nearly all that are asked for */
    for (size_t i = 0; i < perf->source_count; i++)
        if (perf->sources[i].cpu == cpu)
            return i == source;
    return cpu == TW_NONE && source == 0;
}

bool tw_perf_source_is_in(const struct tw_perf *perf, size_t source, size_t buffer)
{
    const struct tw_perf_block *block;
    const struct perf_hw_id *hw_id;

    if (source >= perf->source_count || buffer >= perf->block_count)
        return false;
    block = &perf->blocks[buffer];
    if (perf->is_unframed || (block->flags & FORMAT_MASK) == TW_PERF_RAW)
        return is_raw_source(perf, source, block->on_cpu);
    if (!perf->capture->sources[source].has_id)
        return false;
    hw_id = hw_id_of(perf, block->on_cpu);
    if (!hw_id || !hw_id->has_sink)
        return true;
    return perf->sources[source].has_sink && perf->sources[source].sink == hw_id->sink;
}

uint32_t tw_perf_tid(const struct tw_perf *perf, size_t source, size_t buffer,
                     const struct tw_element *context)
{
    const struct perf_source *about;

    if (source >= perf->source_count || buffer >= perf->block_count)
        return TW_NONE;
    about = &perf->sources[source];
    if (perf->blocks[buffer].tid != TW_NONE)
        return perf->blocks[buffer].tid; /* per-thread: all of it is that thread's */
    if (!context)
        return TW_NONE;
    if (about->tid_is_vmid && (context->flags & TW_CONTEXT_HAS_VMID))
        return context->vmid;
    if (about->tid_is_context && (context->flags & TW_CONTEXT_HAS_CID))
        return context->context_id;
    return TW_NONE;
}
