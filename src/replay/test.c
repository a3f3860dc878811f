/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of replays: a search finds what single steps come to, on any number of threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/replay.h>

#include "all_runs.h"

enum { HANDLES = 3, PLACES = 3, STEPS = 3000 };

/* A replay, and what it borrows. */
struct held {
    const struct run *run;
    struct tw_capture *captures[1 + HANDLES];
    size_t count;
    bool is_cancelled;
    struct tw_run_config config;
    struct tw_replay *replay;
};

static struct tw_capture *open_again(void *context)
{
    struct held *held = context;
    struct tw_capture *capture;

    CHECK(held->count < 1 + HANDLES);
    CHECK_EQ(run_open(&capture, held->run, NULL, NULL), TW_OK);
    held->captures[held->count++] = capture;
    return capture;
}

static bool asks(void *context)
{
    const struct held *held = context;

    return held->is_cancelled;
}

/* False: the capture cannot be opened. */
static bool hold(struct held *held, const struct run *run, uint32_t threads, uint32_t window)
{
    const struct tw_replay_config config = { .size = sizeof config,
                                             .run = &held->config,
                                             .window = window,
                                             .is_cancelled = asks,
                                             .open_again = open_again,
                                             .context = held };

    *held = (struct held){ .run = run,
                           .config = { .size = sizeof held->config, .threads = threads } };
    if (run_open(&held->captures[0], run, NULL, NULL) != TW_OK)
        return false;
    held->count = 1;
    CHECK_EQ(tw_replay_new(&held->replay, held->captures[0], &config, NULL), TW_OK);
    return true;
}

static void let_go(struct held *held)
{
    tw_replay_free(held->replay);
    for (size_t i = 0; i < held->count; i++)
        tw_capture_free(held->captures[i]);
}

static uint64_t pc_at(struct held *held, const struct tw_replay_place *place)
{
    struct tw_replay_view view = { .size = sizeof view };

    CHECK_EQ(tw_replay_look(held->replay, &view, place), TW_OK);
    return view.pc;
}

/* Some place of a thread. */
static struct tw_replay_place some_place(struct held *held, uint32_t thread,
                                         struct check_random *random)
{
    const struct tw_capture *capture = held->captures[0];
    const struct tw_buffer *buffer = tw_capture_buffer(
        capture, check_random_below(random, tw_capture_buffer_count(capture)));
    struct tw_replay_place place;

    if (!buffer->size ||
        tw_replay_at_offset(held->replay, &place, thread,
                            buffer->offset + check_random_below(random, buffer->size)) != TW_OK)
        CHECK_EQ(tw_replay_first(held->replay, &place, thread), TW_OK);
    return place;
}

static void check_same_place(const struct tw_replay_place *got,
                             const struct tw_replay_place *want)
{
    CHECK_EQ(got->thread, want->thread);
    CHECK_EQ(got->window, want->window);
    CHECK_EQ(got->instruction, want->instruction);
    CHECK_EQ(got->is_end, want->is_end);
}

/* Step by step to where a search has to end; false: that would take too long. */
static bool walk(struct held *held, struct tw_replay_place *place, bool is_back,
                 const uint64_t *addresses, struct tw_replay_loss *loss, enum tw_status *status)
{
    for (unsigned steps = 0; steps < STEPS; steps++) {
        *status = tw_replay_step(held->replay, place, is_back, loss);
        if (*status != TW_OK || loss->kind != TW_REPLAY_NO_LOSS)
            return true;
        for (unsigned i = 0; !place->is_end && i < PLACES; i++)
            if (pc_at(held, place) == addresses[i])
                return true;
    }
    return false;
}

static void check_search(struct held *one, struct held *many, uint32_t thread,
                         struct check_random *random)
{
    const bool is_back = check_random_below(random, 2);
    const bool has_loss = check_random_below(random, 2);
    struct tw_replay_place start = some_place(one, thread, random), a = start, b = start,
                           walked = start;
    struct tw_replay_loss loss_a = { 0 }, loss_b = { 0 }, loss_walked = { 0 };
    uint64_t addresses[PLACES];
    enum tw_status status, stepped;

    for (unsigned i = 0; i < PLACES; i++) {
        const struct tw_replay_place place = some_place(one, thread, random);

        addresses[i] = pc_at(one, &place);
    }
    status =
        tw_replay_find(one->replay, &a, is_back, addresses, PLACES, has_loss ? &loss_a : NULL);
    CHECK_EQ(
        tw_replay_find(many->replay, &b, is_back, addresses, PLACES, has_loss ? &loss_b : NULL),
        status);
    check_same_place(&b, &a);
    CHECK_EQ(loss_b.kind, loss_a.kind);
    CHECK_EQ(loss_b.element.index, loss_a.element.index);
    if (!has_loss || !walk(one, &walked, is_back, addresses, &loss_walked, &stepped))
        return;
    CHECK_EQ(stepped == TW_END, status == TW_END);
    check_same_place(&a, &walked);
    CHECK_EQ(loss_walked.kind, loss_a.kind);
}

static void check_run(const struct run *run, struct check_random *random)
{
    static const uint32_t windows[] = { 64, 300, 2048 };
    const uint32_t window = windows[check_random_below(random, 3)];
    struct held one, many;

    if (!hold(&one, run, 1, window)) {
        let_go(&one);
        return;
    }
    CHECK(hold(&many, run, 1 + HANDLES, window));
    CHECK_EQ(tw_replay_find_threads(one.replay),
             TW_OK); /* so that they have the same numbers */
    CHECK_EQ(tw_replay_find_threads(many.replay), TW_OK);
    for (unsigned i = 0; i < 6 && tw_replay_thread_count(one.replay); i++)
        check_search(&one, &many,
                     (uint32_t)check_random_below(random, tw_replay_thread_count(one.replay)),
                     random);
    let_go(&many);
    let_go(&one);
}

static void searches_end_where_steps_come_to(void **state)
{
    struct check_random random = check_random_start(0x7265706c);
    struct runs runs = runs_find();
    const size_t wanted = check_scale(runs.count < 400 ? runs.count : 400);
    const size_t step = runs.count / wanted ? runs.count / wanted : 1;

    (void)state;
    for (size_t i = check_random_below(&random, step); i < runs.count; i += step) {
        check_case("%s", runs.runs[i].path);
        check_run(&runs.runs[i], &random);
    }
    free(runs.runs);
}

/* One who wants an end gets it, and may go on. */
static void searches_are_cancelled(void **state)
{
    struct run run;
    struct held held;
    struct tw_replay_place place, end;
    const uint64_t nowhere = 1;

    (void)state;
    CHECK(runs_fill(&run, TW_SOURCE_DIR "/tests", "captures", "demo"));
    CHECK(hold(&held, &run, 2, 512));
    CHECK_EQ(tw_replay_first(held.replay, &place, 0), TW_OK);
    CHECK_EQ(tw_replay_last(held.replay, &end, 0), TW_OK);
    held.is_cancelled = true;
    CHECK_EQ(tw_replay_find(held.replay, &place, false, &nowhere, 1, NULL), TW_E_CANCELLED);
    held.is_cancelled = false;
    CHECK_EQ(tw_replay_find(held.replay, &place, false, &nowhere, 1, NULL), TW_END);
    CHECK(tw_replay_compare(&place, &end) >= 0);
    let_go(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_end_where_steps_come_to),
        cmocka_unit_test(searches_are_cancelled),
    };

    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
