/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of protocols, instruction sets and memory that the caller brings along. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "failing.h"

/* "twig", program flow: a0 ADDRESS16 go there; b0 COUNT BITS waypoints; c0 too many elements;
   d0 ADDRESS16 runs up to there; e0 a context.  Until the first a0, and after any other byte, it
   is not synchronized. */
enum { NOT_SYNC, BAD, GO, ATOMS, MANY, UP_TO, CONTEXT };

struct twig_packet {
    struct tw_packet base;
    unsigned value, bits;
};

struct twig_config {
    unsigned offset; /* added to addresses */
};

struct twig_decoder {
    unsigned offset, gone;
};

static enum tw_status twig_configure(void *config, const struct tw_source_info *source,
                                     struct tw_fault *fault)
{
    struct twig_config *to = config;
    uint64_t offset = 0;

    if (tw_source_register(source, &offset, "bad")) {
        (void)snprintf(fault->text, sizeof fault->text, "BAD is bad");
        return TW_E_CONFIG;
    }
    (void)tw_source_register(source, &offset, "offset");
    to->offset = (unsigned)offset;
    return TW_OK;
}

static enum tw_status twig_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last)
{
    static const uint8_t sizes[] = {
        [GO] = 3, [ATOMS] = 3, [MANY] = 1, [UP_TO] = 3, [CONTEXT] = 1
    };
    bool *is_synced = reader;
    struct twig_packet *to = packet;

    to->base.size = 1;
    if (!*is_synced && data[0] != 0xa0)
        return TW_OK;
    to->base.type = BAD;
    if (data[0] % 16 == 0 && data[0] >= 0xa0 && data[0] <= 0xe0) {
        const uint8_t type = (uint8_t)(GO + (data[0] - 0xa0) / 16);

        if (size < sizes[type] && !is_last)
            return TW_MORE;
        if (size >= sizes[type]) {
            to->base.type = type;
            to->base.size = sizes[type];
            to->value = sizes[type] == 3 ? data[1] : 0;
            to->bits = sizes[type] == 3 ? data[2] : 0;
        } else {
            to->base.size = (uint32_t)size;
        }
    }
    *is_synced = to->base.type != BAD;
    return TW_OK;
}

static void twig_lost(void *reader)
{
    *(bool *)reader = false;
}

static const char *twig_name(unsigned type)
{
    static const char *const names[] = { "NOTSYNC", "BAD",   "GO",     "ATOMS",
                                         "MANY",    "UP_TO", "CONTEXT" };

    return type < LENGTH(names) ? names[type] : "UNKNOWN";
}

static enum tw_packet_kind twig_kind(unsigned type)
{
    return type == BAD ? TW_PACKET_BAD : type == NOT_SYNC ? TW_PACKET_NOT_SYNC : TW_PACKET_FLOW;
}

static void twig_text(char *out, size_t room, const void *packet)
{
    const struct twig_packet *from = packet;

    (void)snprintf(out, room, "%u %u", from->value, from->bits);
}

static void twig_init(void *decoder, const void *config)
{
    ((struct twig_decoder *)decoder)->offset = ((const struct twig_config *)config)->offset;
}

static void twig_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    struct twig_decoder *state = decoder;
    const struct twig_packet *from = packet;
    const unsigned address = (from->value | from->bits << 8) + state->offset;
    const struct tw_element context = { .isa = TW_ISA_CUSTOM, .flags = TW_CONTEXT_64BIT };

    switch (from->base.type) {
    case GO:
        tw_flow_go(out, address, TW_ISA_CUSTOM);
        state->gone++;
        break;
    case ATOMS:
        tw_flow_atoms(out, from->bits, from->value & 15);
        break;
    case UP_TO:
        tw_flow_to(out, address);
        break;
    case CONTEXT:
        tw_flow_context(out, &context);
        break;
    default:
        for (unsigned i = 0; i < TW_EMIT_MAX + 10; i++)
            tw_emit(out, TW_ELEMENT_CUSTOM)->number = i;
    }
}

static void twig_forget(void *decoder)
{
    ((struct twig_decoder *)decoder)->gone = 0;
}

static void twig_end(void *decoder, struct tw_emitter *out)
{
    tw_emit(out, TW_ELEMENT_CUSTOM)->number = ((struct twig_decoder *)decoder)->gone;
}

static const struct tw_custom_protocol twig = {
    .size = sizeof twig,
    .name = "twig",
    .config_size = sizeof(struct twig_config),
    .reader_size = sizeof(bool),
    .decoder_size = sizeof(struct twig_decoder),
    .packet_size = sizeof(struct twig_packet),
    .packet_max = 3,
    .follows = true,
    .configure = twig_configure,
    .read = twig_read,
    .reader_lost = twig_lost,
    .type_name = twig_name,
    .type_kind = twig_kind,
    .text = twig_text,
    .decoder_init = twig_init,
    .decode = twig_decode,
    .decoder_lost = twig_forget,
    .end = twig_end,
};

/* Its instruction set, by the first byte: 0 nop (2 bytes), 4 and 6 the same of 4 and 6 bytes, 1 T
   branch to address 2T if a condition holds, 2 T call of 2T, 3 return. */
static bool classify(void *context, struct tw_instruction_info *out, uint64_t address,
                     const uint8_t *bytes, size_t size)
{
    unsigned *calls = context;

    (void)address;
    ++*calls;
    if (size < 2 || bytes[0] > 6 || bytes[0] == 5)
        return false;
    out->size = bytes[0] >= 4 ? bytes[0] : 2;
    out->is_waypoint = bytes[0] >= 1 && bytes[0] <= 3;
    out->kind = bytes[0] == 3 ? TW_LAST_IBR : out->is_waypoint ? TW_LAST_BR : TW_LAST_OTHER;
    out->is_conditional = bytes[0] == 1;
    out->is_link = bytes[0] == 2;
    out->is_return = bytes[0] == 3;
    out->target = out->is_waypoint ? 2u * bytes[1] : 0;
    return true;
}

/* clang-format off */
static const uint8_t program[] = {
    0, 0,  4, 0, 0, 0,  6, 0, 0, 0, 0, 0,  1, 16, /* 0: nop, of 4, of 6; 12: branch to 32 */
    2, 20, 0, 0, 9, 9,                            /* 14: call of 40; 16: nop; 18: nothing */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 0, 0, 0, 0, 0, 0,                       /* 32: branch to 0 */
    0, 0, 3, 0,                                   /* 40: nop; 42: return */
};
/* clang-format on */

static size_t give_memory(void *context, uint8_t *out, const struct tw_view *view,
                          uint64_t address, size_t size)
{
    unsigned *reads = context;
    size_t left = address < sizeof program ? sizeof program - (size_t)address : 0;

    (void)view;
    ++*reads;
    left = left < size ? left : size;
    if (left)
        memcpy(out, program + address, left);
    return left;
}

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

struct twig_tree {
    struct tw_tree *tree;
    unsigned reads, calls;
};

static enum tw_status make(struct twig_tree *to, struct tw_tree_config config)
{
    const struct tw_register offset = { "OFFSET", 0 };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "twig",
                                     .registers = &offset,
                                     .register_count = 1,
                                     .id = 5,
                                     .classify = classify,
                                     .memory = give_memory };
    enum tw_status status;

    *to = (struct twig_tree){ .reads = 0 };
    source.classify_context = &to->calls;
    source.memory_context = &to->reads;
    config.size = sizeof config;
    status = tw_tree_new(&to->tree, &config, NULL);
    if (status == TW_OK)
        status = tw_tree_add_protocol(to->tree, &twig);
    if (status == TW_OK)
        status = tw_tree_add_source(to->tree, NULL, &source);
    return status;
}

static enum tw_status take(struct listing *to, struct tw_tree *tree, bool has_packets)
{
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status = TW_OK;
    char line[2000];

    while (has_packets && (status = tw_tree_next_packet(tree, &view)) == TW_OK) {
        CHECK(tw_packet_text(line, sizeof line, &view) < sizeof line);
        list(to, line);
        CHECK(tw_packet_json(line, sizeof line, &view) < sizeof line);
    }
    if (status < 0)
        return status;
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            if (batch.elements[i].type == TW_ELEMENT_CUSTOM && batch.elements[i].number > 2 &&
                batch.elements[i].number < TW_EMIT_MAX - 1)
                continue; /* 0, 1, 2 and the last one will do */
            (void)tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
            list(to, line);
        }
    return status;
}

/* clang-format off */
static const uint8_t trace[] = {
    0xb0, 1, 1,             /* not synchronized yet */
    0xa0, 0, 0, 0xe0,       /* to 0; context */
    0xb0, 2, 0x02,          /* not taken; call */
    0xb0, 1, 0x01,          /* return */
    0xa0, 16, 0, 0xb0, 1, 1, /* to 16, where no code comes */
    0xa0, 32, 0, 0xb0, 2, 3, /* to 32; back to 0; to 32 */
    0xd0, 34, 0,
    0xa0, 200, 0, 0xb0, 1, 1, /* nothing is there */
    0xff, 0xb0, 1, 1,       /* damage */
    0xa0, 0, 0, 0xc0,       /* too many */
    0xa0, 0,                /* cut */
};
/* clang-format on */

static const char *const want_elements[] = {
    "0x0       0x5 NO_SYNC        init-decoder",
    "0x6       0x5 PE_CONTEXT     Cst S",
    "0x7       0x5 INSTR_RANGE    0x0-0xe n=4 Cst BR cond not-taken",
    "0x7       0x5 INSTR_RANGE    0xe-0x10 n=1 Cst BR taken",
    "0xa       0x5 INSTR_RANGE    0x28-0x2c n=2 Cst IBR taken",
    "0x10      0x5 ERROR          the image holds no code at 0x12; skipped 0 bytes",
    "0x16      0x5 INSTR_RANGE    0x20-0x22 n=1 Cst BR cond taken",
    "0x16      0x5 INSTR_RANGE    0x0-0xe n=4 Cst BR cond taken",
    "0x19      0x5 INSTR_RANGE    0x20-0x22 n=1 Cst BR cond not-taken",
    "0x1f      0x5 ADDR_NACC      0xc8 (Any S) is not in the image",
    "0x22      0x5 ERROR          bad bytes in packet 0xff; skipped 4 bytes",
    "0x22      0x5 NO_SYNC        bad-packet",
    "0x29      0x5 CUSTOM         0 0x0",
    "0x29      0x5 CUSTOM         1 0x0",
    "0x29      0x5 CUSTOM         2 0x0",
    "0x29      0x5 CUSTOM         127 0x0",
    "0x29      0x5 ERROR          trace of a kind that cannot be decoded; skipped 0 bytes",
    "0x2a      0x5 ERROR          the trace ends inside packet 0xa0; skipped 2 bytes",
    "0x2a      0x5 CUSTOM         0 0x0",
    "0x2a      0x5 EO_TRACE       end-of-trace",
};

static struct listing *got, *want;

static int set_up(void **state)
{
    (void)state;
    got = calloc(1, sizeof *got);
    want = calloc(1, sizeof *want);
    return got && want ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(got);
    free(want);
    return 0;
}

static void want_all(void)
{
    want->size = 0;
    for (size_t i = 0; i < LENGTH(want_elements); i++)
        list(want, want_elements[i]);
}

/* [CSD 2.1.5/10] [CSD 2.3.1.5] */
static void a_protocol_of_ones_own_follows_an_instruction_set_of_ones_own(void **state)
{
    (void)state;
    want_all();
    for (size_t piece = 1; piece <= sizeof trace; piece++) {
        struct twig_tree tree;

        check_case("pieces of %zu", piece);
        got->size = 0;
        CHECK_EQ(make(&tree, (struct tw_tree_config){ 0 }), TW_OK);
        for (unsigned round = 0; round < 2; round++) {
            for (size_t at = 0; at < sizeof trace; at += piece) {
                const size_t left = sizeof trace - at;

                CHECK_EQ(tw_tree_feed(tree.tree, trace + at, left < piece ? left : piece),
                         TW_OK);
                CHECK_EQ(take(got, tree.tree, false), TW_MORE);
            }
            CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
            CHECK_EQ(take(got, tree.tree, false), TW_END);
            if (round == 0) {
                CHECK_TEXT(got->text, want->text);
                got->size = 0;
                tw_tree_reset(tree.tree, 0);
            }
        }
        CHECK(strstr(got->text, "NO_SYNC        reset-decoder") != NULL);
        CHECK(strstr(got->text, strchr(want->text, '\n')) != NULL);
        CHECK(tree.calls > 0 && tree.reads > 0 && tree.reads < 10); /* answers are kept */
        tw_tree_free(tree.tree);
    }
}

/* [CSD 2.3.1.1/4] */
static void packets_come_beside_elements(void **state)
{
    struct twig_tree tree;

    (void)state;
    got->size = 0;
    CHECK_EQ(make(&tree, (struct tw_tree_config){ .with_packets = true }), TW_OK);
    CHECK_EQ(tw_tree_feed(tree.tree, trace, 13), TW_OK);
    CHECK_EQ(take(got, tree.tree, true), TW_MORE);
    CHECK_TEXT(got->text, "0x0       0x5 b00101                    NOTSYNC\n"
                          "0x3       0x5 a00000                    GO 0 0\n"
                          "0x6       0x5 e0                        CONTEXT 0 0\n"
                          "0x7       0x5 b00202                    ATOMS 2 2\n"
                          "0xa       0x5 b00101                    ATOMS 1 1\n"
                          "0x0       0x5 NO_SYNC        init-decoder\n"
                          "0x6       0x5 PE_CONTEXT     Cst S\n"
                          "0x7       0x5 INSTR_RANGE    0x0-0xe n=4 Cst BR cond not-taken\n"
                          "0x7       0x5 INSTR_RANGE    0xe-0x10 n=1 Cst BR taken\n"
                          "0xa       0x5 INSTR_RANGE    0x28-0x2c n=2 Cst IBR taken\n");
    tw_tree_free(tree.tree);
}

static void a_barrier_is_a_loss(void **state)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct tw_framer *framer;
    struct twig_tree tree;
    const uint8_t *frames;
    size_t size;

    (void)state;
    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 5, trace, 12), TW_OK); /* inside a packet */
    CHECK_EQ(tw_framer_barrier(framer), TW_OK);
    CHECK_EQ(tw_framer_write(framer, 5, trace + 3, 7), TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    frames = tw_framer_output(framer, &size);
    got->size = 0;
    CHECK_EQ(make(&tree, (struct tw_tree_config){ .framing = TW_FRAMING_MEMORY }), TW_OK);
    CHECK_EQ(tw_tree_feed(tree.tree, frames, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
    CHECK_EQ(take(got, tree.tree, false), TW_END);
    CHECK(strstr(got->text, "ERROR          bytes are missing here") != NULL);
    CHECK(strstr(got->text, "NO_SYNC        reset-decoder\n") != NULL);
    tw_tree_free(tree.tree);
    tw_framer_free(framer);
}

static void wrong_protocols_are_refused(void **state)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_register bad = { "BAD", 1 };
    struct tw_tree_source source = {
        .size = sizeof source, .protocol = "twig", .registers = &bad, .register_count = 1
    };
    struct tw_custom_protocol other = twig;
    struct tw_tree *tree;

    (void)state;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_UNSUPPORTED);
    other.read = NULL;
    CHECK_EQ(tw_tree_add_protocol(tree, &other), TW_E_ARGUMENT);
    other = twig;
    other.name = "etmv4";
    CHECK_EQ(tw_tree_add_protocol(tree, &other), TW_E_ARGUMENT);
    CHECK_TEXT(tw_tree_fault(tree), "there is a protocol 'etmv4' already");
    CHECK_EQ(tw_tree_add_protocol(tree, &twig), TW_OK);
    CHECK_EQ(tw_tree_add_protocol(tree, &twig), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_CONFIG);
    CHECK_TEXT(tw_tree_fault(tree), "BAD is bad");
    other = twig;
    other.name = "bush";
    other.decode = NULL;
    source = (struct tw_tree_source){ .size = sizeof source, .protocol = "bush" };
    CHECK_EQ(tw_tree_add_protocol(tree, &other), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_E_UNSUPPORTED);
    tw_tree_free(tree);
}

static void memory_may_run_out_at_any_time(void **state)
{
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    for (size_t limit = 0; status != TW_END; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct twig_tree tree;

        check_case("%zu requests", limit);
        CHECK(limit < 100);
        got->size = 0;
        status = make(&tree,
                      (struct tw_tree_config){ .with_packets = true, .allocator = &allocator });
        if (status == TW_OK)
            status = tw_tree_feed(tree.tree, trace, sizeof trace);
        if (status == TW_OK)
            status = tw_tree_finish(tree.tree);
        if (status == TW_OK)
            status = take(got, tree.tree, true);
        CHECK(status == TW_END || status == TW_E_MEMORY);
        tw_tree_free(tree.tree);
        CHECK_EQ(failing.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_protocol_of_ones_own_follows_an_instruction_set_of_ones_own),
        cmocka_unit_test(packets_come_beside_elements),
        cmocka_unit_test(a_barrier_is_a_loss),
        cmocka_unit_test(wrong_protocols_are_refused),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests_name("custom", tests, set_up, tear_down);
}
