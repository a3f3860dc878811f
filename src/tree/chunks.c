/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode: the memory in which elements go from one thread to another. */
#include "base/memory.h"
#include "tree/parallel.h"

void tw_chunks_append(struct tw_chunks *chunks, struct tw_chunks *more)
{
    if (!more->count)
        return;
    if (chunks->count)
        chunks->last->next = more->first;
    else
        chunks->first = more->first;
    chunks->last = more->last;
    chunks->count += more->count;
    *more = (struct tw_chunks){ .first = NULL };
}

void tw_chunks_add(struct tw_chunks *chunks, struct tw_chunk *chunk)
{
    struct tw_chunks one = { .first = chunk, .last = chunk, .count = 1 };

    chunk->next = NULL;
    tw_chunks_append(chunks, &one);
}

void tw_chunks_add_first(struct tw_chunks *chunks, struct tw_chunk *chunk)
{
    struct tw_chunks one = { .first = chunk, .last = chunk, .count = 1 };

    tw_chunks_append(&one, chunks);
    *chunks = one;
}

struct tw_chunk *tw_chunks_take(struct tw_chunks *chunks)
{
    struct tw_chunk *chunk = chunks->first;

    if (!chunk)
        return NULL;
    chunks->first = chunk->next;
    chunks->count--;
    return chunk;
}

void tw_chunks_move(struct tw_chunks *to, struct tw_chunks *from, size_t most)
{
    while (to->count < most && from->count)
        tw_chunks_add(to, tw_chunks_take(from));
}

static bool has_room(const struct tw_tree *tree, struct tw_chunk *chunk, bool is_merged)
{
    const struct tw_allocator *allocator = tree->config.allocator;
    const size_t room = tree->config.batch_room;

    if (!chunk->elements)
        chunk->elements = tw_take_raw(allocator, room * sizeof *chunk->elements);
    if (is_merged && !chunk->marks)
        chunk->marks = tw_take_raw(allocator, (room + 1) * sizeof *chunk->marks);
    return chunk->elements && (chunk->marks || !is_merged);
}

struct tw_chunk *tw_desk_begin(const struct tw_tree *tree, struct tw_desk *desk, bool is_merged)
{
    struct tw_chunk *chunk = tw_chunks_take(&desk->spare);

    if (!chunk)
        chunk = tw_take(tree->config.allocator, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->is_callers = desk->is_callers;
    if (has_room(tree, chunk, is_merged))
        return chunk;
    tw_chunks_add_first(&desk->spare, chunk);
    return NULL;
}

void tw_desk_end(struct tw_desk *desk, struct tw_chunk *chunk)
{
    if (chunk->count)
        tw_chunks_add(&desk->made, chunk);
    else
        tw_chunks_add_first(&desk->spare, chunk);
}

void tw_chunks_free(const struct tw_tree *tree, struct tw_chunks *chunks)
{
    const struct tw_allocator *allocator = tree->config.allocator;
    struct tw_chunk *chunk;

    while ((chunk = tw_chunks_take(chunks)) != NULL) {
        tw_give(allocator, chunk->elements);
        tw_give(allocator, chunk->marks);
        tw_give(allocator, chunk);
    }
}

void tw_desk_free(const struct tw_tree *tree, struct tw_desk *desk)
{
    tw_chunks_free(tree, &desk->spare);
    tw_chunks_free(tree, &desk->made);
}
