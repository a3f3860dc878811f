/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway snapshot --from: sources, registers, buffers and program memory of another capture. */
#include "commands/snapshot_from.h"

#include <inttypes.h>
#include <string.h>

#include "commands/commands.h"
#include "shared/arena.h"
#include "shared/folder.h"
#include "shared/session.h"

struct from {
    struct session session;
    struct arena arena;
    struct tw_snapshot_device *devices;
    struct tw_snapshot_buffer *buffers;
    size_t device_count, device_room, buffer_count;
    struct {
        bool has[128];
    } * ids; /* by buffer number */
    /* By image number, once they are made. */
    struct tw_snapshot_dump **dumps;
    size_t *dump_counts;
    uint64_t hidden; /* bytes of memory that another process or time has at the same place */
};

/* Bytes from `first` to `last` that a dump holds; sorted, none touches another. */
struct span {
    uint64_t first, last;
};

/* How a protocol is called there, and the register that holds its trace ID. */
static const struct {
    const char *protocol, *type, *id_register;
    unsigned id_shift;
} kinds[] = {
    { "etmv4", "ETM4", "TRCTRACEIDR", 0 },   { "ete", "ETE", "TRCTRACEIDR", 0 },
    { "etmv3", "ETM3.5", "ETMTRACEIDR", 0 }, { "ptm", "PTM1.1", "ETMTRACEIDR", 0 },
    { "itm", "ITM", "ITMTCR", 16 },          { "stm", "STM", "STMTCSR", 16 },
    { "etrace", "ETRACE2.0", "TRACEID", 0 }, { "etraced", "ETRACED", "TRACEID", 0 },
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static char *print(struct from *from, const char *format, ...) PRINTF_LIKE(2, 3);

static char *print(struct from *from, const char *format, ...)
{
    char text[300];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return arena_copy(&from->arena, text);
}

static bool add_buffer(struct from *from, size_t number)
{
    static const char *const formats[] = { [TW_FRAMING_NONE] = "source_data",
                                           [TW_FRAMING_MEMORY] = "coresight",
                                           [TW_FRAMING_TPIU] = NULL,
                                           [TW_FRAMING_TPIU_HSYNC] = NULL,
                                           [TW_FRAMING_DSTREAM] = "dstream_coresight" };
    const struct tw_buffer *about = tw_capture_buffer(from->session.capture, number);
    struct tw_snapshot_buffer *buffer = &from->buffers[from->buffer_count++];
    uint8_t *copy = NULL;
    uint64_t at = 0;

    if (!formats[about->framing]) {
        say("%s: a snapshot has no form for a TPIU's stream; \"trackway frames --split\" and "
            "\"trackway pack\" make memory frames of it",
            tw_capture_path(from->session.capture));
        return false;
    }
    *buffer = (struct tw_snapshot_buffer){ .name = about->name ? about->name : "trace",
                                           .format = formats[about->framing],
                                           .size = (size_t)about->size };
    if (about->name && strchr(about->name, '.')) /* a file's own name */
        buffer->file = about->name;
    while (at < about->size) {
        const uint8_t *bytes;
        size_t size;

        if (tw_capture_read(from->session.capture, &bytes, &size, number, at) != TW_OK)
            break;
        if (at == 0 && size == about->size) {
            buffer->bytes = bytes;
            return true;
        }
        if (!copy)
            buffer->bytes = copy = arena_room(&from->arena, buffer->size + 1);
        if (!copy)
            return false;
        memcpy(copy + at, bytes, size);
        at += size;
    }
    buffer->size = (size_t)at;
    return true;
}

/* Which trace IDs the frames of a buffer have bytes of. */
static void find_ids(struct from *from, size_t buffer)
{
    const struct tw_unframer_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(from->session.capture, buffer)->framing,
        .no_barrier = tw_capture_no_barrier(from->session.capture),
    };
    const struct tw_snapshot_buffer *made = &from->buffers[buffer];
    struct tw_unframer *unframer = NULL;

    if (config.framing != TW_FRAMING_NONE &&
        tw_unframer_new(&unframer, &config, NULL) == TW_OK &&
        tw_unframer_feed(unframer, made->bytes, made->size) == TW_OK &&
        tw_unframer_finish(unframer) == TW_OK)
        for (size_t id = 0; id < 128; id++)
            from->ids[buffer].has[id] = tw_unframer_stats(unframer)->bytes_by_id[id] != 0;
    tw_unframer_free(unframer);
}

/* Whether a buffer has bytes of this source; of the only one that is not asked. */
static bool holds(const struct from *from, size_t buffer, size_t source)
{
    const struct tw_capture *capture = from->session.capture;
    const uint8_t id = tw_capture_source(capture, source)->id;

    return tw_capture_source_is_in(capture, source, 0, (uint32_t)buffer) &&
           (from->buffer_count == 1 || from->ids[buffer].has[id & 0x7f] ||
            tw_capture_buffer(capture, buffer)->framing == TW_FRAMING_NONE);
}

/* What of a region no dump holds yet, from `first` on; false: nothing. */
static bool next_gap(const struct span *spans, size_t count, struct span *gap, uint64_t last)
{
    size_t i = 0;

    while (i < count && spans[i].last < gap->first)
        i++;
    while (i < count && spans[i].first <= gap->first) {
        if (spans[i].last >= last)
            return false;
        gap->first = spans[i].last + 1;
        i++;
    }
    gap->last = i < count && spans[i].first <= last ? spans[i].first - 1 : last;
    return true;
}

/* All from `first` to `last` is held now. */
static void cover(struct span *spans, size_t *count, uint64_t first, uint64_t last)
{
    size_t from = 0, to;

    while (from < *count && spans[from].last < first)
        from++;
    for (to = from; to < *count && spans[to].first <= last; to++) {
        first = spans[to].first < first ? spans[to].first : first;
        last = spans[to].last > last ? spans[to].last : last;
    }
    memmove(spans + from + 1, spans + to, (*count - to) * sizeof *spans);
    *count += from + 1 - to;
    spans[from] = (struct span){ first, last };
}

static bool add_dump(struct from *from, struct tw_snapshot_dump *dump, struct tw_image *image,
                     const struct tw_region *region, const struct span *part)
{
    static const char *const names[] = { "EL1N", "EL1S", "EL1R", "EL2N", "EL2S", "EL2R",
                                         "EL3",  "ROOT", "N",    "S",    "R" };
    const struct tw_view view = { .space = TW_SPACE_ANY,
                                  .context = region->context,
                                  .time = region->from };
    const size_t size = (size_t)(part->last - part->first) + 1;
    uint8_t *bytes = arena_room(&from->arena, size);

    if (!bytes)
        return false;
    *dump = (struct tw_snapshot_dump){ .bytes = bytes, .address = part->first };
    for (size_t i = 0; region->spaces && i < sizeof names / sizeof names[0]; i++) {
        uint32_t spaces;

        if (tw_space_by_name(&spaces, names[i]) && spaces == region->spaces)
            dump->space = names[i];
    }
    dump->size = tw_image_read(image, bytes, &view, part->first, size);
    dump->file = print(from, "code_%" PRIx64 "%s%s.bin", part->first, dump->space ? "_" : "",
                       dump->space ? dump->space : "");
    return dump->file;
}

/* The parts of a region that no other region hid. */
static bool dump_region(struct from *from, size_t number, const struct tw_region *region,
                        struct span *spans, size_t *span_count)
{
    struct tw_image *image = tw_capture_image(from->session.capture, number);
    struct tw_snapshot_dump *dumps = from->dumps[number];
    const uint64_t last = region->address + (region->length - 1);
    const bool has_spaces = region->spaces && region->spaces != TW_SPACE_ANY;
    struct span gap = { .first = region->address, .last = last };
    uint64_t taken = 0;

    while (taken < region->length && (has_spaces || next_gap(spans, *span_count, &gap, last))) {
        struct tw_snapshot_dump *dump = &dumps[from->dump_counts[number]];

        if (!add_dump(from, dump, image, region, &gap))
            return false;
        from->dump_counts[number] += dump->size != 0;
        taken += gap.last - gap.first + 1;
        if (gap.last == last)
            break;
        gap.first = gap.last + 1;
    }
    from->hidden += region->length - taken;
    if (!has_spaces) /* each space is apart */
        cover(spans, span_count, region->address, last);
    return true;
}

/* A snapshot has one memory for each core: of regions at the same place, seen by other processes or
   at other times, the first is taken. */
static bool dump_image(struct from *from, size_t number)
{
    const struct tw_image *image = tw_capture_image(from->session.capture, number);
    const size_t regions = tw_image_region_count(image);
    /* Each region covers all of itself, so that one more cannot be cut oftener than that. */
    struct span *spans = arena_room(&from->arena, (regions + 2) * sizeof *spans);
    size_t span_count = 0;

    from->dumps[number] =
        arena_room(&from->arena, (2 * regions + 2) * sizeof *from->dumps[number]);
    if (!spans || !from->dumps[number])
        return false;
    for (unsigned is_past = 0; is_past < 2; is_past++) /* what was there last comes first */
        for (size_t i = 0; i < regions; i++) {
            const struct tw_region *region = tw_image_region(image, i);

            if (region->length && is_past == (region->until && region->until != UINT64_MAX) &&
                !dump_region(from, number, region, spans, &span_count))
                return false;
        }
    return true;
}

static bool add_device(struct from *from, const struct tw_snapshot_device *device)
{
    if (from->device_count == from->device_room) {
        const size_t room = 2 * from->device_room + 16;
        struct tw_snapshot_device *devices =
            arena_room(&from->arena, room * sizeof *from->devices);

        if (!devices)
            return false;
        if (from->device_count)
            memcpy(devices, from->devices, from->device_count * sizeof *devices);
        from->devices = devices;
        from->device_room = room;
    }
    from->devices[from->device_count++] = *device;
    return true;
}

static bool is_riscv(const struct tw_source *source)
{
    return strncmp(source->protocol, "etrace", 6) == 0;
}

static const char *core_of(struct from *from, const struct tw_source *source, const char *name)
{
    struct tw_snapshot_device device = { .name = name,
                                         .class_name = "core",
                                         .type = source->core_type };

    if (!device.type && !is_riscv(source))
        device.type = "ARM-AA64";

    for (size_t i = 0; i < from->device_count; i++)
        if (strcmp(from->devices[i].name, name) == 0)
            return name;
    if (source->image != TW_NONE) {
        if (!from->dumps[source->image] && !dump_image(from, source->image))
            return NULL;
        device.dumps = from->dumps[source->image];
        device.dump_count = from->dump_counts[source->image];
    }
    return add_device(from, &device) ? name : NULL;
}

/* The registers, with the trace ID among them. */
static bool copy_registers(struct from *from, struct tw_snapshot_device *device,
                           const struct tw_source *source, size_t kind)
{
    struct tw_register *registers =
        arena_room(&from->arena, (source->register_count + 1) * sizeof *registers);
    bool has_id = !source->has_id || kind == KINDS;

    device->registers = registers;
    if (!registers)
        return false;
    for (size_t i = 0; i < source->register_count; i++) {
        if (strcmp(source->registers[i].name, "TS_SOURCE") == 0)
            continue; /* no register, but a word of perf's */
        registers[device->register_count++] = source->registers[i];
        has_id |=
            kind < KINDS && strcmp(source->registers[i].name, kinds[kind].id_register) == 0;
    }
    if (!has_id)
        registers[device->register_count++] =
            (struct tw_register){ kinds[kind].id_register,
                                  (uint64_t)source->id << kinds[kind].id_shift };
    return true;
}

/* Who reads a snapshot looks for a source in its first buffer alone: in each further one it is a
   source of its own, with the same registers. */
static bool add_streams(struct from *from, size_t number, struct tw_snapshot_device *device)
{
    const char *name = device->name;
    bool is_any = false;

    for (size_t i = 0; i < from->buffer_count; i++) {
        if (!holds(from, i, number))
            continue;
        device->buffers = &from->buffers[i].name;
        device->buffer_count = 1;
        if (is_any)
            device->name = print(from, "%s_%s", name, from->buffers[i].name);
        if (!device->name || !add_device(from, device))
            return false;
        is_any = true;
    }
    return is_any || add_device(from, device);
}

static bool add_source(struct from *from, size_t number)
{
    const struct tw_capture *capture = from->session.capture;
    const struct tw_source *source = tw_capture_source(capture, number);
    struct tw_snapshot_device device = { .class_name = "trace_source",
                                         .type = source->type,
                                         .text = source->text };
    const char *core = source->core;
    size_t kind = 0;

    while (kind < KINDS && source->protocol && strcmp(kinds[kind].protocol, source->protocol))
        kind++;
    if (!source->protocol || kind == KINDS) {
        say("%s: source \"%s\" is left out: a snapshot has no name for its protocol",
            tw_capture_path(capture), source->name ? source->name : "");
        return true;
    }
    if (!device.type)
        device.type = kinds[kind].type;
    /* The type gives the layout of its packets. */
    if (is_riscv(source) && source->text && strstr(source->text, "layout=seed"))
        device.type = "ETRACE1.1";
    if (!core && strcmp(kinds[kind].protocol, "stm") != 0 &&
        strcmp(kinds[kind].protocol, "itm") != 0)
        core = print(from, "cpu_%zu", number);
    device.core = core ? core_of(from, source, core) : NULL;
    device.name = source->name ? source->name : print(from, "%s_%zu", source->protocol, number);
    return (!core || device.core) && device.name &&
           copy_registers(from, &device, source, kind) && add_streams(from, number, &device);
}

static bool gather(struct from *from)
{
    const struct tw_capture *capture = from->session.capture;
    const size_t buffers = tw_capture_buffer_count(capture);
    const size_t sources = tw_capture_source_count(capture);
    const size_t images = tw_capture_image_count(capture);

    from->buffers = arena_room(&from->arena, (buffers + 1) * sizeof *from->buffers);
    from->dumps = arena_room(&from->arena, (images + 1) * sizeof *from->dumps);
    from->dump_counts = arena_room(&from->arena, (images + 1) * sizeof *from->dump_counts);
    from->ids = arena_room(&from->arena, (buffers + 1) * sizeof *from->ids);
    if (!from->buffers || !from->ids || !from->dumps || !from->dump_counts)
        return false;
    for (size_t i = 0; i < buffers; i++) {
        if (!add_buffer(from, i))
            return false;
        find_ids(from, i);
    }
    for (size_t i = 0; i < sources; i++)
        if (!add_source(from, i))
            return false;
    if (from->hidden && !from->session.options->quiet)
        say("warning: %s: %" PRIu64 " bytes of memory are left out: other processes, or other "
            "times, have something else at the same addresses",
            tw_capture_path(capture), from->hidden);
    return true;
}

static int write_it(const struct from *from, const struct options *options)
{
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .description = options->description,
                                          .devices = from->devices,
                                          .device_count = from->device_count,
                                          .buffers = from->buffers,
                                          .buffer_count = from->buffer_count,
                                          .overwrite = options->force };
    struct tw_fault fault = { TW_OK, "" };

    if (folder_snapshot(options->output, &snapshot, &fault) == TW_OK)
        return DONE;
    say("snapshot: %s", fault.text);
    return NOT_DONE;
}

int snapshot_from(const struct options *options)
{
    const char *path = options->from_capture;
    struct options copy = *options;
    struct from from = { .device_count = 0 };
    int status;

    copy.arguments = (struct list){ &path, 1 };
    status = session_open(&from.session, &copy);
    if (status == DONE && tw_capture_kind(from.session.capture) == TW_CAPTURE_SNAPSHOT)
        status = snapshot_copy(options, from.session.capture);
    else if (status == DONE)
        status = gather(&from) ? write_it(&from, options) : NOT_DONE;
    session_close(&from.session);
    arena_free(&from.arena);
    return status;
}
