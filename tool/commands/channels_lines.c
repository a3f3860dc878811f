/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of what hardware watched, and lines of what software wrote, as text, JSON or CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/channels.h"

enum { LINE_MOST = 4096 }; /* a longer line is cut */

/* Seconds, where the clock is known. */
static bool put_seconds(struct channels *channels, const char *before, uint64_t time)
{
    const uint64_t clock = channels->options->clock.value;

    if (clock)
        output_format(&channels->out, "%s%.9f", before, (double)time / (double)clock);
    return clock != 0;
}

void channels_head(struct channels *channels)
{
    if (channels->format == CHANNELS_CSV)
        output_text(&channels->out, "cycles,stream,type,source,value,pc,offset,note\n");
}

static void put_csv_text(struct output *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        output_text(out, text);
        return;
    }
    output_text(out, "\"");
    for (; *text; text++) {
        if (*text == '"')
            output_text(out, "\"");
        output_bytes(out, text, 1);
    }
    output_text(out, "\"");
}

static void row_csv(struct channels *channels, const struct row *row)
{
    struct output *out = &channels->out;

    if (row->when.is_known)
        output_decimal(out, row->when.time);
    output_text(out, ",");
    if (channels->is_framed)
        output_decimal(out, row->id);
    output_format(out, ",%s,", row->type);
    if (row->source >= 0)
        output_decimal(out, (uint64_t)row->source);
    output_text(out, ",");
    if (row->has_value)
        output_format(out, "0x%0*" PRIx32, 2 * row->value_size, row->value);
    output_text(out, ",");
    if (row->has_pc)
        output_format(out, "0x%08" PRIx32, row->pc);
    output_text(out, ",");
    if (row->has_address)
        output_format(out, "0x%0*" PRIx32, 2 * row->address_size, row->address);
    output_text(out, ",");
    if (row->note)
        put_csv_text(out, row->note);
    output_text(out, "\n");
}

static void json_head(struct channels *channels, uint64_t index, uint8_t id, const char *type,
                      struct moment when)
{
    output_format(&channels->out, "{\"i\":%" PRIu64 ",\"id\":%u,\"t\":\"%s\"", index, id, type);
    if (when.is_known) {
        output_format(&channels->out, ",\"time\":%" PRIu64, when.time);
        (void)put_seconds(channels, ",\"seconds\":", when.time);
    }
}

static void row_json(struct channels *channels, const struct row *row)
{
    struct output *out = &channels->out;

    json_head(channels, row->index, row->id, row->type, row->when);
    if (row->source >= 0)
        output_format(out, ",\"source\":%" PRId64, row->source);
    if (row->has_value)
        output_format(out, ",\"value\":\"0x%" PRIx32 "\",\"size\":%u", row->value,
                      row->value_size);
    if (row->has_pc)
        output_format(out, ",\"pc\":\"0x%" PRIx32 "\"", row->pc);
    if (row->has_address)
        output_format(out, ",\"offset\":\"0x%" PRIx32 "\"", row->address);
    if (row->note) {
        output_text(out, ",\"note\":");
        output_json_text(out, row->note);
    }
    output_text(out, "}\n");
}

void channels_row(struct channels *channels, const struct row *row)
{
    if (channels->format == CHANNELS_CSV)
        row_csv(channels, row);
    else if (channels->format == CHANNELS_JSON)
        row_json(channels, row);
}

struct channel *channels_find(struct channels *channels, uint8_t id, bool is_stm,
                              uint16_t master, uint16_t number)
{
    const struct number *port = &channels->options->port;
    struct channel *channel;

    if (port->is_given && port->value != number)
        return NULL;
    for (size_t i = 0; i < channels->count; i++) {
        channel = &channels->channels[i];
        if (channel->id == id && channel->number == number && channel->master == master)
            return channel;
    }
    if (channels->count == channels->room) {
        const size_t room = channels->room ? 2 * channels->room : 16;
        struct channel *more = realloc(channels->channels, room * sizeof *more);

        if (!more) {
            channels->has_failed = true;
            return NULL;
        }
        channels->channels = more;
        channels->room = room;
    }
    channel = &channels->channels[channels->count++];
    *channel =
        (struct channel){ .id = id, .is_stm = is_stm, .master = master, .number = number };
    return channel;
}

void channels_free_lines(struct channels *channels)
{
    for (size_t i = 0; i < channels->count; i++)
        free(channels->channels[i].line);
    free(channels->channels);
}

/* Bytes of the UTF-8 character at `text`; 0: there is none. */
static size_t character_size(const char *text, size_t left)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t size = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;

    if (size > left || first > 0xf4)
        return 0;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    if (size > 2) { /* too long a form, surrogates, beyond the last plane */
        const unsigned second = (unsigned char)text[1];

        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
            (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
            return 0;
    }
    return size;
}

/* What is no text is shown as escapes, so that a line stays a line. */
static void put_printable(struct output *out, const struct channel *channel, bool is_json)
{
    for (size_t i = 0, size; i < channel->size; i += size) {
        const unsigned char byte = (unsigned char)channel->line[i];

        size = character_size(&channel->line[i], channel->size - i);
        if (is_json && (byte == '"' || byte == '\\'))
            output_format(out, "\\%c", byte);
        else if (size > 1 || (size == 1 && byte >= 0x20 && byte != 0x7f) ||
                 (byte == '\t' && !is_json))
            output_bytes(out, &channel->line[i], size);
        else
            output_format(out, is_json ? "\\u%04x" : "\\x%02x", byte);
        if (size == 0)
            size = 1;
    }
}

static void line_text(struct channels *channels, const struct channel *channel)
{
    struct output *out = &channels->out;

    if (channel->when.is_known) {
        if (put_seconds(channels, "@", channel->when.time))
            output_text(out, "s ");
        else
            output_format(out, "@%" PRIu64 " ", channel->when.time);
    }
    if (channels->is_framed)
        output_format(out, "id 0x%02x ", channel->id);
    if (channel->is_stm)
        output_format(out, "master 0x%02x channel %u: ", channel->master, channel->number);
    else
        output_format(out, "port %u: ", channel->number);
    put_printable(out, channel, false);
    output_text(out, "\n");
}

static void line_json(struct channels *channels, struct channel *channel)
{
    struct output *out = &channels->out;

    json_head(channels, channel->index, channel->id, "TEXT", channel->when);
    if (channel->is_stm)
        output_format(out, ",\"master\":%u,\"chan\":%u", channel->master, channel->number);
    else
        output_format(out, ",\"port\":%u", channel->number);
    output_text(out, ",\"text\":\"");
    put_printable(out, channel, true);
    output_text(out, "\"}\n");
}

void channels_end_line(struct channels *channels, struct channel *channel)
{
    if (channel->size && channel->line[channel->size - 1] == '\r')
        channel->size--;
    if (channels->format == CHANNELS_TEXT)
        line_text(channels, channel);
    else if (channels->format == CHANNELS_JSON)
        line_json(channels, channel);
    channel->size = 0;
    channel->when = (struct moment){ .is_known = false };
}

static void put_byte(struct channels *channels, struct channel *channel, char byte)
{
    if (byte == '\n' || channel->size == LINE_MOST)
        channels_end_line(channels, channel);
    if (byte == '\n')
        return;
    if (channel->size == channel->room) {
        const size_t room = channel->room ? 2 * channel->room : 64;
        char *more = realloc(channel->line, room);

        if (!more) {
            channels->has_failed = true;
            return;
        }
        channel->line = more;
        channel->room = room;
    }
    channel->line[channel->size++] = byte;
}

void channels_write(struct channels *channels, struct channel *channel, struct moment when,
                    uint64_t index, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        const char byte = (char)(value >> (8 * i) & 0xff);

        if (channels->format == CHANNELS_RAW) {
            output_bytes(&channels->out, &byte, 1);
            continue;
        }
        if (channels->format == CHANNELS_CSV)
            continue;
        if (channel->size == 0) {
            channel->when = when;
            channel->index = index;
        } else if (!channel->when.is_known) {
            channel->when = when;
        }
        put_byte(channels, channel, byte);
    }
}
