/* SPDX-License-Identifier: BSD-2-Clause */
/* The pins of a PIB sink: 1 to 16 in parallel, or one wire as UART or Manchester.  Edge by edge, the
   first in the lowest bits. */
#include <string.h>

#include "trsim/sim.h"

enum { MODE_MANCHESTER = 4, MODE_UART = 5, MODE_PARALLEL = 8 };

static unsigned mode_of(const struct tw_trsim_part *part)
{
    return part->registers[0] >> 4 & 0xf;
}

/* Pins of a parallel mode; 0: it is none. */
static unsigned pins_of(const struct tw_trsim_part *part)
{
    const unsigned mode = mode_of(part);

    return mode >= MODE_PARALLEL && mode <= 12 ? 1u << (mode - MODE_PARALLEL) : 0;
}

static void put_bit(struct tw_trsim_part *part, unsigned bit)
{
    part->pin_bits |= (uint8_t)(bit << part->pin_count);
    if (++part->pin_count < 8)
        return;
    tw_text_add_size(&part->pins, (const char *)&part->pin_bits, 1);
    part->pin_bits = part->pin_count = 0;
}

static void put_bits(struct tw_trsim_part *part, unsigned bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_bit(part, bits >> i & 1);
}

/* UART rests high, Manchester low; pins show idle bytes of the protocol. */
static unsigned rest_of(const struct tw_trsim_part *part)
{
    const unsigned mode = mode_of(part);

    return mode == MODE_UART || (mode != MODE_MANCHESTER && part->idle_byte);
}

void tw_trsim_pins_idle(struct tw_trsim_part *part)
{
    const unsigned pins = pins_of(part) ? pins_of(part) : 1;

    for (uint32_t i = 0; i < part->idle * pins; i++)
        put_bit(part, rest_of(part));
}

/* A bit of Manchester is two halves: 0 is (0,1), 1 is (1,0). */
static void put_manchester(struct tw_trsim_part *part, uint8_t byte)
{
    for (unsigned i = 0; i < 8; i++) {
        put_bit(part, byte >> i & 1);
        put_bit(part, !(byte >> i & 1));
    }
}

static void put_byte(struct tw_trsim_part *part, uint8_t byte)
{
    if (mode_of(part) == MODE_MANCHESTER) {
        put_manchester(part, byte);
    } else if (mode_of(part) == MODE_UART) {
        put_bit(part, 0);
        put_bits(part, byte, 8);
        put_bit(part, 1);
    } else {
        put_bits(part, byte, 8);
    }
}

void tw_trsim_pins(struct tw_trsim_part *part, const uint8_t *bytes, size_t size)
{
    tw_trsim_pins_idle(part);
    if (mode_of(part) == MODE_MANCHESTER)
        put_bits(part, 1, 2); /* start: (1,0) */
    for (size_t i = 0; i < size; i++)
        put_byte(part, bytes[i]);
    if (mode_of(part) == MODE_MANCHESTER)
        put_bits(part, 0, 2); /* stop: (0,0) */
}

void tw_trsim_pins_calibrate(struct tw_trsim_part *part)
{
    static const uint8_t usual[] = { 0xaa, 0x55, 0x00, 0xff };
    static const uint8_t two[] = { 0x66, 0x66, 0xcc, 0x33 };
    static const uint8_t four[] = { 0x5a, 0x5a, 0xf0, 0x0f };
    static const uint8_t sixteen[] = { 0xaa, 0xaa, 0x55, 0x55, 0x00, 0x00, 0xff, 0xff };
    const unsigned pins = pins_of(part);
    const uint8_t *bytes = pins == 2 ? two : pins == 4 ? four : pins == 16 ? sixteen : usual;

    for (size_t i = 0; i < (pins == 16 ? sizeof sixteen : sizeof usual); i++)
        put_byte(part, bytes[i]);
}

void tw_trsim_pins_end(struct tw_trsim_part *part)
{
    tw_trsim_pins_idle(part);
    while (part->pin_count)
        put_bit(part, rest_of(part));
    while (pins_of(part) == 16 && part->pins.size % 2)
        put_bits(part, part->idle_byte, 8);
}

uint32_t tw_trsim_pins_pace(const struct tw_trsim_part *part)
{
    const uint32_t divider = (part->registers[0] >> 16) + 1;
    const uint32_t center = part->registers[0] >> 8 & 1 ? 2 : 1;
    const unsigned mode = mode_of(part), pins = pins_of(part);

    if (mode == MODE_MANCHESTER)
        return 16 * divider;
    if (mode == MODE_UART)
        return 10 * divider;
    return pins ? (pins >= 8 ? 1 : 8 / pins) * divider * center : 0;
}
