/* SPDX-License-Identifier: BSD-2-Clause */
/* Subjects in other shapes: longer, under more trace IDs, with other regions, as a folder. */
#include "subject.h"

enum { PAGE = 4096, RUN = 14, BURST = 240 };

void subject_repeat(struct subject *subject, size_t bytes)
{
    /* Frames that reset all IDs stand between. */
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    const size_t gap = subject->framing == TW_FRAMING_NONE ? 0 : sizeof barrier;
    const size_t copies = bytes > subject->size ? bytes / subject->size : 1;
    uint8_t *data = subject_own(subject, bench_allocate(copies * (subject->size + gap)));
    size_t size = 0;

    for (size_t i = 0; i < copies; i++) {
        memcpy(data + size, barrier, gap);
        memcpy(data + size + gap, subject->data, subject->size);
        size += gap + subject->size;
    }
    subject->data = data;
    subject->size = size;
    subject->instructions *= copies;
    subject->slack *= copies;
}

/* ---- trace IDs ---- */

static uint8_t id_of(const struct tw_tree_source *source)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, "TRCTRACEIDR") == 0)
            return (uint8_t)source->registers[i].value;
    return source->id;
}

/* The stream of the first source, alone. */
static uint8_t *take_stream(const struct subject *subject, size_t *size)
{
    const uint8_t id = id_of(&subject->sources[0]);
    struct tw_unframer_config config = { .size = sizeof config, .framing = subject->framing };
    struct tw_unframer *unframer;
    struct tw_stream stream;
    uint8_t *bytes;

    config.wanted[id / 64] = (uint64_t)1 << id % 64;
    bench_need(tw_unframer_new(&unframer, &config, NULL), "unframer");
    bench_need(tw_unframer_feed(unframer, subject->data, subject->size), "unframer");
    stream = tw_unframer_stream(unframer, id);
    bytes = bench_allocate(stream.size);
    memcpy(bytes, stream.bytes, stream.size);
    *size = stream.size;
    tw_unframer_free(unframer);
    return bytes;
}

/* The next A-sync of ETMv4 from `at` on, or the end. */
static size_t find_sync(const uint8_t *bytes, size_t size, size_t at)
{
    unsigned zeros = 0;

    for (size_t i = at; i < size; i++) {
        if (zeros >= 11 && bytes[i] == 0x80)
            return i - 11;
        zeros = bytes[i] ? 0 : zeros + 1;
    }
    return size;
}

static void name_source(struct subject *subject, unsigned number, uint8_t id)
{
    const struct tw_tree_source *first = &subject->sources[0];
    struct tw_register *registers =
        bench_allocate(first->register_count * sizeof *registers); /* never freed */

    memcpy(registers, first->registers, first->register_count * sizeof *registers);
    for (size_t i = 0; i < first->register_count; i++)
        if (strcmp(registers[i].name, "TRCTRACEIDR") == 0)
            registers[i].value = id;
    subject->sources[number] = *first;
    subject->sources[number].registers = registers;
    subject->sources[number].id = id;
}

static struct tw_framer *begin_frames(const struct subject *subject, unsigned ids)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_framer *framer;

    if (ids > SUBJECT_SOURCES || subject->framing == TW_FRAMING_NONE ||
        (strcmp(subject->protocol, "etmv4") != 0 && strcmp(subject->protocol, "ete") != 0))
        bench_stop("%s cannot come under %u IDs", subject->name, ids);
    bench_need(tw_framer_new(&framer, &config, NULL), "framer");
    return framer;
}

/* The frames take the place of the trace, and IDs from 1 on that of its sources. */
static void end_frames(struct subject *subject, struct tw_framer *framer, unsigned ids)
{
    const uint8_t *out;
    uint8_t *data;

    bench_need(tw_framer_finish(framer), "framer");
    out = tw_framer_output(framer, &subject->size);
    data = subject_own(subject, bench_allocate(subject->size));
    memcpy(data, out, subject->size);
    subject->data = data;
    tw_framer_free(framer);
    for (unsigned i = ids; i-- > 0;)
        name_source(subject, i, (uint8_t)(1 + i));
    subject->source_count = ids;
}

void subject_spread(struct subject *subject, unsigned ids)
{
    struct tw_framer *framer = begin_frames(subject, ids);
    size_t size, from[SUBJECT_SOURCES], end[SUBJECT_SOURCES], left;
    uint8_t *bytes = take_stream(subject, &size);

    for (unsigned i = 0; i < ids; i++) {
        from[i] = find_sync(bytes, size, size / ids * i);
        end[i] = i + 1 < ids ? find_sync(bytes, size, size / ids * (i + 1)) : size;
    }
    do {
        left = 0;
        for (unsigned i = 0; i < ids; i++) {
            const size_t run = end[i] - from[i] < RUN ? end[i] - from[i] : RUN;

            bench_need(tw_framer_write(framer, (uint8_t)(1 + i), bytes + from[i], run),
                       "framer");
            from[i] += run;
            left += end[i] - from[i];
        }
    } while (left);
    free(bytes);
    end_frames(subject, framer, ids);
    subject->instructions = 0; /* some are lost at the cuts */
}

void subject_multiply(struct subject *subject, unsigned ids)
{
    struct tw_framer *framer = begin_frames(subject, ids);
    size_t size;
    uint8_t *bytes = take_stream(subject, &size);

    for (size_t at = 0; at < size; at += BURST)
        for (unsigned i = 0; i < ids; i++)
            bench_need(tw_framer_write(framer, (uint8_t)(1 + i), bytes + at,
                                       size - at < BURST ? size - at : BURST),
                       "framer");
    free(bytes);
    end_frames(subject, framer, ids);
}

/* ---- regions ---- */

static void add_region(struct tw_image *image, const struct subject_dump *dump)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = dump->address,
                                      .length = dump->length,
                                      .spaces = dump->spaces };

    bench_need(tw_image_add(image, &region, dump->bytes), "image");
}

void subject_split_code(struct subject *subject)
{
    struct tw_image *image;
    struct subject_dump *pieces;
    size_t count = 0;

    for (size_t i = 1; i < subject->source_count; i++)
        if (subject->sources[i].image != subject->sources[0].image)
            bench_stop("%s has several images", subject->name);
    for (size_t i = 0; i < subject->dump_count; i++)
        count += (size_t)(subject->dumps[i].length / PAGE) + 1;
    pieces = bench_allocate(count * sizeof *pieces);
    bench_need(tw_image_new(&image, NULL, NULL), "image");
    count = 0;
    for (size_t i = 0; i < subject->dump_count; i++)
        for (uint64_t at = 0; at < subject->dumps[i].length; at += PAGE) {
            const uint64_t left = subject->dumps[i].length - at;

            pieces[count] = subject->dumps[i];
            pieces[count].address += at;
            pieces[count].bytes += at;
            pieces[count].length = left < PAGE ? left : PAGE;
            add_region(image, &pieces[count++]);
        }
    tw_image_free(subject->image);
    free(subject->dumps);
    subject->image = image;
    subject->dumps = pieces;
    subject->dump_count = count;
    for (size_t i = 0; i < subject->source_count; i++)
        subject->sources[i].image = image;
}

void subject_add_regions(struct subject *subject, unsigned count)
{
    static const uint8_t nothing[PAGE];
    const size_t before = subject->dump_count;
    struct subject_dump *dumps = bench_allocate((before + count) * sizeof *dumps);

    memcpy(dumps, subject->dumps, before * sizeof *dumps);
    for (unsigned i = 0; i < count; i++) {
        struct subject_dump *dump = &dumps[before + i];

        dump->address = 0x500000000000u + i * (uint64_t)0x10000;
        dump->length = PAGE;
        dump->bytes = nothing;
        for (size_t j = 0; j < subject->source_count; j++) {
            bool is_done = false;

            for (size_t k = 0; k < j; k++)
                is_done |= subject->sources[k].image == subject->sources[j].image;
            if (!is_done)
                add_region(subject->sources[j].image, dump);
        }
    }
    free(subject->dumps);
    subject->dumps = dumps;
    subject->dump_count = before + count;
}

/* ---- files ---- */

void subject_write(const struct subject *subject, const char *folder)
{
    const bool is_riscv = strcmp(subject->protocol, "etrace") == 0;
    const char *const buffers[] = { "buffer" };
    const struct tw_snapshot_buffer buffer = { .name = "buffer",
                                               .format = subject->framing == TW_FRAMING_NONE
                                                             ? "source_data"
                                                             : "coresight",
                                               .bytes = subject->data,
                                               .size = subject->size };
    struct tw_snapshot_dump *dumps = bench_allocate(subject->dump_count * sizeof *dumps);
    char(*files)[32] = bench_allocate(subject->dump_count * sizeof *files);
    const struct tw_tree_source *source = &subject->sources[0];
    const struct tw_snapshot_device devices[] = {
        { .name = "cpu_0",
          .class_name = "core",
          .type = source->core_type,
          .dumps = dumps,
          .dump_count = subject->dump_count },
        { .name = "source_0",
          .class_name = "trace_source",
          .type = is_riscv                                  ? "etrace"
                  : strcmp(subject->protocol, "etmv4") == 0 ? "ETM4.5"
                  : strcmp(subject->protocol, "ete") == 0   ? "ETE"
                  : strcmp(subject->protocol, "ptm") == 0   ? "PTM1.1"
                                                            : "ETM3.5",
          .registers = source->registers,
          .register_count = source->register_count,
          .core = "cpu_0",
          .buffers = buffers,
          .buffer_count = 1,
          .text = source->text },
    };
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .devices = devices,
                                          .device_count = 2,
                                          .buffers = &buffer,
                                          .buffer_count = 1,
                                          .overwrite = true };
    struct tw_fault fault;

    for (size_t i = 0; i < subject->dump_count; i++) {
        (void)snprintf(files[i], sizeof files[i], "code_%zu.bin", i);
        dumps[i] = (struct tw_snapshot_dump){ .file = files[i],
                                              .bytes = subject->dumps[i].bytes,
                                              .size = (size_t)subject->dumps[i].length,
                                              .address = subject->dumps[i].address };
    }
    if (tw_snapshot_write(folder, &snapshot, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    free(files);
    free(dumps);
}
