/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: what each record means; threads and mappings are noted, to be applied in time order. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    CORESIGHT = 3, /* type of an AUXTRACE_INFO record */
    MISC_KERNEL = 1,
    MISC_GUEST_KERNEL = 4,
    MISC_DATA = 1 << 13, /* MMAP */
    MISC_EXEC = 1 << 13, /* COMM */
    MISC_BUILD_ID = 1 << 14,
    PROT_EXEC_BIT = 4,
    HW_ID_MAX = 4096 /* an AUXTRACE_INFO record has room for fewer CPUs */
};

static const char *const record_names[] = {
    [1] = "MMAP",
    [2] = "LOST",
    [3] = "COMM",
    [4] = "EXIT",
    [5] = "THROTTLE",
    [6] = "UNTHROTTLE",
    [7] = "FORK",
    [8] = "READ",
    [9] = "SAMPLE",
    [10] = "MMAP2",
    [11] = "AUX",
    [12] = "ITRACE_START",
    [13] = "LOST_SAMPLES",
    [14] = "SWITCH",
    [15] = "SWITCH_CPU_WIDE",
    [16] = "NAMESPACES",
    [17] = "KSYMBOL",
    [18] = "BPF_EVENT",
    [19] = "CGROUP",
    [20] = "TEXT_POKE",
    [21] = "AUX_OUTPUT_HW_ID",
    [64] = "HEADER_ATTR",
    [66] = "TRACING_DATA",
    [67] = "BUILD_ID",
    [68] = "FINISHED_ROUND",
    [69] = "ID_INDEX",
    [70] = "AUXTRACE_INFO",
    [71] = "AUXTRACE",
    [72] = "AUXTRACE_ERROR",
    [73] = "THREAD_MAP",
    [74] = "CPU_MAP",
    [78] = "EVENT_UPDATE",
    [79] = "TIME_CONV",
    [80] = "FEATURE",
    [81] = "COMPRESSED",
    [82] = "FINISHED_INIT",
    [83] = "COMPRESSED2",
};

const char *tw_perf_record_name(unsigned type)
{
    return type < TW_LENGTH(record_names) ? record_names[type] : NULL;
}

static const char *file_name(const void *context, uint32_t number)
{
    const struct tw_perf *perf = context;

    return perf->files[number].name;
}

uint32_t tw_perf_file_named(struct tw_perf *perf, const char *name)
{
    struct capture_names names = { perf->file_by_name, file_name, perf };
    uint32_t number;

    if (!TW_GROW(perf->capture->allocator, &perf->files, &perf->file_room,
                 perf->file_count + 1)) {
        (void)tw_capture_no_memory(perf->capture);
        return TW_NONE;
    }
    perf->files[perf->file_count] = (struct tw_perf_file){ .name = name };
    number = tw_names_put(&names, name, (uint32_t)perf->file_count);
    perf->file_by_name = names.map;
    if (number == TW_NONE) {
        (void)tw_capture_no_memory(perf->capture);
        return TW_NONE;
    }
    if (number != perf->file_count)
        return number;
    name = tw_capture_keep_text(perf->capture, name, strlen(name));
    if (!name)
        return TW_NONE;
    perf->files[perf->file_count++].name = name;
    return number;
}

const struct tw_perf_file *tw_perf_find_file(const struct tw_perf *perf, const char *name)
{
    const struct capture_names names = { perf->file_by_name, file_name, perf };

    return tw_perf_file(perf, tw_names_find(&names, name));
}

static struct perf_event *add_event(struct tw_perf *perf, const struct perf_record *record,
                                    uint32_t type)
{
    struct perf_event *event;

    if (perf->event_count >= UINT32_MAX || !TW_GROW(perf->capture->allocator, &perf->events,
                                                    &perf->event_room, perf->event_count + 1)) {
        (void)tw_capture_no_memory(perf->capture);
        return NULL;
    }
    event = &perf->events[perf->event_count];
    *event = (struct perf_event){ .time = record->time,
                                  .order = (uint32_t)perf->event_count,
                                  .type = type,
                                  .file = TW_NONE,
                                  .record = perf->part->base + record->offset };
    perf->event_count++;
    return event;
}

bool tw_perf_may_warn(struct tw_perf *perf)
{
    enum { MOST = 100 };

    if (perf->complaints == MOST)
        (void)tw_capture_warn(perf->capture, "%s: there is more like it", perf->part->path);
    return perf->complaints++ < MOST;
}

static enum tw_status warn_record(struct tw_perf *perf, const struct perf_record *record,
                                  const char *what)
{
    const char *name = tw_perf_record_name(record->type);

    if (!tw_perf_may_warn(perf))
        return TW_OK;
    return tw_capture_warn(perf->capture, "%s: %s record at offset 0x%" PRIx64 " %s",
                           perf->part->path, name ? name : "unknown", record->offset, what);
}

static enum tw_status note_mapping(struct tw_perf *perf, const struct perf_event *event,
                                   const struct perf_record *record)
{
    const struct perf_view *view = &record->view;
    const bool is_mmap2 = record->type == PERF_MMAP2;
    const bool has_build_id = is_mmap2 && (record->misc & MISC_BUILD_ID);
    struct tw_perf_mapping *made;

    if (!TW_GROW(perf->capture->allocator, &perf->mappings, &perf->mapping_room,
                 perf->mapping_count + 1))
        return tw_capture_no_memory(perf->capture);
    made = &perf->mappings[perf->mapping_count++];
    *made = (struct tw_perf_mapping){ .pid = perf_u32(view, 8),
                                      .tid = perf_u32(view, 12),
                                      .address = event->address,
                                      .length = event->length,
                                      .offset = event->offset,
                                      .time = event->time,
                                      .protection = event->is_exec ? 5 : 1,
                                      .file = event->file,
                                      .has_build_id = has_build_id,
                                      .is_mmap2 = is_mmap2 };
    if (!is_mmap2)
        return TW_OK;
    made->protection = perf_u32(view, 64);
    made->flags = perf_u32(view, 68);
    if (!has_build_id) {
        made->major = perf_u32(view, 40);
        made->minor = perf_u32(view, 44);
        made->inode = perf_u64(view, 48);
        made->generation = perf_u64(view, 56);
    }
    return TW_OK;
}

static enum tw_status take_mmap(struct tw_perf *perf, const struct perf_record *record)
{
    const struct perf_view *view = &record->view;
    const bool is_mmap2 = record->type == PERF_MMAP2;
    const char *name = tw_perf_text(view, is_mmap2 ? 72 : 40);
    struct perf_event *event;
    const uint64_t address = perf_u64(view, 16), length = perf_u64(view, 24);
    const unsigned mode = record->misc & 7;

    if (!name)
        return warn_record(perf, record, "has no file name; it is left out");
    if (!length || mode >= MISC_GUEST_KERNEL)
        return TW_OK;
    event = add_event(perf, record, PERF_MMAP);
    if (!event)
        return TW_E_MEMORY;
    event->pid = mode == MISC_KERNEL ? TW_NONE : perf_u32(view, 8);
    event->tid = perf_u32(view, 12);
    event->address = address;
    /* The kernel's own mapping may end with the address space. */
    event->length = length - 1 > UINT64_MAX - address ? UINT64_MAX - address : length;
    event->offset = perf_u64(view, 32);
    event->is_exec =
        is_mmap2 ? perf_u32(view, 64) & PROT_EXEC_BIT : !(record->misc & MISC_DATA);
    event->file = tw_perf_file_named(perf, name);
    if (event->file == TW_NONE)
        return TW_E_MEMORY;
    if (is_mmap2 && (record->misc & MISC_BUILD_ID)) {
        const uint8_t size = (uint8_t)perf_load(view, 40, 1);
        struct tw_perf_file *file = &perf->files[event->file];

        if (size && size <= sizeof file->build_id) {
            file->build_id_size = size;
            memcpy(file->build_id, view->bytes + 44, size);
        }
    }
    return note_mapping(perf, event, record);
}

static enum tw_status take_comm(struct tw_perf *perf, const struct perf_record *record)
{
    const char *name = tw_perf_text(&record->view, 16);
    struct perf_event *event;

    if (!name)
        return warn_record(perf, record, "has no name; it is left out");
    event = add_event(perf, record, PERF_COMM);
    if (!event)
        return TW_E_MEMORY;
    event->pid = perf_u32(&record->view, 8);
    event->tid = perf_u32(&record->view, 12);
    event->is_exec = record->misc & MISC_EXEC;
    event->name = tw_capture_keep_text(perf->capture, name, strlen(name));
    return event->name ? TW_OK : TW_E_MEMORY;
}

static enum tw_status take_fork(struct tw_perf *perf, const struct perf_record *record)
{
    struct perf_event *event = add_event(perf, record, PERF_FORK);

    if (!event)
        return TW_E_MEMORY;
    event->pid = perf_u32(&record->view, 8);
    event->ppid = perf_u32(&record->view, 12);
    event->tid = perf_u32(&record->view, 16);
    event->ptid = perf_u32(&record->view, 20);
    if (!record->has_time)
        event->time = perf_u64(&record->view, 24);
    return TW_OK;
}

static enum tw_status take_poke(struct tw_perf *perf, const struct perf_record *record)
{
    const struct perf_view *view = &record->view;
    const size_t old = perf_u16(view, 16), size = perf_u16(view, 18);
    struct perf_event *event;
    char *copy;

    if (view->size < 20 || old + size > view->size - 20)
        return warn_record(perf, record, "is longer than it says; it is left out");
    if (!size)
        return TW_OK;
    event = add_event(perf, record, PERF_TEXT_POKE);
    copy = tw_capture_keep_text(perf->capture, (const char *)view->bytes + 20, old + size);
    if (!event || !copy)
        return TW_E_MEMORY;
    event->pid = TW_NONE;
    event->address = perf_u64(view, 8);
    event->length = size;
    event->bytes = (const uint8_t *)copy + old;
    event->old = old == size ? (const uint8_t *)copy : NULL;
    event->is_exec = true;
    return event->address > UINT64_MAX - size ? warn_record(perf, record, "passes all memory")
                                              : TW_OK;
}

/* Code that the kernel made while it ran: programs of its own (BPF), trampolines. */
static enum tw_status take_ksymbol(struct tw_perf *perf, const struct perf_record *record)
{
    enum { UNREGISTER = 1 };
    const struct perf_view *view = &record->view;
    const char *name = tw_perf_text(view, 24);
    const uint64_t address = perf_u64(view, 8), length = perf_u32(view, 16);
    struct perf_event *event;

    if (!name)
        return warn_record(perf, record, "has no name; it is left out");
    if (!length || address > UINT64_MAX - length || (perf_u16(view, 22) & UNREGISTER))
        return TW_OK;
    event = add_event(perf, record, PERF_MMAP);
    if (!event)
        return TW_E_MEMORY;
    event->pid = event->tid = TW_NONE;
    event->address = address;
    event->length = length;
    event->is_exec = true;
    event->file = tw_perf_file_named(perf, name);
    return event->file == TW_NONE ? TW_E_MEMORY : TW_OK;
}

static enum tw_status take_aux(struct tw_perf *perf, const struct perf_record *record)
{
    struct perf_aux *aux;

    if (record->view.size < 32)
        return warn_record(perf, record, "is too short; it is left out");
    if (!TW_GROW(perf->capture->allocator, &perf->auxes, &perf->aux_room, perf->aux_count + 1))
        return tw_capture_no_memory(perf->capture);
    if (perf_u64(&record->view, 24) & 0xfe00)
        TW_TRY(
            warn_record(perf, record, "has trace of an unknown form; it is taken as frames"));
    aux = &perf->auxes[perf->aux_count++];
    *aux = (struct perf_aux){ .offset = perf_u64(&record->view, 8),
                              .size = perf_u64(&record->view, 16),
                              .flags = (uint32_t)perf_u64(&record->view, 24),
                              .time = record->time,
                              .record = perf->part->base + record->offset,
                              .cpu = record->cpu,
                              .tid = record->tid };
    return TW_OK;
}

static enum tw_status take_auxtrace(struct tw_perf *perf, const struct perf_record *record)
{
    const struct perf_view *view = &record->view;
    struct perf_auxtrace *auxtrace;
    uint64_t left;

    if (view->size < 48)
        return warn_record(perf, record, "is too short; it is left out");
    if (!TW_GROW(perf->capture->allocator, &perf->auxtraces, &perf->auxtrace_room,
                 perf->auxtrace_count + 1))
        return tw_capture_no_memory(perf->capture);
    auxtrace = &perf->auxtraces[perf->auxtrace_count++];
    *auxtrace =
        (struct perf_auxtrace){ .position = perf->part->base + record->offset + view->size,
                                .size = perf_u64(view, 8),
                                .offset = perf_u64(view, 16),
                                .record = perf->part->base + record->offset,
                                .index = perf_u32(view, 32),
                                .tid = perf_u32(view, 36),
                                .cpu = perf_u32(view, 40) };
    left = perf->part->view.size - (record->offset + view->size);
    if (auxtrace->size > left)
        auxtrace->size = left;
    if (auxtrace->size > UINT64_MAX - auxtrace->offset)
        auxtrace->size = 0;
    return TW_OK;
}

/* Of other kinds of trace, by the kernel's numbers; NULL: it has none. */
static const char *kind_of(uint32_t type)
{
    static const char *const kinds[] = {
        NULL,      "Intel PT",      "Intel BTS",     NULL,
        "Arm SPE", "s390 sampling", "HiSilicon PTT", "VPA DTL"
    };

    return type < TW_LENGTH(kinds) ? kinds[type] : NULL;
}

static enum tw_status take_info(struct tw_perf *perf, const struct perf_record *record)
{
    const uint32_t type = perf_u32(&record->view, 8);
    const bool is_known =
        type == CORESIGHT || tw_perf_riscv_form(&record->view) != PERF_RISCV_NONE;
    const char *kind = kind_of(type);
    char *copy;

    if (!is_known && !perf->foreign)
        perf->foreign = kind ? kind : "another kind of";
    if (!is_known && !tw_perf_may_warn(perf))
        return TW_OK;
    if (!is_known)
        return tw_capture_warn(perf->capture,
                               "%s: AUXTRACE_INFO record at offset 0x%" PRIx64
                               " is of type %" PRIu32 "%s%s%s, not CoreSight or RISC-V trace",
                               perf->part->path, record->offset, type, kind ? " (" : "",
                               kind ? kind : "", kind ? ")" : "");
    if (perf->info.size)
        return TW_OK;
    copy = tw_capture_keep_text(perf->capture, (const char *)record->view.bytes,
                                record->view.size);
    if (!copy)
        return TW_E_MEMORY;
    perf->info = record->view;
    perf->info.bytes = (const uint8_t *)copy;
    perf->info_offset = record->offset;
    return TW_OK;
}

static enum tw_status take_hw_id(struct tw_perf *perf, const struct perf_record *record)
{
    const uint64_t value = perf_u64(&record->view, 8);
    const unsigned major = (unsigned)(value >> 60), minor = (unsigned)(value >> 56 & 15);
    struct perf_hw_id *made;

    if (major)
        return tw_fail(perf->capture->fault, TW_E_UNSUPPORTED,
                       "%s: AUX_OUTPUT_HW_ID record at offset 0x%" PRIx64
                       " is of version %u.%u; 0.x is known",
                       perf->part->path, record->offset, major, minor);
    if (!record->has_cpu)
        return warn_record(perf, record, "names no CPU; it is left out");
    for (size_t i = 0; i < perf->hw_id_count; i++)
        if (perf->hw_ids[i].cpu == record->cpu) {
            if (perf->hw_ids[i].id != (value & 0x7f))
                return warn_record(perf, record, "gives a CPU another trace ID than before");
            return TW_OK;
        }
    if (perf->hw_id_count == HW_ID_MAX)
        return warn_record(perf, record, "is one too many; it is left out");
    if (!TW_GROW(perf->capture->allocator, &perf->hw_ids, &perf->hw_id_room,
                 perf->hw_id_count + 1))
        return tw_capture_no_memory(perf->capture);
    made = &perf->hw_ids[perf->hw_id_count++];
    *made = (struct perf_hw_id){ .cpu = record->cpu,
                                 .sink = (uint32_t)(value >> 8),
                                 .id = (uint8_t)(value & 0x7f),
                                 .has_sink = minor >= 1 };
    return TW_OK;
}

static void take_conversion(struct tw_perf *perf, const struct perf_view *view)
{
    if (view->size < 32)
        return;
    perf->has_conversion = perf_u64(view, 8) < 64;
    perf->shift = perf_u64(view, 8);
    perf->mult = perf_u64(view, 16);
    perf->zero = perf_u64(view, 24);
    perf->has_short = view->size >= 50 && perf_load(view, 49, 1);
    perf->cycles = perf_u64(view, 32);
    perf->mask = perf_u64(view, 40);
}

static enum tw_status take_header_attr(struct tw_perf *perf, const struct perf_record *record)
{
    const uint32_t size = perf_u32(&record->view, 12); /* in the attribute itself */
    struct perf_view attr = record->view, ids = record->view;

    if (size < 64 || size > record->view.size - 8)
        return warn_record(perf, record, "is longer than it says; it is left out");
    attr.bytes += 8;
    attr.size = size;
    ids.bytes += 8 + size;
    ids.size -= 8 + size;
    return tw_perf_read_attr(perf, &attr, &ids);
}

static enum tw_status take_feature(struct tw_perf *perf, const struct perf_record *record)
{
    struct perf_view section = record->view;

    if (section.size < 16)
        return TW_OK;
    section.bytes += 16;
    section.size -= 16;
    return tw_perf_read_feature(perf, (unsigned)perf_u64(&record->view, 8), &section);
}

static enum tw_status take_error(struct tw_perf *perf, const struct perf_record *record)
{
    const struct perf_view *view = &record->view;
    const bool has_time = perf_u32(view, 28) >= 1;
    const char *text = tw_perf_text(view, has_time ? 48 : 40);

    if (!tw_perf_may_warn(perf))
        return TW_OK;
    return tw_capture_warn(perf->capture,
                           "%s: the recorder met an error at 0x%" PRIx64 " on CPU %" PRIu32
                           ": %s (record at offset 0x%" PRIx64 ")",
                           perf->part->path, perf_u64(view, 32), perf_u32(view, 16),
                           text ? text : "no text", record->offset);
}

enum tw_status tw_perf_take(struct tw_perf *perf, struct perf_record *record)
{
    switch (record->type) {
    case PERF_MMAP:
    case PERF_MMAP2:
        return take_mmap(perf, record);
    case PERF_COMM:
        return take_comm(perf, record);
    case PERF_FORK:
        return take_fork(perf, record);
    case PERF_AUX:
        return take_aux(perf, record);
    case PERF_LOST:
        perf->lost_records += perf_u64(&record->view, 16);
        return TW_OK;
    case PERF_KSYMBOL:
        return take_ksymbol(perf, record);
    case PERF_TEXT_POKE:
        return take_poke(perf, record);
    case PERF_HW_ID:
        return take_hw_id(perf, record);
    case PERF_HEADER_ATTR:
        return take_header_attr(perf, record);
    case PERF_BUILD_ID:
        return tw_perf_read_build_id(perf, &record->view);
    case PERF_AUXTRACE_INFO:
        return take_info(perf, record);
    case PERF_AUXTRACE:
        return take_auxtrace(perf, record);
    case PERF_AUXTRACE_ERROR:
        return take_error(perf, record);
    case PERF_TIME_CONV:
        take_conversion(perf, &record->view);
        return TW_OK;
    case PERF_FEATURE:
        return take_feature(perf, record);
    default:
        return TW_OK; /* nothing that the trace needs */
    }
}
