/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: lost and bad trace, and code that is missing. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "etrace/test_path.h"

/* [RVT 6.5.1/3] [RVT 11/1] */
static void trace_lost(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1000);
    support(&trace, TW_ETRACE_TRACE_LOST, 0);
    sync_at(&trace, 0x2000, 1);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\nno sync, overflow\non again\n2000-2000 1\n");
}

/* [RVT 11/8] */
static void outcomes_that_no_branch_takes(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1000);
    f1(&trace, 0x1000, 5, 0); /* there is no branch before the jump */
    f2(&trace, 0x1004);       /* silence */
    sync_at(&trace, 0x2000, 1);
    expect(&program, &trace,
           "on\nP 3 0\n1000-100c 4\nno sync, bad-program-image\n"
           "error image-mismatch at 7, 4 skipped\non\n2000-2000 1\n");
}

/* [RVT 11/10] */
static void branch_without_an_outcome(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x3000); /* a branch stands before any jump */
    sync_at(&trace, 0x1000, 1);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\nno sync, bad-program-image\nerror image-mismatch at 7, 3 "
           "skipped\non\n"
           "1000-1000 1\n");
}

static void address_never_reached(void **state)
{
    struct program program = { .base = 0 };
    struct trace trace = trace_of(BASE);
    char *text;

    (void)state;
    at(&program, 0x1000);
    put(&program, jal(0, 0)); /* jumps to itself */
    start(&trace, 0x1000);
    f2(&trace, 0x3000);
    text = decode(&program, &trace, sizeof trace.bytes);
    CHECK(strstr(text, "no sync, bad-program-image\nerror range-limit at 7, 3 skipped\n") !=
          NULL);
    free(text);
    tw_etrace_reader_free(trace.codec);
}

static void depth_that_cannot_be(void **state)
{
    const struct program program = call_program();
    struct trace trace = trace_of(BASE "implicit_return=1\nreturn_stack_size_p=3\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    send_to(&trace, 0x1004,
            (struct tw_etrace_packet){ TYPE(F2), .irreport = true, .irdepth = 9 });
    /* No return has that depth: the walk goes on to the indirect jump, which it is taken for. */
    support(&trace, TW_ETRACE_ENDED_UPD, 1);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1008 2\n"
           "1004-1004 1\n");
}

/* [RVT 3/1] */
static void code_that_is_missing(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1008);
    f2(&trace, 0x10000);
    full_map(&trace, 0x55);   /* of code that is not there */
    f1(&trace, 0x1004, 3, 0); /* back in what is */
    f2(&trace, 0x2000);
    expect(&program, &trace,
           "on\nP 3 0\n1008-100c 2\nmissing 10000\n1004-100c 3\n2000-2000 1\n");
}

static void damaged_bytes(void **state)
{
    struct program program = loop_program();
    struct trace trace = trace_of(BASE), cut = trace_of(BASE);
    size_t bad;

    (void)state;
    at(&program, 0x2010);
    put(&program, beq(0x100)); /* so 2000 does not follow 2004 */
    start(&trace, 0x1000);
    bad = trace.size;
    trace.bytes[trace.size++] = 0xff; /* no header */
    for (unsigned i = 0; i < 3; i++) {
        sync_at(&trace, 0x2000, 1);
        sync_at(&trace, 0x2004, 1);
    }
    CHECK_EQ(bad, 7);
    expect(
        &program, &trace,
        "on\nP 3 0\n1000-1000 1\nno sync, bad-packet\n"
        "error reserved-header at 7, 1 skipped\non\n2000-2004 2\n"
        "no sync, bad-program-image\nerror image-mismatch at 18, 0 skipped\non\n2000-2004 2\n"
        "no sync, bad-program-image\nerror image-mismatch at 28, 0 skipped\non\n2000-2004 2\n");
    start(&cut, 0x1000);
    f2(&cut, 0x3004);
    cut.size--;
    expect(&program, &cut,
           "on\nP 3 0\n1000-1000 1\nno sync, bad-packet\nerror truncated at 7, 2 skipped\n");
}

/* [RVT 6.8.1/1] */
static void format_0_that_no_option_allows(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1000);
    trace.bytes[trace.size++] = 0x41;
    trace.bytes[trace.size++] = 0x10; /* format 0, but neither prediction nor a cache */
    for (unsigned i = 0; i < 4; i++)
        sync_at(&trace, 0x2000 + 4 * i, 1);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\nno sync, bad-packet\n"
           "error reserved-config at 7, 2 skipped\non\n2000-200c 4\n");
}

static void frames_with_a_gap(void **state)
{
    const struct program program = loop_program();
    const struct tw_framer_config framing = { .size = sizeof framing,
                                              .framing = TW_FRAMING_MEMORY };
    struct trace trace = trace_of(BASE), framed = trace_of(BASE "id=16\n");
    struct tw_framer *framer;
    const uint8_t *frames;
    size_t gap;
    char *text;

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x3004); /* cut: the rest of it is lost */
    gap = trace.size - 1;
    for (unsigned i = 0; i < 4; i++)
        sync_at(&trace, 0x2000 + 4 * i, 1);
    CHECK_EQ(tw_framer_new(&framer, &framing, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 16, trace.bytes, gap), TW_OK);
    CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 16, trace.bytes + gap + 1, trace.size - gap - 1), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &framed.size);
    CHECK(framed.size <= sizeof framed.bytes);
    memcpy(framed.bytes, frames, framed.size);
    framed.framing = TW_FRAMING_MEMORY;
    text = decode(&program, &framed, 16);
    CHECK(strstr(text, "on\nP 3 0\n1000-1000 1\nno sync, discard\nerror discontinuity at "));
    CHECK(strstr(text, " 0 skipped\non\n2000-200c 4\n"));
    free(text);
    tw_framer_free(framer);
    tw_etrace_reader_free(trace.codec);
    tw_etrace_reader_free(framed.codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_lost),
        cmocka_unit_test(outcomes_that_no_branch_takes),
        cmocka_unit_test(branch_without_an_outcome),
        cmocka_unit_test(address_never_reached),
        cmocka_unit_test(depth_that_cannot_be),
        cmocka_unit_test(code_that_is_missing),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(format_0_that_no_option_allows),
        cmocka_unit_test(frames_with_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
