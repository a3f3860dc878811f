/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: the table for frequent packets says what the careful reader says, and how long a packet is: every four nibbles that
   a packet may begin with, at either half of a byte, with a few contents behind them, at the end of memory. */
#include "check.h"

#include "guarded.h"
#include "stm/packet.h"

enum { SIZE = TW_STM_AHEAD + 1, HEADS = 1 << 16 };

static void read_both_ways(const struct tw_stm_reader *reader, const uint8_t *data)
{
    struct tw_stm_reader one = *reader, other = *reader;
    struct tw_stm_packet got, want;

    memset(&got, 0, sizeof got);
    memset(&want, 0, sizeof want);
    CHECK_EQ(tw_stm_read(&one, &got, data, SIZE, true), TW_OK);
    CHECK_EQ(tw_stm_read_any(&other, &want, data, SIZE, true), TW_OK);
    CHECK_EQ(got.base.type, want.base.type);
    CHECK_EQ(got.base.size, want.base.size);
    CHECK_EQ(got.nibbles, want.nibbles);
    CHECK_EQ(got.value, want.value);
    CHECK_EQ(got.has_timestamp, want.has_timestamp);
    CHECK_EQ(got.timestamp, want.timestamp);
    CHECK_EQ(got.timestamp_bits, want.timestamp_bits);
    CHECK_EQ(one.offset, other.offset);
    CHECK_EQ(one.is_high, other.is_high);
    CHECK(got.nibbles >= 1 && got.base.size >= 1 && got.base.size <= SIZE);
    CHECK(got.base.size <= TW_STM_PACKET_MAX);
}

/* The first four nibbles, the first one highest, behind the half byte that was read. */
static void put_head(uint8_t *data, unsigned head, bool is_high)
{
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = i + is_high, nibble = head >> (12 - 4 * i) & 0xf;

        data[at / 2] = (uint8_t)(at & 1 ? (data[at / 2] & 0x0f) | nibble << 4
                                        : (data[at / 2] & 0xf0) | nibble);
    }
}

static void the_table_says_what_the_careful_reader_says(void **state)
{
    static const uint8_t fills[] = { 0x00, 0xff, 0x5a, 0xe1, 0x0c };
    static const uint8_t versions[] = { 0, 3, 4 };
    const struct tw_stm_config config = { .size = sizeof config };
    static struct tw_stm_reader reader;
    uint8_t *end = guarded_new(), *data = end - SIZE;
    uint64_t packets = 0;

    (void)state;
    assert_non_null(end);
    tw_stm_reader_init(&reader, &config);
    reader.is_synced = true;
    for (unsigned i = 0; i < LENGTH(fills) * LENGTH(versions) * 2; i++) {
        reader.version = versions[i / 2 % LENGTH(versions)];
        reader.is_high = i & 1;
        reader.timestamp = 0x123456789abcdef0;
        memset(data, fills[i / 2 / LENGTH(versions)], SIZE);
        for (unsigned head = 0; head < HEADS; head++) {
            check_case("nibbles %04x, version %u, fill %02x, %s half", head, reader.version,
                       data[SIZE - 1], reader.is_high ? "high" : "low");
            put_head(data, head, reader.is_high);
            read_both_ways(&reader, data);
            packets++;
        }
    }
    if (getenv("TW_PROOF_BYTES"))
        print_message("%llu packets, each by a short way and by the careful one\n",
                      (unsigned long long)packets);
    guarded_free(end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_says_what_the_careful_reader_says),
    };

    return cmocka_run_group_tests_name("stm short ways", tests, NULL, NULL);
}
