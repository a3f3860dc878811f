/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are written and read again, encoders and simulators, without memory (memory.h). */
#include "memory.h"

/* The bytes of a file, which then goes. */
static void add_file(struct use *use, const char *path)
{
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    size_t size;

    while (file && (size = fread(bytes, 1, sizeof bytes, file)) > 0)
        add(use, bytes, size);
    if (file)
        CHECK_EQ(fclose(file), 0);
    (void)remove(path);
}

/* A result that was kept as a file: twice that, added up. */
static enum tw_status merge_it(struct use *use, enum tw_status saved)
{
    static const char *const parts[] = { "memory-part.twr", "memory-part.twr" };

    if (saved == TW_OK)
        saved = tw_merge("memory-sum.twr", parts, 2, use->allocator, NULL);
    (void)remove(parts[0]);
    add_file(use, "memory-sum.twr");
    return saved;
}

static enum tw_status count_all(struct use *use, const struct tw_run_counter *counter)
{
    TRY(begin(use, counter));
    if (use->profile)
        tw_profile_run(use->profile, use->counted);
    if (use->coverage)
        tw_coverage_run(use->coverage, use->counted);
    return tw_run_all(use->counted);
}

static enum tw_status use_profile(struct use *use)
{
    const struct tw_profile_config config = { .size = sizeof config,
                                              .by = TW_PROFILE_LINE,
                                              .allocator = use->allocator };
    struct tw_run_counter counter;

    TRY(open_demo(use));
    TRY(tw_profile_new(&use->profile, &config, NULL));
    counter = tw_profile_counter(use->profile);
    TRY(count_all(use, &counter));
    TRY(tw_profile_finish(use->profile));
    return merge_it(use, tw_profile_save(use->profile, "memory-part.twr", NULL));
}

static enum tw_status use_coverage(struct use *use)
{
    const struct tw_coverage_config config = { .size = sizeof config,
                                               .allocator = use->allocator };
    struct tw_run_counter counter;

    TRY(open_demo(use));
    TRY(tw_coverage_new(&use->coverage, &config, NULL));
    counter = tw_coverage_counter(use->coverage);
    TRY(count_all(use, &counter));
    return merge_it(use, tw_coverage_save(use->coverage, "memory-part.twr", NULL));
}

static enum tw_status use_statistics(struct use *use)
{
    TRY(open_demo(use));
    TRY(tw_statistics_new(&use->statistics, use->capture, use->allocator, NULL));
    TRY(count_all(use, tw_statistics_counter(use->statistics)));
    TRY(tw_statistics_end_packets(use->statistics));
    return merge_it(use, tw_statistics_save(use->statistics, "memory-part.twr", NULL));
}

static enum tw_status use_calls(struct use *use)
{
    const struct tw_calls_config config = { .size = sizeof config,
                                            .allocator = use->allocator };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status;

    TRY(open_demo(use));
    TRY(begin(use, NULL));
    TRY(tw_calls_new(&use->calls, &config, NULL));
    while ((status = tw_run_next(use->run, &part)) == TW_OK)
        TRY(tw_calls_take(use->calls, use->run, &part));
    if (status != TW_END)
        return status;
    TRY(tw_calls_finish(use->calls));
    return merge_it(use, tw_calls_save(use->calls, "memory-part.twr", NULL));
}

/* A pyramid, kept, loaded and kept again. */
static enum tw_status use_pyramid(struct use *use)
{
    enum tw_status status;

    TRY(make_pyramid(use));
    status = tw_pyramid_save(use->pyramid, "memory-part.twp", NULL);
    tw_pyramid_free(use->pyramid);
    use->pyramid = NULL;
    if (status == TW_OK)
        status = tw_pyramid_load(&use->pyramid, "memory-part.twp", use->allocator, NULL);
    (void)remove("memory-part.twp");
    if (status == TW_OK)
        status = tw_pyramid_save(use->pyramid, "memory-again.twp", NULL);
    add_file(use, "memory-again.twp");
    return status;
}

static bool write_at(void *context, uint64_t offset, const void *bytes, size_t size)
{
    return fseek(context, (long)offset, SEEK_SET) == 0 &&
           fwrite(bytes, 1, size, context) == size;
}

static enum tw_status write_recording(struct use *use, FILE *file)
{
    static const struct tw_register registers[] = { { "TRCCONFIGR", 0x41 },
                                                    { "TRCTRACEIDR", 0x10 },
                                                    { "TRCIDR0", 0x28000ea1 },
                                                    { "TRCIDR1", 0x4100f403 },
                                                    { "TRCIDR2", 0x488 } };
    /* A-sync, Trace Info, Trace On, an address with context, atoms. */
    static const uint8_t trace[] = {
        0, 0, 0,    0, 0, 0, 0,    0,    0,    0,    0, 0x80, 1,
        0, 4, 0x82, 0, 8, 0, 0x40, 0x71, 0xb9, 0x0b, 0, 0,    0xf7
    };
    const struct tw_perf_cpu cpu = { 0, registers, sizeof registers / sizeof registers[0] };
    const struct tw_perf_writer_config config = { .size = sizeof config,
                                                  .protocol = "etmv4",
                                                  .cpus = &cpu,
                                                  .cpu_count = 1,
                                                  .machine = "aarch64",
                                                  .time_mult = 1,
                                                  .write = write_at,
                                                  .write_context = file,
                                                  .allocator = use->allocator };
    const struct tw_perf_mapping mapping = {
        .address = 0x400000, .length = 0x1000, .protection = 5, .flags = 2
    };
    const struct tw_perf_stamp stamp = { 1000, 3001, 3001, 0 };

    TRY(tw_perf_writer_new(&use->writer, &config, NULL));
    TRY(tw_perf_writer_comm(use->writer, &stamp, "recur", true));
    TRY(tw_perf_writer_map(use->writer, &stamp, &mapping, "/recur.elf"));
    TRY(tw_perf_writer_start(use->writer, &stamp));
    TRY(tw_perf_writer_trace(use->writer, &stamp, trace, sizeof trace, 0));
    return tw_perf_writer_finish(use->writer);
}

/* A recording of perf, written, opened and decoded. */
static enum tw_status use_perf(struct use *use)
{
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sysroot = CAPTURES "demo",
                                                .allocator = use->allocator };
    FILE *file = fopen("memory-perf.data", "wb");
    struct tw_part part = { .size = sizeof part };
    enum tw_status status;

    assert_non_null(file);
    status = write_recording(use, file);
    CHECK_EQ(fclose(file), 0);
    if (status == TW_OK)
        status = tw_capture_open(&use->capture, "memory-perf.data", &options, NULL);
    if (status == TW_OK)
        status = begin(use, NULL);
    while (status == TW_OK && (status = tw_run_next(use->run, &part)) == TW_OK)
        for (size_t i = 0; i < part.batch.count; i++)
            add_number(use, part.batch.elements[i].type);
    (void)remove("memory-perf.data");
    return status == TW_END ? TW_OK : status;
}

static void add_trace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    add_number(context, stream);
    add(context, bytes, size);
}

/* What a RISC-V hart did, by its encoder. */
static enum tw_status use_hart(struct use *use)
{
    static const char log[] = "itype,iaddr,iretire,ilastsize,priv\n0,1000,1,1,3\n5,1004,1,1,3\n"
                              "0,1020,1,1,3\n5,1024,1,1,3\n0,1000,1,1,3\n4,1004,1,1,3\n"
                              "0,1008,1,1,3\n";
    struct tw_etrace_config trace;
    struct tw_hart_options options = { .size = sizeof options, .allocator = use->allocator };
    struct tw_etrace_unit_config config = { .size = sizeof config,
                                            .write = add_trace,
                                            .write_context = use,
                                            .allocator = use->allocator };

    tw_etrace_config_init(&trace, TW_ETRACE_LAYOUT_V2);
    options.trace = config.trace = &trace;
    TRY(tw_etrace_unit_new(&use->unit, &config, NULL));
    TRY(tw_etrace_unit_write_field(use->unit, "iEnable", 1));
    TRY(tw_hart_open_memory(&use->hart, (const uint8_t *)log, sizeof log - 1, &options, NULL));
    TRY(tw_hart_run(use->hart, use->unit, NULL));
    return tw_etrace_unit_write_field(use->unit, "iEnable", 0);
}

static void add_line(void *context, const char *text, size_t size)
{
    add(context, text, size);
}

static bool give_log(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    static const uint8_t log[] = "trackway-log 1\ncontext el=0\ni 0x1000 14000001\n"
                                 "i 0x1004 14000001\n";

    (void)context;
    (void)name;
    *bytes = log;
    *size = sizeof log - 1;
    return true;
}

/* Both simulators: a Trace Buffer Unit, and components of the RISC-V Trace Control Interface. */
static enum tw_status use_sim(struct use *use)
{
    static const char trbe[] = "memory 0x10000 0x2000\nTRBBASER_EL1 = 0x10000\n"
                               "TRBPTR_EL1 = 0x10000\nTRBLIMITR_EL1 = 0x12001\nisb\n"
                               "file bytes\ntsb\ndsb\n";
    static const char riscv[] =
        "component ram0 ram\ncomponent te0 encoder feeds ram0\ntrRamActive = 1\n"
        "trRamEnable = 1\ntrTeActive = 1\ntrTeControl = 0x01110061\ntrTeEnable = 1\n"
        "trTeInstTracing = 1\nrun\ntrTeEnable = 0\nread trRamWPLow\n";
    static const char hart[] =
        "itype,iaddr,iretire,ilastsize,priv\n0,1000,4,1,0\n5,1008,2,1,0\n";
    const struct tw_sim_config config = { .size = sizeof config,
                                          .context = use,
                                          .line = add_line,
                                          .load = give_log,
                                          .allocator = use->allocator,
                                          .hart_log = (const uint8_t *)hart,
                                          .hart_log_size = sizeof hart - 1 };
    struct tw_sim_result result = { .lines = 0 };

    TRY(tw_sim_run(&result, trbe, sizeof trbe - 1, &config, NULL));
    add_number(use, result.lines);
    TRY(tw_sim_run_riscv(&result, riscv, sizeof riscv - 1, &config, NULL));
    add_number(use, result.lines);
    return TW_OK;
}

static const struct memory_use uses[] = {
    { "profile, merged", use_profile, false },
    { "coverage, merged", use_coverage, false },
    { "statistics, merged", use_statistics, false },
    { "calls, merged", use_calls, false },
    { "pyramid, kept", use_pyramid, false },
    { "perf.data", use_perf, false },
    { "hart", use_hart, false },
    { "simulators", use_sim, false },
};

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    memory_may_run_out(uses, sizeof uses / sizeof uses[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_may_run_out_anywhere) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
