/* SPDX-License-Identifier: BSD-2-Clause */
/* What software does with the buffer: read it oldest byte first, plan the next session, be told in
   time. */
#include <string.h>

#include "base/fault.h"
#include "trbe/unit.h"

enum { IGNORE_PACKET = 0x70, LEAST_USE = 64 };

static bool has_wrapped(const struct tw_trbe *unit)
{
    uint64_t status = unit->seen[TW_TRBE_SR_EL1];

    if (tw_trbe_has(unit, TW_TRBE_EXC))
        status |= unit->seen[TW_TRBE_SR_EL2] | unit->seen[TW_TRBE_SR_EL3];
    return (status & TW_TRBE_SR_WRAP) != 0;
}

size_t tw_trbe_spans(const struct tw_trbe *unit, struct tw_trbe_span spans[2], uint64_t start)
{
    const uint64_t base = unit->seen[TW_TRBE_BASER] & ~(uint64_t)0xfff;
    const uint64_t limit = unit->seen[TW_TRBE_LIMITR] & ~(uint64_t)0xfff;
    const uint64_t pointer = unit->seen[TW_TRBE_PTR];
    const bool is_fill = tw_trbe_bits(unit->seen[TW_TRBE_LIMITR], 1, 2) == TW_TRBE_FILL;
    uint64_t first = pointer, end = limit;
    size_t count = 0;

    if (pointer < base || pointer >= limit || start < base || start >= limit)
        return 0;
    if (!has_wrapped(unit)) {
        first = start;
        end = pointer;
    } else if (is_fill || (pointer < start && unit->session_wraps <= 1)) {
        /* From where the session began: below it nothing was written yet. */
        first = start;
    }
    if (end > first)
        spans[count++] = (struct tw_trbe_span){ first, end - first };
    if (has_wrapped(unit) && !is_fill && pointer > base)
        spans[count++] = (struct tw_trbe_span){ base, pointer - base };
    return count;
}

enum tw_status tw_trbe_drain(const struct tw_trbe *unit, uint8_t *out, size_t *size,
                             const struct tw_trbe_memory *memory, uint64_t start, size_t align)
{
    struct tw_trbe_span spans[2];
    const size_t count = tw_trbe_spans(unit, spans, start);
    const size_t room = *size;
    uint64_t needed = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        needed += spans[i].size;
    if (align > 1 && needed % align)
        needed += align - needed % align;
    *size = needed > SIZE_MAX ? SIZE_MAX : (size_t)needed;
    if (needed > room)
        return TW_E_ROOM;
    for (size_t i = 0; i < count; i++) {
        if (!memory->read(memory->context, out + at, spans[i].address, (size_t)spans[i].size))
            return TW_E_FILE;
        at += (size_t)spans[i].size;
    }
    if (at < *size)
        memset(out + at, IGNORE_PACKET, *size - at);
    return TW_OK;
}

static uint64_t round_down(uint64_t value, uint64_t unit)
{
    return value - value % unit;
}

/* Where a session may write up to, as an offset in the ring; not above `head`: nowhere. */
static uint64_t choose_limit(const struct tw_trbe_ring *ring, uint64_t head)
{
    const uint64_t from = head % ring->size, to = ring->tail % ring->size;
    const uint64_t used = head - ring->tail;
    uint64_t limit = ring->size;

    if (used >= ring->size)
        return from; /* full */
    if (from < to)
        limit = round_down(to, ring->page);
    if (ring->wakeup > head && ring->wakeup - head < ring->size) {
        const uint64_t place = from + (ring->wakeup - head);
        const uint64_t up = round_down(place + ring->page - 1, ring->page);

        if (up < limit)
            limit = up;
    }
    return limit;
}

void tw_trbe_ring_plan(const struct tw_trbe_ring *ring, struct tw_trbe_plan *plan,
                       unsigned align)
{
    const uint64_t unit = (uint64_t)1 << (align > 11 ? 11 : align);
    uint64_t head = ring->head, limit, from;

    *plan = (struct tw_trbe_plan){ 0 };
    if (ring->size == 0 || ring->page == 0 || ring->size % ring->page ||
        ring->head < ring->tail)
        return;
    if (head % unit)
        head += unit - head % unit;
    limit = choose_limit(ring, head);
    from = head % ring->size;
    /* Too little before the limit, or nothing at all: skip it, once. */
    if (limit > from && limit - from < LEAST_USE) {
        head += limit - from;
        limit = choose_limit(ring, head);
        from = head % ring->size;
    }
    if (limit <= from) {
        /* No room: what is left of the ring is padding, and the reader must catch up. */
        const uint64_t left = ring->size - (ring->head - ring->tail);

        plan->padding = ring->head - ring->tail >= ring->size ? 0 : left;
        plan->start = plan->limit = ring->base + ring->head % ring->size;
        return;
    }
    plan->padding = head - ring->head;
    plan->start = ring->base + from;
    plan->limit = ring->base + limit;
}

enum tw_status tw_trbe_set_watermark(struct tw_trbe *unit, enum tw_trbe_watermark method,
                                     uint64_t base, uint64_t limit, uint64_t level)
{
    const uint64_t unaligned = ((uint64_t)1 << unit->config.align) - 1;
    const bool by_wrap = method == TW_TRBE_BY_WRAP;
    const uint64_t fill = by_wrap ? TW_TRBE_WRAP : TW_TRBE_FILL;
    const uint64_t trigger = by_wrap ? TW_TRBE_IGNORE_TRIGGER : TW_TRBE_IRQ_ON_TRIGGER;

    if (base % SMALLEST_GRANULE || limit % SMALLEST_GRANULE || base >= limit || level == 0 ||
        level > limit - base || level & unaligned || level > UINT32_MAX ||
        unit->seen[TW_TRBE_LIMITR] & TW_TRBE_LIMITR_E)
        return TW_E_ARGUMENT;
    tw_trbe_write(unit, TW_TRBE_BASER, base);
    tw_trbe_write(unit, TW_TRBE_PTR, by_wrap ? limit - level : base);
    tw_trbe_write(unit, TW_TRBE_TRG, by_wrap ? 0 : level);
    tw_trbe_write(unit, TW_TRBE_SR_EL1, by_wrap ? 0 : TW_TRBE_SR_TRG);
    tw_trbe_isb(unit);
    tw_trbe_write(unit, TW_TRBE_LIMITR, limit | trigger << 3 | fill << 1 | TW_TRBE_LIMITR_E);
    tw_trbe_isb(unit);
    return TW_OK;
}
