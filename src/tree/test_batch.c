/* SPDX-License-Identifier: BSD-2-Clause */
/* Of every capture that there is: packets in batches say what single reads say. */
#include "check.h"

#include "all_runs.h"
#include "protocol.h"

enum { ROOM = 61, LINE = 8000 };

/* Two readers of one source's bytes. */
struct pair {
    const struct tw_protocol *protocol;
    void *config, *one, *many;
    uint8_t *packet, *batch;
    char *texts[2];
    uint64_t packets;
    uint8_t id;
};

static void *need(size_t size)
{
    void *block = calloc(1, size);

    assert_non_null(block);
    return block;
}

/* False: the source has no batches, or cannot be. */
static bool open_pair(struct pair *pair, const struct tw_source *source, bool is_framed)
{
    const struct tw_source_info info = { .registers = source->registers,
                                         .register_count = source->register_count,
                                         .type = source->type,
                                         .core_type = source->core_type,
                                         .text = source->text,
                                         .id = source->id,
                                         .is_framed = is_framed };
    const struct tw_protocol *protocol =
        source->protocol ? tw_protocol_by_name(source->protocol) : NULL;
    struct tw_fault fault;

    *pair = (struct pair){ .protocol = protocol };
    if (!protocol || !protocol->read_batch)
        return false;
    pair->config = need(protocol->config_size);
    if (protocol->configure(pair->config, &info, &fault) != TW_OK) {
        free(pair->config);
        return false;
    }
    pair->id = protocol->trace_id(pair->config);
    if (!pair->id)
        pair->id = source->id;
    pair->one = need(protocol->reader_size);
    pair->many = need(protocol->reader_size);
    protocol->reader_init(pair->one, pair->config);
    protocol->reader_init(pair->many, pair->config);
    pair->packet = need(protocol->packet_size);
    pair->batch = need(ROOM * protocol->packet_size);
    pair->texts[0] = need(LINE);
    pair->texts[1] = need(LINE);
    return true;
}

static void close_pair(struct pair *pair)
{
    free(pair->config);
    free(pair->one);
    free(pair->many);
    free(pair->packet);
    free(pair->batch);
    free(pair->texts[0]);
    free(pair->texts[1]);
}

static void print(char *line, const struct pair *pair, const void *packet)
{
    struct tw_text text = tw_text_in(line, LINE);

    tw_protocol_print(&text, pair->protocol, packet);
    tw_text_char(&text, ' ');
    tw_protocol_json(&text, pair->protocol, packet);
}

static void compare(const struct pair *pair, const void *packet)
{
    CHECK_BYTES(packet, sizeof(struct tw_packet), pair->packet, sizeof(struct tw_packet));
    print(pair->texts[0], pair, packet);
    print(pair->texts[1], pair, pair->packet);
    CHECK_TEXT(pair->texts[0], pair->texts[1]);
}

/* The packets that are whole; returns how many bytes they take. */
static size_t read_both(struct pair *pair, const uint8_t *data, size_t size)
{
    const struct tw_protocol *protocol = pair->protocol;
    const struct tw_packet *packet = (const void *)pair->packet;
    size_t at = 0, count;

    do {
        size_t used, sum = 0;

        count =
            protocol->read_batch(pair->many, pair->batch, ROOM, &used, data + at, size - at);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(protocol->read(pair->one, pair->packet, data + at + sum, size - at - sum,
                                    false),
                     TW_OK);
            compare(pair, pair->batch + i * protocol->packet_size);
            sum += packet->size - (packet->spare_bits != 0);
        }
        CHECK_EQ(used, sum);
        at += sum;
        pair->packets += count;
    } while (count == ROOM);
    return at;
}

/* The bytes of one source of a buffer, as its frames give them. */
static void read_source(struct pair *pair, const struct tw_capture *capture, size_t buffer)
{
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing =
                                             tw_capture_buffer(capture, buffer)->framing };
    struct tw_unframer *unframer;
    const uint8_t *bytes;
    uint64_t at = 0;
    size_t size;

    config.wanted[pair->id / 64] |= (uint64_t)1 << pair->id % 64;
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    while (tw_capture_read(capture, &bytes, &size, buffer, at) == TW_OK) {
        if (config.framing == TW_FRAMING_NONE) {
            (void)read_both(pair, bytes, size);
        } else {
            struct tw_stream stream;

            CHECK_EQ(tw_unframer_feed(unframer, bytes, size), TW_OK);
            stream = tw_unframer_stream(unframer, pair->id);
            tw_unframer_consume(unframer, pair->id, read_both(pair, stream.bytes, stream.size));
            tw_unframer_clear_events(unframer);
        }
        at += size;
    }
    tw_unframer_free(unframer);
}

static void batches_of_captures(void **unused)
{
    struct runs runs = runs_find();
    uint64_t packets = 0;

    (void)unused;
    for (size_t i = 0; i < runs.count; i++) {
        struct tw_capture *capture;

        CHECK_CASE(runs.runs[i].path);
        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        for (size_t buffer = 0; buffer < tw_capture_buffer_count(capture); buffer++)
            for (size_t k = 0; k < tw_capture_source_count(capture); k++) {
                const bool is_framed =
                    tw_capture_buffer(capture, buffer)->framing != TW_FRAMING_NONE;
                struct pair pair;

                if (!tw_capture_source_is_in(capture, k, 0, (uint32_t)buffer) ||
                    !open_pair(&pair, tw_capture_source(capture, k), is_framed))
                    continue;
                read_source(&pair, capture, buffer);
                packets += pair.packets;
                close_pair(&pair);
            }
        tw_capture_free(capture);
    }
    print_message("%llu packets\n", (unsigned long long)packets);
    CHECK(packets > 0);
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(batches_of_captures) };

    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
