/* SPDX-License-Identifier: BSD-2-Clause */
/* diff --packets: the first bit that differs, and both packets that hold it, field by field. */
#include "diff/packets.h"

#include <inttypes.h>
#include <string.h>

#include "formats/bits.h"

/* The next packet; false: there is none, or *is_failed. */
static bool next_packet(struct side *side, struct tw_packet_view *view, bool *is_failed)
{
    struct tw_part part = { .size = sizeof part };
    enum tw_status status;

    do {
        view->size = sizeof *view;
        status = tw_run_next_packet(side->run, &part, view);
    } while (status == TW_OK && part.kind != TW_PART_ELEMENTS);
    *is_failed = status != TW_OK && status != TW_END;
    if (*is_failed)
        say("%s: %s", side->path, tw_run_fault(side->run));
    return status == TW_OK;
}

/* The first bit that differs, from the lowest of the first byte on; SIZE_MAX: none does. */
static size_t first_bit(const struct tw_packet_view *a, const struct tw_packet_view *b)
{
    const size_t size = a->packet->size < b->packet->size ? a->packet->size : b->packet->size;
    size_t i = 0;

    if (a->bytes && b->bytes) {
        while (i < size && a->bytes[i] == b->bytes[i])
            i++;
        for (unsigned bit = 0; i < size && bit < 8; bit++)
            if ((a->bytes[i] ^ b->bytes[i]) >> bit & 1)
                return 8 * i + bit;
    }
    return a->packet->size == b->packet->size && a->packet->type == b->packet->type ? SIZE_MAX
                                                                                    : 8 * size;
}

static void print_packet(struct output *out, char which, const struct tw_packet_view *view)
{
    char line[8200];

    output_format(out, "%c: ", which);
    if (!view) {
        output_text(out, "ends\n");
        return;
    }
    (void)tw_packet_text(line, sizeof line, view);
    output_text(out, line);
    output_text(out, "\n");
    if (view->bits)
        bits_text(out, view);
}

static void print_difference(struct output *out, uint64_t number,
                             const struct tw_packet_view *a, const struct tw_packet_view *b)
{
    output_format(out, "packet %" PRIu64 " differs", number);
    if (a && b) {
        const size_t bit = first_bit(a, b);

        output_format(out,
                      " in bit %zu of its byte %zu: at 0x%" PRIx64 " in A, 0x%" PRIx64 " in B",
                      bit % 8, bit / 8, a->packet->index + bit / 8, b->packet->index + bit / 8);
    }
    output_text(out, "\n");
    print_packet(out, 'A', a);
    print_packet(out, 'B', b);
}

static bool start(struct side *side)
{
    if (side->is_log) {
        say("%s: --packets wants captures: a log has no packets", side->path);
        return false;
    }
    side->wish.config.packets_only = side->wish.config.keeps_bits = true;
    side->run = session_run_new(&side->session, &side->wish);
    return side->run != NULL;
}

bool packets_compare(struct side sides[2], struct output *out, int *status)
{
    struct tw_packet_view a, b;
    uint64_t number = 0;
    bool is_failed[2] = { false, false };

    if (!start(&sides[0]) || !start(&sides[1]))
        return false;
    for (;; number++) {
        const bool has_a = next_packet(&sides[0], &a, &is_failed[0]);
        const bool has_b = next_packet(&sides[1], &b, &is_failed[1]);

        if (is_failed[0] || is_failed[1])
            return false;
        if (!has_a && !has_b)
            break;
        if (has_a && has_b && first_bit(&a, &b) == SIZE_MAX)
            continue;
        print_difference(out, number, has_a ? &a : NULL, has_b ? &b : NULL);
        *status = 1;
        return true;
    }
    output_format(out, "equal: %" PRIu64 " packets\n", number);
    *status = DONE;
    return true;
}
