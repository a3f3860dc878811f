/* SPDX-License-Identifier: BSD-2-Clause */
/* Transactional memory: what a failed transaction executed did not happen. */
#include <string.h>

#include "run/run.h"

/* A transaction that goes on for longer is taken as done, so that memory has a bound. */
enum { MOST = 1 << 20, LEAST = 256 };

/* What is undone with a transaction: what was executed.  Events, times and cycle counts happened
   [K10.5.4.4]. */
static bool is_undone(const struct tw_element *element)
{
    return element->type == TW_ELEMENT_INSTR_RANGE ||
           element->type == TW_ELEMENT_I_RANGE_NOPATH ||
           element->type == TW_ELEMENT_EXCEPTION || element->type == TW_ELEMENT_EXCEPTION_RET;
}

/* The first MEMTRANS at or after `from`, or, if `is_open`, loss of synchronization; the count: there
   is none. */
static size_t find_mark(const struct tw_batch *batch, size_t from, bool is_open)
{
    const uint32_t marks = 1u << TW_ELEMENT_MEMTRANS | (is_open ? 1u << TW_ELEMENT_NO_SYNC : 0);

    while (from + TW_TYPES_AT_ONCE <= batch->count &&
           (tw_are_ranges(batch->elements + from) ||
            !(tw_types_of(batch->elements + from) & marks)))
        from += TW_TYPES_AT_ONCE;
    while (from < batch->count && batch->elements[from].type != TW_ELEMENT_MEMTRANS &&
           !(is_open && batch->elements[from].type == TW_ELEMENT_NO_SYNC))
        from++;
    return from;
}

bool tw_rollback_is_idle(const struct tw_rollback *rollback, const struct tw_batch *batch)
{
    return !rollback->is_open && find_mark(batch, 0, false) == batch->count;
}

void tw_rollback_take(struct tw_rollback *rollback, const struct tw_batch *batch)
{
    rollback->batch = *batch;
    rollback->at = 0;
}

static bool give(struct tw_rollback *rollback, struct tw_batch *batch,
                 struct tw_element *elements, size_t count)
{
    *batch = rollback->batch;
    batch->elements = elements;
    batch->count = batch->room = count;
    return count != 0;
}

/* What is held counts, or only what came from outside the transaction. */
static bool release(struct tw_rollback *rollback, struct tw_batch *batch, bool is_done)
{
    size_t kept = 0;

    for (size_t i = 0; !is_done && i < rollback->count; i++)
        if (!is_undone(&rollback->items[i]))
            rollback->items[kept++] = rollback->items[i];
    if (!is_done)
        rollback->count = kept;
    rollback->is_open = false;
    rollback->is_released = true;
    return give(rollback, batch, rollback->items, rollback->count);
}

/* Keeps elements of an open transaction; false: there are too many, or no memory. */
static bool hold(struct tw_rollback *rollback, const struct tw_element *elements, size_t count,
                 const struct tw_allocator *allocator)
{
    const size_t wanted = rollback->count + count;

    if (!count)
        return true;
    if (wanted > MOST ||
        !TW_GROW(allocator, &rollback->items, &rollback->room, wanted < LEAST ? LEAST : wanted))
        return false;
    memcpy(rollback->items + rollback->count, elements, count * sizeof *elements);
    rollback->count = wanted;
    return true;
}

bool tw_rollback_next(struct tw_rollback *rollback, struct tw_batch *batch,
                      const struct tw_allocator *allocator)
{
    const struct tw_batch *from = &rollback->batch;

    if (rollback->is_released) {
        rollback->is_released = false;
        rollback->count = 0;
    }
    while (rollback->at < from->count) {
        const size_t first = rollback->at, mark = find_mark(from, first, rollback->is_open);
        /* What became of it is not known after a loss: taken as done. */
        const bool is_loss =
            mark < from->count && from->elements[mark].type == TW_ELEMENT_NO_SYNC;
        const unsigned kind =
            mark < from->count && !is_loss ? from->elements[mark].kind : TW_TRANS_COMMIT;

        if (!rollback->is_open && mark > first) {
            rollback->at = mark;
            return give(rollback, batch, from->elements + first, mark - first);
        }
        if (rollback->is_open &&
            !hold(rollback, from->elements + first, mark + is_loss - first, allocator)) {
            /* What is there goes out now, and these after it. */
            if (release(rollback, batch, true))
                return true;
            rollback->is_released = false;
            continue;
        }
        rollback->at = mark;
        if (mark == from->count)
            return false;
        rollback->at = mark + 1;
        if (rollback->is_open && release(rollback, batch, kind != TW_TRANS_FAIL)) {
            rollback->is_open = kind != TW_TRANS_FAIL && kind != TW_TRANS_COMMIT;
            return true;
        }
        rollback->count = 0;
        rollback->is_released = false;
        rollback->is_open = kind != TW_TRANS_FAIL && kind != TW_TRANS_COMMIT;
    }
    return false;
}

bool tw_rollback_end(struct tw_rollback *rollback, struct tw_batch *batch)
{
    if (rollback->is_released) {
        rollback->is_released = false;
        rollback->count = 0;
    }
    return rollback->is_open && release(rollback, batch, true);
}
