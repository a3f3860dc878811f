/* SPDX-License-Identifier: BSD-2-Clause */
/* Formatter frames to the decoders of their IDs. */
#include "opencsd/frames.h"

#include <stdio.h>
#include <string.h>

#include "opencsd/print.h"
#include "opencsd/tree.h"

static const uint8_t fsync_bytes[] = { 0xff, 0xff, 0xff, 0x7f };

enum { FSYNC_SIZE = 4, HALF_SIZE = 2, DATA_SIZE = 15 /* of a frame without ID bytes */ };

/* The block at work. */
struct block {
    const uint8_t *data;
    uint32_t size, done;
    ocsd_datapath_resp_t worst;
};

static void log_error(const struct oc_frames *frames, ocsd_err_t code, ocsd_trc_index_t index,
                      const char *message)
{
    oc_log_error(&frames->log, &(struct oc_error){ .severity = OCSD_ERR_SEV_ERROR,
                                                   .code = code,
                                                   .index = index,
                                                   .id = OCSD_BAD_CS_SRC_ID,
                                                   .message = message });
}

ocsd_err_t oc_frames_configure(struct oc_frames *frames, uint32_t flags)
{
    const char *why = NULL;

    if (flags & ~(uint32_t)OCSD_DFRMTR_VALID_MASK)
        why = "Unknown Config Flags";
    if (!(flags & OCSD_DFRMTR_VALID_MASK))
        why = "No Config Flags Set";
    if (flags & (OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS) &&
        flags & OCSD_DFRMTR_FRAME_MEM_ALIGN)
        why = "Invalid Config Flag Combination Set";
    if (why) {
        log_error(frames, OCSD_ERR_INVALID_PARAM_VAL, OCSD_BAD_TRC_INDEX, why);
        return OCSD_ERR_INVALID_PARAM_VAL;
    }
    frames->flags = flags;
    return OCSD_OK;
}

void oc_frames_reset(struct oc_frames *frames)
{
    frames->has_data = frames->is_synced = frames->has_half_sync = false;
    frames->id = OCSD_BAD_CS_SRC_ID;
    frames->index = frames->frame_index = OCSD_BAD_TRC_INDEX;
    frames->fill = 0;
    frames->matched = 0;
    frames->piece_count = frames->next = 0;
}

static void note(struct block *block, ocsd_datapath_resp_t answer)
{
    if (answer > block->worst)
        block->worst = answer;
}

static ocsd_datapath_resp_t tell_all(struct oc_tree *tree, ocsd_datapath_op_t op,
                                     ocsd_trc_index_t index)
{
    ocsd_datapath_resp_t worst = OCSD_RESP_CONT;

    for (unsigned id = 0; id < OC_IDS; id++)
        if (oc_tree_has(tree, id)) {
            const ocsd_datapath_resp_t answer = oc_tree_operation(tree, id, op, index);

            if (answer > worst)
                worst = answer;
        }
    return worst;
}

/* ---- Out of frames */

/* Bytes of an ID that has no decoder. */
static void pass_over(struct oc_frames *frames, const struct oc_piece *piece)
{
    if (piece->id == OCSD_BAD_CS_SRC_ID)
        frames->stats.unknown_id_bytes += piece->size;
    else if (piece->id == 0 || piece->id >= 0x70)
        frames->stats.reserved_id_bytes += piece->size;
    else
        frames->stats.no_id_bytes += piece->size;
}

static void print_piece(const struct oc_frames *frames, const struct oc_piece *piece)
{
    if (frames->prints && frames->flags & OCSD_DFRMTR_UNPACKED_RAW_OUT)
        oc_print_frame(frames->output,
                       &(struct oc_raw){ OCSD_FRM_ID_DATA, piece->index, piece->id,
                                         piece->bytes, piece->size });
}

/* The pieces of the frame, until a decoder stops it. */
static void output(struct oc_tree *tree, struct block *block)
{
    struct oc_frames *frames = &tree->frames;

    while (frames->next < frames->piece_count) {
        struct oc_piece *piece = &frames->pieces[frames->next];
        const bool has_decoder = piece->id < OC_IDS && oc_tree_has(tree, piece->id);
        uint32_t used = 0;

        if (!piece->used)
            print_piece(frames, piece);
        if (!has_decoder) {
            pass_over(frames, piece);
            frames->next++;
            continue;
        }
        note(block, oc_tree_data(tree, piece->id, piece->index + piece->used,
                                 (uint32_t)piece->size - piece->used,
                                 piece->bytes + piece->used, &used));
        frames->stats.valid_id_bytes += used;
        piece->used = (uint8_t)(piece->used + used);
        if (OCSD_DATA_RESP_IS_CONT(block->worst)) {
            frames->next++;
            continue;
        }
        frames->next += piece->used == piece->size;
        return;
    }
}

/* Where the ID of the bytes at `at` was named: at an ID byte, or with the frame. */
static unsigned named_at(const uint8_t *frame, unsigned at, uint8_t id)
{
    unsigned named = (at - 1) & ~1u;

    while (at && named && !(frame[named] & 1 && frame[named] >> 1 == id))
        named -= 2;
    return at ? named : 0;
}

/* The frame as pieces.  What goes on in the same ID is one piece, also over an ID byte that names it
   again; a piece has the index of the place where its ID was named. */
static void unpack(struct oc_frames *frames)
{
    struct tw_frame_cut cuts[TW_FRAME_CUTS];
    uint8_t bytes[TW_FRAME_SIZE];
    uint8_t id = frames->id == OCSD_BAD_CS_SRC_ID ? TW_ID_UNKNOWN : frames->id;
    const unsigned count = tw_frame_split(cuts, bytes, &id, frames->frame);
    unsigned made = 0, data = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint8_t whose = cuts[i].id == TW_ID_UNKNOWN ? OCSD_BAD_CS_SRC_ID : cuts[i].id;
        struct oc_piece *piece = &frames->pieces[made ? made - 1 : 0];

        if (!made || piece->id != whose) {
            const unsigned named = made ? named_at(frames->frame, cuts[i].at, whose) : 0;

            piece = &frames->pieces[made++];
            *piece = (struct oc_piece){ .id = whose, .index = frames->frame_index + named };
        }
        memcpy(piece->bytes + piece->size, bytes + cuts[i].at, cuts[i].size);
        piece->size = (uint8_t)(piece->size + cuts[i].size);
        data += cuts[i].size;
    }
    frames->piece_count = made;
    frames->next = 0;
    frames->id = id == TW_ID_UNKNOWN ? OCSD_BAD_CS_SRC_ID : id;
    frames->fill = 0;
    frames->stats.frame_bytes += TW_FRAME_SIZE - data;
}

/* ---- Frames out of the block */

static bool is_fsync(const uint8_t *data)
{
    return memcmp(data, fsync_bytes, FSYNC_SIZE) == 0;
}

/* Before the first FSYNC there are no frames. */
static bool find_sync(struct oc_frames *frames, struct block *block)
{
    uint32_t at = 0;

    if (frames->is_synced)
        return true;
    if (!(frames->flags & OCSD_DFRMTR_HAS_FSYNCS)) {
        frames->is_synced = true;
        return true;
    }
    while (at < block->size && frames->matched < FSYNC_SIZE) {
        const uint8_t byte = block->data[at++];

        if (byte == fsync_bytes[frames->matched])
            frames->matched++;
        else /* more than three ones still end in three */
            frames->matched = byte == fsync_bytes[0] ? FSYNC_SIZE - 1 : 0;
    }
    frames->is_synced = frames->matched == FSYNC_SIZE;
    if (frames->is_synced && at >= FSYNC_SIZE) /* it is in this block, whole */
        at -= FSYNC_SIZE;
    block->done = at;
    frames->index += at;
    return frames->is_synced;
}

/* Padding that the driver puts between pieces of trace.  False: it is no multiple of a frame. */
static bool pass_barriers(struct oc_tree *tree, struct block *block, uint32_t *passed)
{
    struct oc_frames *frames = &tree->frames;
    const uint8_t *at = block->data + block->done;

    *passed = 0;
    while (block->done + *passed < block->size && is_fsync(at + *passed))
        *passed += FSYNC_SIZE;
    if (!*passed)
        return true;
    if (*passed % TW_FRAME_SIZE == 0) {
        note(block, tell_all(tree, OCSD_OP_RESET, frames->index));
        frames->id = OCSD_BAD_CS_SRC_ID;
        frames->fill = 0;
        frames->frame_index = OCSD_BAD_TRC_INDEX;
    }
    if (frames->prints &&
        frames->flags & (OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT))
        oc_print_frame(frames->output,
                       &(struct oc_raw){ OCSD_FRM_FSYNC, frames->index, 0, at, *passed });
    return *passed % TW_FRAME_SIZE == 0;
}

/* Frames at multiples of 16.  False: something is wrong. */
static bool extract_aligned(struct oc_tree *tree, struct block *block, uint32_t *taken,
                            uint32_t *syncs)
{
    struct oc_frames *frames = &tree->frames;

    if (frames->flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC && !pass_barriers(tree, block, syncs)) {
        log_error(frames, OCSD_ERR_DFMTR_BAD_FHSYNC, frames->index,
                  "Incorrect FSYNC frame reset pattern");
        return false;
    }
    *taken = *syncs;
    if (block->done + *taken == block->size)
        return true;
    memcpy(frames->frame, block->data + block->done + *taken, TW_FRAME_SIZE);
    frames->fill = TW_FRAME_SIZE;
    frames->frame_index = frames->index + *taken;
    *taken += TW_FRAME_SIZE;
    return true;
}

/* FSYNCs in front of a frame, perhaps cut by the end of the last block or of this one. */
static bool pass_fsyncs(struct oc_frames *frames, const struct block *block, uint32_t *taken)
{
    if (frames->has_half_sync) {
        if (memcmp(block->data + block->done, fsync_bytes + HALF_SIZE, HALF_SIZE) != 0)
            return false;
        *taken += HALF_SIZE;
        frames->has_half_sync = false;
    }
    while (block->size - block->done - *taken >= FSYNC_SIZE &&
           is_fsync(block->data + block->done + *taken))
        *taken += FSYNC_SIZE;
    if (block->size - block->done - *taken == HALF_SIZE &&
        memcmp(block->data + block->done + *taken, fsync_bytes, HALF_SIZE) == 0) {
        *taken += HALF_SIZE;
        frames->has_half_sync = true;
    }
    return true;
}

/* Frames between FSYNCs, with HSYNCs inside. */
static bool extract_synced(struct oc_frames *frames, struct block *block, uint32_t *taken,
                           uint32_t *syncs)
{
    const char *wrong = NULL;
    uint32_t fsyncs = 0; /* HSYNCs do not count for the frame's index */

    if (frames->flags & OCSD_DFRMTR_HAS_FSYNCS && frames->fill == 0) {
        if (!pass_fsyncs(frames, block, taken))
            wrong = "Bad FSYNC pattern before frame or invalid ID.(0x7F)";
        *syncs = fsyncs = *taken;
    }
    /* Behind an FSYNC at an odd place a byte is left over. */
    while (!wrong && frames->fill < TW_FRAME_SIZE &&
           block->size - block->done - *taken >= HALF_SIZE) {
        const uint8_t *pair = block->data + block->done + *taken;

        if (frames->fill == 0)
            frames->frame_index = frames->index + fsyncs;
        if (memcmp(pair, fsync_bytes + HALF_SIZE, HALF_SIZE) == 0) {
            if (!(frames->flags & OCSD_DFRMTR_HAS_HSYNCS))
                wrong = "Bad HSYNC in frame.";
            *syncs += HALF_SIZE;
        } else if (memcmp(pair, fsync_bytes, HALF_SIZE) == 0) {
            wrong = "Bad FSYNC start in frame or invalid ID (0x7F).";
        } else {
            memcpy(frames->frame + frames->fill, pair, HALF_SIZE);
            frames->fill += HALF_SIZE;
        }
        *taken += HALF_SIZE;
    }
    if (wrong)
        log_error(frames, OCSD_ERR_DFMTR_BAD_FHSYNC, frames->index, wrong);
    return !wrong;
}

/* The next frame.  False: there is none in this block any more. */
static bool extract(struct oc_tree *tree, struct block *block)
{
    struct oc_frames *frames = &tree->frames;
    uint32_t taken = 0, syncs = 0;
    bool is_good;

    if (block->done == block->size)
        return false;
    is_good = frames->flags & OCSD_DFRMTR_FRAME_MEM_ALIGN
                  ? extract_aligned(tree, block, &taken, &syncs)
                  : extract_synced(frames, block, &taken, &syncs);
    if (!is_good) {
        note(block, OCSD_RESP_FATAL_INVALID_DATA);
        return false;
    }
    if (frames->prints && frames->flags & OCSD_DFRMTR_PACKED_RAW_OUT)
        oc_print_frame(frames->output, &(struct oc_raw){ OCSD_FRM_PACKED, frames->index, 0,
                                                         block->data + block->done, taken });
    block->done += taken;
    frames->index += taken;
    frames->stats.frame_bytes += syncs;
    return frames->fill == TW_FRAME_SIZE;
}

/* ---- Many frames of one ID at once */

/* How many bytes of data a frame has if all of them are of this ID, which it may name again; 0: there
   are others, or it is an FSYNC. */
static unsigned size_alike(const uint8_t *frame, uint8_t id)
{
    unsigned size = DATA_SIZE;

    if (!((frame[0] | frame[2] | frame[4] | frame[6] | frame[8] | frame[10] | frame[12] |
           frame[14]) &
          1))
        return size;
    for (unsigned at = 0; at < DATA_SIZE; at += 2)
        if (frame[at] & 1) {
            if (frame[at] >> 1 != id)
                return 0;
            size--;
        }
    return size;
}

/* Frames of the current ID, as many as its decoder likes to have: their number. */
static uint32_t count_alike(const struct oc_tree *tree, const struct block *block)
{
    const struct oc_frames *frames = &tree->frames;
    const struct oc_channel *channel = frames->id < OC_IDS ? tree->channels[frames->id] : NULL;
    const size_t appetite = channel ? oc_channel_appetite(channel) : 0;
    uint32_t count = 0;

    if (!appetite || frames->prints || !(frames->flags & OCSD_DFRMTR_FRAME_MEM_ALIGN))
        return 0;
    while ((size_t)count * DATA_SIZE < appetite &&
           block->size - block->done - count * TW_FRAME_SIZE >= TW_FRAME_SIZE &&
           size_alike(block->data + block->done + (size_t)count * TW_FRAME_SIZE, frames->id))
        count++;
    return count;
}

/* The frame at `at` of the block as one piece. */
static void make_alike(struct oc_frames *frames, const struct block *block, uint32_t at)
{
    struct oc_piece *piece = &frames->pieces[0];
    struct tw_frame_cut cuts[TW_FRAME_CUTS];
    const uint8_t *frame = block->data + block->done + at;
    uint8_t id = frames->id;
    const unsigned count = tw_frame_split(cuts, piece->bytes, &id, frame);
    unsigned size = 0;

    for (unsigned i = 0; i < count; i++) { /* over the ID bytes */
        if (cuts[i].at != size)
            memmove(piece->bytes + size, piece->bytes + cuts[i].at, cuts[i].size);
        size += cuts[i].size;
    }
    piece->id = frames->id;
    piece->used = 0;
    piece->size = (uint8_t)size;
    piece->index = frames->index + at;
}

/* Frames of one ID in a row.  Where the decoder stops, the frame that it stopped in is the last one
   done, and what is left of it waits as a piece. */
static void output_alike(struct oc_tree *tree, struct block *block, uint32_t count)
{
    struct oc_frames *frames = &tree->frames;
    struct oc_channel *channel = tree->channels[frames->id];
    struct oc_piece *piece = &frames->pieces[0];
    uint32_t used = 0, size = 0, until = count * TW_FRAME_SIZE, at = 0;

    for (at = 0; at < until; at += TW_FRAME_SIZE) {
        make_alike(frames, block, at);
        if (!oc_channel_hold(channel, piece->index, piece->size, piece->bytes)) {
            note(block, OCSD_RESP_FATAL_SYS_ERR);
            until = at;
            break;
        }
        size += piece->size;
    }
    note(block, oc_channel_take(channel, size, &used));
    frames->piece_count = frames->next = 0;
    if (!OCSD_DATA_RESP_IS_CONT(block->worst)) {
        uint32_t left = used;

        for (at = 0; at + TW_FRAME_SIZE < until; at += TW_FRAME_SIZE) {
            const uint32_t here = size_alike(block->data + block->done + at, frames->id);

            if (left <= here)
                break;
            left -= here;
        }
        make_alike(frames, block, at);
        piece->used = (uint8_t)left;
        frames->piece_count = 1;
        frames->next = piece->used == piece->size;
        until = at + TW_FRAME_SIZE;
        size = used + piece->size - left;
    }
    frames->stats.valid_id_bytes += used;
    frames->stats.frame_bytes += until - size;
    block->done += until;
    frames->index += until;
}

/* ---- Operations */

/* Whether the block can be worked on. */
static bool is_good(struct oc_frames *frames, ocsd_trc_index_t index, uint32_t size)
{
    const unsigned align = frames->flags & OCSD_DFRMTR_HAS_HSYNCS   ? HALF_SIZE
                           : frames->flags & OCSD_DFRMTR_HAS_FSYNCS ? FSYNC_SIZE
                                                                    : TW_FRAME_SIZE;
    char message[64];

    if (!frames->has_data) {
        frames->index = index;
    } else if (frames->index != index) {
        log_error(frames, OCSD_ERR_DFMTR_NOTCONTTRACE, index, NULL);
        return false;
    }
    frames->has_data = true;
    if (size % align == 0)
        return true;
    (void)snprintf(message, sizeof message,
                   "Input block incorrect size, must be %u byte multiple", align);
    log_error(frames, OCSD_ERR_INVALID_PARAM_VAL, OCSD_BAD_TRC_INDEX, message);
    return false;
}

ocsd_datapath_resp_t oc_frames_data(struct oc_tree *tree, ocsd_trc_index_t index, uint32_t size,
                                    const uint8_t *data, uint32_t *used)
{
    struct oc_frames *frames = &tree->frames;
    struct block block = { .data = data, .size = size, .worst = OCSD_RESP_CONT };

    if (!is_good(frames, index, size)) {
        note(&block, OCSD_RESP_FATAL_INVALID_DATA);
    } else if (find_sync(frames, &block)) {
        while (OCSD_DATA_RESP_IS_CONT(block.worst)) {
            const uint32_t alike = count_alike(tree, &block);

            if (alike) {
                output_alike(tree, &block, alike);
                continue;
            }
            if (!extract(tree, &block))
                break;
            unpack(frames);
            output(tree, &block);
        }
    }
    *used = block.done;
    return block.worst;
}

ocsd_datapath_resp_t oc_frames_operation(struct oc_tree *tree, ocsd_datapath_op_t op)
{
    struct block block = { .worst = OCSD_RESP_CONT };

    if (op == OCSD_OP_RESET)
        oc_frames_reset(&tree->frames);
    note(&block, tell_all(tree, op, 0));
    if (op == OCSD_OP_FLUSH && OCSD_DATA_RESP_IS_CONT(block.worst))
        output(tree, &block);
    return block.worst;
}
