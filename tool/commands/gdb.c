/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway gdb: a capture in GDB, forwards and backwards. */
#define _XOPEN_SOURCE 700 /* readlink */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "gdb/connection.h"
#include "gdb/recording.h"

enum { PATH_ROOM = 4096 };

/* ---- the server ---- */

/* Where the first thread begins. */
static bool go_to_start(struct recording *recording, const struct options *options)
{
    const char *place = options->first ? "first" : options->at;
    struct gdb_text out = { .size = 0 };
    bool is_good = true;

    if (place && !recording_go(recording, &out, recording->first_thread, place)) {
        if (out.size)
            out.text[out.size - 1] = 0; /* the end of the line */
        say("--at: %s", out.text ? out.text : "there is no such place");
        is_good = false;
    }
    gdb_text_free(&out);
    return is_good;
}

/* The names that were asked for and those of the program, in a list of our own. */
static bool list_symbols(struct list *symbols, const struct options *options)
{
    bool is_good = true;

    for (size_t i = 0; i < options->symbols.count; i++)
        is_good = is_good && list_add(symbols, options->symbols.items[i]);
    if (options->arguments.count > 1)
        is_good = is_good && list_add(symbols, options->arguments.items[1]);
    return is_good;
}

/* The capture as the options say it, with the program's code and names. */
static int open_recording(struct recording *recording, struct options *options,
                          struct session *session, struct session_wish *wish)
{
    const char *program = options->arguments.count > 1 ? options->arguments.items[1] : NULL;
    int status;

    options->arguments.count = 1;
    status = session_open(session, options);
    if (status == DONE)
        status = session_wish(session, wish);
    if (status == DONE)
        status = recording_open(recording, session, wish, program);
    if (status == DONE && !go_to_start(recording, options))
        status = NOT_DONE;
    return status;
}

static int serve(const struct options *given)
{
    struct options options = *given;
    struct session session = { .options = &options };
    struct session_wish wish = { .paths = NULL };
    struct recording *recording = calloc(1, sizeof *recording);
    struct connection *connection = calloc(1, sizeof *connection);
    struct gdb_server *server = calloc(1, sizeof *server);
    int status = NOT_DONE;

    options.symbols = (struct list){ .count = 0 };
    if (!list_symbols(&options.symbols, given) || !recording || !connection || !server)
        say("out of memory");
    else
        status = open_recording(recording, &options, &session, &wish);
    if (status == DONE) {
        connection->in = STDIN_FILENO;
        connection->out = STDOUT_FILENO;
        if (given->listen.is_given &&
            !connection_listen(connection, (uint16_t)given->listen.value))
            status = NOT_DONE;
    }
    if (status == DONE) {
        recording->is_interrupted = connection_is_interrupted;
        recording->interrupt_context = connection;
        gdb_server_init(server, &recording->target);
        connection_serve(connection, server);
        gdb_server_free(server);
        connection_close(connection);
    }
    if (recording)
        recording_close(recording);
    session_wish_free(&wish);
    session_close(&session);
    free(options.symbols.items);
    free(server);
    free(connection);
    free(recording);
    return status;
}

/* ---- GDB ---- */

/* Text for the shell. */
static bool put_quoted(struct gdb_text *out, const char *word)
{
    gdb_text_put(out, " '");
    for (; *word; word++) {
        if (*word == '\n')
            return false;
        if (*word == '\'')
            gdb_text_put(out, "'\\''");
        else
            gdb_text_add(out, word, 1);
    }
    gdb_text_put(out, "'");
    return true;
}

/* The tool itself, and what stands beside it. */
static bool find_self(char *self, char *script)
{
    static const char *const places[] = { "/trackway-gdb.py",
                                          "/../share/trackway/trackway-gdb.py" };
    const ssize_t size = readlink("/proc/self/exe", self, PATH_ROOM - 1);
    const char *slash;

    self[size > 0 ? size : 0] = 0;
    slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        (void)snprintf(script, PATH_ROOM, "%.*s%s", (int)(slash - self), self, places[i]);
        if (access(script, R_OK) == 0)
            return true;
    }
    say("gdb: trackway-gdb.py is neither beside trackway nor in ../share/trackway");
    return false;
}

/* How many of the arguments stand behind "--": they are GDB's. */
static size_t count_theirs(const struct options *options)
{
    char **words = options->words;
    size_t count = 0;

    while (*words && strcmp(*words, "--") != 0)
        words++;
    while (*words && words[1])
        words++, count++;
    return count;
}

/* "target remote | trackway gdb --serve ...", with the words that we were given. */
static bool put_connection(struct gdb_text *out, const struct options *options,
                           const char *self)
{
    bool is_good;

    gdb_text_put(out, "target remote |");
    is_good = put_quoted(out, self);
    gdb_text_put(out, " gdb --serve");
    for (char **word = options->words; *word && strcmp(*word, "--") != 0; word++)
        is_good = is_good && put_quoted(out, *word);
    if (!is_good)
        (void)options_wrong(options, "a line break in an argument cannot be handed on to GDB");
    return is_good;
}

static int start(const struct options *options, size_t ours)
{
    static const char *const programs[] = { "gdb-multiarch", "gdb" };
    const char *wanted = getenv("TRACKWAY_GDB");
    const size_t theirs = options->arguments.count - ours;
    char self[PATH_ROOM], script[PATH_ROOM];
    struct gdb_text source = { .size = 0 }, connection = { .size = 0 };
    char **words = calloc(theirs + 16, sizeof *words);
    size_t count = 0;

    if (words && find_self(self, script) && put_connection(&connection, options, self)) {
        gdb_text_format(&source, "source %s", script);
        count++; /* the program */
        words[count++] = strdup("-q");
        /* Else GDB stops at each longjmp, to look at registers. */
        words[count++] = strdup("-iex");
        words[count++] = strdup("set osabi none");
        words[count++] = strdup("-ex");
        words[count++] = strdup(source.text);
        words[count++] = strdup("-ex");
        words[count++] = strdup(connection.text);
        /* The thread that is selected moves, and no other. */
        words[count++] = strdup("-ex");
        words[count++] = strdup("set scheduler-locking on");
        for (size_t i = 0; i < theirs; i++)
            words[count++] = strdup(options->arguments.items[ours + i]);
        if (ours > 1)
            words[count++] = strdup(options->arguments.items[1]);
        for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
            free(words[0]);
            words[0] = strdup(wanted && *wanted ? wanted : programs[i]);
            if (words[0])
                (void)execvp(words[0], words);
        }
        say("gdb: %s is not there; install GDB (Debian: apt-get install gdb-multiarch), or "
            "name one in TRACKWAY_GDB",
            wanted && *wanted ? wanted : "neither gdb-multiarch nor gdb");
    }
    gdb_text_free(&source);
    gdb_text_free(&connection);
    for (size_t i = 0; words && i < count; i++)
        free(words[i]);
    free(words);
    return NOT_DONE;
}

static int run(const struct options *options)
{
    const size_t ours = options->arguments.count - count_theirs(options);

    if (ours < 1 || ours > 2) {
        (void)options_wrong(options,
                            "usage: trackway gdb CAPTURE [PROGRAM] [-- GDB-ARGUMENT...]");
        return BAD_USAGE;
    }
    if (options->first && options->at) {
        (void)options_wrong(options, "--first and --at: give one of them");
        return BAD_USAGE;
    }
    if (options->listen.is_given && options->listen.value > UINT16_MAX) {
        (void)options_wrong(options, "--port: from 0 to 65535");
        return BAD_USAGE;
    }
    return options->serve || options->listen.is_given ? serve(options) : start(options, ours);
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART,   G_DECODER, G_EXECUTED, O_INDEX,  O_KEY,
    O_SERVE,   O_LISTEN, O_PLACE,   O_FIRST,    G_OUTPUT, O_END,
};

const struct command command_gdb = {
    .name = "gdb",
    .arguments = "CAPTURE [PROGRAM] [OPTION...] [-- GDB-ARGUMENT...]",
    .summary = "step through the capture in GDB, forwards and backwards",
    .details =
        "Starts gdb-multiarch or gdb ($TRACKWAY_GDB names another) on the capture, at its "
        "last\n"
        "instruction. All commands that run the program work, and their reverse forms; bt "
        "shows\n"
        "the traced call stack. Only the pc is known: registers and data are unavailable.\n"
        "\"monitor help\" in GDB lists what else there is. PROGRAM is the ELF file.\n"
        "\n"
        "examples:\n"
        "  trackway gdb snapshot/ program.elf     how did I get here? reverse-finish\n"
        "  trackway gdb perf.data program --at function:main\n"
        "  trackway gdb snapshot/ program.elf -- -batch -ex bt\n"
        "  gdb-multiarch program.elf -ex 'target remote | trackway gdb --serve snapshot/'",
    .options = takes,
    .least = 1,
    .most = 4096,
    .run = run,
};
