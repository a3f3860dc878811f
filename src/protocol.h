/* SPDX-License-Identifier: BSD-2-Clause */
/* All that the rest of the library knows of a protocol: one constant table of functions. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <trackway/frame.h>
#include <trackway/members.h>
#include <trackway/protocol.h>
#include <trackway/types.h>

#include "base/text.h"

struct tw_code_config;
struct tw_custom;
struct tw_follow;
struct tw_gap_ahead;
struct tw_index_note;
struct tw_state;

/* The bytes that a decoder is to work on.  `used` bytes of them are done.  When the decoder stops
   because a packet is cut, the rest (at most packet_max bytes) is given again at the front of the
   next input.  64 bytes after the end may be read but mean nothing. */
struct tw_input {
    const uint8_t *data;
    size_t size;
    size_t used;
    uint64_t offset; /* of data[0] in this ID's stream */
    const struct tw_place *places;
    size_t place_count;
    bool has_gaps; /* some of the places are discontinuities */
    bool is_last;  /* nothing follows: a cut packet is the end of the trace */
    /* which gap is next, for who decodes these places again; or NULL */
    struct tw_gap_ahead *ahead;
};

/* When several IDs are merged: elements[first...] were released by the packet that ended before
   capture offset `released`. */
struct tw_mark {
    uint64_t released;
    size_t first;
};

struct tw_marks {
    struct tw_mark *marks; /* NULL: not wanted */
    size_t room, count;
};

struct tw_output {
    struct tw_batch *batch;
    struct tw_marks marks;
    uint64_t unsynced; /* bytes before synchronization that no ERROR counts as skipped */
};

/* A place to cut a stream for parallel decode: a decoder that knows nothing begins at `start` and
   will most likely be in the same state at `until` as one that comes from before. */
struct tw_split {
    size_t at;       /* in: a packet begins here, as far as is known; moves on */
    size_t least;    /* in: `start` is not before this */
    bool wants_time; /* in: a timestamp is part of what must be known */
    size_t start, until;
};

/* Trace in the memory of a sink, as it lies there. */
struct tw_extent {
    uint64_t size;   /* bytes that hold trace, from the first on */
    uint64_t oldest; /* where the oldest lies; 0: at the beginning */
};

/* What the next bytes of a stream are that several sources share. */
struct tw_route {
    size_t size;
    uint32_t src; /* a packet of this source, whole; TW_NO_SRC: of none */
    /* of none: enum tw_error_code if they are damage, so that any source may have lost something;
       TW_ERROR_NONE: idle bytes, or bytes before a beginning was found */
    uint8_t error;
    bool is_hunt; /* of none: they belong to what was damaged before, or to no packet yet */
};

enum {
    TW_PROTOCOL_FOLLOWS = 1, /* needs the program's image: decode gets a follower */
    TW_PROTOCOL_BITS = 2,    /* offsets inside packets are not byte aligned (STM nibbles) */
    /* Packets can be told only from the beginning of the stream on; and times and the like can,
       which add up from there. */
    TW_PROTOCOL_UNMARKED = 4,
    TW_PROTOCOL_SUMS = 8,
    TW_PROTOCOL_SRC_IS_ID = 16 /* see tw_batch.src_is_id */
};

/* A type of packet: what it is called, and what it is to whoever knows nothing of the protocol. */
struct tw_packet_type {
    const char *name;
    uint8_t kind; /* enum tw_packet_kind */
};

/* Members of lines: all that there may be, and how those of one packet are put together. */
struct tw_member_table {
    const struct tw_member_type *rows;
    unsigned count;
    void (*put)(struct tw_members *out, const struct tw_protocol *protocol, const void *packet);
    const struct tw_member_table *more; /* rows that `put` takes from elsewhere; or NULL */
};

/* A register that the reading of trace depends on. */
struct tw_register_use {
    const char *name;
    const char *otherwise; /* what counts when it is not given; NULL: it must be given */
};

struct tw_protocol {
    const char *name;  /* as typed on the command line */
    const char *title; /* for people */
    unsigned flags;
    size_t config_size, reader_size, decoder_size, packet_size;
    size_t packet_max; /* longest packet in bytes: bounds what is kept between calls */

    const struct tw_register_use *registers; /* up to a name of NULL; NULL: it has others */
    /* Fills the typed config from registers; says which register is missing or wrong. */
    enum tw_status (*configure)(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault);
    /* The trace ID that the config names; 0: none. */
    uint8_t (*trace_id)(const void *config);
    /* Optional: the config tells how the trace lies in a sink's memory.  False: it does not. */
    bool (*extent)(const void *config, struct tw_extent *extent);
    /* Optional: the trace was taken from pins that show less than a byte at a time; puts bytes in `out`,
       as many, or tells alone (NULL).  False: they are bytes as they stand. */
    bool (*align)(const void *config, uint8_t *out, const uint8_t *data, size_t size);
    /* Optional: a second stream of the same unit, under the next trace ID, and whether this
       configuration sends it. */
    const struct tw_protocol *companion;
    bool (*has_companion)(const void *config);

    /* Optional, all or none: streams that several sources share, whose packets name theirs (E-Trace
       srcid, N-Trace SRC).  is_shared: this configuration's stream is one.  wants_src: packets of
       this source are to be decoded.  take_src makes of a copy of the configuration that of one
       source, whose packets come alone and whole.  route tells of the next bytes what they are, with
       the protocol's reader as its state; bytes of no source become a packet too unless `packet`
       is NULL.  TW_MORE as for read. */
    bool (*is_shared)(const void *config);
    bool (*wants_src)(const void *config, uint32_t src);
    void (*take_src)(void *config, uint32_t src);
    enum tw_status (*route)(void *reader, struct tw_route *route, void *packet,
                            const uint8_t *data, size_t size, bool is_last);

    /* Packets.  read gives the next packet whole, or TW_MORE with nothing consumed when it is
       cut and !is_last.  Bytes before synchronization come out as a NOT_SYNC packet (its run may
       go on in the next one), bytes that fit no rule as a packet of a bad type: it never fails
       otherwise, and always consumes at least one byte when size > 0 and it returns TW_OK.
       TW_PROTOCOL_BITS: the packet consumes size - (spare_bits != 0) bytes, which may be none; the
       reader keeps which half of the first byte comes next.  The lister prints `nib` and `nb` of
       such packets from skip_bits, spare_bits and the bytes. */
    void (*reader_init)(void *reader, const void *config);
    enum tw_status (*read)(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last);
    /* Optional: up to `room` packets at once, as read gives them, in *used the bytes that they took.
       Fewer than `room`: what is left is the beginning of a packet, or is for read to tell. */
    size_t (*read_batch)(void *reader, void *packets, size_t room, size_t *used,
                         const uint8_t *data, size_t size);
    /* Bytes are missing before the next one: forget what was, wait for synchronization. */
    void (*reader_lost)(void *reader);
    /* Packet to bytes; *size is room in, bytes written out.  write_flush, TW_PROTOCOL_BITS: completes
       the byte that is begun. */
    enum tw_status (*write)(void *writer, uint8_t *out, size_t *size, const void *packet);
    enum tw_status (*write_flush)(void *writer, uint8_t *out, size_t *size);
    /* What its packets' lines say after the type and the bytes. */
    const struct tw_member_table *members;
    /* Optional: bytes of the packet before its payload, which "b" leaves out. */
    size_t (*header_size)(const void *packet);
    const struct tw_packet_type *types; /* by number; NULL: the two functions tell */
    unsigned type_count;
    const char *(*type_name)(unsigned type);
    enum tw_packet_kind (*type_kind)(unsigned type);

    /* Elements.  decode works until the batch is full (TW_OK) or the input is used up (TW_MORE).
       end emits what end of trace releases (call again while it returns TW_OK with a full
       batch; TW_END when done). */
    void (*code_config)(struct tw_code_config *code, const void *config); /* FOLLOWS only */
    void (*decoder_init)(void *decoder, const void *config);
    void (*decoder_free)(void *decoder); /* optional */
    enum tw_status (*decode)(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in);
    enum tw_status (*end)(void *decoder, struct tw_follow *follow, struct tw_output *out);
    /* Everything forgotten, as after decoder_init. */
    void (*decoder_reset)(void *decoder);
    size_t damage_at; /* where the decoder has its struct tw_damage; 0: it has none */

    const struct tw_custom *custom; /* of the caller: tree/custom.h; NULL: the library's own */

    /* Optional, both or none: parallel decode (tree/parallel.h).  state saves or loads all that has
       an effect on what comes later, and nothing else: two decoders whose saved bytes are equal go
       on alike.  split finds a place where the stream may be cut, false when there is none;
       `decoder` is any of the same configuration. */
    void (*state)(void *decoder, struct tw_follow *follow, struct tw_state *state);
    bool (*split)(struct tw_split *split, const void *decoder, const uint8_t *data,
                  size_t size);

    /* Index; all optional.  notes says what of a packet, which `reader` has just read, belongs
       into an index: at most TW_INDEX_NOTES of them; returns how many.  `state` is the stream's
       own, TW_INDEX_WORDS of zeros at the start; those before TW_INDEX_KEPT are zero again after a
       loss.  The last one of either kind is not zero where what came before is not known, and
       TW_INDEX_CONTEXT_AT is where the last packet lies that gave a TW_INDEX_CONTEXT.  pass takes whole packets that give no notes from the front of a
       stream in sync, as far as that is quick, and returns how many bytes; what it leaves undone
       in the reader changes no later note.  restore gives a decoder that is about to meet a
       synchronization point the words that notes kept of it (TW_INDEX_STATE): what the point
       itself does not bring back. */
    unsigned (*notes)(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet);
    size_t (*pass)(void *reader, const uint8_t *data, size_t size);
    void (*restore)(void *decoder, const uint64_t *words);

    /* Optional: a decoder whose state was true earlier in the stream is to begin at a split.
       Forgets its place, keeps what synchronization does not tell and may well still be so. */
    void (*resume)(void *decoder, struct tw_follow *follow);
    /* Where the state has a total: adds to what elements say of it, if that was a guess. */
    void (*rebase)(const void *decoder, struct tw_element *elements, size_t count, uint64_t by);
};

static inline unsigned tw_type_kind(const struct tw_protocol *protocol, unsigned type)
{
    if (type < protocol->type_count)
        return protocol->types[type].kind;
    return protocol->type_kind ? protocol->type_kind(type) : TW_PACKET_OTHER;
}

static inline const char *tw_type_name(const struct tw_protocol *protocol, unsigned type)
{
    if (type < protocol->type_count)
        return protocol->types[type].name;
    return protocol->type_name ? protocol->type_name(type) : "UNKNOWN";
}

/* Bytes that a packet takes from the stream: its last byte may be shared with the next. */
static inline size_t tw_packet_taken(const struct tw_packet *packet)
{
    return packet->size - (packet->spare_bits != 0);
}

/* Counts as damage. */
static inline bool tw_kind_is_bad(unsigned kind)
{
    return kind == TW_PACKET_BAD || kind == TW_PACKET_CUT;
}

static inline bool tw_kind_is_understood(unsigned kind)
{
    return kind != TW_PACKET_NOT_SYNC && !tw_kind_is_bad(kind);
}

enum {
    TW_INDEX_NOTES = 12,
    TW_INDEX_KEPT = 4,
    TW_INDEX_WORDS = 10,
    TW_INDEX_CONTEXT_AT = TW_INDEX_WORDS - 2
};

/* An entry of an index, before its place is known; kind is one of enum tw_index_kind. */
struct tw_index_note {
    uint8_t kind;
    uint64_t value;
};

static inline unsigned tw_note(struct tw_index_note *note, unsigned kind, uint64_t value)
{
    note->kind = (uint8_t)kind;
    note->value = value;
    return 1;
}

/* A packet as words ("ATOM EEN"), and its members as a JSON object. */
void tw_protocol_print(struct tw_text *out, const struct tw_protocol *protocol,
                       const void *packet);
void tw_protocol_json(struct tw_text *out, const struct tw_protocol *protocol,
                      const void *packet);

/* Every protocol of the library, NULL at the end; and by name (NULL: there is none). */
extern const struct tw_protocol *const tw_protocols[];
const struct tw_protocol *tw_protocol_by_name(const char *name);

/* A register's value (see tw_source_register); its absence is a fault that names it. */
enum tw_status tw_source_need(const struct tw_source_info *source, uint64_t *value,
                              const char *name, struct tw_fault *fault);
/* Those without another value must be there; a fault names each that is not, and what counts for the
   others. */
enum tw_status tw_source_need_all(const struct tw_source_info *source,
                                  const struct tw_register_use *uses, struct tw_fault *fault);

#endif
