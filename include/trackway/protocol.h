/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace protocols that the library does not know, added to a tree by the caller.  Stable. */
#ifndef TRACKWAY_PROTOCOL_H
#define TRACKWAY_PROTOCOL_H

#include <trackway/tree.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What describes a source: the register values that a debugger reads from the hardware (or the
   keys of a configuration file), and what core it belongs to. */
struct tw_source_info {
    const struct tw_register *registers; /* names are compared without regard to case */
    size_t register_count;
    const char *type; /* as a snapshot says it: "ETM4.0", "ETE", "PTM1.1", "STM" ...; or NULL */
    const char *core_type; /* "Cortex-A57", "ARM-AA64" ...; NULL: none */
    const char *text; /* configuration that is no list of numbers (E-Trace files); or NULL */
    uint8_t id;       /* trace ID where the registers do not say */
    bool is_framed;   /* its bytes come out of formatter frames */
};

/* Where a decoder puts the elements of a packet: at most TW_EMIT_MAX of them. */
struct tw_emitter;
enum { TW_EMIT_MAX = 128 };

/* What an index notes of a packet. */
struct tw_protocol_note {
    uint64_t value;
    uint8_t kind; /* enum tw_index_kind, <trackway/index.h> */
};
enum { TW_PROTOCOL_NOTES = 8, TW_PROTOCOL_WORDS = 4 };

/* A protocol: how its packets are read, and what elements they give.  Only `size`, `name`,
   `packet_size`, `packet_max`, `read`, `reader_lost` and `type_name` must be there.  Memory of a
   config, reader or decoder is zero at first and needs no freeing; none of it is ever moved. */
struct tw_custom_protocol {
    size_t size;       /* sizeof(struct tw_custom_protocol) */
    const char *name;  /* as in tw_tree_source; borrowed as long as the tree */
    const char *title; /* for people; NULL: the name */
    size_t config_size, reader_size, decoder_size;
    size_t packet_size; /* of the packet struct, which begins with struct tw_packet */
    size_t packet_max;  /* longest packet in bytes */
    bool follows;       /* program flow: the source's image is followed, see tw_flow_go */

    /* Fills the config; a missing or wrong register is TW_E_CONFIG and a text in `fault`. */
    enum tw_status (*configure)(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault);
    /* The trace ID that the config names; 0: none. */
    uint8_t (*trace_id)(const void *config);

    /* Packets.  `read` gives the next packet whole: its own members, base.type and base.size (at
       least 1, at most `size`); the library sets the rest of the head.  TW_MORE, and nothing is
       consumed, when the packet is cut and !is_last.  Bytes before synchronization come out as
       packets of the kind TW_PACKET_NOT_SYNC, bytes that fit no rule as packets of TW_PACKET_BAD, the
       beginning of a packet at the end of the trace as TW_PACKET_CUT. */
    void (*reader_init)(void *reader, const void *config);
    enum tw_status (*read)(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last);
    /* Bytes are missing before the next one: forget what was, wait for synchronization. */
    void (*reader_lost)(void *reader);
    const char *(*type_name)(unsigned type);         /* never NULL */
    enum tw_packet_kind (*type_kind)(unsigned type); /* NULL: all are TW_PACKET_OTHER */
    /* What a packet holds, for people: at most `room` bytes with the zero at the end. */
    void (*text)(char *out, size_t room, const void *packet);

    /* Elements.  NULL: packets only.  `decode` gets every packet that is neither bad nor before
       synchronization, in order, and emits what it means.  NO_SYNC, ERROR and EO_TRACE elements
       come from the library. */
    void (*decoder_init)(void *decoder, const void *config);
    void (*decode)(void *decoder, struct tw_emitter *out, const void *packet);
    /* Trace is missing or bad before the next packet: forget what was. */
    void (*decoder_lost)(void *decoder);
    /* The trace ends: emit what was held back. */
    void (*end)(void *decoder, struct tw_emitter *out);

    /* Index.  What of a packet, which `reader` has just read, belongs into one: at most
       TW_PROTOCOL_NOTES of them; returns how many.  NULL: synchronization points (packets of
       TW_PACKET_SYNC: a decoder may begin there), overflows and discards.  Bad packets are noted in
       any case. */
    size_t (*notes)(const void *reader, struct tw_protocol_note *notes, const void *packet);
    /* A decoder that knows nothing is about to meet a synchronization point: gets the values that
       `notes` gave as TW_INDEX_STATE with it, TW_PROTOCOL_WORDS of them, zeros where there were less.
       NULL: the point itself tells all. */
    void (*restore)(void *decoder, const uint64_t *words);
    /* What elements say adds up since the beginning of the trace.  `notes` has to give it as
       TW_INDEX_STATE; where it is NULL, decoders begin at the beginning. */
    bool adds_up;

    /* `follows`: for sources that bring none themselves, see struct tw_tree_source. */
    tw_classify_fn *classify;
    void *classify_context;
    uint32_t classify_isas;
};

/* Lets tw_tree_add_source know a protocol; the struct is copied.  No name may be there already. */
TW_API TW_MUST_USE enum tw_status
tw_tree_add_protocol(struct tw_tree *tree, const struct tw_custom_protocol *protocol);

/* A register's value, names compared without regard to case.  False: it is not there. */
TW_API bool tw_source_register(const struct tw_source_info *source, uint64_t *value,
                               const char *name);

/* A new element of this type, zero but for the index of the packet; fill in the rest.  Never NULL:
   an element too many is lost, and an ERROR element (TW_ERROR_UNSUPPORTED) says so.  A REPEAT is cut
   to the ranges of its packet that stand directly before it. */
TW_API struct tw_element *tw_emit(struct tw_emitter *out, enum tw_element_type type);

/* Program flow: the way through the source's image, from waypoint to waypoint; the ranges executed
   (and what no image holds, and errors) are emitted. */

/* The program goes on at this address. */
TW_API void tw_flow_go(struct tw_emitter *out, uint64_t address, enum tw_isa isa);
/* The next `count` waypoints (at most 32): bit n of `taken` is that of waypoint n. */
TW_API void tw_flow_atoms(struct tw_emitter *out, uint32_t taken, unsigned count);
/* Runs in sequence up to, not including, the instruction at `address`: what ran before an
   exception.  The program goes on there. */
TW_API void tw_flow_to(struct tw_emitter *out, uint64_t address);
/* The address space changes as this PE_CONTEXT says, which is emitted too. */
TW_API void tw_flow_context(struct tw_emitter *out, const struct tw_element *context);
/* Where the program goes on is not known. */
TW_API void tw_flow_lose(struct tw_emitter *out);

#ifdef __cplusplus
}
#endif

#endif
