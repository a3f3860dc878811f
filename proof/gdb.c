/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the reader of GDB's remote protocol.  From any state that keeps the invariant any
   byte leads to one that keeps it, and the first state does: so it holds for streams of any length. */
#include <__fc_builtin.h>

#include "gdb/packet.h"

static struct gdb_reader reader; /* all zero: how a connection begins */

enum { STATES = 4, NUMBER = 20 };

static void prove_reader(void)
{
    enum gdb_event event;

    //@ assert reader.state < STATES && reader.size <= GDB_PACKET_MOST;
    Frama_C_make_unknown(reader.data, sizeof reader.data);
    reader.state = (unsigned)Frama_C_interval(0, STATES - 1);
    reader.sum = (uint8_t)Frama_C_interval(0, 255);
    reader.told = (uint8_t)Frama_C_interval(0, 255);
    reader.is_escaped = (_Bool)Frama_C_interval(0, 1);
    reader.is_too_long = (_Bool)Frama_C_interval(0, 1);
    reader.is_bad_sum = (_Bool)Frama_C_interval(0, 1);
    reader.size = Frama_C_unsigned_long_interval(0, GDB_PACKET_MOST);
    event = gdb_read(&reader, (uint8_t)Frama_C_interval(0, 255));
    //@ assert reader.state < STATES;
    //@ assert reader.size <= GDB_PACKET_MOST;
    //@ assert event <= GDB_NAK;
}

/* Numbers inside packets: any text, up to more digits than a number may have. */
static void prove_numbers(void)
{
    //@ loop unroll NUMBER + 1;
    for (unsigned size = 0; size <= NUMBER; size++) {
        char object[NUMBER], *text = object + NUMBER - size;
        const char *at = text;
        uint8_t bytes[NUMBER / 2];
        uint64_t value;

        Frama_C_make_unknown(text, size);
        (void)gdb_hex(&at, text + size, &value);
        //@ assert at - text <= size;
        at = text;
        (void)gdb_hex_then(&at, text + size, &value, ',');
        //@ assert at - text <= size;
        (void)gdb_from_hex(bytes, sizeof bytes, text, size);
    }
}

int main(void)
{
    prove_reader();
    prove_numbers();
    return 0;
}
