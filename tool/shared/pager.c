/* SPDX-License-Identifier: BSD-2-Clause */
#define _XOPEN_SOURCE 700 /* setenv, waitpid */
#include "shared/pager.h"

#include <stdlib.h>
#include <string.h>

static bool is_on;

bool pager_is_on(void)
{
    return is_on;
}

#if defined(_WIN32) || defined(__EMSCRIPTEN__)

void pager_start(const struct options *options)
{
    (void)options;
}

void pager_wait(void)
{
}

#else

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

/* The program to read with; NULL: none. */
static const char *program(void)
{
    const char *named = getenv("TRACKWAY_PAGER");

    if (!named)
        named = getenv("PAGER");
    return named && *named && strcmp(named, "cat") != 0 ? named : NULL;
}

static bool is_listed(const struct options *options)
{
    const struct command *command = options->command;

    return options_takes(command, O_OUTPUT) && options_takes(command, O_FORMAT) &&
           !command->is_program_last &&
           (!options->output || strcmp(options->output, "-") == 0) && !options->follow &&
           !options->help;
}

static _Noreturn void read_on(const char *named, int from, int to)
{
    (void)dup2(from, STDIN_FILENO);
    (void)close(from);
    (void)close(to);
    /* less: colours, nothing to leave when all fits on the screen, and the text stays there. */
    (void)setenv("LESS", "FRX", 0);
    (void)execl("/bin/sh", "sh", "-c", named, (char *)NULL);
    _exit(127);
}

void pager_start(const struct options *options)
{
    const char *named = program();
    int ends[2];

    if (!named || !is_listed(options) || !isatty(STDOUT_FILENO) || pipe(ends) != 0)
        return;
    pager = fork();
    if (pager == 0)
        read_on(named, ends[0], ends[1]);
    (void)close(ends[0]);
    if (pager > 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        is_on = true;
        /* Ctrl-C is the reader's; when it goes away, writing ends. */
        (void)signal(SIGINT, SIG_IGN);
    }
    (void)close(ends[1]);
}

void pager_wait(void)
{
    if (!is_on)
        return;
    (void)fflush(stdout);
    (void)close(STDOUT_FILENO);
    (void)waitpid(pager, NULL, 0);
    is_on = false;
}

#endif
