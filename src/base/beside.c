/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear under their name only when they are whole. */
#define _XOPEN_SOURCE 700 /* fdopen, fsync */
#include "base/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/platform.h"

enum { ATTEMPTS = 100, DIGITS = TW_BESIDE_SIZE - 2 };

/* Differs between calls, threads and processes; that no one else has the name is seen by opening. */
static uint64_t any_number(const char *name, unsigned attempt)
{
    struct timespec now = { 0, 0 };
    uint64_t number;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    number = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 44;
    number ^= (uint64_t)(uintptr_t)name + attempt;
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

/* mkstemp would do, but for the rights: it takes them from everyone else, and what the umask leaves
   cannot be asked for without changing it. */
FILE *tw_beside_open(char *name, const char *path)
{
    static const char digits[] = "0123456789abcdef";
    const size_t size = strlen(path);
    struct stat about;
    FILE *file;
    int fd = -1;

    /* A device or a pipe would make room for a file. */
    if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : ENOTSUP;
        return NULL;
    }
    memcpy(name, path, size);
    name[size] = '.';
    name[size + 1 + DIGITS] = 0;
    for (unsigned attempt = 0; attempt < ATTEMPTS && fd < 0; attempt++) {
        uint64_t number = any_number(name, attempt);

        for (size_t i = 0; i < DIGITS; i++, number >>= 4)
            name[size + 1 + i] = digits[number & 15];
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return NULL;
    }
    if (fd < 0)
        return NULL;
    file = fdopen(fd, "wb");
    if (!file) {
        const int why = errno;

        (void)close(fd);
        (void)unlink(name);
        errno = why;
    }
    return file;
}

bool tw_beside_keep(FILE *file, const char *name, const char *path)
{
    bool is_good = fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;

    if (fclose(file) != 0 && is_good) {
        why = errno;
        is_good = false;
    }
    if (is_good && rename(name, path) == 0)
        return true;
    if (is_good)
        why = errno;
    (void)unlink(name);
    errno = why;
    return false;
}

void tw_beside_drop(FILE *file, const char *name)
{
    (void)fclose(file);
    (void)unlink(name);
}
