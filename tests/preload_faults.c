/* SPDX-License-Identifier: BSD-2-Clause */
/* Loaded before a program (LD_PRELOAD): lets its n-th request for memory, or its n-th step of writing a file, fail.
 *
 *   TW_FAULT=memory:N    the N-th request fails, counted from 1; "memory:N+": and all after it
 *   TW_FAULT=write:N     the N-th step of writing does, with ENOSPC, after half of its bytes; the next ones succeed again:
 *                        fwrite, fputs, fputc, fprintf, fflush, write, fsync, close of what was written, rename, mkdir
 *   TW_FAULT_COUNT=FILE  gets both counts when the program ends
 *   TW_FAULT_LIBRARY=NAME  the library of this file name is not on the machine
 *
 * What counts is what the program itself and the C library ask for: other libraries are not ours to test. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct part {
    uintptr_t begin, end;
};

static struct part program, shared, library,
    own; /* shared: our library, where the program has it in a file of its own */
static bool is_ready;
static atomic_ulong requests, steps;
static unsigned long failing_request, failing_step;
static bool is_from_there;

static int find_parts(struct dl_phdr_info *info, size_t size, void *context)
{
    struct part *part = NULL;

    (void)size, (void)context;
    if (!program.end)
        part = &program;
    else if (strstr(info->dlpi_name, "/libc.so"))
        part = &library;
    else if (strstr(info->dlpi_name, "preload_faults"))
        part = &own;
    else if (strstr(info->dlpi_name, "/libtrackway.so"))
        part = &shared;
    for (int i = 0; part && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr,
                        end = begin + segment->p_memsz;

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
            part->begin = begin;
            part->end = end;
        }
    }
    return 0;
}

/* It loads a library the first time, and what that keeps would be a leak to a sanitizer: there only what the program itself
   asks for counts. */
static void load_backtrace(void)
{
#ifndef TW_SANITIZED
    void *first[1];

    is_ready = backtrace(first, 1) == 1;
#endif
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("TW_FAULT");
    load_backtrace();
    (void)dl_iterate_phdr(find_parts, NULL);
    if (fault && strncmp(fault, "memory:", 7) == 0)
        failing_request = strtoul(fault + 7, NULL, 10);
    if (fault && strncmp(fault, "write:", 6) == 0)
        failing_step = strtoul(fault + 6, NULL, 10);
    is_from_there = fault && strchr(fault, '+');
    (void)unsetenv("LD_PRELOAD"); /* not for the programs that it starts */
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("TW_FAULT_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    char text[50];

    if (fd >= 0) {
        const int size = snprintf(text, sizeof text, "%lu %lu\n", atomic_load(&requests),
                                  atomic_load(&steps));

        (void)!syscall(SYS_write, fd, text, (size_t)size);
    }
}

static bool is_in(const struct part *part, const void *caller)
{
    return (uintptr_t)caller >= part->begin && (uintptr_t)caller < part->end;
}

static bool is_ours(const void *caller)
{
    return is_in(&program, caller) || is_in(&shared, caller);
}

static bool fails(atomic_ulong *count, unsigned long failing)
{
    const unsigned long now = atomic_fetch_add(count, 1) + 1;

    return failing && (now == failing || (is_from_there && now > failing));
}

/* Who asks for memory through the C library: the program, or another library. */
static bool is_for_program(void)
{
    void *callers[32];
    const int count = backtrace(callers, 32);

    for (int i = 2; i < count; i++)
        if (!is_in(&library, callers[i]) && !is_in(&own, callers[i]))
            return is_ours(callers[i]);
    return false;
}

static bool has_no_memory(const void *caller)
{
    if (is_ours(caller))
        return fails(&requests, failing_request);
    return is_in(&library, caller) && is_ready && is_for_program() &&
           fails(&requests, failing_request);
}

void *dlopen(const char *file, int mode)
{
    static void *(*real)(const char *, int);
    const char *missing = getenv("TW_FAULT_LIBRARY");

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return file && missing && strcmp(file, missing) == 0 ? NULL : real(file, mode);
}

#define CALLER __builtin_return_address(0)
void *malloc(size_t size)
{
    static void *(*real)(size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "malloc");
    if (!has_no_memory(CALLER))
        return real(size);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t size)
{
    static void *(*real)(size_t, size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "calloc");
    if (!has_no_memory(CALLER))
        return real(count, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *memory, size_t size)
{
    static void *(*real)(void *, size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "realloc");
    if (!has_no_memory(CALLER))
        return real(memory, size);
    errno = ENOMEM;
    return NULL;
}

/* Standard error is where it is said what went wrong. */
static bool disk_is_full(const void *caller, const FILE *file)
{
    if (!is_ours(caller) || file == stderr || !fails(&steps, failing_step))
        return false;
    errno = ENOSPC;
    return true;
}

static void mark(FILE *file)
{
    enum { SEEN = 0x20 }; /* glibc's mark of an error, which ferror() looks at */

    file->_flags |= SEEN;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file)
{
    static size_t (*real)(const void *, size_t, size_t, FILE *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fwrite");
    if (count && disk_is_full(CALLER, file)) {
        const size_t wrote = real(bytes, size, count / 2, file);

        mark(file);
        errno = ENOSPC;
        return wrote;
    }
    return real(bytes, size, count, file);
}

int fputs(const char *text, FILE *file)
{
    static int (*real)(const char *, FILE *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fputs");
    if (disk_is_full(CALLER, file)) {
        mark(file);
        return EOF;
    }
    return real(text, file);
}

static int put(int character, FILE *file, const void *caller)
{
    static int (*real)(int, FILE *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fputc");
    if (disk_is_full(caller, file)) {
        mark(file);
        return EOF;
    }
    return real(character, file);
}

int fputc(int character, FILE *file)
{
    return put(character, file, CALLER);
}

#undef putc
int putc(int character, FILE *file)
{
    return put(character, file, CALLER);
}

static int print(FILE *file, const char *format, va_list arguments, const void *caller)
{
    if (disk_is_full(caller, file)) {
        mark(file);
        return -1;
    }
    return vfprintf(file, format, arguments);
}

int fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = print(file, format, arguments, CALLER);
    va_end(arguments);
    return size;
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    int size;

    (void)flag;
    va_start(arguments, format);
    size = print(file, format, arguments, CALLER);
    va_end(arguments);
    return size;
}

int fflush(FILE *file)
{
    static int (*real)(FILE *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fflush");
    if (file && disk_is_full(CALLER, file)) {
        mark(file);
        return EOF;
    }
    return real(file);
}

static bool is_written(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fd > 2;
}

int fclose(FILE *file)
{
    static int (*real)(FILE *);
    const bool is_output = is_written(fileno(file));
    int status;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fclose");
    status = real(file);
    return is_output && disk_is_full(CALLER, NULL) ? EOF : status;
}

int close(int fd)
{
    static int (*real)(int);
    const bool is_output = is_written(fd);
    int status;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "close");
    status = real(fd);
    return is_output && disk_is_full(CALLER, NULL) ? -1 : status;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (fd != 2 && disk_is_full(CALLER, NULL)) {
        /* A short write, where there is something to be short of. */
        return size > 1 ? real(fd, bytes, size / 2) : -1;
    }
    return real(fd, bytes, size);
}

int fsync(int fd)
{
    static int (*real)(int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    return disk_is_full(CALLER, NULL) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "rename");
    return disk_is_full(CALLER, NULL) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    static int (*real)(const char *, mode_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "mkdir");
    return disk_is_full(CALLER, NULL) ? -1 : real(path, mode);
}
