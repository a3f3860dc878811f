/* SPDX-License-Identifier: BSD-2-Clause */
/* Peak memory of `trackway merge`: of some partial results of 1 MB and of many, which should be alike.  With the
   word "full" many are 10,000; else 300. */
#include "subject.h"

#include <sys/stat.h>
#include <unistd.h>

enum { FEW = 20, SOME = 300, MANY = 10000, NAME_ROOM = 700 };

static void make(void *path)
{
    struct subject subject;

    if (!subject_open(&subject, "made/etmv4,mib=4,blocks=5400,locality=0"))
        bench_stop("a capture cannot be made");
    subject_write(&subject, path);
    subject_free(&subject);
}

/* The saved coverage of a made program, and its size. */
static size_t save_one(char *tool, const char *folder, char *path)
{
    static char snapshot[NAME_ROOM];
    char *words[] = { tool, "coverage", snapshot, "-q", "--save", path, NULL };
    struct stat about;

    (void)snprintf(snapshot, sizeof snapshot, "%s/snapshot", folder);
    (void)snprintf(path, NAME_ROOM, "%s/one.twr", folder);
    bench_apart(make, snapshot);
    if (!bench_run(words, "/dev/null", 1).is_there || stat(path, &about) != 0)
        bench_stop("trackway coverage --save failed");
    return (size_t)about.st_size;
}

/* Peak memory in bytes: the same file under so many names. */
static double merge(char *tool, const char *folder, const char *one, unsigned count)
{
    char(*names)[NAME_ROOM] = bench_allocate(count * sizeof *names);
    char **words = bench_allocate((count + 5) * sizeof *words);
    char sum[NAME_ROOM];
    struct bench_run run;

    (void)snprintf(sum, sizeof sum, "%s/sum.twr", folder);
    words[0] = tool;
    words[1] = "merge";
    words[2] = "-o";
    words[3] = sum;
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s/%u.twr", folder, i);
        if (link(one, names[i]) != 0)
            bench_stop("%s cannot be made", names[i]);
        words[4 + i] = names[i];
    }
    run = bench_run(words, "/dev/null", 1);
    if (!run.is_there)
        bench_stop("trackway merge failed");
    (void)printf("# %u results: peak %.1f MiB, %.1f s of CPU\n", count,
                 (double)run.peak / 1048576, (double)run.cpu / 1e9);
    for (unsigned i = 0; i < count; i++)
        (void)unlink(names[i]);
    free(words);
    free(names);
    return (double)run.peak;
}

int main(int count, char **words)
{
    static char tool[NAME_ROOM], one[NAME_ROOM];
    const unsigned many = count > 1 && strcmp(words[1], "full") == 0 ? MANY : SOME;
    char folder[600];
    size_t size;
    double few, all;

    bench_find_tool(tool, sizeof tool, words[0]);
    bench_make_folder(folder, sizeof folder);
    size = save_one(tool, folder, one);
    few = merge(tool, folder, one, FEW);
    all = merge(tool, folder, one, many);
    bench_result("merge/memory", all / few, "  %u results of %.2f MB, times that of %u", many,
                 (double)size / 1e6, (unsigned)FEW);
    bench_remove_folder(folder);
    return 0;
}
