/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of replays: a search finds what single steps come to, on any number of threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/replay.h>

#include "all_runs.h"
#include "base/core.h"

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
                           walked = start, near = start;
    struct tw_replay_loss loss_a = { 0 }, loss_b = { 0 }, loss_walked = { 0 };
    uint64_t addresses[PLACES];
    enum tw_status status, stepped;

    for (unsigned i = 0; i < PLACES; i++) {
        /* Some are near the last one, in any order: which of a range comes first, counts. */
        if (i == 0 || check_random_below(random, 2) ||
            tw_replay_step(one->replay, &near, check_random_below(random, 2), NULL) != TW_OK ||
            near.is_end)
            near = some_place(one, thread, random);
        addresses[i] = pc_at(one, &near);
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

/* The core says whether it is of M profile, and so does trace. */
static void check_profiles(const struct held *held)
{
    struct tw_replay_thread thread = { .size = sizeof thread };

    for (size_t i = 0; tw_replay_thread(held->replay, &thread, i); i++) {
        const char *core =
            tw_capture_source(held->captures[0], thread.source_number)->core_type;

        if (core)
            CHECK_EQ(thread.is_m, tw_core_profile(core) == TW_PROFILE_M);
    }
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
    check_profiles(&one);
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

/* ---- threads that move between CPUs ---- */

/* The addresses that a thread executes, all CPUs merged by time. */
struct path {
    uint64_t *pcs;
    size_t count, room;
};

static void add_range(struct path *path, const struct tw_element *range)
{
    CHECK_EQ(range->length, 4 * (uint64_t)range->count);
    while (path->count + range->count > path->room) {
        path->room = path->room ? 2 * path->room : 4096;
        path->pcs = realloc(path->pcs, path->room * sizeof *path->pcs);
        CHECK(path->pcs != NULL);
    }
    for (uint32_t i = 0; i < range->count; i++)
        path->pcs[path->count++] = range->start + 4 * (uint64_t)i;
}

static struct path path_of(const struct held *held, uint32_t tid)
{
    const struct tw_run_config config = { .size = sizeof config, .order = TW_ORDER_TIME };
    struct tw_part part = { .size = sizeof part };
    struct path path = { NULL, 0, 0 };
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, held->captures[0], &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++)
            if (part.who.tid == tid && part.batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                add_range(&path, &part.batch.elements[i]);
    tw_run_free(run);
    return path;
}

static void check_path(struct held *held, uint32_t thread, const struct path *path,
                       bool is_back)
{
    struct tw_replay_place place;
    struct tw_replay_loss loss;
    uint64_t number;
    enum tw_status status = is_back ? tw_replay_last(held->replay, &place, thread)
                                    : tw_replay_first(held->replay, &place, thread);

    CHECK_EQ(status, TW_OK);
    for (size_t i = 0; i < path->count; i++) {
        CHECK_EQ(pc_at(held, &place), path->pcs[is_back ? path->count - 1 - i : i]);
        if (i % 512 == 0) {
            CHECK_EQ(tw_replay_number(held->replay, &number, &place), TW_OK);
            CHECK_EQ(number, is_back ? path->count - 1 - i : i);
        }
        status = tw_replay_step(held->replay, &place, is_back, &loss);
        CHECK_EQ(status == TW_OK && !place.is_end, i + 1 < path->count);
    }
}

static void threads_go_on_where_they_are_moved_to(void **state)
{
    static const char *const names[] = {
        "p10-walk-percpu-etmv4-v1",        "p12-walk-percpu-ete-raw-vmid-v1",
        "p13-walk-percpu-etmv4-v2-hwid00", "p14-walk-percpu-etmv4-v2-hwid01-two-sinks",
        "p15-walk-percpu-etmv4-barriers",  "p16-walk-snapshot-etmv4"
    };
    static const uint32_t windows[] = { 64, 300, 2048, 0 };

    (void)state;
    for (size_t i = 0; i < 24; i++) {
        struct tw_replay_thread about = { .size = sizeof about };
        struct run run;
        struct held held;
        char corpus[RUNS_PATH], name[100];

        check_corpus(corpus, sizeof corpus, "perf/README.md");
        corpus[strlen(corpus) - strlen("/perf/README.md")] = 0;
        (void)snprintf(name, sizeof name, "%s.perf.data", names[i / 4]);
        check_case("%s, windows of %u", name, windows[i % 4]);
        CHECK(runs_fill(&run, corpus, "perf", name));
        CHECK(hold(&held, &run, 1, windows[i % 4]));
        CHECK_EQ(tw_replay_find_threads(held.replay), TW_OK);
        CHECK_EQ(tw_replay_thread_count(held.replay), 2);
        for (uint32_t k = 0; tw_replay_thread(held.replay, &about, k); k++) {
            struct path path = path_of(&held, about.tid);

            check_path(&held, k, &path, false);
            check_path(&held, k, &path, true);
            free(path.pcs);
        }
        let_go(&held);
    }
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
        cmocka_unit_test(threads_go_on_where_they_are_moved_to),
        cmocka_unit_test(searches_are_cancelled),
    };

    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
