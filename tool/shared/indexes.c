/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes of a capture's buffers. */
#include "shared/indexes.h"

#include <stdlib.h>
#include <string.h>

enum { EXTRA_KEYS = 2 };

static enum tw_status read_buffer(void *context, const uint8_t **bytes, size_t *size,
                                  uint64_t offset)
{
    const struct subject *subject = context;

    return tw_capture_read(subject->session->capture, bytes, size, subject->buffer,
                           offset - subject->about.base);
}

/* The options that decoders know as keys of their configuration. */
static void add_keys(struct subject *subject, struct tw_tree_source *source,
                     struct tw_register *registers)
{
    const struct options *options = subject->session->options;
    size_t count = source->register_count;

    if (!options->on_error && !options->assume_sync)
        return;
    if (count)
        memcpy(registers, source->registers, count * sizeof *registers);
    if (options->on_error)
        registers[count++] =
            (struct tw_register){ "ON_ERROR", strcmp(options->on_error, "wait") == 0 ? 2 : 1 };
    if (options->assume_sync)
        registers[count++] = (struct tw_register){ "ASSUME_SYNC", 1 };
    source->registers = registers;
    source->register_count = count;
}

/* An index is of all sources, whichever of them are asked for; unframed there is one alone. */
static bool is_part(const struct subject *subject, size_t number)
{
    const struct session *session = subject->session;
    const struct tw_source *source = tw_capture_source(session->capture, number);

    if (!source->protocol ||
        !tw_capture_source_is_in(session->capture, number, 0, (uint32_t)subject->buffer))
        return false;
    if (subject->about.framing != TW_FRAMING_NONE)
        return true;
    return subject->about.source_count == 0 && session_wants_source(session, number) &&
           (!source->has_id || session_wants_id(session, source->id));
}

/* Sources that cannot be configured are left out, as in decoding. */
static void add_sources(struct subject *subject, struct tw_tree *tree)
{
    const struct session *session = subject->session;
    struct tw_register *registers = subject->registers;

    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++) {
        const struct tw_source *source = tw_capture_source(session->capture, i);
        struct tw_tree_source *to = &subject->sources[subject->about.source_count];

        if (!is_part(subject, i))
            continue;
        *to = (struct tw_tree_source){
            .size = sizeof *to,
            .protocol = source->protocol,
            .registers = source->registers,
            .register_count = source->register_count,
            .type = source->type,
            .core_type = session->options->arch ? session->options->arch : source->core_type,
            .text = source->text,
            .id = source->id,
        };
        add_keys(subject, to, registers);
        if (tw_tree_add_source(tree, NULL, to) != TW_OK)
            continue;
        subject->about.source_count++;
        registers += to->register_count;
    }
}

bool subject_open(struct subject *subject, const struct session *session, size_t buffer)
{
    const struct tw_buffer *about = tw_capture_buffer(session->capture, buffer);
    const size_t count = tw_capture_source_count(session->capture);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = about->framing,
                                           .packets_only = true };
    struct tw_tree *tree = NULL;
    size_t registers = 1;

    *subject = (struct subject){
        .session = session,
        .buffer = buffer,
        .about = { .size = sizeof subject->about,
                   .framing = about->framing,
                   .no_barrier = tw_capture_no_barrier(session->capture),
                   .base = about->offset,
                   .bytes = about->size,
                   .read = read_buffer,
                   .read_context = subject },
    };
    for (size_t i = 0; i < count; i++)
        registers += tw_capture_source(session->capture, i)->register_count + EXTRA_KEYS;
    subject->sources = calloc(count + 1, sizeof *subject->sources);
    subject->registers = calloc(registers, sizeof *subject->registers);
    subject->about.sources = subject->sources;
    if (!subject->sources || !subject->registers ||
        tw_tree_new(&tree, &config, NULL) != TW_OK) {
        subject_close(subject);
        say("out of memory");
        return false;
    }
    add_sources(subject, tree);
    tw_tree_free(tree);
    return true;
}

void subject_close(struct subject *subject)
{
    free(subject->sources);
    free(subject->registers);
    subject->sources = NULL;
    subject->registers = NULL;
}

/* The capture's path and ".twx"; a folder's name ends with no slash. */
static char *path_beside(const struct session *session)
{
    static const char suffix[] = ".twx";
    const char *capture = tw_capture_path(session->capture);
    size_t size = strlen(capture);
    char *path = malloc(size + sizeof suffix);

    if (!path)
        return NULL;
    while (size > 1 && capture[size - 1] == '/')
        size--;
    memcpy(path, capture, size);
    memcpy(path + size, suffix, sizeof suffix);
    return path;
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file)
        (void)fclose(file);
    return file != NULL;
}

static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

bool indexes_open(struct indexes *indexes, const struct session *session)
{
    const size_t count = tw_capture_buffer_count(session->capture);
    const char *given = session->options->index;
    struct tw_fault fault = { TW_OK, "" };

    *indexes = (struct indexes){ .session = session };
    indexes->path = given ? copy_text(given) : path_beside(session);
    indexes->made = calloc(count + 1, sizeof *indexes->made);
    indexes->all = calloc(count + 1, sizeof(const struct tw_index *));
    if (!indexes->path || !indexes->made || !indexes->all) {
        indexes_close(indexes);
        say("out of memory");
        return false;
    }
    indexes->has_file = is_there(indexes->path);
    if (indexes->has_file &&
        tw_index_open(&indexes->file, indexes->path, NULL, &fault) != TW_OK &&
        !session->options->quiet)
        say("warning: %s; it is not used", fault.text);
    return true;
}

void indexes_close(struct indexes *indexes)
{
    const size_t count = indexes->made ? tw_capture_buffer_count(indexes->session->capture) : 0;

    for (size_t i = 0; i < count; i++)
        tw_index_free(indexes->made[i]);
    tw_index_close(indexes->file);
    free(indexes->made);
    free(indexes->all);
    free(indexes->path);
    *indexes = (struct indexes){ .session = indexes->session };
}

void indexes_check(struct indexes *indexes)
{
    struct tw_fault fault = { TW_OK, "" };

    if (!indexes->file || tw_index_file_check(indexes->file, &fault) == TW_OK)
        return;
    if (!indexes->session->options->quiet)
        say("warning: %s: %s; it is not used", indexes->path, fault.text);
    tw_index_close(indexes->file);
    indexes->file = NULL;
}

/* By its place, else by its name. */
static const struct tw_index *index_of(const struct indexes *indexes,
                                       const struct subject *subject)
{
    const struct tw_buffer *buffer =
        tw_capture_buffer(indexes->session->capture, subject->buffer);
    const struct tw_index *first = NULL;

    for (size_t i = 0; i < tw_index_file_count(indexes->file); i++) {
        const struct tw_index *index = tw_index_file_get(indexes->file, i);
        const struct tw_index_about *about = tw_index_about(index);

        if (strncmp(about->name, buffer->name, strlen(about->name)) == 0 &&
            about->base == subject->about.base)
            return index;
        if (!first)
            first = index;
    }
    return tw_index_file_count(indexes->file) == 1 ? first : NULL;
}

const struct tw_index *indexes_find(struct indexes *indexes, const struct subject *subject,
                                    bool is_thorough)
{
    const struct tw_index *index = indexes->all[subject->buffer];
    const bool is_quiet = indexes->session->options->quiet;
    struct tw_fault fault = { TW_OK, "" };

    if (index || !indexes->file)
        return index;
    index = index_of(indexes, subject);
    if (!index) {
        if (!is_quiet)
            say("warning: %s holds no index of buffer %s", indexes->path,
                tw_capture_buffer(indexes->session->capture, subject->buffer)->name);
        return NULL;
    }
    if (tw_index_matches(index, &subject->about, is_thorough, &fault) != TW_OK) {
        if (!is_quiet)
            say("warning: %s: %s; it is not used", indexes->path, fault.text);
        return NULL;
    }
    indexes->all[subject->buffer] = index;
    return index;
}

const struct tw_index *indexes_need(struct indexes *indexes, const struct subject *subject,
                                    bool is_thorough)
{
    const struct tw_index_config config = {
        .size = sizeof config,
        .detail = TW_INDEX_FULL,
        .name = tw_capture_buffer(indexes->session->capture, subject->buffer)->name,
    };
    const struct tw_index *found = indexes_find(indexes, subject, is_thorough);
    struct tw_fault fault = { TW_OK, "" };

    if (found) {
        const struct tw_index_about *about = tw_index_about(found);

        if (about->detail == TW_INDEX_FULL && about->is_complete)
            return found;
    }
    if (indexes->session->options->verbose)
        say("%s: indexes buffer %s", tw_capture_path(indexes->session->capture), config.name);
    if (tw_index_build(&indexes->made[subject->buffer], &subject->about, &config, &fault) !=
        TW_OK) {
        say("%s: %s", tw_capture_path(indexes->session->capture), fault.text);
        return NULL;
    }
    indexes->all[subject->buffer] = indexes->made[subject->buffer];
    return indexes->all[subject->buffer];
}

bool indexes_write(const struct indexes *indexes)
{
    const size_t count = tw_capture_buffer_count(indexes->session->capture);
    const struct tw_index **list = calloc(count + 1, sizeof(const struct tw_index *));
    struct tw_fault fault = { TW_OK, "" };
    size_t written = 0;
    bool is_done = false;

    if (!list) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (indexes->all[i])
            list[written++] = indexes->all[i];
    is_done = written && tw_index_write(indexes->path, list, written, &fault) == TW_OK;
    if (!is_done)
        say("%s", written ? fault.text : "there is no buffer to index");
    free(list);
    return is_done;
}
