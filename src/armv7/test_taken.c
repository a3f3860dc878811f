/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of PTM and ETMv3: the bytes are the same whenever they are taken, synchronization among them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/etmv3_unit.h>
#include <trackway/ptm_unit.h>

enum { JUMPS = 2000, SYNC_BYTES = 200, ROOM = 1 << 16 };

/* A unit of either kind. */
struct any_unit {
    struct tw_ptm_unit *ptm;
    struct tw_etmv3_unit *etmv3;
};

static struct any_unit unit_new(bool is_ptm)
{
    const struct tw_ptm_unit_config ptm = { .size = sizeof ptm,
                                            .registers = { .size = sizeof ptm.registers,
                                                           .etmidr = 0x411cf312 },
                                            .sync_bytes = SYNC_BYTES };
    const struct tw_etmv3_unit_config etmv3 = { .size = sizeof etmv3,
                                                .registers = { .size = sizeof etmv3.registers,
                                                               .etmidr = 0x410cf250 },
                                                .sync_bytes = SYNC_BYTES };
    struct any_unit unit = { NULL, NULL };

    if (is_ptm)
        CHECK_EQ(tw_ptm_unit_new(&unit.ptm, &ptm, NULL), TW_OK);
    else
        CHECK_EQ(tw_etmv3_unit_new(&unit.etmv3, &etmv3, NULL), TW_OK);
    return unit;
}

static void unit_retire(struct any_unit unit, const struct tw_retired *instruction)
{
    CHECK_EQ(unit.ptm ? tw_ptm_unit_retire(unit.ptm, instruction, 1)
                      : tw_etmv3_unit_retire(unit.etmv3, instruction, 1),
             TW_OK);
}

static size_t unit_take(struct any_unit unit, uint8_t *out)
{
    size_t size;
    const uint8_t *bytes = unit.ptm ? tw_ptm_unit_output(unit.ptm, &size)
                                    : tw_etmv3_unit_output(unit.etmv3, &size);

    memcpy(out, bytes, size);
    if (unit.ptm)
        tw_ptm_unit_take(unit.ptm);
    else
        tw_etmv3_unit_take(unit.etmv3);
    return size;
}

/* Jumps to and fro, to addresses of any length; all bytes of it, taken behind every `each` of them. */
static size_t trace(uint8_t *out, bool is_ptm, size_t each)
{
    struct any_unit unit = unit_new(is_ptm);
    size_t size = 0;

    for (size_t i = 0; i < JUMPS; i++) {
        const uint64_t from = 0x8000u + (i * 0x1004u & 0xfffff0),
                       to = 0x8000u + ((i + 1) * 0x1004u & 0xfffff0);
        const struct tw_retired jump = { .address = from,
                                         .target = to,
                                         .opcode = 0xe12fff1e, /* bx lr */
                                         .isa = TW_ISA_A32,
                                         .size = 4,
                                         .kind = TW_RETIRED_INDIRECT,
                                         .flags = TW_RETIRED_EXECUTED | TW_RETIRED_TAKEN };

        unit_retire(unit, &jump);
        if (i % each == each - 1)
            size += unit_take(unit, out + size);
        CHECK(size < ROOM / 2);
    }
    CHECK_EQ(unit.ptm ? tw_ptm_unit_flush(unit.ptm) : tw_etmv3_unit_flush(unit.etmv3), TW_OK);
    size += unit_take(unit, out + size);
    tw_ptm_unit_free(unit.ptm);
    tw_etmv3_unit_free(unit.etmv3);
    return size;
}

static size_t count_syncs(const uint8_t *bytes, size_t size)
{
    static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80 };
    size_t count = 0;

    for (size_t i = 0; i + sizeof sync <= size; i++)
        count += memcmp(bytes + i, sync, sizeof sync) == 0;
    return count;
}

static void bytes_are_the_same_whenever_they_are_taken(void **state)
{
    static const size_t steps[] = { 1, 7, 40, 333 };
    uint8_t *whole = malloc(ROOM), *pieces = malloc(ROOM);

    (void)state;
    assert_non_null(whole);
    assert_non_null(pieces);
    for (unsigned is_ptm = 0; is_ptm < 2; is_ptm++) {
        const size_t size = trace(whole, is_ptm, SIZE_MAX);

        check_case("%s", is_ptm ? "PTM" : "ETMv3");
        CHECK(count_syncs(whole, size) >= size / (SYNC_BYTES + 40));
        for (size_t i = 0; i < LENGTH(steps); i++) {
            const size_t again = trace(pieces, is_ptm, steps[i]);

            check_case("%s, every %zu", is_ptm ? "PTM" : "ETMv3", steps[i]);
            CHECK_BYTES(pieces, again, whole, size);
        }
    }
    free(whole);
    free(pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_same_whenever_they_are_taken),
    };

    return cmocka_run_group_tests_name("armv7 units", tests, NULL, NULL);
}
