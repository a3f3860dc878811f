/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_time OUT WORD...: runs a program with its output in the file OUT and prints its exit status, wall time and CPU time in
   seconds, peak memory and what was read from disk, both in KiB.  A small process that starts it: the peak of a child is never
   below what its parent held. */
#define _GNU_SOURCE /* wait4 */
#include "harness.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int count, char **words)
{
    const uint64_t begun = bench_wall();
    struct rusage used;
    pid_t child;
    int status;

    if (count < 3)
        bench_stop("usage: bench_time OUT WORD...");
    child = fork();
    if (child == 0) {
        const int in = open("/dev/null", O_RDONLY), null = open("/dev/null", O_WRONLY),
                  out = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);

        (void)dup2(in, 0);
        (void)dup2(out, 1);
        (void)dup2(null, 2);
        (void)execvp(words[2], words + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        bench_stop("%s cannot be run", words[2]);
    (void)printf("%d %.6f %.6f %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128,
                 (double)(bench_wall() - begun) / 1e9,
                 seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss,
                 used.ru_inblock / 2);
    return 0;
}
