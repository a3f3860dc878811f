/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of instructions that the caller tells of, in a set that the library knows. */
#include "check.h"

#include <string.h>

#include <trackway/trackway.h>

/* "step": a0 ADDRESS16 go there; b0 COUNT BITS waypoints.  It is always synchronized. */
enum { BAD, GO, ATOMS };

struct step_packet {
    struct tw_packet base;
    unsigned low, high;
};

static enum tw_status step_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last)
{
    struct step_packet *to = packet;

    (void)reader;
    if (size < 3 && !is_last)
        return TW_MORE;
    to->base.type = size < 3 ? BAD : data[0] == 0xa0 ? GO : data[0] == 0xb0 ? ATOMS : BAD;
    to->base.size = to->base.type == BAD ? 1 : 3;
    to->low = to->base.type == BAD ? 0 : data[1];
    to->high = to->base.type == BAD ? 0 : data[2];
    return TW_OK;
}

static void step_lost(void *reader)
{
    (void)reader;
}

static const char *step_name(unsigned type)
{
    return type == GO ? "GO" : type == ATOMS ? "ATOMS" : "BAD";
}

static void step_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    const struct step_packet *from = packet;

    (void)decoder;
    if (from->base.type == GO)
        tw_flow_go(out, from->low | from->high << 8, TW_ISA_A64);
    else
        tw_flow_atoms(out, from->high, from->low);
}

static const struct tw_custom_protocol step = {
    .size = sizeof step,
    .name = "step",
    .packet_size = sizeof(struct step_packet),
    .packet_max = 3,
    .follows = true,
    .read = step_read,
    .reader_lost = step_lost,
    .type_name = step_name,
    .decode = step_decode,
};

struct listing {
    char text[20000];
    size_t size;
};

static void list(struct listing *to, const char *line)
{
    const size_t size = strlen(line);

    CHECK(to->size + size + 2 < sizeof to->text);
    memcpy(to->text + to->size, line, size);
    to->size += size;
    to->text[to->size++] = '\n';
    to->text[to->size] = 0;
}

/* A64 with an instruction of the core's own, 0000cdef: it goes back by so many bytes. */
static bool classify_a64(void *context, struct tw_instruction_info *out, uint64_t address,
                         const uint8_t *bytes, size_t size)
{
    unsigned *asked = context;

    ++*asked;
    CHECK_EQ(out->isa, TW_ISA_A64);
    if (size < 4)
        return false;
    if (bytes[3] == 0xff)
        return false; /* no instruction */
    if (bytes[3] || bytes[2])
        return true; /* as the library has it */
    out->size = 4;
    out->kind = TW_LAST_BR;
    out->is_waypoint = out->is_conditional = true;
    out->target = address - bytes[0];
    return true;
}

static void list_a64(struct listing *to, uint32_t isas, unsigned *asked, bool by_protocol)
{
    /* 0: nop; 4: b.eq +8 to 12; 8: nop; 12: back by 12; 16: ff */
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0xd503201f, 0x0000000c,
                                      0xff000000 };
    static const uint8_t steps[] = {
        0xa0, 0, 0, 0xb0, 5, 0x03
    }; /* taken twice, then thrice not */
    const struct tw_region region = { .size = sizeof region, .length = sizeof words };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "step",

                                     .id = 5 };
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_custom_protocol protocol = step;
    struct tw_batch batch = { .size = sizeof batch };
    uint8_t memory[sizeof words];
    struct tw_image *image;
    struct tw_tree *tree;
    char line[512];

    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, memory), TW_OK);
    source.image = image;
    if (by_protocol) {
        protocol.classify = classify_a64;
        protocol.classify_context = asked;
        protocol.classify_isas = isas;
    } else {
        source.classify = classify_a64;
        source.classify_context = asked;
        source.classify_isas = isas;
    }
    to->size = 0;
    *asked = 0;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_protocol(tree, &protocol), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, steps, sizeof steps), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            (void)tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
            list(to, line);
        }
    tw_tree_free(tree);
    tw_image_free(image);
}

static void instructions_that_a_core_adds_to_a64(void **state)
{
    static struct listing first, again;
    unsigned asked;

    (void)state;
    list_a64(&first, 1u << TW_ISA_A64, &asked, false);
    CHECK_TEXT(
        first.text,
        "0x0       0x5 NO_SYNC        init-decoder\n"
        "0x3       0x5 INSTR_RANGE    0x0-0x8 n=2 A64 BR cond taken\n"
        "0x3       0x5 INSTR_RANGE    0xc-0x10 n=1 A64 BR cond taken\n"
        "0x3       0x5 INSTR_RANGE    0x0-0x8 n=2 A64 BR cond not-taken\n"
        "0x3       0x5 INSTR_RANGE    0x8-0x10 n=2 A64 BR cond not-taken\n"
        "0x3       0x5 ERROR          the image holds no code at 0x10; skipped 0 bytes\n");
    CHECK(asked >= 4);
    list_a64(&again, 1u << TW_ISA_A64, &asked, true);
    CHECK_TEXT(again.text, first.text);
    /* Not asked: 0000000c is nothing, and the path goes on through it. */
    list_a64(&again, 0, &asked, false);
    CHECK(strcmp(again.text, first.text) != 0);
    CHECK_EQ(asked, 0);
    list_a64(&again, 1u << TW_ISA_T32 | 1u << TW_ISA_RV64, &asked, false);
    CHECK_EQ(asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_that_a_core_adds_to_a64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
