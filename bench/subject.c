/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of the corpus as subjects. */
#include "subject.h"

#include <inttypes.h>

#include "make.h"

void *subject_own(struct subject *subject, void *memory)
{
    if (subject->owned_count == SUBJECT_OWNED)
        bench_stop("a subject owns too much");
    subject->owned[subject->owned_count++] = memory;
    return memory;
}

void subject_free(struct subject *subject)
{
    for (size_t i = 0; i < subject->owned_count; i++)
        free(subject->owned[i]);
    free(subject->dumps);
    tw_capture_free(subject->capture);
    tw_image_free(subject->image);
    memset(subject, 0, sizeof *subject);
}

void subject_check(const struct subject *subject, const struct bench_counts *counts)
{
    const uint64_t more = counts->instructions > subject->instructions
                              ? counts->instructions - subject->instructions
                              : subject->instructions - counts->instructions;

    if (subject->instructions && more > subject->slack)
        bench_stop("%s: %" PRIu64 " instructions instead of %" PRIu64, subject->name,
                   counts->instructions, subject->instructions);
}

static void add_dumps(struct subject *subject)
{
    size_t count = 0;

    for (size_t i = 0; i < tw_capture_device_count(subject->capture); i++)
        count += tw_capture_device(subject->capture, i)->dump_count;
    subject->dumps = bench_allocate(count * sizeof *subject->dumps);
    for (size_t i = 0; i < tw_capture_device_count(subject->capture); i++) {
        const struct tw_device *device = tw_capture_device(subject->capture, i);

        for (size_t j = 0; j < device->dump_count; j++)
            if (device->dumps[j].length)
                subject->dumps[subject->dump_count++] =
                    (struct subject_dump){ .address = device->dumps[j].address,
                                           .length = device->dumps[j].length,
                                           .bytes = device->dumps[j].bytes,
                                           .spaces = device->dumps[j].spaces };
    }
}

/* The sources in the buffer; of these protocols alone unless it is NULL. */
static void add_sources(struct subject *subject, uint32_t buffer, const char *protocols)
{
    const struct tw_capture *capture = subject->capture;

    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *from = tw_capture_source(capture, i);

        if (!from->protocol || (protocols && !strstr(protocols, from->protocol)) ||
            !tw_capture_source_is_in(capture, i, 0, buffer) ||
            subject->source_count == SUBJECT_SOURCES)
            continue;
        subject->sources[subject->source_count++] = (struct tw_tree_source){
            .size = sizeof(struct tw_tree_source),
            .protocol = from->protocol,
            .registers = from->registers,
            .register_count = from->register_count,
            .type = from->type,
            .core_type = from->core_type,
            .text = from->text,
            .id = from->id,
            .image = from->image == TW_NONE ? NULL : tw_capture_image(capture, from->image),
        };
    }
    if (!subject->source_count)
        bench_stop("%s has no source", subject->name);
    subject->protocol = subject->sources[0].protocol;
}

/* The source with the most bytes comes first: it is the one whose frames are unpacked alone. */
static void put_busiest_first(struct subject *subject)
{
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = subject->framing };
    struct tw_tree_source first = subject->sources[0];
    const struct tw_frame_stats *stats;
    struct tw_unframer *unframer;
    size_t most = 0;

    if (subject->framing == TW_FRAMING_NONE)
        return;
    bench_need(tw_unframer_new(&unframer, &config, NULL), "unframer");
    bench_need(tw_unframer_feed(unframer, subject->data, subject->size), "unframer");
    stats = tw_unframer_stats(unframer);
    for (size_t i = 1; i < subject->source_count; i++)
        if (stats->bytes_by_id[subject->sources[i].id] >
            stats->bytes_by_id[subject->sources[most].id])
            most = i;
    subject->sources[0] = subject->sources[most];
    subject->sources[most] = first;
    tw_unframer_free(unframer);
}

static void take_buffer(struct subject *subject, uint32_t buffer)
{
    subject->framing = tw_capture_buffer(subject->capture, buffer)->framing;
    bench_need(tw_capture_read(subject->capture, &subject->data, &subject->size, buffer, 0),
               subject->name);
}

static bool open_snapshot(struct subject *subject, const char *what)
{
    char name[100], path[700];
    struct tw_fault fault;
    char *protocols, *buffer_name;
    uint32_t buffer = 0;

    (void)snprintf(name, sizeof name, "%s", what);
    protocols = strchr(name, '#');
    buffer_name = strchr(name, ':');
    if (protocols)
        *protocols++ = 0;
    if (buffer_name)
        *buffer_name++ = 0;
    if (!bench_corpus(path, sizeof path, "coresight/snapshots/%s/snapshot.ini", name))
        return false;
    if (tw_capture_open(&subject->capture, path, NULL, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    if (buffer_name)
        buffer = tw_capture_buffer_by_name(subject->capture, buffer_name);
    (void)snprintf(subject->name, sizeof subject->name, "%s", name);
    take_buffer(subject, buffer);
    add_sources(subject, buffer, protocols);
    put_busiest_first(subject);
    add_dumps(subject);
    return true;
}

/* What a case's description says. */
static void read_case(struct subject *subject, char *program, size_t room, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "program=", 8) == 0)
            (void)snprintf(program, room, "%s", line + 8);
        else if (strncmp(line, "instructions=", 13) == 0)
            subject->instructions = strtoull(line + 13, NULL, 10);
    }
    if (file)
        (void)fclose(file);
}

static bool open_riscv(struct subject *subject, const char *name)
{
    char config[700], trace[700], image[700], program[256] = "";
    const struct tw_capture_source_option source = { .protocol = "etrace", .config = config };
    const struct tw_capture_image_option code = { .path = image };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1,
                                                .images = &code,
                                                .image_count = 1 };
    struct tw_fault fault;

    if (!bench_corpus(config, sizeof config, "riscv/cases/%s/case.txt", name))
        return false;
    read_case(subject, program, sizeof program, config);
    (void)bench_corpus(trace, sizeof trace, "riscv/cases/%s/trace.bin", name);
    (void)bench_corpus(image, sizeof image, "riscv/programs/%s/image.txt", program);
    if (tw_capture_open(&subject->capture, trace, &options, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    (void)snprintf(subject->name, sizeof subject->name, "%s", name);
    take_buffer(subject, 0);
    add_sources(subject, 0, NULL);
    return true;
}

bool subject_open(struct subject *subject, const char *what)
{
    memset(subject, 0, sizeof *subject);
    if (strncmp(what, "made/", 5) == 0) {
        make_subject(subject, what + 5);
        return true;
    }
    if (strncmp(what, "riscv/", 6) == 0)
        return open_riscv(subject, what + 6);
    return open_snapshot(subject, what);
}
