/* SPDX-License-Identifier: BSD-2-Clause */
/* The random program through the encoders of E-Trace and N-Trace. */
#include "make.h"

enum {
    CHUNK = 512,
    TEXT = 16384,
    PACKET = 8 /* bytes, about */,
    MESSAGE = 3 /* of BTM */,
    TABLE_BITS = 7
};

static void write_bytes(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    if (stream == 0)
        make_append(context, bytes, size);
}

static void configure(struct tw_etrace_config *config, const struct make_wish *wish)
{
    tw_etrace_config_init(config, TW_ETRACE_LAYOUT_V2);
    config->iaddress_width = 64;
    config->xlen = 64;
    config->privilege_width = 2;
    config->itype_width = 4;
    config->ecause_width = 5;
    config->nocontext = true;
    config->notime = !wish->times;
    config->time_width = 32;
    config->retires = 200;
    config->resync_packets = wish->sync / PACKET;
    config->encapsulation = TW_ETRACE_ENCAP_LEN5_TYPE2;
    if (strcmp(wish->protocol, "etrace-jtc") == 0) {
        config->options |= TW_ETRACE_JUMP_TARGET_CACHE;
        config->cache_size = TABLE_BITS;
    }
    if (strcmp(wish->protocol, "etrace-bpred") == 0) {
        config->options |= TW_ETRACE_BRANCH_PREDICTION;
        config->bpred_size = TABLE_BITS;
        config->bpred_reset_on_sync = true;
    }
}

static struct tw_etrace_unit *new_unit(const struct tw_etrace_config *trace,
                                       struct make_bytes *out)
{
    const struct tw_etrace_unit_config config = {
        .size = sizeof config, .trace = trace, .write = write_bytes, .write_context = out
    };
    struct tw_etrace_unit *unit;
    struct tw_fault fault;

    if (tw_etrace_unit_new(&unit, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    bench_need(tw_etrace_unit_write_field(unit, "iEnable", 1), "iEnable");
    return unit;
}

static uint8_t itype_of(const struct tw_retired *last)
{
    if (last->flags & TW_RETIRED_CONDITIONAL)
        return last->flags & TW_RETIRED_TAKEN ? TW_ETRACE_ITYPE_TAKEN
                                              : TW_ETRACE_ITYPE_NOT_TAKEN;
    if (last->flags & TW_RETIRED_RETURN)
        return TW_ETRACE_ITYPE_RETURN;
    if (last->kind == TW_RETIRED_INDIRECT)
        return TW_ETRACE_ITYPE_CALL;
    return last->flags & TW_RETIRED_LINK ? TW_ETRACE_ITYPE_INFERABLE_CALL
                                         : TW_ETRACE_ITYPE_INFERABLE_JUMP;
}

/* What of it an encoder takes at a time. */
static void next_blocks(struct make_program *program, struct tw_etrace_block *blocks)
{
    struct tw_retired run[MAKE_RUN];

    for (unsigned i = 0; i < CHUNK; i++) {
        const unsigned count = make_run(program, run);

        blocks[i] = (struct tw_etrace_block){ .iaddr = run[0].address,
                                              .time = program->executed,
                                              .iretire = 2 * count,
                                              .itype = itype_of(&run[count - 1]),
                                              .ilastsize = 1 };
    }
}

static void make_etrace(struct subject *subject, struct make_program *program, char *text,
                        struct make_bytes *out, const struct make_wish *wish)
{
    struct tw_etrace_block blocks[CHUNK];
    struct tw_etrace_config config;
    struct tw_etrace_unit *unit;

    configure(&config, wish);
    if (tw_etrace_config_text(text, TEXT, &config) >= TEXT)
        bench_stop("the configuration is too long");
    unit = new_unit(&config, out);
    while (out->size < wish->bytes) {
        uint64_t start;

        next_blocks(program, blocks);
        start = bench_now();
        if (tw_etrace_unit_retire(unit, blocks, CHUNK) != TW_OK)
            bench_stop("%s", tw_etrace_unit_fault(unit));
        subject->making += (double)(bench_now() - start) * 1e-9;
        tw_etrace_unit_flush(unit); /* so that what is there can be seen */
    }
    bench_need(tw_etrace_unit_write_field(unit, "iEnable", 0), "iEnable");
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
    (void)snprintf(subject->name, sizeof subject->name, "made%s",
                   wish->protocol + strlen("etrace"));
}

static void write_messages(void *context, const uint8_t *bytes, size_t size)
{
    make_append(context, bytes, size);
}

static struct tw_ntrace_unit *new_ntrace(const struct tw_ntrace_config *trace,
                                         struct make_bytes *out)
{
    const struct tw_ntrace_unit_config config = {
        .size = sizeof config, .trace = trace, .write = write_messages, .write_context = out
    };
    struct tw_ntrace_unit *unit;
    struct tw_fault fault;

    if (tw_ntrace_unit_new(&unit, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    bench_need(tw_ntrace_unit_write_field(unit, "trTeEnable", 1), "trTeEnable");
    bench_need(tw_ntrace_unit_write_field(unit, "trTeInstTracing", 1), "trTeInstTracing");
    return unit;
}

static void make_ntrace(struct subject *subject, struct make_program *program, char *text,
                        struct make_bytes *out, const struct make_wish *wish)
{
    const bool is_btm = strcmp(wish->protocol, "ntrace-btm") == 0;
    struct tw_etrace_block blocks[CHUNK];
    struct tw_ntrace_config config;
    struct tw_ntrace_unit *unit;

    tw_ntrace_config_init(&config);
    config.mode = is_btm ? TW_NTRACE_MODE_BTM : TW_NTRACE_MODE_HTM;
    config.timestamps = wish->times;
    config.sync_messages = wish->sync / (is_btm ? MESSAGE : PACKET);
    if (tw_ntrace_config_text(text, TEXT, &config) >= TEXT)
        bench_stop("the configuration is too long");
    unit = new_ntrace(&config, out);
    while (out->size < wish->bytes) {
        uint64_t start;

        next_blocks(program, blocks);
        start = bench_now();
        if (tw_ntrace_unit_retire(unit, blocks, CHUNK) != TW_OK)
            bench_stop("%s", tw_ntrace_unit_fault(unit));
        subject->making += (double)(bench_now() - start) * 1e-9;
    }
    bench_need(tw_ntrace_unit_write_field(unit, "trTeEnable", 0), "trTeEnable");
    tw_ntrace_unit_flush(unit);
    tw_ntrace_unit_free(unit);
    (void)snprintf(subject->name, sizeof subject->name, "made%s", is_btm ? "-btm" : "");
}

void make_riscv(struct subject *subject, struct make_bytes *out, const struct make_wish *wish)
{
    const bool is_etrace = strncmp(wish->protocol, "etrace", 6) == 0;
    struct tw_tree_source *source = &subject->sources[subject->source_count++];
    char *text = subject_own(subject, bench_allocate(TEXT));
    struct make_program program;

    make_program(&program, wish, TW_ISA_RV64);
    (is_etrace ? make_etrace : make_ntrace)(subject, &program, text, out, wish);
    make_program_finish(&program, subject);
    *source = (struct tw_tree_source){ .size = sizeof *source,
                                       .protocol = is_etrace ? "etrace" : "ntrace",
                                       .text = text,
                                       .image = subject->image };
}
