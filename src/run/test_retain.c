/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that are kept beyond the next one: their elements stay as they were, whatever the run does and
   however long it lives. */
#include "run/test.h"

enum { KEPT_MOST = 4096 };

struct kept {
    struct tw_retained *retained;
    struct tw_part part;
    size_t first; /* number of its first element */
};

static void check_retain(struct tw_capture *capture, struct check_random *random)
{
    static struct kept kept[KEPT_MOST];
    const struct tw_run_config config = {
        .size = sizeof config,
        .order = check_random_below(random, 2) ? TW_ORDER_TIME : TW_ORDER_CAPTURE,
        .with_not_after = check_random_below(random, 3) == 0,
        .threads = 1 + (uint32_t)check_random_below(random, 3),
        .batch_room = check_random_below(random, 2) ? 0 : 5000,
    };
    const uint64_t share = 1 + check_random_below(random, 4);
    struct records want = record_all(capture, &config, NULL);
    struct tw_part part = { .size = sizeof part };
    size_t count = 0, seen = 0;
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK) {
        if (part.kind != TW_PART_ELEMENTS)
            continue;
        if (count < KEPT_MOST && check_random_below(random, share) == 0) {
            CHECK_EQ(tw_run_retain(&kept[count].retained, run, &part), TW_OK);
            kept[count].part = part;
            kept[count++].first = seen;
        } else if (count && check_random_below(random, 8) == 0) { /* some go early */
            tw_retained_free(kept[--count].retained);
        }
        seen += part.batch.count;
    }
    tw_run_free(run);
    CHECK_EQ(seen, want.count);
    for (size_t i = 0; i < count; i++) {
        const struct tw_batch *batch = &kept[i].part.batch;

        for (size_t k = 0; k < batch->count; k++)
            CHECK(memcmp(&batch->elements[k], &want.items[kept[i].first + k].element,
                         sizeof *batch->elements) == 0);
        tw_retained_free(kept[i].retained);
    }
    free(want.items);
}

static void what_is_kept_stays_as_it_was(void **state)
{
    struct check_random random = check_random_start(0x72756e40);

    (void)state;
    each_capture(&random, 400, check_retain);
}

static void only_elements_can_be_kept(void **state)
{
    struct tw_part part = { .size = sizeof part };
    struct tw_retained *retained;
    struct tw_capture *capture;
    struct tw_run *run;

    (void)state;
    CHECK_EQ(tw_capture_open(&capture, TW_SOURCE_DIR "/tests/captures/demo", NULL, NULL),
             TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, NULL, NULL), TW_OK);
    CHECK_EQ(tw_run_next(run, &part), TW_OK);
    CHECK_EQ(part.kind, TW_PART_BEGIN);
    CHECK_EQ(tw_run_retain(&retained, run, &part), TW_E_ARGUMENT);
    CHECK(retained == NULL);
    tw_run_free(run);
    tw_capture_free(capture);
    tw_retained_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_stays_as_it_was),
        cmocka_unit_test(only_elements_can_be_kept),
    };

    return cmocka_run_group_tests_name("run_retain", tests, NULL, NULL);
}
