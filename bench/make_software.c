/* SPDX-License-Identifier: BSD-2-Clause */
/* What software writes, through the units of STM and ITM. */
#include <trackway/itm_unit.h>
#include <trackway/stm_unit.h>

#include "make.h"

static void add_source(struct subject *subject, const char *protocol, const char *control)
{
    struct tw_register *name = subject_own(subject, bench_allocate(sizeof *name));

    *name = (struct tw_register){ control, (uint64_t)SUBJECT_ID << 16 };
    subject->sources[subject->source_count++] =
        (struct tw_tree_source){ .size = sizeof(struct tw_tree_source),
                                 .protocol = protocol,
                                 .registers = name,
                                 .register_count = 1 };
}

/* A message as the Linux driver writes it: its first piece timed, a flag at its end. */
static void write_message(struct tw_stm_unit *unit, uint64_t *random, unsigned left)
{
    unsigned flags = TW_STM_TIMED;

    while (left) {
        const unsigned piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;

        bench_need(
            tw_stm_unit_write(unit, make_random(random) >> (64 - 8 * piece), 8 * piece, flags),
            "write");
        flags = 0;
        left -= piece;
    }
    bench_need(tw_stm_unit_flag(unit, 0), "flag");
}

/* Messages of 1 to 64 bytes on several masters and channels. */
static void make_stm(struct make_bytes *out, const struct make_wish *wish)
{
    const struct tw_stm_unit_config config = { .size = sizeof config,
                                               .version = 3,
                                               .has_timestamps = true,
                                               .timestamp_bits = 64,
                                               .frequency = 1000000,
                                               .sync_bytes = wish->sync };
    uint64_t random = 88172645463325252u + wish->seed, time = 0;
    struct tw_stm_unit *unit;

    bench_need(tw_stm_unit_new(&unit, &config, NULL), "unit");
    while (out->size < wish->bytes) {
        const uint64_t choice = make_random(&random);
        const uint8_t *bytes;
        size_t size;

        time += choice >> 20 & 0xffff;
        tw_stm_unit_set_time(unit, time);
        tw_stm_unit_select(unit, 0x40 | (choice >> 44 & 3), choice >> 48 & 0x1f);
        write_message(unit, &random, 1 + (choice >> 8 & 0x3f));
        bytes = tw_stm_unit_output(unit, &size);
        make_append(out, bytes, size);
        tw_stm_unit_take(unit);
    }
    tw_stm_unit_free(unit);
}

/* Text, data trace and PC samples with local timestamps, as a board's SWO pin sends. */
static void make_itm(struct make_bytes *out, const struct make_wish *wish)
{
    const struct tw_itm_unit_config config = { .size = sizeof config,
                                               .tcr = TW_ITM_TCR_ENABLE |
                                                      TW_ITM_TCR_TIMESTAMPS | TW_ITM_TCR_SYNC |
                                                      TW_ITM_TCR_DWT,
                                               .sync_cycles = 1 << 20 };
    uint64_t random = 88172645463325252u + wish->seed;
    struct tw_itm_unit *unit;

    bench_need(tw_itm_unit_new(&unit, &config, NULL), "unit");
    while (out->size < wish->bytes) {
        const uint64_t choice = make_random(&random);
        const struct tw_dwt_meaning pc = { .kind = choice & 1 ? TW_DWT_PC : TW_DWT_PC_SAMPLE,
                                           .value = 0x08000000 | (uint32_t)(choice >> 40) };
        const struct tw_dwt_meaning value = {
            .kind = TW_DWT_VALUE, .size = 4, .is_write = true, .value = (uint32_t)(choice >> 8)
        };
        const uint8_t *bytes;
        size_t size;

        if (choice & 6)
            bench_need(tw_itm_unit_write(unit, choice >> 3 & 3, 0x20 + (choice >> 5 & 0x3f), 1),
                       "write");
        else
            bench_need(tw_itm_unit_watch(unit, &pc), "watch");
        if ((choice & 7) == 1)
            bench_need(tw_itm_unit_watch(unit, &value), "watch");
        bench_need(tw_itm_unit_advance(unit, choice >> 20 & 0x3ff), "advance");
        bytes = tw_itm_unit_output(unit, &size);
        make_append(out, bytes, size);
        tw_itm_unit_take(unit);
    }
    tw_itm_unit_free(unit);
}

void make_software(struct subject *subject, struct make_bytes *out,
                   const struct make_wish *wish)
{
    if (strcmp(wish->protocol, "stm") == 0) {
        add_source(subject, "stm", "STMTCSR");
        make_stm(out, wish);
    } else {
        add_source(subject, "itm", "ITMTCR");
        make_itm(out, wish);
    }
}
