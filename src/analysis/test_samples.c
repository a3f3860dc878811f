/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches and samples as perf makes them, of elements made up here. */
#include "capture/test_perf.h"

#include <trackway/image.h>
#include <trackway/samples.h>

enum { CODE = 0x1000 };

static struct writer file;

/* A perf.data file with one block of one CPU, which every part below is of. */
static struct tw_capture *open_one(void)
{
    const struct trace trace = visit(TID_A);
    const struct disk disk = { &file, 0, NULL, 0 };
    struct disk sized = disk;
    struct tw_capture *capture;
    struct tw_fault fault;

    start(&file, false, false);
    put_info(&file, 1, 1, CONFIG_CID);
    put_aux(&file, 0, trace.size, RAW, 100, 0);
    put_trace(&file, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&file);
    sized.perf_size = file.size;
    CHECK_EQ(open_disk(&capture, &sized, NULL, &fault), TW_OK);
    return capture;
}

struct reports {
    struct tw_sample last;
    size_t count;
    uint64_t ips[64];
};

static void keep(void *context, const struct tw_sample *sample)
{
    struct reports *reports = context;

    reports->last = *sample;
    if (reports->count < LENGTH(reports->ips))
        reports->ips[reports->count] = sample->ip;
    reports->count++;
}

static struct tw_element range_of(uint64_t begin, uint32_t bytes, uint32_t count, uint8_t isa,
                                  uint8_t last_size)
{
    return (struct tw_element){ .type = TW_ELEMENT_INSTR_RANGE,
                                .start = begin,
                                .length = bytes,
                                .count = count,
                                .isa = isa,
                                .flags = TW_RANGE_EXECUTED,
                                .last = (uint8_t)(TW_LAST_OTHER | last_size << 6) };
}

/* What the elements bring about, as if they came from a source of this protocol. */
static struct reports take(const struct tw_capture *capture, const char *protocol,
                           struct tw_image *image, struct tw_element *elements, size_t count,
                           uint64_t period)
{
    struct reports reports = { .count = 0 };
    const struct tw_samples_config config = {
        .size = sizeof config, .period = period, .report = keep, .context = &reports
    };
    const struct tw_source source = { .name = "x", .protocol = protocol };
    struct tw_part part = { .size = sizeof part,
                            .kind = TW_PART_ELEMENTS,
                            .source = &source,
                            .image = image,
                            .who = { .comm = "", .tid = 1 } };
    struct tw_samples *samples;

    for (size_t i = 0; i < count; i++)
        elements[i].index = i;
    part.batch.elements = elements;
    part.batch.count = count;
    part.who.view.space = TW_SPACE_ANY;
    CHECK_EQ(tw_samples_new(&samples, capture, &config, NULL), TW_OK);
    CHECK_EQ(tw_samples_take(samples, &part), TW_OK);
    tw_samples_free(samples);
    return reports;
}

static struct tw_image *image_of(const void *code, size_t size)
{
    const struct tw_region region = { .size = sizeof region, .address = CODE, .length = size };
    struct tw_image *image;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, code), TW_OK);
    return image;
}

/* The flags of an exception behind a range of one instruction. */
static unsigned flags_of(const struct tw_capture *capture, const char *protocol,
                         struct tw_image *image, uint8_t isa, uint32_t number)
{
    const uint32_t size = isa == TW_ISA_T32 ? 2 : 4;
    struct tw_element elements[] = {
        { .type = TW_ELEMENT_TRACE_ON },
        range_of(CODE, size, 1, isa, (uint8_t)(size / 2)),
        { .type = TW_ELEMENT_PE_CONTEXT },
        { .type = TW_ELEMENT_EXCEPTION, .number = number },
        range_of(0x8000, 4, 1, TW_ISA_A64, 2),
    };

    return take(capture, protocol, image, elements, LENGTH(elements), 0).last.flags;
}

enum {
    CALL = TW_SAMPLE_BRANCH | TW_SAMPLE_CALL,
    SYSTEM = CALL | TW_SAMPLE_SYSCALL,
    INTERRUPT = CALL | TW_SAMPLE_INTERRUPT,
    HARDWARE = INTERRUPT | TW_SAMPLE_ASYNC
};

/* Each exception number of each protocol. */
static void exceptions_have_their_flags(void **state)
{
    static const uint32_t nop = 0xd503201f;
    static const uint8_t etmv4_hardware[] = { 0, 1, 4, 6, 7, 14, 15 };
    static const uint8_t etmv4_software[] = { 2,  3,  10, 11, 12, 16, 17, 18, 19, 20,
                                              21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };
    static const uint8_t armv7_hardware[] = { 1, 4, 8, 14, 15 };
    static const uint8_t armv7_software[] = { 2, 3, 5, 9, 11, 12, 13 };
    struct tw_capture *capture = open_one();
    struct tw_image *image = image_of(&nop, sizeof nop);

    (void)state;
    for (uint32_t number = 0; number < 64; number++) {
        unsigned etmv4 = 0, armv7 = number == 10 ? SYSTEM : 0;

        check_case("exception %u", (unsigned)number);
        for (size_t i = 0; i < LENGTH(etmv4_hardware); i++)
            etmv4 = etmv4_hardware[i] == number ? HARDWARE : etmv4;
        for (size_t i = 0; i < LENGTH(etmv4_software); i++)
            etmv4 = etmv4_software[i] == number ? INTERRUPT : etmv4;
        for (size_t i = 0; i < LENGTH(armv7_hardware); i++)
            armv7 = armv7_hardware[i] == number ? HARDWARE : armv7;
        for (size_t i = 0; i < LENGTH(armv7_software); i++)
            armv7 = armv7_software[i] == number ? INTERRUPT : armv7;
        CHECK_EQ(flags_of(capture, "etmv4", image, TW_ISA_A64, number), etmv4);
        CHECK_EQ(flags_of(capture, "ptm", image, TW_ISA_A64, number), armv7);
        CHECK_EQ(flags_of(capture, "etmv3", image, TW_ISA_A64, number), armv7);
        CHECK_EQ(flags_of(capture, "ete", image, TW_ISA_A64, number), 0);
    }
    tw_image_free(image);
    tw_capture_free(capture);
}

/* A call exception is a system call only behind an SVC. */
static void system_calls_are_those_of_svc(void **state)
{
    static const struct {
        uint32_t opcode;
        uint8_t isa;
        bool is_svc;
    } cases[] = {
        { 0xd4000001, TW_ISA_A64, true },  { 0xd41fffe1, TW_ISA_A64, true },
        { 0xd4000002, TW_ISA_A64, false }, { 0xd4000003, TW_ISA_A64, false },
        { 0xd4200001, TW_ISA_A64, false }, { 0x54000001, TW_ISA_A64, false },
        { 0xef000000, TW_ISA_A32, true },  { 0x0f123456, TW_ISA_A32, true },
        { 0xefffffff, TW_ISA_A32, true },  { 0xff000000, TW_ISA_A32, false },
        { 0xffffffff, TW_ISA_A32, false }, { 0xea000000, TW_ISA_A32, false },
        { 0x0000df00, TW_ISA_T32, true },  { 0x0000dfff, TW_ISA_T32, true },
        { 0x0000de00, TW_ISA_T32, false }, { 0x00005f00, TW_ISA_T32, false },
    };
    struct tw_capture *capture = open_one();

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const uint8_t bytes[] = { (uint8_t)cases[i].opcode, (uint8_t)(cases[i].opcode >> 8),
                                  (uint8_t)(cases[i].opcode >> 16),
                                  (uint8_t)(cases[i].opcode >> 24) };
        struct tw_image *image = image_of(bytes, sizeof bytes);

        check_case("opcode 0x%x", (unsigned)cases[i].opcode);
        CHECK_EQ(flags_of(capture, "etmv4", image, cases[i].isa, 2),
                 cases[i].is_svc ? SYSTEM : INTERRUPT);
        tw_image_free(image);
    }
    CHECK_EQ(flags_of(capture, "etmv4", NULL, TW_ISA_A64, 2), INTERRUPT);
    tw_capture_free(capture);
}

/* Every n-th instruction, whatever their sizes. */
static void samples_are_counted_by_instruction(void **state)
{
    /* 2, 4, 2, 4, 4, 2 bytes. */
    static const uint8_t code[] = { 0x00, 0xbf, 0xaf, 0xf3, 0x00, 0x80, 0x00, 0xe7, 0x00,
                                    0xe8, 0x00, 0x00, 0x00, 0xf0, 0x00, 0xf8, 0x70, 0x47 };
    static const uint64_t starts[] = {
        CODE, CODE + 2, CODE + 6, CODE + 8, CODE + 12, CODE + 16
    };
    struct tw_capture *capture = open_one();
    struct tw_image *image = image_of(code, sizeof code);

    (void)state;
    for (uint64_t period = 1; period <= 7; period++) {
        struct tw_element elements[] = { { .type = TW_ELEMENT_TRACE_ON },
                                         range_of(CODE, sizeof code, 6, TW_ISA_T32, 1),
                                         range_of(CODE, sizeof code, 6, TW_ISA_T32, 1) };
        const struct reports got =
            take(capture, "ptm", image, elements, LENGTH(elements), period);
        struct tw_element wide[] = { { .type = TW_ELEMENT_TRACE_ON },
                                     range_of(CODE, 40, 10, TW_ISA_A32, 2) };
        const struct reports words = take(capture, "ptm", NULL, wide, LENGTH(wide), period);

        check_case("period %u", (unsigned)period);
        CHECK_EQ(got.count, 12 / period);
        for (size_t i = 0; i < got.count; i++)
            CHECK_EQ(got.ips[i], starts[((i + 1) * period - 1) % 6]);
        CHECK_EQ(words.count, 10 / period);
        for (size_t i = 0; i < words.count; i++)
            CHECK_EQ(words.ips[i], CODE + 4 * ((i + 1) * period - 1));
    }
    tw_image_free(image);
    tw_capture_free(capture);
}

static void flags_have_perfs_names(void **state)
{
    static const struct {
        unsigned flags;
        const char *name;
    } cases[] = { { CALL, "call" },
                  { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN, "return" },
                  { TW_SAMPLE_BRANCH | TW_SAMPLE_CONDITIONAL, "jcc" },
                  { TW_SAMPLE_BRANCH, "jmp" },
                  { INTERRUPT, "int" },
                  { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_INTERRUPT, "iret" },
                  { SYSTEM, "syscall" },
                  { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_SYSCALL, "sysret" },
                  { TW_SAMPLE_BRANCH | TW_SAMPLE_ASYNC, "async" },
                  { HARDWARE, "hw int" },
                  { 0, "" },
                  { TW_SAMPLE_CALL, "" } };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (unsigned edge = 0; edge < 4; edge++)
            CHECK_TEXT(tw_sample_flags_name(cases[i].flags | edge << 8), cases[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_have_their_flags),
        cmocka_unit_test(system_calls_are_those_of_svc),
        cmocka_unit_test(samples_are_counted_by_instruction),
        cmocka_unit_test(flags_have_perfs_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
