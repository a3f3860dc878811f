/* SPDX-License-Identifier: BSD-2-Clause */
/* The encoder and public encoders of the corpus: the same packets from the same execution, but for
   what docs/known-differences.jsonl explains. */
#include "check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/hart.h>

enum { PATH_ROOM = 700, NAME_ROOM = 120 };

struct list {
    struct tw_etrace_packet *packets;
    size_t count, room;
    uint8_t *bytes;
    size_t size, byte_room;
};

struct example {
    char name[NAME_ROOM], program[NAME_ROOM], producer[NAME_ROOM];
    char *text;
    struct tw_etrace_config config;
    struct list theirs, ours;
    uint64_t rows;      /* of the reference flow's input, so far */
    uint64_t row_given; /* the one that the context was last changed for */
    bool is_c, has_contexts, has_time;
};

static void path_of(char path[PATH_ROOM], const char *folder, const char *name,
                    const char *file)
{
    char relative[PATH_ROOM];

    (void)snprintf(relative, sizeof relative, "riscv/%s/%s%s%s", folder, name, *file ? "/" : "",
                   file);
    check_corpus(path, PATH_ROOM, relative);
}

static void value_of(char out[NAME_ROOM], const char *text, const char *key)
{
    char pattern[NAME_ROOM];
    const char *at;

    (void)snprintf(pattern, sizeof pattern, "\n%s=", key);
    at = strstr(text, pattern);
    (void)snprintf(out, NAME_ROOM, "%.*s", at ? (int)strcspn(at + strlen(pattern), "\n") : 0,
                   at ? at + strlen(pattern) : "");
}

static char *load_text(const char *name)
{
    char path[PATH_ROOM], *text;
    uint8_t *bytes;
    size_t size;

    path_of(path, "cases", name, "case.txt");
    bytes = check_load(&size, path);
    CHECK(bytes != NULL);
    text = malloc(size + 2);
    CHECK(text != NULL);
    text[0] = '\n';
    memcpy(text + 1, bytes, size);
    text[size + 1] = 0;
    free(bytes);
    return text;
}

static void read_config(struct example *example)
{
    struct tw_fault fault = { TW_OK, "" };

    tw_etrace_config_init(&example->config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_read(&example->config, example->text, &fault), TW_OK);
    tw_etrace_config_init(&example->config, (enum tw_etrace_layout)example->config.layout);
    CHECK_EQ(tw_etrace_config_read(&example->config, example->text, &fault), TW_OK);
    example->config.retires = 1;
    example->config.ctype_width = 2;
}

/* ---- packets of both ---- */

static void add_packet(void *context, const struct tw_etrace_packet *packet)
{
    struct list *list = context;

    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->packets = realloc(list->packets, list->room * sizeof *list->packets);
        CHECK(list->packets != NULL);
    }
    list->packets[list->count++] = *packet;
}

static void add_bytes(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct list *list = context;

    CHECK_EQ(stream, 0);
    if (list->size + size > list->byte_room) {
        list->byte_room = 2 * (list->size + size);
        list->bytes = realloc(list->bytes, list->byte_room);
        CHECK(list->bytes != NULL);
    }
    memcpy(list->bytes + list->size, bytes, size);
    list->size += size;
}

static void read_theirs(struct example *example)
{
    struct list *list = &example->theirs;
    struct tw_etrace_reader *codec;
    char path[PATH_ROOM];

    path_of(path, "cases", example->name, "trace.bin");
    list->bytes = check_load(&list->size, path);
    CHECK(list->bytes != NULL);
    CHECK_EQ(tw_etrace_reader_new(&codec, &example->config, NULL, NULL), TW_OK);
    for (size_t at = 0; at < list->size;) {
        struct tw_etrace_packet packet;

        CHECK_EQ(tw_etrace_read(codec, &packet, list->bytes + at, list->size - at, true),
                 TW_OK);
        add_packet(list, &packet);
        at += packet.base.size;
    }
    tw_etrace_reader_free(codec);
}

/* What the reference flow's runs had besides the path: a clock, and contexts that change. */
static void complete(struct example *example, struct tw_etrace_block *block)
{
    block->time = example->has_time ? 3 + 7 * example->rows : 0;
    if (example->has_contexts) {
        block->context = (5 + 499 * (example->rows / 997)) & 0xffff;
        block->ctype = 2;
    }
    example->rows++;
}

static void feed(struct example *example, struct tw_hart *hart, struct tw_etrace_unit *unit)
{
    struct tw_hart_event event;
    enum tw_status status;

    while ((status = tw_hart_next(hart, &event)) == TW_OK) {
        struct tw_etrace_block block;

        CHECK_EQ(event.cycle.block_count, 1);
        block = event.cycle.blocks[0];
        complete(example, &block);
        if (tw_etrace_unit_retire(unit, &block, 1) != TW_OK)
            check_true(false, tw_etrace_unit_fault(unit), __FILE__, __LINE__);
    }
    if (status != TW_END)
        check_true(false, tw_hart_fault(hart), __FILE__, __LINE__);
}

/* Programs without ecall have one path only. */
static void path_of_run(char path[PATH_ROOM], const struct example *example)
{
    char folder[PATH_ROOM];
    FILE *file;

    path_of(folder, "programs", example->program, "");
    (void)snprintf(path, PATH_ROOM, "%.600s/pcs-nr.txt.gz", folder);
    file = example->config.ecall_retires ? NULL : fopen(path, "rb");
    if (file)
        (void)fclose(file);
    else
        path_of(path, "programs", example->program, "pcs.txt.gz");
}

static void make_ours(struct example *example)
{
    const struct tw_region region = { .size = sizeof region };
    const struct tw_etrace_unit_config choices = { .size = sizeof choices,
                                                   .trace = &example->config,
                                                   .write = add_bytes,
                                                   .write_context = &example->ours,
                                                   .on_packet = add_packet,
                                                   .packet_context = &example->ours,
                                                   .always_index = example->is_c,
                                                   .literal_returns = example->is_c };
    struct tw_hart_options options = { .size = sizeof options, .trace = &example->config };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_etrace_unit *unit;
    struct tw_hart *hart;
    char path[PATH_ROOM];

    CHECK_EQ(tw_image_new(&options.image, NULL, NULL), TW_OK);
    path_of(path, "programs", example->program, "image.txt");
    CHECK_EQ(tw_image_add_segments(options.image, &region, path), TW_OK);
    path_of_run(path, example);
    if (tw_hart_open(&hart, path, &options, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    CHECK_EQ(tw_etrace_unit_new(&unit, &choices, &fault), TW_OK);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "iEnable", 1), TW_OK);
    feed(example, hart, unit);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "iEnable", 0), TW_OK);
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
    tw_hart_free(hart);
    tw_image_free(options.image);
}

/* ---- differences that are explained ---- */

enum reason {
    SAME,
    EARLY,
    LATE,
    FILLER,
    DEPTH,
    PHANTOM,
    PHANTOM_HANDLER,
    PRIVILEGE,
    EXTRA,
    DOUBLE,
    OTHER
};

static const char *const reasons[OTHER + 1] = {
    [EARLY] =
        "the reference model sets updiscon before an instruction that retires together with "
        "its trap, although a packet of that instruction comes in between (6.6.2); harmless",
    [LATE] = "the reference model does not set updiscon in the packet of an instruction that "
             "traps itself, although format 3 follows (6.6.2): a defect",
    [FILLER] =
        "the reference model fills an unused irdepth with ones, 6.6.3 asks for copies of "
        "updiscon",
    [DEPTH] = "te_codec never sets irreport, 6.6.3 asks for the depth before a trap, a "
              "resynchronization and the end",
    [PHANTOM] = "the reference model sends format 3 subformat 0 for an instruction that never "
                "retired; a trap packet with thaddr 0 tells of it",
    [PHANTOM_HANDLER] = "the handler after such a trap is synchronized with, not reported as a "
                        "trap again",
    [PRIVILEGE] = "the path that the run is made from does not have the privilege of an "
                  "instruction that never retired",
    [EXTRA] =
        "an address more ahead of a synchronization whose address, or the jump target "
        "reported before it, may have been passed already: without, the decoder would take "
        "the first visit",
    [DOUBLE] =
        "te_codec reports a jump whose target trapped, and then the target: 6.6.2 takes the "
        "first of two addresses in a row for a jump's target; the target alone tells both",
    [OTHER] = "?",
};

static bool is_format3(const struct tw_etrace_packet *packet)
{
    return packet->base.type >= TW_ETRACE_F3S0 && packet->base.type <= TW_ETRACE_F3S3;
}

/* All that their packet says apart from the flags that end it. */
static bool says_same(const struct tw_etrace_packet *a, const struct tw_etrace_packet *b)
{
    return a->base.type == b->base.type && a->address == b->address && a->field == b->field &&
           a->branches == b->branches && a->branch_map == b->branch_map &&
           a->branch_count == b->branch_count && a->branch_fmt == b->branch_fmt &&
           a->index == b->index && a->branch == b->branch && a->privilege == b->privilege &&
           a->context == b->context && a->time == b->time && a->ecause == b->ecause &&
           a->interrupt == b->interrupt && a->thaddr == b->thaddr && a->tval == b->tval &&
           a->notify == b->notify;
}

static enum reason reason_of(const struct example *example, size_t i, size_t j)
{
    const struct tw_etrace_packet *want = &example->theirs.packets[i];
    const struct tw_etrace_packet *got = &example->ours.packets[j];
    const bool before_format3 =
        j + 1 < example->ours.count && is_format3(&example->ours.packets[j + 1]);
    struct tw_etrace_packet other = *got;

    if (want->base.size == got->base.size &&
        memcmp(example->theirs.bytes + want->base.offset,
               example->ours.bytes + got->base.offset, want->base.size) == 0)
        return SAME;
    other.privilege = want->privilege;
    if (says_same(want, got)) {
        if (want->updiscon && !got->updiscon && !before_format3)
            return EARLY;
        if (!want->updiscon && got->updiscon && before_format3)
            return LATE;
        if (want->updiscon != got->updiscon)
            return OTHER;
        if (!want->irreport && got->irreport && example->is_c && before_format3)
            return DEPTH;
        return want->irreport == got->irreport && !want->irreport &&
                       want->has & TW_ETRACE_HAS_IRDEPTH
                   ? FILLER
                   : OTHER;
    }
    if (example->is_c && i + 2 < example->theirs.count && !is_format3(want) &&
        want[1].address == got->address && want[1].updiscon && got->updiscon &&
        want->branches == got->branches && want->branch_map == got->branch_map &&
        want[2].base.type == TW_ETRACE_F3S1)
        return DOUBLE;
    if (want->base.type == TW_ETRACE_F3S0 && !is_format3(got) && before_format3 &&
        example->ours.packets[j + 1].address == want->address)
        return EXTRA;
    if (want->address != got->address)
        return OTHER;
    if (want->base.type == TW_ETRACE_F3S0 && got->base.type == TW_ETRACE_F3S1 && !got->thaddr)
        return PHANTOM;
    if (want->base.type == TW_ETRACE_F3S1 && got->base.type == TW_ETRACE_F3S0)
        return PHANTOM_HANDLER;
    return says_same(want, &other) && got->base.type == TW_ETRACE_F3S1 && !got->thaddr
               ? PRIVILEGE
               : OTHER;
}

static char *load_known(void)
{
    size_t size;
    uint8_t *bytes = check_load(&size, TW_SOURCE_DIR "/docs/known-differences.jsonl");
    char *text;

    CHECK(bytes != NULL);
    text = malloc(size + 1);
    CHECK(text != NULL);
    memcpy(text, bytes, size);
    text[size] = 0;
    free(bytes);
    return text;
}

static void check_known(const struct example *example, const char *known, enum reason reason,
                        size_t first, size_t count)
{
    char row[1000];

    (void)snprintf(row, sizeof row,
                   "{\"run\": \"riscv/%s\", \"kind\": \"encoder\", \"id\": 0, \"line\": %zu, "
                   "\"want\": %zu, \"got\": %zu, \"why\": \"%s\"}\n",
                   example->name, first,
                   reason == EXTRA    ? 0
                   : reason == DOUBLE ? 2 * count
                                      : count,
                   count, reasons[reason]);
    if (getenv("TW_TEST_ROWS"))
        (void)fprintf(stderr, "%s", row);
    else if (!strstr(known, row))
        check_true(false, row, __FILE__, __LINE__);
}

static void compare(struct example *example, const char *known)
{
    size_t first[OTHER + 1] = { 0 }, count[OTHER + 1] = { 0 };
    size_t expected = 0;
    char start[NAME_ROOM + 40];

    for (size_t i = 0, j = 0; i < example->theirs.count; j++) {
        enum reason reason = OTHER;

        if (j < example->ours.count)
            reason = reason_of(example, i, j);
        if (count[reason]++ == 0)
            first[reason] = i;
        i += reason == EXTRA ? 0 : reason == DOUBLE ? 2 : 1;
    }
    if (count[OTHER])
        print_message("packet %zu of theirs\n", first[OTHER]);
    CHECK_EQ(count[OTHER], 0);
    CHECK_EQ(example->ours.count + count[DOUBLE], example->theirs.count + count[EXTRA]);
    for (unsigned i = SAME + 1; i < OTHER; i++)
        if (count[i]) {
            check_known(example, known, (enum reason)i, first[i], count[i]);
            expected++;
        }
    /* and no row is without its difference */
    (void)snprintf(start, sizeof start, "{\"run\": \"riscv/%s\", \"kind\": \"encoder\"",
                   example->name);
    for (const char *at = known; !getenv("TW_TEST_ROWS") && (at = strstr(at, start)); at++)
        CHECK(expected-- > 0);
}

static void try_example(const char *name, const char *known)
{
    struct example example = { .text = load_text(name) };
    char grade[NAME_ROOM], kind[NAME_ROOM], expected[NAME_ROOM];

    (void)snprintf(example.name, sizeof example.name, "%.*s", NAME_ROOM - 1, name);
    value_of(grade, example.text, "grade");
    value_of(kind, example.text, "kind");
    value_of(expected, example.text, "expected");
    value_of(example.program, example.text, "program");
    value_of(example.producer, example.text, "producer");
    /* "none": the execution itself is not in the corpus */
    if ((*grade == 'A' || *grade == 'B') && *kind == 0 && strcmp(expected, "none") != 0) {
        check_case("%s", name);
        example.is_c = strcmp(example.producer, "refc") == 0;
        example.has_contexts = strstr(name, "ctx16") != NULL;
        example.has_time = strstr(name, "-time") != NULL;
        read_config(&example);
        read_theirs(&example);
        make_ours(&example);
        compare(&example, known);
    }
    free(example.text);
    free(example.theirs.packets);
    free(example.theirs.bytes);
    free(example.ours.packets);
    free(example.ours.bytes);
}

static size_t each_case(void (*each)(const char *name, const char *known), const char *known)
{
    char path[PATH_ROOM];
    struct dirent **entries;
    int count;

    path_of(path, "cases", "", "");
    path[strlen(path) - 1] = 0;
    count = scandir(path, &entries, NULL, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            each(entries[i]->d_name, known);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

/* [RVT 8/1] */
static void test_public_encoders(void **state)
{
    char path[PATH_ROOM];
    char *known;

    (void)state;
    check_corpus(path, sizeof path, "riscv/cases");
    known = load_known();
    (void)each_case(try_example, known);
    free(known);
}

/* ---- data ---- */

static void try_data(const char *name, const char *known)
{
    struct example example = { .text = load_text(name) };
    char grade[NAME_ROOM], kind[NAME_ROOM];

    (void)known;
    (void)snprintf(example.name, sizeof example.name, "%.*s", NAME_ROOM - 1, name);
    value_of(grade, example.text, "grade");
    value_of(kind, example.text, "kind");
    if (strcmp(kind, "data") == 0 && (*grade == 'A' || *grade == 'B')) {
        const struct tw_etrace_unit_config choices = { .size = sizeof choices,
                                                       .trace = &example.config,
                                                       .write = add_bytes,
                                                       .write_context = &example.ours };
        const struct tw_hart_options options = { .size = sizeof options,
                                                 .trace = &example.config };
        struct tw_fault fault = { TW_OK, "" };
        struct tw_etrace_unit *unit;
        struct tw_hart *hart;
        char path[PATH_ROOM];

        check_case("%s", name);
        read_config(&example);
        read_theirs(&example);
        path_of(path, "cases", name, "accesses.csv.gz");
        CHECK_EQ(tw_hart_open(&hart, path, &options, &fault), TW_OK);
        CHECK_EQ(tw_etrace_unit_new(&unit, &choices, &fault), TW_OK);
        CHECK_EQ(tw_etrace_unit_write_field(unit, "dEnable", 1), TW_OK);
        CHECK_EQ(tw_hart_run(hart, unit, &fault), TW_OK);
        tw_etrace_unit_flush(unit);
        CHECK_BYTES(example.ours.bytes, example.ours.size, example.theirs.bytes,
                    example.theirs.size);
        tw_etrace_unit_free(unit);
        tw_hart_free(hart);
    }
    free(example.text);
    free(example.theirs.packets);
    free(example.theirs.bytes);
    free(example.ours.bytes);
}

static void test_public_data_encoder(void **state)
{
    (void)state;
    (void)each_case(try_data, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_public_encoders),
                                        cmocka_unit_test(test_public_data_encoder) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
