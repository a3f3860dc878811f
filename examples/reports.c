/* SPDX-License-Identifier: BSD-2-Clause */
/* reports runs|stats|autofdo PERF.DATA SYSROOT: what three commands of the tool print, made with the
   public headers alone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <trackway/analysis.h>

/* What is done with every part of a run. */
typedef enum tw_status take_fn(void *context, const struct tw_part *part);

static enum tw_status run_all(struct tw_capture *capture, enum tw_order order, take_fn *take,
                              void *context)
{
    const struct tw_run_config config = { .size = sizeof config, .order = order };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    enum tw_status status = tw_run_new(&run, capture, &config, NULL);

    while (status == TW_OK && (status = tw_run_next(run, &part)) == TW_OK)
        status = take(context, &part);
    tw_run_free(run);
    return status == TW_END ? TW_OK : status;
}

/* decode --format runs: straight runs of each CPU and thread. */
struct straight {
    uint32_t cpu, tid;
    uint64_t first, next, count;
};

static void print_run(struct straight *run)
{
    if (run->count)
        printf("%" PRIu32 " %" PRId32 " 0x%" PRIx64 " %" PRIu64 "\n", run->cpu,
               (int32_t)run->tid, run->first, run->count);
    run->count = 0;
}

static enum tw_status take_runs(void *context, const struct tw_part *part)
{
    struct straight *run = context;

    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *range = &part->batch.elements[i];

        if (range->type != TW_ELEMENT_INSTR_RANGE || !range->count)
            continue;
        if (range->start != run->next || part->who.cpu != run->cpu || part->who.tid != run->tid)
            print_run(run);
        if (!run->count)
            *run = (struct straight){ part->who.cpu, part->who.tid, range->start, 0, 0 };
        run->count += range->count;
        run->next = tw_element_end(range);
    }
    return TW_OK;
}

static enum tw_status print_runs(struct tw_capture *capture)
{
    struct straight run = { 0 };
    enum tw_status status;

    puts("# cpu tid first_pc instructions");
    status = run_all(capture, TW_ORDER_TIME, take_runs, &run);
    print_run(&run);
    return status;
}

/* stats --format jsonl. */
static void print_source(const struct tw_source_statistics *s, bool has_several)
{
    char buffer[200] = "";

    if (has_several)
        (void)snprintf(buffer, sizeof buffer, ",\"buf\":\"%s\"", s->buffer);
    for (size_t i = 0; i < s->type_count; i++)
        printf("{\"id\":%u,\"t\":\"PACKETS\"%s,\"type\":\"%s\",\"packets\":%" PRIu64
               ",\"bytes\":%" PRIu64 "}\n",
               s->id, buffer, s->types[i].name, s->types[i].packets, s->types[i].bytes);
    printf("{\"id\":%u,\"t\":\"SOURCE\"%s,\"protocol\":\"%s\",\"bytes\":%" PRIu64
           ",\"packets\":%" PRIu64 ",\"syncs\":%" PRIu64 ",\"sync_least\":%" PRIu64
           ",\"sync_most\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"exceptions\":%" PRIu64
           ",\"missing\":%" PRIu64 ",\"cycles\":%" PRIu64,
           s->id, buffer, s->protocol, s->bytes, s->packets, s->syncs, s->sync_least,
           s->sync_most, s->instructions, s->exceptions, s->missing, s->cycles);
    if (s->timestamps)
        printf(",\"timestamps\":%" PRIu64 ",\"ts_first\":%" PRIu64 ",\"ts_last\":%" PRIu64,
               s->timestamps, s->first_time, s->last_time);
    printf(",\"bad\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"overflows\":%" PRIu64
           ",\"discards\":%" PRIu64 ",\"unsynced\":%" PRIu64 "}\n",
           s->bad, s->errors, s->overflows, s->discards, s->unsynced);
}

static enum tw_status print_stats(struct tw_capture *capture)
{
    struct tw_run_config config = { .size = sizeof config, .packets_only = true };
    struct tw_source_statistics source = { .size = sizeof source };
    struct tw_statistics *statistics;
    struct tw_run *packets = NULL, *elements = NULL;
    enum tw_status status = tw_statistics_new(&statistics, capture, NULL, NULL);

    if (status == TW_OK)
        status = tw_run_new(&packets, capture, &config, NULL);
    config = (struct tw_run_config){ .size = sizeof config, .keeps_failed = true };
    config.counter = status == TW_OK ? tw_statistics_counter(statistics) : NULL;
    if (status == TW_OK)
        status = tw_run_new(&elements, capture, &config, NULL);
    if (status == TW_OK) {
        tw_statistics_begin_packets(statistics, packets, true);
        status = tw_run_all(elements);
        if (tw_statistics_end_packets(statistics) != TW_OK)
            status = TW_E_FILE;
    }
    for (size_t i = 0; status == TW_OK && tw_statistics_source(statistics, &source, i); i++)
        if (source.packets)
            print_source(&source, tw_capture_buffer_count(capture) > 1);
    tw_run_free(elements);
    tw_run_free(packets);
    tw_statistics_free(statistics);
    return status;
}

/* branches --format autofdo. */
static enum tw_status take_autofdo(void *context, const struct tw_part *part)
{
    return tw_autofdo_take(context, part);
}

static bool write_text(void *context, const char *text, size_t size)
{
    return fwrite(text, 1, size, context) == size;
}

static enum tw_status print_autofdo(struct tw_capture *capture)
{
    struct tw_autofdo *autofdo;
    enum tw_status status = tw_autofdo_new(&autofdo, capture, NULL, NULL);
    size_t file = SIZE_MAX;

    if (status == TW_OK)
        status = run_all(capture, TW_ORDER_TIME, take_autofdo, autofdo);
    if (status == TW_OK)
        file = tw_autofdo_choose(autofdo, NULL);
    if (file != SIZE_MAX)
        status = tw_autofdo_write(autofdo, file, write_text, stdout);
    tw_autofdo_free(autofdo);
    return file == SIZE_MAX ? TW_E_FILE : status;
}

int main(int count, char **words)
{
    struct tw_capture_options options = { .size = sizeof options };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_capture *capture;
    enum tw_status status = TW_E_ARGUMENT;

    if (count != 4)
        return 2;
    options.sysroot = words[3];
    if (tw_capture_open(&capture, words[2], &options, &fault) != TW_OK) {
        fprintf(stderr, "%s\n", fault.text);
        return 3;
    }
    if (strcmp(words[1], "runs") == 0)
        status = print_runs(capture);
    else if (strcmp(words[1], "stats") == 0)
        status = print_stats(capture);
    else if (strcmp(words[1], "autofdo") == 0)
        status = print_autofdo(capture);
    tw_capture_free(capture);
    return status == TW_OK ? 0 : 3;
}
