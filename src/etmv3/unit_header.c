/* SPDX-License-Identifier: BSD-2-Clause */
/* The ETMv3 trace unit: P-headers for its atoms, with cycles or without. */
#include "etmv3/unit.h"

#include "base/fault.h"

enum { TIME_MOST = 8 /* cycles in one P-header */ };

/* A P-header is its byte: the table of the reader tells the rest. */
static enum tw_status put_header(struct tw_etmv3_unit *unit, unsigned head)
{
    if (!tw_armv7_unit_has_room(&unit->base, 1))
        return TW_E_MEMORY;
    unit->base.bytes[unit->base.size++] = (uint8_t)head;
    unit->writer.offset++;
    return TW_OK;
}

static bool is_taken(const struct tw_etmv3_unit *unit, unsigned at)
{
    return unit->atoms >> at & 1;
}

/* Cycle-accurate: the header for the next atoms, whose first has no more than its header can
   tell of cycles. */
static unsigned timed_header(const struct tw_etmv3_unit *unit, unsigned at, unsigned *head)
{
    const unsigned left = unit->atom_count - at;
    const unsigned cycles = unit->atom_cycles[at];
    unsigned count = 0;

    if (cycles == 0) { /* format 4 */
        *head = is_taken(unit, at) ? 0x92 : 0x96;
        return 1;
    }
    if (cycles > 1) { /* format 3 with E */
        *head = 0xe0 | (cycles - 1) << 2;
        return 1;
    }
    if (left >= 2 && unit->atom_cycles[at + 1] == 0) { /* format 2 */
        *head = 0x82 | (is_taken(unit, at) ? 0u : 8u) | (is_taken(unit, at + 1) ? 0u : 4u);
        return 2;
    }
    while (count < left && count < 7 && is_taken(unit, at + count) &&
           unit->atom_cycles[at + count] == 1)
        count++;
    *head = 0x80 | count << 2;
    if (count < left && !is_taken(unit, at + count) && unit->atom_cycles[at + count] == 1) {
        *head |= 0x40;
        count++;
    }
    return count;
}

enum tw_status tw_etmv3_unit_put_time(struct tw_etmv3_unit *unit, uint32_t cycles)
{
    while (cycles) {
        const uint32_t some = cycles < TIME_MOST ? cycles : TIME_MOST;

        TW_TRY(put_header(unit, 0xa0 | (some - 1) << 2));
        cycles -= some;
    }
    return TW_OK;
}

enum tw_status tw_etmv3_unit_put_atoms(struct tw_etmv3_unit *unit)
{
    const bool has_cycles = unit->writer.setup.cycle_accurate;

    for (unsigned at = 0; at < unit->atom_count;) {
        uint8_t plain;
        unsigned head = 0;

        if (has_cycles) {
            const uint32_t most = is_taken(unit, at) ? TIME_MOST : 1;

            if (unit->atom_cycles[at] > most) {
                TW_TRY(tw_etmv3_unit_put_time(unit, unit->atom_cycles[at] - most));
                unit->atom_cycles[at] = most;
            }
            at += timed_header(unit, at, &head);
        } else {
            at += tw_etmv3_plain_header(unit->atoms >> at, unit->atom_count - at, &plain);
            head = plain;
        }
        TW_TRY(put_header(unit, head));
    }
    unit->atoms = unit->atom_count = 0;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_add_taken(struct tw_etmv3_unit *unit, size_t count)
{
    const size_t room = TW_ETMV3_UNIT_ATOMS - unit->atom_count;
    const uint32_t all = (1u << TW_ETMV3_UNIT_ATOMS) - 1;
    const unsigned some = (unsigned)(count < room ? count : room);
    uint8_t head[2];

    unit->atoms |= ((1u << some) - 1) << unit->atom_count;
    unit->atom_count += some;
    unit->cycles = 0;
    count -= some;
    if (!count)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    /* All that fill the queue have the same headers, and they wait until one more comes. */
    (void)tw_etmv3_plain_header(
        all >> tw_etmv3_plain_header(all, TW_ETMV3_UNIT_ATOMS, &head[0]), 1, &head[1]);
    for (; count > TW_ETMV3_UNIT_ATOMS; count -= TW_ETMV3_UNIT_ATOMS) {
        if (!tw_armv7_unit_has_room(&unit->base, 2))
            return TW_E_MEMORY;
        unit->base.bytes[unit->base.size++] = head[0];
        unit->base.bytes[unit->base.size++] = head[1];
        unit->writer.offset += 2;
    }
    unit->atoms = (1u << count) - 1;
    unit->atom_count = (unsigned)count;
    return TW_OK;
}
