/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of GDB's remote protocol: any bytes of a client, with a target of a few threads.  What it answers does not
   depend on the pieces that the bytes come in, and is packets and acknowledgements, nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/server.h"

enum { THREADS = 3, CODE = 4096 };

struct machine {
    uint64_t pc[THREADS];
};

static void check(bool is_good)
{
    if (!is_good)
        abort();
}

static uint32_t thread_count(void *context)
{
    (void)context;
    return THREADS;
}

static uint32_t first_thread(void *context)
{
    (void)context;
    return 1;
}

static void say_thread(void *context, struct gdb_text *out, uint32_t thread)
{
    (void)context;
    check(thread < THREADS);
    gdb_text_put(out, "a \"thread\" & <more>");
}

static const char *description(void *context)
{
    (void)context;
    return "<target/>";
}

static bool registers(void *context, struct gdb_text *out, uint32_t thread, uint32_t number)
{
    (void)context;
    check(thread < THREADS);
    gdb_text_put(out, "xxxxxxxx");
    return number < 40 || number == GDB_ALL_REGISTERS;
}

static size_t memory(void *context, uint8_t *out, uint32_t thread, uint64_t address,
                     size_t size)
{
    (void)context;
    check(thread < THREADS);
    if (address >= CODE)
        return 0;
    size = size < CODE - address ? size : (size_t)(CODE - address);
    memset(out, (int)address, size);
    return size;
}

static void known(void *context, struct gdb_text *out, uint32_t thread)
{
    check(thread < THREADS);
    gdb_text_put(out, "20:");
    (void)registers(context, out, thread, 32);
    gdb_text_put(out, ";");
}

static bool move(void *context, struct gdb_stop *stop, const struct gdb_move *way)
{
    struct machine *machine = context;
    uint64_t *pc = &machine->pc[way->thread];

    check(way->thread < THREADS && way->breakpoint_count <= GDB_BREAKPOINTS);
    *pc = way->is_back ? *pc - 4 : *pc + 4;
    stop->is_begin = *pc == 0;
    stop->is_loss = *pc % 64 == 0;
    if (stop->is_loss)
        memcpy(stop->why, "lost", 5);
    return *pc % 3 != 0;
}

static void monitor(void *context, struct gdb_text *out, uint32_t *thread, const char *line)
{
    (void)context;
    gdb_text_put(out, line);
    *thread = (uint32_t)strlen(line);
}

/* "+", "-" and "$...#xx", whose sum is right. */
static void check_answers(const char *text, size_t size)
{
    size_t at = 0;

    while (at < size) {
        const char *hash;
        unsigned sum = 0;
        char said[3];

        if (text[at] == '+' || text[at] == '-') {
            at++;
            continue;
        }
        check(text[at] == '$');
        hash = memchr(text + at, '#', size - at);
        check(hash && (size_t)(hash - text) + 3 <= size);
        for (const char *c = text + at + 1; c < hash; c++)
            sum += (unsigned char)*c;
        (void)snprintf(said, sizeof said, "%02x", sum & 0xff);
        check(memcmp(hash + 1, said, 2) == 0);
        at = (size_t)(hash - text) + 3;
    }
}

/* All that it says to bytes that come `piece` at a time. */
static struct gdb_text answers(const uint8_t *data, size_t size, size_t piece)
{
    struct machine machine = { { 64, 128, 192 } };
    const struct gdb_target target = { .context = &machine,
                                       .thread_count = thread_count,
                                       .first_thread = first_thread,
                                       .thread_name = say_thread,
                                       .thread_about = say_thread,
                                       .description = description,
                                       .registers = registers,
                                       .known = known,
                                       .memory = memory,
                                       .move = move,
                                       .monitor = monitor };
    struct gdb_server *server = malloc(sizeof *server);
    struct gdb_text out = { .text = NULL };

    check(server != NULL);
    gdb_server_init(server, &target);
    for (size_t at = 0; at < size; at += piece)
        gdb_server_take(server, data + at, size - at < piece ? size - at : piece);
    check(server->thread < THREADS && server->resumed < THREADS);
    gdb_text_add(&out, server->out.text ? server->out.text : "", server->out.size);
    gdb_server_free(server);
    free(server);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gdb_text whole, pieces;

    if (!size)
        return 0;
    whole = answers(data, size, size);
    pieces = answers(data, size, 1 + data[0] % 5);
    check(whole.size == pieces.size && memcmp(whole.text, pieces.text, whole.size) == 0);
    check_answers(whole.text, whole.size);
    gdb_text_free(&whole);
    gdb_text_free(&pieces);
    return 0;
}
