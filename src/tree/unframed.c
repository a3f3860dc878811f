/* SPDX-License-Identifier: BSD-2-Clause */
/* The only stream of an unframed capture: its bytes, where they lie, and the way back to a place that
   decoding has passed. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/state.h"
#include "stage/damage.h"
#include "tree/branch.h"
#include "tree/shared.h"

/* A place to go back to. */
struct tw_return {
    bool is_set;
    struct tw_state state;
    uint64_t done; /* stream offset */
    struct tw_place place;
    struct tw_stats stats; /* all of it when elements are counted, else `bytes` */
};

static const struct tw_place *last_place(const struct tw_tree *tree)
{
    return tree->place_count ? &tree->places[tree->place_count - 1] : &tree->place;
}

uint64_t tw_unframed_next(const struct tw_tree *tree)
{
    const struct tw_place *last = last_place(tree);

    return last->capture - last->stream + tree->offset + tree->size;
}

/* The bytes that come next lie elsewhere. */
static bool add_place(struct tw_tree *tree, uint64_t index)
{
    const struct tw_place place = { .stream = tree->offset + tree->size,
                                    .capture = index,
                                    .is_discontinuity = tree->is_gap_next };

    if (!tree->size) {
        tree->place = place;
        tree->place_count = 0;
        return true;
    }
    if (!TW_GROW(tree->config.allocator, &tree->places, &tree->place_room,
                 tree->place_count + 2))
        return false;
    if (!tree->place_count)
        tree->places[tree->place_count++] = tree->place;
    tree->places[tree->place_count++] = place;
    return true;
}

/* `size` more bytes, which are there already, lie at `index`. */
static bool add_piece(struct tw_tree *tree, uint64_t index, size_t size)
{
    if ((index != tw_unframed_next(tree) || tree->is_gap_next) && !add_place(tree, index))
        return false;
    tree->is_gap_next = false;
    tree->size += size;
    if (tree->on_run)
        tree->on_run(tree->on_run_context, tree->branches[0]->id, index,
                     tree->offset + tree->size - size, tree->bytes + tree->size - size, size);
    return true;
}

enum tw_status tw_unframed_hold(struct tw_tree *tree, const struct tw_stream *stream)
{
    const size_t size = stream->size;

    if (!TW_GROW(tree->config.allocator, &tree->bytes, &tree->room,
                 tree->size + size + TW_BRANCH_SLACK))
        return TW_E_MEMORY;
    if (size) /* memcpy takes no null pointer, even for nothing */
        memcpy(tree->bytes + tree->size, stream->bytes, size);
    memset(tree->bytes + tree->size + size, 0, TW_BRANCH_SLACK);
    for (size_t i = 0, done = 0; done < size; i++) {
        const struct tw_place *place = &stream->places[i];
        const bool is_last = i + 1 == stream->place_count;
        const uint64_t until = is_last ? size : place[1].stream - stream->offset;
        const size_t end = until < size ? (size_t)until : size;

        if (end > done &&
            !add_piece(tree, place->capture + (stream->offset + done - place->stream),
                       end - done))
            return TW_E_MEMORY;
        done = end > done ? end : done;
    }
    return TW_OK;
}

void tw_unframed_drop(struct tw_tree *tree, size_t size)
{
    size_t done = 0;

    memmove(tree->bytes, tree->bytes + size, tree->size - size);
    tree->size -= size;
    tree->offset += size;
    if (!tree->place_count)
        return;
    while (done + 1 < tree->place_count && tree->places[done + 1].stream <= tree->offset)
        done++;
    tree->place_count -= done;
    memmove(tree->places, tree->places + done, tree->place_count * sizeof *tree->places);
    if (tree->place_count == 1) {
        tree->place = tree->places[0];
        tree->place_count = 0;
    }
}

void tw_unframed_reset(struct tw_tree *tree)
{
    tree->size = 0;
    tree->offset = 0;
    tree->place_count = 0;
    tree->has_gaps = tree->is_gap_next = tree->takes_packets = false;
    if (tree->mark)
        tree->mark->is_set = false;
}

void tw_unframed_free(struct tw_tree *tree)
{
    const struct tw_allocator *allocator = tree->config.allocator;

    if (tree->mark)
        tw_state_free(&tree->mark->state);
    tw_give(allocator, tree->mark);
    tw_give(allocator, tree->places);
    tw_give(allocator, tree->bytes);
}

uint64_t tw_tree_done(const struct tw_tree *tree)
{
    return tree->offset + (tree->branch_count ? tree->branches[0]->used : 0);
}

bool tw_tree_is_damaged(const struct tw_tree *tree)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        const struct tw_branch *branch = tree->branches[i];
        const size_t at = branch->decoder ? branch->protocol->damage_at : 0;
        struct tw_damage damage = { .code = TW_ERROR_NONE };

        if (at)
            memcpy(&damage, (const uint8_t *)branch->decoder + at, sizeof damage);
        if (damage.code != TW_ERROR_NONE || (branch->shared && branch->shared->is_open))
            return true;
    }
    return false;
}

/* ---- The way back */

static void visit(struct tw_branch *branch, struct tw_state *state)
{
    branch->protocol->state(branch->decoder, &branch->follow, state);
    if (branch->view_size)
        tw_state_bytes(state, branch->follow.look_context, branch->view_size);
}

/* The decoder of the only source; NULL: this tree has no way back. */
static struct tw_branch *only_branch(struct tw_tree *tree)
{
    struct tw_branch *branch = tree->branch_count == 1 ? tree->branches[0] : NULL;

    if (!branch || tree->config.framing != TW_FRAMING_NONE || tree->config.threads > 1 ||
        !branch->decoder || branch->reader || !branch->protocol->state ||
        (branch->follow.look && !branch->view_size)) {
        (void)tw_fail(&tree->fault, TW_E_UNSUPPORTED, "this tree cannot go back");
        return NULL;
    }
    return branch;
}

static void copy_stats(struct tw_stats *to, const struct tw_stats *from, bool is_all)
{
    if (is_all)
        *to = *from;
    else
        to->seen.bytes = from->seen.bytes;
}

enum tw_status tw_tree_mark(struct tw_tree *tree)
{
    struct tw_branch *branch = only_branch(tree);
    struct tw_return *mark;

    if (!branch)
        return TW_E_UNSUPPORTED;
    if (tree->broken != TW_OK)
        return tree->broken;
    if (branch->given < branch->count || tree->is_finished)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "elements are waiting to be taken");
    if (!tree->mark) {
        tree->mark = tw_take(tree->config.allocator, sizeof *tree->mark);
        if (!tree->mark)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory for a way back");
        tree->mark->state.allocator = tree->config.allocator;
    }
    mark = tree->mark;
    mark->done = tree->offset + branch->used;
    mark->place = *last_place(tree);
    copy_stats(&mark->stats, &branch->stats, tree->config.counts_elements);
    tw_state_save(&mark->state, mark->done);
    visit(branch, &mark->state);
    mark->is_set = !mark->state.failed;
    return mark->is_set ? TW_OK
                        : tw_fail(&tree->fault, TW_E_MEMORY, "no memory for a way back");
}

enum tw_status tw_tree_return(struct tw_tree *tree)
{
    struct tw_branch *branch = only_branch(tree);
    struct tw_return *mark = tree->mark;

    if (!branch)
        return TW_E_UNSUPPORTED;
    if (!mark || !mark->is_set)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "there is no mark to go back to");
    branch->protocol->decoder_reset(branch->decoder);
    if (branch->code)
        tw_follow_reset(&branch->follow);
    tw_state_load(&mark->state);
    visit(branch, &mark->state);
    copy_stats(&branch->stats, &mark->stats, tree->config.counts_elements);
    branch->used = 0;
    tw_branch_renew(branch, 0, 0);
    branch->is_full = branch->is_ended = false;
    tree->size = 0;
    tree->offset = mark->done;
    tree->place = mark->place;
    tree->place_count = 0;
    tree->is_finished = false;
    tw_branch_refresh(branch);
    return TW_OK;
}
