/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels of a stream that is still being written: standard input, a pipe, a growing file, a server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <trackway/capture.h>
#include <trackway/itm.h>
#include <trackway/tree.h>

#include "commands/channels.h"
#include "shared/interrupt.h"
#include "shared/stream_input.h"

enum { PIECE = 4096, KEYS_MOST = 64 };

struct live {
    struct channels *channels;
    struct tw_tree *tree;
    struct stream_input input;
    time_t shown; /* when the histogram was last shown */
    bool has_damage;
    /* Configuration of one source, its text cut in place. */
    struct tw_register keys[KEYS_MOST];
    char *text;
};

/* "NAME=VALUE,NAME=VALUE" to registers, and what --on-error and --assume-sync say. */
static bool read_keys(struct live *live, size_t *count, const char *config)
{
    const struct options *options = live->channels->options;

    *count = 0;
    free(live->text);
    live->text = malloc(config ? strlen(config) + 1 : 1);
    if (!live->text) {
        say("out of memory");
        return false;
    }
    if (config) {
        (void)memcpy(live->text, config, strlen(config) + 1);
        for (char *at = strtok(live->text, ","); at; at = strtok(NULL, ",")) {
            char *equals = strchr(at, '=');
            struct tw_register *key = &live->keys[*count];

            if (!equals || *count == KEYS_MOST - 2 || !parse_number(&key->value, equals + 1))
                return options_wrong(options,
                                     "\"%s\" is no configuration; write NAME=VALUE, "
                                     "separated by commas",
                                     config);
            *equals = 0;
            key->name = at;
            ++*count;
        }
    }
    if (options->on_error)
        live->keys[(*count)++] = (struct tw_register){
            "ON_ERROR", strcmp(options->on_error, "wait") == 0 ? TW_ITM_WAIT : TW_ITM_RESUME
        };
    if (options->assume_sync)
        live->keys[(*count)++] = (struct tw_register){ "ASSUME_SYNC", 1 };
    return true;
}

static bool add_source(struct live *live, uint8_t id, const char *protocol, const char *config)
{
    struct tw_tree_source source = {
        .size = sizeof source, .protocol = protocol, .registers = live->keys, .id = id
    };
    uint8_t got;

    if (!read_keys(live, &source.register_count, config))
        return false;
    if (tw_tree_add_source(live->tree, &got, &source) == TW_OK)
        return true;
    say("%s", tw_tree_fault(live->tree));
    return false;
}

/* Those of --source, the one of --protocol, or an ITM. */
static bool add_sources(struct live *live)
{
    const struct options *options = live->channels->options;

    for (size_t i = 0; i < options->sources.count; i++) {
        const char *text = options->sources.items[i];
        const char *protocol = strchr(text, ':') + 1, *config = strchr(protocol, ':');
        const size_t size = config ? (size_t)(config - protocol) : strlen(protocol);
        char name[32];
        uint64_t id = 0;

        (void)parse_number_size(&id, text, (size_t)(protocol - 1 - text));
        if (size >= sizeof name)
            return options_wrong(options, "there is no protocol \"%s\"", protocol);
        (void)memcpy(name, protocol, size);
        name[size] = 0;
        if (!add_source(live, (uint8_t)id, name, config ? config + 1 : NULL))
            return false;
    }
    if (options->sources.count)
        return true;
    return add_source(live, 0, options->protocol ? options->protocol : "itm", options->config);
}

static bool make_tree(struct live *live)
{
    const struct options *options = live->channels->options;
    struct tw_tree_config config = { .size = sizeof config, .no_barrier = options->no_barrier };
    struct tw_fault fault = { TW_OK, "" };

    if (options->sources.count > 1)
        config.framing = TW_FRAMING_MEMORY;
    if (options->framing && !tw_framing_by_name(&config.framing, options->framing))
        return false; /* its choices were checked */
    live->channels->is_framed = config.framing != TW_FRAMING_NONE;
    if (tw_tree_new(&live->tree, &config, &fault) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

/* Takes what the tree has; false: it failed. */
static bool take_all(struct live *live)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(live->tree, &batch)) == TW_OK) {
        for (size_t i = 0; i < batch.count; i++)
            live->has_damage |= batch.elements[i].type == TW_ELEMENT_ERROR;
        if (!channels_take(live->channels, &batch))
            return false;
    }
    if (status >= 0)
        return true;
    say("%s", tw_tree_fault(live->tree));
    return false;
}

/* The next bytes; waits for them where there may be more.  0: it is over, or the user wants it to be. */
static ssize_t read_some(struct live *live, uint8_t *bytes)
{
    const struct timespec pause = { .tv_sec = 0, .tv_nsec = 100000000 };
    const int fd = live->input.fd;

    while (!interrupt_is_wished_before(fd)) {
        const ssize_t size = read(fd, bytes, PIECE);

        if (size > 0 || (size == 0 && !live->input.is_growing))
            return size;
        if (size < 0 && errno != EINTR) {
            say("reading failed: %s", strerror(errno));
            return -1;
        }
        if (output_is_over(&live->channels->out))
            return 0;
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

/* Once a second, how the samples spread. */
static void show(struct live *live)
{
    const time_t now = time(NULL);

    if (!live->channels->options->histogram || now == live->shown)
        return;
    live->shown = now;
    samples_show(live->channels);
}

static int run(struct live *live)
{
    struct channels *channels = live->channels;
    uint8_t bytes[PIECE];
    ssize_t size;

    while ((size = read_some(live, bytes)) > 0) {
        if (tw_tree_feed(live->tree, bytes, (size_t)size) != TW_OK) {
            say("%s", tw_tree_fault(live->tree));
            return NOT_DONE;
        }
        if (!take_all(live) || !channels_idle(channels))
            return NOT_DONE;
        show(live);
        output_flush(&channels->out);
        if (output_is_over(&channels->out))
            return DONE;
    }
    if (size < 0 || tw_tree_finish(live->tree) != TW_OK || !take_all(live) ||
        !channels_finish(channels))
        return NOT_DONE;
    return live->has_damage ? DONE_WITH_LOSS : DONE;
}

int channels_follow(struct channels *channels, const char *name)
{
    struct live live = { .channels = channels };
    int status = NOT_DONE;

    interrupt_is_a_wish();
    if (stream_input_open(&live.input, name) && make_tree(&live))
        status = add_sources(&live) ? run(&live) : BAD_USAGE;
    tw_tree_free(live.tree);
    free(live.text);
    stream_input_close(&live.input);
    return status;
}
