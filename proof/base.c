/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: readers and writers of bytes, bit fields, variable-length numbers and
   sign-compressed payloads, for every content of every size up to the longest that a packet holds. */
#include <__fc_builtin.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/payload.h"

enum { BYTES = 12 };

/* `size` unknown bytes at the very end of an object, so that one byte too far is outside it. */
static uint8_t *unknown(uint8_t *object, unsigned size)
{
    uint8_t *bytes = object + BYTES - size;

    Frama_C_make_unknown((char *)bytes, size);
    return bytes;
}

static void prove_bytes(void)
{
    //@ loop unroll BYTES + 1;
    for (unsigned size = 0; size <= BYTES; size++) {
        uint8_t object[BYTES];
        const uint8_t *from = unknown(object, size);
        const unsigned count = (unsigned)Frama_C_interval(0, 8);
        const unsigned most = (unsigned)Frama_C_interval(1, 10);
        struct tw_bytes in = { .at = from, .end = from + size };
        unsigned bits;

        (void)tw_bytes_u8(&in);
        //@ assert in.at - from <= size;
        (void)tw_bytes_le(&in, count);
        //@ assert in.at - from <= size;
        (void)tw_bytes_uleb(&in, most, &bits);
        //@ assert in.at - from <= size;
        //@ assert bits <= 64;
    }
}

static void prove_writer(void)
{
    //@ loop unroll BYTES + 1;
    for (unsigned size = 0; size <= BYTES; size++) {
        uint8_t object[BYTES];
        uint8_t *from = object + BYTES - size;
        const uint64_t value = Frama_C_unsigned_long_interval(0, UINT64_MAX);
        const unsigned count = (unsigned)Frama_C_interval(0, 8);
        const unsigned most = (unsigned)Frama_C_interval(1, 10);
        struct tw_writer out = { .at = from, .end = from + size };

        tw_write_u8(&out, (uint8_t)value);
        tw_write_le(&out, value, count);
        tw_write_uleb(&out, value, most);
        tw_write_uleb_bits(&out, value, (unsigned)Frama_C_interval(0, 64), most);
        //@ assert out.at - from <= size;
        //@ assert out.missing <= 29;
    }
}

static void prove_field(unsigned size, unsigned at, unsigned count)
{
    uint8_t object[BYTES];
    struct tw_bits in = { .bytes = unknown(object, size),
                          .size_bits = 8 * (size_t)size,
                          .at = at };

    (void)tw_bits_get(&in, count);
    //@ assert in.at <= in.size_bits;
    //@ assert in.at == at + count || in.short_read;
}

/* Whether a field lies inside depends on place, width and size together, which Eva does not relate: so
   each of them is tried, with any content, for no byte, one, and the nine that 64 bits may lie in. */
static void prove_bits(void)
{
    static const unsigned sizes[] = { 0, 1, 9 };

    //@ loop unroll 3;
    for (unsigned i = 0; i < 3; i++)
        //@ loop unroll 73;
        for (unsigned at = 0; at <= 8 * sizes[i]; at++)
            //@ loop unroll 65;
            for (unsigned count = 0; count <= 64; count++)
                prove_field(sizes[i], at, count);
}

static void prove_small(void)
{
    const uint64_t value = Frama_C_unsigned_long_interval(0, UINT64_MAX);

    (void)tw_replace_low(value, Frama_C_unsigned_long_interval(0, UINT64_MAX),
                         (unsigned)Frama_C_interval(0, 64));
    (void)tw_sign_extend(value, (unsigned)Frama_C_interval(1, 64));
}

int main(void)
{
    prove_bytes();
    prove_writer();
    prove_bits();
    prove_small();
    return 0;
}
