/* SPDX-License-Identifier: BSD-2-Clause */
/* Software trace, capture to elements: STM beside OpenCSD on the same input, and ITM (which the
   peer's Debian package lacks).  --once INPUT: one pass, for an instruction counter. */
#define _GNU_SOURCE /* sched_setaffinity, popen */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trackway/itm.h>
#include <trackway/stm.h>
#include <trackway/tree.h>

#include "base/compiler.h"

#ifdef TW_PEER_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

enum { PASSES = 21, GENERATED = 4 * 1024 * 1024, ID = 0x20 };

struct input {
    const char *name, *protocol;
    bool (*make)(struct input *input);
    enum tw_framing framing;
    unsigned repeats; /* passes over it that are timed together */
    uint8_t *data;
    size_t size;
};

static void stop(const char *what)
{
    (void)fprintf(stderr, "bench_stm: %s\n", what);
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

static void keep(struct input *input, const uint8_t *bytes, size_t size)
{
    input->data = malloc(size);
    if (!input->data)
        stop("out of memory");
    memcpy(input->data, bytes, size);
    input->size = size;
}

/* False: there is no corpus. */
static bool load_stm(struct input *input)
{
    const char *corpus = getenv("TRACKWAY_CORPUS");
    static uint8_t bytes[1 << 20];
    char path[1024];
    size_t size;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/coresight/snapshots/stm_only/cstraceitm.bin",
                   corpus ? corpus : "../shared/corpus");
    file = fopen(path, "rb");
    if (!file)
        return false;
    size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    if (size)
        keep(input, bytes, size);
    return size != 0;
}

/* A message as the Linux driver writes it: its first piece timed, a flag at its end. */
static void write_message(struct tw_stm_unit *unit, uint64_t *random, unsigned left)
{
    unsigned flags = TW_STM_TIMED;

    while (left) {
        const unsigned piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;

        need(
            tw_stm_unit_write(unit, next_random(random) >> (64 - 8 * piece), 8 * piece, flags));
        flags = 0;
        left -= piece;
    }
    need(tw_stm_unit_flag(unit, 0));
}

/* Messages of 1 to 64 bytes on several masters and channels. */
static bool make_stm(struct input *input)
{
    const struct tw_stm_unit_config config = { .size = sizeof config,
                                               .version = 3,
                                               .has_timestamps = true,
                                               .timestamp_bits = 64,
                                               .frequency = 1000000,
                                               .sync_bytes = 4096 };
    const struct tw_framer_config frames = { .size = sizeof frames,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_stm_unit *unit;
    struct tw_framer *framer;
    uint64_t random = 88172645463325252u, time = 0;
    const uint8_t *bytes;
    size_t size = 0;

    need(tw_stm_unit_new(&unit, &config));
    while (size < GENERATED) {
        const uint64_t choice = next_random(&random);

        time += choice >> 20 & 0xffff;
        tw_stm_unit_set_time(unit, time);
        tw_stm_unit_select(unit, 0x40 | (choice >> 44 & 3), choice >> 48 & 0x1f);
        write_message(unit, &random, 1 + (choice >> 8 & 0x3f));
        (void)tw_stm_unit_output(unit, &size);
    }
    bytes = tw_stm_unit_output(unit, &size);
    need(tw_framer_new(&framer, &frames));
    need(tw_framer_write(framer, ID, bytes, size));
    need(tw_framer_finish(framer));
    bytes = tw_framer_output(framer, &size);
    keep(input, bytes, size);
    tw_framer_free(framer);
    tw_stm_unit_free(unit);
    return true;
}

/* Text, data trace and PC samples with local timestamps, as a board's SWO pin sends. */
static bool make_itm(struct input *input)
{
    const struct tw_itm_unit_config config = { .size = sizeof config,
                                               .tcr = TW_ITM_TCR_ENABLE |
                                                      TW_ITM_TCR_TIMESTAMPS | TW_ITM_TCR_SYNC |
                                                      TW_ITM_TCR_DWT,
                                               .sync_cycles = 1 << 20 };
    struct tw_itm_unit *unit;
    uint64_t random = 88172645463325252u;
    const uint8_t *bytes;
    size_t size = 0;

    need(tw_itm_unit_new(&unit, &config));
    while (size < GENERATED) {
        const uint64_t choice = next_random(&random);
        const struct tw_dwt_meaning pc = { .kind = choice & 1 ? TW_DWT_PC : TW_DWT_PC_SAMPLE,
                                           .value = 0x08000000 | (uint32_t)(choice >> 40) };
        const struct tw_dwt_meaning value = {
            .kind = TW_DWT_VALUE, .size = 4, .is_write = true, .value = (uint32_t)(choice >> 8)
        };

        if (choice & 6)
            need(tw_itm_unit_write(unit, choice >> 3 & 3, 0x20 + (choice >> 5 & 0x3f), 1));
        else
            need(tw_itm_unit_watch(unit, &pc));
        if ((choice & 7) == 1)
            need(tw_itm_unit_watch(unit, &value));
        need(tw_itm_unit_advance(unit, choice >> 20 & 0x3ff));
        (void)tw_itm_unit_output(unit, &size);
    }
    bytes = tw_itm_unit_output(unit, &size);
    keep(input, bytes, size);
    tw_itm_unit_free(unit);
    return true;
}

static struct input inputs[] = {
    { "stm_only", "stm", load_stm, TW_FRAMING_MEMORY, 64, NULL, 0 },
    { "stm-made", "stm", make_stm, TW_FRAMING_MEMORY, 1, NULL, 0 },
    { "itm-made", "itm", make_itm, TW_FRAMING_NONE, 1, NULL, 0 },
};

static struct tw_tree *make_tree(const struct input *input)
{
    const struct tw_register control = { input->protocol[0] == 's' ? "STMTCSR" : "ITMTCR",
                                         (uint64_t)ID << 16 };
    const struct tw_tree_config config = { .size = sizeof config, .framing = input->framing };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = input->protocol,
                                           .registers = &control,
                                           .register_count = 1 };
    struct tw_tree *tree;
    uint8_t id;

    need(tw_tree_new(&tree, &config, NULL));
    need(tw_tree_add_source(tree, &id, &source));
    return tree;
}

uint64_t decode_pass(struct tw_tree *tree, const struct input *input);

/* The whole capture to elements; returns how many. */
TW_NOINLINE uint64_t decode_pass(struct tw_tree *tree, const struct input *input)
{
    struct tw_batch batch = { .count = 0 };
    uint64_t count = 0;
    enum tw_status status;

    tw_tree_reset(tree, 0);
    need(tw_tree_feed(tree, input->data, input->size));
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        count += batch.count;
    if (status != TW_MORE)
        stop("decoding failed");
    need(tw_tree_finish(tree));
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        count += batch.count;
    return count;
}

#ifdef TW_PEER_OPENCSD
static ocsd_datapath_resp_t count_element(const void *context, const ocsd_trc_index_t index,
                                          const uint8_t id,
                                          const ocsd_generic_trace_elem *element)
{
    (void)index;
    (void)id;
    (void)element;
    ++**(uint64_t *const *)context;
    return OCSD_RESP_CONT;
}

static void *peer_new(const struct input *input, uint64_t *const *count)
{
    ocsd_stm_cfg config;
    dcd_tree_handle_t tree;
    unsigned char id;

    if (input->protocol[0] != 's')
        return NULL;
    memset(&config, 0, sizeof config);
    config.reg_tcsr = (uint32_t)ID << 16 | 7;
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
    if (ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER,
                               &config, &id) != OCSD_OK ||
        ocsd_dt_set_gen_elem_outfn(tree, count_element, count) != OCSD_OK)
        stop("the peer cannot be set up");
    return (void *)tree;
}

static void peer_pass(void *tree, const struct input *input)
{
    uint32_t used = 0;

    (void)ocsd_dt_process_data((dcd_tree_handle_t)tree, OCSD_OP_RESET, 0, 0, NULL, &used);
    if (ocsd_dt_process_data((dcd_tree_handle_t)tree, OCSD_OP_DATA, 0, (uint32_t)input->size,
                             input->data, &used) != OCSD_RESP_CONT)
        stop("the peer did not take the capture");
    (void)ocsd_dt_process_data((dcd_tree_handle_t)tree, OCSD_OP_EOT, 0, 0, NULL, &used);
}

static void peer_free(void *tree)
{
    if (tree)
        ocsd_destroy_dcd_tree((dcd_tree_handle_t)tree);
}
#else
static void *peer_new(const struct input *input, uint64_t *const *count)
{
    (void)input;
    (void)count;
    return NULL;
}

static void peer_pass(void *tree, const struct input *input)
{
    (void)tree;
    (void)input;
}

static void peer_free(void *tree)
{
    (void)tree;
}
#endif

static uint64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the ratio of the best times; 0 without a peer. */
static double run(const struct input *input)
{
    struct tw_tree *tree = make_tree(input);
    uint64_t theirs_count = 0, *count = &theirs_count, elements = 0;
    uint64_t ours = UINT64_MAX, theirs = UINT64_MAX;
    void *peer = peer_new(input, &count);
    const double bytes = (double)input->size * input->repeats;

    for (unsigned pass = 0; pass < PASSES; pass++) {
        const uint64_t start = now();
        uint64_t middle, end;

        for (unsigned i = 0; i < input->repeats; i++)
            elements = decode_pass(tree, input);
        middle = now();
        theirs_count = 0;
        for (unsigned i = 0; peer && i < input->repeats; i++)
            peer_pass(peer, input);
        end = now();
        ours = middle - start < ours ? middle - start : ours;
        theirs = end - middle < theirs ? end - middle : theirs;
    }
    printf("%s %-8s %8zu bytes, %8" PRIu64 " elements: %5.0f MB/s, %4.1f ns/element",
           input->protocol, input->name, input->size, elements, bytes * 1e3 / (double)ours,
           (double)ours / (double)elements / input->repeats);
    if (peer)
        printf("; peer %4.0f MB/s, %" PRIu64 " elements; %.1fx", bytes * 1e3 / (double)theirs,
               theirs_count / input->repeats, (double)theirs / (double)ours);
    printf("\n");
    tw_tree_free(tree);
    peer_free(peer);
    return peer ? (double)theirs / (double)ours : 0;
}

/* Host instructions per byte of one pass, counted by callgrind on this program; 0: not there. */
static double count_instructions(const char *program, const struct input *input)
{
    char command[1024], line[256];
    double count = 0;
    FILE *pipe;

    (void)snprintf(command, sizeof command,
                   "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
                   "--toggle-collect=decode_pass '%s' --once %s 2>&1",
                   program, input->name);
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

static int run_once(const char *name)
{
    for (size_t i = 0; i < TW_LENGTH(inputs); i++) {
        struct tw_tree *tree;

        if (strcmp(inputs[i].name, name) != 0 || !inputs[i].make(&inputs[i]))
            continue;
        tree = make_tree(&inputs[i]);
        printf("%" PRIu64 " elements\n", decode_pass(tree, &inputs[i]));
        tw_tree_free(tree);
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

/* STM's promise is held on the real capture where there is one. */
int main(int argc, char **argv)
{
    double stm = 0, most[2] = { 0, 0 };

    if (argc == 3 && strcmp(argv[1], "--once") == 0)
        return run_once(argv[2]);
    pin();
    for (size_t i = 0; i < TW_LENGTH(inputs); i++) {
        double ratio, counted;
        double *max = &most[inputs[i].protocol[0] == 'i'];

        if (!inputs[i].make(&inputs[i])) {
            printf("%s %-8s skipped: no corpus\n", inputs[i].protocol, inputs[i].name);
            continue;
        }
        ratio = run(&inputs[i]);
        if (stm == 0)
            stm = ratio;
        counted = count_instructions(argv[0], &inputs[i]);
        if (counted > 0)
            printf("%s %-8s host instructions per byte: %.2f\n", inputs[i].protocol,
                   inputs[i].name, counted);
        else
            printf("%s %-8s host instructions not counted: no valgrind\n", inputs[i].protocol,
                   inputs[i].name);
        *max = counted > *max ? counted : *max;
        free(inputs[i].data);
    }
    if (stm > 0)
        printf("ratio stm/decode %.2f\n", stm);
    if (most[0] > 0)
        printf("ratio stm/instructions %.3f\n", most[0]);
    if (most[1] > 0)
        printf("ratio itm/instructions %.3f\n", most[1]);
    return 0;
}
