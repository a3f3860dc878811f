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

/* What a program's ELF header says of the machine it is for. */
static const struct machine {
    uint16_t number;
    uint8_t bits;
    const char *qemu, *name; /* name: as uname -m has it */
    const char *protocols;   /* that trace it; the first when none is asked for */
    const char *core_type;   /* in a snapshot */
    const char *libraries;   /* where Debian's cross packages keep its C library */
} machines[] = {
    { 183, 64, "qemu-aarch64", "aarch64", "ete|etmv4", "ARM-AA64", "/usr/aarch64-linux-gnu" },
    { 40, 32, "qemu-arm", "armv7l", "etmv4|ete|ptm|etmv3", "Cortex-A32",
      "/usr/arm-linux-gnueabihf" },
    { 243, 64, "qemu-riscv64", "riscv64", "etrace|ntrace", "RV64", "/usr/riscv64-linux-gnu" },
    { 243, 32, "qemu-riscv32", "riscv32", "etrace|ntrace", "RV32", "/usr/riscv32-linux-gnu" },
};

static const struct machine *machine_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t head[20] = { 0 };
    const size_t size = file ? fread(head, 1, sizeof head, file) : 0;
    const unsigned number = head[18] | (unsigned)head[19] << 8;
    const unsigned bits = head[4] == 2 ? 64 : 32;

    if (!file) {
        say("record: cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    (void)fclose(file);
    if (size < sizeof head || memcmp(head, "\177ELF", 4) != 0) {
        say("record: %s is no ELF program; to trace a script, name its interpreter", path);
        return NULL;
    }
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].number == number && machines[i].bits == bits && head[5] == 1)
            return &machines[i];
    say("record: %s is for another kind of processor (ELF machine %u, %u bits); what can be "
        "traced are little-endian AArch64, Arm and RISC-V programs: compile it for one of them",
        path, number, bits);
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
    const char *qemu = record->options->qemu ? record->options->qemu : machine->qemu;

    record->qemu = on_path(record, qemu);
    if (!record->qemu) {
        say("record: %s is not there; install QEMU (Debian: apt-get install qemu-user), or "
            "give\n"
            "--qemu FILE",
            qemu);
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
static void run_child(char **words, const char *preload)
{
    /* Messages of ours would be taken for the program's. */
    if (setenv("LD_PRELOAD", preload, 1) == 0)
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

/* Runs the program; gives the status to end with. */
static bool run_program(struct record *record, const struct machine *machine, int *status)
{
    const struct list *arguments = &record->options->arguments;
    const char *libraries = libraries_of(record, machine);
    char **words = arena_room(&record->arena, (arguments->count + 9) * sizeof *words);
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    size_t count = 0;
    pid_t child;

    if (!words)
        return false;
    words[count++] = make_text(record, record->qemu, "", "");
    words[count++] = make_text(record, "-U", "", "");
    words[count++] = make_text(record, "LD_PRELOAD", "", "");
    if (libraries) {
        words[count++] = make_text(record, "-L", "", "");
        words[count++] = make_text(record, libraries, "", "");
    }
    words[count++] = make_text(record, "-plugin", "", "");
    words[count++] = make_text(record, record->plugin, ",folder=", record->folder);
    for (size_t i = 0; i < arguments->count; i++)
        words[count++] = make_text(record, arguments->items[i], "", "");
    words[count] = NULL;
    /* Ctrl-C is the program's; what it did until then is kept. */
    (void)sigaction(SIGINT, &ignore, &interrupt);
    (void)sigaction(SIGQUIT, &ignore, &quit);
    child = fork();
    if (child == 0) {
        (void)sigaction(SIGINT, &interrupt, NULL);
        (void)sigaction(SIGQUIT, &quit, NULL);
        run_child(words, record->plugin);
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

static int record_program(struct record *record, const struct machine *machine)
{
    const bool is_perf = options_format_is(record->options, "perf");
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
    if (machine->number == 243 && options_format_is(options, "perf"))
        return options_wrong(options,
                             "perf has no settled form for the trace of RISC-V; give --format "
                             "snapshot");
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
    machine = program ? machine_of(program) : NULL;
    if (machine && !is_traced_as(options, machine))
        status = BAD_USAGE;
    else if (machine) {
        options->arguments.items[0] = program;
        record.protocol =
            options->protocol ? options->protocol : first_of(&record, machine->protocols);
        record.machine = machine->name;
        record.core_type = machine->core_type;
        record.elf_machine = machine->number;
        if (find_all(&record, machine))
            status = record_program(&record, machine);
    }
    record_remove_folder(&record);
    free(record.events);
    arena_free(&record.arena);
    return status;
}

static const uint8_t takes[] = {
    O_PROTOCOL,  O_CONFIG,     O_UNIT,  O_RANGE,  O_RING,    O_MAX_SIZE,
    O_STROBE_ON, O_STROBE_OFF, O_QEMU,  O_PLUGIN, O_SYSROOT, O_FORMAT,
    O_FORCE,     O_OUTPUT,     O_QUIET, O_HELP,   O_END,
};

const struct command command_record = {
    .name = "record",
    .arguments = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .summary = "runs a program in QEMU and records the trace that hardware would make",
    .details =
        "PROGRAM is an AArch64, Arm or RISC-V Linux program, static or dynamic.  QEMU runs\n"
        "it, each thread with a model of a trace unit, and what the units make is written as\n"
        "a perf.data file that this tool and perf read (RISC-V: --format snapshot).  Output\n"
        "and exit status are the program's.  For example:\n"
        "  trackway record -- ./a.out\n"
        "  trackway decode perf.data\n"
        "  trackway record --protocol etmv4 --config TRCCONFIGR=0x18d9 -o run.data -- ./a.out "
        "3\n"
        "  trackway record --format snapshot -o snap -- ./riscv-program\n"
        "Without --protocol AArch64 programs are traced as ete, Arm as etmv4, RISC-V as "
        "etrace.",
    .formats = "perf|snapshot",
    .options = takes,
    .least = 1,
    .most = 100000,
    .is_program_last = true,
    .run = run,
};
