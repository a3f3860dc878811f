/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline written for Perfetto beside a run that only decodes, of the same capture; and the memory
   that the timeline takes for a capture and for one of eight times its size. */
#include <trackway/formats.h>
#include <trackway/run.h>

#include "subject.h"

enum { SHORT = 4 << 20, PASSES = 5 };

/* Memory that is taken now, and was at most. */
struct writing {
    struct bench_held memory;
    struct tw_timeline *timeline; /* NULL: elements are counted */
    struct tw_timeline_writer *writer;
    uint64_t instructions, bytes, spans;
};

static bool put(void *context, const void *bytes, size_t size)
{
    struct writing *writing = context;

    (void)bytes;
    writing->bytes += size;
    return true;
}

static void put_event(void *context, const struct tw_timeline_event *event)
{
    struct writing *writing = context;

    writing->spans += event->kind == TW_TIMELINE_BEGIN;
    tw_timeline_writer_take(writing->writer, event);
}

static void count(struct writing *writing, const struct tw_part *part)
{
    for (size_t i = 0; part->kind == TW_PART_ELEMENTS && i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
            writing->instructions += part->batch.elements[i].count;
}

/* CPU time of a pass, ns. */
static uint64_t pass(struct tw_capture *capture, struct writing *writing)
{
    const struct tw_run_config config = { .size = sizeof config,
                                          .order = TW_ORDER_TIME,
                                          .threads = 1 };
    struct tw_part part = { .size = sizeof part };
    struct tw_fault fault;
    struct tw_run *run;
    enum tw_status status;
    const uint64_t start = bench_all_cpu();

    bench_need(tw_run_new(&run, capture, &config, &fault), "tw_run_new");
    while ((status = tw_run_next(run, &part)) == TW_OK) {
        if (writing->timeline)
            bench_need(tw_timeline_take(writing->timeline, run, &part), "tw_timeline_take");
        else
            count(writing, &part);
    }
    if (status != TW_END)
        bench_stop("%s", tw_run_fault(run));
    if (writing->timeline) {
        bench_need(tw_timeline_finish(writing->timeline), "tw_timeline_finish");
        bench_need(tw_timeline_writer_end(writing->writer), "tw_timeline_writer_end");
    }
    tw_run_free(run);
    return bench_all_cpu() - start;
}

static uint64_t export(struct tw_capture *capture, struct writing *writing)
{
    const struct tw_allocator allocator = { bench_resize, &writing->memory };
    const struct tw_timeline_config config = {
        .size = sizeof config, .event = put_event, .context = writing, .allocator = &allocator
    };
    struct tw_subject subject = { .size = sizeof subject };
    struct tw_fault fault;
    uint64_t took;

    *writing = (struct writing){ .spans = 0 };
    bench_need(tw_timeline_new(&writing->timeline, &config, &fault), "tw_timeline_new");
    subject.timeline = writing->timeline;
    bench_need(tw_timeline_writer_new(&writing->writer,
                                      tw_format_by_name("perfetto", TW_SUBJECT_TIMELINE),
                                      &subject, put, writing, &fault),
               "tw_timeline_writer_new");
    took = pass(capture, writing);
    tw_timeline_writer_free(writing->writer);
    tw_timeline_free(writing->timeline);
    return took;
}

static void remember(const struct bench_held *shorter, const char *folder)
{
    struct tw_capture *capture;
    struct tw_fault fault;
    struct writing writing;

    bench_need(tw_capture_open(&capture, folder, NULL, &fault), fault.text);
    (void)export(capture, &writing);
    tw_capture_free(capture);
    bench_result("timeline/memory", (double)writing.memory.most / (double)shorter->most,
                 "  %.2f MiB, %.2f MiB for eight times the trace",
                 (double)shorter->most / 1048576, (double)writing.memory.most / 1048576);
}

static struct bench_held compare(const char *name, const char *folder)
{
    struct writing plain = { .spans = 0 }, writing;
    uint64_t decode = UINT64_MAX, written = UINT64_MAX;
    struct tw_capture *capture;
    struct tw_fault fault;

    bench_need(tw_capture_open(&capture, folder, NULL, &fault), fault.text);
    for (unsigned i = 0; i < (bench_is_quick() ? 1 : PASSES); i++) {
        uint64_t took;

        plain = (struct writing){ .spans = 0 };
        took = pass(capture, &plain);
        decode = took < decode ? took : decode;
        took = export(capture, &writing);
        written = took < written ? took : written;
    }
    tw_capture_free(capture);
    bench_result(name, (double)decode / (double)written,
                 "  decode %.1f ms, with export %.1f ms; %llu spans, %llu instructions",
                 (double)decode / 1e6, (double)written / 1e6, (unsigned long long)writing.spans,
                 (unsigned long long)plain.instructions);
    return writing.memory;
}

/* Writes a snapshot that is made up: the same trace so many times. */
static void make(char *path, size_t room, const char *folder, unsigned times)
{
    struct subject subject;

    if (!subject_open(&subject, "made/etmv4,mib=4"))
        bench_stop("the capture could not be made");
    subject_repeat(&subject, (size_t)times * SHORT);
    (void)snprintf(path, room, "%s/%u", folder, times);
    subject_write(&subject, path);
    subject_free(&subject);
}

int main(void)
{
    char folder[300], shorter[700], longer[700];
    struct bench_held memory;

    (void)puts(
        "# timeline: time of a run that decodes by that of one that writes a timeline too");
    bench_pin();
    bench_make_folder(folder, sizeof folder);
    make(shorter, sizeof shorter, folder, 1);
    make(longer, sizeof longer, folder, 8);
    memory = compare("timeline/export", shorter);
    remember(&memory, longer);
    bench_remove_folder(folder);
    return 0;
}
