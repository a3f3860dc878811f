/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX by way of Windows; there is nothing here for any other system. */
#include "base/platform.h"

#ifdef _WIN32

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

void *tw_windows_map(void *where, size_t size, int access, int kind, int fd, off_t offset)
{
    HANDLE mapping = NULL;
    void *map = NULL;

    (void)where;
    (void)access;
    (void)offset;
    if (kind & MAP_ANONYMOUS)
        map = VirtualAlloc(NULL, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    else
        mapping =
            CreateFileMapping((HANDLE)_get_osfhandle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping) {
        map = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
        (void)CloseHandle(mapping); /* the view keeps it */
    }
    if (map)
        return map;
    errno = ENOMEM;
    return MAP_FAILED;
}

int tw_windows_unmap(void *map, size_t size)
{
    (void)size;
    return UnmapViewOfFile(map) || VirtualFree(map, 0, MEM_RELEASE) ? 0 : -1;
}

long tw_windows_ask(int name)
{
    SYSTEM_INFO about;

    GetSystemInfo(&about);
    return (long)(name == _SC_PAGESIZE ? about.dwPageSize : about.dwNumberOfProcessors);
}

/* rename() of Windows does not replace what is there. */
int tw_windows_rename(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
        return 0;
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        errno = ENOENT;
        break;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
        errno = EEXIST;
        break;
    default:
        errno = EACCES;
    }
    return -1;
}

char *tw_windows_realpath(const char *path, char *room)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return NULL;
    return _fullpath(room, path, room ? _MAX_PATH : 0);
}

/* The six letters at the end become a name that no one else has: `make` says whether it is so. */
static int make_unique(char *path, int (*make)(const char *path))
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { LETTERS = 6, ATTEMPTS = 100 };
    const size_t size = strlen(path);
    LARGE_INTEGER now;

    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t number;
        int made;

        (void)QueryPerformanceCounter(&now);
        number = ((uint64_t)now.QuadPart ^ (uint64_t)GetCurrentProcessId() << 32) + attempt;
        number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
        number ^= number >> 29;
        for (size_t i = 0; i < LETTERS; i++, number >>= 5)
            path[size - LETTERS + i] = letters[number & 31];
        made = make(path);
        if (made >= 0 || errno != EEXIST)
            return made;
    }
    return -1;
}

static int make_folder_of(const char *path)
{
    return _mkdir(path);
}

static int make_file_of(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, _S_IREAD | _S_IWRITE);
}

char *tw_windows_mkdtemp(char *path)
{
    return make_unique(path, make_folder_of) == 0 ? path : NULL;
}

int tw_windows_mkstemp(char *path)
{
    return make_unique(path, make_file_of);
}

char *tw_windows_strndup(const char *text, size_t most)
{
    const char *end = memchr(text, 0, most);
    const size_t size = end ? (size_t)(end - text) : most;
    char *copy = malloc(size + 1);

    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

static _Thread_local DWORD library_fault;

void *tw_windows_open_library(const char *path, int mode)
{
    HMODULE library = LoadLibraryA(path);

    (void)mode;
    library_fault = library ? 0 : GetLastError();
    return (void *)library;
}

void *tw_windows_symbol(void *library, const char *name)
{
    void *symbol = (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);

    library_fault = symbol ? 0 : GetLastError();
    return symbol;
}

int tw_windows_close_library(void *library)
{
    return FreeLibrary((HMODULE)library) ? 0 : -1;
}

const char *tw_windows_library_fault(void)
{
    static _Thread_local char text[64];

    if (!library_fault)
        return NULL;
    (void)snprintf(text, sizeof text, "cannot be loaded: error %lu of Windows",
                   (unsigned long)library_fault);
    return text;
}

#else

/* C wants a file to hold something. */
typedef int tw_platform_is_posix;

#endif
