/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: what the proofs of packet readers share. */
#ifndef PROOF_READER_H
#define PROOF_READER_H

#include <__fc_builtin.h>
#include <stdbool.h>
#include <stdint.h>

static uint64_t any_u64(void)
{
    return Frama_C_unsigned_long_interval(0, UINT64_MAX);
}

static uint32_t any_u32(void)
{
    return Frama_C_unsigned_int_interval(0, UINT32_MAX);
}

static uint8_t any_u8(unsigned most)
{
    return (uint8_t)Frama_C_interval(0, (int)most);
}

static bool any_bool(void)
{
    return (bool)Frama_C_interval(0, 1);
}

/* `size` unknown bytes at the very end of an object of `room`, so that one byte too far is outside it. */
static uint8_t *any_bytes(uint8_t *object, unsigned room, unsigned size)
{
    uint8_t *bytes = object + room - size;

    if (size)
        Frama_C_make_unknown((char *)bytes, size);
    return bytes;
}

/* The same in one of two objects: of what is read there Eva remembers nothing, as it does not know which of them
   it was in.  So a search goes on from one state for each place, not from one for all bytes before it. */
static uint8_t *forgettable_bytes(uint8_t *object, uint8_t *other, unsigned room, unsigned size)
{
    uint8_t *bytes = any_bytes(object, room, size), *more = any_bytes(other, room, size);

    return any_bool() ? bytes : more;
}

/* Stands behind "slevel merge": Eva goes on with one state, not with all that there were. */
static int forgotten;
#define FORGET (forgotten = 0)

#endif
