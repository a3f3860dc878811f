/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of GDB's remote protocol: bytes of the client in, bytes for it out.  It knows the protocol; what it
   serves is a target. */
#ifndef GDB_SERVER_H
#define GDB_SERVER_H

#include "gdb/packet.h"
#include "gdb/target.h"

enum { GDB_BREAKPOINTS = 4096, GDB_REMOVED = 256 };

struct gdb_server {
    const struct gdb_target *target;
    struct gdb_reader reader;
    struct gdb_text answer; /* data of the packet at work */
    struct gdb_text out;    /* bytes to be sent */
    struct gdb_text last;   /* the last packet sent, for when it comes damaged */
    uint32_t thread;        /* that g, m and the like are about */
    uint32_t resumed;       /* that s, c, bs and bc move */
    struct gdb_stop stop;   /* the last one */
    uint64_t breakpoints[GDB_BREAKPOINTS];
    uint8_t kinds[GDB_BREAKPOINTS]; /* Z0 or Z1 */
    size_t breakpoint_count;
    uint64_t removed[GDB_REMOVED]; /* breakpoints taken away, the last at the end */
    size_t removed_count;
    bool has_no_acks;
    bool is_interrupted; /* Ctrl-C came between two moves: the next one ends at once */
    bool is_moving;      /* a thread runs */
    bool is_over;        /* the client said good-bye */
    /* Sends what is in `out`, before a move that may take long; NULL: it waits until the packet is done. */
    void (*flush)(void *context, struct gdb_text *out);
    void *flush_context;
};

void gdb_server_init(struct gdb_server *server, const struct gdb_target *target);
void gdb_server_free(struct gdb_server *server);
/* Takes bytes of the client; what is to be sent is added to server->out. */
void gdb_server_take(struct gdb_server *server, const uint8_t *bytes, size_t size);

#endif
