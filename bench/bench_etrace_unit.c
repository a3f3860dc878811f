/* SPDX-License-Identifier: BSD-2-Clause */
/* The RISC-V trace encoders, E-Trace and N-Trace: bits of trace for each instruction in each mode, on the
   programs of the corpus (--table: as docs/etrace-efficiency.md has it), and how fast they take blocks. */
#define _GNU_SOURCE /* sched_setaffinity */

#include "harness.h"

#include <dirent.h>
#include <stdbool.h>

#include <trackway/hart.h>
#include <trackway/ntrace_unit.h>

enum { PATH = 700, MODES = 12, NMODES = 9 };

/* Parameters and modes of one column. */
static const struct {
    const char *name, *settings;
} modes[MODES] = {
    { "delta", "" },
    { "full", "full_address=1" },
    { "sijump", "sijump_p=1" },
    { "counter", "implicit_return=1,call_counter_size_p=7" },
    { "stack", "implicit_return=1,return_stack_size_p=4" },
    { "cache", "jump_target_cache=1,cache_size_p=7" },
    { "predict", "branch_prediction=1,bpred_size_p=7,bpred_reset_on_sync=1" },
    { "stack+sij", "implicit_return=1,return_stack_size_p=4,sijump_p=1" },
    { "stack+cache",
      "implicit_return=1,return_stack_size_p=4,jump_target_cache=1,cache_size_p=7" },
    { "stack+pred",
      "implicit_return=1,return_stack_size_p=4,branch_prediction=1,bpred_size_p=7,"
      "bpred_reset_on_sync=1" },
    { "cache+pred", "jump_target_cache=1,cache_size_p=7,branch_prediction=1,bpred_size_p=7,"
                    "bpred_reset_on_sync=1" },
    { "all", "implicit_return=1,return_stack_size_p=4,sijump_p=1,jump_target_cache=1,"
             "cache_size_p=7,branch_prediction=1,bpred_size_p=7,bpred_reset_on_sync=1" },
};

/* The same of N-Trace. */
static const struct {
    const char *name, *settings;
} nmodes[NMODES] = {
    { "N btm", "mode=btm" },
    { "N htm", "mode=htm" },
    { "N htm alljumps", "mode=htm,all_jumps=1" },
    { "N htm sijump", "mode=htm,sequential_jump=1" },
    { "N htm counter", "mode=htm,implicit_return_mode=1,implicit_return_depth=16" },
    { "N htm stack", "mode=htm,implicit_return_mode=3,implicit_return_depth=16" },
    { "N htm repeat", "mode=htm,repeat_history=1,repeat_branch=1,hist_max_bits=31" },
    { "N btm stack+rpt",
      "mode=btm,implicit_return_mode=3,implicit_return_depth=16,repeat_branch=1" },
    { "N all", "mode=htm,implicit_return_mode=3,implicit_return_depth=16,repeat_history=1,hist_"
               "max_bits=31,"
               "repeat_branch=1,sequential_jump=1" },
};

struct run {
    struct tw_etrace_block *blocks;
    size_t count, room;
    uint64_t instructions;
    unsigned xlen;
};

static const char *corpus(void)
{
    const char *named = getenv("TRACKWAY_CORPUS");

    return named ? named : "../shared/corpus";
}

static struct tw_etrace_config make_config(unsigned xlen, const char *settings)
{
    struct tw_etrace_config config;
    struct tw_fault fault;

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    config.iaddress_width = config.xlen = (uint8_t)xlen;
    config.itype_width = 4;
    config.privilege_width = 3;
    config.ecause_width = 6;
    config.f0s_width = 1;
    config.retires = 200;
    config.resync_packets = 1024;
    if (tw_etrace_config_read(&config, settings, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    return config;
}

static void read_run(struct run *run, const char *log, struct tw_image *image)
{
    const struct tw_etrace_config config = make_config(run->xlen, "");
    const struct tw_hart_options options = { .size = sizeof options,
                                             .trace = &config,
                                             .image = image };
    struct tw_hart_event event;
    struct tw_fault fault;
    struct tw_hart *hart;

    if (tw_hart_open(&hart, log, &options, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    run->count = 0;
    while (tw_hart_next(hart, &event) == TW_OK) {
        if (event.cycle.block_count == 0)
            continue;
        if (run->count == run->room) {
            run->room = run->room ? 2 * run->room : 4096;
            run->blocks = realloc(run->blocks, run->room * sizeof *run->blocks);
            if (!run->blocks)
                bench_stop("no memory");
        }
        run->blocks[run->count++] = event.cycle.blocks[0];
    }
    run->instructions = tw_hart_instructions(hart);
    tw_hart_free(hart);
}

/* A program of the corpus; false: it has code that needs more to be read. */
static bool open_program(struct run *run, const char *name)
{
    const struct tw_region region = { .size = sizeof region };
    char path[PATH], line[200];
    struct tw_image *image;
    FILE *file;

    if (*name == '.' || strncmp(name, "zc", 2) == 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/riscv/programs/%s/image.txt", corpus(), name);
    file = fopen(path, "r");
    if (!file)
        return false;
    run->xlen = 64;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "xlen 32", 7) == 0)
            run->xlen = 32;
    (void)fclose(file);
    if (tw_image_new(&image, NULL, NULL) != TW_OK ||
        tw_image_add_segments(image, &region, path) != TW_OK)
        bench_stop("no image");
    (void)snprintf(path, sizeof path, "%s/riscv/programs/%s/pcs.txt.gz", corpus(), name);
    read_run(run, path, image);
    tw_image_free(image);
    return true;
}

static bool open_exec(struct run *run, const char *name)
{
    const struct tw_region region = { .size = sizeof region };
    struct tw_image *image;
    char path[PATH];

    (void)snprintf(path, sizeof path, "%s/exec/logs/%s.elf", corpus(), name);
    run->xlen = 64;
    if (tw_image_new(&image, NULL, NULL) != TW_OK ||
        tw_image_add_elf(image, &region, path) != TW_OK) {
        tw_image_free(image);
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/exec/logs/%s.exlog.gz", corpus(), name);
    read_run(run, path, image);
    tw_image_free(image);
    return true;
}

/* What the encoder makes of a run; *bytes: its packets' payloads. */
void encode_pass(struct tw_etrace_unit *unit, const struct run *run);
void encode_pass(struct tw_etrace_unit *unit, const struct run *run)
{
    if (tw_etrace_unit_retire(unit, run->blocks, run->count) != TW_OK)
        bench_stop("%s", tw_etrace_unit_fault(unit));
}

static struct tw_etrace_unit *make_unit(const struct tw_etrace_config *config)
{
    const struct tw_etrace_unit_config choices = { .size = sizeof choices, .trace = config };
    struct tw_etrace_unit *unit;
    struct tw_fault fault;

    if (tw_etrace_unit_new(&unit, &choices, &fault) != TW_OK ||
        tw_etrace_unit_write_field(unit, "iEnable", 1) != TW_OK)
        bench_stop("%s", fault.text);
    return unit;
}

static double bits(const struct run *run, const char *settings)
{
    const struct tw_etrace_config config = make_config(run->xlen, settings);
    struct tw_etrace_unit *unit = make_unit(&config);
    struct tw_etrace_unit_counts counts;

    encode_pass(unit, run);
    if (tw_etrace_unit_write_field(unit, "iEnable", 0) != TW_OK)
        bench_stop("cannot end");
    tw_etrace_unit_counts(unit, &counts);
    tw_etrace_unit_free(unit);
    return 8.0 * (double)counts.bytes / (double)run->instructions;
}

static void ntrace_pass(struct tw_ntrace_unit *unit, const struct run *run)
{
    if (tw_ntrace_unit_retire(unit, run->blocks, run->count) != TW_OK)
        bench_stop("%s", tw_ntrace_unit_fault(unit));
}

static void drop_bytes(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
}

static struct tw_ntrace_unit *make_ntrace(unsigned xlen, const char *settings)
{
    struct tw_ntrace_config config;
    const struct tw_ntrace_unit_config choices = { .size = sizeof choices,
                                                   .trace = &config,
                                                   .write = drop_bytes };
    struct tw_ntrace_unit *unit;
    struct tw_fault fault = { TW_OK, "" };

    tw_ntrace_config_init(&config);
    config.xlen = (uint8_t)xlen;
    config.sync_messages = 1024;
    if (tw_ntrace_config_read(&config, settings, &fault) != TW_OK ||
        tw_ntrace_unit_new(&unit, &choices, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    if (tw_ntrace_unit_write_field(unit, "trTeEnable", 1) != TW_OK ||
        tw_ntrace_unit_write_field(unit, "trTeInstTracing", 1) != TW_OK)
        bench_stop("cannot begin");
    return unit;
}

static double ntrace_bits(const struct run *run, const char *settings)
{
    struct tw_ntrace_unit *unit = make_ntrace(run->xlen, settings);
    struct tw_ntrace_unit_counts counts;

    ntrace_pass(unit, run);
    if (tw_ntrace_unit_write_field(unit, "trTeEnable", 0) != TW_OK)
        bench_stop("cannot end");
    tw_ntrace_unit_counts(&counts, unit);
    tw_ntrace_unit_free(unit);
    return 8.0 * (double)counts.bytes / (double)run->instructions;
}

static void print_row(const char *name, const struct run *run, double sums[MODES + NMODES])
{
    printf("| %s | %llu |", name, (unsigned long long)run->instructions);
    for (unsigned i = 0; i < MODES + NMODES; i++) {
        const double value = i < MODES ? bits(run, modes[i].settings)
                                       : ntrace_bits(run, nmodes[i - MODES].settings);

        sums[i] += value;
        printf(" %.3f |", value);
    }
    printf("\n");
}

static void print_head(void)
{
    printf("| program | instructions |");
    for (unsigned i = 0; i < MODES + NMODES; i++)
        printf(" %s |", i < MODES ? modes[i].name : nmodes[i - MODES].name);
    printf("\n|---|---|");
    for (unsigned i = 0; i < MODES + NMODES; i++)
        printf("---|");
    printf("\n");
}

static void print_table(struct run *run)
{
    static const char *const logs[] = { "rv64-recur", "rv64-interp", "rv64-sorts" };
    double sums[MODES + NMODES] = { 0 };
    unsigned rows = 0;
    struct dirent **entries;
    char path[PATH];
    int count;

    (void)snprintf(path, sizeof path, "%s/riscv/programs", corpus());
    count = scandir(path, &entries, NULL, alphasort);
    if (count <= 0) {
        printf("skipped: no corpus\n");
        return;
    }
    print_head();
    for (int i = 0; i < count; i++) {
        if (open_program(run, entries[i]->d_name)) {
            print_row(entries[i]->d_name, run, sums);
            rows++;
        }
        free(entries[i]);
    }
    free(entries);
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        if (open_exec(run, logs[i])) {
            print_row(logs[i], run, sums);
            rows++;
        }
    printf("| mean | |");
    for (unsigned i = 0; i < MODES + NMODES; i++)
        printf(" %.3f |", sums[i] / rows);
    printf("\n");
}

/* Millions of instructions a second. */
static double speed(const struct run *run, const char *settings)
{
    const struct tw_etrace_config config = make_config(run->xlen, settings);
    struct tw_etrace_unit *unit = make_unit(&config);
    struct bench_times times;

    for (int i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();

        encode_pass(unit, run);
        times.all[i] = bench_now() - start;
    }
    bench_sort(&times);
    tw_etrace_unit_free(unit);
    return (double)run->instructions / bench_median(&times) * 1e3;
}

static double ntrace_speed(const struct run *run, const char *settings)
{
    struct tw_ntrace_unit *unit = make_ntrace(run->xlen, settings);
    struct bench_times times;

    for (int i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();

        ntrace_pass(unit, run);
        times.all[i] = bench_now() - start;
    }
    bench_sort(&times);
    tw_ntrace_unit_free(unit);
    return (double)run->instructions / bench_median(&times) * 1e3;
}

/* The slowest of its modes. */
static double least_speed(const struct run *run, const char *name, bool is_ntrace)
{
    double least = 1e9;

    for (unsigned k = 0; k < (is_ntrace ? NMODES : MODES); k++) {
        const double now =
            is_ntrace ? ntrace_speed(run, nmodes[k].settings) : speed(run, modes[k].settings);

        printf("# %-12s %-16s %8.1f M instructions/s\n", name,
               is_ntrace ? nmodes[k].name : modes[k].name, now);
        if (now < least)
            least = now;
    }
    return least;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "coremark", "dhrystone", "hello_world" };
    struct run run = { .blocks = NULL };
    double least = 1e9, least_ntrace = 1e9, of_etrace, of_ntrace;

    bench_pin();
    print_table(&run);
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        free(run.blocks);
        return 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!open_program(&run, names[i]))
            continue;
        of_etrace = least_speed(&run, names[i], false);
        of_ntrace = least_speed(&run, names[i], true);
        if (of_etrace < least)
            least = of_etrace;
        if (of_ntrace < least_ntrace)
            least_ntrace = of_ntrace;
    }
    if (least < 1e9)
        bench_result("etrace-unit/of-50-million", least / 50,
                     "  times 50 million instructions a second, in the slowest mode");
    if (least_ntrace < 1e9)
        bench_result("ntrace-unit/of-100-million", least_ntrace / 100,
                     "  times 100 million instructions a second, in the slowest mode");
    free(run.blocks);
    return 0;
}
