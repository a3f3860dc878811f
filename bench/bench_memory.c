/* SPDX-License-Identifier: BSD-2-Clause */
/* Peak memory of the tool on a capture of 64 MiB and on one of 1 GiB: they should be alike.  Slow, and
   writes more than a gigabyte of files: run by ./dev bench --full. */
#include "subject.h"

/* All is decoded, and nothing of it printed. */
static struct bench_run decode(char *tool, const char *folder, const char *what, size_t bytes)
{
    char path[700];
    char *words[] = { tool, "decode", path, "-q", "--range", "0x1-0x2", NULL };
    struct subject subject;
    struct bench_run run;

    if (!subject_open(&subject, what))
        bench_stop("%s cannot be made", what);
    subject_repeat(&subject, bytes);
    (void)snprintf(path, sizeof path, "%s/%zu", folder, bytes >> 20);
    subject_write(&subject, path);
    subject_free(&subject);
    run = bench_run(words, "/dev/null", 1);
    if (!run.is_there)
        bench_stop("trackway decode failed");
    (void)printf("# %zu MiB: peak %.1f MiB, %.1f s of CPU\n", bytes >> 20,
                 (double)run.peak / 1048576, (double)run.cpu / 1e9);
    (void)fflush(stdout);
    return run;
}

int main(int count, char **words)
{
    char tool[700], folder[300];
    struct bench_run small, large;

    (void)count;
    bench_find_tool(tool, sizeof tool, words[0]);
    bench_make_folder(folder, sizeof folder);
    small = decode(tool, folder, "made/etmv4,mib=8", (size_t)64 << 20);
    large = decode(tool, folder, "made/etmv4,mib=8", (size_t)1 << 30);
    bench_remove_folder(folder);
    bench_result("memory/1-gib", (double)large.peak / (double)small.peak,
                 "  peak memory of 1 GiB by that of 64 MiB");
    return 0;
}
