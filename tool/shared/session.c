/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a capture as the options say. */
#include "shared/session.h"

#include "shared/image_option.h"
#include "shared/interrupt.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/etrace.h>

#include "base/platform.h"

static void print_warning(void *context, const char *text)
{
    const struct session *session = context;

    if (!session->options->quiet)
        say("warning: %s", text);
}

/* Cuts "ID:PROTOCOL[:CONFIG]"; `text` is the session's own copy. */
static void parse_source(struct tw_capture_source_option *source, char *text)
{
    char *protocol = strchr(text, ':') + 1; /* the option's check saw it */
    char *config = strchr(protocol, ':');
    uint64_t id = 0;

    (void)parse_number_size(&id, text, (size_t)(protocol - 1 - text));
    if (config)
        *config++ = 0;
    *source = (struct tw_capture_source_option){ .id = (uint8_t)id,
                                                 .protocol = protocol,
                                                 .config = config };
}

static bool check_protocol(const struct session *session, const char *protocol)
{
    const struct options *options = session->options;
    const char *names[64];
    const char *nearest;
    size_t count = 0;

    if (protocol && plugins_have(&session->plugins, protocol))
        return true;
    while (count < 64 && (names[count] = tw_protocol_name(count)) != NULL) {
        if (protocol && strcmp(names[count], protocol) == 0)
            return true;
        count++;
    }
    nearest = nearest_name(protocol, names, count);
    return options_wrong(options, "there is no protocol \"%s\"%s%s%s", protocol,
                         nearest ? "; did you mean \"" : "; \"trackway --version\" lists them",
                         nearest ? nearest : "", nearest ? "\"?" : "");
}

/* The encoders whose form is known. */
static bool is_known_preset(const char *name)
{
    const char *known;

    for (size_t i = 0; (known = tw_etrace_preset(i)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

/* The one source of --protocol, or those of --source. */
static bool take_sources(struct session *session, struct tw_capture_options *to)
{
    const struct options *options = session->options;
    const size_t count = options->sources.count;

    if (options->protocol && count)
        return options_wrong(options, "--protocol is for one source, --source ID:PROTOCOL for "
                                      "several: give one kind");
    if (options->config && !options->protocol && !options->preset)
        return options_wrong(options, "--config wants --protocol with it");
    if (options->preset && count)
        return options_wrong(options, "--preset is for one source; --source takes preset=NAME "
                                      "in its configuration");
    if (options->preset && !is_known_preset(options->preset))
        return options_wrong(options, "--preset %s is for encode and Arm trace units",
                             options->preset);
    session->sources = calloc(count + 1, sizeof *session->sources);
    if (!session->sources)
        out_of_memory();
    to->sources = session->sources;
    to->source_count = count;
    if (options->protocol || options->preset) {
        session->sources[0] =
            (struct tw_capture_source_option){ .protocol = options->protocol ? options->protocol
                                                                             : "etrace",
                                               .config = options->config,
                                               .preset = options->preset };
        to->source_count = 1;
    }
    return true;
}

/* A copy of every text that has to be cut, in one block. */
static bool copy_texts(struct session *session, struct tw_capture_options *to)
{
    const struct list *sources = &session->options->sources;
    const struct list *images = &session->options->images;
    size_t size = 1;
    char *at;

    for (size_t i = 0; i < sources->count; i++)
        size += strlen(sources->items[i]) + 1;
    for (size_t i = 0; i < images->count; i++)
        size += strlen(images->items[i]) + 1;
    at = session->texts = malloc(size);
    session->images = calloc(images->count + 1, sizeof *session->images);
    if (!at || !session->images)
        out_of_memory();
    for (size_t i = 0; i < sources->count; i++) {
        memcpy(at, sources->items[i], strlen(sources->items[i]) + 1);
        parse_source(&session->sources[i], at);
        at += strlen(sources->items[i]) + 1;
    }
    for (size_t i = 0; i < images->count; i++) {
        memcpy(at, images->items[i], strlen(images->items[i]) + 1);
        if (!image_parse(session->options, "--image", &session->images[i], at))
            return false;
        at += strlen(images->items[i]) + 1;
    }
    to->images = session->images;
    to->image_count = images->count;
    for (size_t i = 0; i < to->source_count; i++)
        if (!check_protocol(session, to->sources[i].protocol))
            return false;
    return true;
}

/* Where perf keeps files by build ID. */
static const char *build_ids(struct session *session)
{
    const char *home = getenv("HOME");
    size_t size;

    if (session->options->build_ids || !home)
        return session->options->build_ids;
    size = strlen(home) + sizeof "/.debug";
    session->build_ids = malloc(size);
    if (session->build_ids)
        (void)snprintf(session->build_ids, size, "%s/.debug", home);
    return session->build_ids;
}

static bool fill_options(struct session *session, struct tw_capture_options *to)
{
    const struct options *options = session->options;

    *to = (struct tw_capture_options){
        .size = sizeof *to,
        .allow_outside = options->allow_outside,
        .core_type = options->arch,
        .no_barrier = options->no_barrier,
        .strip_stop = options->strip_stop,
        .has_wrapped = options->wrapped_at.is_given,
        .wrapped_at = options->wrapped_at.value,
        .swap = (uint32_t)options->swap.value,
        .skip = options->skip.value,
        .warn = print_warning,
        .warn_context = session,
    };
    to->sysroot = options->sysroot;
    to->kernel = options->kernel;
    to->vdso = options->vdso;
    to->build_ids = build_ids(session);
    to->trust_time = session->options->trust_time;
    if (options->framing)
        to->has_framing = tw_framing_by_name(&to->framing, options->framing);
    return take_sources(session, to) && copy_texts(session, to);
}

/* The names that the options use must be there. */
static bool check_names(const struct session *session)
{
    const struct options *options = session->options;
    const struct tw_capture *capture = session->capture;

    if (options->buffer && tw_capture_buffer_by_name(capture, options->buffer) == TW_NONE) {
        say("%s: no buffer is named \"%s\"; \"trackway info\" lists them",
            tw_capture_path(capture), options->buffer);
        return false;
    }
    for (size_t i = 0; i < options->source_names.count; i++) {
        const char *name = options->source_names.items[i];
        size_t at = 0;

        while (at < tw_capture_source_count(capture) &&
               strcmp(tw_capture_source(capture, at)->name, name) != 0)
            at++;
        if (at == tw_capture_source_count(capture)) {
            say("%s: no source is named \"%s\"; \"trackway info\" lists them",
                tw_capture_path(capture), name);
            return false;
        }
    }
    return true;
}

enum { SPOOL_PIECE = 1 << 16 };

/* A new file, which an interrupt removes. */
static FILE *open_spool(struct session *session)
{
    const char *folder = getenv(TW_TEMPORARY_VARIABLE);
    const size_t room =
        strlen(folder ? folder : TW_TEMPORARY_FOLDER) + sizeof "/trackway-XXXXXX";
    FILE *file = NULL;
    int fd;

    session->spooled = malloc(room);
    if (!session->spooled)
        return NULL;
    (void)snprintf(session->spooled, room, "%s/trackway-XXXXXX",
                   folder ? folder : TW_TEMPORARY_FOLDER);
    interrupt_hold();
    fd = mkstemp(session->spooled);
    if (fd >= 0 && interrupt_removes(session->spooled))
        file = fdopen(fd, "wb");
    interrupt_release();
    return file;
}

/* Standard input as a file that can be mapped; it has no name once it is open. */
static bool spool(struct session *session)
{
    char *buffer = malloc(SPOOL_PIECE);
    FILE *file = buffer ? open_spool(session) : NULL;
    bool is_good = file != NULL;
    size_t size;

    while (is_good && (size = fread(buffer, 1, SPOOL_PIECE, stdin)) > 0)
        is_good = fwrite(buffer, 1, size, file) == size;
    is_good = is_good && !ferror(stdin);
    if (file)
        is_good = fclose(file) == 0 && is_good;
    free(buffer);
    if (!is_good)
        say("cannot keep standard input in a temporary file");
    return is_good;
}

/* What an option names has to be there: it would have no effect, and nobody would know. */
static bool check_paths(const struct options *options)
{
    struct stat about;

    if (options->kernel && stat(options->kernel, &about) != 0) {
        say("--kernel %s: no such file; give a vmlinux with symbols, or kcore",
            options->kernel);
        return false;
    }
    if (options->sysroot && (stat(options->sysroot, &about) != 0 || !S_ISDIR(about.st_mode))) {
        say("--sysroot %s: no such folder; give the one that holds the traced machine's files",
            options->sysroot);
        return false;
    }
    if (options->build_ids &&
        (stat(options->build_ids, &about) != 0 || !S_ISDIR(about.st_mode))) {
        say("--build-ids %s: no such folder; give the one that holds .build-id, such as "
            "~/.debug",
            options->build_ids);
        return false;
    }
    return true;
}

/* The first bytes of a file; "" where there are none. */
static void read_start(char start[8], const char *path)
{
    FILE *file = fopen(path, "rb");

    memset(start, 0, 8);
    if (file) {
        (void)!fread(start, 1, 7, file);
        (void)fclose(file);
    }
}

/* Files of which no use can be made as they are given. */
static bool check_files(const struct session *session)
{
    const struct options *options = session->options;
    char start[8];

    for (size_t i = 0; i < options->images.count; i++) {
        read_start(start, session->images[i].path);
        if (start[0] && memcmp(start, "\177ELF", 4) != 0 && strncmp(start, "xlen", 4) != 0 &&
            start[0] != '#' && !strrchr(options->images.items[i], '@') && !options->quiet)
            say("warning: --image %s is no ELF file: it lies at address 0 unless you say "
                "where, "
                "--image FILE@ADDRESS",
                session->images[i].path);
    }
    for (size_t i = 0; i < options->symbols.count; i++) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(options->symbols.items[i], "@"),
                       options->symbols.items[i]);
        read_start(start, path);
        if (start[0] && memcmp(start, "\177ELF", 4) != 0) {
            say("--symbols %s: it is no ELF file, and so has no symbols; give the program as "
                "it "
                "was linked",
                path);
            return false;
        }
    }
    return true;
}

static void remove_spooled(const struct session *session)
{
    if (session->spooled)
        (void)remove(session->spooled);
}

int session_open(struct session *session, const struct options *options)
{
    const char *path = options->arguments.items[0];
    const struct tw_errors_config log = { .size = sizeof log, .file = stderr };
    struct tw_capture_options to;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status opened;

    *session = (struct session){ .options = options };
    if (!plugins_load(&session->plugins, options))
        return NOT_DONE;
    if (!fill_options(session, &to))
        return BAD_USAGE;
    if (!check_paths(options) || !check_files(session))
        return NOT_DONE;
    to.protocols = session->plugins.protocols;
    to.protocol_count = session->plugins.protocol_count;
    if (tw_errors_new(&session->errors, &log, NULL) != TW_OK) {
        say("out of memory");
        return NOT_DONE;
    }
    if (strcmp(path, "-") == 0 && !spool(session))
        return NOT_DONE;
    if (!identified_fill(&session->identified, &to, options,
                         session->spooled ? session->spooled : path))
        return NOT_DONE;
    opened = tw_capture_open(&session->capture, session->spooled ? session->spooled : path, &to,
                             &fault);
    remove_spooled(session);
    if (opened != TW_OK) {
        say("%s", fault.text);
        return NOT_DONE;
    }
    if (tw_capture_kind(session->capture) != TW_CAPTURE_RAW &&
        (options->framing || options->protocol || options->sources.count || options->preset) &&
        !options->quiet)
        say("warning: %s says itself what its sources and framing are; "
            "--framing, --protocol and --source ID:PROTOCOL are for raw files",
            tw_capture_path(session->capture));
    session->perf = tw_capture_perf(session->capture);
    return check_names(session) ? DONE : NOT_DONE;
}

void session_close(struct session *session)
{
    tw_run_free(session->run);
    tw_capture_free(session->capture);
    tw_errors_free(session->errors);
    free(session->build_ids);
    remove_spooled(session); /* where it was not opened */
    free(session->spooled);
    free(session->sources);
    identified_free(&session->identified);
    free(session->images);
    free(session->texts);
    plugins_free(&session->plugins);
    *session = (struct session){ .options = session->options };
}

void session_leave(struct session *session)
{
#ifndef TW_SANITIZED
    /* Decoders of plug-ins are told of their end. */
    if (!session->options->is_followed && !session->plugins.handle_count) {
        remove_spooled(session);
        return;
    }
#endif
    session_close(session);
}

bool session_has_several(const struct session *session)
{
    return tw_capture_buffer_count(session->capture) > 1;
}

/* A perf.data file has a buffer for each AUX record. */
bool session_sums_up(const struct session *session)
{
    enum { BUFFERS_LISTED = 64 };

    return !session->options->buffer && !session->options->verbose &&
           tw_capture_buffer_count(session->capture) > BUFFERS_LISTED;
}

size_t session_batch_room(const struct session *session)
{
    enum { SMALL = 1 << 14, ROOM = 1024 };
    uint64_t bytes = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        bytes += tw_capture_buffer(session->capture, i)->size;
    return bytes <= SMALL ? ROOM : 0;
}

bool session_wants(const struct session *session, size_t buffer)
{
    const char *name = session->options->buffer;

    return !name || tw_capture_buffer_by_name(session->capture, name) == buffer;
}

const char *session_file(const struct session *session, size_t buffer)
{
    const struct tw_buffer *about = tw_capture_buffer(session->capture, buffer);
    const char *name = about->file_count ? about->files[0] : about->name;
    const char *slash = tw_last_slash(name);

    return slash && slash[1] ? slash + 1 : name;
}

bool session_wants_source(const struct session *session, size_t source)
{
    const struct list *names = &session->options->source_names;
    const char *name = tw_capture_source(session->capture, source)->name;

    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return names->count == 0;
}

bool session_wants_id(const struct session *session, uint8_t id)
{
    const struct options *options = session->options;

    return !options->has_ids || (id < 128 && (options->ids[id / 64] >> id % 64 & 1));
}

bool session_is_filtered(const struct session *session)
{
    return session->options->range.is_given || session->options->functions.count;
}

const char *session_missing_hint(const struct session *session)
{
    const struct options *options = session->options;

    if (session->perf && !options->sysroot && !options->build_ids)
        return ": --sysroot DIR, --build-ids DIR or --kernel FILE give the traced machine's "
               "code";
    if (!session->perf && !options->images.count)
        return ": --image FILE[@ADDRESS] gives the program";
    return "";
}
