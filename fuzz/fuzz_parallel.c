/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes of any protocol, framed or not: three threads make the same elements as one, in the same
   order, and the same statistics, wherever the stream is cut. */
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "etrace_config.h"
#include "kept.h"
#include "tree/parallel.h"

enum {
    HEAD_BYTES = 6 + ETRACE_CONFIG_BYTES,
    CAPTURE_MAX = 1 << 15,
    ELEMENTS_MAX = 100000,
    MEMORY = 1 << 15,
    INSERT = 0xa7 /* stands for what begins a stream of the protocol */
};

/* What begins a stream, so that many are found without luck. */
struct start {
    const char *protocol;
    uint8_t size, bytes[40];
};

/* clang-format off */
static const struct start starts[] = {
    { "etmv4", 23, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0x82, 0, 8, 0, 0, 0x31, 0xf7, 0xf6, 0xf7 } },
    { "ete", 23, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0x82, 0, 8, 0, 0, 0x31, 0xf7, 0xf6, 0xf7 } },
    { "ptm", 16, { 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x01, 0x84, 0x86, 0x84, 0x84 } },
    { "etmv3", 16, { 0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x10, 0, 0, 0x01, 0x84, 0x88, 0x84, 0x84 } },
    { "stm", 21, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0f, 0x30, 0x11, 0x41, 0x04, 0x41, 0x05, 0x41, 0x06, 0 } },
    { "itm", 16, { 0, 0, 0, 0, 0, 0x80, 0x09, 0x41, 0x10, 0x09, 0x42, 0x20, 0x09, 0x43, 0x30, 0x10 } },
    { "etrace", 8, { 0x47, 0x73, 0, 0x20, 0, 0, 0, 0 } },
};
/* clang-format on */

struct setup {
    const struct start *start;
    struct tw_register registers[12];
    size_t register_count;
    char text[16384]; /* E-Trace */
    bool is_framed, unmerged, checks;
    size_t segment, window;
};

struct outcome {
    uint64_t elements, hash, bytes, instructions, errors;
};

static void set(struct setup *setup, const char *name, uint64_t value)
{
    setup->registers[setup->register_count++] = (struct tw_register){ name, value };
}

static void set_up(struct setup *setup, const uint8_t *head)
{
    struct tw_etrace_config etrace = etrace_config(head + 6);

    *setup = (struct setup){ .start = &starts[head[0] % (sizeof starts / sizeof starts[0])],
                             .is_framed = head[1] & 1,
                             .unmerged = head[1] & 2,
                             .checks = head[1] & 4,
                             .segment = 32 + 8 * (size_t)(head[1] >> 3),
                             .window = 200 + 256 * (size_t)head[2] };
    set(setup, "TRCIDR0", 0x28000ea1 | (uint32_t)(head[3] & 1) << 23);
    set(setup, "TRCIDR1", 0x4100f402);
    set(setup, "TRCIDR2", 0x488);
    set(setup, "TRCIDR8", head[3] & 2 ? 6 : 0);
    set(setup, "TRCDEVARCH", 0x47715a13);
    set(setup, "TRCCONFIGR",
        1 | (uint32_t)(head[4] & 0xf8) << 1 | (uint32_t)(head[4] & 3) << 11);
    set(setup, "ETMCR", (uint32_t)head[4] << 8 | (uint32_t)(head[3] & 0xf0) << 24);
    set(setup, "ETMIDR", 0x411cf301);
    set(setup, "ETMCCER", 0x34c008ea);
    set(setup, "ITM_TCR", (uint32_t)head[4] << 6);
    etrace.bpred_size = etrace.bpred_size > 3 ? 3 : etrace.bpred_size;
    (void)tw_etrace_config_text(setup->text, sizeof setup->text, &etrace);
}

/* The capture: the input with the starts that it stands for. */
static size_t expand(uint8_t *out, const struct start *start, const uint8_t *data, size_t size)
{
    size_t made = 0;

    for (size_t i = 0; i < size && made + sizeof start->bytes < CAPTURE_MAX; i++) {
        if (data[i] != INSERT) {
            out[made++] = data[i];
            continue;
        }
        memcpy(out + made, start->bytes, start->size);
        made += start->size;
    }
    return made;
}

static struct tw_image *make_image(void)
{
    static uint8_t memory[MEMORY];
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xe320f000, 0x0afffff9, 0xe12fff1e, 0xd65f03c0,
                                      0x00000013, 0xfe0008e3, 0x00008067, 0x0000006f };
    const struct tw_region region = { .size = sizeof region, .length = MEMORY };
    struct tw_image *image;

    for (size_t i = memory[0] ? MEMORY : 0; i < MEMORY; i++)
        memory[i] = (uint8_t)(words[(i / 4 ^ i / 64) % (sizeof words / sizeof words[0])] >>
                              8 * (i % 4));
    require(tw_image_new(&image, NULL, NULL) == TW_OK);
    require(tw_image_add(image, &region, memory) == TW_OK);
    return image;
}

static struct tw_tree *make_tree(const struct setup *setup, struct tw_image *image,
                                 unsigned threads)
{
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = setup->is_framed ? TW_FRAMING_MEMORY : TW_FRAMING_NONE,
        .unmerged = setup->unmerged,
        .counts_elements = true,
        .check_atoms = setup->checks,
        .check_continuity = setup->checks,
        .range_limit = 64,
        .threads = threads,
        .segment_size = setup->segment,
    };
    struct tw_tree *tree;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    tree->guesses = true;
    for (uint8_t id = 0x10; id <= (setup->is_framed ? 0x11 : 0x10); id++) {
        struct tw_register registers[12];
        const struct tw_tree_source source = {
            .size = sizeof source,
            .protocol = setup->start->protocol,
            .registers = registers,
            .register_count = setup->register_count + 1,
            .core_type = "ARM-AA64",
            .text = strcmp(setup->start->protocol, "etrace") == 0 ? setup->text : NULL,
            .id = id,
            .image = image,
        };

        memcpy(registers, setup->registers, sizeof registers);
        registers[setup->register_count] = (struct tw_register){ "TRCTRACEIDR", id };
        if (tw_tree_add_source(tree, NULL, &source) != TW_OK) {
            tw_tree_free(tree);
            return NULL;
        }
    }
    return tree;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t word;

    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word ^ word >> 29) * 0x100000001b3u;
    }
    while (size--)
        hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}

/* As it is; of stored inputs as it is shown, too. */
static void take_element(struct outcome *outcome, const struct tw_element *element, uint8_t id)
{
    char line[600];
    size_t length;

    outcome->hash = mix(outcome->hash ^ id, element, sizeof *element);
    if (is_fuzzed())
        return;
    length = tw_element_json(line, sizeof line, element, id);
    require(length < sizeof line);
    outcome->hash = mix(outcome->hash, line, length);
}

/* False: there is more than is looked at. */
static bool take(struct tw_tree *tree, struct outcome *outcome)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            take_element(outcome, &batch.elements[i], batch.id);
            if (++outcome->elements == ELEMENTS_MAX)
                return false;
        }
    require(status == TW_MORE || status == TW_END);
    return true;
}

/* What is counted of a tree since it was made. */
static struct outcome count(const struct tw_tree *tree)
{
    struct outcome outcome = { .hash = 0 };

    for (uint8_t id = 0x10; id <= 0x11; id++) {
        const struct tw_source_stats *stats = tw_tree_source_stats(tree, id);

        if (!stats)
            continue;
        outcome.bytes += stats->bytes;
        outcome.instructions += stats->instructions;
        outcome.errors += stats->elements[TW_ELEMENT_ERROR];
    }
    return outcome;
}

static struct outcome run(const struct setup *setup, struct tw_tree *tree, const uint8_t *data,
                          size_t size)
{
    struct outcome outcome = { .hash = 1 }, before, after;
    bool goes_on = true;

    tw_tree_reset(tree, 0);
    before = count(tree);
    for (size_t at = 0; goes_on && at < size; at += setup->window) {
        require(tw_tree_feed(tree, data + at,
                             size - at < setup->window ? size - at : setup->window) == TW_OK);
        goes_on = take(tree, &outcome);
    }
    if (goes_on) {
        require(tw_tree_finish(tree) == TW_OK);
        goes_on = take(tree, &outcome);
    }
    if (!goes_on)
        return outcome;
    after = count(tree);
    outcome.bytes = after.bytes - before.bytes;
    outcome.instructions = after.instructions - before.instructions;
    outcome.errors = after.errors - before.errors;
    return outcome;
}

/* What an input is decoded with; neighbours mostly have the same. */
struct subject {
    uint8_t head[HEAD_BYTES];
    struct setup setup;
    struct tw_image *image;
    struct tw_tree *one, *many; /* threads; NULL: there is no such source */
};

static void make(struct subject *subject, const uint8_t *head)
{
    static const unsigned threads[] = { 2, 3 };

    tw_tree_free(subject->one);
    tw_tree_free(subject->many);
    tw_image_free(subject->image);
    memcpy(subject->head, head, HEAD_BYTES);
    set_up(&subject->setup, head);
    subject->image = make_image();
    subject->one = make_tree(&subject->setup, subject->image, 1);
    subject->many = make_tree(&subject->setup, subject->image, threads[head[5] & 1]);
    require(!subject->one == !subject->many);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct subject subject;
    static uint8_t capture[CAPTURE_MAX];
    struct outcome one, many;

    if (size < HEAD_BYTES)
        return 0;
    if (!is_fuzzed() || !subject.image || memcmp(subject.head, data, HEAD_BYTES) != 0)
        make(&subject, data);
    if (!subject.one)
        return 0;
    size = expand(capture, subject.setup.start, data + HEAD_BYTES, size - HEAD_BYTES);
    one = run(&subject.setup, subject.one, capture, size);
    many = run(&subject.setup, subject.many, capture, size);
    require(memcmp(&one, &many, sizeof one) == 0);
    return 0;
}
