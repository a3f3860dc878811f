/* SPDX-License-Identifier: BSD-2-Clause */
/* The saved state of a decoder holds all that has an effect on what comes later: a decoder that has
   seen something else and then loads the state goes on like the one that saved it. */
#include "check.h"

#include "etmv3/decode.h"
#include "etmv4/decode.h"
#include "etrace/decode.h"
#include "itm/packet.h"
#include "ntrace/decode.h"
#include "ptm/decode.h"
#include "stm/packet.h"
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

static void load_into(struct made_decoder *made, struct tw_state *state)
{
    tw_state_load(state);
    made->setup->protocol->state(made->decoder, &made->follow, state);
    CHECK(!state->failed);
}

static void load(struct made_decoder *made, struct tw_state *state)
{
    made->setup->protocol->decoder_reset(made->decoder);
    if (made->setup->code)
        tw_follow_reset(&made->follow);
    load_into(made, state);
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

/* Members that change while decoding and are not part of the state, each with its reason.  A member
   that is neither saved nor listed here fails the test below. */
struct unsaved {
    const char *protocol; /* NULL: the follower */
    const char *name;
    size_t offset, size;
};

#define UNSAVED(protocol, type, member)                                                        \
    {                                                                                          \
        protocol, #member, offsetof(type, member), sizeof(((type *)NULL)->member)              \
    }
/* What lies behind the last member of a struct is no state: compilers may copy it, or not. */
#define PADDING(protocol, type, member, last)                                                  \
    {                                                                                          \
        protocol, #member ", behind " #last,                                                   \
            offsetof(type, member.last) + sizeof(((type *)NULL)->member.last),                 \
            offsetof(type, member) + sizeof(((type *)NULL)->member) -                          \
                offsetof(type, member.last) - sizeof(((type *)NULL)->member.last)              \
    }
#define ITEM(protocol, member)                                                                 \
    PADDING(protocol, struct tw_etmv4_decoder, member, context.has_reserved)
static const struct unsaved unsaved[] = {
    /* Found again by address, in the blocks that the new follower has. */
    UNSAVED(NULL, struct tw_follow, blocks),
    UNSAVED(NULL, struct tw_follow, epoch),
    UNSAVED(NULL, struct tw_follow, last_block),
    /* A ring: its entries come back at other places.  The test above sees what they do. */
    UNSAVED(NULL, struct tw_follow, returns),
    UNSAVED(NULL, struct tw_follow, return_top),
    /* Set by the decoders, each time. */
    UNSAVED(NULL, struct tw_follow, pops_at_once),
    UNSAVED(NULL, struct tw_follow, says_unplaced),
    /* Saved while there is an error, which decoders clear nearly always at once. */
    UNSAVED(NULL, struct tw_follow, error_detail),
    /* Memory for the queue, whose elements are saved. */
    UNSAVED("etmv4", struct tw_etmv4_decoder, items),
    UNSAVED("etmv4", struct tw_etmv4_decoder, room),
    UNSAVED("etmv4", struct tw_etmv4_decoder, allocator),
    UNSAVED("ete", struct tw_etmv4_decoder, items),
    UNSAVED("ete", struct tw_etmv4_decoder, room),
    UNSAVED("ete", struct tw_etmv4_decoder, allocator),
    ITEM("etmv4", exception),
    ITEM("etmv4", q),
    ITEM("etmv4", atom),
    ITEM("etmv4", source),
    ITEM("ete", exception),
    ITEM("ete", q),
    ITEM("ete", atom),
    ITEM("ete", source),
    /* Set from the input before each packet. */
    UNSAVED("itm", struct tw_itm_decoder, reader.offset),
    UNSAVED("stm", struct tw_stm_decoder, reader.offset),
    /* The decoder's own address. */
    UNSAVED("etrace", struct tw_etrace_decoder, codec.transport.context),
    /* Of the code that the decoder has. */
    UNSAVED("etrace", struct tw_etrace_decoder, generation),
    /* Taken at once. */
    UNSAVED("etrace", struct tw_etrace_decoder, walk_error),
    UNSAVED("etrace", struct tw_etrace_decoder, walk_error_detail),
    /* For loops, which are looked for in one batch. */
    UNSAVED("etrace", struct tw_etrace_decoder, learned),
    UNSAVED("etrace", struct tw_etrace_decoder, loop),
    /* A ring, as above. */
    UNSAVED("etrace", struct tw_etrace_decoder, returns),
    UNSAVED("etrace", struct tw_etrace_decoder, return_top),
    UNSAVED("etrace", struct tw_etrace_decoder, tie.first),
    UNSAVED("etrace", struct tw_etrace_decoder, tie.passed_first),
    UNSAVED("etrace", struct tw_etrace_decoder, tie.waiting),
    UNSAVED("etrace", struct tw_etrace_decoder, tie.pcs),
    UNSAVED("ntrace", struct tw_ntrace_decoder, returns),
    /* Of the code that the decoder has. */
    UNSAVED("ntrace", struct tw_ntrace_decoder, generation),
    /* Counted for those who list packets. */
    UNSAVED("ntrace", struct tw_ntrace_decoder, codec.offset),
    /* Taken at once, before a message's walk. */
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.base.index),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.base.offset),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.base.size),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.base.id),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.odd),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.fault),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.error),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.cdf),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.fault_at),
    UNSAVED("ntrace", struct tw_ntrace_decoder, packet.tstamp),
    UNSAVED("ntrace", struct tw_ntrace_decoder, error),
    UNSAVED("ntrace", struct tw_ntrace_decoder, error_detail),
};

/* What is known of each byte of a decoder or a follower. */
enum { CHANGES = 1, LOADED = 2, STREAMS = 15 };

struct account {
    const char *protocol; /* NULL: the follower */
    uint8_t *bytes;       /* CHANGES, LOADED */
    size_t size;
    size_t *changing; /* the bytes that change and are not listed as unsaved */
    size_t changing_count;
};

static bool is_unsaved(const struct account *account, size_t at)
{
    for (size_t i = 0; i < LENGTH(unsaved); i++) {
        const struct unsaved *one = &unsaved[i];

        if ((!one->protocol) == (!account->protocol) &&
            (!one->protocol || strcmp(one->protocol, account->protocol) == 0) &&
            at - one->offset < one->size)
            return true;
    }
    return false;
}

static struct account account_new(const char *protocol, size_t size)
{
    struct account account = { .protocol = protocol,
                               .bytes = calloc(1, size),
                               .size = size,
                               .changing = calloc(size, sizeof *account.changing) };

    assert_true(account.bytes && account.changing);
    return account;
}

/* Bytes that are different from those of a decoder that has done nothing. */
static void note_changes(struct account *account, const void *object, const void *fresh)
{
    const uint8_t *bytes = object, *before = fresh;

    for (size_t from = 0, size; from < account->size; from += size) {
        size = account->size - from < 1024 ? account->size - from : 1024;
        if (memcmp(bytes + from, before + from, size) == 0)
            continue;
        for (size_t i = from; i < from + size; i++)
            if (bytes[i] != before[i])
                account->bytes[i] |= CHANGES;
    }
}

static void list_changes(struct account *account)
{
    account->changing_count = 0;
    for (size_t i = 0; i < account->size; i++)
        if ((account->bytes[i] & CHANGES) && !is_unsaved(account, i))
            account->changing[account->changing_count++] = i;
}

/* Turns the bits of all that is expected back from a state. */
static void spoil(const struct account *account, void *object)
{
    uint8_t *bytes = object;

    for (size_t i = 0; i < account->changing_count; i++)
        bytes[account->changing[i]] = (uint8_t)~bytes[account->changing[i]];
}

/* Bytes that were different before the state was loaded into both, and are the same now. */
static void note_loaded(struct account *account, const void *one, const void *other)
{
    const uint8_t *a = one, *b = other;

    for (size_t i = 0; i < account->changing_count; i++)
        if (a[account->changing[i]] == b[account->changing[i]])
            account->bytes[account->changing[i]] |= LOADED;
}

static unsigned close_account(struct account *account)
{
    unsigned missing = 0;

    for (size_t i = 0; i < account->changing_count; i++)
        if (!(account->bytes[account->changing[i]] & LOADED)) {
            print_error("%s: byte %zu of %zu is not in the saved state\n",
                        account->protocol ? account->protocol : "follower",
                        account->changing[i], account->size);
            missing++;
        }
    free(account->bytes);
    free(account->changing);
    return missing;
}

/* A decoder at work, and what its state is loaded into: one that has done nothing, and one that
   holds nonsense. */
struct watch {
    struct made_decoder one, fresh, spoilt;
    void *pristine; /* a decoder after init */
    struct tw_follow follow;
    struct tw_state state;
};

static void make_as_new(const struct watch *watch, struct made_decoder *made)
{
    const struct tw_protocol *protocol = made->setup->protocol;

    if (protocol->decoder_free)
        protocol->decoder_free(made->decoder);
    memcpy(made->decoder, watch->pristine, protocol->decoder_size);
    made->follow = watch->follow;
}

static void look(struct watch *watch, struct account *decoder, struct account *follow,
                 bool is_first_pass)
{
    if (is_first_pass) {
        note_changes(decoder, watch->one.decoder, watch->pristine);
        note_changes(follow, &watch->one.follow, &watch->follow);
        return;
    }
    make_as_new(watch, &watch->fresh);
    make_as_new(watch, &watch->spoilt);
    spoil(decoder, watch->spoilt.decoder);
    spoil(follow, &watch->spoilt.follow);
    save(&watch->one, &watch->state);
    load_into(&watch->fresh, &watch->state);
    load_into(&watch->spoilt, &watch->state);
    note_loaded(decoder, watch->fresh.decoder, watch->spoilt.decoder);
    note_loaded(follow, &watch->fresh.follow, &watch->spoilt.follow);
}

/* Decodes made streams byte by byte and in small batches, and looks at the decoder all the time. */
static void watch_streams(const struct made_setup *setup, struct account *decoder,
                          struct account *follow, bool is_first_pass)
{
    const bool is_etrace = strcmp(setup->kind->protocol, "etrace") == 0;
    struct check_random random = { 0xacc007 }; /* the same in both passes */
    static struct made_stream_of stream;
    const size_t step = is_etrace ? 8 : 1; /* its decoder is large */

    for (size_t round = 0; round < STREAMS; round++) {
        struct watch watch = { .one = made_decoder_new(setup),
                               .fresh = made_decoder_new(setup),
                               .spoilt = made_decoder_new(setup),
                               .pristine = malloc(setup->protocol->decoder_size) };
        struct made_list ignored = { NULL, 0, 0 };
        bool is_done = false;

        assert_non_null(watch.pristine);
        memcpy(watch.pristine, watch.fresh.decoder, setup->protocol->decoder_size);
        watch.follow = watch.fresh.follow;
        made_stream(&stream, setup, &random, 100 + check_random_below(&random, 500),
                    round % 4 == 0);
        for (size_t until = 1; !is_done || until < stream.size;) {
            if (is_done)
                until = until + step < stream.size ? until + step : stream.size;
            is_done =
                made_decode_some(&watch.one, &ignored, &stream, until, is_etrace ? 30 : 170, 1);
            look(&watch, decoder, follow, is_first_pass);
        }
        tw_state_free(&watch.state);
        free(watch.pristine);
        free(ignored.elements);
        made_decoder_free(&watch.one);
        made_decoder_free(&watch.fresh);
        made_decoder_free(&watch.spoilt);
    }
}

/* Every byte of a decoder and its follower that decoding changes comes back with a saved state. */
static void what_changes_is_saved(void **state)
{
    unsigned missing = 0;

    (void)state;
    for (size_t first = 0, next; first < LENGTH(made_kinds); first = next) {
        const char *protocol = made_kinds[first].protocol;
        struct account decoder, follow = account_new(NULL, sizeof(struct tw_follow));

        decoder = account_new(protocol, tw_protocol_by_name(protocol)->decoder_size);
        for (unsigned pass = 0; pass < 2; pass++) {
            for (next = first;
                 next < LENGTH(made_kinds) && strcmp(made_kinds[next].protocol, protocol) == 0;
                 next++) {
                const struct made_options *option = &options[next % LENGTH(options)];
                struct made_setup setup = made_set_up(&made_kinds[next], option);

                made_set_up_code(&setup, option);
                watch_streams(&setup, &decoder, &follow, pass == 0);
                made_tear_down(&setup);
            }
            list_changes(&decoder);
            list_changes(&follow);
        }
        missing += close_account(&decoder);
        missing += close_account(&follow);
    }
    CHECK_EQ(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_state_goes_on_as_it_was_saved),
        cmocka_unit_test(what_changes_is_saved),
    };

    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
