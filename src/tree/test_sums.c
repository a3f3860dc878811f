/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of counting without elements: with the elements that are left, sums tell the same as all elements
   would, of every protocol, in the context that it happened in. */
#include "tree/test_made.h"

#include "image/sums.h"

/* What elements tell, whatever the order of ranges; and all else in order. */
struct book {
    uint64_t ranges, edges; /* sums of hashes */
    uint64_t executed, led; /* how many */
    uint64_t others;        /* hash, in order ... */
    /* ... but for these: E-Trace's wait for their instructions, which are not looked at here */
    uint64_t transfers;
    uint64_t context;       /* of the last PE_CONTEXT */
    struct tw_element from; /* indirect branch whose target comes next, if it has a count */
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct book *book, const struct tw_element *range)
{
    uint64_t hash = mix(book->context + 1, range->start);

    hash = mix(hash, (uint64_t)range->length << 32 | range->count);
    return mix(hash, (uint64_t)range->flags << 16 | (uint64_t)range->isa << 8 | range->last);
}

static void add_edge(struct book *book, const struct tw_element *from, uint64_t to,
                     uint64_t times)
{
    /* Context of the target: a return from an exception changes it on the way. */
    book->edges += mix(mix(from->start + from->length, to), from->last) * times;
    book->led += times;
}

static void add_range(struct book *book, const struct tw_element *range, uint64_t times)
{
    if (!range->count)
        return;
    if (book->from.count)
        add_edge(book, &book->from, range->start, times);
    book->from.count = 0;
    book->ranges += hash_of(book, range) * times;
    book->executed += times;
    if (range->last_kind == TW_LAST_IBR && (range->flags & TW_RANGE_EXECUTED))
        book->from = *range;
}

static void add_other(struct book *book, const struct tw_element *element)
{
    static const uint32_t breaks = 1u << TW_ELEMENT_I_RANGE_NOPATH |
                                   1u << TW_ELEMENT_ADDR_NACC | 1u << TW_ELEMENT_EXCEPTION |
                                   1u << TW_ELEMENT_TRACE_ON | 1u << TW_ELEMENT_NO_SYNC |
                                   1u << TW_ELEMENT_EO_TRACE | 1u << TW_ELEMENT_ERROR;
    uint64_t hash = mix(element->type, element->flags);
    const bool is_passed_over =
        element->type == TW_ELEMENT_ERROR &&
        (element->error == TW_ERROR_BAD_SEQUENCE ||
         element->error == TW_ERROR_RESERVED_HEADER ||
         element->error == TW_ERROR_RESERVED_BITS || element->error == TW_ERROR_OVERFLOW);

    if (element->type == TW_ELEMENT_DATA_ADDR || element->type == TW_ELEMENT_DATA_VALUE) {
        book->transfers += mix(element->type, element->size);
        return;
    }
    if (breaks >> element->type & 1 && !is_passed_over)
        book->from.count = 0;
    /* Which of several packets broke the path is not told. */
    if (element->type != TW_ELEMENT_ERROR) {
        hash = mix(hash, element->value);
        hash = mix(hash, element->value_more);
        hash = mix(hash, (uint64_t)element->count << 16 | (uint64_t)element->isa << 8 |
                             element->last);
    }
    if (element->type == TW_ELEMENT_PE_CONTEXT) /* whatever the instruction set */
        book->context =
            mix(mix(mix(element->value, element->value_more), element->flags), element->last);
    book->others = mix(book->others, hash);
}

static void add_elements(struct book *book, const struct made_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tw_element *element = &list->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            add_range(book, element, 1);
        else if (element->type == TW_ELEMENT_REPEAT)
            for (size_t k = i - tw_repeat_reach(list->elements, i); k < i; k++)
                add_range(book, &list->elements[k], element->times);
        else
            add_other(book, element);
    }
}

static uint64_t add_sums(struct book *book, struct tw_code *code)
{
    struct tw_range_sum sums[5];
    uint64_t summed = 0;
    size_t count;

    while ((count = tw_sums_next(code, sums, LENGTH(sums))) != 0)
        for (size_t i = 0; i < count; i++) {
            CHECK(sums[i].times > 0 && sums[i].times < 1000000);
            if (sums[i].is_edge) {
                add_edge(book, &sums[i].range, sums[i].to, sums[i].times);
                continue;
            }
            book->ranges += hash_of(book, &sums[i].range) * sums[i].times;
            book->executed += sums[i].times;
            summed += sums[i].times;
        }
    return summed;
}

/* A stream in pieces; how many ranges were summed. */
static uint64_t read_stream(struct book *book, const struct made_setup *setup,
                            const struct made_stream_of *stream, size_t piece, bool counts)
{
    struct made_decoder made = made_decoder_new(setup);
    struct made_list list = { .count = 0 };
    uint64_t summed = 0;
    size_t until = 0;

    *book = (struct book){ .executed = 0 };
    made.follow.sums = counts ? setup->code->sums : NULL;
    do {
        bool is_done;

        until = stream->size - until < piece ? stream->size : until + piece;
        do {
            list.count = 0;
            is_done = made_decode_some(&made, &list, stream, until, MADE_ROOM, 1);
            if (counts)
                summed += add_sums(book, setup->code);
            add_elements(book, &list);
        } while (!is_done);
    } while (until < stream->size);
    list.count = 0;
    made_end(&made, &list);
    add_elements(book, &list);
    free(list.elements);
    made_decoder_free(&made);
    return summed;
}

static void check_books(const struct book *got, const struct book *want)
{
    CHECK_EQ(got->executed, want->executed);
    CHECK(got->ranges == want->ranges);
    CHECK_EQ(got->led, want->led);
    CHECK(got->edges == want->edges);
    CHECK(got->others == want->others);
    CHECK(got->transfers == want->transfers);
}

static void sums_and_elements_tell_the_same(void **state)
{
    static struct made_stream_of stream;
    struct check_random random = check_random_start(19);
    uint64_t summed = 0;

    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(made_kinds); i++) {
        const size_t kind = i / 2;
        const struct made_options options = { .checks = i % 2 };
        struct made_setup setup = made_set_up(&made_kinds[kind], &options);

        made_set_up_code(&setup, &options);
        CHECK_CASE(made_kinds[kind].name);
        if (setup.code)
            CHECK(tw_sums_begin(setup.code));
        for (unsigned k = 0; setup.code && k < check_scale(60); k++) {
            struct book want, got;

            made_stream(&stream, &setup, &random, 300 + check_random_below(&random, 3000),
                        k % 3 == 0);
            (void)read_stream(&want, &setup, &stream, stream.size, false);
            summed +=
                read_stream(&got, &setup, &stream,
                            k % 2 ? stream.size : 40 + check_random_below(&random, 500), true);
            check_books(&got, &want);
        }
        made_tear_down(&setup);
    }
    CHECK(summed > 100);
}

/* Both up to there; what is left of a batch is the next one's. */
static void decode_up_to(struct made_decoder *made, const struct made_stream_of *stream,
                         size_t until, struct tw_state *state)
{
    struct made_list list = { .count = 0 };

    made_decode(made, &list, stream, until, MADE_ROOM);
    free(list.elements);
    tw_state_save(state, made->at);
    made->setup->protocol->state(made->decoder, &made->follow, state);
    CHECK(!state->failed);
}

/* Threads compare what a decoder knows where a piece ends: it is the same if it counted.  (Those of ETMv4 may have taken
   the last packet or keep it in mind, and E-Trace's data have no instructions then.) */
static void counting_leads_to_the_same_state(void **unused)
{
    static const char *const protocols[] = { "etmv3", "ptm", "ntrace" };
    static struct made_stream_of stream;
    struct check_random random = check_random_start(23);

    (void)unused;
    for (size_t k = 0; k < LENGTH(protocols) * LENGTH(made_kinds); k++) {
        const struct made_kind *kind = &made_kinds[k % LENGTH(made_kinds)];
        const struct made_options options = { .checks = false };
        struct made_setup setup;

        if (strcmp(kind->protocol, protocols[k / LENGTH(made_kinds)]) != 0)
            continue;
        CHECK_CASE(kind->name);
        setup = made_set_up(kind, &options);
        made_set_up_code(&setup, &options);
        CHECK(tw_sums_begin(setup.code));
        for (unsigned i = 0; i < check_scale(60); i++) {
            struct made_decoder plain = made_decoder_new(&setup),
                                counting = made_decoder_new(&setup);
            struct tw_state want = { .bytes = NULL }, got = { .bytes = NULL };
            size_t until = 0;

            counting.follow.sums = setup.code->sums;
            made_stream(&stream, &setup, &random, 300 + check_random_below(&random, 3000),
                        i % 3 == 0);
            while (until < stream.size) {
                until += 1 + check_random_below(&random, 300);
                if (until > stream.size)
                    until = stream.size;
                decode_up_to(&plain, &stream, until, &want);
                decode_up_to(&counting, &stream, until, &got);
                CHECK_BYTES(got.bytes, got.size, want.bytes, want.size);
            }
            tw_sums_forget(setup.code);
            tw_state_free(&want);
            tw_state_free(&got);
            made_decoder_free(&plain);
            made_decoder_free(&counting);
        }
        made_tear_down(&setup);
    }
}

/* All blocks are thrown away while paths through them wait to be summed. */
static void sums_outlive_the_blocks(void **state)
{
    const struct made_options options = { .checks = false };
    struct made_setup setup = made_set_up(&made_kinds[0], &options);
    struct check_random random = { 7 };
    static struct made_stream_of stream;
    struct book want, got;

    (void)state;
    made_set_up_code(&setup, &options);
    CHECK(tw_sums_begin(setup.code));
    made_stream(&stream, &setup, &random, 3000, false);
    (void)read_stream(&want, &setup, &stream, stream.size, false);
    {
        struct made_decoder made = made_decoder_new(&setup);
        struct made_list list = { .count = 0 };

        got = (struct book){ .executed = 0 };
        made.follow.sums = setup.code->sums;
        while (!made_decode_some(&made, &list, &stream, stream.size, MADE_ROOM, 1)) {
            CHECK_EQ(tw_image_set_callback(setup.image, made_read, &setup), TW_OK);
            tw_code_refresh(setup.code); /* the image is another one */
            (void)add_sums(&got, setup.code);
            add_elements(&got, &list);
            list.count = 0;
        }
        CHECK_EQ(tw_image_set_callback(setup.image, made_read, &setup), TW_OK);
        tw_code_refresh(setup.code);
        (void)add_sums(&got, setup.code);
        made_end(&made, &list);
        add_elements(&got, &list);
        free(list.elements);
        made_decoder_free(&made);
    }
    check_books(&got, &want);
    made_tear_down(&setup);
}

static void what_is_forgotten_is_gone(void **state)
{
    const struct made_options options = { .checks = false };
    struct made_setup setup = made_set_up(&made_kinds[0], &options);
    struct check_random random = { 11 };
    static struct made_stream_of stream;
    struct made_list list = { .count = 0 };
    struct made_decoder made;
    struct book book = { .executed = 0 };

    (void)state;
    made_set_up_code(&setup, &options);
    CHECK(tw_sums_begin(setup.code));
    made_stream(&stream, &setup, &random, 2000, false);
    made = made_decoder_new(&setup);
    made.follow.sums = setup.code->sums;
    made_decode(&made, &list, &stream, stream.size, MADE_ROOM);
    tw_sums_forget(setup.code);
    CHECK_EQ(add_sums(&book, setup.code), 0);
    CHECK_EQ(book.led, 0);
    free(list.elements);
    made_decoder_free(&made);
    made_tear_down(&setup);
}

static uint64_t times_of(struct tw_code *code, size_t *count)
{
    struct tw_range_sum sums[3];
    uint64_t times = 0;
    size_t some;

    *count = 0;
    while ((some = tw_sums_next(code, sums, LENGTH(sums))) != 0)
        for (size_t i = 0; i < some; i++, ++*count)
            times += sums[i].times;
    return times;
}

/* More often than a way's own number can say. */
static void times_have_no_end(void **state)
{
    const struct made_options options = { .checks = false };
    struct made_setup setup = made_set_up(&made_kinds[0], &options);
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct tw_blocks *blocks;
    size_t count;

    (void)state;
    made_set_up_code(&setup, &options);
    CHECK(tw_sums_begin(setup.code));
    blocks = tw_code_space(setup.code, &view);
    CHECK(tw_blocks_find(blocks, 0x1000, TW_ISA_A64, 0) != 0);
    for (unsigned more = 0; more < 4; more++) {
        const uint32_t way = TW_BLOCK_FIRST * 2 + more % 2;

        tw_sums_go(blocks, way);
        CHECK_EQ(blocks->ways[way].times, 1);
        blocks->ways[way].times = UINT32_MAX - 1;
        for (unsigned i = 0; i < more; i++)
            tw_sums_go(blocks, way);
        CHECK_EQ(times_of(setup.code, &count), (uint64_t)UINT32_MAX - 1 + more);
        CHECK_EQ(count, more < 2 ? 1 : more == 2 ? 1 : 2);
        CHECK_EQ(times_of(setup.code, &count), 0);
    }
    /* The one that made it too many never happened. */
    tw_sums_go(blocks, TW_BLOCK_FIRST * 2);
    blocks->ways[TW_BLOCK_FIRST * 2].times = UINT32_MAX;
    tw_sums_go(blocks, TW_BLOCK_FIRST * 2);
    tw_sums_undo(blocks, TW_BLOCK_FIRST * 2);
    CHECK_EQ(times_of(setup.code, &count), UINT32_MAX);
    made_tear_down(&setup);
}

/* The same of steps, and a way that one of them counted never happened. */
static void times_of_steps_have_no_end(void **state)
{
    const struct made_options options = { .checks = false };
    struct made_setup setup = made_set_up(&made_kinds[0], &options);
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct tw_blocks *blocks;
    uint32_t block, number, taken;
    size_t count;

    (void)state;
    made_set_up_code(&setup, &options);
    CHECK(tw_sums_begin(setup.code));
    blocks = tw_code_space(setup.code, &view);
    block = tw_blocks_find(blocks, 0x1000, TW_ISA_A64, 0);
    CHECK(tw_block_is_plain(block));
    taken = tw_block_is_plain(tw_blocks_link(blocks, block, 0)) ? 0 : 1;
    CHECK(tw_block_is_plain(tw_blocks_link(blocks, block, taken)));
    number = tw_step_number(block, tw_step_word(taken, 1));
    for (unsigned undone = 0; undone < 3; undone++)
        for (unsigned more = 0; more < 3; more++) {
            CHECK(tw_step_passed(tw_sums_step(blocks, number)) == 1);
            blocks->steps[number].times = UINT32_MAX - 1;
            for (unsigned i = 0; i < more; i++)
                CHECK(tw_step_passed(tw_sums_step(blocks, number)) == 1);
            for (unsigned i = 0; i < undone; i++)
                tw_sums_undo(blocks, block * 2 + taken);
            CHECK_EQ(times_of(setup.code, &count), (uint64_t)UINT32_MAX - 1 + more - undone);
            CHECK_EQ(times_of(setup.code, &count), 0);
        }
    /* More of them than are kept in mind. */
    CHECK(tw_step_passed(tw_sums_step(blocks, number)) == 1);
    blocks->steps[number].times = 20000;
    for (unsigned i = 0; i < 19999; i++)
        tw_sums_undo(blocks, block * 2 + taken);
    CHECK_EQ(times_of(setup.code, &count), 1);
    CHECK_EQ(count, 1);
    made_tear_down(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_elements_tell_the_same),
        cmocka_unit_test(counting_leads_to_the_same_state),
        cmocka_unit_test(sums_outlive_the_blocks),
        cmocka_unit_test(what_is_forgotten_is_gone),
        cmocka_unit_test(times_have_no_end),
        cmocka_unit_test(times_of_steps_have_no_end),
    };

    return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
