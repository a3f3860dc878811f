/* SPDX-License-Identifier: BSD-2-Clause */
/* The drop-in for OpenCSD beside the original: the same programs, run on either library.  bench_peer counts
   elements and packets by callbacks; perf prints the branches of a perf.data file of the corpus (p06), and
   what it takes is split into the library, perf's callbacks and the rest of perf. */
#include "harness.h"

#include <unistd.h>

enum { ROUNDS = 3 };

static char folder[700];  /* where this program is */
static char library[760]; /* where the drop-in is */

/* Of a run of perf, ns. */
struct parts {
    uint64_t wall, inside, callbacks;
    uint64_t elements, reads;
};

/* The best time in ms that a program, bench_peer or bench_self, prints for the stage, and how many elements
   there are; 0: none. */
static double time_of(const char *program, const char *subject, const char *stage,
                      const char *path, double *elements)
{
    char command[2000], line[512];
    double best = 0;
    FILE *out;

    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s/%s' --stage %s %s", path,
                   folder, program, stage, subject);
    out = popen(command, "r");
    if (!out)
        return 0;
    while (fgets(line, sizeof line, out)) {
        char name[200];
        double found, count;

        if (line[0] != '#' &&
            sscanf(line, "%199s %*s %*s %lf %*s %lf", name, &count, &found) == 3 &&
            strstr(name, subject)) {
            best = found;
            *elements = count;
        }
    }
    return pclose(out) == 0 ? best : 0;
}

static double least(double best, double now)
{
    return best > 0 && best < now ? best : now;
}

/* Also beside our own interface, which hands elements out in batches. */
static void compare(const char *subject, const char *stage)
{
    double original = 0, ours = 0, batches = 0, elements = 0;
    char name[200];

    for (unsigned i = 0; i < (bench_is_quick() ? 1 : ROUNDS); i++) {
        original = least(original, time_of("bench_peer", subject, stage, "", &elements));
        ours = least(ours, time_of("bench_peer", subject, stage, library, &elements));
        batches = least(batches, time_of("bench_self", subject, stage, "", &elements));
        if (original <= 0 || ours <= 0) {
            (void)printf("# %s/%s: skipped\n", subject, stage);
            return;
        }
    }
    (void)snprintf(name, sizeof name, "opencsd/%s/%s", subject, stage);
    bench_result(name, original / ours, "  %.2f ms, OpenCSD %.2f ms", ours, original);
    if (elements > 0 && batches > 0)
        (void)printf("# in batches of our own interface %.2f ms: a callback for each element "
                     "costs %.1f ns\n",
                     batches, (ours - batches) * 1e6 / elements);
}

/* One run of perf script; false: it failed. */
static bool run_perf(struct parts *parts, const char *path, const char *file, const char *root,
                     bool is_split)
{
    char preload[900], search[800], report[900], counted[800];
    char *words[] = { "env",
                      search,
                      preload,
                      report,
                      "perf",
                      "script",
                      "--itrace=b",
                      "-i",
                      (char *)(uintptr_t)file,
                      "--symfs",
                      (char *)(uintptr_t)root,
                      NULL };
    unsigned long long numbers[4] = { 0 };
    uint64_t start;
    FILE *result;

    (void)snprintf(search, sizeof search, "LD_LIBRARY_PATH=%s", path);
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s%s", is_split ? folder : "",
                   is_split ? "/libbench_preload.so" : "");
    (void)snprintf(counted, sizeof counted, "%s/bench_parts.%ld", folder, (long)getpid());
    (void)snprintf(report, sizeof report, "BENCH_PARTS=%s", counted);
    start = bench_wall();
    if (!bench_run(words, "/dev/null", 1).is_there)
        return false;
    parts->wall = bench_wall() - start;
    if (!is_split)
        return true;
    result = fopen(counted, "r");
    if (!result)
        return false;
    if (fscanf(result, "%llu %llu %llu %llu", &numbers[0], &numbers[1], &numbers[2],
               &numbers[3]) != 4)
        numbers[0] = 0;
    (void)fclose(result);
    (void)remove(counted);
    parts->inside = numbers[0];
    parts->callbacks = numbers[1];
    parts->elements = numbers[2];
    parts->reads = numbers[3];
    return numbers[0] != 0;
}

static void show_parts(const char *name, const struct parts *parts)
{
    (void)printf(
        "# perf on %s: %.0f ms in the library, %.0f ms in perf's callbacks (%llu elements, "
        "%llu reads of memory)\n",
        name, (double)(parts->inside - parts->callbacks) / 1e6, (double)parts->callbacks / 1e6,
        (unsigned long long)parts->elements, (unsigned long long)parts->reads);
}

static void compare_perf(void)
{
    char file[700], root[700];
    struct parts best[2] = { { 0 } }, split[2];

    if (!bench_corpus(file, sizeof file, "perf/p06-cc1-perthread-etmv4-v1.perf.data") ||
        !bench_corpus(root, sizeof root, "perf/root")) {
        (void)puts("# p06: skipped, no corpus");
        return;
    }
    for (unsigned i = 0; i < (bench_is_quick() ? 1 : ROUNDS); i++)
        for (unsigned side = 0; side < 2; side++) {
            struct parts run;

            if (!run_perf(&run, side ? library : "", file, root, false)) {
                (void)puts("# perf: skipped, it does not run");
                return;
            }
            if (!best[side].wall || run.wall < best[side].wall)
                best[side] = run;
        }
    bench_result("opencsd/perf-branches", (double)best[0].wall / (double)best[1].wall,
                 "  %.0f ms of wall time, perf on OpenCSD %.0f ms", (double)best[1].wall / 1e6,
                 (double)best[0].wall / 1e6);
    if (!run_perf(&split[0], "", file, root, true) ||
        !run_perf(&split[1], library, file, root, true))
        return;
    show_parts("OpenCSD", &split[0]);
    show_parts("ours", &split[1]);
    bench_result("opencsd/perf-library",
                 (double)(split[0].inside - split[0].callbacks) /
                     (double)(split[1].inside - split[1].callbacks),
                 "  the library's part of it alone");
}

int main(int count, char **words)
{
    char *slash;

    (void)count;
    (void)puts("# opencsd: time of the original by the drop-in's, through the same interface");
    (void)snprintf(folder, sizeof folder, "%s", words[0]);
    slash = strrchr(folder, '/');
    if (!slash)
        bench_stop("run it by its path");
    *slash = 0;
    (void)snprintf(library, sizeof library, "%s/../compat/opencsd/lib", folder);
    if (access(library, R_OK) != 0) {
        (void)puts("# skipped: built without the drop-in");
        return 0;
    }
    bench_pin();
    compare("bugfix-exact-match-part", "warm");
    compare("bugfix-exact-match-part", "packets");
    compare_perf();
    return 0;
}
