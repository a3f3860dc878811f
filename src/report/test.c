/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables as bytes; spans that are merged keep their sums and stay below their bound. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "report/report.h"

struct kept {
    char bytes[4096];
    size_t size;
};

static bool keep(void *context, const void *bytes, size_t size)
{
    struct kept *kept = context;

    if (size > sizeof kept->bytes - kept->size)
        return false;
    memcpy(kept->bytes + kept->size, bytes, size);
    kept->size += size;
    return true;
}

struct pair {
    uint32_t name;
    uint64_t value;
};

static const struct tw_table_column pair_columns[] = {
    TW_TEXT_COLUMN(struct pair, name),
    TW_NUMBER_COLUMN(struct pair, value),
    { .name = NULL },
};

static void tables_are_as_narrow_as_they_can_be(void **state)
{
    static const struct {
        uint64_t most;
        const char *kind;
    } rows[] = {
        { 0, "u8" },           { 255, "u8" },         { 256, "u16" },
        { 65535, "u16" },      { 65536, "u32" },      { UINT32_MAX, "u32" },
        { 1ull << 32, "f64" }, { 1ull << 53, "f64" }, { (1ull << 53) + 1, "u64" },
        { UINT64_MAX, "u64" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kept kept = { .size = 0 };
        struct tw_tables tables;
        struct pair pair = { 0, rows[i].most };
        char wanted[40];

        tw_tables_init(&tables, NULL);
        pair.name = tw_tables_text(&tables, "<b>");
        assert_int_equal(pair.name, tw_tables_text(&tables, "<b>"));
        assert_int_equal(tw_tables_text(&tables, ""), 0);
        tw_tables_add(&tables, "pairs", (struct tw_table_rows){ &pair, 1, sizeof pair },
                      pair_columns);
        tw_tables_number(&tables, "most", rows[i].most);
        assert_int_equal(tw_tables_write(&tables, keep, &kept), TW_OK);
        assert_memory_equal(kept.bytes, "TWVIEW1\n", 8);
        kept.bytes[sizeof kept.bytes - 1] = 0;
        (void)snprintf(wanted, sizeof wanted, "\"value\":[\"%s\",8]", rows[i].kind);
        assert_non_null(strstr(kept.bytes + 12, wanted));
        tw_tables_free(&tables);
    }
}

static void texts_may_hold_zeros(void **state)
{
    struct tw_tables tables;

    (void)state;
    tw_tables_init(&tables, NULL);
    assert_int_equal(tw_tables_text_size(&tables, "a\0b", 3), 1);
    assert_int_equal(tw_tables_text_size(&tables, "a\0c", 3), 2);
    assert_int_equal(tw_tables_text_size(&tables, "a", 1), 3);
    assert_int_equal(tw_tables_text_size(&tables, "a\0b", 3), 1);
    tw_tables_free(&tables);
}

/* A stack of three: long spans with shorter ones in them, and losses between. */
static void add_some(struct tw_report_spans *spans, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct tw_report_span span = { .start = i * 100, .count = 1, .n = 7 };

        for (uint16_t depth = 2; depth < 3; depth--) {
            span.depth = depth;
            span.length = 90u >> 2 * depth;
            tw_report_spans_add(spans, &span);
        }
        span = (struct tw_report_span){ .start = i * 100 + 95,
                                        .length = 1,
                                        .count = 1,
                                        .track = 1,
                                        .kind = TW_SPAN_GAP,
                                        .how = (uint8_t)(i % TW_GAP_REASONS),
                                        .value = 3 };
        tw_report_spans_add(spans, &span);
    }
}

static void merging_keeps_sums_and_stays_below_its_bound(void **state)
{
    enum { TIMES = 20000 };
    struct tw_report_spans spans;
    uint64_t functions = 0, gaps = 0, executed = 0, bytes = 0;

    (void)state;
    tw_report_spans_init(&spans, NULL, 48000); /* a thousand spans */
    add_some(&spans, TIMES);
    assert_true(spans.count <= spans.most);
    assert_true(spans.least > 0);
    assert_int_equal(spans.spans_left, 0);
    for (size_t i = 0; i < spans.count; i++) {
        const struct tw_report_span *span = &spans.spans[i];

        *(span->kind == TW_SPAN_GAP ? &gaps : &functions) += span->count;
        executed += span->n;
        bytes += span->value;
        assert_true(span->count == 1 || span->length < 3 * spans.least);
    }
    assert_int_equal(functions, 3 * TIMES);
    assert_int_equal(gaps, TIMES);
    assert_int_equal(executed, 21 * TIMES);
    assert_int_equal(bytes, 3 * TIMES);
    assert_false(spans.is_out);
    tw_report_spans_free(&spans);
}

static void times_that_go_backwards_are_bounded_too(void **state)
{
    struct tw_report_spans spans;

    (void)state;
    tw_report_spans_init(&spans, NULL, 0);
    for (uint64_t i = 0; i < 5000; i++) {
        const struct tw_report_span span = { .start = UINT32_MAX - i * 1000, .count = 1 };

        tw_report_spans_add(&spans, &span);
    }
    assert_true(spans.count <= spans.most);
    assert_int_equal(spans.count + spans.spans_left, 5000);
    tw_report_spans_free(&spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_as_narrow_as_they_can_be),
        cmocka_unit_test(texts_may_hold_zeros),
        cmocka_unit_test(merging_keeps_sums_and_stays_below_its_bound),
        cmocka_unit_test(times_that_go_backwards_are_bounded_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
