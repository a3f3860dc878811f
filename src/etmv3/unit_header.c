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

/* Non-cycle-accurate: as many E as there are and one N, or two of any kind.  Returns how many. */
static unsigned plain_header(const struct tw_etmv3_unit *unit, unsigned at, unsigned *head)
{
    const unsigned left = unit->atom_count - at;
    unsigned taken = 0;

    while (taken < left && taken < 15 && unit->atoms[at + taken].is_taken)
        taken++;
    if (taken == 0 && left >= 2) {
        *head = 0x82 | 8 | (unit->atoms[at + 1].is_taken ? 0u : 4u);
        return 2;
    }
    *head = 0x80 | taken << 2;
    if (taken < left && !unit->atoms[at + taken].is_taken) {
        *head |= 0x40;
        taken++;
    }
    return taken;
}

/* Cycle-accurate: the header for the next atoms, whose first has no more than its header can
   tell of cycles. */
static unsigned timed_header(const struct tw_etmv3_unit *unit, unsigned at, unsigned *head)
{
    const unsigned left = unit->atom_count - at;
    const unsigned cycles = unit->atoms[at].cycles;
    const bool is_taken = unit->atoms[at].is_taken;
    unsigned count = 0;

    if (cycles == 0) { /* format 4 */
        *head = is_taken ? 0x92 : 0x96;
        return 1;
    }
    if (cycles > 1) { /* format 3 with E */
        *head = 0xe0 | (cycles - 1) << 2;
        return 1;
    }
    if (left >= 2 && unit->atoms[at + 1].cycles == 0) { /* format 2 */
        *head = 0x82 | (is_taken ? 0u : 8u) | (unit->atoms[at + 1].is_taken ? 0u : 4u);
        return 2;
    }
    while (count < left && count < 7 && unit->atoms[at + count].is_taken &&
           unit->atoms[at + count].cycles == 1)
        count++;
    *head = 0x80 | count << 2;
    if (count < left && !unit->atoms[at + count].is_taken &&
        unit->atoms[at + count].cycles == 1) {
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
        unsigned head = 0;

        if (has_cycles) {
            const uint32_t most = unit->atoms[at].is_taken ? TIME_MOST : 1;

            if (unit->atoms[at].cycles > most) {
                TW_TRY(tw_etmv3_unit_put_time(unit, unit->atoms[at].cycles - most));
                unit->atoms[at].cycles = most;
            }
            at += timed_header(unit, at, &head);
        } else {
            at += plain_header(unit, at, &head);
        }
        TW_TRY(put_header(unit, head));
    }
    unit->atom_count = 0;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_add_taken(struct tw_etmv3_unit *unit, size_t count)
{
    unsigned head[2], at = unit->atom_count;

    while (count && at < TW_ETMV3_UNIT_ATOMS) {
        unit->atoms[at].cycles = 1;
        unit->atoms[at++].is_taken = true;
        count--;
    }
    unit->atom_count = at;
    unit->cycles = 0;
    if (!count)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    for (unsigned i = 0; i < TW_ETMV3_UNIT_ATOMS; i++) {
        unit->atoms[i].cycles = 1;
        unit->atoms[i].is_taken = true;
    }
    /* All that fill the queue have the same headers, and they wait until one more comes. */
    unit->atom_count = TW_ETMV3_UNIT_ATOMS;
    at = plain_header(unit, 0, &head[0]);
    (void)plain_header(unit, at, &head[1]);
    for (; count > TW_ETMV3_UNIT_ATOMS; count -= TW_ETMV3_UNIT_ATOMS) {
        if (!tw_armv7_unit_has_room(&unit->base, 2))
            return TW_E_MEMORY;
        unit->base.bytes[unit->base.size++] = (uint8_t)head[0];
        unit->base.bytes[unit->base.size++] = (uint8_t)head[1];
        unit->writer.offset += 2;
    }
    unit->atom_count = (unsigned)count;
    return TW_OK;
}
