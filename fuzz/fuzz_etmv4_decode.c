/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE from any bytes, framed or not, under any configuration, over any program: elements
   and packets of an ID do not depend on how the capture was fed, lie inside it, and are not without
   bound. */
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "kept.h"

enum {
    HEAD_BYTES = 10,
    MEMORY = 1 << 16,
    HOLE = 30,
    RANGE_LIMIT = 64,
    ELEMENTS_PER_BYTE = 24 * 3 + RANGE_LIMIT + 8,
    LINE_ROOM = 512
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const uint8_t ids[] = { 0x10, 0x20 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

/* What an input sets up.  The program is its code again and again, with a hole. */
struct setup {
    struct tw_register registers[20];
    size_t register_count;
    const char *protocol, *core;
    bool is_framed;
    uint8_t flags;
    const uint8_t *code;
    size_t code_size;
    uint64_t hole; /* where HOLE bytes are not accessible */
};

static void set(struct setup *setup, const char *name, uint64_t value)
{
    setup->registers[setup->register_count++] = (struct tw_register){ name, value };
}

static void set_up(struct setup *setup, const uint8_t *bytes)
{
    static const char *const cores[] = {
        "Cortex-A57", "ARM-AA64",  "Cortex-R52", "Cortex-A7",
        "Cortex-M3",  "Cortex-M7", "Cortex-M33", "Cortex-M55"
    };
    const bool is_ete = bytes[0] & 1;

    *setup = (struct setup){ .protocol = is_ete ? "ete" : "etmv4",
                             .core = cores[bytes[0] >> 5],
                             .is_framed = bytes[0] & 2,
                             .flags = bytes[6],
                             .hole = 2 * (1 + (uint64_t)bytes[7] * 100) };
    set(setup, "TRCIDR0",
        0x08000e01 | (uint32_t)(bytes[1] & 0x3f) << 3 | (uint32_t)(bytes[1] >> 6) << 15 |
            (uint32_t)(bytes[2] & 7) << 29 | (uint32_t)(bytes[2] >> 7) << 23);
    set(setup, "TRCIDR1", 0x4100f400 | (uint32_t)(bytes[2] >> 4 & 7) << 4);
    set(setup, "TRCDEVARCH", 0x47705a13 | (uint32_t)(bytes[2] >> 4 & 3) << 16);
    set(setup, "TRCIDR2",
        (uint32_t)(bytes[3] & 0x1f) << 10 | (bytes[3] & 0x20 ? 0x88 : 0x08) |
            (uint32_t)(bytes[3] >> 7) << 31);
    set(setup, "TRCIDR8", bytes[4] == 0xff ? UINT32_MAX : bytes[4] & 0x1f);
    set(setup, "TRCCONFIGR", 1 | (uint32_t)bytes[5] << 1 | (uint32_t)bytes[5] << 9);
}

/* The program in two regions, with a hole between them. */
static void add_program(struct tw_image *image, uint8_t *memory, const struct setup *setup)
{
    const struct tw_region regions[] = {
        { .size = sizeof *regions, .address = 0, .length = setup->hole },
        { .size = sizeof *regions,
          .address = setup->hole + HOLE,
          .length = MEMORY - setup->hole - HOLE },
    };

    if (!setup->code_size)
        return;
    memcpy(memory, setup->code, setup->code_size);
    for (size_t size = setup->code_size; size < MEMORY; size *= 2)
        memcpy(memory + size, memory, size < MEMORY - size ? size : MEMORY - size);
    for (unsigned i = 0; i < LENGTH(regions); i++)
        require(tw_image_add(image, &regions[i], memory + regions[i].address) == TW_OK);
}

/* What came out: elements with their ID, or packets made comparable. */
struct item {
    struct tw_element element;
    uint8_t id;
};

struct list {
    struct item *items;
    size_t count, room, limit;
    uint64_t size; /* of the capture */
    uint64_t base;
};

static void add(struct list *list, const struct tw_element *element, uint8_t id)
{
    char line[LINE_ROOM];

    require(list->count < list->limit);
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 256;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        require(list->items != NULL);
    }
    list->items[list->count].element = *element;
    list->items[list->count++].id = id;
    /* The end of an ID that had no bytes is nowhere. */
    require(element->index - list->base < list->size ||
            (element->type == TW_ELEMENT_EO_TRACE && element->index == 0));
    if (list->count % 16 == 0) {
        require(tw_element_json(line, sizeof line, element, id) < sizeof line - 1);
        require(tw_element_text(line, sizeof line, element, id) < sizeof line - 1);
    }
}

static void take(struct tw_tree *tree, struct list *list, bool packets_only)
{
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    if (!packets_only) {
        while ((status = tw_tree_next(tree, &batch)) == TW_OK)
            for (size_t i = 0; i < batch.count; i++)
                add(list, &batch.elements[i], batch.id);
    } else {
        while ((status = tw_tree_next_packet(tree, &view)) == TW_OK) {
            struct tw_element packet = { .index = view.packet->index };

            require(view.packet->size > 0);
            packet.address = view.packet->offset;
            packet.space = view.packet->size;
            packet.count = view.bytes[view.packet->size - 1];
            packet.type = TW_ELEMENT_CUSTOM;
            packet.kind = view.packet->type;
            add(list, &packet, view.packet->id);
        }
    }
    require(status > 0);
}

/* Decodes the capture in pieces that `split` decides; 0: whole. */
static void run(struct list *list, struct setup *setup, struct tw_image *image,
                bool packets_only, uint32_t split)
{
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = setup->is_framed ? TW_FRAMING_MEMORY : TW_FRAMING_NONE,
        .packets_only = packets_only,
        .counts_elements = true,
        .range_limit = RANGE_LIMIT,
        .source_address_n = setup->flags & 1,
        .check_opcodes = setup->flags & 2,
        .check_atoms = setup->flags & 4,
        .check_continuity = setup->flags & 8,
        .base = list->base,
    };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = setup->protocol,
                                     .registers = setup->registers,
                                     .register_count = setup->register_count,
                                     .core_type = setup->core,
                                     .image = image };
    const uint8_t *bytes = setup->code + setup->code_size;
    struct tw_tree *tree;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    for (unsigned i = 0; i < (setup->is_framed ? LENGTH(ids) : 1); i++) {
        uint8_t id;

        source.id = ids[i];
        require(tw_tree_add_source(tree, &id, &source) == TW_OK && id == source.id);
    }
    for (size_t at = 0; at < list->size;) {
        size_t piece = (size_t)list->size - at;

        if (split) {
            split = split * 1664525u + 1013904223u;
            piece = (split >> 16) % (split & 0x8000 ? 40 : 3) + 1;
            piece = piece < list->size - at ? piece : (size_t)list->size - at;
        }
        require(tw_tree_feed(tree, bytes + at, piece) == TW_OK);
        at += piece;
        take(tree, list, packets_only);
    }
    require(tw_tree_finish(tree) == TW_OK);
    take(tree, list, packets_only);
    tw_tree_free(tree);
}

/* The next item of this ID at or after `at`. */
static size_t next_of(const struct list *list, size_t at, uint8_t id)
{
    while (at < list->count && list->items[at].id != id)
        at++;
    return at;
}

/* How lines of two IDs stand to each other may depend on the pieces while one of them is not
   synchronized; each of them must not. */
static void compare_id(const struct list *a, const struct list *b, uint8_t id)
{
    size_t i = next_of(a, 0, id), j = next_of(b, 0, id);

    while (i < a->count && j < b->count) {
        require(memcmp(&a->items[i].element, &b->items[j].element,
                       sizeof a->items[i].element) == 0);
        i = next_of(a, i + 1, id);
        j = next_of(b, j + 1, id);
    }
    require(i == a->count && j == b->count);
}

static void compare(struct setup *setup, struct tw_image *image, size_t size, bool packets_only,
                    uint32_t split)
{
    struct list lists[2] = { { .size = size, .base = 0x1000 },
                             { .size = size, .base = 0x1000 } };

    for (unsigned i = 0; i < 2; i++) {
        lists[i].limit = (size + 16) * ELEMENTS_PER_BYTE;
        run(&lists[i], setup, image, packets_only, i * split);
    }
    require(lists[0].count == lists[1].count);
    for (unsigned id = 0; id < 0x80; id++) /* a source may bring a second ID: its data trace */
        compare_id(&lists[0], &lists[1], (uint8_t)id);
    free(lists[0].items);
    free(lists[1].items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[MEMORY];
    struct setup setup;
    struct tw_image *image;
    uint32_t split;

    if (size < HEAD_BYTES)
        return 0;
    set_up(&setup, data);
    split = 1 | (uint32_t)data[8] << 1 | (uint32_t)data[9] << 12;
    setup.code = data + HEAD_BYTES;
    setup.code_size = data[9] < size - HEAD_BYTES ? data[9] : size - HEAD_BYTES;
    size -= HEAD_BYTES + setup.code_size;
    if (size == 0)
        return 0;
    require(tw_image_new(&image, NULL, NULL) == TW_OK);
    add_program(image, memory, &setup);
    if (goes_through(0, 2, data[8]))
        compare(&setup, image, size, false, split);
    if (goes_through(1, 2, data[8]))
        compare(&setup, image, size, true, split);
    tw_image_free(image);
    return 0;
}
