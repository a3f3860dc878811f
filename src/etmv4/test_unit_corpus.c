/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit on execution logs of real programs: encoded, decoded, the same path. */
#include "etmv4/test_buffer.h"
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

enum { NOTHING, FRAMES = WAYS }; /* what the trace goes through, besides the ways of a buffer */

struct programming {
    const char *name;
    bool is_ete;
    uint32_t configr, syncpr, ccctlr;
    unsigned through; /* NOTHING, FRAMES or an enum way */
    uint32_t excluded_levels;
    enum { NO_RANGE, INCLUDE, EXCLUDE } range;
    uint32_t q_instructions;
    uint8_t source_addresses;
};

/* What is to be traced. */
struct choice {
    const struct programming *how;
    uint64_t first, last;
};

static bool wants(void *context, const struct tw_retired *instruction,
                  const struct tw_step_context *where)
{
    const struct choice *choice = context;
    const unsigned level = where->security == TW_SECURE ? where->el : 4u + where->el;
    bool is_in;

    if (!instruction)
        return true; /* nothing is prohibited */
    is_in = instruction->address >= choice->first && instruction->address <= choice->last;
    return !(choice->how->excluded_levels >> level & 1) &&
           (choice->how->range == NO_RANGE || is_in == (choice->how->range == INCLUDE));
}

static struct oracle make_oracle(const char *name, struct choice *choice)
{
    return (struct oracle){ .steps = { .log = open_log(name) },
                            .wants = wants,
                            .wants_context = choice,
                            .p0_kinds = p0_kinds(choice->how->is_ete) };
}

static struct checked_against hold_against(struct oracle *oracle, const struct programming *how,
                                           const char *who)
{
    return (struct checked_against){ .oracle = oracle,
                                     .who = who,
                                     .checks_cid = how->configr >> 6 & 1,
                                     .checks_vmid = how->configr >> 7 & 1 };
}

/* What the unit makes, given to our decoder piece by piece, and kept for OpenCSD. */
struct trace {
    uint8_t *bytes;
    size_t size, room;
    uint64_t total;
    struct buffer *buffer; /* NULL: it goes through none */
    struct check_random random;
};

/* The bytes behind the buffer: the same. */
static const uint8_t *pass(struct trace *trace, const struct programming *how,
                           const uint8_t *bytes, size_t size)
{
    if (!trace->buffer || !size)
        return bytes;
    trace->buffer->drained_size = 0;
    go_through(trace->buffer, (enum way)how->through, &trace->random, bytes, size);
    CHECK_EQ(trace->buffer->drained_size, size);
    return trace->buffer->drained;
}

static void take_output(struct tw_etmv4_unit *unit, struct decoding *decoding,
                        struct checked_against *seen, struct trace *trace,
                        const struct programming *how)
{
    size_t made;
    const uint8_t *bytes = tw_etmv4_unit_output(unit, &made);

    bytes = pass(trace, how, bytes, made);
    decoding_feed(decoding, seen, bytes, made);
    trace->total += made;
    if (HAS_PEER && trace->size + made > trace->room) {
        trace->room = 2 * (trace->size + made);
        trace->bytes = realloc(trace->bytes, trace->room);
        CHECK(trace->bytes);
    }
    if (HAS_PEER && made) {
        memcpy(trace->bytes + trace->size, bytes, made);
        trace->size += made;
    }
    tw_etmv4_unit_take(unit);
}

static void ask_peer(const char *name, const struct tw_etmv4_unit *unit, struct tw_image *image,
                     struct choice *choice, const struct trace *trace)
{
    struct oracle oracle = make_oracle(name, choice);
    struct checked_against seen = hold_against(&oracle, choice->how, "OpenCSD");

    seen.is_loose = choice->how->q_instructions;
    peer_check(unit, choice->how->is_ete, image, &seen, trace->bytes, trace->size);
    free(seen.moments.items);
    tw_log_free(oracle.steps.log);
    free(oracle.waiting);
}

static struct tw_etmv4_unit *make_unit(const struct choice *choice)
{
    const struct programming *how = choice->how;
    const struct tw_etmv4_unit_config config = { .size = sizeof config,
                                                 .is_ete = how->is_ete,
                                                 .q_instructions = how->q_instructions,
                                                 .source_addresses = how->source_addresses };
    struct tw_etmv4_unit *unit;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCVICTLR", 0x201 | how->excluded_levels << 16);
    set_register(unit, "TRCCONFIGR", how->configr);
    set_register(unit, "TRCSYNCPR", how->syncpr);
    set_register(unit, "TRCCCCTLR", how->ccctlr);
    set_register(unit, "TRCACVR0", choice->first);
    set_register(unit, "TRCACVR1", choice->last);
    set_register(unit, "TRCVIIECTLR",
                 how->range == INCLUDE   ? 1
                 : how->range == EXCLUDE ? 0x10000
                                         : 0);
    return unit;
}

static void round_trip(const char *name, struct tw_image *image, struct choice *choice)
{
    const struct programming *how = choice->how;
    struct oracle oracle = make_oracle(name, choice);
    struct checked_against seen = hold_against(&oracle, how, name);
    struct steps steps = { .log = open_log(name) };
    struct tw_etmv4_unit *unit = make_unit(choice);
    struct decoding decoding = decoding_new(unit, how->is_ete, image, how->through == FRAMES);
    struct trace trace = { .random = check_random_start(how->through) };
    struct tw_step step;

    if (how->through != NOTHING && how->through != FRAMES) {
        trace.buffer = malloc(sizeof *trace.buffer);
        CHECK(trace.buffer != NULL);
        buffer_new(trace.buffer, 1 + how->through % PAGES_MOST, TW_TRBE_SEQUENTIAL);
    }
    set_register(unit, "TRCPRGCTLR", 1);
    while (steps_next(&steps, &step)) {
        size_t made;

        CHECK_EQ(tw_etmv4_unit_step(unit, &step), TW_OK);
        (void)tw_etmv4_unit_output(unit, &made);
        if (made >= 65536)
            take_output(unit, &decoding, &seen, &trace, how);
    }
    set_register(unit, "TRCPRGCTLR", 0);
    take_output(unit, &decoding, &seen, &trace, how);
    decoding_end(&decoding, &seen);
    printf("%s, %s: %" PRIu64 " instructions in %" PRIu64 " bytes\n", name, how->name,
           oracle.instructions, trace.total);
    if (HAS_PEER && trace.size)
        ask_peer(name, unit, image, choice, &trace);
    if (trace.buffer)
        buffer_free(trace.buffer);
    free(trace.buffer);
    free(trace.bytes);
    tw_etmv4_unit_free(unit);
    tw_log_free(steps.log);
    tw_log_free(oracle.steps.log);
    free(seen.moments.items);
    free(oracle.waiting);
}

/* The first few are tried on every log at every run, all of them only on demand. */
enum { FEW = 5 };

/* clang-format off */
static const struct programming hows[] = {
    { "ETE", .is_ete = true, .configr = 0x1 },
    { "ETE, return stack, identifiers, fill", .is_ete = true, .configr = 0x10c1, .syncpr = 12, .through = FILL_AGAIN },
    { "ETMv4, time and cycles, frames", .configr = 0x811, .syncpr = 10, .ccctlr = 8, .through = FRAMES },
    { "ETMv4, branch broadcast, wrap", .configr = 0x9, .through = WRAP_SERVED },
    { "ETE, a range, circular", .is_ete = true, .configr = 0x1001, .range = INCLUDE, .through = CIRCULAR_SERVED },

    { "ETE, time", .is_ete = true, .configr = 0x801, .through = TRIGGER_SERVED },
    { "ETE, cycles", .is_ete = true, .configr = 0x11, .ccctlr = 4 },
    { "ETE, branch broadcast", .is_ete = true, .configr = 0x9, .through = FRAMES },
    { "ETE, context identifiers", .is_ete = true, .configr = 0x41, .through = WRAP_SERVED },
    { "ETE, virtual context identifiers", .is_ete = true, .configr = 0x81, .through = CIRCULAR_SERVED },
    { "ETE, return stack", .is_ete = true, .configr = 0x1001 },
    { "ETE, synchronization", .is_ete = true, .configr = 0x1, .syncpr = 8 },
    { "ETE, source addresses", .is_ete = true, .configr = 0x1001, .source_addresses = 2 },
    { "ETE, Q", .is_ete = true, .configr = 0x2001, .q_instructions = 12 },
    { "ETE, only EL0", .is_ete = true, .configr = 0xc1, .excluded_levels = 0x6f },
    { "ETE, only EL1", .is_ete = true, .configr = 0xc1, .excluded_levels = 0x5f, .through = FILL_AGAIN },
    { "ETE, all but a range", .is_ete = true, .configr = 0x1001, .range = EXCLUDE },
    { "ETE, everything", .is_ete = true, .configr = 0x18d9, .syncpr = 9, .ccctlr = 20, .through = FRAMES },
    { "ETMv4", .configr = 0x1 },
    { "ETMv4, time", .configr = 0x801, .through = FRAMES },
    { "ETMv4, cycles", .configr = 0x11, .ccctlr = 4, .through = FILL_AGAIN },
    { "ETMv4, identifiers", .configr = 0xc1, .through = FRAMES },
    { "ETMv4, return stack", .configr = 0x1001, .syncpr = 8, .through = CIRCULAR_SERVED },
    { "ETMv4, a range", .configr = 0x1001, .range = INCLUDE },
    { "ETMv4, all but a range", .configr = 0x1, .range = EXCLUDE, .through = TRIGGER_SERVED },
    { "ETMv4, Q", .configr = 0x2001, .q_instructions = 5 },
    { "ETMv4, everything", .configr = 0x18d9, .syncpr = 9, .ccctlr = 20 },
};
/* clang-format on */

static bool is_full(void)
{
    return check_scale(10) == 10;
}

static void try_log(const char *name, size_t count)
{
    struct memory memory = { 0 };
    struct tw_image *image;

    load_memory(&memory, name);
    image = memory_image(&memory);
    for (size_t i = 0; i < count; i++) {
        /* Some code in the middle of the program. */
        const uint64_t first = memory.pages[memory.count / 2]->base + 0x100;
        struct choice choice = { &hows[i], first, first + 0x7ff };

        check_case("%s, %s", name, hows[i].name);
        round_trip(name, image, &choice);
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
        try_log(own[i], is_full() ? LENGTH(hows) : FEW);
}

/* Of the big ones a few ways, and only on demand. */
static void every_log_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(logs); i++)
        if (!logs[i].is_big || is_full())
            try_log(logs[i].name, is_full() && !logs[i].is_big ? LENGTH(hows) : FEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_our_own_come_back),
        cmocka_unit_test(every_log_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
