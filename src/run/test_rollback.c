/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of rollback: what failed transactions executed is left out, however the elements are cut. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "run/run.h"

/* Elements as letters: r range, n range without path, x exception, t
   timestamp, s NO_SYNC; [ START, i INIT, c COMMIT, f FAIL. */
static const struct {
    const char *in, *out;
} rows[] = {
    { "", "" },           { "rtr", "rtr" },   { "r[rtrcr", "rrtrr" },
    { "r[rtrfr", "rtr" }, { "[rntf", "t" },   { "[rrftr", "tr" },
    { "[rf[rcr", "rr" },  { "[r[rfr", "rr" }, /* the first was done when the second began */
    { "rcrfr", "rrr" },                       /* outside, neither means anything */
    { "r[rtr", "rrtr" },                      /* open at the end: taken as done */
    { "irtfr", "tr" },                        /* trace began inside */
    { "[f[c[", "" },      { "[rxtfx", "tx" }, /* exceptions too */
    { "[rsrf", "rsr" },   { "[rfsr", "sr" },  /* a loss: what was before it is taken as done */
    { "[rsr[rf", "rsr" },
};

static struct tw_element element_of(char letter, uint64_t index)
{
    struct tw_element element = { .index = index, .type = TW_ELEMENT_MEMTRANS };

    switch (letter) {
    case 'r':
        element.type = TW_ELEMENT_INSTR_RANGE;
        break;
    case 'n':
        element.type = TW_ELEMENT_I_RANGE_NOPATH;
        break;
    case 't':
        element.type = TW_ELEMENT_TIMESTAMP;
        break;
    case 'x':
        element.type = TW_ELEMENT_EXCEPTION;
        break;
    case 's':
        element.type = TW_ELEMENT_NO_SYNC;
        break;
    default:
        element.kind = letter == '['   ? TW_TRANS_START
                       : letter == 'i' ? TW_TRANS_INIT
                       : letter == 'c' ? TW_TRANS_COMMIT
                                       : TW_TRANS_FAIL;
        break;
    }
    return element;
}

static char letter_of(const struct tw_element *element)
{
    return element->type == TW_ELEMENT_INSTR_RANGE      ? 'r'
           : element->type == TW_ELEMENT_I_RANGE_NOPATH ? 'n'
           : element->type == TW_ELEMENT_TIMESTAMP      ? 't'
           : element->type == TW_ELEMENT_EXCEPTION      ? 'x'
           : element->type == TW_ELEMENT_NO_SYNC        ? 's'
                                                        : '?';
}

struct taken {
    char text[64];
    size_t count;
    uint64_t last;
};

static void take(struct taken *taken, const struct tw_batch *batch)
{
    CHECK(batch->count > 0);
    for (size_t i = 0; i < batch->count; i++) {
        CHECK(batch->elements[i].index > taken->last);
        taken->last = batch->elements[i].index;
        taken->text[taken->count++] = letter_of(&batch->elements[i]);
    }
}

/* Runs letters through in batches that end where the bits of `cuts` say. */
static void run_row(struct taken *taken, const char *in, unsigned cuts,
                    const struct tw_allocator *allocator)
{
    struct tw_rollback rollback = { 0 };
    struct tw_element elements[32];
    struct tw_batch batch = { .elements = elements, .id = 5 }, given;

    memset(taken, 0, sizeof *taken);
    for (size_t i = 0; in[i]; i++) {
        elements[batch.count++] = element_of(in[i], i + 1);
        if (in[i + 1] && !(cuts >> i & 1))
            continue;
        if (tw_rollback_is_idle(&rollback, &batch)) {
            take(taken, &batch);
        } else {
            tw_rollback_take(&rollback, &batch);
            while (tw_rollback_next(&rollback, &given, allocator))
                take(taken, &given);
        }
        batch.count = 0;
    }
    if (tw_rollback_end(&rollback, &given))
        take(taken, &given);
    tw_give(allocator, rollback.items);
}

static void leaves_out_what_failed(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const unsigned most = 1u << strlen(rows[i].in);

        for (unsigned cuts = 0; cuts < most; cuts++) {
            struct taken taken;

            check_case("%s cut by 0x%x", rows[i].in, cuts);
            run_row(&taken, rows[i].in, cuts, NULL);
            CHECK_TEXT(taken.text, rows[i].out);
        }
    }
}

/* Without memory nothing can be held: then it counts, and nothing is lost or turned around. */
static void gives_all_when_memory_is_out(void **state)
{
    struct failing failing = { .left = 0 };
    const struct tw_allocator allocator = { failing_resize, &failing };
    struct taken taken;

    (void)state;
    run_row(&taken, "r[rtrfr", 0, &allocator);
    CHECK_TEXT(taken.text, "rrtrr");
    run_row(&taken, "r[rtrfr", 0x7f, &allocator);
    CHECK_TEXT(taken.text, "rrtrr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_what_failed),
        cmocka_unit_test(gives_all_when_memory_is_out),
    };

    return cmocka_run_group_tests_name("run: rollback", tests, NULL, NULL);
}
