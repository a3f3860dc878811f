/* SPDX-License-Identifier: BSD-2-Clause */
/* The saved state of a decoder holds all that has an effect on what comes later: a decoder that has
   seen something else and then loads the state goes on like the one that saved it. */
#include "check.h"

#include "tree/test_made.h"

static const struct made_options options[] = { { 0, false, false },
                                               { 0, true, true },
                                               { 3, false, true } };

/* Saves as the library does between two inputs. */
static void save(struct made_decoder *made, struct tw_state *state)
{
    tw_state_save(state, made->at);
    made->setup->protocol->state(made->decoder, &made->follow, state);
    CHECK(!state->failed);
}

static void load(struct made_decoder *made, struct tw_state *state)
{
    const struct tw_protocol *protocol = made->setup->protocol;

    protocol->decoder_reset(made->decoder);
    if (made->setup->code)
        tw_follow_reset(&made->follow);
    tw_state_load(state);
    protocol->state(made->decoder, &made->follow, state);
    CHECK(!state->failed);
    CHECK_EQ(state->read, state->size);
    made->at = (size_t)state->offset;
}

/* A decoder in the middle of some other stream. */
static struct made_decoder used_decoder(const struct made_setup *setup,
                                        struct check_random *random)
{
    static struct made_stream_of stream;
    struct made_decoder made = made_decoder_new(setup);
    struct made_list ignored = { NULL, 0, 0 };

    made_stream(&stream, setup, random, 200 + check_random_below(random, 500),
                check_random_below(random, 2));
    (void)made_decode_some(&made, &ignored, &stream, stream.size - 1, 170,
                           1 + (unsigned)check_random_below(random, 4));
    free(ignored.elements);
    return made;
}

static void check_stream(const struct made_setup *setup, const struct made_stream_of *stream,
                         struct check_random *random)
{
    const size_t cut = 1 + (size_t)check_random_below(random, stream->size);
    const size_t room = 170 + (size_t)check_random_below(random, 80);
    struct made_decoder one = made_decoder_new(setup), other = used_decoder(setup, random);
    struct made_list want = { NULL, 0, 0 }, got = { NULL, 0, 0 };
    struct tw_state state = { .bytes = NULL }, again = { .bytes = NULL };

    one.is_marked = other.is_marked = check_random_below(random, 2);
    (void)made_decode_some(&one, &want, stream, cut, room,
                           1 + (unsigned)check_random_below(random, 4));
    want.count = 0;
    save(&one, &state);
    load(&other, &state);
    save(&other, &again);
    CHECK_BYTES(again.bytes, again.size, state.bytes, state.size);
    made_decode(&one, &want, stream, stream->size, room);
    made_decode(&other, &got, stream, stream->size, room);
    made_end(&one, &want);
    made_end(&other, &got);
    made_check_same(&got, &want);
    tw_state_free(&state);
    tw_state_free(&again);
    free(want.elements);
    free(got.elements);
    made_decoder_free(&one);
    made_decoder_free(&other);
}

static void a_loaded_state_goes_on_as_it_was_saved(void **unused)
{
    struct check_random random = check_random_start(0x57a7e);
    const size_t rounds = check_scale(5000);

    (void)unused;
    for (size_t i = 0; i < LENGTH(made_kinds) * LENGTH(options); i++) {
        const struct made_options *option = &options[i % LENGTH(options)];
        struct made_setup setup = made_set_up(&made_kinds[i / LENGTH(options)], option);

        made_set_up_code(&setup, option);
        for (size_t round = 0; round < rounds; round++) {
            static struct made_stream_of stream;

            check_case("%s, options %zu, stream %zu", setup.kind->name, i % LENGTH(options),
                       round);
            made_stream(&stream, &setup, &random, 1 + check_random_below(&random, 400),
                        round & 1);
            check_stream(&setup, &stream, &random);
        }
        made_tear_down(&setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_state_goes_on_as_it_was_saved),
    };

    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
