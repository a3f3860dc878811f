/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs of any bytes through the trace unit of any protocol.  What it makes is the same each time, has no bad
   packet, and is decoded to the same elements whole and in pieces.
   Input: lines "protocol NAME", "preset NAME", "first N", "last N", "register NAME=VALUE", "choice NAME=VALUE",
   "parameters NAME=VALUE,NAME=VALUE", "piece N", "time N"; a file "log", and "image" for logs without opcodes. */
#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "bundle.h"
#include "kept.h"

enum { REGISTERS = 16, LOG_MOST = 16384, MADE_MOST = 1 << 18, CYCLES_MOST = 4096 };

struct settings {
    struct tw_register registers[REGISTERS], choices[REGISTERS];
    char names[2 * REGISTERS][BUNDLE_NAME];
    size_t name_count;
    char parameters[1024];
    struct tw_unit_config config;
};

static size_t read_registers(struct settings *settings, struct tw_register *registers,
                             const struct bundle *bundle, const char *word)
{
    size_t from = 0, count = 0;
    const char *line;

    while (count < REGISTERS && (line = bundle_says(bundle, word, &from))) {
        char *name = settings->names[settings->name_count];
        const size_t length = strcspn(line, "=");

        if (line[length] != '=' || length >= BUNDLE_NAME)
            continue;
        memcpy(name, line, length);
        name[length] = 0;
        settings->name_count++;
        registers[count].name = name;
        registers[count++].value = strtoull(line + length + 1, NULL, 0);
    }
    return count;
}

static void read_settings(struct settings *settings, const struct bundle *bundle)
{
    const char *parameters = bundle_word(bundle, "parameters");

    memset(settings, 0, sizeof *settings);
    settings->config.size = sizeof settings->config;
    settings->config.protocol = bundle_word(bundle, "protocol");
    settings->config.preset = bundle_word(bundle, "preset");
    settings->config.first = bundle_number(bundle, "first");
    settings->config.last = bundle_number(bundle, "last");
    settings->config.repeats_most = 20000;
    settings->config.registers = settings->registers;
    settings->config.register_count =
        read_registers(settings, settings->registers, bundle, "register");
    settings->config.choices = settings->choices;
    settings->config.choice_count =
        read_registers(settings, settings->choices, bundle, "choice");
    if (parameters && strlen(parameters) < sizeof settings->parameters) {
        (void)strcpy(settings->parameters, parameters);
        for (char *comma = settings->parameters; (comma = strchr(comma, ','));)
            *comma = '\n';
        settings->config.parameters = settings->parameters;
    }
}

/* Logs in which little is said with few bytes would take long. */
static bool is_long(const uint8_t *log, size_t size)
{
    static const char *const words[] = { "\ncycles ", "\nclock " };
    char *text = calloc(1, size + 1);
    bool is_found = false;

    require(text != NULL);
    memcpy(text, log, size);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (const char *at = text; (at = strstr(at, words[i]));) {
            at += strlen(words[i]);
            is_found = is_found || strtoull(at, NULL, 0) > CYCLES_MOST;
        }
    free(text);
    return is_found;
}

static struct tw_unit *encode(const struct settings *settings, const uint8_t *log, size_t size)
{
    struct tw_fault fault = { .text = "" };
    struct tw_unit *unit;

    if (tw_unit_new(&unit, &settings->config, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        return NULL;
    }
    if (tw_unit_log_memory(unit, log, size) != TW_OK || tw_unit_finish(unit) != TW_OK) {
        require(tw_unit_fault(unit)[0] != 0);
        tw_unit_free(unit);
        return NULL;
    }
    return unit;
}

static struct tw_image *image_of(struct tw_unit *unit)
{
    struct tw_snapshot snapshot = { .size = sizeof snapshot };
    struct tw_image *image;

    require(tw_image_new(&image, NULL, NULL) == TW_OK);
    if (tw_unit_snapshot(unit, &snapshot, true) != TW_OK)
        return image;
    for (size_t i = 0; i < snapshot.device_count; i++)
        for (size_t k = 0; k < snapshot.devices[i].dump_count; k++) {
            const struct tw_snapshot_dump *dump = &snapshot.devices[i].dumps[k];
            const struct tw_region region = { .size = sizeof region,
                                              .address = dump->address,
                                              .length = dump->size };

            if (dump->bytes && dump->size) /* code that changed: the first stays */
                (void)!tw_image_add(image, &region, dump->bytes);
        }
    return image;
}

static struct tw_tree_source source_of(const struct tw_unit *unit, bool is_data,
                                       struct tw_image *image)
{
    const struct tw_unit_trace *trace = tw_unit_trace(unit);

    return (struct tw_tree_source){ .size = sizeof(struct tw_tree_source),
                                    .protocol = is_data ? "etraced" : tw_unit_name(unit),
                                    .registers = trace->registers,
                                    .register_count = trace->register_count,
                                    .core_type = trace->core_type,
                                    .text = is_data ? trace->data_text : trace->text,
                                    .id = trace->id,
                                    .image = image };
}

static void add_up(uint64_t *sum, struct tw_tree *tree)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            *sum =
                (*sum ^ batch.elements[i].index << 8 ^ batch.elements[i].type) * 0x100000001b3;
}

/* A sum over all elements, in which their order counts. */
static uint64_t decode(const struct tw_tree_source *source, const uint8_t *bytes, size_t size,
                       size_t piece, uint32_t threads)
{
    const struct tw_tree_config config = {
        .size = sizeof config, .range_limit = 1000, .threads = threads, .segment_size = 64
    };
    struct tw_tree *tree;
    uint64_t sum = 0;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(tree, NULL, source) == TW_OK);
    for (size_t at = 0; at < size; at += piece) {
        require(tw_tree_feed(tree, bytes + at, size - at < piece ? size - at : piece) == TW_OK);
        add_up(&sum, tree);
    }
    require(tw_tree_finish(tree) == TW_OK);
    add_up(&sum, tree);
    tw_tree_free(tree);
    return sum;
}

static void list(const struct tw_tree_source *source, const uint8_t *bytes, size_t size)
{
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_packet_view view = { .size = sizeof view };
    char line[1024];
    struct tw_tree *tree;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(tree, NULL, source) == TW_OK);
    require(tw_tree_feed(tree, bytes, size) == TW_OK && tw_tree_finish(tree) == TW_OK);
    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        require(!view.is_bad);
        require(tw_packet_text(line, sizeof line, &view) > 0);
        require(tw_packet_json(line, sizeof line, &view) > 0);
    }
    tw_tree_free(tree);
}

/* Instructions by a counter, which most ranges come to as sums, are those of the elements. */
static void count_batch(void *context, void *tally, const struct tw_batch *batch)
{
    uint64_t *sum = tally;

    (void)context;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->elements[i].type == TW_ELEMENT_INSTR_RANGE)
            *sum += batch->elements[i].count;
}

static void count_sums(void *context, void *tally, const struct tw_range_sum *sums,
                       size_t count, const struct tw_batch *whose)
{
    uint64_t *sum = tally;

    (void)context, (void)whose;
    for (size_t i = 0; i < count; i++)
        if (!sums[i].is_edge)
            *sum += sums[i].times * sums[i].range.count;
}

static void merge_tally(void *context, void *tally, const struct tw_batch *whose)
{
    (void)whose;
    *(uint64_t *)context += *(uint64_t *)tally;
}

static uint64_t count(const struct tw_tree_source *source, const uint8_t *bytes, size_t size,
                      bool in_sums, uint32_t threads)
{
    uint64_t all = 0;
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = sizeof(uint64_t),
                                        .context = &all,
                                        .count = count_batch,
                                        .merge = merge_tally,
                                        .sum = in_sums ? count_sums : NULL };
    const struct tw_tree_config config = { .size = sizeof config,
                                           .range_limit = 1000,
                                           .threads = threads,
                                           .segment_size = 64,
                                           .counter = &counter };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(tree, NULL, source) == TW_OK);
    require(tw_tree_feed(tree, bytes, size) == TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        ;
    require(tw_tree_finish(tree) == TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        ;
    tw_tree_free(tree);
    return all;
}

static void check_counts(const struct tw_tree_source *source, const uint8_t *bytes, size_t size)
{
    const uint64_t all = count(source, bytes, size, false, 0);

    require(count(source, bytes, size, true, 0) == all);
    require(count(source, bytes, size, true, 2) == all);
}

/* Packets given one by one make the elements that the bytes make. */
static void decode_packets(const struct tw_tree_source *source, const uint8_t *bytes,
                           size_t size, uint64_t whole)
{
    const struct tw_tree_config listing = { .size = sizeof listing, .packets_only = true };
    const struct tw_tree_config config = { .size = sizeof config, .range_limit = 1000 };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_tree *packets, *tree;
    bool is_taken = true;
    uint64_t sum = 0;

    require(tw_tree_new(&packets, &listing, NULL) == TW_OK);
    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(packets, NULL, source) == TW_OK);
    require(tw_tree_add_source(tree, NULL, source) == TW_OK);
    require(tw_tree_feed(packets, bytes, size) == TW_OK && tw_tree_finish(packets) == TW_OK);
    while (is_taken && tw_tree_next_packet(packets, &view) == TW_OK) {
        is_taken = tw_tree_feed_packets(tree, view.packet, 1) == TW_OK && !view.is_not_sync;
        add_up(&sum, tree);
    }
    require(tw_tree_finish(tree) == TW_OK);
    add_up(&sum, tree);
    if (is_taken) /* all of them: with synchronization, and none that no one can tell of */
        require(sum == whole);
    tw_tree_free(tree);
    tw_tree_free(packets);
}

static enum tw_status read_bytes(void *context, const uint8_t **bytes, size_t *size,
                                 uint64_t offset)
{
    const struct tw_unit_trace *trace = context;

    if (offset >= trace->size)
        return TW_END;
    *bytes = trace->bytes + offset;
    *size = trace->size - (size_t)offset;
    return TW_OK;
}

/* An index is of what it was made of; places are found with it and, as far as times grow, without. */
static void look_up(const struct tw_tree_source *source, const struct tw_unit_trace *trace,
                    uint64_t time)
{
    const struct tw_index_capture capture = { .size = sizeof capture,
                                              .bytes = trace->size,
                                              .read = read_bytes,
                                              .read_context = (void *)(uintptr_t)trace,
                                              .sources = source,
                                              .source_count = 1 };
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .block_bytes = 512 };
    struct tw_index *index;
    uint64_t with = 0, without = 0;
    require(tw_index_build(&index, &capture, &config, NULL) == TW_OK);
    require(tw_index_matches(index, &capture, true, NULL) == TW_OK);
    (void)!tw_index_locate(&capture, index, &with, NULL, time);
    (void)!tw_index_locate(&capture, NULL, &without, NULL, time);
    require(with <= trace->size && without <= trace->size);
    tw_index_free(index);
}

/* Ways to read what was made again, and one to write it. */
enum { IN_PIECES, ON_THREADS, BY_COUNTERS, BY_PACKETS, BY_INDEX, ON_DISK, WAYS };

static void check(struct tw_unit *unit, size_t piece, uint64_t time, unsigned choice)
{
    const struct tw_unit_trace *trace = tw_unit_trace(unit);
    struct tw_image *image = image_of(unit);
    struct tw_tree_source source = source_of(unit, false, image);
    uint64_t whole;

    if (trace->size && trace->size <= MADE_MOST) {
        list(&source, trace->bytes, trace->size);
        whole = decode(&source, trace->bytes, trace->size, trace->size, 0);
        if (goes_through(IN_PIECES, WAYS, choice))
            require(decode(&source, trace->bytes, trace->size, piece, 0) == whole);
        if (goes_through(ON_THREADS, WAYS, choice))
            require(decode(&source, trace->bytes, trace->size, trace->size, 2) == whole);
        if (goes_through(BY_COUNTERS, WAYS, choice))
            check_counts(&source, trace->bytes, trace->size);
        if (goes_through(BY_PACKETS, WAYS, choice))
            decode_packets(&source, trace->bytes, trace->size, whole);
        if (goes_through(BY_INDEX, WAYS, choice))
            look_up(&source, trace, time);
    }
    source = source_of(unit, true, image);
    if (trace->data_size && trace->data_size <= MADE_MOST && source.text) {
        list(&source, trace->data_bytes, trace->data_size);
        whole = decode(&source, trace->data_bytes, trace->data_size, trace->data_size, 0);
        require(decode(&source, trace->data_bytes, trace->data_size, piece, 0) == whole);
    }
    tw_image_free(image);
}

/* The bytes of a file of the bundle; NULL: there is none. */
static uint8_t *load(size_t *size, const struct bundle *bundle, const char *name)
{
    char path[BUNDLE_PATH];
    uint8_t *bytes = malloc(LOG_MOST);
    FILE *file;

    require(bytes != NULL);
    bundle_path(path, bundle, name);
    file = fopen(path, "rb");
    *size = file ? fread(bytes, 1, LOG_MOST, file) : 0;
    if (file)
        (void)fclose(file);
    return bytes;
}

/* As a snapshot on disk it has the same bytes of trace. */
static void write_and_read(const struct bundle *bundle, struct tw_unit *unit, bool is_framed)
{
    const struct tw_unit_trace *trace = tw_unit_trace(unit);
    struct tw_snapshot snapshot = { .size = sizeof snapshot };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    char path[BUNDLE_PATH];
    const uint8_t *bytes;
    size_t size;

    if (tw_unit_snapshot(unit, &snapshot, is_framed) != TW_OK)
        return;
    snapshot.description = "a snapshot";
    snapshot.overwrite = true;
    bundle_path(path, bundle, "snap");
    if (tw_snapshot_write(path, &snapshot, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        return;
    }
    require(tw_capture_open(&capture, path, NULL, &fault) == TW_OK);
    if (!is_framed && trace->size) {
        require(tw_capture_read(capture, &bytes, &size, 0, 0) == TW_OK && size == trace->size);
        require(memcmp(bytes, trace->bytes, size) == 0);
    }
    tw_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tw_region region = { .size = sizeof region };
    struct bundle bundle;
    struct settings settings;
    struct tw_unit *unit, *again;
    char path[BUNDLE_PATH];
    unsigned choice = 0;
    uint8_t *log;

    for (size_t i = 0; i < size; i++)
        choice = (choice ^ data[i]) * 0x1000193u;
    choice >>= 16;
    bundle_open(&bundle, data, size);
    log = load(&size, &bundle, "log");
    read_settings(&settings, &bundle);
    bundle_path(path, &bundle, "image");
    require(tw_image_new(&settings.config.image, NULL, NULL) == TW_OK);
    (void)!tw_image_add_any(settings.config.image, &region, path);
    unit = is_long(log, size) ? NULL : encode(&settings, log, size);
    if (unit) {
        again = encode(&settings, log, size);
        require(again && tw_unit_trace(again)->size == tw_unit_trace(unit)->size);
        require(!tw_unit_trace(unit)->size ||
                memcmp(tw_unit_trace(again)->bytes, tw_unit_trace(unit)->bytes,
                       tw_unit_trace(unit)->size) == 0);
        tw_unit_free(again);
        check(unit, 1 + bundle_number(&bundle, "piece") % 64, bundle_number(&bundle, "time"),
              choice);
        if (goes_through(ON_DISK, WAYS, choice)) {
            write_and_read(&bundle, unit, bundle_number(&bundle, "piece") & 1);
            bundle_remove_tree(&bundle, "snap");
        }
    }
    tw_unit_free(unit);
    tw_image_free(settings.config.image);
    free(log);
    bundle_close(&bundle);
    return 0;
}
