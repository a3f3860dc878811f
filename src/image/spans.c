/* SPDX-License-Identifier: BSD-2-Clause */
/* The spans of a layer, sorted, in pieces of bounded size: a file may bring any number of regions in any order,
   and each is put in its place without moving all the others. */
#include <string.h>

#include "base/memory.h"
#include "image/store.h"

enum { PIECE_MOST = 512 };

/* The number of pieces that begin at or before the address. */
static size_t pieces_up_to(const struct layer *layer, uint64_t address)
{
    size_t low = 0, high = layer->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (layer->pieces[middle].spans[0].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of spans of a piece that begin at or before the address. */
static size_t spans_up_to(const struct piece *piece, uint64_t address)
{
    size_t low = 0, high = piece->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (piece->spans[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct span_place tw_spans_find(const struct layer *layer, uint64_t address)
{
    const size_t piece = pieces_up_to(layer, address);

    if (!piece)
        return (struct span_place){ 0, 0 };
    return (struct span_place){ piece - 1, spans_up_to(&layer->pieces[piece - 1], address) };
}

const struct span *tw_span_before(const struct layer *layer, struct span_place *place)
{
    if (!place->at) {
        if (!place->piece)
            return NULL;
        place->piece--;
        place->at = layer->pieces[place->piece].count;
    }
    return &layer->pieces[place->piece].spans[--place->at];
}

const struct span *tw_span_after(const struct layer *layer, struct span_place place)
{
    if (place.piece < layer->count && place.at == layer->pieces[place.piece].count)
        place = (struct span_place){ place.piece + 1, 0 };
    return place.piece < layer->count ? &layer->pieces[place.piece].spans[place.at] : NULL;
}

static bool add_piece(struct layer *layer, size_t place, const struct tw_allocator *allocator)
{
    struct piece *at;

    if (!TW_GROW(allocator, &layer->pieces, &layer->room, layer->count + 1))
        return false;
    at = &layer->pieces[place];
    memmove(at + 1, at, (layer->count - place) * sizeof *at);
    *at = (struct piece){ 0 };
    if (!TW_GROW(allocator, &at->spans, &at->room, 1)) {
        memmove(at, at + 1, (layer->count - place) * sizeof *at);
        return false;
    }
    layer->count++;
    return true;
}

/* The upper half of a full piece becomes one of its own. */
static bool split(struct layer *layer, size_t number, const struct tw_allocator *allocator)
{
    enum { KEPT = PIECE_MOST / 2 };
    struct piece *from, *to;

    if (!add_piece(layer, number + 1, allocator))
        return false;
    from = &layer->pieces[number];
    to = from + 1;
    if (!TW_GROW(allocator, &to->spans, &to->room, from->count - KEPT)) {
        tw_give(allocator, to->spans);
        memmove(to, to + 1, (layer->count - number - 2) * sizeof *to);
        layer->count--;
        return false;
    }
    to->count = from->count - KEPT;
    memcpy(to->spans, from->spans + KEPT, to->count * sizeof *to->spans);
    from->count = KEPT;
    return true;
}

bool tw_spans_insert(struct layer *layer, struct span span,
                     const struct tw_allocator *allocator)
{
    struct span_place place;
    struct piece *piece;

    if (!layer->count && !add_piece(layer, 0, allocator))
        return false;
    place =
        layer->pieces[0].count ? tw_spans_find(layer, span.first) : (struct span_place){ 0, 0 };
    if (layer->pieces[place.piece].count == PIECE_MOST) {
        if (!split(layer, place.piece, allocator))
            return false;
        place = tw_spans_find(layer, span.first);
    }
    piece = &layer->pieces[place.piece];
    if (!TW_GROW(allocator, &piece->spans, &piece->room, piece->count + 1))
        return false;
    memmove(piece->spans + place.at + 1, piece->spans + place.at,
            (piece->count - place.at) * sizeof span);
    piece->spans[place.at] = span;
    piece->count++;
    return true;
}

void tw_spans_forget(struct layer *layer, uint32_t first, uint32_t last,
                     const struct tw_allocator *allocator)
{
    size_t pieces = 0;

    for (size_t i = 0; i < layer->count; i++) {
        struct piece *piece = &layer->pieces[i];
        size_t kept = 0;

        for (size_t k = 0; k < piece->count; k++) {
            struct span span = piece->spans[k];

            if (span.region >= first && span.region <= last)
                continue;
            if (span.region > last)
                span.region -= last - first + 1;
            piece->spans[kept++] = span;
        }
        piece->count = kept;
        if (kept)
            layer->pieces[pieces++] = *piece;
        else
            tw_give(allocator, piece->spans);
    }
    layer->count = pieces;
}

void tw_spans_free(struct layer *layer, const struct tw_allocator *allocator)
{
    for (size_t i = 0; i < layer->count; i++)
        tw_give(allocator, layer->pieces[i].spans);
    tw_give(allocator, layer->pieces);
    *layer = (struct layer){ .spaces = layer->spaces, .context = layer->context };
}
