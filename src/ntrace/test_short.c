/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: the short ways of reading a message say what the careful one says.  Messages of each TCODE, cut into fields in
   every way that up to 16 bytes allow (up to 8, also with reserved marks), each with a few contents, at the end of
   memory. */
#include "check.h"

#include "guarded.h"
#include "ntrace/packet.h"

enum { AHEAD = 16, SHORT = 8, FILLS = 4 };

/* The content of a byte: nothing, ones, a count, and noise. */
static uint8_t content(unsigned fill, unsigned at, unsigned row)
{
    switch (fill) {
    case 0:
        return 0;
    case 1:
        return 0xfc;
    case 2:
        return (uint8_t)((at + 1) << 2);
    default:
        return (uint8_t)((at * 37u + row * 101u + 5) << 2);
    }
}

static uint64_t short_ones;

static void read_both_ways(const struct tw_ntrace_reader *reader, const uint8_t *data)
{
    struct tw_ntrace_reader one = *reader, other = *reader;
    struct tw_ntrace_packet got, want;

    memset(&got, 0, sizeof got);
    memset(&want, 0, sizeof want);
    short_ones += tw_ntrace_parse_short(&one.shape, &got, data) != 0;
    memset(&got, 0, sizeof got);
    CHECK_EQ(tw_ntrace_read(&one, &got, data, AHEAD, true),
             tw_ntrace_read_any(&other, &want, data, AHEAD, true));
    CHECK_BYTES((const uint8_t *)&got, sizeof got, (const uint8_t *)&want, sizeof want);
    CHECK_EQ(one.offset, other.offset);
}

/* `row` says in digits to the base of `marks` how the bytes between the first and the last end. */
static void read_row(const struct tw_ntrace_reader *reader, uint8_t *data, unsigned size,
                     unsigned row, unsigned marks)
{
    static const uint8_t mseo[] = { TW_NTRACE_MSEO_MIDDLE, TW_NTRACE_MSEO_FIELD,
                                    TW_NTRACE_MSEO_RESERVED };

    for (unsigned tcode = 0; tcode < 64; tcode++)
        for (unsigned fill = 0; fill < FILLS; fill++) {
            unsigned rest = row;

            check_case("TCODE %u, %u bytes, row %u of %u marks, fill %u", tcode, size, row,
                       marks, fill);
            for (unsigned i = 0; i < AHEAD; i++)
                data[i] = content(fill, i, row);
            data[0] = (uint8_t)(tcode << 2);
            for (unsigned i = 1; i + 1 < size; i++, rest /= marks)
                data[i] |= mseo[rest % marks];
            data[size - 1] |= TW_NTRACE_MSEO_END;
            read_both_ways(reader, data);
        }
}

static void read_rows(const struct tw_ntrace_config *config, unsigned longest,
                      unsigned longest_marked)
{
    uint8_t *data = (uint8_t *)guarded_new();
    struct tw_ntrace_reader reader = { .offset = 0 };

    assert_non_null(data);
    tw_ntrace_reader_init(&reader, config);
    for (unsigned marks = 2; marks <= 3; marks++)
        for (unsigned size = 2, rows = 1; size <= (marks == 2 ? longest : longest_marked);
             size++, rows *= marks)
            for (unsigned row = 0; row < rows; row++)
                read_row(&reader, data - AHEAD, size, row, marks);
    guarded_free(data);
}

static void short_ways_say_what_the_careful_one_says(void **state)
{
    const bool is_proof = getenv("TW_PROOF_BYTES") != NULL;
    uint64_t inputs = 0;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct tw_ntrace_config config;

        tw_ntrace_config_init(&config);
        config.src_bits = i % 2 ? 5 : 0;
        config.extend_addr = i / 2 == 1;
        config.dialect = i / 2 == 2 ? TW_NTRACE_SIFIVE : TW_NTRACE_1_0;
        read_rows(&config, is_proof ? AHEAD : 10, is_proof ? SHORT : 6);
        for (unsigned size = 2, two = 1, three = 1; size <= AHEAD; size++, two *= 2, three *= 3)
            inputs += 64 * FILLS *
                      ((is_proof || size <= 10 ? two : 0) +
                       (size <= (is_proof ? SHORT : 6) ? three : 0));
    }
    CHECK(short_ones > inputs / 100);
    if (is_proof)
        print_message("%llu messages, %llu of them by a short way\n",
                      (unsigned long long)inputs, (unsigned long long)short_ones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_ways_say_what_the_careful_one_says),
    };

    return cmocka_run_group_tests_name("ntrace short ways", tests, NULL, NULL);
}
