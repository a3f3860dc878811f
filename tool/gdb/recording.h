/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture as a target of the remote protocol: every thread stands at a place of the trace. */
#ifndef GDB_RECORDING_H
#define GDB_RECORDING_H

#include <trackway/replay.h>

#include "gdb/machine.h"
#include "gdb/target.h"
#include "shared/session.h"

enum { RECORDING_FRAMES = 1 << 12, RECORDING_HANDLES = 15 };

/* Memory of the program that it writes to: what its file holds there is not what was there. */
struct gdb_stretch {
    uint64_t first, end;
};

struct recording {
    struct session *session;
    struct session_wish *wish;
    struct tw_replay *replay;
    /* The capture again, for threads that look for places. */
    struct session again[RECORDING_HANDLES];
    size_t again_count;
    struct options again_options;
    struct tw_replay_place *places; /* by thread */
    bool *has_place;
    size_t place_room;
    uint32_t first_thread;
    const struct gdb_machine *machine;
    struct gdb_text description;
    struct gdb_stretch *written;
    size_t written_count;
    struct gdb_target target;
    /* The call stack that was asked for last, and where. */
    struct tw_replay_frame frames[RECORDING_FRAMES];
    size_t frame_count;
    struct tw_replay_place framed;
    bool has_frames, is_whole;
    bool is_always_inserted; /* the client takes breakpoints away to step over them alone */
    /* Whether the client wants an end. */
    bool (*is_interrupted)(void *context);
    void *interrupt_context;
};

/* DONE, or the exit status that says why not (said in words too).  `program`: an ELF file, or NULL. */
int recording_open(struct recording *recording, struct session *session,
                   struct session_wish *wish, const char *program);
void recording_close(struct recording *recording);

/* The place of a thread, its last instruction in the beginning; NULL: it has none. */
struct tw_replay_place *recording_place(struct recording *recording, uint32_t thread);
/* What is known there; false: nothing. */
bool recording_look(struct recording *recording, struct tw_replay_view *view, uint32_t thread);
/* The call stack of a thread in recording->frames; how many frames there are. */
size_t recording_stack(struct recording *recording, uint32_t thread, enum tw_replay_stack wish);
/* Goes to a place as it is written.  False: there is none; what is wrong is added to `out`. */
bool recording_go(struct recording *recording, struct gdb_text *out, uint32_t thread,
                  const char *place);

/* monitor.c */
void recording_monitor(void *context, struct gdb_text *out, uint32_t *thread, const char *line);
/* monitor_report.c */
void recording_profile(struct recording *recording, struct gdb_text *out);
void recording_coverage(struct recording *recording, struct gdb_text *out);
void recording_gaps(struct recording *recording, struct gdb_text *out, uint32_t thread);
/* "0x400100 <main+16> at f.c:12". */
void recording_put_code(struct recording *recording, struct gdb_text *out,
                        const struct tw_part *part, uint64_t address);

#endif
