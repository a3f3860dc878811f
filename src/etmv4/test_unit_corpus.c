/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit on execution logs of real programs: encoded, decoded, the same path. */
#include "etmv4/test_peer.h"

static const struct {
    const char *name;
    bool is_big;
} logs[] = {
    { "a64-recur", false },    { "a64-indirect", false },     { "a64-sorts", false },
    { "a64-interp", false },   { "a64-straight", false },     { "a64-coro", false },
    { "a64-O0-parse", false }, { "a64-pac-indirect", false }, { "a64-signals", false },
    { "a64-clib", false },     { "t32-sorts", false },        { "t32-interp", false },
    { "a32-recur", false },    { "mix-indirect", false },     { "t32-clib", false },
    { "sys-el", false },       { "a64-sorts-big", true },     { "a64-interp-big", true },
};

/* Of the corpus; a name with a slash is one of the project's own. */
static struct tw_log *open_log(const char *name)
{
    char relative[64], path[1024];
    struct tw_fault fault = { TW_OK, "" };
    struct tw_log *log;

    (void)snprintf(relative, sizeof relative, "exec/logs/%s.exlog.gz", name);
    if (strchr(name, '/'))
        (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/%s.exlog.gz", name);
    else
        check_corpus(path, sizeof path, relative);
    if (tw_log_open(&log, path, NULL, &fault) != TW_OK)
        printf("%s\n", fault.text);
    CHECK(log != NULL);
    return log;
}

static void load_memory(struct memory *memory, const char *name)
{
    struct tw_log *log = open_log(name);
    struct steps steps = { .log = log };
    struct tw_step step;

    while (steps_next(&steps, &step))
        if (step.kind == TW_STEP_INSTRUCTIONS)
            for (size_t i = 0; i < step.count; i++)
                memory_add(memory, &step.instructions[i]);
    tw_log_free(log);
}

struct programming {
    const char *name;
    bool is_ete;
    uint32_t configr, syncpr, ccctlr;
};

/* What the unit makes, given to our decoder piece by piece, and kept for OpenCSD. */
struct trace {
    uint8_t *bytes;
    size_t size, room;
    uint64_t total;
};

static void take_output(struct tw_unit *unit, struct decoding *decoding,
                        struct held_against *seen, struct trace *trace, bool keeps)
{
    size_t made;
    const uint8_t *bytes = tw_unit_output(unit, &made);

    decoding_feed(decoding, seen, bytes, made);
    trace->total += made;
    if (keeps && trace->size + made > trace->room) {
        trace->room = 2 * (trace->size + made);
        trace->bytes = realloc(trace->bytes, trace->room);
        CHECK(trace->bytes);
    }
    if (keeps) {
        memcpy(trace->bytes + trace->size, bytes, made);
        trace->size += made;
    }
    tw_unit_take(unit);
}

static void ask_peer(const char *name, const struct tw_unit *unit, struct tw_image *image,
                     const struct programming *how, const struct trace *trace)
{
    struct oracle oracle = { .steps = { .log = open_log(name) },
                             .p0_kinds = p0_kinds(how->is_ete) };
    struct held_against seen = { .oracle = &oracle,
                                 .checks_cid = how->configr >> 6 & 1,
                                 .checks_vmid = how->configr >> 7 & 1 };

    peer_check(unit, how->is_ete, image, &seen, trace->bytes, trace->size);
    tw_log_free(oracle.steps.log);
    free(oracle.waiting);
}

static void round_trip(const char *name, struct tw_image *image, const struct programming *how,
                       bool asks_peer)
{
    const struct tw_unit_config config = { .size = sizeof config, .is_ete = how->is_ete };
    struct oracle oracle = { .steps = { .log = open_log(name) },
                             .p0_kinds = p0_kinds(how->is_ete) };
    struct held_against seen = { .oracle = &oracle,
                                 .who = name,
                                 .checks_cid = how->configr >> 6 & 1,
                                 .checks_vmid = how->configr >> 7 & 1 };
    struct steps steps = { .log = open_log(name) };
    struct decoding decoding;
    struct tw_step step;
    struct tw_unit *unit;
    struct trace trace = { 0 };

    CHECK_EQ(tw_unit_new(&unit, &config), TW_OK);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCVICTLR", 0x201);
    set_register(unit, "TRCCONFIGR", how->configr);
    set_register(unit, "TRCSYNCPR", how->syncpr);
    set_register(unit, "TRCCCCTLR", how->ccctlr);
    decoding = decoding_new(unit, how->is_ete, image, how->configr & 0x800);
    set_register(unit, "TRCPRGCTLR", 1);
    while (steps_next(&steps, &step)) {
        size_t made;

        CHECK_EQ(tw_unit_step(unit, &step), TW_OK);
        (void)tw_unit_output(unit, &made);
        if (made >= 65536)
            take_output(unit, &decoding, &seen, &trace, asks_peer);
    }
    set_register(unit, "TRCPRGCTLR", 0);
    take_output(unit, &decoding, &seen, &trace, asks_peer);
    decoding_end(&decoding, &seen);
    printf("%s, %s: %" PRIu64 " instructions in %" PRIu64 " bytes\n", name, how->name,
           oracle.instructions, trace.total);
    if (asks_peer && HAS_PEER)
        ask_peer(name, unit, image, how, &trace);
    free(trace.bytes);
    tw_unit_free(unit);
    tw_log_free(steps.log);
    tw_log_free(oracle.steps.log);
    free(oracle.waiting);
}

static const struct programming hows[] = {
    { "ETE", true, 0x1, 0, 0 },
    { "ETE, return stack, identifiers", true, 0x10c1, 12, 0 },
    { "ETMv4, time and cycles", false, 0x811, 10, 8 },
    { "ETMv4, branch broadcast", false, 0x9, 0, 0 },
};

static void try_log(const char *name, bool asks_peer)
{
    struct memory memory = { 0 };
    struct tw_image *image;

    load_memory(&memory, name);
    image = memory_image(&memory);
    for (size_t i = 0; i < LENGTH(hows); i++) {
        check_case("%s, %s", name, hows[i].name);
        round_trip(name, image, &hows[i], asks_peer);
    }
    tw_image_free(image);
    memory_free(&memory);
}

static void logs_of_our_own_come_back(void **state)
{
    static const char *const own[] = {
        "captures/demo",          "captures/logs/a32-recur",
        "captures/logs/a64-coro", "captures/logs/mix-indirect",
        "captures/logs/sys-el",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(own); i++)
        try_log(own[i], true);
}

static void every_log_comes_back(void **state)
{
    const bool is_full = check_scale(10) == 10;

    (void)state;
    for (size_t i = 0; i < LENGTH(logs); i++)
        if (!logs[i].is_big || is_full)
            try_log(logs[i].name, !logs[i].is_big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_our_own_come_back),
        cmocka_unit_test(every_log_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
