/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: what parallel decode asks for.  A stream is cut at a synchronization packet, which says
   nothing but where packets begin: page and global time are taken to be as they were, and the sum
   of local timestamps, which goes on through the whole trace, is put right afterwards. */
#include "itm/packet.h"

enum {
    LOOK_MAX = 1024, /* bytes behind a synchronization packet that are looked at ... */
    PACKETS = 4      /* ... for so many packets */
};

void tw_itm_state(void *decoder, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_itm_decoder *d = decoder;

    (void)follow;
    TW_STATE(state, d->reader.is_synced);
    TW_STATE(state, d->reader.is_start);
    TW_STATE(state, d->reader.is_in_zeros);
    tw_state_total(state, &d->local);
    TW_STATE(state, d->global);
    TW_STATE(state, d->page);
    TW_STATE(state, d->overflow);
    TW_STATE(state, d->has_low);
    TW_STATE(state, d->has_high);
    TW_STATE(state, d->is_assumed);
    TW_STATE(state, d->is_doubtful);
    tw_swtrace_state(&d->kept, state);
}

void tw_itm_resume(void *decoder, struct tw_follow *follow)
{
    struct tw_itm_decoder *d = decoder;
    const struct tw_itm_decoder was = *d;

    (void)follow;
    tw_itm_decoder_reset(d);
    d->reader.is_synced = d->reader.is_start = false;
    d->local = TW_STATE_GUESS;
    d->global = was.global;
    d->page = was.page;
    d->has_low = was.has_low;
    d->has_high = was.has_high;
    d->kept.has_begun = true;
}

void tw_itm_rebase(const void *decoder, struct tw_element *elements, size_t count, uint64_t by)
{
    const struct tw_itm_decoder *d = decoder;
    const uint64_t least = TW_STATE_GUESS_LEAST << d->scale, more = by << d->scale;

    for (size_t i = 0; i < count; i++) {
        struct tw_element *element = &elements[i];

        /* The time first: most elements have none. */
        if (element->itm_time >= least && element->type == TW_ELEMENT_ITMTRACE &&
            element->kind >= TW_ITM_TS_SYNC && element->kind <= TW_ITM_TS_PKT_TS_DELAY)
            element->itm_time += more;
    }
}

/* Where a decoder that begins at `start` has seen some packets; 0: not within reach. */
static size_t find_until(struct tw_itm_reader *reader, const uint8_t *data, size_t size,
                         size_t start)
{
    size_t at = start;
    unsigned packets = 0;

    reader->is_synced = reader->is_start = reader->is_in_zeros = false;
    while (at - start < LOOK_MAX && at < size) {
        struct tw_itm_packet packet;

        if (tw_itm_read(reader, &packet, data + at, size - at, false) != TW_OK)
            return 0;
        at += packet.base.size;
        if (packet.base.type == TW_ITM_PACKET_NOT_SYNC)
            continue;
        if (packet.base.type != TW_ITM_PACKET_ASYNC && ++packets == PACKETS)
            return at;
    }
    return 0;
}

bool tw_itm_split(struct tw_split *split, const void *decoder, const uint8_t *data, size_t size)
{
    const struct tw_itm_decoder *d = decoder;
    struct tw_itm_reader reader = d->reader;
    size_t at = split->at > split->least ? split->at : split->least;

    while ((at = tw_find_zeros_80(data, size, at, TW_ITM_SYNC_ZEROS)) < size) {
        const size_t until = find_until(&reader, data, size, at);

        if (until) {
            split->start = at;
            split->at = split->until = until;
            return true;
        }
        at += TW_ITM_SYNC_ZEROS + 1;
    }
    split->at = size;
    return false;
}
