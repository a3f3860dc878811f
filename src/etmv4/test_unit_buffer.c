/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the trace unit and the Trace Buffer Unit in each of its modes, drained as
   an operating system does, and decoded: what was executed, its beginning, or its end. */
#include "etmv4/test_buffer.h"
#include "etmv4/test_peer.h"
#include "etmv4/test_setting.h"

/* The bytes that must be in it. */
static void check_drained(const struct buffer *buffer, enum way way, const uint8_t *bytes,
                          size_t size)
{
    const size_t most = (size_t)buffer->size < size ? (size_t)buffer->size : size;

    if (way == FILL_ONCE)
        CHECK_BYTES(buffer->drained, buffer->drained_size, bytes, most);
    else if (way == WRAP_ONCE || way == CIRCULAR_ONCE)
        CHECK_BYTES(buffer->drained, buffer->drained_size, bytes + (size - most), most);
    else
        CHECK_BYTES(buffer->drained, buffer->drained_size, bytes, size);
}

/* ---- decoding what is there ---- */

struct gathered {
    struct tw_element *items;
    size_t count, room;
};

static void gather(struct gathered *list, struct tw_tree *tree)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            if (list->count == list->room) {
                list->room = list->room ? 2 * list->room : 1024;
                list->items = realloc(list->items, list->room * sizeof *list->items);
                CHECK(list->items != NULL);
            }
            list->items[list->count++] = batch.elements[i];
        }
}

static uint64_t things_in(const struct gathered *list)
{
    uint64_t things = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct tw_element *element = &list->items[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE ||
            element->type == TW_ELEMENT_I_RANGE_NOPATH)
            things += element->count;
        things += element->type == TW_ELEMENT_EXCEPTION;
    }
    return things;
}

static uint64_t total_of(const struct program *program, const struct setting *setting)
{
    struct filter filter;
    struct oracle oracle = make_oracle(program, &filter, setting);
    uint64_t total = 0;

    while (oracle_next(&oracle))
        total++;
    free(oracle.waiting);
    return total;
}

/* Returns how many things came back. */
static uint64_t check_part(const struct tw_etmv4_unit *unit, const struct program *program,
                           const struct setting *setting, struct tw_image *image,
                           const struct buffer *buffer, enum way way)
{
    const bool is_end = way == WRAP_ONCE || way == CIRCULAR_ONCE;
    const uint64_t total = total_of(program, setting);
    struct filter filter;
    struct oracle oracle = make_oracle(program, &filter, setting);
    struct checked_against seen = { .oracle = &oracle,
                                    .who = "Trackway",
                                    .checks_cid = tells_cid(setting),
                                    .checks_vmid = setting->configr & VMID };
    struct decoding decoding = decoding_new(unit, setting->is_ete, image, false);
    struct gathered list = { 0 };
    uint64_t things;

    CHECK_EQ(tw_tree_feed(decoding.tree, buffer->drained, buffer->drained_size), TW_OK);
    gather(&list, decoding.tree);
    CHECK_EQ(tw_tree_finish(decoding.tree), TW_OK);
    gather(&list, decoding.tree);
    tw_tree_free(decoding.tree);
    things = things_in(&list);
    CHECK(things <= total);
    if (is_end)
        oracle_skip(&oracle, total - things);
    for (size_t i = 0; i < list.count; i++) {
        const struct tw_element *element = &list.items[i];
        const bool is_cut = element->type == TW_ELEMENT_ERROR &&
                            strcmp(tw_error_code_name(element->error), "truncated") == 0;

        if (!is_cut || way != FILL_ONCE) /* a full buffer ends anywhere */
            see_element(&seen, element);
    }
    if (is_end || (way != FILL_ONCE))
        CHECK(oracle_next(&oracle) == NULL);
    free(list.items);
    free(seen.moments.items);
    free(oracle.waiting);
    if (HAS_PEER) {
        oracle = make_oracle(program, &filter, setting);
        seen = (struct checked_against){ .oracle = &oracle,
                                         .is_loose = setting->q_instructions,
                                         .checks_cid = tells_cid(setting),
                                         .checks_vmid = setting->configr & VMID };
        (void)peer_check_part(unit, setting->is_ete, image, &seen, is_end, total,
                              buffer->drained, buffer->drained_size);
        free(seen.moments.items);
        free(oracle.waiting);
    }
    return things;
}

static const char *const way_names[WAYS] = {
    [FILL_ONCE] = "fill",
    [FILL_AGAIN] = "fill again and again",
    [WRAP_ONCE] = "wrap",
    [WRAP_SERVED] = "watermark by wrap",
    [TRIGGER_SERVED] = "watermark by trigger",
    [CIRCULAR_ONCE] = "circular",
    [CIRCULAR_SERVED] = "circular, drained in time",
};

static void programs_through_the_buffer(void **state)
{
    struct check_random random = check_random_start(0x74726265);
    const size_t times = check_scale(2000);
    uint64_t came_back[WAYS] = { 0 }, bytes_in[WAYS] = { 0 };

    (void)state;
    for (size_t i = 0; i < times; i++) {
        const enum way way = (enum way)(i % WAYS);
        const bool is_late = way <= WRAP_ONCE && way != FILL_AGAIN && i % 4 == 0;
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);
        struct program *program = malloc(sizeof *program);
        struct buffer *buffer = malloc(sizeof *buffer);
        struct moments moments = { 0 };
        struct tw_etmv4_unit *unit;
        struct tw_image *image;
        const uint8_t *bytes;
        size_t size;

        CHECK(program && buffer);
        wishes.length = 5000;
        setting.is_framed = false;
        setting.syncpr = 8 + (uint32_t)(i % 3);
        setting.has_points = false; /* else the end may hold nothing */
        if (i % 5 == 0 && setting.is_ete)
            setting.source_addresses = 2;
        name_case(way_names[way], i, &setting);
        program_make(program, &random, &wishes);
        setting.first = program->base;
        setting.last = program->base + 4 * check_random_below(&random, SLOTS);
        image = memory_image(&program->memory);
        unit = make_unit(&setting, &moments);
        set_register(unit, "TRCPRGCTLR", 1);
        for (size_t j = 0; j < program->step_count; j++)
            CHECK_EQ(tw_etmv4_unit_step(unit, &program->steps[j]), TW_OK);
        set_register(unit, "TRCPRGCTLR", 0);
        bytes = tw_etmv4_unit_output(unit, &size);
        buffer_new(buffer, 1 + (unsigned)(i % 2), is_late ? TW_TRBE_LATE : TW_TRBE_SEQUENTIAL);
        go_through(buffer, way, &random, bytes, size);
        check_drained(buffer, way, bytes, size);
        if (i % 3 && way != FILL_ONCE &&
            !is_old(&setting)) /* padding would end a packet that was cut */
            pad(buffer);
        came_back[way] += check_part(unit, program, &setting, image, buffer, way);
        bytes_in[way] += size;
        buffer_free(buffer);
        free(moments.items);
        tw_etmv4_unit_free(unit);
        tw_image_free(image);
        program_free(program);
        free(buffer);
        free(program);
    }
    for (unsigned way = 0; way < WAYS; way++)
        printf("%s: %" PRIu64 " bytes, %" PRIu64 " instructions and exceptions came back\n",
               way_names[way], bytes_in[way], came_back[way]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_through_the_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
