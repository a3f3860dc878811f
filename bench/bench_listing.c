/* SPDX-License-Identifier: BSD-2-Clause */
/* The tool beside OpenCSD's trc_pkt_lister: full decode of a snapshot, every element as a line of
   text in a file.  CPU time of the whole programs; the numbers of ranges listed must agree. */
#include "subject.h"

enum { RUNS = 5 };

/* How often a word stands in a file. */
static uint64_t count_word(const char *path, const char *word)
{
    char line[4096];
    uint64_t count = 0;
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof line, file))
        count += strstr(line, word) != NULL;
    if (file)
        (void)fclose(file);
    return count;
}

/* The best of some runs; trc_pkt_lister appends to a file that is there. */
static struct bench_run run_anew(char *const words[], const char *out, const char *old)
{
    struct bench_run best = { .is_there = false };

    for (unsigned i = 0; i < (bench_is_quick() ? 1 : RUNS); i++) {
        struct bench_run one;

        (void)remove(old);
        one = bench_run(words, out, 1);
        if (!one.is_there)
            return one;
        if (i == 0 || one.cpu < best.cpu)
            best = one;
    }
    return best;
}

static void compare(const char *name, char *tool, char *snapshot, const char *folder)
{
    char ours_out[700], peer_out[700];
    char *ours_words[] = { tool, "decode", snapshot, NULL };
    char *peer_words[] = { "trc_pkt_lister", "-ss_dir", snapshot, "-decode_only",
                           "-logfilename",   peer_out,  NULL };
    struct bench_run ours, peer;
    uint64_t ranges, peer_ranges;

    (void)snprintf(ours_out, sizeof ours_out, "%s/ours.txt", folder);
    (void)snprintf(peer_out, sizeof peer_out, "%s/peer.txt", folder);
    ours = run_anew(ours_words, ours_out, ours_out);
    if (!ours.is_there)
        bench_stop("trackway decode %s failed", snapshot);
    peer = run_anew(peer_words, "/dev/null", peer_out);
    if (!peer.is_there) {
        bench_result(name, 0, "  %.1f ms of CPU; no trc_pkt_lister to compare with",
                     (double)ours.cpu / 1e6);
        return;
    }
    ranges = count_word(ours_out, "INSTR_RANGE");
    peer_ranges = count_word(peer_out, "INSTR_RANGE");
    if (ranges != peer_ranges)
        bench_stop("%s: %llu ranges listed, the peer has %llu", name,
                   (unsigned long long)ranges, (unsigned long long)peer_ranges);
    bench_result(name, (double)peer.cpu / (double)ours.cpu,
                 "  %.1f ms, trc_pkt_lister -decode_only %.1f ms of CPU; %llu ranges",
                 (double)ours.cpu / 1e6, (double)peer.cpu / 1e6, (unsigned long long)ranges);
}

int main(int count, char **words)
{
    char tool[700], folder[300], path[700];
    struct subject subject;

    (void)count;
    (void)puts("# listing: CPU time of trc_pkt_lister by that of trackway decode");
    bench_find_tool(tool, sizeof tool, words[0]);
    bench_make_folder(folder, sizeof folder);
    if (bench_corpus(path, sizeof path, "coresight/snapshots/bugfix-exact-match-part"))
        compare("listing/bugfix-exact-match-part", tool, path, folder);
    else
        (void)puts("# bugfix-exact-match-part: skipped, no corpus");
    if (!subject_open(&subject, "made/etmv4,kib=512"))
        bench_stop("nothing is made");
    (void)snprintf(path, sizeof path, "%s/made", folder);
    subject_write(&subject, path);
    subject_free(&subject);
    compare("listing/made", tool, path, folder);
    bench_remove_folder(folder);
    return 0;
}
