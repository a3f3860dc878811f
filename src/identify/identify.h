/* SPDX-License-Identifier: BSD-2-Clause */
/* What an unknown file is: hypotheses about its framing and its protocols are tried with the library's
   own readers on samples of it, and the one under which the bytes make sense is the answer.

     look.c      what the first bytes or the text say: containers, programs, logs, dumps as text
     excerpts.c  windows of the file, in the byte order that is tried, and the streams in them
     packets.c   packets, one after the other
     trial.c     one protocol in one configuration reads a stream
     table.c     protocols with the settings that change how they are read
     judge.c     from what a trial counted to a number, and the search for the best settings
     follow.c    with an image: settings that only show when the program is followed
     ways.c      framing and byte orders, each judged
     wrap.c      where a ring buffer begins
     wrap_round.c  whether the beginning of a file goes on from its end
     identify.c  all of it, and the answer */
#ifndef IDENTIFY_IDENTIFY_H
#define IDENTIFY_IDENTIFY_H

#include <trackway/frame.h>
#include <trackway/identify.h>
#include <trackway/image.h>

#include "base/members.h"
#include "base/text.h"
#include "protocol.h"

/* ---- settings of a protocol */

enum { TW_SETTINGS_MOST = 28 };

struct tw_setting {
    const char *name;
    uint64_t value;
    const char *word; /* instead of a number; or NULL */
};

struct tw_settings {
    struct tw_setting items[TW_SETTINGS_MOST];
    size_t count;
    bool is_text; /* keys of a text, in decimal; else registers */
};

/* A field whose value is found by trying. */
struct tw_dial {
    const char *name;     /* of the setting */
    uint64_t mask;        /* of the field in it; 0: all of it */
    uint64_t values[6];   /* in place; the first is the usual one */
    const char *words[6]; /* instead; or NULL */
    unsigned count;
};

void tw_settings_set(struct tw_settings *settings, const struct tw_dial *dial, unsigned choice);
bool tw_settings_is(const struct tw_settings *settings, const struct tw_dial *dial,
                    unsigned choice);
const struct tw_setting *tw_settings_find(const struct tw_settings *settings, const char *name);
void tw_settings_put(struct tw_settings *settings, const char *name, uint64_t value);
void tw_settings_put_word(struct tw_settings *settings, const char *name, const char *word);
/* "NAME=VALUE,NAME=VALUE", or with lines between them. */
void tw_settings_print(struct tw_text *out, const struct tw_settings *settings,
                       const char *separator);

/* Likewise a setting, with its word or number. */
void tw_settings_put_item(struct tw_settings *settings, const struct tw_setting *item);

/* ---- a protocol as it may be met */

/* Settings of encoders that are often met, beside those to begin with. */
struct tw_preset {
    const struct tw_setting *items;
    size_t count;
};

struct tw_suspect {
    const char *protocol;
    const struct tw_setting *base; /* to begin with */
    size_t base_count;
    bool is_text;
    bool has_sync;      /* nothing is read before a synchronization packet */
    bool is_data;       /* most packets carry data, not flow */
    double greeting;    /* that a packet of TW_PACKET_INFO follows it weighs so much: 0 to 1 */
    double sync_bits;   /* how little chance makes such a packet */
    double packet_bits; /* ... and one that is none of the bad ones */
    bool is_chained;    /* the headers of its packets allow little */
    double most;        /* confidence that the reader alone can give */
    const struct tw_dial *dials; /* tried in all combinations */
    unsigned dial_count;
    const struct tw_dial *more; /* tried one after the other */
    unsigned more_count;
    const struct tw_dial *followed; /* tried with an image */
    unsigned followed_count;
    const struct tw_preset *presets; /* likewise */
    size_t preset_count;
};

extern const struct tw_suspect tw_suspects[];
extern const size_t tw_suspect_count;

/* ---- samples */

/* Bytes of one source, as far as they are in the samples.  Between two cuts nothing is missing. */
struct tw_sampled {
    uint8_t id;
    uint8_t *bytes;
    size_t size, room;
    size_t *cuts; /* offsets before which bytes are missing */
    size_t cut_count, cut_room;
    bool no_memory;
};

/* How the file is looked at. */
struct tw_aspect {
    enum tw_framing framing;
    unsigned swap;   /* bytes whose order is reversed, group by group; 1: none */
    unsigned offset; /* bytes before the first frame */
    size_t limit;    /* only so many bytes at the beginning are trace; 0: all */
};

struct tw_excerpts {
    const uint8_t *file;
    size_t size;
    const struct tw_allocator *allocator;
    struct tw_sampled streams[TW_ID_COUNT]; /* unframed: the first alone */
    struct tw_frame_stats frames;
    uint64_t lost;           /* frames damaged, bytes that belong to none */
    uint64_t named, strange; /* ID bytes seen; those that name a reserved ID */
};

enum tw_status tw_excerpts_take(struct tw_excerpts *samples, const struct tw_aspect *way);
void tw_excerpts_free(struct tw_excerpts *samples);
/* Of memory-aligned frames that begin `offset` bytes into the file: how likely that is, 0 to 1. */
double tw_excerpts_aligned(const struct tw_excerpts *samples, const struct tw_aspect *way);
bool tw_excerpts_has_fsync(const struct tw_excerpts *samples, unsigned swap);

/* ---- trials */

enum { TW_TRIAL_PAGES = 512, TW_TRIAL_KINDS = 16, TW_TRIAL_DIALS = 24 };

/* What a protocol's reader made of a stream. */
struct tw_trial {
    const struct tw_suspect *suspect;
    const struct tw_protocol *protocol;
    struct tw_settings settings;
    uint64_t bytes;    /* read */
    uint64_t head;     /* ... of them before the first synchronization of a stretch */
    uint64_t unsynced; /* ... after it was lost */
    uint64_t bad_bytes, padding;
    uint64_t packets, bad; /* those in synchronization */
    uint64_t syncs;        /* synchronization packets */
    uint64_t greeted;      /* ... which the packet followed that belongs there */
    uint64_t kinds[TW_TRIAL_KINDS];
    uint64_t addresses, odd,
        pages;                /* addresses told, unaligned ones, distinct megabytes of them */
    uint64_t begins;          /* addresses of TW_PACKET_INFO and TW_PACKET_SYNC */
    double leaps;             /* how far they are from the one before: sum of logarithms */
    uint64_t times, backward; /* timestamps, and those before the one before */
    uint64_t cids, vmids, cycles, depth;
    uint64_t options;  /* E-Trace: those that support packets tell of */
    uint64_t inside;   /* addresses that the image holds */
    bool is_abandoned; /* too much of it was bad to read on */
    uint64_t page[TW_TRIAL_PAGES];
    double chain;   /* part of the bytes that headers lead through; 0: there is no such chain */
    uint64_t links; /* of it */
    bool is_alike;  /* the other of ETMv4 and ETE reads it as well */
    uint64_t digest; /* of what the packets say */
    /* E-Trace, by field of dials and more: values that fit as well, and read something else; bit n: the
       n-th.  0: none */
    uint8_t open[TW_TRIAL_DIALS];
    bool is_open; /* there are such */
    double fit;   /* how well it goes: judge.c */
    double bits;  /* how much speaks for it */
};

/* How much work a search may still do: about bytes read, where reading goes well. */
struct tw_budget {
    uint64_t left;
};

enum { TW_TRIAL_COST = 1024 }; /* of configuring a reader; in bytes read */

/* Where readers are set up: taken when it is first needed, used again by each trial. */
struct tw_bench {
    char *memory;
    size_t size;
    bool is_out; /* of memory: what was not tried may have been it */
};

/* Packets, one after the other. */
struct tw_reading {
    const struct tw_protocol *protocol;
    void *reader;
    void *packet; /* the one that was read */
    size_t at;    /* where it begins */
    size_t next;  /* ... and the one after it */
    unsigned kind;
};

/* TW_E_CONFIG: the settings are none for this protocol.  One step at a time has the bench. */
enum tw_status tw_reading_start(struct tw_reading *step, const struct tw_protocol *protocol,
                                const struct tw_settings *settings, struct tw_bench *bench,
                                const struct tw_allocator *allocator);
/* The next packet of these bytes.  False: they are at their end. */
bool tw_reading_next(struct tw_reading *step, const uint8_t *bytes, size_t size);
/* Other bytes come next, and something is missing before them. */
void tw_reading_lose(struct tw_reading *step);
struct tw_members *tw_reading_members(const struct tw_reading *step,
                                      struct tw_members_here *here);
/* The packet tells that tracing was switched on. */
bool tw_reading_is_start(const struct tw_reading *step);
/* False: the packet tells no time. */
bool tw_reading_time(const struct tw_reading *step, uint64_t *time);

/* What trials are made on. */
struct tw_search {
    const struct tw_sampled *sampled;
    struct tw_image *image; /* or NULL */
    const struct tw_allocator *allocator;
    size_t most; /* bytes that a trial reads */
    struct tw_budget *budget;
    uint64_t work; /* as the caller has it: 0: as much as makes sense */
    struct tw_bench *bench;
};

/* TW_E_CONFIG: the settings are none for this protocol. */
enum tw_status tw_trial_run(struct tw_trial *trial, const struct tw_search *search);
enum tw_status tw_trial_configure(void *config, const struct tw_protocol *protocol,
                                  const struct tw_settings *settings);

/* The best of all protocols and settings for a stream; fit 0: none. */
enum tw_status tw_judge(struct tw_trial *best, const struct tw_search *search);
/* A field that is found by trying: those of `dials`, then those of `more`; NULL: there are no more. */
const struct tw_dial *tw_suspect_dial(const struct tw_suspect *suspect, size_t number);
double tw_trial_confidence(const struct tw_trial *trial);
/* Sets fit and bits of a trial that was run. */
void tw_trial_judge(struct tw_trial *trial);

/* Of E-Trace: what part of the bytes headers lead through from the first on, and how many there are. */
double tw_chain_share(const struct tw_sampled *sampled, const struct tw_settings *settings,
                      bool is_data, uint64_t *links);

/* With an image: changes the settings to those under which trace and code agree best. */
void tw_follow_tune(struct tw_trial *trial, const struct tw_sampled *sampled,
                    struct tw_image *image, const struct tw_allocator *allocator);

/* ---- ways to look at it */

enum { TW_SOURCES_MOST = 32 };

/* What came of one. */
struct tw_verdict {
    struct tw_aspect way;
    struct tw_trial *trials; /* TW_SOURCES_MOST of them */
    uint8_t ids[TW_SOURCES_MOST];
    uint64_t bytes[TW_SOURCES_MOST]; /* in the samples */
    double confidences[TW_SOURCES_MOST];
    size_t count;
    uint64_t frames, total, skipped;
    double confidence;
};

/* All that is known of the file that is asked for. */
struct tw_inquiry {
    const uint8_t *file;
    size_t size;
    const struct tw_identify_options *options;
    const struct tw_allocator *allocator;
    struct tw_identified *answer;
    struct tw_verdict best;
    struct tw_budget budget; /* of all */
    struct tw_budget share;  /* of the way that is tried */
    uint64_t least_share;    /* as long as there is so much */
    struct tw_bench bench;
};

/* The best of all ways becomes inquiry->best; `other` has trials to work with. */
enum tw_status tw_ways_try(struct tw_inquiry *inquiry, struct tw_verdict *other);

/* What shows where a ring buffer begins. */
enum tw_wrap_sign { TW_WRAP_TIME, TW_WRAP_BREAK, TW_WRAP_START };

/* A ring buffer in one of the ways that were tried: where its oldest byte lies, and what says so. */
bool tw_wrap_find(struct tw_inquiry *inquiry, uint64_t *oldest, enum tw_wrap_sign *sign);

/* ---- what needs no trial */

/* A file that is something else, or says itself what it is. */
struct tw_look {
    const char *format; /* NULL: nothing is known of it */
    const char *what;
    const char *why;    /* the evidence */
    const char *advice; /* a command; %s: the file.  NULL: none opens it */
};

bool tw_look_at(struct tw_look *look, const uint8_t *bytes, size_t size);

/* ---- the answer */

struct tw_identified {
    struct tw_identity about;
    struct tw_identified_source sources[TW_ID_COUNT];
    char **texts; /* all that `about` points to */
    size_t text_count, text_room;
    const char **evidence;
    size_t evidence_room;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
    bool no_memory;
    bool stays_outside; /* tw_identify_options */
};

/* A text that stays as long as the answer; "" when memory is out. */
const char *tw_answer_text(struct tw_identified *answer, const char *format, ...)
    TW_PRINTF(2, 3);
void tw_answer_evidence(struct tw_identified *answer, const char *format, ...) TW_PRINTF(2, 3);
/* The command that opens what was found. */
void tw_answer_command(struct tw_identified *answer, const char *name);

#endif
