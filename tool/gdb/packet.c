/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes to packets and back.  Nothing here knows what packets mean. */
#include "gdb/packet.h"

enum { OUTSIDE, INSIDE, FIRST_DIGIT, SECOND_DIGIT };
enum { ESCAPE = '}', ESCAPED = 0x20, CTRL_C = 0x03 };

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void begin(struct gdb_reader *reader)
{
    reader->state = INSIDE;
    reader->sum = 0;
    reader->size = 0;
    reader->is_escaped = reader->is_too_long = reader->is_bad_sum = false;
}

static void take(struct gdb_reader *reader, uint8_t byte)
{
    reader->sum = (uint8_t)(reader->sum + byte);
    if (byte == ESCAPE && !reader->is_escaped) {
        reader->is_escaped = true;
        return;
    }
    if (reader->is_escaped)
        byte ^= ESCAPED;
    reader->is_escaped = false;
    if (reader->size < GDB_PACKET_MOST)
        reader->data[reader->size++] = (char)byte;
    else
        reader->is_too_long = true;
}

static enum gdb_event outside(struct gdb_reader *reader, uint8_t byte)
{
    switch (byte) {
    case '$':
        begin(reader);
        return GDB_MORE;
    case '+':
        return GDB_ACK;
    case '-':
        return GDB_NAK;
    case CTRL_C:
        return GDB_INTERRUPT;
    default:
        return GDB_MORE;
    }
}

enum gdb_event gdb_read(struct gdb_reader *reader, uint8_t byte)
{
    const int value = digit((char)byte);

    switch (reader->state) {
    case INSIDE:
        if (byte == '$') /* the last one was cut off: a new one */
            begin(reader);
        else if (byte == '#')
            reader->state = FIRST_DIGIT;
        else
            take(reader, byte);
        return GDB_MORE;
    case FIRST_DIGIT:
        reader->is_bad_sum = value < 0;
        reader->told = (uint8_t)((value < 0 ? 0 : value) << 4);
        reader->state = SECOND_DIGIT;
        return GDB_MORE;
    case SECOND_DIGIT:
        reader->state = OUTSIDE;
        reader->told = (uint8_t)(reader->told | (value < 0 ? 0 : value));
        reader->data[reader->size] = 0;
        if (value < 0 || reader->is_bad_sum || reader->told != reader->sum)
            return GDB_DAMAGED;
        return reader->is_too_long ? GDB_TOO_LONG : GDB_PACKET;
    default:
        return outside(reader, byte);
    }
}

size_t gdb_write(char *out, const char *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum = 0;
    size_t at = 0;

    out[at++] = '$';
    for (size_t i = 0; i < size; i++) {
        const char c = data[i];

        /* '*' would begin a repetition */
        if (c == '$' || c == '#' || c == ESCAPE || c == '*') {
            out[at++] = ESCAPE;
            out[at++] = (char)(c ^ ESCAPED);
            sum = (uint8_t)(sum + (uint8_t)ESCAPE);
        } else {
            out[at++] = c;
        }
        sum = (uint8_t)(sum + (uint8_t)out[at - 1]);
    }
    out[at++] = '#';
    out[at++] = digits[sum >> 4];
    out[at++] = digits[sum & 15];
    return at;
}

bool gdb_hex(const char **text, const char *end, uint64_t *value)
{
    const char *at = *text;

    *value = 0;
    while (at < end && digit(*at) >= 0) {
        if (*value >> 60)
            return false;
        *value = *value << 4 | (uint64_t)digit(*at);
        at++;
    }
    if (at == *text)
        return false;
    *text = at;
    return true;
}

bool gdb_hex_then(const char **text, const char *end, uint64_t *value, char mark)
{
    if (!gdb_hex(text, end, value) || *text == end || **text != mark)
        return false;
    ++*text;
    return true;
}

size_t gdb_to_hex(char *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    return 2 * size;
}

size_t gdb_from_hex(uint8_t *out, size_t room, const char *text, size_t size)
{
    if (size % 2 || size / 2 > room)
        return SIZE_MAX;
    for (size_t i = 0; i < size / 2; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return SIZE_MAX;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return size / 2;
}
