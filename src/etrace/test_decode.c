/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets of small programs to their path. */ /* size: table */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "base/text.h"
#include "etrace/packet.h"

/* Code. */

enum { NOP = 0x0001, RET = 0x8082, NOP4 = 0x00000013, ECALL = 0x00000073, MRET = 0x30200073 };

static uint32_t bits_of(int32_t value, unsigned high, unsigned low)
{
    return (uint32_t)value >> low & ((2u << (high - low)) - 1);
}

static uint32_t jal(unsigned rd, int32_t to)
{
    return bits_of(to, 20, 20) << 31 | bits_of(to, 10, 1) << 21 | bits_of(to, 11, 11) << 20 |
           bits_of(to, 19, 12) << 12 | rd << 7 | 0x6f;
}

static uint32_t jalr(unsigned rd, unsigned rs1, int32_t offset)
{
    return bits_of(offset, 11, 0) << 20 | rs1 << 15 | rd << 7 | 0x67;
}

static uint32_t beq(int32_t to)
{
    return bits_of(to, 12, 12) << 31 | bits_of(to, 10, 5) << 25 | bits_of(to, 4, 1) << 8 |
           bits_of(to, 11, 11) << 7 | 0x63;
}

static uint32_t auipc(unsigned rd, uint32_t high)
{
    return high << 12 | rd << 7 | 0x17;
}

/* A program is written instruction after instruction; `at` moves the place. */
struct program {
    uint8_t bytes[0x4000];
    uint64_t base;
    size_t at;
};

static void at(struct program *program, uint64_t address)
{
    program->at = (size_t)(address - program->base);
}

static void put(struct program *program, uint32_t opcode)
{
    const unsigned size = (opcode & 3) == 3 ? 4 : 2;

    CHECK(program->at + size <= sizeof program->bytes);
    for (unsigned i = 0; i < size; i++)
        program->bytes[program->at++] = (uint8_t)(opcode >> 8 * i);
}

static void put_many(struct program *program, uint32_t opcode, unsigned count)
{
    while (count--)
        put(program, opcode);
}

/* Trace. */

/* What stays the same but for a few keys. */
#define BASE                                                                                   \
    "layout=v2\nencapsulation=len5-type2\niaddress_width_p=64\niaddress_lsb_p=1\n"             \
    "privilege_width_p=2\nnocontext_p=0\ncontext_width_p=8\necause_width_p=5\nnotime_p=1\n"    \
    "ecall_retires=1\n"

struct trace {
    struct tw_etrace_codec *codec;
    uint64_t address; /* reported last */
    uint8_t bytes[4096];
    size_t size;
    const char *config;
    enum tw_framing framing;
};

static struct tw_etrace_config read_config(const char *text)
{
    struct tw_etrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    tw_etrace_config_init(&config, (enum tw_etrace_layout)config.layout);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    return config;
}

static struct trace trace_of(const char *text)
{
    const struct tw_etrace_config config = read_config(text);
    struct trace trace = { .config = text };

    CHECK_EQ(tw_etrace_codec_new(&trace.codec, &config, NULL), TW_OK);
    return trace;
}

static void send(struct trace *trace, struct tw_etrace_packet packet)
{
    size_t size = sizeof trace->bytes - trace->size;

    CHECK_EQ(tw_etrace_write(trace->codec, trace->bytes + trace->size, &size, &packet), TW_OK);
    trace->size += size;
}

/* An address packet: the field is the difference from the last one. */
static void send_to(struct trace *trace, uint64_t address, struct tw_etrace_packet packet)
{
    const struct tw_etrace_shape *shape = &trace->codec->shape;
    const bool is_full = packet.packet.type >= TW_ETRACE_F3S0 ||
                         (trace->codec->options & TW_ETRACE_FULL_ADDRESS);
    const uint64_t value = is_full ? address : address - trace->address;

    packet.field = value >> shape->lsb;
    if (shape->address_bits < 64)
        packet.field &= ((uint64_t)1 << shape->address_bits) - 1;
    packet.has |= TW_ETRACE_HAS_ADDRESS;
    trace->address = address;
    send(trace, packet);
}

#define TYPE(name) .packet = { .type = TW_ETRACE_##name }

static void start(struct trace *trace, uint64_t address)
{
    send(trace, (struct tw_etrace_packet){ TYPE(F3S3), .ienable = 1 });
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3 });
}

static void sync_at(struct trace *trace, uint64_t address, unsigned branch)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = branch & 1, .privilege = 3 });
}

static void f2(struct trace *trace, uint64_t address)
{
    send_to(trace, address, (struct tw_etrace_packet){ TYPE(F2) });
}

static void f1(struct trace *trace, uint64_t address, unsigned branches, uint32_t map)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F1), .branches = (uint8_t)branches,
                                       .branch_map = map });
}

static void full_map(struct trace *trace, uint32_t map)
{
    send(trace, (struct tw_etrace_packet){ TYPE(F1), .branch_map = map });
}

static void trap(struct trace *trace, uint64_t address, unsigned cause, bool is_handler)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3,
                                       .ecause = (uint16_t)cause, .thaddr = is_handler });
}

static void support(struct trace *trace, unsigned qual_status, uint32_t ioptions)
{
    send(trace, (struct tw_etrace_packet){ TYPE(F3S3), .ienable = 1,
                                           .qual_status = (uint8_t)qual_status,
                                           .ioptions = ioptions });
}

/* Elements as text, straight runs joined. */
struct lines {
    struct tw_text text;
    bool is_open;
    uint64_t first, last, next;
    uint32_t count;
};

static void close_run(struct lines *lines)
{
    if (lines->is_open)
        tw_text_format(&lines->text, "%" PRIx64 "-%" PRIx64 " %" PRIu32 "\n", lines->first,
                       lines->last, lines->count);
    lines->is_open = false;
}

static void print_range(struct lines *lines, const struct tw_element *range)
{
    if (lines->is_open && lines->next != range->start)
        close_run(lines);
    if (!lines->is_open) {
        lines->is_open = true;
        lines->first = range->start;
        lines->count = 0;
    }
    lines->next = tw_element_end(range);
    lines->last = lines->next - 2u * range->last_size;
    lines->count += range->count;
}

static void print_exception(struct lines *lines, const struct tw_element *element)
{
    tw_text_format(&lines->text, "%c %" PRIu32,
                   element->flags & TW_EXCEPTION_INTERRUPT ? 'I' : 'E', element->number);
    if (element->flags & TW_EXCEPTION_HAS_RETURN)
        tw_text_format(&lines->text, " %" PRIx64, element->return_address);
    if (element->flags & TW_EXCEPTION_HAS_TVAL)
        tw_text_format(&lines->text, " tval %" PRIx64, element->tval);
    tw_text_char(&lines->text, '\n');
}

static void print(struct lines *lines, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_INSTR_RANGE) {
        print_range(lines, element);
        return;
    }
    close_run(lines);
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        print_exception(lines, element);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        tw_text_format(&lines->text, "P %u %" PRIu32 "\n", element->el, element->context_id);
        break;
    case TW_ELEMENT_NO_SYNC:
        if (element->reason != TW_REASON_INIT)
            tw_text_format(&lines->text, "no sync, %s\n", tw_reason_name(element->reason));
        break;
    case TW_ELEMENT_ERROR:
        tw_text_format(&lines->text, "error %s at %" PRIu64 ", %" PRIu64 " skipped\n",
                       tw_error_code_name(element->error), element->index, element->skipped);
        break;
    case TW_ELEMENT_EVENT:
        tw_text_format(&lines->text, "notify %" PRIx64 "\n", element->value);
        break;
    case TW_ELEMENT_ADDR_NACC:
        tw_text_format(&lines->text, "missing %" PRIx64 "\n", element->address);
        break;
    case TW_ELEMENT_TIMESTAMP:
        tw_text_format(&lines->text, "time %" PRIu64 "\n", element->timestamp);
        break;
    case TW_ELEMENT_TRACE_ON:
        tw_text_add(&lines->text,
                    element->reason == TW_TRACE_ON_OVERFLOW ? "on again\n" : "on\n");
        break;
    default:
        break;
    }
}

/* Everything that the trace gives, fed in pieces of `piece` bytes. */
static char *decode(const struct program *program, const struct trace *trace, size_t piece)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = program->base,
                                      .length = sizeof program->bytes };
    const struct tw_tree_config config = { .size = sizeof config, .framing = trace->framing };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = trace->config };
    struct lines lines = { .is_open = false };
    struct tw_batch batch;
    struct tw_tree *tree;
    struct tw_fault fault;

    CHECK_EQ(tw_image_new(&source.image, NULL), TW_OK);
    CHECK_EQ(tw_image_add(source.image, &region, program->bytes), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    for (size_t from = 0; from < trace->size; from += piece) {
        const size_t left = trace->size - from;

        CHECK_EQ(tw_tree_feed(tree, trace->bytes + from, left < piece ? left : piece), TW_OK);
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count; i++)
                print(&lines, &batch.elements[i]);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            print(&lines, &batch.elements[i]);
    close_run(&lines);
    tw_text_add(&lines.text, "");
    tw_tree_free(tree);
    tw_image_free(source.image);
    return lines.text.chars;
}

static void expect(const struct program *program, struct trace *trace, const char *want)
{
    char *whole = decode(program, trace, sizeof trace->bytes);
    char *pieces = decode(program, trace, 1);

    CHECK_TEXT(whole, want);
    CHECK_TEXT(pieces, want);
    free(whole);
    free(pieces);
    tw_etrace_codec_free(trace->codec);
}

/* The worked examples of the specification, chapter 12. */

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

/* 6.6.2: a loop that an indirect jump closes, entered from above. */

static struct program loop_program(void)
{
    struct program program = { .base = 0 };

    at(&program, 0xff8);
    put_many(&program, NOP4, 5);   /* the loop begins at 1000 */
    put(&program, jalr(0, 10, 0)); /* at 100c */
    at(&program, 0x2000);
    put_many(&program, NOP4, 4);
    return program;
}

static void send_f2(struct trace *trace, uint64_t address, bool notify, bool updiscon)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F2), .notify = notify, .updiscon = updiscon });
}

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

/* Traps. */

static void trap_on_the_target_of_a_jump(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1008);
    f2(&trace, 0x100c);              /* flushed before the trap */
    trap(&trace, 0x1800, 12, false); /* the jump's target could not be fetched */
    sync_at(&trace, 0x2000, 1);
    f2(&trace, 0x2004);
    support(&trace, TW_ETRACE_ENDED_REP, 0);
    expect(&program, &trace, "on\nP 3 0\n1008-100c 2\nE 12 1800 tval 0\n2000-2004 2\n");
}

static void traps_in_a_row(void **state)
{
    struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x1004);
    put(&program, ECALL);
    start(&trace, 0x1000);
    f2(&trace, 0x1004);
    trap(&trace, 0x3000, 11, false); /* the handler's first instruction faults ... */
    trap(&trace, 0x2000, 1, true);   /* ... which is where the second trap comes from */
    expect(&program, &trace,
           "on\nP 3 0\n1000-1004 2\nE 11 1004 tval 0\nE 1 3000 tval 0\n2000-2000 1\n");
}

static void trap_reported_twice(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    start(&trace, 0x1008);
    f2(&trace, 0x100c);
    trap(&trace, 0x1800, 12, false);
    trap(&trace, 0x3000, 12, false); /* the same again: a second trap struck at 3000 */
    trap(&trace, 0x2000, 1, true);
    expect(&program, &trace,
           "on\nP 3 0\n1008-100c 2\nE 12 1800 tval 0\nE 1 3000 tval 0\n2000-2000 1\n");
}

static void interrupt_after_a_branch(void **state)
{
    struct program program = loop_program();
    struct trace trace = trace_of(BASE);

    (void)state;
    at(&program, 0x1004);
    put(&program, beq(0x100)); /* 1104 */
    start(&trace, 0x1000);
    f1(&trace, 0x1004, 1, 0); /* the branch itself is reported: taken */
    send_to(&trace, 0x2000,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 7,
                                       .interrupt = 1, .thaddr = 1 });
    expect(&program, &trace, "on\nP 3 0\n1000-1004 2\nI 7 1104\n2000-2000 1\n");
}

static void draft_exception_with_epc(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of("layout=seed\niaddress_width_p=64\ncontext_width_p=8\n"
                                  "privilege_width_p=2\necause_width_p=5\n");

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x1004);
    send_to(&trace, 0x2000,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 2,
                                       .tval = 0x1008 });
    expect(&program, &trace, "on\nP 3 0\n1000-1004 2\nE 2 1008\n2000-2000 1\n");
}

static void implicit_exception_with_vectors(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "implicit_exception=1\ntvec=3:1ff1\n");
    struct trace blind = trace_of(BASE "implicit_exception=1\n");
    const struct tw_etrace_packet interrupt = { TYPE(F3S1),  .branch = 1,    .privilege = 3,
                                                .ecause = 7, .interrupt = 1, .thaddr = 1 };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    send(&trace, interrupt); /* 1ff0 + 4 * 7 is 200c */
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\nI 7 1004\n200c-200c 1\n");
    sync_at(&blind, 0x1000, 1);
    send(&blind, interrupt);
    sync_at(&blind, 0x2000, 1);
    expect(&program, &blind,
           "on\nP 3 0\n1000-1000 1\nI 7 1004\nno sync, bad-packet\n"
           "error unsupported at 5, 4 skipped\non\n2000-2000 1\n");
}

/* Options. */

static void sequential_jump(void **state)
{
    struct program program = { .base = 0 };
    struct trace on = trace_of(BASE "sijump_p=1\n"), off = trace_of(BASE);

    (void)state;
    at(&program, 0x1000);
    put(&program, auipc(5, 1)); /* 2000 */
    put(&program, jalr(0, 5, 0x10));
    at(&program, 0x2010);
    put(&program, NOP4);
    put(&program, jalr(0, 10, 0));
    start(&on, 0x1000);
    f2(&on, 0x1000);
    expect(&program, &on, "on\nP 3 0\n1000-1004 2\n2010-2014 2\n1000-1000 1\n");
    start(&off, 0x1000);
    f2(&off, 0x1000); /* the same packet: now of the first jump */
    expect(&program, &off, "on\nP 3 0\n1000-1004 2\n1000-1000 1\n");
}

/* 1000 calls 2000, which calls 3000; both return; then an indirect jump. */
static struct program call_program(void)
{
    struct program program = { .base = 0 };

    at(&program, 0x1000);
    put(&program, jal(1, 0x1000));
    put(&program, NOP4);
    put(&program, jalr(0, 10, 0));
    at(&program, 0x2000);
    put(&program, jal(5, 0x1000));
    put(&program, jalr(0, 1, 0));
    at(&program, 0x3000);
    put(&program, NOP4);
    put(&program, jalr(0, 5, 0));
    return program;
}

static void implicit_returns(void **state)
{
    const struct program program = call_program();
    struct trace counted = trace_of(BASE "implicit_return=1\ncall_counter_size_p=4\n");
    struct trace stacked = trace_of(BASE "implicit_return=1\nreturn_stack_size_p=1\n");

    (void)state;
    sync_at(&counted, 0x1000, 1);
    f2(&counted, 0x1004);
    support(&counted, TW_ETRACE_ENDED_REP, 1);
    expect(&program, &counted,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1004 1\n");
    sync_at(&stacked, 0x1000, 1);
    f2(&stacked, 0x1000);
    expect(&program, &stacked,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1008 2\n"
           "1000-1000 1\n");
}

static void mispredicted_return(void **state)
{
    const struct program program = call_program();
    struct trace trace = trace_of(BASE "implicit_return=1\nreturn_stack_size_p=3\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    /* The return at 3004, with two entries on the stack, goes elsewhere. */
    send_to(&trace, 0x1004,
            (struct tw_etrace_packet){ TYPE(F2), .irreport = true, .irdepth = 2 });
    support(&trace, TW_ETRACE_ENDED_UPD, 1);
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n1004-1004 1\n");
}

static void only_x1_links(void **state)
{
    const struct program program = call_program();
    struct trace trace =
        trace_of(BASE "implicit_return=1\ncall_counter_size_p=4\nlink_registers=x1\n");

    (void)state;
    sync_at(&trace, 0x1000, 1);
    f2(&trace, 0x2004); /* a return by x5 is none */
    support(&trace, TW_ETRACE_ENDED_UPD, 1);
    expect(&program, &trace, "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n");
}

/* A loop of one branch: 1000 to 1008, and on to an indirect jump. */
static struct program branch_program(void)
{
    struct program program = { .base = 0 };

    at(&program, 0x1000);
    put_many(&program, NOP4, 2);
    put(&program, beq(-8));
    put(&program, NOP4);
    put(&program, jalr(0, 10, 0));
    return program;
}

static void full_branch_map(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE);
    struct tw_text want = { .chars = NULL };

    (void)state;
    start(&trace, 0x1000);
    full_map(&trace, 0); /* 31 times taken; the last is still to be left */
    f1(&trace, 0x1000, 1, 1);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 31; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "1000-1010 5\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

static void branch_prediction(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE "branch_prediction=1\nbpred_size_p=4\n");
    struct tw_text want = { .chars = NULL };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    full_map(&trace, 0); /* the predictor learns; the last branch is still to be left */
    /* 40 right predictions from there on, then a wrong one: not taken. */
    send(&trace, (struct tw_etrace_packet){ TYPE(F0S0), .branch_count = 9, .branch_fmt = 0 });
    f2(&trace, 0x1000);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 71; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "1000-1010 5\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

static void predicted_branch_at_the_address(void **state)
{
    const struct program program = branch_program();
    struct trace trace = trace_of(BASE "branch_prediction=1\nbpred_size_p=4\n");
    struct tw_text want = { .chars = NULL };

    (void)state;
    sync_at(&trace, 0x1000, 1);
    full_map(&trace, 0);
    /* 31 right ones, the last at the address; a trap drops it. */
    send_to(&trace, 0x1008, (struct tw_etrace_packet){ TYPE(F0S0), .branch_fmt = 2 });
    trap(&trace, 0x1000, 5, true);
    tw_text_add(&want, "on\nP 3 0\n");
    for (unsigned i = 0; i < 62; i++)
        tw_text_add(&want, "1000-1008 3\n");
    tw_text_add(&want, "E 5 1000 tval 0\n1000-1000 1\n");
    expect(&program, &trace, want.chars);
    tw_text_free(&want);
}

static void jump_target_cache(void **state)
{
    const struct program program = loop_program();
    struct trace trace = trace_of(BASE "jump_target_cache=1\ncache_size_p=3\n");

    (void)state;
    sync_at(&trace, 0x1008, 1);
    f2(&trace, 0x2000);
    sync_at(&trace, 0x2004, 1);
    trap(&trace, 0x1008, 3, true);
    send(&trace, (struct tw_etrace_packet){ TYPE(F0S1), .index = 0 }); /* 2000 >> 1 & 7 */
    trace.address = 0x2000;
    f2(&trace, 0x2004); /* the cached address is what this one differs from */
    support(&trace, TW_ETRACE_ENDED_REP, 8);
    expect(&program, &trace,
           "on\nP 3 0\n1008-100c 2\n2000-2004 2\nE 3 2008 tval 0\n1008-100c 2\n2000-2004 2\n");
}

static void options_change_on_the_way(void **state)
{
    const struct program program = call_program();
    struct trace trace = trace_of(BASE "call_counter_size_p=4\n");

    (void)state;
    start(&trace, 0x1000);
    f2(&trace, 0x2004);                          /* the first return is reported */
    f2(&trace, 0x1004);                          /* and the second */
    support(&trace, TW_ETRACE_NO_CHANGE, 1 | 4); /* implicit return, full address */
    sync_at(&trace, 0x1000, 1);
    f2(&trace, 0x1004);
    support(&trace, TW_ETRACE_ENDED_REP, 1 | 4);
    expect(&program, &trace,
           "on\nP 3 0\n1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1008 2\n"
           "1000-1000 1\n2000-2000 1\n3000-3004 2\n2004-2004 1\n1004-1004 1\n");
}

/* Contexts. */

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

/* Loss and bad trace. */

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
    tw_etrace_codec_free(trace.codec);
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
    CHECK_EQ(tw_framer_new(&framer, &framing), TW_OK);
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
    tw_etrace_codec_free(trace.codec);
    tw_etrace_codec_free(framed.codec);
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
        cmocka_unit_test(trap_on_the_target_of_a_jump),
        cmocka_unit_test(traps_in_a_row),
        cmocka_unit_test(trap_reported_twice),
        cmocka_unit_test(interrupt_after_a_branch),
        cmocka_unit_test(draft_exception_with_epc),
        cmocka_unit_test(implicit_exception_with_vectors),
        cmocka_unit_test(sequential_jump),
        cmocka_unit_test(implicit_returns),
        cmocka_unit_test(mispredicted_return),
        cmocka_unit_test(only_x1_links),
        cmocka_unit_test(full_branch_map),
        cmocka_unit_test(branch_prediction),
        cmocka_unit_test(predicted_branch_at_the_address),
        cmocka_unit_test(jump_target_cache),
        cmocka_unit_test(options_change_on_the_way),
        cmocka_unit_test(contexts_of_every_kind),
        cmocka_unit_test(time_in_packets),
        cmocka_unit_test(trace_lost),
        cmocka_unit_test(outcomes_that_no_branch_takes),
        cmocka_unit_test(branch_without_an_outcome),
        cmocka_unit_test(address_never_reached),
        cmocka_unit_test(depth_that_cannot_be),
        cmocka_unit_test(code_that_is_missing),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(format_0_that_no_option_allows),
        cmocka_unit_test(frames_with_a_gap),
        cmocka_unit_test(compressed_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
