/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of a few pins: messages at any clock edge come out as bytes, near where they lie. */
#include "check.h"

#include <string.h>

#include "ntrace/packet.h"

enum { MESSAGES = 200, ROOM = 8192 };

/* Messages of random bytes with ones between them, on so many pins. */
struct pins {
    uint8_t sent[ROOM], data[ROOM + 8], out[ROOM + 8];
    uint64_t places[ROOM]; /* of each byte that was sent: its first bit */
    size_t sent_count;
    uint64_t bits;
};

static void put(struct pins *pins, uint8_t byte)
{
    pins->places[pins->sent_count] = pins->bits;
    pins->sent[pins->sent_count++] = byte;
    for (unsigned i = 0; i < 8; i++, pins->bits++)
        if (!(byte >> i & 1))
            pins->data[pins->bits / 8] &= (uint8_t) ~(1u << pins->bits % 8);
}

static void fill(struct pins *pins, struct check_random *random, unsigned width)
{
    memset(pins, 0, sizeof *pins);
    memset(pins->data, 0xff, sizeof pins->data);
    for (unsigned i = 0; i < MESSAGES; i++) {
        const unsigned size = 2 + (unsigned)check_random_below(random, 8);

        for (unsigned k = 0; k < size; k++) {
            const unsigned mdo =
                check_random_below(random, 4) ? (unsigned)check_random_below(random, 64) : 63;
            const unsigned mseo = k + 1 == size ? 3 : k && check_random_below(random, 3) == 0;

            put(pins, (uint8_t)(mdo << 2 | mseo));
        }
        pins->bits += width * check_random_below(random, 3 + 40 * (i % 5 == 0));
    }
}

/* What is not idle, in order, near its place. */
static void check(const struct pins *pins, unsigned width, size_t from)
{
    const size_t size = (size_t)(pins->bits + 7) / 8;

    for (size_t i = from; i < pins->sent_count; i++) {
        const size_t at = (size_t)pins->places[i] / 8;

        check_case("%u pins, byte %zu", width, i);
        CHECK(at < size);
        CHECK_EQ(pins->out[at], pins->sent[i]);
    }
}

static void messages_begin_at_any_edge(void **state)
{
    static const unsigned widths[] = { 1, 2, 4 };
    static struct pins pins;
    struct check_random random = { 0x91b };

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        const unsigned width = widths[round % LENGTH(widths)];

        fill(&pins, &random, width);
        tw_ntrace_pib_align(pins.out, pins.data, (size_t)(pins.bits + 7) / 8, width, false);
        check(&pins, width, 0);
    }
}

/* The first message is cut, or an edge was missed: from the next one behind enough ones on all is well. */
static void alignment_is_found_again(void **state)
{
    static const uint8_t good[] = { 0x24, 0x0d, 0x00, 0x0b };
    static struct pins pins;

    (void)state;
    for (unsigned lost = 0; lost < 8; lost++) {
        memset(&pins, 0, sizeof pins);
        memset(pins.data, 0xff, sizeof pins.data);
        put(&pins, 0x0c);
        put(&pins, 0x54 | (lost ? 0 : 2)); /* 0: a code that there is not */
        pins.bits -= lost;
        put(&pins, 0x57);
        pins.bits += 8 + lost % 3;
        pins.sent_count = 0;
        for (size_t i = 0; i < sizeof good; i++)
            put(&pins, good[i]);
        pins.bits += 9;
        check_case("%u bits lost", lost);
        tw_ntrace_pib_align(pins.out, pins.data, (size_t)(pins.bits + 7) / 8, 1, lost != 0);
        check(&pins, 1, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_begin_at_any_edge),
        cmocka_unit_test(alignment_is_found_again),
    };

    return cmocka_run_group_tests_name("pib", tests, NULL, NULL);
}
