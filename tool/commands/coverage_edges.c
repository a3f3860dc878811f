/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway coverage --format afl: edge maps, as fuzzers keep them.  Raw files go one after the other through
   one decoder; captures that bring sources and programs of their own through a run each. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/edge_map.h>

#include "base/platform.h"
#include "commands/coverage.h"
#include "shared/feed.h"

struct edges {
    const struct options *options;
    struct session first;    /* whose sources and program all raw files have */
    struct options of_first; /* as that sees the options */
    bool has_first;
    struct tw_edge_map *map; /* of these */
    struct tw_edge_map *of_runs;
    struct output out; /* without a folder */
    uint8_t *bytes;    /* the capture's */
    uint8_t *all;      /* without --each: the sum */
    int worst;
};

static bool is_filtered(const struct options *options)
{
    return options->buffer || options->has_ids || options->source_names.count ||
           options->srcs.count || options->cpus.count || options->pids.count ||
           options->tids.count || options->comms.count || options->from.is_given ||
           options->to.is_given || options->range.is_given || options->functions.count ||
           options->on_error;
}

/* ---- writing ---- */

static void put_map(struct output *out, const uint8_t *bytes, const struct options *options)
{
    const size_t size = (size_t)1 << TW_EDGE_MAP_BITS;

    if (options_format_is(options, "afl-map")) {
        output_bytes(out, bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            output_format(out, "%06zu:%u\n", i, (unsigned)bytes[i]);
}

static const char *last_name(const char *path)
{
    const char *slash = tw_last_slash(path);

    return slash && slash[1] ? slash + 1 : path;
}

static bool put_file(const struct edges *edges, const char *name)
{
    const char *folder = edges->options->output;
    const size_t size = strlen(folder) + strlen(name) + 2;
    struct output out = { .file = NULL };
    char *path = malloc(size);
    bool is_good = path != NULL;

    if (path)
        (void)snprintf(path, size, "%s/%s", folder, name);
    else
        say("out of memory");
    is_good = is_good && output_open(&out, path, COLOR_NEVER);
    if (is_good) {
        put_map(&out, edges->bytes, edges->options);
        is_good = output_close(&out, true);
    }
    free(path);
    return is_good;
}

static void add_map(uint8_t *to, const uint8_t *from)
{
    for (size_t i = 0; i < (size_t)1 << TW_EDGE_MAP_BITS; i++)
        to[i] = (uint8_t)(from[i] < 255 - to[i] ? to[i] + from[i] : 255);
}

/* A capture is done. */
static bool put_one(struct edges *edges, const char *path)
{
    const struct options *options = edges->options;

    if (!options->each) {
        add_map(edges->all, edges->bytes);
        return true;
    }
    if (options->output)
        return put_file(edges, last_name(path));
    if (options_format_is(options, "afl"))
        output_format(&edges->out, "# %s\n", path);
    put_map(&edges->out, edges->bytes, options);
    return !output_is_over(&edges->out);
}

/* ---- captures ---- */

static int through_run(struct edges *edges, const char **path)
{
    struct options options = *edges->options;
    struct tw_run_counter counter;
    struct feed feed = { .counter = &counter };
    const struct tw_edge_map_config config = { .size = sizeof config };
    int status;

    if (!edges->of_runs && tw_edge_map_new(&edges->of_runs, &config, NULL) != TW_OK) {
        say("out of memory");
        return NOT_DONE;
    }
    options.arguments = (struct list){ path, 1 };
    memset(edges->bytes, 0, (size_t)1 << TW_EDGE_MAP_BITS);
    counter = tw_edge_map_counter(edges->of_runs, edges->bytes);
    status = feed_run(&feed, &options, NULL, NULL);
    feed_close(&feed);
    if (!tw_edge_map_is_complete(edges->of_runs)) {
        say("out of memory");
        status = NOT_DONE;
    }
    return status;
}

/* The bytes of a raw file through the decoder of the first. */
static int through_map(struct edges *edges, const struct tw_capture *capture)
{
    const char *path = tw_capture_path(capture);
    struct tw_edge_map_result result = { .size = sizeof result };
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum tw_status status = tw_capture_read(capture, &bytes, &size, 0, 0);

    if (status == TW_END)
        size = 0;
    else if (status != TW_OK || size != tw_capture_buffer(capture, 0)->size)
        return BAD_USAGE; /* in pieces: for a run */
    status = tw_edge_map_take(edges->map, edges->bytes, bytes, size, &result);
    if (status != TW_OK) {
        say("%s: %s", path, status == TW_E_MEMORY ? "out of memory" : tw_status_name(status));
        return NOT_DONE;
    }
    if (!result.errors && !result.missing && !result.overflows)
        return DONE;
    if (!edges->options->quiet)
        say("%s: %" PRIu64 " stretches of bad trace, %" PRIu64 " overflows, %" PRIu64
            " times no code",
            path, result.errors, result.overflows, result.missing);
    return DONE_WITH_LOSS;
}

/* The first raw file: its sources and the programs of the options are there for all. */
static int open_first(struct edges *edges, const char **path)
{
    struct tw_edge_map_config config = { .size = sizeof config };
    struct tw_fault fault;
    int status;

    edges->of_first = *edges->options;
    edges->of_first.arguments = (struct list){ path, 1 };
    edges->has_first = true;
    status = session_open(&edges->first, &edges->of_first);
    if (status != DONE || tw_capture_kind(edges->first.capture) != TW_CAPTURE_RAW ||
        !tw_capture_source_count(edges->first.capture))
        return status;
    config.capture = edges->first.capture;
    if (tw_edge_map_new(&edges->map, &config, &fault) == TW_OK)
        return DONE;
    say("%s", fault.text);
    return NOT_DONE;
}

static int take_one(struct edges *edges, const char **path)
{
    struct options options = *edges->options;
    struct session session;
    int status = DONE;

    if (is_filtered(edges->options))
        return through_run(edges, path);
    if (!edges->map) {
        status = open_first(edges, path);
        if (edges->map)
            return through_map(edges, edges->first.capture);
        if (edges->has_first)
            session_close(&edges->first);
        edges->has_first = false;
        return status == DONE ? through_run(edges, path) : status;
    }
    options.arguments = (struct list){ path, 1 };
    options.images.count = 0; /* the first has them */
    status = session_open(&session, &options);
    if (status == DONE)
        status = tw_capture_kind(session.capture) == TW_CAPTURE_RAW
                     ? through_map(edges, session.capture)
                     : BAD_USAGE;
    session_close(&session);
    return status == BAD_USAGE ? through_run(edges, path) : status;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(last_name(*(const char *const *)left),
                  last_name(*(const char *const *)right));
}

/* Each file of the folder has the name of its capture: no two may be the same. */
static bool has_unequal_names(const struct list *captures)
{
    const char **names = malloc((captures->count + 1) * sizeof *names);
    size_t i = 1;

    if (!names) {
        say("out of memory");
        return false;
    }
    memcpy(names, captures->items, captures->count * sizeof *names);
    qsort(names, captures->count, sizeof *names, compare_names);
    while (i < captures->count && compare_names(&names[i - 1], &names[i]) != 0)
        i++;
    if (i < captures->count)
        say("%s and %s would be one file of the folder", names[i - 1], names[i]);
    free(names);
    return i >= captures->count;
}

static bool prepare(struct edges *edges)
{
    const char *folder = edges->options->each ? edges->options->output : NULL;

    edges->bytes = calloc((size_t)1 << TW_EDGE_MAP_BITS, 2);
    if (!edges->bytes) {
        say("out of memory");
        return false;
    }
    edges->all = edges->bytes + ((size_t)1 << TW_EDGE_MAP_BITS);
    if (!folder)
        return output_open(&edges->out, edges->options->output, edges->options->color);
    if (!has_unequal_names(&edges->options->arguments))
        return false;
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return true;
    say("cannot make %s: %s", folder, strerror(errno));
    return false;
}

int coverage_edges(const struct options *options)
{
    struct edges edges = { .options = options };
    bool is_good;

    if (options->save || options->add.count) {
        (void)options_wrong(options, "--save and --add are for other formats than %s",
                            options->format);
        return BAD_USAGE;
    }
    is_good = prepare(&edges);
    for (size_t i = 0; is_good && i < options->arguments.count; i++) {
        const int status = take_one(&edges, &options->arguments.items[i]);

        is_good = (status == DONE || status == DONE_WITH_LOSS) &&
                  put_one(&edges, options->arguments.items[i]);
        if (!is_good || status != DONE)
            edges.worst = status;
    }
    if (edges.out.buffer && is_good && !options->each)
        put_map(&edges.out, edges.all, options);
    if (edges.out.buffer && !output_close(&edges.out, is_good))
        is_good = false;
    tw_edge_map_free(edges.map);
    tw_edge_map_free(edges.of_runs);
    if (edges.has_first)
        session_close(&edges.first);
    free(edges.bytes);
    return is_good || edges.worst > DONE_WITH_LOSS ? edges.worst : NOT_DONE;
}
