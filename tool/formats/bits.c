/* SPDX-License-Identifier: BSD-2-Clause */
/* Bits of packets, drawn and listed. */
#include "formats/bits.h"

#include <string.h>

enum { RUNS = 2048, WIDTH = 96, CELLS = 64 };

static bool is_set(const struct tw_packet_view *packet, size_t bit)
{
    return packet->bytes[bit / 8] >> bit % 8 & 1;
}

/* A stretch of bits of one byte, as it is drawn. */
struct cell {
    const char *name; /* NULL: bits of another packet */
    char bits[9];
    size_t width;
    bool ends_byte;
};

/* The name of a bit; NULL: it is none of this packet's. */
static const char *name_of(const struct tw_packet_bit_run *runs, size_t count, size_t bit)
{
    for (size_t i = 0; i < count; i++)
        if (bit - runs[i].first < runs[i].count)
            return runs[i].name;
    return NULL;
}

/* The cells of a byte, from its highest bit on. */
static size_t cells_of(const struct tw_packet_view *packet, struct cell *cells, size_t byte,
                       const struct tw_packet_bit_run *runs, size_t count)
{
    size_t made = 0;

    for (size_t i = 8; i-- > 0;) {
        const char *name = name_of(runs, count, 8 * byte + i);
        struct cell *cell = made ? &cells[made - 1] : NULL;
        size_t size;

        if (!cell || cell->name != name)
            cells[made++] = (struct cell){ .name = name };
        cell = &cells[made - 1];
        size = strlen(cell->bits);
        cell->bits[size] = !name ? '.' : is_set(packet, 8 * byte + i) ? '1' : '0';
        cell->bits[size + 1] = 0;
    }
    for (size_t i = 0; i < made; i++) {
        const size_t name = cells[i].name ? strlen(cells[i].name) : 0;

        cells[i].width = name > strlen(cells[i].bits) ? name : strlen(cells[i].bits);
        cells[i].ends_byte = i + 1 == made;
    }
    return made;
}

static void put_line(struct output *out, const struct cell *cells, size_t count, bool is_names)
{
    output_text(out, "    |");
    for (size_t i = 0; i < count; i++) {
        const char *text = is_names ? (cells[i].name ? cells[i].name : "") : cells[i].bits;

        output_format(out, "%-*s%s", (int)cells[i].width, text,
                      cells[i].ends_byte ? (i + 1 < count ? "||" : "|") : "|");
    }
    output_text(out, "\n");
}

void bits_text(struct output *out, const struct tw_packet_view *packet)
{
    struct tw_packet_bit_run runs[RUNS];
    const size_t count = tw_packet_bits(packet, runs, RUNS);
    struct cell cells[CELLS];
    size_t made = 0, width = 0;

    for (size_t byte = 0; count && byte < packet->packet->size; byte++) {
        struct cell next[8];
        const size_t more = cells_of(packet, next, byte, runs, count);
        size_t wide = 1;

        for (size_t i = 0; i < more; i++)
            wide += next[i].width + 1;
        if (made && (width + wide > WIDTH || made + more > CELLS)) {
            put_line(out, cells, made, true);
            put_line(out, cells, made, false);
            made = width = 0;
        }
        memcpy(cells + made, next, more * sizeof *next);
        made += more;
        width += wide;
    }
    if (made) {
        put_line(out, cells, made, true);
        put_line(out, cells, made, false);
    }
}

void bits_json(struct output *out, const struct tw_packet_view *packet)
{
    struct tw_packet_bit_run runs[RUNS];
    const size_t count = tw_packet_bits(packet, runs, RUNS);

    if (!count)
        return;
    output_text(out, ",\"fields\":[");
    for (size_t i = 0; i < count; i++) {
        output_format(out, "%s{\"f\":\"%s\",\"at\":%u,\"n\":%u,\"v\":\"", i ? "," : "",
                      runs[i].name, (unsigned)runs[i].first, (unsigned)runs[i].count);
        for (size_t bit = runs[i].first + runs[i].count; bit-- > runs[i].first;)
            output_bytes(out, is_set(packet, bit) ? "1" : "0", 1);
        output_text(out, "\"}");
    }
    output_text(out, "]");
}
