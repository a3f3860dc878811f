/* SPDX-License-Identifier: BSD-2-Clause */
/* Peak memory of the tool on a capture of 64 MiB and on one of 1 GiB: they should be alike.  Slow, and
   writes more than a gigabyte of files: run by ./dev bench --full.  With the word "huge" one of 8 GiB
   comes after them, on one thread and on two. */
#include "subject.h"

enum { PART = 64 }; /* MiB that are made; longer captures repeat them */

/* The file again and again, until it has so many bytes. */
static void lengthen(const char *path, size_t bytes)
{
    enum { PIECE = 1 << 20 };
    FILE *in = fopen(path, "rb"), *out = fopen(path, "ab");
    uint8_t *piece = bench_allocate(PIECE);
    size_t size;

    if (!in || !out || fseek(out, 0, SEEK_END) != 0)
        bench_stop("%s: cannot be made longer", path);
    size = (size_t)ftell(out);
    while (size < bytes) {
        const size_t got = fread(piece, 1, PIECE, in);

        if (fwrite(piece, 1, got, out) != got)
            bench_stop("%s: no room for it", path);
        size += got;
        (void)fflush(out);
    }
    (void)fclose(in);
    if (fclose(out) != 0)
        bench_stop("%s: no room for it", path);
    free(piece);
}

/* A capture to be made. */
struct wish {
    const char *path;
    size_t mib;
};

static void make(void *context)
{
    const struct wish *wish = context;
    struct subject subject;
    char file[700];

    if (!subject_open(&subject, "made/etmv4,mib=8"))
        bench_stop("a capture cannot be made");
    subject_repeat(&subject, (size_t)PART << 20);
    subject_write(&subject, wish->path);
    subject_free(&subject);
    (void)snprintf(file, sizeof file, "%s/buffer.bin", wish->path);
    lengthen(file, wish->mib << 20);
}

/* All is decoded, and nothing of it printed. */
static struct bench_run decode(char *tool, const char *folder, size_t mib, char *threads)
{
    char path[600];
    char *words[] = { tool,      "decode",    path,    "-q", "--range",
                      "0x1-0x2", "--threads", threads, NULL };
    struct wish wish = { path, mib };
    struct bench_run run;

    (void)snprintf(path, sizeof path, "%s/%zu", folder, mib);
    bench_apart(make, &wish);
    run = bench_run(words, "/dev/null", 1);
    if (!run.is_there)
        bench_stop("trackway decode failed");
    (void)printf("# %zu MiB, threads %s: peak %.1f MiB, %.1f s of CPU\n", mib, threads,
                 (double)run.peak / 1048576, (double)run.cpu / 1e9);
    (void)fflush(stdout);
    bench_remove_folder(path);
    return run;
}

int main(int count, char **words)
{
    char tool[700], folder[300], one[] = "1", two[] = "2";
    struct bench_run small, large;

    bench_find_tool(tool, sizeof tool, words[0]);
    bench_make_folder(folder, sizeof folder);
    small = decode(tool, folder, PART, two);
    large = decode(tool, folder, 1024, two);
    bench_result("memory/1-gib", (double)large.peak / (double)small.peak,
                 "  peak memory of 1 GiB by that of 64 MiB");
    if (count > 1 && strcmp(words[1], "huge") == 0) {
        (void)decode(tool, folder, 8192, one);
        large = decode(tool, folder, 8192, two);
        bench_result("memory/8-gib", (double)large.peak / (double)small.peak,
                     "  peak memory of 8 GiB by that of 64 MiB");
    }
    bench_remove_folder(folder);
    return 0;
}
