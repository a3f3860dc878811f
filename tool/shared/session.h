/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture opened as the options say, and its buffers run through decode trees one by one. */
#ifndef SESSION_H
#define SESSION_H

#include <trackway/capture.h>
#include <trackway/errors.h>
#include <trackway/perfdata.h>
#include <trackway/tree.h>

#include "shared/options.h"
#include "shared/progress.h"

/* What the trace lacked, over all buffers. */
struct loss {
    uint64_t bad;       /* packets that fit no rule, and other errors */
    uint64_t truncated; /* ... of them: the trace ends inside a packet or a frame */
    uint64_t overflows, discards;
    uint64_t lost;     /* times that frame sync or bytes went missing */
    uint64_t unsynced; /* bytes before the first sync; no error */
    uint64_t missing;  /* addresses that no image holds; no error */
};

/* What was lost since a file is not there. */
struct missing {
    uint64_t times;    /* that the path led there */
    uint64_t branches; /* that came then */
};

struct session {
    const struct options *options;
    struct output *out;
    struct tw_capture *capture;
    const struct tw_perf *perf; /* NULL: it is no perf.data */
    struct tw_capture_source_option *sources;
    struct tw_capture_image_option *images;
    char *texts; /* behind sources and images */
    char *build_ids;
    char *spooled; /* path of what came from standard input */
    struct loss loss;
    struct progress *progress; /* of session_run; NULL: not shown */
    struct tw_errors *errors;  /* writes to standard error */

    const struct tw_counter *counter; /* elements go there, not to session_next; or NULL */
    size_t stream_count;              /* one of so many that are read side by side; 0: no */
    uint64_t stream_size;             /* bytes of all its buffers */
    struct at *at; /* decoding begins in the middle, or ends early; NULL: it does not */

    /* The buffer at work. */
    struct tw_tree *tree;
    uint32_t buffer;
    uint64_t fed;
    bool is_finished;
    bool is_packets;
    unsigned source_count;
    uint32_t source_of[128];    /* trace ID to source number, TW_NONE: none */
    struct missing *missing;    /* perf.data: code that is not there, by file number */
    struct attribution *seen;   /* perf.data: for that count */
    struct tw_perf_lane *lanes; /* perf.data: of the decoders, by source number */
    bool is_synced[128];        /* packets: something of this ID was understood */
};

/* DONE, or the exit status that says why not (said in words too). */
int session_open(struct session *session, const struct options *options);
void session_close(struct session *session);

/* Whether the options want this buffer. */
bool session_wants(const struct session *session, size_t buffer);
bool session_has_several(const struct session *session);
/* "cstrace.bin": the file that offsets of a buffer are in, for messages. */
const char *session_file(const struct session *session, size_t buffer);

enum start { STARTED, NOTHING_THERE, START_FAILED };

/* Builds the tree for a buffer.  NOTHING_THERE: no source of it is known or wanted (said). */
enum start session_start(struct session *session, size_t buffer, bool is_packets);
/* How many threads decode the buffer at work. */
uint32_t session_threads(const struct session *session);
/* The same tree for another buffer that holds the same sources. */
void session_restart(struct session *session, size_t buffer);
/* The next elements or packet, feeding the tree as needed; TW_END: the buffer is done. */
enum tw_status session_next(struct session *session, struct tw_batch *batch);
enum tw_status session_next_packet(struct session *session, struct tw_packet_view *view);
/* Counts what was lost, frees the tree. */
void session_stop(struct session *session);

/* What is done with a buffer whose tree stands: takes all of session_next or session_next_packet.
   False: could not be done, said why. */
typedef bool session_fn(void *context, struct session *session, size_t buffer);
/* Every buffer that the options want, as --opt multi-session says, then the summary; the exit
   status.  Stops early when no one reads session->out any more. */
int session_run(struct session *session, bool is_packets, session_fn *each, void *context);

/* By name, --source. */
bool session_wants_source(const struct session *session, size_t source);
bool session_wants_id(const struct session *session, uint8_t id);
/* By capture offset, --from and --to. */
bool session_wants_index(const struct session *session, uint64_t index);

/* The line on standard error for one piece of bad trace. */
void session_say_error(const struct session *session, const struct tw_element *error,
                       uint8_t id);
/* The summary on standard error; returns DONE or DONE_WITH_LOSS. */
int session_summary(const struct session *session);

#endif
