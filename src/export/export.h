/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers, one file each; table.c names them all. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "export/sink.h"
#include "export/timeline_writer.h"

typedef void tw_writer(struct tw_sink *sink, const struct tw_subject *subject);

tw_writer tw_write_folded, tw_write_callgrind, tw_write_pprof, tw_write_speedscope,
    tw_write_dot, tw_write_flame_graph, tw_write_calls_jsonl, tw_write_coverage_jsonl,
    tw_write_lcov, tw_write_cobertura, tw_write_drcov, tw_write_profile_jsonl,
    tw_write_profile_csv, tw_write_calls_csv, tw_write_autofdo, tw_write_unsymbolized,
    tw_write_bolt, tw_write_fdata, tw_write_sample_profile, tw_write_outcomes;

extern const struct tw_timeline_form tw_timeline_jsonl, tw_timeline_csv, tw_timeline_perfetto,
    tw_timeline_chrome, tw_timeline_vcd, tw_timeline_ctf, tw_timeline_svg;

#endif
