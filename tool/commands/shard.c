/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway shard: a capture cut into parts that several machines do. */
#include <stdlib.h>

#include "commands/commands.h"
#include "shared/parts.h"

static int shard(struct session *session, const struct options *options, size_t count)
{
    struct tw_run_extent *extents = calloc(count, sizeof *extents);
    struct session_wish wish;
    struct output out;
    int status = session_wish(session, &wish);

    if (status == DONE && !extents) {
        say("out of memory");
        status = NOT_DONE;
    }
    if (status == DONE)
        status = parts_cut(session, &wish, extents, 0, count);
    if (status == DONE && !output_open(&out, options->output, options->color)) {
        status = NOT_DONE;
    } else if (status == DONE) {
        parts_print(&out, session, extents, count);
        if (!output_close(&out, true))
            status = NOT_DONE;
    }
    free(extents);
    session_wish_free(&wish);
    return status;
}

static int run(const struct options *options)
{
    struct session session = { .options = NULL };
    uint64_t count = 0;
    int status;

    if (!options->parts || !parse_number(&count, options->parts) || !count ||
        count > PARTS_MOST) {
        (void)options_wrong(options, "shard needs --parts N, from 1 to %d", PARTS_MOST);
        return BAD_USAGE;
    }
    status = session_open(&session, options);
    if (status == DONE)
        status = shard(&session, options, (size_t)count);
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    O_SHARD_PARTS, G_CAPTURE, O_BUFFER, O_ID, O_INDEX, G_OUTPUT, O_END,
};

const struct command command_shard = {
    .name = "shard",
    .arguments = "CAPTURE --parts N [-o FILE]",
    .summary = "cuts a capture into parts that several machines do",
    .details =
        "Parts hold about equally many bytes and begin at synchronization points; those of\n"
        "perf.data begin with a block. Nothing is decoded. A part may be empty. Each machine\n"
        "does one part, by --parts FILE --part K, and keeps what it counted with --save;\n"
        "\"trackway merge\" adds these up to what the whole capture gives, byte for byte.\n"
        "Without a file --part K/N cuts the same way.\n"
        "\n"
        "examples:\n"
        "  trackway shard capture.bin --protocol etmv4 --parts 64 -o parts.txt\n"
        "  trackway coverage snapshot/ --parts parts.txt --part 3 --save 3.tws\n"
        "  trackway stats snapshot/ --part 3/64 --save 3.tws\n"
        "  trackway merge -o all.tws *.tws",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
