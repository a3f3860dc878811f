/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE, step 2: elements wait here until they are known to be architectural.  Without
   speculation only what belongs to the next P0 element waits, and atoms do not come here. */
#include <string.h>

#include "base/memory.h"
#include "etmv4/decode.h"

enum {
    ITEMS_MANY = 1 << 10, /* then what no cancel can reach does not wait any longer */
    ITEMS_MAX = 1 << 13   /* more than any trace unit can leave open; then it is no trace */
};

static bool is_p0(const struct tw_etmv4_item *item)
{
    return item->kind < TW_ITEM_NOT_P0;
}

static struct tw_etmv4_item *item_at(struct tw_etmv4_decoder *decoder, size_t number)
{
    return &decoder->items[decoder->first + number];
}

bool tw_etmv4_enqueue(struct tw_etmv4_decoder *decoder, const struct tw_etmv4_item *item)
{
    if (decoder->first > decoder->count && decoder->first + decoder->count == decoder->room) {
        memmove(decoder->items, decoder->items + decoder->first,
                decoder->count * sizeof *decoder->items);
        decoder->first = 0;
    }
    if (decoder->count >= ITEMS_MAX && item->kind < TW_ITEM_NO_SYNC)
        return false;
    if (!TW_GROW(decoder->allocator, &decoder->items, &decoder->room,
                 decoder->first + decoder->count + 1)) {
        decoder->is_out_of_memory = true;
        return false;
    }
    *item_at(decoder, decoder->count++) = *item;
    return true;
}

void tw_etmv4_drop_queue(struct tw_etmv4_decoder *decoder)
{
    decoder->first = decoder->count = 0;
    decoder->depth = decoder->unseen = decoder->commit_left = 0;
    decoder->drains = false;
    decoder->source_is_open = false;
}

bool tw_etmv4_commit(struct tw_etmv4_decoder *decoder, uint32_t count)
{
    const uint32_t unseen = count < decoder->unseen ? count : decoder->unseen;

    if (count > decoder->depth)
        return false;
    decoder->depth -= count;
    decoder->unseen -= unseen;
    decoder->commit_left += count - unseen;
    return true;
}

void tw_etmv4_count_p0(struct tw_etmv4_decoder *decoder, uint32_t count)
{
    decoder->depth += count;
    if (decoder->depth > decoder->reader.setup.max_spec &&
        !tw_etmv4_commit(decoder, decoder->depth - decoder->reader.setup.max_spec))
        decoder->depth = 0;
}

/* Keeps the items of the first `count` that `wants` wants, in order; those behind stay. */
static void keep(struct tw_etmv4_decoder *decoder, size_t from,
                 bool (*wants)(const struct tw_etmv4_item *item))
{
    size_t to = from;

    for (size_t i = from; i < decoder->count; i++)
        if (wants(item_at(decoder, i)))
            *item_at(decoder, to++) = *item_at(decoder, i);
    decoder->count = to;
}

static bool is_kept(const struct tw_etmv4_item *item)
{
    return item->kind >= TW_ITEM_KEPT;
}

static bool is_kept_by_cancel(const struct tw_etmv4_item *item)
{
    return item->kind >= TW_ITEM_KEPT || item->kind == TW_ITEM_TRACE_INFO ||
           (item->kind == TW_ITEM_TRANSACTION && item->number == TW_TRANS_INIT);
}

/* An element is cancelled: whether the unit was in a transaction before it. */
static void undo_transaction(struct tw_etmv4_decoder *decoder, const struct tw_etmv4_item *item)
{
    if (item->kind == TW_ITEM_TRANS_START_P0 ||
        (item->kind == TW_ITEM_TRANSACTION && item->number == TW_TRANS_START))
        decoder->in_transaction = false;
    else if (item->kind == TW_ITEM_TRANSACTION)
        decoder->in_transaction = true;
}

bool tw_etmv4_cancel(struct tw_etmv4_decoder *decoder, uint32_t count)
{
    size_t from = decoder->count;
    uint32_t left = count;

    if (count > decoder->depth)
        return false;
    decoder->depth -= count;
    while (left && from > 0) {
        undo_transaction(decoder, item_at(decoder, --from));
        if (is_p0(item_at(decoder, from)))
            left--;
    }
    decoder->unseen -= left < decoder->unseen ? left : decoder->unseen;
    keep(decoder, from, is_kept_by_cancel);
    return true;
}

static bool is_no_target(const struct tw_etmv4_item *item)
{
    return item->kind != TW_ITEM_TARGET;
}

void tw_etmv4_mispredict(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    for (size_t i = decoder->count; i-- > 0;) {
        struct tw_etmv4_item *item = item_at(decoder, i);

        if (item->kind == TW_ITEM_ATOM) {
            item->is_taken = !item->is_taken;
            keep(decoder, i, is_no_target);
            return;
        }
    }
    if (decoder->unseen || !decoder->has_atom)
        return; /* it was before the trace began, or before Trace On */
    keep(decoder, 0, is_no_target);
    if (decoder->atom_is_pending)
        decoder->atom.is_taken = !decoder->atom.is_taken;
    else
        tw_follow_flip(stage->follow);
}

bool tw_etmv4_discard(struct tw_etmv4_decoder *decoder)
{
    bool is_open = decoder->has_returns;
    bool is_sure = true; /* no P0 element stands before it: as sure as what was handed on */
    size_t to = 0;

    for (size_t i = 0; i < decoder->count; i++) {
        const struct tw_etmv4_item item = *item_at(decoder, i);

        is_sure &= !is_p0(&item);
        if (is_sure && item.kind == TW_ITEM_TRANSACTION)
            is_open = item.number == TW_TRANS_START || item.number == TW_TRANS_INIT;
        else if (!is_kept(&item))
            continue;
        *item_at(decoder, to++) = item;
    }
    decoder->count = to;
    decoder->depth = decoder->unseen = decoder->commit_left = 0;
    decoder->drains = true;
    return is_open;
}

/* So much waits in front of the oldest P0 element that it is better handed on: an idle core that
   traces events and timestamps may go on for long without any. */
static bool is_crowded(struct tw_etmv4_decoder *decoder)
{
    return decoder->count > ITEMS_MANY && !is_p0(item_at(decoder, 0));
}

bool tw_etmv4_release(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    /* After an error the decoder gives up the rest. */
    while (!stage->follow->error && (decoder->source_is_open || decoder->commit_left ||
                                     decoder->drains || is_crowded(decoder))) {
        struct tw_etmv4_item item;
        const bool is_q =
            decoder->q_is_open || (decoder->count && item_at(decoder, 0)->kind == TW_ITEM_Q);

        if (stage->limit - stage->out < (is_q ? TW_ETMV4_Q_MOST : TW_ETMV4_ITEM_MOST) ||
            (stage->follow->is_stopped && stage->follow->stops_at_context))
            return false;
        if (decoder->source_is_open) {
            tw_etmv4_go_on(stage);
            continue;
        }
        if (!decoder->count) {
            decoder->commit_left = 0;
            decoder->drains = false;
            break;
        }
        item = *item_at(decoder, 0);
        decoder->first++;
        if (--decoder->count == 0)
            decoder->first = 0;
        if (is_p0(&item) && decoder->commit_left)
            decoder->commit_left--;
        tw_etmv4_analyse(stage, &item);
    }
    return true;
}
