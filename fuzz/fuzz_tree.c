/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole way from a capture of any bytes, with sources of every protocol and one of the caller's:
   what push gives, in any pieces and with any waits, is what pull gives. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "kept.h"

enum { SIZE_MOST = 4096, RANGE_LIMIT = 400 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

/* Code everywhere below 64 KiB but in the last page of each 16 KiB. */
static size_t read_code(void *context, uint8_t *out, const struct tw_view *view,
                        uint64_t address, size_t size)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xe320f000, 0xeb000006, 0x0afffff9, 0xd65f03c0,
                                      0xe12fff1e, 0xbf004770, 0xf804f000, 0x00008067 };
    size_t n = 0;

    (void)context;
    (void)view;
    for (; n < size && address + n < 0x10000 && ((address + n) >> 12 & 3) != 3; n++) {
        const uint64_t at = address + n;
        const uint32_t word = words[(at >> 2 ^ at >> 7) % (sizeof words / sizeof words[0])];

        out[n] = (uint8_t)(word >> (8 * (at & 3)));
    }
    return n;
}

/* A protocol of one's own: a byte for what there is to say (a0, b0 ...), and one for its value; all else is bad, and
   00 not synchronized. */
enum twig_type {
    TWIG_NOT_SYNC,
    TWIG_BAD,
    TWIG_GO,
    TWIG_ATOMS,
    TWIG_TO,
    TWIG_CONTEXT,
    TWIG_ANY
};

static enum tw_status twig_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last)
{
    struct tw_packet *head = packet;

    (void)reader;
    head->type = (uint8_t)(data[0] & 15 || data[0] < 0xa0 || data[0] > 0xe0
                               ? data[0] != 0
                               : TWIG_GO + (data[0] >> 4) - 10);
    head->size = head->type > TWIG_BAD ? 2 : 1;
    if (size >= head->size) {
        ((uint8_t *)packet)[sizeof *head] = data[head->size - 1];
        return TW_OK;
    }
    head->type = TWIG_BAD;
    head->size = (uint32_t)size;
    return is_last ? TW_OK : TW_MORE;
}

static void twig_lost(void *reader)
{
    (void)reader;
}

static const char *twig_name(unsigned type)
{
    static const char *const names[] = {
        "NOTSYNC", "BAD", "GO", "ATOMS", "TO", "CONTEXT", "ANY"
    };

    return names[type];
}

static enum tw_packet_kind twig_kind(unsigned type)
{
    return type == TWIG_BAD        ? TW_PACKET_BAD
           : type == TWIG_NOT_SYNC ? TW_PACKET_NOT_SYNC
           : type == TWIG_GO       ? TW_PACKET_SYNC
                                   : TW_PACKET_FLOW;
}

static void twig_text(char *out, size_t room, const void *packet)
{
    const uint8_t value = ((const uint8_t *)packet)[sizeof(struct tw_packet)];

    (void)snprintf(out, room, "%.*u", value & 1 ? value : 0, value);
}

/* Elements of any kind, as many as there may be and more. */
static void twig_any(struct tw_emitter *out, uint8_t value)
{
    for (unsigned i = 0; i < value % 37u; i++) {
        struct tw_element *element = tw_emit(out, (enum tw_element_type)(1 + (value + i) % 24));

        if (element->type == TW_ELEMENT_REPEAT) {
            element->count = value;
            element->times = value >> 3;
        }
    }
    if (value & 0x40)
        tw_flow_lose(out);
}

static void twig_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    const struct tw_packet *head = packet;
    const uint8_t value = ((const uint8_t *)packet)[sizeof *head];

    const struct tw_element context = { .el = value & 3, .context_id = value };

    (void)decoder;
    switch (head->type) {
    case TWIG_GO:
        tw_flow_go(out, 4 * (uint64_t)value, TW_ISA_CUSTOM);
        break;
    case TWIG_ATOMS:
        tw_flow_atoms(out, value, 1 + value % 8);
        break;
    case TWIG_TO:
        tw_flow_to(out, 4 * (uint64_t)value);
        break;
    case TWIG_CONTEXT:
        tw_flow_context(out, &context);
        break;
    default:
        twig_any(out, value);
    }
}

static bool classify(void *context, struct tw_instruction_info *out, uint64_t address,
                     const uint8_t *bytes, size_t size)
{
    (void)context;
    out->size = (uint8_t)(2 + 2 * (bytes[0] % 3));
    out->is_waypoint = bytes[0] & 4;
    out->kind = bytes[0] & 4 ? bytes[0] & 8 ? TW_LAST_BR : TW_LAST_IBR : TW_LAST_OTHER;
    out->target = address ^ 0x40;
    return size >= out->size && bytes[0] != 0x17;
}

static const struct tw_custom_protocol twig = { .size = sizeof twig,
                                                .name = "twig",
                                                .packet_size = sizeof(struct tw_packet) + 8,
                                                .packet_max = 2,
                                                .follows = true,
                                                .read = twig_read,
                                                .reader_lost = twig_lost,
                                                .type_name = twig_name,
                                                .type_kind = twig_kind,
                                                .text = twig_text,
                                                .decode = twig_decode };

static const struct {
    const char *protocol, *core, *text;
    struct tw_register registers[7];
} sources[] = {
    { "ete",
      "ARM-AA64",
      NULL,
      { { "TRCIDR0", 0x28c1cea1 },
        { "TRCIDR1", 0x4100fff0 },
        { "TRCIDR2", 0xd0001088 },
        { "TRCIDR8", 4 },
        { "TRCDEVARCH", 0x47735a13 },
        { "TRCCONFIGR", 0x1001 },
        { "TRCTRACEIDR", 1 } } },
    { "ptm",
      "Cortex-A9",
      NULL,
      { { "ETMCR", 0x10001000 },
        { "ETMIDR", 0x411cf302 },
        { "ETMCCER", 0x000008ea },
        { "ETMTRACEIDR", 2 } } },
    { "etmv3",
      "Cortex-A5",
      NULL,
      { { "ETMCR", 0x0 },
        { "ETMIDR", 0x410cf250 },
        { "ETMCCER", 0x0 },
        { "ETMTRACEIDR", 3 } } },
    { "itm", NULL, NULL, { { "ITMTCR", 0x40001 } } },
    { "stm", NULL, NULL, { { "STMTCSR", 0x50001 } } },
    { "etrace",
      NULL,
      "encapsulation=len5-type2\nlayout=v2\niaddress_width_p=32\niaddress_lsb_p=1\n",
      { { NULL, 0 } } },
    { "twig", NULL, NULL, { { NULL, 0 } } },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

static struct tw_tree *make(struct tw_tree_config config, unsigned only)
{
    struct tw_tree *tree;
    unsigned added = 0;

    config.size = sizeof config;
    config.range_limit = RANGE_LIMIT;
    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_protocol(tree, &twig) == TW_OK);
    for (unsigned i = 0; i < SOURCES; i++) {
        struct tw_tree_source source = { .size = sizeof source,
                                         .protocol = sources[i].protocol,
                                         .registers = sources[i].registers,
                                         .core_type = sources[i].core,
                                         .text = sources[i].text,
                                         .id = (uint8_t)(i + 1),
                                         .memory = read_code,
                                         .classify = classify };

        while (source.register_count < 7 && sources[i].registers[source.register_count].name)
            source.register_count++;
        if (config.framing == TW_FRAMING_NONE && i != only)
            continue;
        added += tw_tree_add_source(tree, NULL, &source) == TW_OK;
    }
    require(added == (config.framing == TW_FRAMING_NONE ? 1 : SOURCES));
    return tree;
}

/* By trace ID: next to a gap, which source comes first depends on how the bytes are cut. */
struct sum {
    uint64_t hash[128], packet_hash[128];
    uint32_t random; /* 0: never waits */
};

static uint64_t mix(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static enum tw_response consent(struct sum *sum)
{
    if (!sum->random)
        return TW_RESPONSE_CONT;
    sum->random = sum->random * 1664525u + 1013904223u;
    return sum->random >> 28 ? TW_RESPONSE_CONT : TW_RESPONSE_WAIT;
}

static enum tw_response see_raw(void *context, enum tw_operation operation,
                                const struct tw_raw *raw)
{
    (void)operation;
    (void)raw;
    return consent(context);
}

/* What was copied reads as what it was copied from. */
static void check_copy(const struct tw_packet_view *view)
{
    max_align_t memory[64];
    struct tw_packet_view copy = { .size = sizeof copy };
    char line[2048], again[2048];
    const size_t size = tw_packet_json(line, sizeof line, view);

    require(size > 0);
    if (tw_packet_copy(&copy, memory, sizeof memory, view) <= sizeof memory) {
        require(tw_packet_json(again, sizeof again, &copy) == size);
        require(size >= sizeof line ||
                memcmp(line, again, size) == 0); /* or nothing was written */
    }
}

static enum tw_response see_packet(void *context, enum tw_operation operation,
                                   const struct tw_packet_view *view)
{
    struct sum *sum = context;

    if (operation == TW_OP_DATA) {
        uint64_t *hash = &sum->packet_hash[view->packet->id & 127];

        *hash = mix(*hash, view->packet, sizeof *view->packet);
        if (goes_through(0, 2, sum->random != 0)) /* of the packets that are pulled */
            check_copy(view);
    }
    return consent(sum);
}

static enum tw_response see_element(void *context, const struct tw_batch *batch,
                                    const struct tw_element *element)
{
    struct sum *sum = context;
    struct tw_element copy = *element;

    /* All that differs after a reset: that it was one. */
    if (copy.type == TW_ELEMENT_NO_SYNC && copy.reason == TW_REASON_RESET)
        copy.reason = TW_REASON_INIT;
    sum->hash[batch->id & 127] = mix(sum->hash[batch->id & 127], &copy, sizeof copy);
    return consent(sum);
}

static void pull(struct sum *sum, struct tw_tree *tree, const uint8_t *data, size_t size)
{
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };

    require(tw_tree_feed(tree, data, size) == TW_OK);
    for (unsigned end = 0; end < 2; end++) {
        while (tw_tree_next_packet(tree, &view) == TW_OK)
            (void)see_packet(sum, TW_OP_DATA, &view);
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count; i++)
                (void)see_element(sum, &batch, &batch.elements[i]);
        require(tw_tree_finish(tree) == TW_OK);
    }
}

/* Sources that were found in a stream have bytes of it, and no two the same name. */
static void check_sources(const struct tw_tree *tree)
{
    uint32_t src, other;

    for (unsigned id = 0; id < 128; id++) {
        const size_t count = tw_tree_src_count(tree, (uint8_t)id);

        for (size_t i = 0; i < count; i++) {
            require(tw_tree_src_stats(tree, (uint8_t)id, i, &src) != NULL);
            for (size_t k = 0; k < i; k++)
                require(tw_tree_src_stats(tree, (uint8_t)id, k, &other) && src != other);
        }
        require(tw_tree_src_stats(tree, (uint8_t)id, count, &src) == NULL);
    }
}

/* All of it, in pieces, through the data path. */
static void feed(struct sum *sum, struct tw_push *path, const uint8_t *data, size_t size)
{
    enum tw_response response = TW_RESPONSE_CONT;
    size_t at = 0, used;

    do {
        const size_t left = size - at, piece = 1 + sum->random % 300;

        if (at < size) {
            response = tw_push_operation(path, &used, TW_OP_DATA, at, data + at,
                                         left < piece ? left : piece);
            at += used;
        } else {
            response = tw_push_operation(path, NULL, TW_OP_EOT, 0, NULL, 0);
            at++;
        }
        while (tw_response_is_wait(response))
            response = tw_push_operation(path, NULL, TW_OP_FLUSH, 0, NULL, 0);
        require(tw_response_is_cont(response) && tw_response_name(response) != NULL);
    } while (at <= size);
}

static void require_same(const struct sum *pushed, const struct sum *pulled)
{
    require(memcmp(pushed->hash, pulled->hash, sizeof pushed->hash) == 0);
    require(memcmp(pushed->packet_hash, pulled->packet_hash, sizeof pushed->packet_hash) == 0);
}

/* What comes is what was pulled; after a reset in the middle it comes again, all of it. */
static void push(struct sum *sum, uint8_t choice, const struct sum *pulled,
                 struct tw_tree *tree, const uint8_t *data, size_t size)
{
    const struct tw_push_config config = { .size = sizeof config,
                                           .raw = see_raw,
                                           .raw_context = sum,
                                           .packet = see_packet,
                                           .packet_context = sum,
                                           .element = see_element,
                                           .element_context = sum,
                                           .piece = 1 + sum->random % 700 };
    const uint32_t random = sum->random;
    struct tw_push *path;
    size_t used;

    require(tw_push_new(&path, tree, &config, NULL) == TW_OK);
    if (goes_through(0, 2, choice)) {
        feed(sum, path, data, size);
        require_same(sum, pulled);
    }
    for (unsigned i = 0; goes_through(1, 2, choice) && i < 2; i++) {
        require(tw_response_is_cont(tw_push_operation(path, NULL, TW_OP_RESET, 0, NULL, 0)));
        if (i == 0)
            (void)!tw_push_operation(path, &used, TW_OP_DATA, 0, data, size / 2);
    }
    if (goes_through(1, 2, choice)) {
        *sum = (struct sum){ .random = random };
        feed(sum, path, data, size);
        require_same(sum, pulled);
    }
    tw_push_free(path);
}

/* The tree that is pulled from, and what it was made with. */
struct pulled {
    struct tw_tree *tree;
};

static void make_pulled(void *made, const void *head)
{
    const uint8_t *bytes = head;
    struct pulled *pulled = made;

    tw_tree_free(pulled->tree);
    pulled->tree = make((struct tw_tree_config){ .framing = (enum tw_framing)bytes[0],
                                                 .with_packets = true,
                                                 .counts_elements = true },
                        bytes[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kept kept;
    const struct tw_errors_config log = { .size = sizeof log, .keeps_all = true, .most = 100 };
    struct sum pulled = { 0 }, pushed = { 0 };
    struct tw_tree_config config = { .with_packets = true, .counts_elements = true };
    const struct pulled *first;
    struct tw_errors *errors;
    struct tw_tree *tree;
    uint8_t head[2];

    if (size < 3 || size > SIZE_MOST)
        return 0;
    head[0] = data[0] % (TW_FRAMING_DSTREAM + 1);
    head[1] = data[0] / 8 % SOURCES;
    config.framing = (enum tw_framing)head[0];
    pushed.random = 1 + data[1] + 256u * data[2];
    first = kept_made(&kept, make_pulled, sizeof *first, head, sizeof head);
    tw_tree_reset(first->tree, 0);
    pull(&pulled, first->tree, data + 3, size - 3);
    check_sources(first->tree);
    require(tw_errors_new(&errors, &log, NULL) == TW_OK);
    config.errors = errors;
    config.verbosity = TW_SEVERITY_INFO;
    tree = make(config, head[1]);
    push(&pushed, data[1] >> 7, &pulled, tree, data + 3, size - 3);
    tw_tree_free(tree);
    tw_errors_free(errors);
    return 0;
}
