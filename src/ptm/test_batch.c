/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: packets in batches are those that single reads give, whatever the bytes, the configuration,
   the cuts and the room. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "ptm/packet.h"
#include "ptm/test_same.h"

enum { CA = 1, CONTEXT = 2, WIDE_TIME = 4, GRAY = 8, SHORT_CONTEXT = 16, V10 = 32, MODES = 64 };
enum { ROOM = 5, SIZE = 400 };

static struct tw_ptm_reader reader_of(unsigned mode)
{
    const struct tw_ptm_config config = {
        .size = sizeof(struct tw_ptm_config),
        .etmcr = (mode & CA ? 0x1000u : 0) |
                 (mode & CONTEXT ? (mode & SHORT_CONTEXT ? 0x4000u : 0xc000u) : 0),
        .etmidr = mode & V10 ? 0x411cf301 : 0x411cf312,
        .etmccer = (mode & GRAY ? 0 : 0x10000000u) | (mode & WIDE_TIME ? 0x20000000u : 0),
        .etmtraceidr = 0x10
    };
    struct tw_ptm_reader reader;

    tw_ptm_reader_init(&reader, &config);
    return reader;
}

static void check_reader(const struct tw_ptm_reader *got, const struct tw_ptm_reader *want)
{
    CHECK_EQ(got->offset, want->offset);
    CHECK_EQ(got->timestamp, want->timestamp);
    CHECK_EQ(got->address, want->address);
    CHECK_EQ(got->address_valid, want->address_valid);
    CHECK_EQ(got->isa, want->isa);
    CHECK_EQ(got->alt_isa, want->alt_isa);
    CHECK_EQ(got->ns, want->ns);
    CHECK_EQ(got->hyp, want->hyp);
    CHECK_EQ(got->is_synced, want->is_synced);
}

/* Both read the same bytes, as far as packets are whole; returns how many bytes that is. */
static size_t read_both(struct tw_ptm_reader *many, struct tw_ptm_reader *one,
                        const uint8_t *data, size_t size, size_t room)
{
    uint8_t *copy = check_copy(data, size);
    struct tw_ptm_packet batch[ROOM], packet;
    size_t at = 0, count, used;

    do {
        size_t sum = 0;

        memset(batch, 0xa5, sizeof batch);
        count = tw_ptm_read_batch(many, batch, room, &used, copy + at, size - at);
        CHECK(count <= room);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(tw_ptm_read(one, &packet, copy + at + sum, size - at - sum, false), TW_OK);
            CHECK(tw_ptm_is_same(&batch[i], &packet));
            sum += packet.base.size;
        }
        CHECK_EQ(used, sum);
        at += used;
        check_reader(many, one);
    } while (count == room);
    CHECK_EQ(tw_ptm_read(one, &packet, copy + at, size - at, false), TW_MORE);
    free(copy);
    return at;
}

static size_t put(uint8_t *out, size_t room, const void *bytes, size_t size)
{
    if (size > room)
        size = room;
    memcpy(out, bytes, size);
    return size;
}

/* A branch, mostly such as there can be; some with exception information. */
static size_t put_branch(struct check_random *random, uint8_t *out, size_t room)
{
    static const uint8_t fifths[8] = { 0x08, 0x10, 0x20, 0x48, 0x50, 0x00, 0x88, 0x18 };
    const size_t size = 1 + check_random_below(random, 5);
    uint8_t bytes[5];

    check_random_fill(random, bytes, sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = i + 1 < size ? bytes[i] | 0x80 : bytes[i] & 0x7f;
    if (check_random_below(random, 8))
        bytes[size - 1] &= 0x3f;
    if (size == 5 && check_random_below(random, 8))
        bytes[4] = fifths[check_random_below(random, 8)] | (bytes[4] & 7);
    bytes[0] |= 1;
    return put(out, room, bytes, size);
}

/* Bytes as they come, most of them packets that are frequent; with cycle counts where `mode` has
   them, which may be anything. */
static void fill(struct check_random *random, uint8_t *out, size_t size, unsigned mode)
{
    static const uint8_t heads[8] = { 0x42, 0x46, 0x72, 0x6e, 0x76, 0x0c, 0x66, 0x3c };
    static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80, 0x08, 0x01, 0x80, 0x00, 0x00, 0x21 };
    uint8_t bytes[16];
    size_t at = put(out, size, sync, sizeof sync);

    while (at < size) {
        const uint64_t kind = check_random_below(random, 40);

        check_random_fill(random, bytes, sizeof bytes);
        if (kind < 18) {
            bytes[0] = (bytes[0] | 0x84) & 0xfe;
            bytes[4] &= 0x7f;
            at += put(out + at, size - at, bytes, 1);
        } else if (kind < 34) {
            at += put_branch(random, out + at, size - at);
        } else if (kind < 36) {
            bytes[0] = 0x08;
            at += put(out + at, size - at, bytes, 6);
        } else if (kind < 37) {
            at += put(out + at, size - at, sync, sizeof sync);
        } else if (kind < 38) {
            bytes[0] = heads[bytes[0] & 7];
            at += put(out + at, size - at, bytes, 1 + (bytes[1] & 7));
        } else if (kind < 39 && !check_random_below(random, 4)) {
            at += put(out + at, size - at, bytes, 1);
        }
        if (mode & CA && check_random_below(random, 2))
            at += put(out + at, size - at, bytes + 8, 1 + (bytes[1] & 3));
    }
}

static void batches_are_single_reads_at_every_cut(void **unused)
{
    struct check_random random = check_random_start(0x626174);
    uint8_t bytes[SIZE];

    (void)unused;
    for (unsigned mode = 0; mode < MODES; mode++)
        for (size_t run = 0; run < check_scale(20); run++) {
            const struct tw_ptm_reader fresh = reader_of(mode);

            fill(&random, bytes, sizeof bytes, mode);
            for (size_t cut = 0; cut <= sizeof bytes; cut++) {
                struct tw_ptm_reader many = fresh, one = fresh;
                size_t at;

                check_case("mode %u, run %zu, cut %zu", mode, run, cut);
                at = read_both(&many, &one, bytes, cut, 1 + cut % ROOM);
                (void)read_both(&many, &one, bytes + at, sizeof bytes - at,
                                1 + (cut + run) % ROOM);
            }
        }
}

static void batches_are_single_reads_in_any_pieces(void **unused)
{
    struct check_random random = check_random_start(0x706965);
    uint8_t bytes[2 * SIZE];

    (void)unused;
    for (size_t run = 0; run < check_scale(6000); run++) {
        const unsigned mode = (unsigned)check_random_below(&random, MODES);
        const size_t most = 1 + check_random_below(&random, 60);
        struct tw_ptm_reader many = reader_of(mode), one = many;
        size_t at = 0, given = 0;

        check_case("mode %u, run %zu", mode, run);
        if (run % 8)
            fill(&random, bytes, sizeof bytes, mode);
        else
            check_random_fill(&random, bytes, sizeof bytes);
        while (given < sizeof bytes) {
            given += 1 + check_random_below(&random, most);
            given = given < sizeof bytes ? given : sizeof bytes;
            at += read_both(&many, &one, bytes + at, given - at, 1 + run % ROOM);
        }
    }
}

static void every_header_in_every_state(void **unused)
{
    static const uint8_t isas[] = { TW_ISA_A32, TW_ISA_T32, TW_ISA_TEE, TW_ISA_JAZELLE,
                                    TW_ISA_UNKNOWN };
    struct check_random random = check_random_start(0x686561);
    uint8_t bytes[64];

    (void)unused;
    for (unsigned mode = 0; mode < MODES; mode++) {
        const struct tw_ptm_reader fresh = reader_of(mode);

        for (unsigned head = 0; head < 256; head++)
            for (unsigned state = 0; state < 16; state++) {
                struct tw_ptm_reader many = fresh, one;

                check_case("mode %u, header 0x%02x, state %u", mode, head, state);
                check_random_fill(&random, bytes, sizeof bytes);
                bytes[0] = (uint8_t)head;
                many.is_synced = true;
                many.address = (uint32_t)check_random_next(&random) & ~3u;
                many.address_valid = state < 14 ? 32 : 13;
                many.isa = isas[state % LENGTH(isas)];
                many.alt_isa = many.isa == TW_ISA_TEE;
                many.ns = state & 1;
                many.hyp = (state & 2) != 0;
                one = many;
                (void)read_both(&many, &one, bytes, sizeof bytes, 1 + state % ROOM);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_single_reads_at_every_cut),
        cmocka_unit_test(batches_are_single_reads_in_any_pieces),
        cmocka_unit_test(every_header_in_every_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
