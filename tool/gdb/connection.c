/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes of the server. */
#define _XOPEN_SOURCE 700 /* poll, sockets */
#include "gdb/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/output.h"

enum { CTRL_C = 0x03 };

bool connection_listen(struct connection *connection, uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    bool is_good = listener >= 0;

    if (is_good) {
        (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        is_good = bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
                  listen(listener, 1) == 0 &&
                  getsockname(listener, (struct sockaddr *)&address, &size) == 0;
    }
    if (is_good) {
        say("listens on 127.0.0.1:%u; in GDB: target remote localhost:%u",
            ntohs(address.sin_port), ntohs(address.sin_port));
        do
            connection->in = accept(listener, NULL, NULL);
        while (connection->in < 0 && errno == EINTR);
        connection->out = connection->in;
        is_good = connection->in >= 0;
    }
    if (!is_good)
        say("cannot listen on port %u of this machine: %s", port, strerror(errno));
    if (listener >= 0)
        (void)close(listener);
    return is_good;
}

/* More bytes of the client; false: there are none any more. */
static bool read_more(struct connection *connection)
{
    ssize_t size;

    memmove(connection->bytes, connection->bytes + connection->taken,
            connection->count - connection->taken);
    connection->count -= connection->taken;
    connection->taken = 0;
    do
        size = read(connection->in, connection->bytes + connection->count,
                    sizeof connection->bytes - connection->count);
    while (size < 0 && errno == EINTR);
    connection->is_at_end |= size <= 0;
    connection->count += size > 0 ? (size_t)size : 0;
    return size > 0;
}

/* Whether nobody reads what is answered.  One who has sent all may still read. */
static bool is_gone(struct connection *connection)
{
    struct pollfd out = { .fd = connection->out };

    if (connection->is_at_end && connection->in == connection->out)
        connection->is_gone = true;
    if (!connection->is_gone && poll(&out, 1, 0) > 0)
        connection->is_gone = (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    return connection->is_gone;
}

bool connection_is_interrupted(void *context)
{
    struct connection *connection = context;
    const bool is_moving = connection->server && connection->server->is_moving;
    struct pollfd wait = { .fd = connection->in, .events = POLLIN };

    if (is_gone(connection))
        return true;
    if (!connection->is_at_end &&
        connection->count - connection->taken < sizeof connection->bytes &&
        poll(&wait, 1, 0) > 0)
        (void)read_more(connection);
    /* It is for the program that runs: what comes while there is none is for the next run. */
    for (size_t i = connection->taken; is_moving && i < connection->count; i++)
        if (connection->bytes[i] == CTRL_C) {
            memmove(connection->bytes + i, connection->bytes + i + 1,
                    connection->count - i - 1);
            connection->count--;
            return true;
        }
    return false;
}

static bool write_all(struct connection *connection, struct gdb_text *out)
{
    for (size_t done = 0; done < out->size;) {
        const ssize_t size = write(connection->out, out->text + done, out->size - done);

        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            connection->has_failed |= errno != EPIPE && errno != ECONNRESET;
            return false;
        }
        done += (size_t)size;
    }
    gdb_text_clear(out);
    return true;
}

static void flush(void *context, struct gdb_text *out)
{
    struct connection *connection = context;

    if (out->size && !write_all(connection, out))
        connection->is_gone = true;
}

/* What would be sent is not all that there is to say. */
static bool is_out(const struct gdb_server *server)
{
    return server->out.is_out || server->last.is_out || server->answer.is_out;
}

bool connection_serve(struct connection *connection, struct gdb_server *server)
{
    server->flush = flush;
    server->flush_context = connection;
    connection->server = server;
    /* Ctrl-C at GDB's terminal goes to all who run there; GDB's word for it is a byte in the pipe. */
    if (connection->in == STDIN_FILENO)
        (void)signal(SIGINT, SIG_IGN);
    while (!server->is_over && !connection->is_gone) {
        uint8_t byte;

        if (connection->taken == connection->count &&
            (connection->is_at_end || !read_more(connection)))
            break;
        /* One at a time: what comes behind may be a Ctrl-C to what this one begins. */
        byte = connection->bytes[connection->taken++];
        gdb_server_take(server, &byte, 1);
        if (is_out(server)) {
            say("out of memory");
            return false;
        }
        if (server->out.size && !write_all(connection, &server->out))
            break;
    }
    if (connection->has_failed)
        say("an answer could not be written");
    return !connection->has_failed;
}

void connection_close(struct connection *connection)
{
    if (connection->in > STDERR_FILENO)
        (void)close(connection->in);
}
