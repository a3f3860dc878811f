/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the N-Trace encoder and back through the decoder, with every option alone
   and with every pair of options, in BTM and HTM: the path is the same. */
#include "check.h"

#include "ntrace/test_trip.h"

enum option {
    RETURN_COUNT,
    RETURN_PARTIAL,
    RETURN_FULL,
    REPEAT_HISTORY,
    REPEAT_BRANCH,
    SEQUENTIAL,
    ALL_JUMPS,
    EXTENDED,
    TIMES,
    OWNERSHIP,
    SYNC_MERGED,
    SYNC_AT_ONCE,
    SYNC_HIST,
    SHORT_COUNT,
    SHORT_HISTORY,
    SOURCE,
    OPTIONS
};

static const char *const names[OPTIONS] = {
    "count",         "partial",    "full",      "repeat-history",
    "repeat-branch", "sequential", "alljumps",  "extend",
    "times",         "ownership",  "sync",      "sync-exact",
    "sync-hist",     "icnt",       "histshort", "src"
};

static void set_option(struct setup *setup, unsigned option, unsigned turn)
{
    struct tw_ntrace_config *config = &setup->config;

    switch (option) {
    case RETURN_COUNT:
    case RETURN_PARTIAL:
    case RETURN_FULL:
        config->return_mode = (uint8_t)(1 + option - RETURN_COUNT);
        config->return_depth = turn % 3 == 0 ? 2 : turn % 3 == 1 ? 8 : 32;
        setup->run.has_wild_returns = option == RETURN_FULL;
        break;
    case REPEAT_HISTORY:
        config->repeat_history = true;
        break;
    case REPEAT_BRANCH:
        config->repeat_branch = true;
        break;
    case SEQUENTIAL:
        config->sequential_jump = true;
        break;
    case ALL_JUMPS:
        config->all_jumps = true;
        break;
    case EXTENDED:
        config->extend_addr = true;
        break;
    case TIMES:
        config->timestamps = true;
        config->time_width = turn % 3 ? 0 : 8;
        setup->unit.sparse_times = turn % 4 == 1;
        break;
    case OWNERSHIP:
        config->ownership = true;
        setup->unit.has_hcontext = turn % 3 == 1;
        setup->run.has_contexts = true;
        break;
    case SYNC_MERGED:
    case SYNC_AT_ONCE:
    case SYNC_HIST:
        config->sync_style = (uint8_t)(option - SYNC_MERGED);
        config->sync_messages = 1 + turn % 40;
        break;
    case SHORT_COUNT:
        config->icnt_max = 1 + turn % 33;
        setup->unit.sync_when_full = turn % 2;
        break;
    case SHORT_HISTORY:
        config->hist_max = (uint8_t)(2 + turn % 8);
        break;
    case SOURCE:
        config->src_bits = (uint8_t)(1 + turn % 12);
        config->src = (uint16_t)(0xabc & ((1u << config->src_bits) - 1));
        break;
    default:
        break;
    }
    (void)snprintf(setup->name + strlen(setup->name), sizeof setup->name - strlen(setup->name),
                   " %s", names[option]);
}

static struct setup make_setup(bool is_btm, const unsigned *options, size_t count,
                               unsigned turn)
{
    struct setup setup = { .name = "" };

    tw_ntrace_config_init(&setup.config);
    (void)snprintf(setup.name, sizeof setup.name, "%s", is_btm ? "btm" : "htm");
    setup.run = (struct run_options){ .is_rv32 = turn % 3 == 0,
                                      .has_sijumps = true,
                                      .may_trap = turn % 5 != 4 };
    setup.config.mode = is_btm ? TW_NTRACE_MODE_BTM : TW_NTRACE_MODE_HTM;
    setup.config.xlen = setup.run.is_rv32 ? 32 : 64;
    setup.config.btype = turn % 4 == 1;
    setup.unit.short_messages = turn % 3 == 2;
    setup.is_grouped = turn % 2;
    for (size_t i = 0; i < count; i++)
        set_option(&setup, options[i], turn);
    /* What does not look at the address of a return cannot see that another task returns. */
    if (setup.config.return_mode == 1 || setup.config.return_mode == 2)
        setup.run.has_contexts = false;
    (void)snprintf(setup.name + strlen(setup.name), sizeof setup.name - strlen(setup.name),
                   " turn %u", turn);
    return setup;
}

struct bench {
    struct program program;
    struct history history;
    struct bytes trace;
    struct tw_image *image;
    struct check_random random;
    size_t number;
};

static void try_setup(struct bench *bench, const struct setup *setup)
{
    struct path got = path_of(NULL), want = path_of(NULL);

    got.has_no_contexts = true;
    check_case("program %zu, %s", bench->number, setup->name);
    run_program(&bench->history, &bench->program, &setup->run, &bench->random);
    encode(&bench->trace, setup, &bench->history);
    decode_path(&got, setup, bench->image, &bench->trace);
    expect(&want, setup, &bench->history, 0, bench->history.count);
    path_close(&want);
    tw_text_add(&want.lines, "G off 4\n");
    CHECK_EQ(got.errors, 0);
    CHECK_EQ(got.instructions, want.instructions);
    CHECK_TEXT(got.lines.chars, want.lines.chars);
    path_free(&got);
    path_free(&want);
}

static bool excludes(unsigned a, unsigned b)
{
    const bool returns = a <= RETURN_FULL && b <= RETURN_FULL;
    const bool syncs = a >= SYNC_MERGED && a <= SYNC_HIST && b >= SYNC_MERGED && b <= SYNC_HIST;

    return a != b && (returns || syncs);
}

static size_t each_setup(struct bench *bench, unsigned turn)
{
    size_t count = 0;

    for (unsigned is_btm = 0; is_btm < 2; is_btm++)
        for (unsigned a = 0; a < OPTIONS; a++)
            for (unsigned b = a; b < OPTIONS; b++) {
                const unsigned options[2] = { a, b };
                struct setup setup;

                if (excludes(a, b))
                    continue;
                setup = make_setup(is_btm, options, a == b ? 1 : 2, turn++);
                try_setup(bench, &setup);
                count++;
            }
    return count;
}

static void round_trips(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(2000) / (check_scale(10) == 10 ? 1 : 10);
    size_t setups = 0;

    (void)state;
    CHECK(bench != NULL);
    bench->random = check_random_start(20241121);
    for (size_t i = 0; i < programs; i++) {
        const struct tw_region region = { .size = sizeof region,
                                          .address = BASE,
                                          .length = CODE };

        bench->number = i;
        make_program(&bench->program, &bench->random);
        CHECK_EQ(tw_image_new(&bench->image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(bench->image, &region, bench->program.code), TW_OK);
        setups = each_setup(bench, (unsigned)i);
        tw_image_free(bench->image);
    }
    print_message("%zu programs in %zu configurations\n", programs, setups);
    free(bench->trace.bytes);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_trips) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
