/* SPDX-License-Identifier: BSD-2-Clause */
/* Which part of a capture is whose: cut anew by everyone alike, or as a file says. */
#include "shared/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/file.h"

#define HEADER "trackway parts 1"

/* ---- cutting ---- */

int parts_cut(struct session *session, const struct session_wish *wish,
              struct tw_run_extent *extents, size_t number, size_t count)
{
    struct session_wish plain = *wish;
    struct tw_run *run;
    enum tw_status status;

    plain.config.extent = NULL;
    plain.config.counter = NULL;
    plain.config.order = TW_ORDER_CAPTURE;
    run = session_run_new(session, &plain);
    if (!run)
        return NOT_DONE;
    status = number ? tw_run_cut_part(run, extents, number - 1, count)
                    : tw_run_cut(run, extents, count);
    if (status != TW_OK)
        say("%s: %s", tw_capture_path(session->capture), tw_run_fault(run));
    tw_run_free(run);
    return status == TW_OK ? DONE : NOT_DONE;
}

bool parts_number(const struct options *options, uint64_t *number, uint64_t *count)
{
    const char *slash = strchr(options->part, '/');
    const size_t size = slash ? (size_t)(slash - options->part) : strlen(options->part);

    *count = 0;
    if (!parse_number_size(number, options->part, size) || !*number ||
        (slash && (!parse_number(count, slash + 1) || *count < *number || *count > PARTS_MOST)))
        return options_wrong(
            options, "--part: \"%s\" is no part; write K/N, such as 1/4 to 4/4", options->part);
    if (!slash && !options->parts)
        return options_wrong(options, "--part: of how many? write K/N, or give --parts FILE");
    if (slash && options->parts)
        return options_wrong(options, "--part: --parts FILE knows how many there are; write K");
    return true;
}

/* ---- the file ---- */

void parts_print(struct output *out, const struct session *session,
                 const struct tw_run_extent *extents, size_t count)
{
    const size_t buffers = tw_capture_buffer_count(session->capture);

    output_text(out, HEADER "\n"
                            "# buffer NUMBER BYTES NAME\n"
                            "# part NUMBER BUFFER OFFSET END-BUFFER END-OFFSET\n");
    for (size_t i = 0; i < buffers; i++) {
        const struct tw_buffer *buffer = tw_capture_buffer(session->capture, i);

        output_format(out, "buffer %zu %" PRIu64 " ", i, buffer->size);
        output_json_text(out, buffer->name);
        output_text(out, "\n");
    }
    for (size_t i = 0; i < count; i++)
        output_format(out, "part %zu %" PRIu32 " 0x%" PRIx64 " %" PRIu32 " 0x%" PRIx64 "\n",
                      i + 1, extents[i].buffer, extents[i].offset, extents[i].end_buffer,
                      extents[i].end_offset);
}

/* Numbers behind a word, as many as there are to be; what follows them does not matter. */
static bool take_numbers(const char *line, const char *word, uint64_t *numbers, size_t count)
{
    const size_t size = strlen(word);

    if (strncmp(line, word, size) != 0)
        return false;
    line += size;
    for (size_t i = 0; i < count; i++) {
        size_t digits;

        if (*line != ' ')
            return false;
        line++;
        digits = strcspn(line, " ");
        if (!digits || !parse_number_size(&numbers[i], line, digits))
            return false;
        line += digits;
    }
    return true;
}

/* What a file of parts was found to say. */
struct parts_found {
    struct tw_run_extent extent;
    uint64_t number, count;
    size_t buffers;
    bool is_other; /* it was made of another capture */
    bool is_wrong;
};

static void take_line(struct parts_found *found, const struct session *session,
                      const char *line)
{
    const size_t buffers = tw_capture_buffer_count(session->capture);
    uint64_t of[5];

    if (!*line || *line == '#')
        return;
    if (take_numbers(line, "buffer", of, 2)) {
        found->is_other |= of[0] != found->buffers || of[0] >= buffers ||
                           tw_capture_buffer(session->capture, (size_t)of[0])->size != of[1];
        found->buffers++;
    } else if (take_numbers(line, "part", of, 5) && of[1] <= buffers && of[3] <= buffers) {
        found->is_wrong |= of[0] != ++found->count;
        if (of[0] == found->number)
            found->extent = (struct tw_run_extent){ .buffer = (uint32_t)of[1],
                                                    .offset = of[2],
                                                    .end_buffer = (uint32_t)of[3],
                                                    .end_offset = of[4] };
    } else {
        found->is_wrong = true;
    }
}

static int read_parts(const struct session *session, struct parts_found *found)
{
    const char *path = session->options->parts;
    size_t size;
    char *text = (char *)file_load(&size, path);
    bool is_first = true;

    if (!text)
        return NOT_DONE;
    for (size_t at = 0, end; at < size; at = end + 1, is_first = false) {
        for (end = at; end < size && text[end] != '\n'; end++)
            ;
        found->is_wrong |= end == size || memchr(text + at, 0, end - at);
        if (end < size)
            text[end] = 0;
        if (found->is_wrong || (is_first && strcmp(text + at, HEADER) != 0)) {
            found->is_wrong = true;
            break;
        }
        if (!is_first)
            take_line(found, session, text + at);
    }
    free(text);
    if (found->is_wrong || !found->count)
        say("%s is no file of parts that \"trackway shard\" wrote", path);
    else if (found->is_other || found->buffers != tw_capture_buffer_count(session->capture))
        say("%s: the parts are of another capture than %s", path,
            tw_capture_path(session->capture));
    else if (found->number > found->count)
        say("%s has %" PRIu64 " parts; there is no part %" PRIu64, path, found->count,
            found->number);
    else
        return DONE;
    return NOT_DONE;
}

int parts_take(struct session *session, struct session_wish *wish)
{
    const struct options *options = session->options;
    struct parts_found found = { .number = 0 };
    uint64_t count;
    int status;

    if (options->from.is_given || options->to.is_given || options->multi_session) {
        (void)options_wrong(options,
                            "--part: neither --from, --to nor --opt multi-session with it");
        return BAD_USAGE;
    }
    if (!parts_number(options, &found.number, &count))
        return BAD_USAGE;
    wish->config.extent = &wish->extent;
    if (count)
        return parts_cut(session, wish, &wish->extent, (size_t)found.number, (size_t)count);
    status = read_parts(session, &found);
    wish->extent = found.extent;
    return status;
}
