/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode of RISC-V E-Trace beside our own ETMv4 decode, alternating in one process: traced
   instructions per second with the block cache warm and with a new decoder for each pass, the
   other modes of the trace unit, and growth with the length of the trace.  The hash of all program
   counters must be right before anything is timed.
   --once: one pass, for an instruction counter. */
#define _GNU_SOURCE /* sched_setaffinity, popen */

#include "harness.h"

#include <inttypes.h>
#include <stdbool.h>

#include <trackway/capture.h>
#include <trackway/tree.h>

enum { WINDOW = 1 << 20, COPIES = 8 };

struct input {
    struct tw_capture *capture;
    const uint8_t *data;
    size_t size;
    uint64_t instructions, hash; /* as the case says */
};

static struct {
    uint64_t ranges, instructions, errors;
} ours;

static const char *corpus(void)
{
    const char *named = getenv("TRACKWAY_CORPUS");

    return named ? named : "../shared/corpus";
}

/* A number out of the case's description. */
static bool read_case(struct input *input, char *program, size_t room, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "program=", 8) == 0)
            (void)snprintf(program, room, "%s", line + 8);
        else if (strncmp(line, "instructions=", 13) == 0)
            input->instructions = strtoull(line + 13, NULL, 10);
        else if (strncmp(line, "pc_fnv64=", 9) == 0)
            input->hash = strtoull(line + 9, NULL, 16);
    }
    (void)fclose(file);
    return true;
}

static bool open_case(struct input *input, const char *name)
{
    char config[600], image[900], trace[600], program[256] = "";
    const struct tw_capture_source_option source = { 0, "etrace", config };
    struct tw_capture_image_option files = { .path = image };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1,
                                                .images = &files,
                                                .image_count = 1 };
    struct tw_fault fault;

    (void)snprintf(config, sizeof config, "%s/riscv/cases/%s/case.txt", corpus(), name);
    if (!read_case(input, program, sizeof program, config))
        return false;
    (void)snprintf(trace, sizeof trace, "%s/riscv/cases/%s/trace.bin", corpus(), name);
    (void)snprintf(image, sizeof image, "%s/riscv/programs/%s/image.txt", corpus(), program);
    if (tw_capture_open(&input->capture, trace, &options, &fault) != TW_OK)
        bench_stop(fault.text);
    if (tw_capture_read(input->capture, 0, 0, &input->data, &input->size) != TW_OK)
        bench_stop("the trace is empty");
    return true;
}

static bool open_etmv4(struct input *input)
{
    char path[600];
    struct tw_fault fault;

    if (!bench_snapshot(path, sizeof path, "bugfix-exact-match-part"))
        return false;
    if (tw_capture_open(&input->capture, path, NULL, &fault) != TW_OK)
        bench_stop(fault.text);
    return tw_capture_read(input->capture, 0, 0, &input->data, &input->size) == TW_OK;
}

static struct tw_tree *make_tree(const struct input *input)
{
    const struct tw_buffer *buffer = tw_capture_buffer(input->capture, 0);
    const struct tw_tree_config config = { .size = sizeof config, .framing = buffer->framing };
    struct tw_tree *tree;
    struct tw_fault fault;

    if (tw_tree_new(&tree, &config, &fault) != TW_OK)
        bench_stop(fault.text);
    for (size_t i = 0; i < tw_capture_source_count(input->capture); i++) {
        const struct tw_source *from = tw_capture_source(input->capture, i);
        const struct tw_tree_source source = {
            .size = sizeof source,
            .protocol = from->protocol,
            .registers = from->registers,
            .register_count = from->register_count,
            .type = from->type,
            .core_type = from->core_type,
            .text = from->text,
            .id = from->id,
            .image =
                from->image == TW_NONE ? NULL : tw_capture_image(input->capture, from->image),
        };

        if (from->protocol && tw_tree_add_source(tree, NULL, &source) != TW_OK)
            bench_stop(tw_tree_fault(tree));
    }
    return tree;
}

static void take(struct tw_tree *tree)
{
    struct tw_batch batch;

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
                ours.ranges++;
                ours.instructions += batch.elements[i].count;
            } else {
                ours.errors += batch.elements[i].type == TW_ELEMENT_ERROR;
            }
}

/* All elements, delivered to a consumer that counts. */
void decode_pass(struct tw_tree *tree, const uint8_t *data, size_t size);
void decode_pass(struct tw_tree *tree, const uint8_t *data, size_t size)
{
    memset(&ours, 0, sizeof ours);
    tw_tree_reset(tree, 0);
    for (size_t at = 0; at < size; at += WINDOW) {
        if (tw_tree_feed(tree, data + at, size - at < WINDOW ? size - at : WINDOW) != TW_OK)
            bench_stop(tw_tree_fault(tree));
        take(tree);
    }
    if (tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    take(tree);
}

static void new_pass(const struct input *input)
{
    struct tw_tree *tree = make_tree(input);

    decode_pass(tree, input->data, input->size);
    tw_tree_free(tree);
}

static uint64_t add_hash(uint64_t hash, uint64_t pc)
{
    for (unsigned i = 0; i < 8; i++)
        hash = (hash ^ (pc >> 8 * i & 0xff)) * 0x100000001b3u;
    return hash;
}

/* The hash of every program counter: instructions are 2 or 4 bytes, as their first byte says. */
static void check_path(const struct input *input)
{
    struct tw_tree *tree = make_tree(input);
    const struct tw_source *source = tw_capture_source(input->capture, 0);
    struct tw_image *image = tw_capture_image(input->capture, source->image);
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
    uint64_t hash = 0xcbf29ce484222325u, count = 0;
    struct tw_batch batch;

    if (tw_tree_feed(tree, input->data, input->size) != TW_OK || tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *range = &batch.elements[i];
            uint64_t pc = range->start;

            if (range->type != TW_ELEMENT_INSTR_RANGE)
                continue;
            for (uint32_t k = 0; k < range->count; k++, count++) {
                uint8_t byte = 3;

                (void)tw_image_read(image, &byte, &view, pc, 1);
                hash = add_hash(hash, pc);
                pc += (byte & 3) == 3 ? 4 : 2;
            }
        }
    tw_tree_free(tree);
    if (hash != input->hash || count != input->instructions)
        bench_stop("the path is wrong");
}

static double rate(struct bench_times *times)
{
    bench_sort(times);
    return (double)ours.instructions * 1e3 / bench_best(times);
}

static void print(const char *what, const char *name, size_t size, struct bench_times *times)
{
    const double best = rate(times);

    printf("%-8s %-28s %8zu bytes %7.1f MB/s %6.0f M instructions/s %5.2f ns/range\n", what,
           name, size, (double)size * 1e3 / bench_best(times), best,
           bench_best(times) / (double)ours.ranges);
}

/* E-Trace and ETMv4 in turn; the ratio of their traced instructions per second. */
static void compare(const struct input *input, const struct input *other)
{
    struct tw_tree *tree = make_tree(input), *beside = make_tree(other);
    struct bench_times mine, theirs, anew;
    double mine_rate, their_rate;
    uint64_t their_count = 0, start;

    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        start = bench_now();
        decode_pass(beside, other->data, other->size);
        theirs.all[i] = bench_now() - start;
        their_count = ours.instructions;
        start = bench_now();
        decode_pass(tree, input->data, input->size);
        mine.all[i] = bench_now() - start;
        start = bench_now();
        new_pass(input);
        anew.all[i] = bench_now() - start;
    }
    print("warm", "coremark-full-py-perf", input->size, &mine);
    print("new", "coremark-full-py-perf", input->size, &anew);
    mine_rate = rate(&mine);
    bench_sort(&theirs);
    their_rate = (double)their_count * 1e3 / bench_best(&theirs);
    printf("beside   ETMv4 bugfix-exact-match-part: %.0f M instructions/s\n", their_rate);
    printf("ratio etrace/of-etmv4 %.2f\n", mine_rate / their_rate);
    tw_tree_free(tree);
    tw_tree_free(beside);
}

/* The trace again and again: it ends with tracing switched off, so it may follow itself. */
static void grow(const struct input *input)
{
    uint8_t *data = malloc(COPIES * input->size);
    struct tw_tree *tree = make_tree(input);
    struct bench_times one, many;

    if (!data)
        bench_stop("no memory");
    for (unsigned i = 0; i < COPIES; i++)
        memcpy(data + i * input->size, input->data, input->size);
    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        uint64_t start = bench_now();

        decode_pass(tree, data, input->size);
        one.all[i] = bench_now() - start;
        start = bench_now();
        decode_pass(tree, data, COPIES * input->size);
        many.all[i] = bench_now() - start;
    }
    if (ours.errors || ours.instructions != COPIES * input->instructions)
        bench_stop("the trace does not follow itself");
    bench_sort(&one);
    bench_sort(&many);
    printf("ratio etrace/growth-8 %.2f\n", bench_median(&many) / bench_median(&one));
    tw_tree_free(tree);
    free(data);
}

static void run_mode(const char *name)
{
    struct input input = { 0 };
    struct tw_tree *tree;
    struct bench_times times;

    if (!open_case(&input, name))
        return;
    tree = make_tree(&input);
    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();

        decode_pass(tree, input.data, input.size);
        times.all[i] = bench_now() - start;
    }
    print("mode", name, input.size, &times);
    tw_tree_free(tree);
    tw_capture_free(input.capture);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {
        "coremark-py-itype3-basic",
        "coremark-c-seed-implicit-return",
        "coremark-c-seed-branch-pred",
        "coremark-c-seed-jump-cache",
        "embench-huffbench-py-sijump",
        "hello_world-py-itype3-basic",
        "coremark-m-all",
    };
    struct input input = { 0 }, other = { 0 };

    bench_pin();
    if (!open_case(&input, "coremark-full-py-perf") || !open_etmv4(&other)) {
        puts("skipped: no corpus");
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--once") == 0) {
        new_pass(&input);
        return 0;
    }
    check_path(&input);
    compare(&input, &other);
    grow(&input);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        run_mode(modes[i]);
    tw_capture_free(input.capture);
    tw_capture_free(other.capture);
    return 0;
}
