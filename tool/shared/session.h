/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture opened as the options say, and runs of it. */
#ifndef SESSION_H
#define SESSION_H

#include <trackway/capture.h>
#include <trackway/errors.h>
#include <trackway/perfdata.h>
#include <trackway/run.h>

#include "shared/identified.h"
#include "shared/options.h"
#include "shared/plugins.h"
#include "shared/progress.h"
#include "shared/repeats.h"

struct session {
    const struct options *options;
    struct output *out;
    struct tw_capture *capture;
    const struct tw_perf *perf; /* NULL: it is no perf.data */
    struct tw_capture_source_option *sources;
    struct identified identified; /* what a raw file was found to be */
    struct tw_capture_image_option *images;
    char *texts; /* behind sources and images */
    char *build_ids;
    char *spooled;             /* path of what came from standard input */
    struct tw_errors *errors;  /* writes to standard error */
    struct progress *progress; /* of what is read; NULL: not shown */
    struct progress own_progress;

    struct tw_run *run; /* of session_start, until session_close; or NULL */
    uint32_t buffer;    /* that the last part was of */
    bool is_open;       /* that buffer is not at its end */
    bool is_any;        /* some buffer held a source that was decoded */
    bool gives_losses;  /* of the recorder: TW_PART_LOSS */
    bool is_tried;      /* ... the buffer at work held one that was left out (said) */
    uint64_t left;      /* of --count */
    struct repeats repeats;
    struct plugins plugins;
};

/* DONE, or the exit status that says why not (said in words too). */
int session_open(struct session *session, const struct options *options);
void session_close(struct session *session);
/* The same as the last thing that a command does.  What the system takes back with the process is left to it, which is quicker than
   piece by piece; but where more captures follow, or where someone looks for what is lost. */
void session_leave(struct session *session);

bool session_has_several(const struct session *session);
/* More buffers than anyone reads, and nothing asks for each. */
bool session_sums_up(const struct session *session);
/* What tw_run_config.batch_room is to be of a capture whose elements are shown or counted as they come: one that is small
   touches fewer pages so, and each of them costs time.  0: as is usual. */
size_t session_batch_room(const struct session *session);
/* "cstrace.bin": the file that offsets of a buffer are in, for messages. */
const char *session_file(const struct session *session, size_t buffer);
/* What the options want: buffers, sources by name, trace IDs. */
bool session_wants(const struct session *session, size_t buffer);
bool session_wants_source(const struct session *session, size_t source);
bool session_wants_id(const struct session *session, uint8_t id);
/* Whether --range or --function leave out code. */
bool session_is_filtered(const struct session *session);

/* What a run is to be, as the options say; it may be changed before it is used, but not moved. */
struct session_wish {
    struct tw_run_config config;
    struct tw_filter filter;
    struct tw_address_range range;
    struct tw_run_extent extent; /* --part */
    struct tw_symbol_file *symbols;
    char **paths; /* of these */
};

/* DONE, or the exit status that says why not (said in words too); session_wish_free in any case. */
int session_wish(struct session *session, struct session_wish *wish);
void session_wish_free(struct session_wish *wish);
/* A run; NULL: failed, said why. */
struct tw_run *session_run_new(struct session *session, const struct session_wish *wish);

/* The session's run, at --at PLACE: DONE, or the exit status.  Its bytes are counted as progress. */
int session_start(struct session *session, const struct session_wish *wish);
/* The next part: elements, the beginning and the end of a buffer.  TW_END: that was all, or --count of
   them; a negative status was said. */
enum tw_status session_next(struct session *session, struct tw_part *part);
enum tw_status session_next_packet(struct session *session, struct tw_part *part,
                                   struct tw_packet_view *view);
/* With what session_next gave last: the summary, and the exit status. */
int session_end(struct session *session, enum tw_status status);

/* How a command goes through its run, besides what the options say. */
struct session_way {
    void *context;
    bool is_packets;
    const bool *is_done; /* set by `take`: no more is wanted; or NULL */
    /* What else the run is to be; or NULL. */
    void (*change)(void *context, struct tw_run_config *config);
    /* Before the first part; or NULL. */
    void (*begin)(void *context, struct tw_run *run);
    /* A part, or a packet.  False: it could not be done, said why. */
    bool (*take)(void *context, const struct tw_part *part,
                 const struct tw_packet_view *packet);
};

/* The session's run from its beginning to its end, or until no one reads session->out any more (NULL:
   that is written later).  The exit status. */
int session_go(struct session *session, const struct session_way *way);

/* --build-index: writes the indexes of the buffers that were decoded; false: failed, said why. */
bool session_write_index(const struct session *session);

/* The line on standard error for one piece of bad trace. */
void session_say_error(const struct session *session, const struct tw_element *error,
                       uint8_t id);
/* The same for each in a batch. */
void session_say_errors(const struct session *session, const struct tw_batch *batch);
/* The summary of the session's run on standard error; DONE or DONE_WITH_LOSS. */
int session_summary(const struct session *session);

/* Where the code that is missing may come from, as far as that was not said: ends a message. */
const char *session_missing_hint(const struct session *session);

#endif
