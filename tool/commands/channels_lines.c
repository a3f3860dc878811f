/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of what hardware watched, and lines of what software wrote, as text, JSON or CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "commands/channels.h"

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

static void row_csv(struct channels *channels, const struct tw_channel_event *row)
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
                      struct tw_channel_time when)
{
    output_format(&channels->out, "{\"i\":%" PRIu64 ",\"id\":%u,\"t\":\"%s\"", index, id, type);
    if (when.is_known) {
        output_format(&channels->out, ",\"time\":%" PRIu64, when.time);
        (void)put_seconds(channels, ",\"seconds\":", when.time);
    }
}

static void row_json(struct channels *channels, const struct tw_channel_event *row)
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

static void text_head(struct channels *channels, struct tw_channel_time when, uint8_t id)
{
    struct output *out = &channels->out;

    if (when.is_known) {
        if (put_seconds(channels, "@", when.time))
            output_text(out, "s ");
        else
            output_format(out, "@%" PRIu64 " ", when.time);
    }
    if (channels->is_framed)
        output_format(out, "id 0x%02x ", id);
}

/* An address, and the function that it is in where that is known. */
static void put_place(struct channels *channels, uint32_t address)
{
    struct tw_symbol symbol;

    output_format(&channels->out, "0x%08" PRIx32, address);
    if (!channels->symbols || !tw_symbols_find(channels->symbols, &symbol, address))
        return;
    output_text(&channels->out, " ");
    output_name(&channels->out, symbol.name);
    if ((address & ~1u) != (symbol.address & ~(uint64_t)1))
        output_format(&channels->out, "+0x%" PRIx64,
                      (address & ~1u) - (symbol.address & ~(uint64_t)1));
}

static void row_access(struct channels *channels, const struct tw_channel_event *row)
{
    struct output *out = &channels->out;

    output_format(out, "watch %" PRId64 ":", row->source);
    if (row->has_value)
        output_format(out, " %s 0x%0*" PRIx32, row->note ? row->note : "write",
                      2 * row->value_size, row->value);
    else if (row->note)
        output_format(out, " %s", row->note);
    if (row->has_address)
        output_format(out, " at offset 0x%0*" PRIx32, 2 * row->address_size, row->address);
    if (row->has_pc) {
        output_text(out, " by ");
        put_place(channels, row->pc);
    }
}

/* Whether a row is shown as text: one of a port that has a format, or of the hardware. */
static bool is_shown(const struct channels *channels, const struct tw_channel_event *row,
                     const struct port_format **format)
{
    *format = NULL;
    if (strcmp(row->type, "itm") == 0 || strcmp(row->type, "stm") == 0) {
        *format = ports_find(channels, (uint64_t)row->source);
        return *format && row->has_value;
    }
    if (strcmp(row->type, "pc") == 0 && channels->samples && !channels->options->verbose)
        return false; /* they are counted by function */
    return !channels->options->port.is_given;
}

static void row_text(struct channels *channels, const struct tw_channel_event *row)
{
    struct output *out = &channels->out;
    const struct port_format *format;

    if (!is_shown(channels, row, &format))
        return;
    text_head(channels, row->when, row->id);
    if (format) {
        output_format(out, "%s %" PRId64 ": ",
                      strcmp(row->type, "stm") == 0 ? "channel" : "port", row->source);
        ports_print(out, format, row);
    } else if (strcmp(row->type, "dwt") == 0) {
        row_access(channels, row);
    } else if (strcmp(row->type, "frequency") == 0) {
        output_format(out, "frequency: %" PRIu32 " Hz", row->value);
    } else {
        output_format(out, "%s", row->type);
        if (row->source >= 0)
            output_format(out, " %" PRId64, row->source);
        if (row->has_pc) {
            output_text(out, " ");
            put_place(channels, row->pc);
        }
        if (row->has_value && !row->note)
            output_format(out, " 0x%0*" PRIx32, 2 * row->value_size, row->value);
        if (row->note)
            output_format(out, ": %s", row->note);
    }
    output_text(out, "\n");
}

void channels_event(void *context, const struct tw_channel_event *event)
{
    struct channels *channels = context;

    if (channels->format == CHANNELS_CSV)
        row_csv(channels, event);
    else if (channels->format == CHANNELS_JSON)
        row_json(channels, event);
    else if (channels->format == CHANNELS_TEXT)
        row_text(channels, event);
}

/* What is no text is shown as escapes, so that a line stays a line. */
static void put_printable(struct output *out, const struct tw_channel_line *line, bool is_json)
{
    for (size_t i = 0, size; i < line->text_size; i += size) {
        const unsigned char byte = (unsigned char)line->text[i];

        size = tw_utf8_size(&line->text[i], line->text_size - i);
        if (is_json && (byte == '"' || byte == '\\'))
            output_format(out, "\\%c", byte);
        else if (size > 1 || (size == 1 && byte >= 0x20 && byte != 0x7f) ||
                 (byte == '\t' && !is_json))
            output_bytes(out, &line->text[i], size);
        else
            output_format(out, is_json ? "\\u%04x" : "\\x%02x", byte);
        if (size == 0)
            size = 1;
    }
}

static void line_text(struct channels *channels, const struct tw_channel_line *line)
{
    struct output *out = &channels->out;

    if (ports_find(channels, line->number))
        return; /* its values were shown */
    text_head(channels, line->when, line->id);
    if (line->is_stm)
        output_format(out, "master 0x%02x channel %u: ", line->master, line->number);
    else
        output_format(out, "port %u: ", line->number);
    put_printable(out, line, false);
    output_text(out, "\n");
}

static void line_json(struct channels *channels, const struct tw_channel_line *line)
{
    struct output *out = &channels->out;

    json_head(channels, line->index, line->id, "TEXT", line->when);
    if (line->is_stm)
        output_format(out, ",\"master\":%u,\"chan\":%u", line->master, line->number);
    else
        output_format(out, ",\"port\":%u", line->number);
    output_text(out, ",\"text\":\"");
    put_printable(out, line, true);
    output_text(out, "\"}\n");
}

void channels_line(void *context, const struct tw_channel_line *line)
{
    struct channels *channels = context;

    if (channels->format == CHANNELS_TEXT)
        line_text(channels, line);
    else
        line_json(channels, line);
}

void channels_bytes(void *context, const char *bytes, size_t size)
{
    struct channels *channels = context;

    output_bytes(&channels->out, bytes, size);
}
