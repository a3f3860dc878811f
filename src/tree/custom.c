/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocols of the caller: what makes of their functions a protocol like those of the library. */
#include "tree/custom.h"

#include <stdalign.h>
#include <string.h>

#include <trackway/index.h>

#include "base/fault.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/sized.h"
#include "path/follow.h"
#include "stage/stage.h"
#include "tree/branch.h"
#include "tree/emit.h"

enum {
    WORDS_ROOM = 300,
    OWN_MOST = 6, /* elements that the library adds to those of a packet */
    PACKET_MOST = TW_EMIT_MAX + OWN_MOST
};

/* The caller's config, reader, decoder and packet lie behind these, suitably aligned. */
struct config {
    const struct tw_custom *custom;
};

struct reader {
    const struct tw_custom *custom;
};

struct decoder {
    const struct tw_custom *custom;
    const void *config;
    void *reader, *packet, *state;
    struct tw_emitter emitter;
    struct tw_damage damage;
    bool is_synced, has_begun, is_ended, was_reset;
    bool takes_packets; /* its input are packets, not bytes */
    uint64_t offset;    /* in the stream, behind the last packet */
    uint64_t last_index;
};

static size_t aligned(size_t size)
{
    return (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

static const void *config_of(const void *config)
{
    return (const char *)config + aligned(sizeof(struct config));
}

/* ---- Configuration and packets */

void tw_custom_prepare(void *config, const struct tw_protocol *protocol)
{
    struct config *to = config;

    to->custom = protocol->custom;
}

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    const struct tw_custom_protocol *about = &((struct config *)config)->custom->about;

    if (!about->configure)
        return TW_OK;
    return about->configure((char *)config + aligned(sizeof(struct config)), source, fault);
}

static uint8_t trace_id(const void *config)
{
    const struct tw_custom_protocol *about = &((const struct config *)config)->custom->about;

    return about->trace_id ? about->trace_id(config_of(config)) & 0x7f : 0;
}

static void *reader_of(void *reader)
{
    return (char *)reader + aligned(sizeof(struct reader));
}

static void reader_init(void *reader, const void *config)
{
    struct reader *to = reader;
    const struct tw_custom_protocol *about;

    to->custom = ((const struct config *)config)->custom;
    about = &to->custom->about;
    if (about->reader_size)
        memset(reader_of(reader), 0, about->reader_size);
    if (about->reader_init)
        about->reader_init(reader_of(reader), config_of(config));
}

static enum tw_status read_packet(void *reader, void *packet, const uint8_t *data, size_t size,
                                  bool is_last)
{
    const struct tw_custom_protocol *about = &((struct reader *)reader)->custom->about;
    struct tw_packet *head = packet;

    if (!size)
        return TW_MORE;
    memset(packet, 0, about->packet_size);
    if (about->read(reader_of(reader), packet, data, size, is_last) != TW_OK) {
        if (!is_last && size < about->packet_max)
            return TW_MORE;
        /* It may not ask for more now: the rest goes as it is. */
    } else if (head->size >= 1 && head->size <= size) {
        head->skip_bits = head->spare_bits = 0;
        return TW_OK;
    }
    if (!is_last && size < about->packet_max)
        return TW_MORE;
    head->size = (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX);
    head->skip_bits = head->spare_bits = 0;
    return TW_OK;
}

static void reader_lost(void *reader)
{
    ((struct reader *)reader)->custom->about.reader_lost(reader_of(reader));
}

static void words_of(char *words, const struct tw_custom *custom,
                     const struct tw_packet *packet)
{
    words[0] = 0;
    if (custom->about.text)
        custom->about.text(words, WORDS_ROOM, packet);
    words[WORDS_ROOM - 1] = 0;
}

static const struct tw_member_type rows[] = { TW_SHOWN("text", TEXT, " ") };

/* What the caller says of it. */
static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *packet)
{
    char *words = protocol->custom->about.text ? tw_put_room(out, 0, WORDS_ROOM) : NULL;

    if (!words)
        return;
    words_of(words, protocol->custom, packet);
    if (!words[0]) {
        out->count--;
        out->text_size -= WORDS_ROOM;
    }
}

const struct tw_member_table tw_custom_members = { rows, 1, put_members, NULL };

/* ---- Elements */

/* What the caller's functions emit from now on belongs to the packet of this index. */
static void begin_emitting(struct tw_stage *stage, uint64_t index)
{
    struct tw_emitter *emitter = &((struct decoder *)stage->decoder)->emitter;

    emitter->follow = stage->follow;
    emitter->index = index;
    emitter->elements = stage->out;
    emitter->count = 0;
    emitter->is_over = false;
}

static void finish_emitting(struct tw_stage *stage)
{
    struct tw_emitter *emitter = &((struct decoder *)stage->decoder)->emitter;

    tw_emitter_check_repeats(emitter);
    stage->out += emitter->count;
    if (emitter->is_over)
        tw_stage_add_error(stage, TW_ERROR_UNSUPPORTED, emitter->index, 0, 0);
}

static void forget(struct tw_stage *stage)
{
    struct decoder *d = stage->decoder;
    const struct tw_custom_protocol *about = &d->custom->about;

    d->is_synced = false;
    if (about->decoder_lost)
        about->decoder_lost(d->state);
    if (stage->follow)
        tw_follow_lose(stage->follow);
}

static void take(struct tw_stage *stage, const struct tw_packet *packet, const uint8_t *bytes,
                 bool is_cut)
{
    struct decoder *d = stage->decoder;
    const unsigned kind = tw_type_kind(&d->custom->table, packet->type);

    if (kind == TW_PACKET_NOT_SYNC) {
        if (d->damage.code != TW_ERROR_NONE)
            d->damage.reason = TW_REASON_BAD_PACKET;
        return;
    }
    d->last_index = packet->index;
    if (tw_kind_is_bad(kind)) {
        tw_stage_damage(stage, is_cut ? TW_ERROR_TRUNCATED : TW_ERROR_BAD_SEQUENCE, packet,
                        bytes[0]);
        forget(stage);
        return;
    }
    tw_stage_report(stage, packet->offset);
    d->is_synced = true;
    begin_emitting(stage, packet->index);
    d->custom->about.decode(d->state, &d->emitter, packet);
    finish_emitting(stage);
}

/* Reads a packet up to the gap or the end of the trace, if one is known; *is_cut: there was no other end to it.  False:
   it is not all there. */
static bool read_up_to(struct tw_stage *stage, struct tw_packet *packet, bool *is_cut)
{
    struct decoder *d = stage->decoder;
    const size_t size = (size_t)(stage->end - stage->at);

    /* What is bad in itself is so before it is known what follows. */
    *is_cut = false;
    if (read_packet(d->reader, packet, stage->at, size, false) == TW_OK)
        return true;
    *is_cut = true;
    return stage->is_last && read_packet(d->reader, packet, stage->at, size, true) == TW_OK;
}

/* Reads and takes one packet.  False: it is not all there. */
static bool one_packet(struct tw_stage *stage)
{
    struct decoder *d = stage->decoder;
    struct tw_packet *packet = d->packet;
    const uint8_t *const at = stage->at;
    const size_t size = (size_t)(stage->end - at);
    bool is_cut = false;
    size_t taken;

    if (d->takes_packets) {
        if (!size)
            return false;
        memcpy(packet, at, d->custom->about.packet_size);
        taken = d->custom->about.packet_size;
    } else if (read_up_to(stage, packet, &is_cut)) {
        taken = packet->size;
        is_cut = is_cut && taken == size;
    } else {
        return false;
    }
    packet->offset = tw_stage_offset(stage, at);
    packet->index = tw_stage_index(stage, at);
    packet->id = stage->output->batch->id;
    stage->at = at + taken;
    d->offset = tw_stage_offset(stage, stage->at);
    if (stage->has_gap && is_cut &&
        tw_kind_is_bad(tw_type_kind(&d->custom->table, packet->type)))
        return true; /* a packet that the gap cut is no packet */
    take(stage, packet, at, is_cut);
    tw_stage_mark(stage, stage->out, stage->at);
    return true;
}

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= PACKET_MOST;
}

/* Up to a gap or the end of the input.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct decoder *d = stage->decoder;

    if (!d->has_begun && stage->at < stage->end) {
        d->has_begun = true;
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, tw_stage_index(stage, stage->at))->reason =
            d->was_reset ? TW_REASON_RESET : TW_REASON_INIT;
        tw_stage_mark(stage, stage->out, stage->at + 1);
    }
    do {
        if (!has_room(stage))
            return false;
    } while (one_packet(stage));
    return true;
}

static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct decoder *d = stage->decoder;
    const bool was_synced = d->is_synced;

    reader_lost(d->reader);
    forget(stage);
    if (!was_synced)
        return;
    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    d->damage.reason = TW_REASON_RESET;
}

static void begin_stage(struct tw_stage *stage, struct decoder *d, struct tw_follow *follow,
                        struct tw_output *output)
{
    if (!d->custom->about.follows)
        follow = NULL;
    tw_stage_begin(stage, d, &d->damage, follow, output);
    if (follow)
        tw_follow_enter(follow);
}

static void finish_stage(struct tw_stage *stage)
{
    tw_stage_finish(stage);
    if (stage->follow)
        tw_follow_leave(stage->follow);
}

static enum tw_status decode(void *decoder, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < PACKET_MOST)
        return TW_E_ARGUMENT;
    begin_stage(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    finish_stage(&stage);
    if (stage.follow && follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

static enum tw_status end(void *decoder, struct tw_follow *follow, struct tw_output *output)
{
    struct decoder *d = decoder;
    const struct tw_custom_protocol *about = &d->custom->about;
    struct tw_stage stage;

    if (d->is_ended)
        return TW_END;
    if (output->batch->room - output->batch->count < PACKET_MOST)
        return TW_OK;
    d->is_ended = true;
    begin_stage(&stage, d, follow, output);
    tw_stage_report(&stage, d->offset);
    begin_emitting(&stage, d->last_index);
    if (about->end)
        about->end(d->state, &d->emitter);
    finish_emitting(&stage);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, d->last_index)->reason = TW_REASON_END;
    finish_stage(&stage);
    return TW_END;
}

/* As new; `was_reset` is what the first element will tell. */
static void begin(struct decoder *d, bool was_reset)
{
    const struct tw_custom_protocol *about = &d->custom->about;

    if (about->decoder_size)
        memset(d->state, 0, about->decoder_size);
    reader_init(d->reader, d->config);
    if (about->decoder_init)
        about->decoder_init(d->state, config_of(d->config));
    d->damage = (struct tw_damage){ .code = TW_ERROR_NONE };
    d->is_synced = d->has_begun = d->is_ended = false;
    d->was_reset = was_reset;
    d->takes_packets = false;
    d->offset = d->last_index = 0;
}

static void decoder_init(void *decoder, const void *config)
{
    struct decoder *d = decoder;
    char *behind = (char *)decoder + aligned(sizeof *d);

    d->config = config;
    d->custom = ((const struct config *)config)->custom;
    d->reader = behind;
    behind += aligned(sizeof(struct reader)) + aligned(d->custom->about.reader_size);
    d->packet = behind;
    d->state = behind + aligned(d->custom->about.packet_size);
    begin(d, false);
}

static void decoder_reset(void *decoder)
{
    begin(decoder, true);
}

void tw_custom_take_packets(void *decoder)
{
    ((struct decoder *)decoder)->takes_packets = true;
}

/* ---- Indexes */

static unsigned notes(uint64_t *state, struct tw_index_note *out, const void *reader,
                      const void *packet)
{
    const struct tw_custom *custom = ((const struct reader *)reader)->custom;
    struct tw_protocol_note given[TW_PROTOCOL_NOTES] = { { 0, 0 } };
    size_t count;

    (void)state; /* the caller has a reader of its own */
    if (!custom->about.notes) {
        switch (tw_type_kind(&custom->table, ((const struct tw_packet *)packet)->type)) {
        case TW_PACKET_SYNC:
            return tw_note(out, TW_INDEX_SYNC, !custom->about.adds_up);
        case TW_PACKET_OVERFLOW:
            return tw_note(out, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
        case TW_PACKET_DISCARD:
            return tw_note(out, TW_INDEX_LOSS, TW_REASON_DISCARD);
        default:
            return 0;
        }
    }
    count = custom->about.notes((const char *)reader + aligned(sizeof(struct reader)), given,
                                packet);
    if (count > TW_PROTOCOL_NOTES)
        count = TW_PROTOCOL_NOTES;
    for (size_t i = 0; i < count; i++)
        (void)tw_note(&out[i], given[i].kind < TW_INDEX_KINDS ? given[i].kind : TW_INDEX_INFO,
                      given[i].value);
    return (unsigned)count;
}

static void restore(void *decoder, const uint64_t *words)
{
    struct decoder *d = decoder;

    d->custom->about.restore(d->state, words);
}

static void code_config(struct tw_code_config *code, const void *config)
{
    (void)code; /* the tree knows the rest */
    (void)config;
}

/* ---- Registration */

const struct tw_protocol *tw_custom_by_name(const struct tw_custom *list, const char *name)
{
    for (; list; list = list->next)
        if (strcmp(list->about.name, name) == 0)
            return &list->table;
    return NULL;
}

void tw_custom_free(struct tw_custom *list, const struct tw_allocator *allocator)
{
    while (list) {
        struct tw_custom *next = list->next;

        tw_give(allocator, list);
        list = next;
    }
}

static void fill_table(struct tw_custom *custom)
{
    const struct tw_custom_protocol *about = &custom->about;
    const size_t reader = aligned(sizeof(struct reader)) + aligned(about->reader_size);

    custom->table = (struct tw_protocol){
        .name = about->name,
        .title = about->title ? about->title : about->name,
        .flags = (about->follows ? TW_PROTOCOL_FOLLOWS : 0u) |
                 (about->adds_up ? TW_PROTOCOL_SUMS : 0u),
        .config_size = aligned(sizeof(struct config)) + about->config_size,
        .reader_size = reader,
        .decoder_size = aligned(sizeof(struct decoder)) + reader + aligned(about->packet_size) +
                        about->decoder_size,
        .packet_size = about->packet_size,
        .packet_max = about->packet_max,
        .configure = configure,
        .trace_id = trace_id,
        .reader_init = reader_init,
        .read = read_packet,
        .reader_lost = reader_lost,
        .members = &tw_custom_members,
        .type_name = about->type_name,
        .type_kind = about->type_kind,
        .code_config = code_config,
        .decoder_init = decoder_init,
        .decode = about->decode ? decode : NULL,
        .end = end,
        .decoder_reset = decoder_reset,
        .damage_at = offsetof(struct decoder, damage),
        .notes = notes,
        .restore = about->restore ? restore : NULL,
        .custom = custom,
    };
}

enum tw_status tw_custom_add(struct tw_custom **list, const struct tw_custom_protocol *protocol,
                             const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_custom_protocol copy;
    struct tw_custom *custom;

    TW_TRY(TW_SIZED_TAKE(&copy, protocol, "tw_custom_protocol", fault));
    if (!copy.name || !copy.read || !copy.reader_lost || !copy.type_name || !copy.packet_max ||
        copy.packet_size < sizeof(struct tw_packet))
        return tw_fail(fault, TW_E_ARGUMENT, "tw_custom_protocol is not complete");
    if (tw_protocol_by_name(copy.name) || tw_custom_by_name(*list, copy.name))
        return tw_fail(fault, TW_E_ARGUMENT, "there is a protocol '%s' already", copy.name);
    custom = tw_take(allocator, sizeof *custom);
    if (!custom)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a protocol");
    custom->about = copy;
    fill_table(custom);
    custom->next = *list;
    *list = custom;
    return TW_OK;
}

enum tw_status tw_tree_add_protocol(struct tw_tree *tree,
                                    const struct tw_custom_protocol *protocol)
{
    return tree ? tw_custom_add(&tree->customs, protocol, tree->config.allocator, &tree->fault)
                : TW_E_ARGUMENT;
}
