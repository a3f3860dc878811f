/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: runs a program in QEMU with a trace unit, and keeps the trace. */
#include "commands/record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"

enum { RISCV = 243 }; /* as ELF numbers machines */

/* What a program's ELF header says of the machine it is for. */
static const struct machine {
    uint16_t number;
    uint8_t bits;
    uint8_t m_arch;          /* M profile: of this architecture or later; 0: another profile */
    const char *qemu, *name; /* name: as uname -m has it */
    const char *protocols;   /* that trace it; the first when none is asked for */
    const char *core_type;   /* in a snapshot */
    const char *libraries;   /* where Debian's cross packages keep its C library */
    const char *system;      /* the QEMU of whole machines ... */
    const char *board;       /* ... and the one that is taken when none is named */
} machines[] = {
    { 183, 64, 0, "qemu-aarch64", "aarch64", "ete|etmv4", "ARM-AA64", "/usr/aarch64-linux-gnu",
      "qemu-system-aarch64", "virt" },
    { 40, 32, 0, "qemu-arm", "armv7l", "etmv4|ete|ptm|etmv3", "Cortex-A32",
      "/usr/arm-linux-gnueabihf", "qemu-system-arm", "virt" },
    { 40, 32, 21, "qemu-arm", "armv8.1m", "etmv4|etmv3", "Cortex-M55",
      "/usr/arm-linux-gnueabihf", "qemu-system-arm", "mps3-an547" },
    { 40, 32, 16, "qemu-arm", "armv8m", "etmv4|etmv3", "Cortex-M33", "/usr/arm-linux-gnueabihf",
      "qemu-system-arm", "mps2-an505" },
    { 40, 32, 1, "qemu-arm", "armv7m", "etmv4|etmv3", "Cortex-M3", "/usr/arm-linux-gnueabihf",
      "qemu-system-arm", "mps2-an385" },
    { RISCV, 64, 0, "qemu-riscv64", "riscv64", "etrace|ntrace", "RV64",
      "/usr/riscv64-linux-gnu", "qemu-system-riscv64", "virt" },
    { RISCV, 32, 0, "qemu-riscv32", "riscv32", "etrace|ntrace", "RV32",
      "/usr/riscv32-linux-gnu", "qemu-system-riscv32", "virt" },
};

static const struct machine *machine_of(const struct record *record, const char *path)
{
    struct tw_perf_program program = { .size = sizeof program };
    struct tw_fault fault = { TW_OK, "" };
    const enum tw_status status = tw_perf_program(&program, path, &fault);
    bool is_m;

    if (status == TW_E_CONFIG)
        say("record: %s; to trace a script, name its interpreter", fault.text);
    else if (status != TW_OK)
        say("record: cannot read %s", fault.text);
    if (status != TW_OK)
        return NULL;
    is_m = program.is_m && record->options->is_system;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].number == program.machine && machines[i].bits == program.bits &&
            is_m == (machines[i].m_arch != 0) && program.m_arch * is_m >= machines[i].m_arch &&
            !program.is_big_endian)
            return &machines[i];
    say("record: %s is for another kind of processor (ELF machine %u, %u bits); what can be "
        "traced are little-endian AArch64, Arm and RISC-V programs: compile it for one of them",
        path, program.machine, program.bits);
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static char *make_text(struct record *record, const char *before, const char *text,
                       const char *after)
{
    const size_t size = strlen(before) + strlen(text) + strlen(after) + 1;
    char *made = arena_room(&record->arena, size);

    if (made)
        (void)snprintf(made, size, "%s%s%s", before, text, after);
    return made;
}

/* A program on the PATH; NULL: it is not there. */
static const char *on_path(struct record *record, const char *name)
{
    const char *at = getenv("PATH");

    if (strchr(name, '/'))
        return is_file(name) ? name : NULL;
    while (at && *at) {
        const size_t size = strcspn(at, ":");
        char *path = arena_room(&record->arena, size + strlen(name) + 2);

        if (!path)
            return NULL;
        (void)snprintf(path, size + strlen(name) + 2, "%.*s/%s", (int)size, at, name);
        if (access(path, X_OK) == 0 && is_file(path))
            return path;
        at += size + (at[size] == ':');
    }
    return NULL;
}

/* The plug-in stands beside the tool, or where it was installed. */
static const char *find_plugin(struct record *record)
{
    static const char *const places[] = { "/trackway-qemu.so",
                                          "/../lib/trackway/trackway-qemu.so" };
    char self[SPOOL_PATH];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (record->options->plugins.count)
        return record->options->plugins.items[0];
    self[size > 0 ? size : 0] = 0;
    slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        const char *path = make_text(record, self, places[i], "");

        if (path && is_file(path))
            return path;
    }
    return NULL;
}

static bool find_all(struct record *record, const struct machine *machine)
{
    const bool is_system = record->options->is_system;
    const char *qemu = record->options->qemu ? record->options->qemu
                       : is_system           ? machine->system
                                             : machine->qemu;

    record->qemu = on_path(record, qemu);
    if (!record->qemu) {
        say("record: %s is not there; install QEMU (Debian: apt-get install %s), or give\n"
            "--qemu FILE",
            qemu,
            !is_system                 ? "qemu-user"
            : machine->number == RISCV ? "qemu-system-misc"
                                       : "qemu-system-arm");
        return false;
    }
    record->plugin = find_plugin(record);
    if (!record->plugin) {
        say("record: trackway-qemu.so is neither beside trackway nor in ../lib/trackway; give "
            "--plugin FILE");
        return false;
    }
    return true;
}

/* ---- the run ---- */

/* The child: becomes QEMU. */
static void run_child(char **words, const char *preload, const char *plugin)
{
    /* What a program becomes by exec, in a QEMU that the system runs for it, finds the plug-in here, too. */
    if (setenv("LD_PRELOAD", preload, 1) == 0 &&
        (!plugin || setenv("QEMU_PLUGIN", plugin, 1) == 0))
        (void)execv(words[0], words);
    say("record: cannot run %s: %s", words[0], strerror(errno));
    _exit(127);
}

/* Whether QEMU is to look for the interpreter and libraries of a program elsewhere. */
static const char *libraries_of(const struct record *record, const struct machine *machine)
{
    struct stat about;

    if (record->options->sysroot)
        return record->options->sysroot;
    return stat(machine->libraries, &about) == 0 && S_ISDIR(about.st_mode) ? machine->libraries
                                                                           : NULL;
}

static void add_word(struct record *record, char **words, size_t *count, const char *word)
{
    words[(*count)++] = make_text(record, word, "", "");
}

/* Whether QEMU's options, behind the program, have this one. */
static bool has_option(const struct list *arguments, const char *name, const char *other)
{
    for (size_t i = 1; i < arguments->count; i++) {
        const char *at = arguments->items[i];

        at += at[0] == '-' && at[1] == '-';
        if (strcmp(at, name) == 0 || strcmp(at, other) == 0)
            return true;
    }
    return false;
}

/* A whole machine: its processors take turns, so that QEMU's list of exceptions is in order. */
static void add_system(struct record *record, const struct machine *machine, char **words,
                       size_t *count)
{
    const struct list *arguments = &record->options->arguments;

    add_word(record, words, count, "-accel");
    add_word(record, words, count, "tcg,thread=single");
    if (!has_option(arguments, "-M", "-machine")) {
        add_word(record, words, count, "-M");
        add_word(record, words, count, machine->board);
    }
    if (machine->number == RISCV && !has_option(arguments, "-bios", "-bios")) {
        add_word(record, words, count, "-bios");
        add_word(record, words, count, "none");
    }
    if (!has_option(arguments, "-nographic", "-display")) {
        add_word(record, words, count, "-display");
        add_word(record, words, count, "none");
    }
    add_word(record, words, count, "-d");
    add_word(record, words, count, "int");
    add_word(record, words, count, "-D");
    words[(*count)++] = make_text(record, record->folder, "/", SPOOL_EXCEPTIONS);
    if (!has_option(arguments, "-kernel", "-kernel")) {
        add_word(record, words, count, "-kernel");
        add_word(record, words, count, arguments->items[0]);
    }
}

/* The command line of QEMU. */
static char **make_words(struct record *record, const struct machine *machine)
{
    const struct list *arguments = &record->options->arguments;
    const bool is_system = record->options->is_system;
    const char *libraries = libraries_of(record, machine);
    char **words = arena_room(&record->arena, (arguments->count + 24) * sizeof *words);
    size_t count = 0;

    if (!words)
        return NULL;
    add_word(record, words, &count, record->qemu);
    if (is_system) {
        add_system(record, machine, words, &count);
    } else {
        add_word(record, words, &count, "-U");
        add_word(record, words, &count, "LD_PRELOAD");
        if (libraries) {
            add_word(record, words, &count, "-L");
            add_word(record, words, &count, libraries);
        }
    }
    if (is_system) {
        add_word(record, words, &count, "-plugin");
        words[count++] = make_text(record, record->plugin, ",folder=", record->folder);
    }
    for (size_t i = is_system; i < arguments->count; i++)
        add_word(record, words, &count, arguments->items[i]);
    words[count] = NULL;
    return words;
}

/* Runs the program; gives the status to end with. */
static bool run_program(struct record *record, const struct machine *machine, int *status)
{
    char **words = make_words(record, machine);
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    pid_t child;

    if (!words)
        return false;
    /* Ctrl-C is the program's; what it did until then is kept. */
    (void)sigaction(SIGINT, &ignore, &interrupt);
    (void)sigaction(SIGQUIT, &ignore, &quit);
    child = fork();
    if (child == 0) {
        (void)sigaction(SIGINT, &interrupt, NULL);
        (void)sigaction(SIGQUIT, &quit, NULL);
        run_child(words, record->plugin,
                  record->options->is_system
                      ? NULL
                      : make_text(record, record->plugin, ",folder=", record->folder));
    }
    if (child < 0 || waitpid(child, status, 0) < 0) {
        say("record: cannot run %s: %s", record->qemu, strerror(errno));
        return false;
    }
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &quit, NULL);
    return true;
}

/* ---- afterwards ---- */

static void say_summary(const struct record *record, const char *path, int status)
{
    const struct spool_table *table = record->table;

    if (WIFSIGNALED(status))
        say("record: the program was ended by signal %d (%s); what ran before is kept",
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (table->failures)
        say("record: writing trace failed: %s; what was written before is kept",
            strerror((int)table->failures));
    if (table->is_full)
        say("record: --max-size was reached; what ran later is not in the trace");
    if (table->untraced)
        say("record: %u threads ran without a trace unit; %d at a time can have one",
            (unsigned)table->untraced, SPOOL_CPUS);
    if (!record->options->quiet)
        say("record: %llu instructions in %llu bytes of trace, in %s",
            (unsigned long long)table->instructions, (unsigned long long)table->bytes, path);
}

/* As perf does: an older file makes way. */
static void make_way(struct record *record, const char *path)
{
    char *old = make_text(record, path, ".old", "");

    if (old && is_file(path))
        (void)rename(path, old);
}

/* A perf.data file, unless a snapshot is asked for or there is no form for the trace. */
static bool is_perf_wanted(const struct options *options, const struct machine *machine)
{
    return options_format_is(options, "perf") && !options->is_system &&
           machine->number != RISCV;
}

static int record_program(struct record *record, const struct machine *machine)
{
    const bool is_perf = is_perf_wanted(record->options, machine);
    const char *path = record->options->output ? record->options->output
                       : is_perf               ? "perf.data"
                                               : "snapshot";
    int status = 0;

    if (!record_make_folder(record) || !run_program(record, machine, &status))
        return NOT_DONE;
    if (!record_read(record))
        return NOT_DONE;
    if (!record->register_count) {
        say("record: nothing was traced; %s", WIFEXITED(status) && WEXITSTATUS(status) == 127
                                                  ? "QEMU could not be run"
                                                  : "QEMU said why");
        return NOT_DONE;
    }
    if (!record->options->output && is_perf)
        make_way(record, path);
    if (!(is_perf ? record_write_perf(record, path) : record_write_snapshot(record, path)))
        return NOT_DONE;
    say_summary(record, path, status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *first_of(struct record *record, const char *choices)
{
    char *first = make_text(record, choices, "", "");

    if (first)
        first[strcspn(first, "|")] = 0;
    return first;
}

/* Whether there is such a trace unit for the machine, and a form for what it makes. */
static bool is_traced_as(const struct options *options, const struct machine *machine)
{
    const char *protocol = options->protocol;

    if (protocol && !is_choice(machine->protocols, protocol, strlen(protocol)))
        return options_wrong(options,
                             "--protocol: no %s program is traced as \"%s\"; there is %s",
                             machine->name, protocol, machine->protocols);
    if (machine->number == RISCV && !options->is_system &&
        options->format != command_record.formats && options_format_is(options, "perf"))
        return options_wrong(options,
                             "perf has no settled form for the trace of RISC-V; leave out "
                             "--format, or give --format snapshot");
    return true;
}

/* A preset is for the protocol, and has the addresses that it is about. */
static bool is_preset_good(const struct options *options, const char *protocol)
{
    const char *presets = tw_unit_presets(protocol), *preset = options->preset;

    if (!preset)
        return true;
    if (!presets || !is_choice(presets, preset, strlen(preset)))
        return options_wrong(options, "--preset: \"%s\" is not for %s; there is %s", preset,
                             protocol, presets ? presets : "none");
    if (tw_unit_is_riscv(protocol))
        return true;
    if (options->is_system)
        return options_wrong(options,
                             "--preset %s is for one process; with --system give "
                             "registers by --config",
                             preset);
    if (strcmp(preset, "minimal") != 0 && !options->range.is_given)
        return options_wrong(options, "--preset %s: give the addresses by --range", preset);
    return true;
}

static int run(const struct options *options)
{
    struct record record = { .options = options };
    const char *program = on_path(&record, options->arguments.items[0]);
    const struct machine *machine;
    int status = NOT_DONE;

    if (!program)
        say("record: there is no program %s", options->arguments.items[0]);
    machine = program ? machine_of(&record, program) : NULL;
    if (machine)
        record.protocol =
            options->protocol ? options->protocol : first_of(&record, machine->protocols);
    if (machine &&
        (!is_traced_as(options, machine) || !is_preset_good(options, record.protocol)))
        status = BAD_USAGE;
    else if (machine) {
        options->arguments.items[0] = program;
        record.machine = machine->name;
        record.core_type = machine->core_type;
        record.elf_machine = machine->number;
        record.is_m = machine->m_arch != 0;
        if (find_all(&record, machine) && record_find_filters(&record))
            status = record_program(&record, machine);
    }
    record_remove_folder(&record);
    free(record.events);
    free(record.filters);
    arena_free(&record.arena);
    return status;
}

static const uint8_t takes[] = {
    O_SYSTEM,   O_PROTOCOL, O_PRESET,   O_CONFIG,    O_UNIT,       O_FILTER, O_RANGE,
    O_SNAPSHOT, O_RING,     O_MAX_SIZE, O_STROBE_ON, O_STROBE_OFF, O_QEMU,   O_PLUGIN,
    O_SYSROOT,  O_FORMAT,   O_FORCE,    O_OUTPUT,    O_QUIET,      O_HELP,   O_END,
};

const struct command command_record = {
    .name = "record",
    .arguments = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .summary = "runs a program in QEMU and records the trace that hardware would make",
    .details =
        "PROGRAM is an AArch64, Arm or RISC-V Linux program, static or dynamic.  QEMU runs\n"
        "it, each thread with a model of a trace unit, and what the units make is written as\n"
        "a perf.data file that this tool and perf read (RISC-V: a snapshot).  Output and exit\n"
        "status are the program's.\n"
        "examples:\n"
        "  trackway record -- ./a.out\n"
        "  trackway decode perf.data\n"
        "  trackway record --protocol etmv4 --config TRCCONFIGR=0x18d9 -- ./a.out 3\n"
        "  trackway record -o snap -- ./riscv-program\n"
        "  trackway record --filter main --snapshot 1000000 -- ./a.out\n"
        "  trackway record --system -o snap -- firmware.elf -M mps2-an385 -semihosting\n"
        "Without --protocol AArch64 programs are traced as ete, Arm as etmv4, RISC-V as "
        "etrace.",
    .formats = "perf|snapshot",
    .options = takes,
    .least = 1,
    .most = 100000,
    .is_program_last = true,
    .run = run,
};
