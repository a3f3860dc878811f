/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of the RISC-V Trace Control Interface 1.0, and of what came before it: one table for
   everything that reads, writes, checks or prints them. */
#ifndef TRCTL_TABLE_H
#define TRCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Components by their number in tr??Impl (bits 11:8). */
enum tw_trctl_component {
    TW_TRCTL_NONE = 0,
    TW_TRCTL_ENCODER = 1,
    TW_TRCTL_FUNNEL = 8,
    TW_TRCTL_RAM_SINK = 9,
    TW_TRCTL_PIB_SINK = 10,
    TW_TRCTL_ATB_BRIDGE = 14,
    TW_TRCTL_VERSION_0 = 16 /* no number there: the single block of a pre-1.0 encoder */
};

enum tw_trctl_access {
    TW_TRCTL_RW,
    TW_TRCTL_WARL, /* what was accepted has to be read back */
    TW_TRCTL_RO,
    TW_TRCTL_RW1C, /* set by hardware; a 1 clears it */
    TW_TRCTL_W1    /* a 1 does something; reads 0 */
};

/* A field of a register.  The registers of filters and comparators stand once: that of number n is
   0x20 * n further. */
struct tw_trctl_field {
    uint8_t component;
    uint16_t offset; /* of the register */
    uint8_t high, low;
    uint8_t access;
    const char *name;
};

struct tw_trctl_register {
    uint8_t component;
    uint16_t offset;
    uint8_t count; /* how many of them there may be, 0x20 apart; 1: it stands alone */
    const char *name;
    bool is_setting; /* written while the component is disabled; the others may be any time */
    bool is_default; /* software writes 0 to it after release from reset */
};

enum {
    TW_TRCTL_STRIDE = 0x20,
    TW_TRCTL_FILTERS = 16,
    TW_TRCTL_COMPARATORS = 8,
    TW_TRCTL_SIZE = 0x800 /* bytes of a component's registers that are defined */
};

/* Offsets that are named in code. */
enum {
    TW_TRCTL_CONTROL = 0x000,
    TW_TRCTL_IMPL = 0x004,
    TW_TRCTL_INST_FEATURES = 0x008,
    TW_TRCTL_INST_FILTERS = 0x00c,
    TW_TRCTL_TS_CONTROL = 0x040,
    TW_TRCTL_FILTER = 0x400,
    TW_TRCTL_COMPARATOR = 0x600
};

extern const struct tw_trctl_register tw_trctl_registers[];
extern const size_t tw_trctl_register_count;
extern const struct tw_trctl_field tw_trctl_fields[];
extern const size_t tw_trctl_field_count;

/* "encoder", "RAM sink" ...; never NULL. */
const char *tw_trctl_component_name(unsigned component);

/* A register by its name, without regard to case; "trTeFilter3Control" and the like give the number
   of the filter in *offset.  NULL: there is none. */
const struct tw_trctl_register *tw_trctl_find(const char *name, size_t size, uint16_t *offset);
/* A register of a component by its offset; NULL: there is none. */
const struct tw_trctl_register *tw_trctl_at(unsigned component, uint32_t offset);
/* A field by its name, likewise. */
const struct tw_trctl_field *tw_trctl_find_field(const char *name, size_t size,
                                                 uint16_t *offset);

static inline uint32_t tw_trctl_mask(const struct tw_trctl_field *field)
{
    const unsigned width = (unsigned)(field->high - field->low) + 1;

    return (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << field->low;
}

static inline uint32_t tw_trctl_get(const struct tw_trctl_field *field, uint32_t value)
{
    return (value & tw_trctl_mask(field)) >> field->low;
}

/* Bits of a component's register that can be written, by plain writes. */
uint32_t tw_trctl_writable(unsigned component, uint32_t offset);
/* The same of all its registers, by offset / 4; those that there are not stay as they are. */
void tw_trctl_writable_all(unsigned component, uint32_t masks[TW_TRCTL_SIZE / 4]);

#endif
