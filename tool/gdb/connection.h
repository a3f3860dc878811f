/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes between a client and the server: a pipe, or a socket of this machine. */
#ifndef GDB_CONNECTION_H
#define GDB_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "gdb/server.h"

struct connection {
    int in, out;
    uint8_t bytes[65536]; /* that came while the server was at work */
    size_t count;
    size_t taken;                    /* of them, by the server */
    const struct gdb_server *server; /* while it serves */
    bool is_at_end;                  /* the client sends no more */
    bool is_gone;                    /* ... and reads no more */
    bool has_failed;                 /* an answer could not be written */
};

/* Waits for a client on a port of the loopback interface; port 0: any, said on standard error.  False: failed, said
   why. */
bool connection_listen(struct connection *connection, uint16_t port);
/* Serves until the client goes.  False: there was no memory for an answer, or it could not be written while the client was
   there; said so. */
bool connection_serve(struct connection *connection, struct gdb_server *server);
/* Whether the client wants what is at work to end: asks the system. */
bool connection_is_interrupted(void *connection);
void connection_close(struct connection *connection);

#endif
