/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares of time: by cycles where they are counted, else by instructions. */
#include "analysis/time_shares.h"

#include <string.h>

#include "base/memory.h"

void tw_touched_release(struct tw_touched_list *list, const struct tw_allocator *allocator)
{
    tw_give(allocator, list->items);
    tw_map_free(&list->by_key);
    *list = (struct tw_touched_list){ .items = NULL };
}

void tw_touched_clear(struct tw_touched_list *list)
{
    if (list->count)
        tw_map_clear(&list->by_key);
    list->count = list->recent = 0;
    list->has_gap = false;
}

bool tw_touched_add(struct tw_touched_list *list, const struct tw_touched *more,
                    const struct tw_allocator *allocator)
{
    size_t at = list->recent;
    uint64_t *place;

    if (at >= list->count || list->items[at].key != more->key) {
        list->by_key.allocator = allocator;
        place = tw_map_put(&list->by_key, more->key);
        if (!place ||
            (!*place && !TW_GROW(allocator, &list->items, &list->room, list->count + 1)))
            return false;
        if (!*place) {
            list->items[list->count] = (struct tw_touched){ .key = more->key };
            *place = ++list->count;
        }
        at = list->recent = (size_t)*place - 1;
    }
    list->items[at].instructions += more->instructions;
    list->items[at].cycles += more->cycles;
    return true;
}

static struct tw_spent *spent_of(struct tw_shares *shares, uint32_t key,
                                 const struct tw_allocator *allocator)
{
    if (key >= shares->count) {
        if (!TW_GROW(allocator, &shares->items, &shares->room, (size_t)key + 1))
            return NULL;
        memset(shares->items + shares->count, 0,
               (key + 1 - shares->count) * sizeof *shares->items);
        shares->count = (size_t)key + 1;
    }
    return &shares->items[key];
}

/* amount * part / whole, rounded down; whole is not 0, part at most whole. */
static uint64_t share(uint64_t amount, uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX) { /* what is lost of the weights is below one in 2^31 */
        part >>= 1;
        whole >>= 1;
    }
    return amount / whole * part + (amount % whole) * part / whole;
}

bool tw_shares_give(struct tw_shares *shares, struct tw_touched_list *list, uint64_t amount,
                    struct tw_touched_list *on, const struct tw_allocator *allocator)
{
    uint64_t instructions = 0, cycles = 0, whole, sum = 0, before = 0;
    bool is_good = true;

    shares->is_there = true;
    shares->all += amount;
    for (size_t i = 0; i < list->count; i++) {
        instructions += list->items[i].instructions;
        cycles += list->items[i].cycles;
    }
    whole = cycles ? cycles : instructions;
    if (list->has_gap || !whole)
        shares->lost += amount;
    for (size_t i = 0; i < list->count && is_good; i++) {
        const struct tw_touched *touched = &list->items[i];
        struct tw_spent *spent = spent_of(shares, touched->key, allocator);
        uint64_t upto;

        is_good = spent != NULL;
        if (!is_good)
            break;
        spent->most += amount;
        if (list->has_gap || !whole)
            continue;
        /* Each gets what is up to it less what is before it: nothing is lost by rounding. */
        sum += cycles ? touched->cycles : touched->instructions;
        upto = share(amount, sum, whole);
        spent->estimate += upto - before;
        spent->least += list->count == 1 ? amount : 0;
        if (on)
            is_good = tw_touched_add(on, &(struct tw_touched){ touched->key, 0, upto - before },
                                     allocator);
        before = upto;
    }
    tw_touched_clear(list);
    return is_good;
}
