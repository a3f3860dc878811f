/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: one table of options for all commands, and what was given of them. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/output.h"

/* Every option.  A command lists those that it takes, and groups of them; O_END ends the list. */
enum option_key {
    O_END,
    /* what to look at */
    O_BUFFER,
    O_ID,
    O_SOURCE,
    O_SRC,
    O_CPU,
    O_PID,
    O_TID,
    O_COMM,
    O_FROM,
    O_TO,
    O_PART,
    O_PARTS,
    O_RANGE,
    O_FUNCTION,
    /* what a raw file is */
    O_FRAMING,
    O_PROTOCOL,
    O_PLUGIN,
    O_CONFIG,
    O_ARCH,
    O_NO_BARRIER,
    O_WRAPPED_AT,
    O_SWAP,
    O_SKIP,
    O_STRIP_STOP,
    O_IMAGE,
    O_SYMBOLS,
    O_ALLOW_OUTSIDE,
    O_NO_SANDBOX,
    /* perf.data */
    O_SYSROOT,
    O_SYMFS,
    O_KERNEL,
    O_VDSO,
    O_BUILD_IDS,
    O_TRUST_TIME,
    O_PERF_STYLE,
    O_BRSTACK,
    O_PERIOD,
    O_BINARY,
    /* how to decode */
    O_OPT,
    O_CHECK,
    O_THREADS,
    O_AT,
    O_COUNT,
    O_INDEX,
    O_BUILD_INDEX,
    O_DETAIL,
    O_BLOCK,
    O_ON_ERROR,
    O_ASSUME_SYNC,
    /* channels */
    O_PORT,
    O_PORT_FORMAT,
    O_HISTOGRAM,
    O_RAW,
    O_FOLLOW,
    /* frames */
    O_ALL,
    O_SPLIT,
    /* pack */
    O_STREAM,
    O_INTERLEAVE,
    O_TRIGGER,
    O_FLUSH,
    O_BARRIER,
    O_IDLE,
    O_ALIGN,
    O_REPEAT,
    O_FSYNC,
    /* snapshot */
    O_TRACE,
    O_DEVICE,
    O_REG,
    O_DUMP,
    O_CLUSTER,
    O_FROM_CAPTURE,
    O_DESCRIPTION,
    O_FORCE,
    /* encode */
    O_ELF,
    O_PRESET,
    O_UNIT,
    O_LOG_REPEATS,
    /* record */
    O_SYSTEM,
    O_FILTER,
    O_SNAPSHOT,
    O_RING,
    O_MAX_SIZE,
    O_STROBE_ON,
    O_STROBE_OFF,
    O_QEMU,
    /* calls */
    O_KEY,
    O_TAIL_CALLS,
    O_STACKS,
    O_OF_FUNCTION,
    O_SHOW_FUNCTION,
    O_EVENTS,
    O_BEFORE,
    O_LAST,
    O_SOURCE_ROOT,
    /* profile */
    O_BY,
    O_SHOW_UNIT,
    O_SELF,
    O_LIMIT,
    O_SAVE,
    O_ADD,
    O_EACH,
    O_INLINE,
    O_DEMANGLE,
    O_NO_DEMANGLE,
    /* timeline */
    O_TIME_UNIT,
    O_MIN_DURATION,
    O_DEPTH,
    O_SPAN_LIMIT,
    /* report */
    O_BUDGET,
    O_EMBED_SOURCES,
    O_SERVE_PORT,
    O_SERVE_PERFETTO,
    /* interrupts */
    O_EACH_EVENT,
    /* gdb */
    O_SERVE,
    O_LISTEN,
    O_PLACE,
    O_FIRST,
    /* packets */
    O_BITS,
    /* diff */
    O_PACKETS,
    O_IGNORE,
    /* shard */
    O_SHARD_PARTS,
    /* check-sequence */
    O_EXPLAIN,
    O_STRICT,
    /* output */
    O_INSTRUCTIONS,
    O_SYMBOLS_IN_LINES,
    O_FORMAT,
    O_COLUMNS,
    O_CLOCK,
    O_ERRORS,
    O_STATS,
    O_OUTPUT,
    O_COLOR,
    O_PROGRESS,
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    OPTION_COUNT
};

/* What commands have in common: options_table.c has the members. */
enum option_group {
    G_CAPTURE = OPTION_COUNT, /* what the capture is, and where its program is */
    G_PART,                   /* which bytes of it */
    G_DECODER,                /* how its packets are read, and how far that has come */
    G_EXECUTED, /* what was executed: by whom, in which clock, on how many threads */
    G_OUTPUT,   /* where the result goes, and how much is said */
    GROUP_END
};

struct list {
    const char **items;
    size_t count;
};

struct number {
    bool is_given;
    uint64_t value;
};

/* Numbers of an option that takes a list. */
struct numbers {
    uint32_t *items;
    size_t count;
};

/* Where --from and --to are. */
enum bound_kind { BOUND_OFFSET, BOUND_TIME, BOUND_SECONDS, BOUND_INSTRUCTIONS };

struct bound {
    bool is_given;
    enum bound_kind kind;
    uint64_t value; /* but of seconds */
    double seconds;
};

struct address_range {
    bool is_given;
    uint64_t first, end;
};

enum check { CHECK_OPCODES = 1, CHECK_ATOMS = 2, CHECK_CONTINUITY = 4, CHECK_ALL = 7 };

/* What was given.  Strings belong to the command line. */
struct options {
    const struct command *command;
    char **words; /* as they were given, behind the command */
    struct list arguments;

    const char *buffer;
    uint64_t ids[2];          /* bit n: ID n is wanted, if has_ids */
    struct list source_names; /* --source NAME */
    struct list sources;      /* --source ID:PROTOCOL[:CONFIG] */
    struct numbers srcs, cpus, pids, tids;
    struct list comms;
    struct bound from, to;
    const char *part, *parts;
    struct address_range range;
    struct list functions;

    const char *framing, *protocol, *config, *arch;
    struct number wrapped_at, swap, skip;
    struct list images, symbols;
    struct list plugins;
    struct list filters; /* record: functions, ranges */
    const char *sysroot, *kernel, *vdso, *build_ids;
    bool trust_time;
    const char *perf_style, *binary;
    struct number brstack, period;

    struct number range_limit, repeat_limit, log_repeats;
    struct number threads;
    const char *progress; /* NULL: auto */
    const char *on_error; /* NULL: as is usual for the protocol */

    const char *at, *index, *detail;
    struct number count, block;

    const char *split;

    const char *follow, *port_format;
    struct number port;

    struct list streams, markers; /* markers: the option's name, then its value */
    struct number interleave, align, repeat, fsync;

    struct list traces, devices, registers, dumps, clusters;
    const char *description;
    const char *from_capture;

    struct list elfs;
    const char *preset, *unit;

    const char *qemu;
    struct number ring, max_size, strobe_on, strobe_off;

    const char *key, *tail_calls, *by;
    const char *time_unit;
    const char *of_function, *before, *source_root;
    const char *perfetto; /* the file that has the visible window */
    struct number min_duration, depth, limit, last;
    struct number budget;

    const char *explain;

    struct number listen;
    bool serve, first;
    bool bits, packets;
    struct list ignore;

    const char *format; /* ask options_format_is */
    const char *columns;
    struct number clock;
    const char *output;

    unsigned checks; /* enum check */
    enum color_wish color;
    unsigned verbose;
    bool has_ids;
    bool no_barrier, strip_stop, allow_outside, no_sandbox;
    bool source_address_n, multi_session, assume_sync;
    bool histogram;
    const char *save;
    struct list add;
    bool embed_sources;
    bool stacks, events, each, self, with_inlined, demangle, no_demangle;
    bool build_index;
    bool all, raw, force, strict, instructions, symbols_in_lines, errors, stats, quiet, help;
    bool is_system;
    bool is_followed; /* not given: more captures come in this process, several.h */
};

struct command {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;   /* one line */
    const char *details;   /* more, for its help; may be NULL */
    /* "text|jsonl", the first is the default; NULL: takes no --format ... */
    const char *formats;
    const char *(*formats_of)(void); /* ... or those of a table; or NULL */
    const uint8_t *options;
    unsigned least, most; /* arguments */
    bool prints_last;     /* nothing before the work is done: a bar does not tear its lines */
    bool is_confined;     /* it reads captures and writes what it found: sandbox.h */
    bool lists_each;      /* of several captures one after the other: several.h */
    bool is_program_last; /* options behind the first argument are that program's own */
    int (*run)(const struct options *options);
};

/* False: the command line is wrong; said what to do. */
bool options_parse(struct options *options, const struct command *command, char **words);
void options_free(struct options *options);
bool options_format_is(const struct options *options, const char *name);

/* Whether a command takes an option. */
bool options_takes(const struct command *command, unsigned key);
/* "text|jsonl": what --format may be; NULL: the command takes none. */
const char *options_formats(const struct command *command);
/* The option that a long name ("format"), or else a letter, is of a command; OPTION_COUNT: none. */
unsigned options_find(const struct command *command, const char *name, size_t size);
unsigned options_find_letter(const struct command *command, char letter);

/* What `--help` prints. */
void options_help(struct output *out, const struct command *command);

/* "trackway: COMMAND: ..., try ..." on standard error; always false. */
bool options_wrong(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* --from and --to may be offsets alone; false: they are not, said so. */
bool options_want_offsets(const struct options *options);

/* 4096, 0x1000, 4k, 1M, 2G; the whole text must be a number. */
bool parse_number(uint64_t *value, const char *text);
/* The same for `size` characters that end with no zero. */
bool parse_number_size(uint64_t *value, const char *text, size_t size);
/* Whether `word`, of `size` characters, is one of "a|b|c". */
bool is_choice(const char *choices, const char *word, size_t size);
/* A growing list of strings; false: out of memory, said so. */
bool list_add(struct list *list, const char *item);
/* The entry of `names` nearest to a misspelt word, or NULL. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* The table behind options_parse and options_help: options_table.c. */
enum option_kind {
    KIND_FLAG,   /* bool */
    KIND_COUNT,  /* unsigned: how often it was given */
    KIND_TEXT,   /* const char * */
    KIND_NUMBER, /* struct number */
    KIND_LIST,   /* struct list */
    KIND_CHOICE, /* const char *, one of `choices` */
    KIND_OTHER   /* `set` knows */
};

struct option_row {
    const char *name;
    const char *value;   /* what stands for it in the help; NULL: takes none */
    const char *choices; /* "a|b|c", for checks and completion */
    const char *help;
    size_t offset;    /* in struct options */
    uint8_t kind;     /* enum option_kind */
    bool is_optional; /* the value may be left out */
    char letter;
    bool (*set)(struct options *options, const char *value); /* NULL value: left out */
};

extern const struct option_row option_rows[OPTION_COUNT];
/* By group, from G_CAPTURE on; each ends with O_END. */
extern const uint8_t *const option_groups[GROUP_END - OPTION_COUNT];

#endif
