/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets of small programs to their path. */
#include "check.h"

#include "etrace/test_path.h"

/* The worked examples of the specification, chapter 12. */

/* [RVT 12/1] */
static void example_return_from_a_call(void **state)
{
    struct program program = { .base = 0x80001000 };
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x80001a84);
    put(&program, jal(1, 0x1186 - 0x1a84));
    put(&program, auipc(11, 0));
    at(&program, 0x80001186);
    put(&program, NOP);
    put(&program, 0x6121);
    put(&program, RET);
    start(&trace, 0x80001a84);
    f2(&trace, 0x80001a88);
    expect(&program, &trace,
           "on\nP 3 0\n80001a84-80001a84 1\n80001186-8000118a 3\n80001a88-80001a88 1\n");
}

/* [RVT 12/2] */
static void example_taken_branch_then_return(void **state)
{
    static const uint16_t body[] = { 0x60e2, 0x6442, 0x64a2, 0x853e, 0x6105, RET };
    struct program program = { .base = 0x80000000 };
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x800010da);
    put(&program, 0x4781);
    put(&program, beq(0x10));
    at(&program, 0x800010ec);
    for (size_t i = 0; i < LENGTH(body); i++)
        put(&program, body[i]);
    at(&program, 0x80001b8a);
    put(&program, 0xf4442603);
    start(&trace, 0x800010da);
    f1(&trace, 0x80001b8a, 1, 0);
    CHECK_BYTES(trace.bytes + trace.size - 4, 4, "\x43\x05\x58\x05", 4);
    expect(&program, &trace,
           "on\nP 3 0\n800010da-800010dc 2\n800010ec-800010f6 6\n80001b8a-80001b8a 1\n");
}

static void put_proc_6(struct program *program)
{
    static const uint16_t entry[] = { 0x1101, 0xe822, 0xe426, 0xec06, 0x842a, 0x84ae };
    static const uint16_t leave[] = { 0x60e2, 0x6442, 0xc09c, 0x64a2, 0x6105, RET };

    at(program, 0x80001100);
    for (size_t i = 0; i < LENGTH(entry); i++)
        put(program, entry[i]);
    put(program, 0xfedff0ef); /* jal 800010f8 */
    put(program, 0xc115);     /* 80001110: beqz a0 */
    put_many(program, NOP, 2);
    put(program, 0x02f40463);
    put(program, 0xc81d);
    put(program, 0x4709);
    put(program, 0x04e40063);
    at(program, 0x8000115e);
    for (size_t i = 0; i < LENGTH(leave); i++)
        put(program, leave[i]);
    at(program, 0x800010f8);
    put(program, 0x1579);
    put(program, 0x00153513);
    put(program, RET);
    at(program, 0x8000121c);
    put(program, 0x441c);
    put(program, beq(0x2c)); /* 8000124a */
    at(program, 0x8000124a);
    put_many(program, NOP, 5);
    put(program, jal(1, 0x1100 - 0x1254));
    put(program, NOP);
}

/* [RVT 12/3] */
static void example_three_branches_then_return(void **state)
{
    struct program program = { .base = 0x80000000 };
    struct trace trace = trace_of(BASE);

    (void)state;
    put_proc_6(&program);
    start(&trace, 0x80001110); /* a branch, not taken */
    f1(&trace, 0x80001258, 3, 3);
    expect(&program, &trace,
           "on\nP 3 0\n80001110-8000111e 7\n8000115e-80001168 6\n80001258-80001258 1\n");
}

/* [RVT 12/4] */
static void example_branches_calls_and_a_return(void **state)
{
    struct program program = { .base = 0x80000000 };
    struct trace trace = trace_of(BASE);

    (void)state;
    put_proc_6(&program);
    start(&trace, 0x8000121c);
    f1(&trace, 0x80001110, 2, 2);
    support(&trace, TW_ETRACE_ENDED_UPD, 0);
    expect(&program, &trace,
           "on\nP 3 0\n8000121c-8000121e 2\n8000124a-80001254 6\n80001100-8000110c 7\n"
           "800010f8-800010fe 3\n80001110-80001110 1\n");
}

static void send_f2(struct trace *trace, uint64_t address, bool notify, bool updiscon)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F2), .notify = notify, .updiscon = updiscon });
}

/* [RVT 6.6.2/1] [RVT 11/6] */
static void loop_label_reported_by_the_jump(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0xff8);
    f2(&trace, 0x1000);
    f2(&trace, 0x1000);
    support(&trace, TW_ETRACE_ENDED_REP, 0);
    expect(&program, &trace, "on\nP 3 0\nff8-100c 6\n1000-100c 4\n1000-1000 1\n");
}

/* [RVT 6.6.2/2] */
static void loop_label_then_an_exception_in_the_second_round(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0xff8);
    send_f2(&trace, 0x1000, false, true);
    trap(&trace, 0x2000, 5, true);
    expect(&program, &trace,
           "on\nP 3 0\nff8-100c 6\n1000-1000 1\nE 5 1004 tval 0\n2000-2000 1\n");
}

/* [RVT 6.6.2/3] */
static void loop_label_then_an_exception_in_the_first_round(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0xff8);
    f2(&trace, 0x1000);
    trap(&trace, 0x2000, 5, true);
    expect(&program, &trace, "on\nP 3 0\nff8-1000 3\nE 5 1004 tval 0\n2000-2000 1\n");
}

/* [RVT 6.6.2/4] [RVT 6.6.1/1] */
static void loop_label_notified(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0xff8);
    send_f2(&trace, 0x1000, true, false);
    f2(&trace, 0x1000);
    trap(&trace, 0x2000, 5, true);
    expect(&program, &trace,
           "on\nP 3 0\nff8-1000 3\nnotify 1000\n1004-100c 3\n1000-1000 1\n"
           "E 5 1004 tval 0\n2000-2000 1\n");
}

/* [RVT 6.5.1/1] [RVT 6.5.1/2] [RVT 11/14] */
static void loop_label_is_where_tracing_ends(void **state)
{
    const struct program program = loop_program();
    struct trace first = trace_of(BASE), second = trace_of(BASE);

    (void)state;
    start(&first, 0xff8);
    f2(&first, 0x1000);
    support(&first, TW_ETRACE_ENDED_REP, 0);
    expect(&program, &first, "on\nP 3 0\nff8-1000 3\n");
    start(&second, 0xff8);
    f2(&second, 0x1000);
    support(&second, TW_ETRACE_ENDED_UPD, 0);
    expect(&program, &second, "on\nP 3 0\nff8-100c 6\n1000-1000 1\n");
}

/* Contexts. */

/* [RVT 6.4/1] [RVT T4.4/2] [RVT T4.4/3] [RVT T4.4/4] [RVT 4.2/9] [RVT 11/1] */
static void contexts_of_every_kind(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x2000);
    f2(&trace, 0x2004);
    send(&trace, (struct tw_etrace_packet){ TYPE(F3S2), .privilege = 3, .context = 7 });
    /* precisely: at the next instruction */
    send_to(&trace, 0x2008,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3, .context = 8 });
    f2(&trace, 0x200c);
    /* as an asynchronous discontinuity: another hart, somewhere else */
    send_to(&trace, 0x1004,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 1, .context = 9 });
    expect(&program, &trace,
           "on\nP 3 0\n2000-2004 2\nP 3 7\nP 3 8\n2008-200c 2\nP 1 9\n1004-1004 1\n");
}

static void time_in_packets(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "notime_p=0\ntime_width_p=20\n");

    (void)state;
    send_to(&trace, 0x1000,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3, .time = 100 });
    send_to(&trace, 0x1004,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3, .time = 110 });
    expect(&program, &trace, "on\nP 3 0\ntime 100\n1000-1000 1\ntime 110\n1004-1004 1\n");
}

static void compressed_tables(void **state)
{
    struct program program = { .base = 0 };
    struct trace trace = trace_of("layout=v2\niaddress_width_p=32\nprivilege_width_p=2\n"
                                  "nocontext_p=1\nzcmp_zcmt=1\njvt=3000\n");

    (void)state;
    at(&program, 0x1000);
    put(&program, NOP);
    put(&program, 0xa002 | 3u << 2); /* cm.jt 3 */
    at(&program, 0x1800);
    put(&program, NOP);
    put(&program, 0xbe42); /* cm.popret */
    at(&program, 0x300c);
    put(&program, 0x1801);     /* the table's entry: 1800 and a bit that is no address ... */
    program.bytes[0x300e] = 0; /* ... one word of 32 bits */
    program.bytes[0x300f] = 0;
    send_to(&trace, 0x1000,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3 });
    f2(&trace, 0x1000);
    expect(&program, &trace, "on\nP 3 0\n1000-1002 2\n1800-1802 2\n1000-1000 1\n");
}

/* The last range has the index of the packet that made it, whatever idle bytes follow. */
static void idle_bytes_at_the_end(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);
    const struct tw_region region = { .size = sizeof region,
                                      .address = program.base,
                                      .length = sizeof program.bytes };
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = trace.config };
    uint64_t last_range = 0, end = 0, packet;
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    (void)state;
    start(&trace, 0xff8);
    packet = trace.size;
    f2(&trace, 0x1000);
    trace.size += 100; /* null packets */
    CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(source.image, &region, program.bytes), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, trace.bytes, trace.size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                last_range = batch.elements[i].index;
            else if (batch.elements[i].type == TW_ELEMENT_EO_TRACE)
                end = batch.elements[i].index;
    CHECK_EQ(last_range, packet);
    CHECK_EQ(end, trace.size);
    tw_tree_free(tree);
    tw_image_free(source.image);
    expect(&program, &trace, "on\nP 3 0\nff8-1000 3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_return_from_a_call),
        cmocka_unit_test(example_taken_branch_then_return),
        cmocka_unit_test(example_three_branches_then_return),
        cmocka_unit_test(example_branches_calls_and_a_return),
        cmocka_unit_test(loop_label_reported_by_the_jump),
        cmocka_unit_test(loop_label_then_an_exception_in_the_second_round),
        cmocka_unit_test(loop_label_then_an_exception_in_the_first_round),
        cmocka_unit_test(loop_label_notified),
        cmocka_unit_test(loop_label_is_where_tracing_ends),
        cmocka_unit_test(contexts_of_every_kind),
        cmocka_unit_test(time_in_packets),
        cmocka_unit_test(compressed_tables),
        cmocka_unit_test(idle_bytes_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
