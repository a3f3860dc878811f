/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds the elements of a transaction until it is known whether it failed. */
#include "shared/rollback.h"

#include <stdlib.h>

/* A transaction that goes on for longer is taken as done, so that memory has a bound. */
enum { HELD_MOST = 1 << 20 };

void rollback_free(struct rollback *rollback)
{
    for (size_t id = 0; id < 128; id++)
        free(rollback->lanes[id].items);
}

/* What the transaction did counts, or only what came from outside it. */
static void release(struct rollback *rollback, uint8_t id, bool is_done)
{
    const size_t count = rollback->lanes[id].count;

    for (size_t i = 0; i < count; i++) {
        const struct tw_element *element = &rollback->lanes[id].items[i];

        if (is_done || (element->type != TW_ELEMENT_INSTR_RANGE &&
                        element->type != TW_ELEMENT_I_RANGE_NOPATH))
            rollback->take(rollback->context, element, id);
    }
    rollback->lanes[id].count = 0;
    rollback->lanes[id].is_open = false;
}

static void hold(struct rollback *rollback, const struct tw_element *element, uint8_t id)
{
    if (rollback->lanes[id].count == rollback->lanes[id].room) {
        const size_t room = rollback->lanes[id].room ? 2 * rollback->lanes[id].room : 256;
        struct tw_element *bigger =
            room <= HELD_MOST ? realloc(rollback->lanes[id].items, room * sizeof *bigger)
                              : NULL;

        if (!bigger) {
            release(rollback, id, true);
            rollback->take(rollback->context, element, id);
            return;
        }
        rollback->lanes[id].items = bigger;
        rollback->lanes[id].room = room;
    }
    rollback->lanes[id].items[rollback->lanes[id].count++] = *element;
}

void rollback_element(struct rollback *rollback, const struct tw_element *element, uint8_t id)
{
    id &= 0x7f;
    if (element->type == TW_ELEMENT_MEMTRANS) {
        release(rollback, id, element->kind != TW_TRANS_FAIL);
        rollback->lanes[id].is_open =
            element->kind != TW_TRANS_FAIL && element->kind != TW_TRANS_COMMIT;
    } else if (rollback->lanes[id].is_open) {
        hold(rollback, element, id);
    } else {
        rollback->take(rollback->context, element, id);
    }
}

void rollback_end(struct rollback *rollback)
{
    for (uint8_t id = 0; id < 128; id++)
        release(rollback, id, true);
}
