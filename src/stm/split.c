/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: what parallel decode asks for.  A stream is cut at an ASYNC; the VERSION behind it takes
   master and channel back to zero, and the first timestamp behind that is whole. */
#include "base/state.h"
#include "stm/packet.h"

enum {
    ASYNC_BYTES = 10, /* whole bytes FF in an ASYNC; no packet holds so many */
    LOOK_MAX = 1024,  /* bytes behind an ASYNC in which VERSION and data must come */
    WHOLE_BITS = 48   /* of a timestamp, at least, that tells all of it */
};

void tw_stm_state(void *decoder, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_stm_decoder *d = decoder;

    (void)follow;
    TW_STATE(state, d->reader.timestamp);
    TW_STATE(state, d->reader.master);
    TW_STATE(state, d->reader.channel);
    TW_STATE(state, d->reader.version);
    TW_STATE(state, d->reader.has_id);
    TW_STATE(state, d->reader.is_high);
    TW_STATE(state, d->reader.is_synced);
    tw_swtrace_state(&d->kept, state);
}

/* VERSION keeps the time, and that a master was named once. */
void tw_stm_resume(void *decoder, struct tw_follow *follow)
{
    struct tw_stm_decoder *d = decoder;
    const uint64_t timestamp = d->reader.timestamp;
    const uint8_t has_id = d->reader.has_id;

    (void)follow;
    tw_stm_decoder_reset(d);
    d->reader.timestamp = timestamp;
    d->reader.has_id = has_id;
    d->kept.has_begun = true;
}

/* Where a decoder that begins at `start` knows all; 0: not within reach.  Where there are no timestamps, or none
   that is whole, it knows what it can behind the first data. */
static size_t find_until(struct tw_stm_reader *reader, const uint8_t *data, size_t size,
                         size_t start)
{
    bool has_version = false, wants_time = reader->timestamp != 0;
    size_t at = start, until = 0;

    tw_stm_reader_lost(reader);
    while (at - start < LOOK_MAX) {
        struct tw_stm_packet packet;
        const struct tw_stm_rule *rule;

        if (tw_stm_read(reader, &packet, data + at, size - at, false) != TW_OK || packet.error)
            break;
        at += packet.base.size - (packet.base.spare_bits != 0);
        if (packet.base.type == TW_STM_NOT_SYNC)
            continue;
        rule = tw_stm_rule_of(packet.base.type);
        has_version |= reader->version != 0;
        wants_time |= packet.base.type == TW_STM_FREQ; /* comes with timestamps alone */
        if (!has_version || rule->use < TW_STM_USE_DATA)
            continue;
        if (!until || packet.timestamp_bits >= WHOLE_BITS)
            until = at + 1; /* the packet may end within this byte */
        if (!wants_time || packet.timestamp_bits >= WHOLE_BITS)
            break;
    }
    return until;
}

/* The next run of so many bytes FF as an ASYNC has; `size`: there is none. */
static size_t find_async(const uint8_t *data, size_t size, size_t at)
{
    while (size >= ASYNC_BYTES && at <= size - ASYNC_BYTES) {
        size_t left = ASYNC_BYTES;

        while (left && data[at + left - 1] == 0xff)
            left--;
        if (!left)
            return at;
        at += left; /* behind the byte that is not */
    }
    return size;
}

bool tw_stm_split(struct tw_split *split, const void *decoder, const uint8_t *data, size_t size)
{
    const struct tw_stm_decoder *d = decoder;
    struct tw_stm_reader reader = d->reader;
    size_t at = split->at > split->least ? split->at : split->least;

    while ((at = find_async(data, size, at)) < size) {
        /* The byte before may hold its first nibble. */
        const size_t start = at > split->least ? at - 1 : at;
        const size_t until = find_until(&reader, data, size, start);

        if (until && until <= size) {
            split->start = start;
            split->at = split->until = until;
            return true;
        }
        at += ASYNC_BYTES;
    }
    split->at = size;
    return false;
}
