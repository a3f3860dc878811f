/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor profile, coverage, gaps: what the whole capture tells. */
#include <inttypes.h>

#include <trackway/coverage.h>
#include <trackway/profile.h>

#include "gdb/recording.h"

#include "base/percent.h"

enum { ROWS = 20, GAPS = 50 };

/* Runs the whole capture through a counter. */
static bool count_all(struct recording *recording, struct gdb_text *out, struct tw_run **run,
                      const struct tw_run_counter *counter)
{
    struct tw_run_config config = recording->wish->config;
    struct tw_fault fault;

    config.counter = counter;
    config.on_source = NULL;
    config.on_bytes = NULL;
    config.builds_index = false;
    if (tw_run_new(run, recording->session->capture, &config, &fault) == TW_OK)
        return true;
    gdb_text_format(out, "%s\n", fault.text);
    return false;
}

void recording_profile(struct recording *recording, struct gdb_text *out)
{
    const struct tw_profile_config config = { .size = sizeof config };
    struct tw_profile_totals totals = { .size = sizeof totals };
    const struct tw_profile_row *row;
    struct tw_profiler *profile;
    struct tw_run_counter counter;
    struct tw_run *run = NULL;

    if (tw_profile_new(&profile, &config, NULL) != TW_OK)
        return;
    counter = tw_profile_counter(profile);
    if (count_all(recording, out, &run, &counter)) {
        tw_profile_run(profile, run);
        if (tw_run_all(run) != TW_OK)
            gdb_text_format(out, "%s\n", tw_run_fault(run));
        else if (tw_profile_finish(profile) == TW_OK && tw_profile_totals(profile, &totals)) {
            gdb_text_put(out, "instructions  share  function\n");
            for (size_t i = 0; i < ROWS && (row = tw_profile_row(profile, i)) != NULL; i++)
                gdb_text_format(
                    out, "%12" PRIu64 " %5s%%  %.200s\n", row->self,
                    tw_percent((double)row->self, (double)totals.instructions, 1).text,
                    row->name ? row->name : "[not known]");
            gdb_text_format(out, "%12" PRIu64 "         all\n", totals.instructions);
        }
    }
    tw_profile_free(profile);
    tw_run_free(run);
}

void recording_coverage(struct recording *recording, struct gdb_text *out)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct tw_coverage_totals totals = { .size = sizeof totals };
    struct tw_coverage *coverage;
    struct tw_run_counter counter;
    struct tw_run *run = NULL;

    if (tw_coverage_new(&coverage, &config, NULL) != TW_OK)
        return;
    counter = tw_coverage_counter(coverage);
    if (count_all(recording, out, &run, &counter)) {
        tw_coverage_run(coverage, run);
        if (tw_run_all(run) != TW_OK)
            gdb_text_format(out, "%s\n", tw_run_fault(run));
        else if (tw_coverage_finish(coverage) == TW_OK && tw_coverage_totals(coverage, &totals))
            gdb_text_format(out,
                            "functions     %" PRIu64 " of %" PRIu64 "\n"
                            "lines         %" PRIu64 " of %" PRIu64 "\n"
                            "instructions  %" PRIu64 " of %" PRIu64 "\n"
                            "branches      %" PRIu64 " of %" PRIu64 " both ways\n"
                            "executed      %" PRIu64 " instructions\n",
                            totals.functions_covered, totals.functions, totals.lines_covered,
                            totals.lines, totals.covered, totals.instructions, totals.both,
                            totals.branches, totals.executed);
    }
    tw_coverage_free(coverage);
    tw_run_free(run);
}

void recording_gaps(struct recording *recording, struct gdb_text *out, uint32_t thread)
{
    struct tw_replay_place place;
    struct tw_replay_loss loss = { .kind = TW_REPLAY_NO_LOSS };
    size_t count = 0;

    if (tw_replay_first(recording->replay, &place, thread) != TW_OK)
        return;
    while (count < GAPS &&
           tw_replay_find(recording->replay, &place, false, NULL, 0, &loss) == TW_OK) {
        char line[256];
        struct tw_replay_view view = { .size = sizeof view };

        (void)tw_replay_loss_text(line, sizeof line, &loss);
        gdb_text_format(out, "%s; goes on at ", line);
        if (tw_replay_look(recording->replay, &view, &place) == TW_OK)
            recording_put_code(recording, out, &view.part, view.pc);
        gdb_text_put(out, "\n");
        count++;
    }
    gdb_text_format(out, count == GAPS ? "%zu and perhaps more\n" : "%zu in all\n", count);
}
