/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of any protocol: what their lines say. */
#include "base/members.h"
#include "base/sized.h"
#include "tree/custom.h"

/* Of a line, beside the packet's bytes; and all that may be written of a packet of usual size. */
enum { LINE_ROOM = 1024, USUAL_SIZE = 128, USUAL_MOST = 8192, BYTES_TOLD = 12 };

enum { I, O, ID, SRC, T, T_CUSTOM, B, NIB, NB, HEAD_MEMBERS };

static const struct tw_member_type rows[HEAD_MEMBERS] = {
    [I] = TW_LISTED("i", DECIMAL),
    [O] = TW_LISTED("o", DECIMAL),
    [ID] = TW_LISTED("id", DECIMAL),
    [SRC] = TW_LISTED("src", DECIMAL),
    [T] = TW_LISTED("t", NAME),
    [T_CUSTOM] = TW_LISTED("t", TEXT), /* as the caller has it */
    [B] = TW_LISTED("b", BYTES),
    [NIB] = TW_LISTED("nib", DECIMAL),
    [NB] = TW_LISTED("nb", NIBBLES),
};

const char *tw_packet_type_name(const struct tw_packet_view *view)
{
    return tw_type_name(view->about, view->packet->type);
}

static const struct tw_member_table head = { rows, HEAD_MEMBERS, NULL, NULL };

/* The row with this number among those of a table, or how many fewer are still to go. */
static const struct tw_member_type *row_of(const struct tw_member_table *table, size_t *number)
{
    for (; table; table = table->more) {
        if (*number < table->count)
            return &table->rows[*number];
        *number -= table->count;
    }
    return NULL;
}

const struct tw_member_type *tw_packet_member_type(size_t number)
{
    const struct tw_member_type *found = row_of(&head, &number);

    for (size_t i = 0; tw_protocols[i] && !found; i++)
        found = row_of(tw_protocols[i]->members, &number);
    return found ? found : row_of(&tw_custom_members, &number);
}

static void put_head(struct tw_members *out, const struct tw_packet_view *view)
{
    const struct tw_protocol *protocol = view->about;
    const struct tw_packet *packet = view->packet;
    const size_t header = protocol->header_size && tw_kind_is_understood(view->kind)
                              ? protocol->header_size(packet)
                              : 0;

    out->types = rows;
    tw_put(out, I, packet->index);
    tw_put(out, O, packet->offset);
    tw_put(out, ID, packet->id);
    if (view->src != TW_NO_SRC)
        tw_put(out, SRC, view->src);
    tw_put_text(out, protocol->custom ? T_CUSTOM : T, tw_type_name(protocol, packet->type));
    tw_put_bytes(out, B, view->bytes + header, packet->size - header);
    if (protocol->flags & TW_PROTOCOL_BITS) {
        const unsigned first = packet->skip_bits ? 1 : 0;
        struct tw_member *nibbles;

        tw_put(out, NIB, 2 * packet->offset + first);
        nibbles = tw_put_any(out, NB);
        nibbles->bytes = view->bytes;
        nibbles->number = 2 * (uint64_t)packet->size - first - (packet->spare_bits ? 1 : 0);
        nibbles->high = first;
    }
}

static void put_body(struct tw_members *out, const struct tw_packet_view *view)
{
    const struct tw_member_table *table = view->about->members;

    out->types = table->rows;
    if (view->kind != TW_PACKET_NOT_SYNC)
        table->put(out, view->about, view->packet);
}

void tw_packet_members(struct tw_members *out, const struct tw_packet_view *view)
{
    out->count = out->text_size = 0;
    if (out->wanted & TW_MEMBER_LISTED)
        put_head(out, view);
    put_body(out, view);
}

size_t tw_packet_json(char *out, size_t room, const struct tw_packet_view *view)
{
    struct tw_members_here here;
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_LISTED);
    const unsigned digits = view->about->flags & TW_PROTOCOL_BITS ? 4 : 2;
    const size_t enough = LINE_ROOM + digits * (size_t)view->packet->size;
    char line[USUAL_MOST];
    size_t most;

    if (room < enough)
        return enough;
    tw_packet_members(list, view);
    most = tw_members_most(list);
    if (most < room) /* which is so for every long packet: those have few members */
        return tw_line_give(out, room, out, tw_members_json(out, list));
    return most <= sizeof line ? tw_line_give(out, room, line, tw_members_json(line, list))
                               : most + 1;
}

/* The columns of a line of text: "0x123     0x10 f7                  I_ATOM_F1". */
static char *put_columns(char *at, const struct tw_packet_view *view)
{
    const struct tw_packet *packet = view->packet;
    const char *name = tw_type_name(view->about, packet->type);
    const size_t told = packet->size < BYTES_TOLD ? packet->size : BYTES_TOLD;
    char *const line = at;

    at = tw_write_hex(at, packet->index);
    do
        *at++ = ' ';
    while (at < line + 10);
    at = tw_write_hex(at, packet->id);
    *at++ = ' ';
    at = tw_write_bytes(at, view->bytes, told);
    if (told < packet->size) {
        memcpy(at, "... (", 5);
        at = tw_write_decimal(at + 5, packet->size);
        memcpy(at, " bytes)", 7);
        at += 7;
    }
    do
        *at++ = ' ';
    while (at < line + 40);
    for (size_t i = 0; i < LINE_ROOM && name[i]; i++)
        *at++ = name[i];
    return at;
}

size_t tw_packet_text(char *out, size_t room, const struct tw_packet_view *view)
{
    struct tw_members_here here;
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_TOLD);
    char line[USUAL_MOST];
    char *to = room > USUAL_MOST ? out : line, *end;

    put_body(list, view);
    end = put_columns(to, view);
    if (tw_members_most(list) + (size_t)(end - to) <= USUAL_MOST)
        end = tw_members_text(end, list);
    return tw_line_give(out, room, to, end);
}

size_t tw_packet_copy(struct tw_packet_view *copy, void *memory, size_t room,
                      const struct tw_packet_view *view)
{
    const size_t align = 16, packet = (view->about->packet_size + align - 1) / align * align;
    const size_t bytes = view->bytes ? view->packet->size : 0;
    const size_t size = packet + (bytes + align - 1) / align * align;
    struct tw_packet_view made = *view;

    if (size > room)
        return size;
    memcpy(memory, view->packet, view->about->packet_size);
    made.packet = memory;
    made.bits = NULL;
    if (view->bytes) {
        memcpy((uint8_t *)memory + packet, view->bytes, bytes);
        made.bytes = (uint8_t *)memory + packet;
    }
    return TW_SIZED_GIVE(copy, &made) ? size : 0;
}
