/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens on Ctrl-C, on a request to end, and when the terminal goes away. */
#define _XOPEN_SOURCE 700 /* sigaction */
#include "shared/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/select.h>
#endif
#include <unistd.h>

#include "shared/output.h"

/* A file to be removed.  The list only grows, and nothing in it moves: a signal may come on any
   thread at any time. */
struct doomed {
    struct doomed *next;
    atomic_bool is_there;
    char path[];
};

static _Atomic(struct doomed *) all;
static volatile sig_atomic_t is_a_wish, is_wished;

void interrupt_clean(void)
{
    for (struct doomed *file = atomic_load(&all); file; file = file->next)
        if (atomic_load(&file->is_there) && unlink(file->path) != 0)
            (void)rmdir(file->path); /* its files were named after it, and are gone by now */
}

static void end(int number)
{
    if (is_a_wish && !is_wished) {
        is_wished = 1;
        return;
    }
    interrupt_clean();
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* comes when this handler is left */
}

#ifndef _WIN32

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* A file that is mapped was made shorter, or its disk fails. */
static void lose_file(int number)
{
    static const char text[] =
        "trackway: a file that is being read has become shorter, or cannot be read\n";

    (void)number;
    interrupt_clean();
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(NOT_DONE);
}

/* Where standard input, output or error is closed, the next file that is opened would take its number, and
   messages would go into that file.  What stands there now cannot be read from or written to. */
static void reserve_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void interrupt_start(void)
{
    struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART }, old;
    const struct sigaction loss = { .sa_handler = lose_file };

    reserve_descriptors();
    (void)signal(SIGPIPE,
                 SIG_IGN); /* a reader that went away is seen where output is written */
    for (size_t i = 0; i < NUMBERS; i++)
        (void)sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    (void)sigaction(SIGBUS, &loss, NULL);
}

static void set_mask(int how, sigset_t *old)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < NUMBERS; i++)
        (void)sigaddset(&set, numbers[i]);
    (void)pthread_sigmask(how, &set, old);
}

void interrupt_hold(void)
{
    set_mask(SIG_BLOCK, NULL);
}

void interrupt_release(void)
{
    set_mask(SIG_UNBLOCK, NULL);
}

bool interrupt_is_wished_before(int fd)
{
    const uint16_t bit =
        (uint16_t)fd; /* no set has more; and every C library's macro takes one */
    sigset_t open;
    fd_set set;

    FD_ZERO(&set);
    FD_SET(bit, &set);
    set_mask(SIG_BLOCK, &open); /* so that none is lost between the look and the wait */
    if (!is_wished)
        (void)pselect(fd + 1, &set, NULL, NULL, NULL, &open);
    (void)pthread_sigmask(SIG_SETMASK, &open, NULL);
    return is_wished != 0;
}

#else

/* Signals come on a thread of their own there, and there is no mask: one that comes too early is kept. */
static atomic_bool is_held;
static atomic_int kept;

static void come(int number)
{
    if (atomic_load(&is_held))
        atomic_store(&kept, number);
    else
        end(number);
    if (is_wished)
        (void)signal(number, come); /* it is the default's again by now */
}

/* Bytes, not lines: what is written is the same on every system. */
void interrupt_start(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)_setmode(fd, _O_BINARY);
    (void)signal(SIGINT, come);
    (void)signal(SIGTERM, come);
}

void interrupt_hold(void)
{
    atomic_store(&is_held, true);
}

void interrupt_release(void)
{
    int number;

    atomic_store(&is_held, false);
    number = atomic_exchange(&kept, 0);
    if (number)
        end(number);
}

/* Files and pipes cannot be waited for: whoever reads waits. */
bool interrupt_is_wished_before(int fd)
{
    (void)fd;
    return is_wished != 0;
}

#endif

bool interrupt_removes(const char *path)
{
    const size_t size = strlen(path) + 1;
    struct doomed *file = malloc(sizeof *file + size);

    if (!file)
        return false;
    memcpy(file->path, path, size);
    atomic_init(&file->is_there, true);
    file->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &file->next, file)) {
    }
    return true;
}

void interrupt_keeps(const char *path)
{
    for (struct doomed *file = atomic_load(&all); file; file = file->next)
        if (atomic_load(&file->is_there) && strcmp(file->path, path) == 0)
            atomic_store(&file->is_there, false);
}

void interrupt_is_a_wish(void)
{
    is_a_wish = 1;
}
