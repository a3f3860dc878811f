/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacking frames: one ID and all IDs, beside OpenCSD's frame unpacker on the same input.
   --once INPUT MODE: one pass, for an instruction counter (see count_instructions). */
#define _GNU_SOURCE /* sched_setaffinity, popen */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trackway/frame.h>

#include "base/compiler.h"

#ifdef TW_PEER_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

enum { PASSES = 21, PIECE = 64 * 1024, GENERATED = 16 * 1024 * 1024 };

struct input {
    const char *name;
    unsigned sources, burst; /* of a generated one: how many, and the longest run of bytes */
    uint8_t id;              /* the one wanted */
    uint8_t *data;
    size_t size;
};

/* Where the corpus is: cstrace.bin of this snapshot holds one live ID. */
static const char corpus_file[] = "coresight/snapshots/bugfix-exact-match-part/cstrace.bin";

static struct input inputs[] = {
    { .name = "capture", .id = 0x12 },
    { .name = "1-source", .sources = 1, .burst = 4096, .id = 0x10 },
    { .name = "8-sources", .sources = 8, .burst = 256, .id = 0x10 },
    { .name = "64-in-turn", .sources = 64, .burst = 14, .id = 0x10 },
    { .name = "64-mixed", .sources = 64, .burst = 28, .id = 0x10 },
};

static void stop(const char *what)
{
    (void)fprintf(stderr, "bench_frame: %s\n", what);
    exit(1);
}

static void need(enum tw_status status)
{
    if (status != TW_OK)
        stop("a call failed");
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Sources take turns with runs of random length. */
static void generate(struct input *input)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_framer *framer;
    uint64_t random = 88172645463325252u;
    uint8_t bytes[4096];
    const uint8_t *out;
    size_t size = 0;
    uint64_t turn = 0;

    need(tw_framer_new(&framer, &config));
    while (size < GENERATED) {
        /* Runs of 14 bytes in turn: each frame begins with another ID. */
        const bool is_turn = input->burst == 14;
        const uint64_t source = is_turn ? turn++ : next_random(&random);
        const uint8_t id = (uint8_t)(0x10 + source % input->sources);
        const size_t run = is_turn ? 14 : 1 + next_random(&random) % input->burst;

        for (size_t i = 0; i < run; i += 8) {
            const uint64_t word = next_random(&random);

            memcpy(bytes + i, &word, run - i < 8 ? run - i : 8);
        }
        need(tw_framer_write(framer, id, bytes, run));
        (void)tw_framer_output(framer, &size);
    }
    need(tw_framer_finish(framer));
    out = tw_framer_output(framer, &size);
    input->data = malloc(size);
    if (!input->data)
        stop("out of memory");
    memcpy(input->data, out, size);
    input->size = size;
    tw_framer_free(framer);
}

/* False: there is no corpus. */
static bool load(struct input *input)
{
    const char *corpus = getenv("TRACKWAY_CORPUS");
    char path[1024];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", corpus ? corpus : "../shared/corpus",
                   corpus_file);
    file = fopen(path, "rb");
    if (!file)
        return false;
    input->data = malloc(GENERATED);
    if (!input->data)
        stop("out of memory");
    input->size = fread(input->data, 1, GENERATED, file);
    (void)fclose(file);
    return input->size != 0;
}

static bool prepare(struct input *input)
{
    if (!input->sources)
        return load(input);
    generate(input);
    return true;
}

static struct tw_unframer *make_unframer(const struct input *input, bool all)
{
    struct tw_unframer_config config = { .size = sizeof config, .framing = TW_FRAMING_MEMORY };
    struct tw_unframer *unframer;

    if (all)
        config.wanted[0] = config.wanted[1] = UINT64_MAX;
    else
        config.wanted[input->id / 64] = (uint64_t)1 << input->id % 64;
    need(tw_unframer_new(&unframer, &config));
    return unframer;
}

uint64_t unframe_pass(struct tw_unframer *unframer, const struct input *input, bool all);

/* The capture comes in pieces, and what they give is consumed, as a decoder would.  Returns the
   bytes delivered. */
TW_NOINLINE uint64_t unframe_pass(struct tw_unframer *unframer, const struct input *input,
                                  bool all)
{
    const uint8_t first = all ? 1 : input->id, last = all ? 0x6f : input->id;
    uint64_t delivered = 0;

    tw_unframer_reset(unframer, 0);
    for (size_t at = 0; at < input->size; at += PIECE) {
        const size_t left = input->size - at;

        need(tw_unframer_feed(unframer, input->data + at, left < PIECE ? left : PIECE));
        for (uint8_t id = first; id <= last; id++) {
            const size_t size = tw_unframer_stream(unframer, id).size;

            delivered += size;
            if (size)
                tw_unframer_consume(unframer, id, size);
        }
        tw_unframer_clear_events(unframer);
    }
    return delivered;
}

static uint64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

struct times {
    uint64_t all[PASSES];
};

static uint64_t best(struct times *times)
{
    qsort(times->all, PASSES, sizeof times->all[0], compare);
    return times->all[0];
}

static uint64_t median(struct times *times)
{
    qsort(times->all, PASSES, sizeof times->all[0], compare);
    return times->all[PASSES / 2];
}

static void peer_pass(void *tree, const struct input *input)
{
#ifdef TW_PEER_OPENCSD
    uint32_t used = 0;

    (void)ocsd_dt_process_data((dcd_tree_handle_t)tree, OCSD_OP_RESET, 0, 0, NULL, &used);
    if (ocsd_dt_process_data((dcd_tree_handle_t)tree, OCSD_OP_DATA, 0, (uint32_t)input->size,
                             input->data, &used) != OCSD_RESP_CONT ||
        used != input->size)
        stop("the peer did not take the capture");
#else
    (void)tree;
    (void)input;
#endif
}

static void *peer_new(void)
{
#ifdef TW_PEER_OPENCSD
    /* No decoder is attached: its cheapest case. */
    return (void *)ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED,
                                        OCSD_DFRMTR_FRAME_MEM_ALIGN);
#else
    return NULL;
#endif
}

static void peer_free(void *tree)
{
#ifdef TW_PEER_OPENCSD
    ocsd_destroy_dcd_tree((dcd_tree_handle_t)tree);
#else
    (void)tree;
#endif
}

/* Returns the ratio of the best times; 0 without a peer. */
static double run(const struct input *input, bool all)
{
    struct tw_unframer *unframer = make_unframer(input, all);
    void *tree = peer_new();
    struct times ours, theirs;
    uint64_t delivered = 0;
    double ratio = 0;

    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t start = now();
        uint64_t middle;

        delivered = unframe_pass(unframer, input, all);
        middle = now();
        ours.all[i] = middle - start;
        if (tree)
            peer_pass(tree, input);
        theirs.all[i] = now() - middle;
    }
    if (delivered == 0)
        stop("nothing was delivered");
    printf("frame %-10s %-7s %9zu bytes: %6.0f MB/s best, %6.0f median", input->name,
           all ? "all IDs" : "one ID", input->size,
           (double)input->size * 1e3 / (double)best(&ours),
           (double)input->size * 1e3 / (double)median(&ours));
    if (tree) {
        ratio = (double)best(&theirs) / (double)best(&ours);
        printf("; peer %4.0f MB/s; %.1fx best, %.1fx median",
               (double)input->size * 1e3 / (double)best(&theirs), ratio,
               (double)median(&theirs) / (double)median(&ours));
    }
    printf("\n");
    tw_unframer_free(unframer);
    peer_free(tree);
    return ratio;
}

/* Host instructions per byte of one pass, counted by callgrind on this program; 0: not there. */
static double count_instructions(const char *program, const struct input *input, bool all)
{
    char command[1024], line[256];
    double count = 0;
    FILE *pipe;

    (void)snprintf(command, sizeof command,
                   "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
                   "--toggle-collect=unframe_pass '%s' --once %s %s 2>&1",
                   program, input->name, all ? "all" : "one");
    pipe = popen(command, "r");
    if (!pipe)
        return 0;
    while (fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, "Collected : ");

        if (at)
            count = strtod(at + strlen("Collected : "), NULL);
    }
    (void)pclose(pipe);
    return count / (double)input->size;
}

static int run_once(const char *name, const char *mode)
{
    for (size_t i = 0; i < TW_LENGTH(inputs); i++) {
        const bool all = strcmp(mode, "all") == 0;
        struct tw_unframer *unframer;

        if (strcmp(inputs[i].name, name) != 0 || !prepare(&inputs[i]))
            continue;
        unframer = make_unframer(&inputs[i], all);
        printf("%" PRIu64 " bytes delivered\n", unframe_pass(unframer, &inputs[i], all));
        tw_unframer_free(unframer);
        free(inputs[i].data);
        return 0;
    }
    stop("no such input");
    return 1;
}

static void pin(void)
{
    cpu_set_t set;
    const int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* The promises are held on the real capture where there is one, else on one source. */
int main(int argc, char **argv)
{
    bool is_first = true;

    if (argc == 4 && strcmp(argv[1], "--once") == 0)
        return run_once(argv[2], argv[3]);
    pin();
    for (size_t i = 0; i < TW_LENGTH(inputs); i++) {
        double one, all, counted_one, counted_all;

        if (!prepare(&inputs[i])) {
            printf("frame %-10s skipped: no corpus\n", inputs[i].name);
            continue;
        }
        one = run(&inputs[i], false);
        all = run(&inputs[i], true);
        counted_one = count_instructions(argv[0], &inputs[i], false);
        counted_all = count_instructions(argv[0], &inputs[i], true);
        if (counted_all > 0)
            printf("frame %-10s host instructions per byte: %.2f one ID, %.2f all IDs\n",
                   inputs[i].name, counted_one, counted_all);
        else
            printf("frame %-10s host instructions not counted (valgrind does that)\n",
                   inputs[i].name);
        if (is_first && one > 0)
            printf("ratio frame/one-id %.2f\nratio frame/all-ids %.2f\n", one, all);
        if (is_first && counted_all > 0)
            printf("ratio frame/instructions %.3f\n",
                   counted_one > counted_all ? counted_one : counted_all);
        is_first = false;
        free(inputs[i].data);
    }
    return 0;
}
