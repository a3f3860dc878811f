/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: how frames are found in the stream of a trace port.  From any state that keeps the invariant any byte
   leads to one that keeps it, and the first state does: so it holds for streams of any length.  Where bytes lie together,
   any of every size up to two frames and two syncs.  What is done with a frame that was found is not looked at
   here, only that all of it may be read: the functions below stand for it. */
#include "frame/tpiu.c"

#include "proof/reader.h"

enum { LONGEST = 40 };

static struct tw_unframer unframer;
static uint8_t seen; /* of frames: what is read here lies inside, or Eva says so */

void tw_unframer_frames(struct tw_unframer *to, const uint8_t *frames, size_t count,
                        uint64_t capture)
{
    (void)to;
    (void)capture;
    //@ loop unroll 4;
    for (size_t i = 0; i < count; i++)
        //@ loop unroll FRAME_SIZE;
        for (size_t k = 0; k < FRAME_SIZE; k++)
            seen ^= frames[FRAME_SIZE * i + k];
}

void tw_unframer_scattered(struct tw_unframer *to, const uint8_t *frame,
                           const uint64_t *offsets)
{
    (void)offsets;
    tw_unframer_frames(to, frame, 1, 0);
}

/* May fail for want of memory. */
void tw_unframer_event(struct tw_unframer *to, enum tw_frame_event_kind kind, uint64_t offset,
                       uint64_t length, uint8_t value)
{
    (void)kind;
    (void)offset;
    (void)length;
    (void)value;
    to->status = (enum tw_status)(TW_E_MEMORY * any_u8(1));
}

void tw_unframer_discontinue(struct tw_unframer *to, uint64_t capture)
{
    (void)capture;
    to->has_gap = true;
}

uint8_t tw_unframer_first_id(const struct tw_unframer *of)
{
    return of->config.assume_id;
}

/* A frame's bytes, and behind an even number of them those that may turn out to be a sync. */
static void any_state(unsigned fill, unsigned buffered)
{
    unframer.config.sync_events = any_bool();
    unframer.status = TW_OK;
    Frama_C_make_unknown((char *)unframer.frame, sizeof unframer.frame);
    Frama_C_make_unknown((char *)unframer.frame_at, sizeof unframer.frame_at);
    Frama_C_make_unknown((char *)unframer.window_at, sizeof unframer.window_at);
    unframer.window = any_u32();
    unframer.is_lost = any_bool();
    unframer.search_bytes = Frama_C_unsigned_long_interval(0, INT64_MAX);
    unframer.fill = fill;
    unframer.buffered = buffered;
}

static void check(void)
{
    //@ assert unframer.fill < FRAME_SIZE;
    //@ assert unframer.buffered < 4;
    //@ assert unframer.buffered == 0 || unframer.fill % 2 == 0;
}

static void prove_byte(unsigned fill, unsigned buffered, bool is_synced, uint8_t byte)
{
    any_state(fill, buffered);
    unframer.is_synced = is_synced;
    take_byte(&unframer, byte, any_u64());
    check();
    //@ slevel merge;
    FORGET;
}

/* FF and 7F are what syncs are made of. */
static void prove_bytes(unsigned fill, unsigned buffered, bool is_synced)
{
    prove_byte(fill, buffered, is_synced, 0xff);
    prove_byte(fill, buffered, is_synced, 0x7f);
    prove_byte(fill, buffered, is_synced, any_u8(0x7e));
    prove_byte(fill, buffered, is_synced, (uint8_t)Frama_C_interval(0x80, 0xfe));
}

static void prove_together(unsigned size)
{
    uint8_t object[LONGEST], other[LONGEST];
    uint8_t *data = forgettable_bytes(object, other, LONGEST, size);
    size_t taken;

    any_state(0, 0);
    unframer.is_synced = true;
    taken = take_whole(&unframer, data, size, any_u64());
    //@ assert taken <= size;
}

static void prove_framing(enum tw_framing framing)
{
    unframer.config.framing = framing;
    //@ loop unroll FRAME_SIZE;
    for (unsigned fill = 0; fill < FRAME_SIZE; fill++)
        //@ loop unroll 4;
        for (unsigned buffered = 0; buffered < (fill % 2 ? 1 : 4); buffered++)
            prove_bytes(fill, buffered, true);
    prove_bytes(0, 0, false);
    //@ loop unroll LONGEST + 1;
    for (unsigned size = 0; size <= LONGEST; size++) {
        prove_together(size);
        //@ slevel merge;
        FORGET;
    }
}

int main(void)
{
    prove_framing(TW_FRAMING_TPIU);
    prove_framing(TW_FRAMING_TPIU_HSYNC);
    return 0;
}
