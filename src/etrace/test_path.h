/* SPDX-License-Identifier: BSD-2-Clause */
/* Small programs, packets about them, and the path as text: for tests of E-Trace. */
#ifndef ETRACE_TEST_PATH_H
#define ETRACE_TEST_PATH_H

#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "base/text.h"
#include "etrace/packet.h"

/* Code. */

enum { NOP = 0x0001, RET = 0x8082, NOP4 = 0x00000013, ECALL = 0x00000073, MRET = 0x30200073 };

static inline uint32_t bits_of(int32_t value, unsigned high, unsigned low)
{
    return (uint32_t)value >> low & ((2u << (high - low)) - 1);
}

static inline uint32_t jal(unsigned rd, int32_t to)
{
    return bits_of(to, 20, 20) << 31 | bits_of(to, 10, 1) << 21 | bits_of(to, 11, 11) << 20 |
           bits_of(to, 19, 12) << 12 | rd << 7 | 0x6f;
}

static inline uint32_t jalr(unsigned rd, unsigned rs1, int32_t offset)
{
    return bits_of(offset, 11, 0) << 20 | rs1 << 15 | rd << 7 | 0x67;
}

static inline uint32_t beq(int32_t to)
{
    return bits_of(to, 12, 12) << 31 | bits_of(to, 10, 5) << 25 | bits_of(to, 4, 1) << 8 |
           bits_of(to, 11, 11) << 7 | 0x63;
}

static inline uint32_t auipc(unsigned rd, uint32_t high)
{
    return high << 12 | rd << 7 | 0x17;
}

/* A program is written instruction after instruction; `at` moves the place. */
struct program {
    uint8_t bytes[0x4000];
    uint64_t base;
    size_t at;
};

static inline void at(struct program *program, uint64_t address)
{
    program->at = (size_t)(address - program->base);
}

static inline void put(struct program *program, uint32_t opcode)
{
    const unsigned size = (opcode & 3) == 3 ? 4 : 2;

    CHECK(program->at + size <= sizeof program->bytes);
    for (unsigned i = 0; i < size; i++)
        program->bytes[program->at++] = (uint8_t)(opcode >> 8 * i);
}

static inline void put_many(struct program *program, uint32_t opcode, unsigned count)
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
    struct tw_etrace_reader *codec;
    uint64_t address; /* reported last */
    uint8_t bytes[4096];
    size_t size;
    const char *config;
    enum tw_framing framing;
};

static inline struct tw_etrace_config read_config(const char *text)
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

static inline struct trace trace_of(const char *text)
{
    const struct tw_etrace_config config = read_config(text);
    struct trace trace = { .config = text };

    CHECK_EQ(tw_etrace_reader_new(&trace.codec, &config, NULL, NULL), TW_OK);
    return trace;
}

static inline void send(struct trace *trace, struct tw_etrace_packet packet)
{
    size_t size = sizeof trace->bytes - trace->size;

    CHECK_EQ(tw_etrace_write(trace->codec, trace->bytes + trace->size, &size, &packet), TW_OK);
    trace->size += size;
}

/* An address packet: the field is the difference from the last one. */
static inline void send_to(struct trace *trace, uint64_t address,
                           struct tw_etrace_packet packet)
{
    const struct tw_etrace_shape *shape = &trace->codec->shape;
    const bool is_full =
        packet.base.type >= TW_ETRACE_F3S0 || (trace->codec->options & TW_ETRACE_FULL_ADDRESS);
    const uint64_t value = is_full ? address : address - trace->address;

    packet.field = value >> shape->lsb;
    if (shape->address_bits < 64)
        packet.field &= ((uint64_t)1 << shape->address_bits) - 1;
    packet.has |= TW_ETRACE_HAS_ADDRESS;
    trace->address = address;
    send(trace, packet);
}

#define TYPE(name) .base = { .type = TW_ETRACE_##name }

static inline void start(struct trace *trace, uint64_t address)
{
    send(trace, (struct tw_etrace_packet){ TYPE(F3S3), .ienable = 1 });
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = 1, .privilege = 3 });
}

static inline void sync_at(struct trace *trace, uint64_t address, unsigned branch)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S0), .branch = branch & 1, .privilege = 3 });
}

static inline void f2(struct trace *trace, uint64_t address)
{
    send_to(trace, address, (struct tw_etrace_packet){ TYPE(F2) });
}

static inline void f1(struct trace *trace, uint64_t address, unsigned branches, uint32_t map)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F1), .branches = (uint8_t)branches,
                                       .branch_map = map });
}

static inline void full_map(struct trace *trace, uint32_t map)
{
    send(trace, (struct tw_etrace_packet){ TYPE(F1), .branch_map = map });
}

static inline void trap(struct trace *trace, uint64_t address, unsigned cause, bool is_handler)
{
    send_to(trace, address,
            (struct tw_etrace_packet){ TYPE(F3S1), .branch = 1, .privilege = 3,
                                       .ecause = (uint16_t)cause, .thaddr = is_handler });
}

static inline void support(struct trace *trace, unsigned qual_status, uint32_t ioptions)
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
    uint64_t digest; /* of the elements, every byte of them */
};

static inline void close_run(struct lines *lines)
{
    if (lines->is_open)
        tw_text_format(&lines->text, "%" PRIx64 "-%" PRIx64 " %" PRIu32 "\n", lines->first,
                       lines->last, lines->count);
    lines->is_open = false;
}

static inline void print_range(struct lines *lines, const struct tw_element *range)
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

static inline void print_exception(struct lines *lines, const struct tw_element *element)
{
    tw_text_format(&lines->text, "%c %" PRIu32,
                   element->flags & TW_EXCEPTION_INTERRUPT ? 'I' : 'E', element->number);
    if (element->flags & TW_EXCEPTION_HAS_RETURN)
        tw_text_format(&lines->text, " %" PRIx64, element->return_address);
    if (element->flags & TW_EXCEPTION_HAS_TVAL)
        tw_text_format(&lines->text, " tval %" PRIx64, element->tval);
    tw_text_char(&lines->text, '\n');
}

static inline void print(struct lines *lines, const struct tw_element *element)
{
    uint64_t words[sizeof *element / 8];

    memcpy(words, element, sizeof words);
    for (size_t i = 0; i < LENGTH(words); i++)
        lines->digest = (lines->digest ^ words[i] ^ words[i] >> 29) * 1099511628211u;
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
static inline char *decode_digest(uint64_t *digest, const struct program *program,
                                  const struct trace *trace, size_t piece)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = program->base,
                                      .length = sizeof program->bytes };
    const struct tw_tree_config config = { .size = sizeof config, .framing = trace->framing };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = trace->config };
    struct lines lines = { .is_open = false };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    struct tw_fault fault;

    CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
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
    *digest = lines.digest;
    return lines.text.chars;
}

static inline char *decode(const struct program *program, const struct trace *trace,
                           size_t piece)
{
    uint64_t digest;

    return decode_digest(&digest, program, trace, piece);
}

static inline void expect(const struct program *program, struct trace *trace, const char *want)
{
    uint64_t at_once, byte_by_byte;
    char *whole = decode_digest(&at_once, program, trace, sizeof trace->bytes);
    char *pieces = decode_digest(&byte_by_byte, program, trace, 1);

    CHECK_EQ(at_once, byte_by_byte);
    CHECK_TEXT(whole, want);
    CHECK_TEXT(pieces, want);
    free(whole);
    free(pieces);
    tw_etrace_reader_free(trace->codec);
}

/* 6.6.2: a loop that an indirect jump closes, entered from above. */
static inline struct program loop_program(void)
{
    struct program program = { .base = 0 };

    at(&program, 0xff8);
    put_many(&program, NOP4, 5);   /* the loop begins at 1000 */
    put(&program, jalr(0, 10, 0)); /* at 100c */
    at(&program, 0x2000);
    put_many(&program, NOP4, 4);
    return program;
}

/* 1000 calls 2000, which calls 3000; both return; then an indirect jump. */
static inline struct program call_program(void)
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

/* A loop of one branch: 1000 to 1008, and on to an indirect jump. */
static inline struct program branch_program(void)
{
    struct program program = { .base = 0 };

    at(&program, 0x1000);
    put_many(&program, NOP4, 2);
    put(&program, beq(-8));
    put(&program, NOP4);
    put(&program, jalr(0, 10, 0));
    return program;
}

#endif
