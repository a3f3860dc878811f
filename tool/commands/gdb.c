/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway gdb: a capture in GDB, forwards and backwards. */
#define _XOPEN_SOURCE 700 /* readlink */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "gdb/connection.h"
#include "gdb/programs.h"
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
        if (!connection_serve(connection, server))
            status = NOT_DONE;
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

/* The programs for GDB.  Whatever is wrong with the capture is said now, and not by way of GDB. */
static int find_programs(struct gdb_programs *programs, const struct options *given,
                         size_t ours)
{
    const char *program = ours > 1 ? given->arguments.items[1] : NULL;
    struct options options = *given;
    struct session session = { .options = &options };
    struct session_wish wish = { .paths = NULL };
    int status;

    options.arguments.count = 1;
    options.quiet = true; /* the server says it */
    status = session_open(&session, &options);
    if (status == DONE)
        status = session_wish(&session, &wish);
    if (status == DONE && program && access(program, R_OK) != 0) {
        say("cannot read %s: %s", program, strerror(errno));
        status = NOT_DONE;
    }
    if (status == DONE && !gdb_programs_find(programs, &session, &wish, program)) {
        say("out of memory");
        status = NOT_DONE;
    }
    if (status == DONE && !programs->count && !given->quiet)
        say("no program is known: without its ELF file (PROGRAM, --image or --symbols) there "
            "are no "
            "names "
            "and lines");
    session_wish_free(&wish);
    session_close(&session);
    return status;
}

/* GDB's arguments. */
struct words {
    char **items;
    size_t count, room;
    bool is_out; /* of memory */
};

static void add_word(struct words *words, const char *text)
{
    if (words->count + 1 >= words->room) {
        const size_t room = words->room ? 2 * words->room : 32;
        char **items = realloc(words->items, room * sizeof *items);

        words->is_out |= !items;
        if (!items)
            return;
        words->items = items;
        words->room = room;
    }
    words->items[words->count] = text ? strdup(text) : NULL;
    words->is_out |= text && !words->items[words->count];
    words->items[++words->count] = NULL;
}

static void add_command(struct words *words, const char *command)
{
    add_word(words, "-ex");
    add_word(words, command);
}

/* The first program is GDB's own where it was loaded as it was linked, all others are files with symbols. */
static const char *add_programs(struct words *words, const struct gdb_programs *programs)
{
    const char *own = NULL;

    for (size_t i = 0; i < programs->count; i++) {
        const struct gdb_program *program = &programs->items[i];
        struct gdb_text command = { .size = 0 };

        if (!i && program->bias) { /* else GDB misses an executable */
            add_word(words, "-e");
            add_word(words, program->path);
        }
        if (!i && !program->bias) {
            own = program->path;
        } else if (!strchr(program->path, '\n')) {
            gdb_text_format(&command, "trackway symbols 0x%" PRIx64 " %s", program->bias,
                            program->path);
            add_command(words, command.text);
        }
        gdb_text_free(&command);
    }
    return own;
}

/* Does not come back where there is a GDB. */
static void start_gdb(struct words *words)
{
    static const char *const programs[] = { "gdb-multiarch", "gdb" };
    const char *wanted = getenv("TRACKWAY_GDB");

    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        free(words->items[0]);
        words->items[0] = strdup(wanted && *wanted ? wanted : programs[i]);
        if (words->items[0])
            (void)execvp(words->items[0], words->items);
    }
    say("gdb: %s is not there; install GDB (Debian: apt-get install gdb-multiarch), or "
        "name one in TRACKWAY_GDB",
        wanted && *wanted ? wanted : "neither gdb-multiarch nor gdb");
}

static int start(const struct options *options, size_t ours)
{
    char self[PATH_ROOM], script[PATH_ROOM];
    struct gdb_text source = { .size = 0 }, connection = { .size = 0 };
    struct gdb_programs programs = { .count = 0 };
    struct words words = { .count = 0 };
    int status = find_programs(&programs, options, ours);
    const char *own;

    if (status == DONE && find_self(self, script) &&
        put_connection(&connection, options, self)) {
        gdb_text_format(&source, "source %s", script);
        add_word(&words, "gdb");
        add_word(&words, "-q");
        /* Else GDB stops at each longjmp, to look at registers. */
        add_word(&words, "-iex");
        add_word(&words, "set osabi none");
        add_command(&words, source.text);
        own = add_programs(&words, &programs);
        add_command(&words, connection.text);
        /* The thread that is selected moves, and no other. */
        add_command(&words, "set scheduler-locking on");
        /* GDB moves a thread alone to step over a breakpoint.  Now it does so always; a breakpoint that it takes away
           says it too, if it does not take away all at each stop. */
        add_command(&words, "set breakpoint always-inserted on");
        add_command(&words, "monitor always-inserted");
        for (size_t i = ours; i < options->arguments.count; i++)
            add_word(&words, options->arguments.items[i]);
        if (own)
            add_word(&words, own);
        if (words.is_out)
            say("out of memory");
        else
            start_gdb(&words);
    }
    gdb_text_free(&source);
    gdb_text_free(&connection);
    gdb_programs_free(&programs);
    for (size_t i = 0; i < words.count; i++)
        free(words.items[i]);
    free(words.items);
    return status == DONE ? NOT_DONE : status;
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
    G_CAPTURE, G_PART,  G_DECODER, G_EXECUTED, O_INDEX,   O_KEY, O_SERVE,
    O_LISTEN,  O_PLACE, O_FIRST,   O_QUIET,    O_VERBOSE, O_END,
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
        "\"monitor help\" in GDB lists what else there is. PROGRAM is the ELF file; without it "
        "those\n"
        "that the capture tells of, or --image and --symbols, are taken.\n"
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
