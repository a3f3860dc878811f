/* SPDX-License-Identifier: BSD-2-Clause */
/* What the library and the tool take of the system beside C11 and POSIX threads: mapped files, temporary files,
   folders, libraries loaded by name.  All of it goes by its POSIX name; platform.c has it for Windows. */
#ifndef BASE_PLATFORM_H
#define BASE_PLATFORM_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/compiler.h"

#ifndef _WIN32

#include <dlfcn.h>
#include <sys/mman.h>

#define TW_TEMPORARY_VARIABLE "TMPDIR"
#define TW_TEMPORARY_FOLDER   "/tmp"
#define TW_MAPPED_CAN_SHRINK  true /* a file that is mapped can be made shorter */
#define TW_MAPPED_CAN_GO      true /* ... and another one can take its name */

#else

#include <direct.h>
#include <io.h>

#define TW_TEMPORARY_VARIABLE "TEMP"
#define TW_TEMPORARY_FOLDER   "."
#define TW_MAPPED_CAN_SHRINK  false
#define TW_MAPPED_CAN_GO      false

/* Bytes as they are; and none of our files for the programs that we start. */
#define O_CLOEXEC             (_O_BINARY | _O_NOINHERIT)
#define O_NOCTTY              0
#define O_NONBLOCK            0

enum {
    PROT_READ = 1,
    PROT_WRITE = 2,
    MAP_PRIVATE = 2,
    MAP_ANONYMOUS = 4,
    RTLD_NOW = 0,
    RTLD_LOCAL = 0
};
enum { _SC_PAGESIZE, _SC_NPROCESSORS_ONLN };
#define MAP_FAILED            ((void *)-1)

/* Files are mapped whole, to be read; or memory is given, to be written to. */
void *tw_windows_map(void *where, size_t size, int access, int kind, int fd, off_t offset);
int tw_windows_unmap(void *map, size_t size);
long tw_windows_ask(int name);
int tw_windows_rename(const char *from, const char *to);
/* Without links: a path is what it names. */
char *tw_windows_realpath(const char *path, char *room);
char *tw_windows_mkdtemp(char *path);
int tw_windows_mkstemp(char *path);
char *tw_windows_strndup(const char *text, size_t most);
void *tw_windows_open_library(const char *path, int mode);
void *tw_windows_symbol(void *library, const char *name);
int tw_windows_close_library(void *library);
const char *tw_windows_library_fault(void);

#define mmap(where, size, access, kind, fd, offset)                                            \
    tw_windows_map(where, size, access, kind, fd, offset)
#define munmap(map, size)          tw_windows_unmap(map, size)
#define sysconf(name)              tw_windows_ask(name)
#define rename(from, to)           tw_windows_rename(from, to)
#define realpath(path, room)       tw_windows_realpath(path, room)
#define mkdtemp(path)              tw_windows_mkdtemp(path)
#define mkstemp(path)              tw_windows_mkstemp(path)
#define strndup(text, most)        tw_windows_strndup(text, most)
#define mkdir(path, mode)          _mkdir(path)
#define lstat(path, about)         stat(path, about)
/* Nothing is a link. */
#define S_ISLNK(mode)              ((void)(mode), 0)
#define readlink(path, room, size) ((void)(path), (void)(room), (void)(size), (ssize_t)-1)
#define fsync(fd)                  _commit(fd)
#define dlopen(path, mode)         tw_windows_open_library(path, mode)
#define dlsym(library, name)       tw_windows_symbol(library, name)
#define dlclose(library)           tw_windows_close_library(library)
#define dlerror()                  tw_windows_library_fault()

#endif

/* Whether a character parts the names of a path. */
TW_INLINE bool tw_is_slash(char c)
{
#ifdef _WIN32
    return c == '/' || c == '\\' || c == ':';
#else
    return c == '/';
#endif
}

/* The last such character; NULL: the path is a name alone. */
TW_INLINE const char *tw_last_slash(const char *path)
{
    const char *last = NULL;

    for (; *path; path++)
        if (tw_is_slash(*path))
            last = path;
    return last;
}

#endif
