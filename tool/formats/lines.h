/* SPDX-License-Identifier: BSD-2-Clause */
/* One line for each packet, element or instruction: what text, JSON lines and CSV have in common. */
#ifndef LINES_H
#define LINES_H

#include "base/members.h"
#include "formats/columns.h"
#include "formats/formats.h"
#include "formats/kept.h"

/* Members that the tool adds to those of the library. */
enum {
    LINE_BUF,
    LINE_SRC,
    LINE_SECONDS,
    LINE_SECONDS_END,
    LINE_WHO,
    LINE_CPU,
    LINE_PID,
    LINE_TID,
    LINE_COMM,
    LINE_TIME,
    LINE_DSO,
    LINE_OFF,
    LINE_FUNCTION,
    LINE_I,
    LINE_ID,
    LINE_SRCID,
    LINE_T,
    LINE_PC,
    LINE_OP,
    LINE_SIZE,
    LINE_ISA,
    LINE_ASM,
    LINE_SYM,
    LINE_SOURCE,
    LINE_MEMBERS
};

extern const struct tw_member_type line_members[LINE_MEMBERS];

struct lines;

/* How lines are written. */
struct line_style {
    unsigned wanted; /* members: TW_MEMBER_LISTED or TW_MEMBER_TOLD */
    void (*packet)(struct lines *lines, const struct tw_packet_view *packet);
    void (*element)(struct lines *lines, const struct tw_element *element,
                    const struct tw_batch *of);
};

struct lines {
    const struct line_style *style;
    struct output *out;
    struct columns *columns; /* of CSV; else NULL */
    struct kept_lines *kept; /* for people; NULL: none */
    const char *buffer;      /* its name, where there are several; or NULL */
    char prefix[400];        /* the same for people, "NAME: " */
    size_t prefix_size;
    uint64_t clock;              /* Hz; 0: no seconds */
    struct tw_run *run;          /* of perf.data, with ... */
    const struct tw_part *part;  /* ... the part at work, for who and where; else NULL */
    struct tw_run *names;        /* ranges have the names of their functions; else NULL */
    const struct tw_part *named; /* in that case: the part at work */
    uint64_t part_number;        /* from 1 on, of the part at work ... */
    uint64_t told_number;        /* ... and of that of which `who` is made */
    char who[TW_MEMBERS_TEXT_ENOUGH];
    struct tw_members_here members;
};

/* The sink of a format whose lines are written in a style. */
void *lines_start(const struct listing *listing, const struct line_style *style,
                  struct columns *columns);
bool lines_take(void *state, const struct tw_part *part, const struct tw_packet_view *packet);
void lines_end(void *state);

/* For the styles: the library's members and ours. */
struct tw_members *lines_packet_members(struct lines *lines,
                                        const struct tw_packet_view *packet);
struct tw_members *lines_element_members(struct lines *lines, const struct tw_element *element,
                                         const struct tw_batch *of);
static inline bool lines_has_own(const struct lines *lines, const struct tw_batch *of)
{
    return lines->names || lines->clock || lines->part || of->src != TW_NO_SRC;
}
/* Ours alone, of an element; NULL: there are none. */
struct tw_members *lines_own_members(struct lines *lines, const struct tw_element *element,
                                     const struct tw_batch *of);
/* Another part is at work. */
void lines_begin_part(struct lines *lines, const struct tw_part *part);
/* "[001] 7.763582480 3001/3001 name": CPU, time where it is known, process and thread of the part at work. */
const char *lines_told_who(struct lines *lines, const struct tw_part *part);
/* Who executed, and the file of an address, of the part at work. */
void lines_put_who(struct lines *lines, struct tw_members *out, const struct tw_part *part);
void lines_put_where(struct tw_members *out, struct tw_run *run, const struct tw_part *part,
                     uint64_t address);

#endif
