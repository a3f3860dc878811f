/* SPDX-License-Identifier: BSD-2-Clause */
/* The random program through the trace units of ETMv4, ETE, PTM and ETMv3. */
#include <trackway/etmv3_unit.h>
#include <trackway/ptm_unit.h>

#include "make.h"

enum { CHUNK = 2048, REGISTERS = 64 };

/* The units behind one face. */
struct unit {
    struct tw_etmv4_unit *v4;
    struct tw_ptm_unit *ptm;
    struct tw_etmv3_unit *etmv3;
};

static const struct tw_step_context process = { .security = TW_NONSECURE };

static void write_v4(struct tw_etmv4_unit *unit, const char *name, uint64_t value)
{
    bench_need(tw_etmv4_unit_write_register(unit, name, value), name);
}

static unsigned log2_of(unsigned value)
{
    unsigned result = 0;

    while (value >>= 1)
        result++;
    return result;
}

static struct tw_etmv4_unit *new_v4(struct tw_tree_source *source,
                                    struct tw_register *registers, const struct make_wish *wish)
{
    const bool is_ete = strcmp(wish->protocol, "ete") == 0;
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = is_ete };
    struct tw_step_context context = process;
    struct tw_etmv4_unit *unit;

    context.is_64bit = true;
    bench_need(tw_etmv4_unit_new(&unit, &config, NULL), "unit");
    bench_need(tw_etmv4_unit_preset(unit, TW_ETMV4_UNIT_MINIMAL, 0, 0), "preset");
    write_v4(unit, "TRCVICTLR", 0x201);
    write_v4(unit, "TRCCONFIGR", wish->times ? 0x801 : 0x001);
    write_v4(unit, "TRCTSCTLR", 0); /* a timestamp with each synchronization */
    write_v4(unit, "TRCSYNCPR", log2_of(wish->sync));
    write_v4(unit, "TRCTRACEIDR", SUBJECT_ID);
    while (source->register_count < REGISTERS &&
           tw_etmv4_unit_register(unit, &registers[source->register_count],
                                  source->register_count) == TW_OK)
        source->register_count++;
    source->core_type = is_ete ? "ARM-AA64" : "Cortex-A57";
    bench_need(tw_etmv4_unit_context(unit, &context), "context");
    write_v4(unit, "TRCPRGCTLR", 1);
    return unit;
}

/* ETMCR: bit 28 is timestamps; the identification of a Cortex-A15's PTM and a Cortex-A7's ETM. */
static void new_v7(struct unit *unit, struct tw_tree_source *source,
                   struct tw_register *registers, const struct make_wish *wish)
{
    const uint32_t control = wish->times ? 0x10000000 : 0;
    const struct tw_ptm_unit_config ptm = { .size = sizeof ptm,
                                            .registers = { .size = sizeof ptm.registers,
                                                           .etmcr = control,
                                                           .etmidr = 0x411cf312,
                                                           .etmccer = 0x00c00000,
                                                           .etmtraceidr = SUBJECT_ID },
                                            .sync_bytes = wish->sync };
    const struct tw_etmv3_unit_config etmv3 = { .size = sizeof etmv3,
                                                .registers = { .size = sizeof etmv3.registers,
                                                               .etmcr = control,
                                                               .etmidr = 0x410cf250,
                                                               .etmccer = 0x10000000,
                                                               .etmtraceidr = SUBJECT_ID },
                                                .sync_bytes = wish->sync };
    const bool is_ptm = strcmp(wish->protocol, "ptm") == 0;

    if (!is_ptm && strcmp(wish->protocol, "etmv3") != 0)
        bench_stop("nothing makes %s", wish->protocol);
    registers[0] = (struct tw_register){ "ETMCR", control };
    registers[1] = (struct tw_register){ "ETMIDR", is_ptm ? 0x411cf312 : 0x410cf250 };
    registers[2] = (struct tw_register){ "ETMCCER", is_ptm ? 0x00c00000 : 0x10000000 };
    registers[3] = (struct tw_register){ "ETMTRACEIDR", SUBJECT_ID };
    source->register_count = 4;
    source->core_type = is_ptm ? "Cortex-A15" : "Cortex-A7";
    if (is_ptm) {
        bench_need(tw_ptm_unit_new(&unit->ptm, &ptm, NULL), "unit");
        bench_need(tw_ptm_unit_context(unit->ptm, &process), "context");
    } else {
        bench_need(tw_etmv3_unit_new(&unit->etmv3, &etmv3, NULL), "unit");
        bench_need(tw_etmv3_unit_context(unit->etmv3, &process), "context");
    }
}

static void retire(struct unit *unit, const struct tw_retired *code, size_t count,
                   uint64_t time)
{
    if (unit->v4) {
        bench_need(tw_etmv4_unit_retire(unit->v4, code, count), "retire");
        return;
    }
    if (unit->ptm) {
        bench_need(tw_ptm_unit_retire(unit->ptm, code, count), "retire");
        bench_need(tw_ptm_unit_time(unit->ptm, time), "time");
        return;
    }
    bench_need(tw_etmv3_unit_retire(unit->etmv3, code, count), "retire");
    bench_need(tw_etmv3_unit_time(unit->etmv3, time), "time");
}

static void take(struct unit *unit, struct make_bytes *out)
{
    size_t size = 0;
    const uint8_t *bytes = unit->v4    ? tw_etmv4_unit_output(unit->v4, &size)
                           : unit->ptm ? tw_ptm_unit_output(unit->ptm, &size)
                                       : tw_etmv3_unit_output(unit->etmv3, &size);

    make_append(out, bytes, size);
    if (unit->v4)
        tw_etmv4_unit_take(unit->v4);
    else if (unit->ptm)
        tw_ptm_unit_take(unit->ptm);
    else
        tw_etmv3_unit_take(unit->etmv3);
}

static void finish(struct unit *unit, struct make_bytes *out)
{
    if (unit->v4)
        write_v4(unit->v4, "TRCPRGCTLR", 0);
    else if (unit->ptm)
        bench_need(tw_ptm_unit_flush(unit->ptm), "flush");
    else
        bench_need(tw_etmv3_unit_flush(unit->etmv3), "flush");
    take(unit, out);
    tw_etmv4_unit_free(unit->v4);
    tw_ptm_unit_free(unit->ptm);
    tw_etmv3_unit_free(unit->etmv3);
}

void make_arm(struct subject *subject, struct make_bytes *out, const struct make_wish *wish)
{
    static const char *const names[] = { "etmv4", "ete", "ptm", "etmv3" };
    struct tw_retired code[CHUNK + MAKE_RUN];
    struct tw_register *registers =
        subject_own(subject, bench_allocate(REGISTERS * sizeof *registers));
    struct tw_tree_source *source = &subject->sources[subject->source_count++];
    const bool is_v4 = wish->protocol[0] == 'e' && strcmp(wish->protocol, "etmv3") != 0;
    struct make_program program;
    struct unit unit = { 0 };

    *source = (struct tw_tree_source){ .size = sizeof *source, .registers = registers };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], wish->protocol) == 0)
            source->protocol = names[i];
    make_program(&program, wish, is_v4 ? TW_ISA_A64 : TW_ISA_A32);
    if (is_v4)
        unit.v4 = new_v4(source, registers, wish);
    else
        new_v7(&unit, source, registers, wish);
    while (out->size < wish->bytes) {
        size_t count = 0;
        uint64_t start;

        while (count < CHUNK)
            count += make_run(&program, code + count);
        start = bench_now();
        retire(&unit, code, count, program.executed);
        subject->making += (double)(bench_now() - start) * 1e-9;
        take(&unit, out);
    }
    finish(&unit, out);
    make_program_finish(&program, subject);
    source->image = subject->image;
}
