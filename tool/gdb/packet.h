/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of GDB's remote protocol: "$data#checksum" in a stream of bytes. */
#ifndef GDB_PACKET_H
#define GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_PACKET_MOST = 16384 }; /* bytes of a packet's data, as we tell the client */

enum gdb_event {
    GDB_MORE,      /* give more bytes */
    GDB_PACKET,    /* a packet: its data, with escapes undone */
    GDB_DAMAGED,   /* a packet whose checksum is wrong, or no number */
    GDB_TOO_LONG,  /* a packet that is longer than we said it may be: passed over */
    GDB_INTERRUPT, /* Ctrl-C */
    GDB_ACK,
    GDB_NAK /* the last packet came damaged: send it again */
};

struct gdb_reader {
    unsigned state;
    uint8_t sum, told;
    bool is_escaped, is_too_long, is_bad_sum;
    size_t size;
    char data[GDB_PACKET_MOST + 1]; /* of the packet; a zero stands behind it */
};

/* Reads one byte.  Bytes between packets that mean nothing are passed over. */
enum gdb_event gdb_read(struct gdb_reader *reader, uint8_t byte);

/* A packet as it is sent: `out` holds at least gdb_write_room(size) bytes.  Returns its size. */
size_t gdb_write(char *out, const char *data, size_t size);
static inline size_t gdb_write_room(size_t size)
{
    return 2 * size + 4;
}

/* ---- numbers in packets ---- */

/* A hexadecimal number at *text, which is moved behind it; false: there is none, or it has more than 64 bits. */
bool gdb_hex(const char **text, const char *end, uint64_t *value);
/* The same and `mark` behind it. */
bool gdb_hex_then(const char **text, const char *end, uint64_t *value, char mark);
/* Bytes as pairs of digits; returns how many digits.  And back: returns how many bytes, SIZE_MAX: they are no
   pairs of digits, or more than `room`. */
size_t gdb_to_hex(char *out, const uint8_t *bytes, size_t size);
size_t gdb_from_hex(uint8_t *out, size_t room, const char *text, size_t size);

#endif
