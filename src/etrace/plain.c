/* SPDX-License-Identifier: BSD-2-Clause */
/* What most of a trace is: packets of formats 1 and 2 that lead from one known block to the next.  Whatever else a packet
   turns out to be is left to take.c, and the rest of its way to walk.c, from the block on where it is so. */
#include "etrace/place.h"

/* How much of a block was executed: of the block where a way begins perhaps more than its first instruction. */
enum reach { NOTHING, FIRST, ALL };

/* A decoder's way through the program.  Its address must not leave the inline functions, or it would live in memory. */
struct way {
    struct tw_blocks *space;
    const struct tw_block *blocks;
    struct tw_element *out;
    struct tw_element *stop; /* up to there elements of the packet at hand may be written */
    uint64_t index;
    /* Those that wait: the first is in the lowest bit, 1 is taken; a 1 above the last one ends them. */
    uint64_t outcomes;
    uint32_t at;
    uint32_t hops;
    uint32_t counted; /* blocks */
    bool counts;      /* ranges are counted, not written ... */
    bool is_apart;    /* ... but for the next one: a jump leads there that was written */
    bool is_bare;     /* they are, and the trace is of the kind that most are: see is_bare */
    struct tw_etrace_decoder *learner; /* of branches, for its predictor; or NULL */
};

enum { NONE = 1, TWO = 4 }; /* outcomes, or more from there on */
/* What a batch must have room for if a packet is to begin here; the rest of a longer way is left to walk.c. */
enum { ROOM = 32 };

TW_INLINE uint64_t outcomes_of(uint64_t map, unsigned count)
{
    const uint64_t end = (uint64_t)1 << count;

    return (~map & (end - 1)) | end;
}

TW_INLINE struct way begin_way(const struct tw_stage *stage, const bool counts,
                               const bool is_bare, const bool predicts)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const ptrdiff_t room = stage->limit - stage->out - TW_ETRACE_MOST;
    const ptrdiff_t most = room < TW_ETRACE_WAY ? room : TW_ETRACE_WAY;

    if (counts)
        stage->follow->sums->jumps_are_free = true;
    return (struct way){ .space = stage->follow->blocks,
                         .blocks = stage->follow->blocks->blocks,
                         .out = stage->out,
                         .stop = stage->out + (most > 0 ? most : 0),
                         .index = stage->index,
                         .outcomes = outcomes_of(decoder->map, decoder->count),
                         .at = decoder->place.at,
                         .hops = decoder->hops,
                         .counts = counts,
                         .is_apart = true,
                         .is_bare = is_bare,
                         .learner = predicts ? decoder : NULL };
}

/* The first block was left; some of it may have been told before. */
static void cut_first(const struct tw_etrace_place *place, struct tw_element *range)
{
    range->length -= (uint32_t)(place->from - range->start);
    range->count -= place->from_count;
    range->start = place->from;
}

TW_INLINE void end_way(struct tw_stage *stage, const struct way *way, enum reach reach)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const unsigned count = tw_highest_bit(way->outcomes);
    const bool has_left = way->out != stage->out; /* the first block is always written */

    decoder->map = ~way->outcomes & (((uint64_t)1 << count) - 1);
    decoder->count = count;
    decoder->hops = way->hops;
    if (TW_LIKELY(has_left)) {
        if (decoder->place.from_count)
            cut_first(&decoder->place, stage->out);
        stage->out = way->out;
        tw_etrace_enter(stage, way->at, way->blocks[way->at].start);
    }
    if (reach == ALL)
        tw_etrace_run_to_end(stage);
    else if (reach == FIRST && has_left)
        tw_etrace_execute_first(stage);
}

/* The trace tells where this block's jump leads. */
TW_INLINE bool is_reported(const struct tw_etrace_decoder *decoder,
                           const struct tw_blocks *space, uint32_t from)
{
    const uint32_t options = decoder->codec.options;
    const struct tw_block_more *more = &space->more[from];

    if (space->links[2 * from + 1] == TW_NEXT_NEEDED &&
        !(options & (TW_ETRACE_IMPLICIT_RETURN | TW_ETRACE_SIJUMP)))
        return true; /* mostly so, and nothing else needs to be looked at */
    return more->is_indirect && !tw_etrace_is_sequential(decoder, more) &&
           !(more->is_return && (options & TW_ETRACE_IMPLICIT_RETURN) && decoder->return_depth);
}

TW_INLINE void push_link(struct tw_etrace_decoder *decoder, const struct tw_blocks *space,
                         uint32_t from)
{
    if (TW_UNLIKELY(decoder->codec.options & TW_ETRACE_IMPLICIT_RETURN) &&
        space->more[from].is_link)
        tw_etrace_push_return(decoder, tw_etrace_block_end(&space->blocks[from]));
}

/* Where a call or return leads, as the code and the calls before tell; 0: it is not so simple. */
static TW_NOINLINE uint32_t pass_call(struct tw_stage *stage, uint32_t from)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_blocks *space = stage->follow->blocks;
    const struct tw_block_more *more = &space->more[from];
    const bool is_return = more->is_indirect && !tw_etrace_is_sequential(decoder, more);
    uint32_t next = more->taken;

    if (is_reported(decoder, space, from))
        return 0;
    if (is_return)
        next = tw_blocks_known(space, decoder->returns[decoder->return_top], decoder->isa, 0);
    if (!tw_block_is_plain(next))
        return 0;
    if (is_return)
        (void)tw_etrace_pop_return(decoder);
    push_link(decoder, space, from);
    return next;
}

/* All of the block was executed, and left for another. */
TW_INLINE void leave(struct way *way, uint32_t next, uint32_t taken)
{
    if (!way->counts || way->is_apart)
        tw_follow_emit(way->out++, &way->blocks[way->at], taken, way->index);
    else
        tw_sums_go(way->space, way->at * 2 + taken);
    way->counted += way->counts && !way->is_apart;
    way->at = next;
}

/* The same by a jump whose target the trace tells: that is executed. */
TW_INLINE void leave_reported(struct tw_sums *sums, struct way *way, uint32_t next)
{
    const uint32_t from = way->at;

    leave(way, next, 1);
    if (way->counts && !way->is_apart)
        tw_sums_edge(sums, way->space, from, next);
    way->hops = 0;
}

/* The same by a call or return.  The packet may still turn out to be wrong before anything is executed where a return
   leads: the edge is told by elements. */
TW_INLINE void leave_call(struct way *way, uint32_t next)
{
    if (tw_block_is_indirect(&way->blocks[way->at]))
        way->is_apart = true;
    leave(way, next, 1);
    way->hops++;
}

/* An outcome is used up, or a jump was passed that needs none. */
TW_INLINE void pass_branch(struct way *way, const struct tw_block *block, uint32_t branches)
{
    if (way->learner && branches)
        tw_etrace_learn(way->learner, tw_etrace_last_pc(block), way->outcomes & 1);
    way->is_apart = false;
    way->outcomes >>= branches;
    way->hops = (way->hops + 1) & (branches - 1);
}

/* What the loop that writes needs to keep at hand. */
struct stretch {
    struct tw_element *out;
    uint64_t outcomes;
    uint32_t at;
};

/* Blocks up to the last outcome, or one that is not plain, or `stop`: by far most of what is written, so all is in
   registers.  If it `learns`, the learner's predictor by tw_etrace_prediction's parts, which storing a byte would lose. */
TW_INLINE void pass_some(struct stretch *stretch, const struct tw_blocks *space,
                         struct tw_element *stop, uint64_t index, const bool learns,
                         struct tw_etrace_decoder *const learner)
{
    const struct tw_block *const blocks = space->blocks;
    const uint32_t *const links = space->links;
    const uint8_t *const decides = space->decides;
    const unsigned shift = learns ? learner->codec.shape.lsb : 0;
    const uint32_t mask = learns ? (1u << learner->codec.shape.bpred_size) - 1 : 0;
    struct tw_element *out = stretch->out;
    uint64_t outcomes = stretch->outcomes;
    size_t at = stretch->at;

    while (outcomes >= TWO && out < stop) {
        const struct tw_block *block = &blocks[at];
        const uint32_t branches = decides[at];
        /* A jump's two links are the same: where to go does not wait for what the block is.  Its flags say that it is taken. */
        const uint32_t next = tw_block_next(links, at, outcomes & 1);
        const uint32_t pc = (uint32_t)(tw_etrace_last_pc(block) >> shift) & mask;

        if (TW_UNLIKELY(!tw_block_is_plain(next)))
            break;
        tw_follow_emit(out++, block, outcomes & 1, index);
        if (learns && TW_LIKELY(branches))
            learner->predictor[pc] =
                tw_etrace_learnt(learner->predictor[pc], (unsigned)outcomes & 1);
        outcomes >>= branches;
        at = next;
    }
    *stretch = (struct stretch){ .out = out, .outcomes = outcomes, .at = (uint32_t)at };
}

static TW_NOINLINE void write_some(struct stretch *stretch, const struct tw_blocks *space,
                                   struct tw_element *stop, uint64_t index)
{
    pass_some(stretch, space, stop, index, false, NULL);
}

/* The same where branches are predicted. */
static TW_NOINLINE void learn_some(struct stretch *stretch, const struct tw_blocks *space,
                                   struct tw_element *stop, uint64_t index,
                                   struct tw_etrace_decoder *decoder)
{
    pass_some(stretch, space, stop, index, true, decoder);
    decoder->learned++;
}

/* False: the next block is to be left alone. */
TW_INLINE bool count_way(struct way *way)
{
    uint32_t at = way->at, counted = way->counted;
    uint64_t left;

    if (way->is_apart)
        return false;
    left = tw_sums_steps_but_one(way->space, &at, &counted, way->outcomes);
    if (TW_UNLIKELY(left == way->outcomes))
        return false;
    way->outcomes = left;
    way->at = at;
    way->counted = counted;
    way->hops = 0;
    return true;
}

/* The same where ranges are written. */
TW_INLINE bool write_way(struct way *way)
{
    const struct tw_element *const first = way->out;
    struct stretch stretch = { .out = way->out, .outcomes = way->outcomes, .at = way->at };

    if (TW_UNLIKELY(way->hops >= TW_ETRACE_WAY))
        return false;
    if (way->learner)
        learn_some(&stretch, way->space, way->stop, way->index, way->learner);
    else
        write_some(&stretch, way->space, way->stop, way->index);
    way->out = stretch.out;
    way->hops = TW_LIKELY(stretch.outcomes < TWO) /* the last range used one up */
                    ? 0
                    : tw_etrace_hops_after(way->hops, first, way->out);
    way->outcomes = stretch.outcomes;
    way->at = stretch.at;
    return stretch.outcomes < TWO;
}

/* No more is followed here.  Of a bare way two ranges of a packet at most are written: the first, and where that led. */
TW_INLINE bool is_full(const struct way *way)
{
    return way->hops >= TW_ETRACE_WAY || (!way->is_bare && way->out == way->stop);
}

/* Blocks up to the last outcome, of which there is more than one: the packet's address does not matter yet.
   False: not all of them are known. */
TW_INLINE bool pass_outcomes(struct tw_stage *stage, struct way *way)
{
    while (way->outcomes >= TWO) {
        const struct tw_block *block;
        uint32_t branches, next;

        if (TW_LIKELY(way->counts ? count_way(way) : write_way(way)))
            continue;
        if (TW_UNLIKELY(is_full(way)))
            return false;
        block = &way->blocks[way->at];
        branches = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
        next = way->space->links[2 * way->at + (way->outcomes & 1)];
        if (tw_block_is_plain(next)) {
            leave(way, next, (way->outcomes & 1) | (branches ^ 1));
            pass_branch(way, block, branches);
            continue;
        }
        if (branches || !(next = pass_call(stage, way->at)))
            return false;
        leave_call(way, next);
    }
    return true;
}

/* Blocks that were left since. */
TW_INLINE uint32_t left_since(const struct way *way, const struct tw_element *first)
{
    return way->counted + (uint32_t)(way->out - first);
}

void tw_etrace_pass_outcomes(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const bool predicts = decoder->codec.options & TW_ETRACE_BRANCH_PREDICTION;
    struct tw_element *const first = stage->out;
    struct way way = begin_way(stage, stage->follow->sums != NULL, false, predicts);
    uint32_t left;

    (void)pass_outcomes(stage, &way);
    left = left_since(&way, first);
    if (!left)
        return;
    decoder->has_left = true;
    decoder->steps += left;
    end_way(stage, &way, way.outcomes >= TWO ? ALL : NOTHING);
    if (TW_UNLIKELY(decoder->tie.is_on))
        for (const struct tw_element *range = first; range != way.out; range++)
            tw_etrace_tie_range(stage, range);
}

/* The block at a packet's address, if it is known; else 0.  What will be needed of it is brought near: there are outcomes
   to pass before. */
TW_INLINE uint32_t target_of(const struct way *way, uint64_t address, uint8_t isa)
{
    const uint32_t found = tw_blocks_known(way->space, address, isa, 0);

    if (TW_UNLIKELY(!tw_block_is_plain(found)))
        return 0;
    if (way->counts) { /* by numbers: there may be no step of this block yet, nor any at all */
        const size_t each = sizeof *way->space->steps, block = found;

        TW_PREFETCH((const void *)((uintptr_t)way->space->steps + TW_STEP_WORDS / 2 * each +
                                   block * (TW_STEP_WORDS * each)));
    }
    return found;
}

/* The packet's address may be where a jump leads: an outcome that is left must be that of a branch there. */
TW_INLINE bool fits_outcomes(const struct way *way, uint32_t target)
{
    const struct tw_block *block = &way->blocks[target];

    return way->outcomes == NONE || (block->count == 1 && tw_etrace_is_conditional(block));
}

/* Where a packet says that the program is. */
struct goal {
    uint64_t address;
    uint32_t target; /* the block there; 0: none is known */
};

/* How a block was left that has no link, or the way of a packet ended. */
enum passed { ON, AT_END, UNKNOWN };

TW_INLINE enum passed pass_jump(struct tw_stage *stage, struct way *way, uint32_t target)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const uint32_t from = way->at;
    const bool is_told =
        (way->is_bare && way->space->links[2 * from + 1] == TW_NEXT_NEEDED) || /* mostly */
        is_reported(decoder, way->space, from);

    if (TW_UNLIKELY(!is_told)) {
        const uint32_t next = pass_call(stage, from);

        if (!next)
            return UNKNOWN;
        leave_call(way, next);
        return ON;
    }
    if (TW_UNLIKELY(!target || !fits_outcomes(way, target)))
        return UNKNOWN;
    leave_reported(stage->follow->sums, way, target);
    if (!way->is_bare)
        push_link(decoder, way->space, from);
    return AT_END;
}

/* From the last outcome on to where the packet says that the program is.  False: that is left to walk.c. */
TW_INLINE bool pass_rest(struct tw_stage *stage, struct way *way,
                         const struct tw_etrace_flow *flow, const struct goal *goal,
                         enum reach *reach)
{
    const uint64_t address = goal->address;
    const bool may_come_by = flow->has_address && !flow->told;

    for (;;) {
        const struct tw_block *block = &way->blocks[way->at];
        const uint32_t branches = way->space->decides[way->at];
        const uint32_t next = tw_block_next(way->space->links, way->at, way->outcomes & 1);

        if (TW_UNLIKELY(address - block->start < block->length) && may_come_by &&
            *reach != ALL && (address != block->start || *reach == NOTHING))
            return false;
        if (TW_UNLIKELY(is_full(way)))
            return false;
        if (branches) {
            if (!flow->has_address) { /* at the last outcome's branch */
                *reach = ALL;
                return true;
            }
            if (way->outcomes == NONE)
                return false;
        }
        if (!tw_block_is_plain(next)) {
            const enum passed passed = branches ? UNKNOWN : pass_jump(stage, way, goal->target);

            if (TW_LIKELY(passed == AT_END))
                *reach = FIRST;
            if (TW_LIKELY(passed != ON))
                return passed == AT_END;
        } else {
            leave(way, next, (way->outcomes & 1) | (branches ^ 1));
            pass_branch(way, block, branches);
        }
        *reach = NOTHING;
    }
}

/* A map comes behind what waits: an outcome at most. */
TW_INLINE void add_map(struct way *way, const struct tw_etrace_flow *flow)
{
    const uint64_t map = outcomes_of(flow->branch_map, flow->branches ? flow->branches : 31);

    way->outcomes = way->outcomes == NONE ? map : (way->outcomes & 1) | map << 1;
}

/* The way of one packet. */
TW_INLINE bool pass_packet(struct tw_stage *stage, struct way *way,
                           const struct tw_etrace_flow *flow, const struct goal *goal,
                           enum reach *reach)
{
    if (flow->format == 1)
        add_map(way, flow);
    if (way->outcomes >= TWO) {
        const struct tw_element *const first = way->out;
        const bool are_known = pass_outcomes(stage, way);

        if (way->out != first || way->counted)
            *reach = are_known ? NOTHING : ALL;
        if (TW_UNLIKELY(!are_known))
            return false;
    }
    return pass_rest(stage, way, flow, goal, reach);
}

/* A packet of the kinds that are followed here, and its bytes, of which there may be fewer; 0: it is none. */
TW_INLINE unsigned read_packet(const struct tw_etrace_reader *codec,
                               struct tw_etrace_flow *flow, const uint8_t *data, size_t size,
                               const bool is_bare)
{
    unsigned header = 1, payload = data[0] & 0x1f;

    if (is_bare || TW_LIKELY(codec->transport.encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2)) {
        if (data[0] >> 5 != 2 || !payload)
            return 0;
    } else {
        struct tw_etrace_frame frame;

        if (!tw_etrace_frame_whole(&codec->transport, &frame, data, size) ||
            frame.kind != TW_ETRACE_FRAME_INST || frame.header_bits || frame.has_stamp)
            return 0;
        header = frame.header_size;
        payload = frame.payload_size;
    }
    if (TW_UNLIKELY(payload > TW_PAYLOAD_WINDOW) ||
        !tw_etrace_read_flow(&codec->shape, flow, data + header, payload) ||
        TW_UNLIKELY(flow->told & (TW_ETRACE_TOLD_NOTIFY | TW_ETRACE_TOLD_IRREPORT)))
        return 0;
    return header + payload;
}

/* The last packet's bytes. */
static void end_at(struct tw_stage *stage, const uint8_t *first, const uint8_t *end)
{
    tw_etrace_of(stage)->codec.transport.offset += (uint64_t)(end - stage->at);
    stage->at = end;
    tw_etrace_begin_packet(stage, tw_stage_offset(stage, first), (uint32_t)(end - first));
}

/* The packet's way goes on in walk.c. */
TW_INLINE void leave_packet(struct tw_stage *stage, const struct way *way, enum reach reach,
                            uint32_t left)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    end_way(stage, way, reach);
    decoder->sure = decoder->place;
    decoder->has_left = left != 0;
    decoder->steps = left;
    tw_etrace_set_goal(decoder);
}

TW_INLINE void go(struct tw_stage *stage, const bool counts, const bool is_bare,
                  const bool predicts)
{
    struct tw_etrace_decoder *const decoder = stage->decoder;
    struct tw_etrace_reader *const codec = &decoder->codec;
    struct tw_element *const stop = stage->limit - TW_ETRACE_MOST;
    struct way way = begin_way(stage, counts, is_bare, predicts);
    enum reach reach = tw_etrace_is_at_end(stage) ? ALL : FIRST;
    /* Ranges in the middle of a packet are written, or those where returns lead to. */
    const bool writes =
        !counts ||
        (!is_bare && (codec->options & (TW_ETRACE_IMPLICIT_RETURN | TW_ETRACE_SIJUMP)));
    const uint8_t *data = stage->at, *before = NULL;
    bool was_updiscon = false;

    while (data < stage->end && stop - way.out > ROOM) {
        const struct tw_element *const first = way.out;
        struct goal goal = { .target = 0 };
        struct tw_etrace_flow flow;
        const unsigned size =
            read_packet(codec, &flow, data, (size_t)(stage->end - data), is_bare);

        if (!size || size > (size_t)(stage->end - data))
            break;
        before = data;
        data += size;
        if (flow.has_address) {
            goal.address =
                tw_etrace_address(&codec->shape, codec->options, codec->address, flow.field);
            tw_etrace_track_jump(codec, goal.address);
            goal.target = target_of(&way, goal.address, decoder->isa);
        }
        if (writes || way.is_apart)
            way.index = tw_stage_index(stage, before);
        if (!is_bare)
            way.stop = stop - way.out < TW_ETRACE_WAY ? stop : way.out + TW_ETRACE_WAY;
        way.counted = 0;
        if (!pass_packet(stage, &way, &flow, &goal, &reach)) {
            end_at(stage, before, data);
            tw_etrace_set_flow(&codec->shape, &decoder->packet, &flow);
            if (flow.has_address)
                decoder->packet.address = goal.address;
            leave_packet(stage, &way, reach, left_since(&way, first));
            return;
        }
        was_updiscon = flow.told != 0;
        if (!is_bare && TW_UNLIKELY(stage->output->marks.marks))
            tw_stage_mark(stage, way.out, data);
    }
    if (!before)
        return;
    decoder->was_updiscon = was_updiscon;
    end_at(stage, before, data);
    end_way(stage, &way, reach);
}

/* The next packet finds the decoder in a state that is usual. */
static bool is_usual(const struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_place *place = &decoder->place;
    const struct tw_etrace_transport *transport = &decoder->codec.transport;

    return decoder->state == TW_ETRACE_TRACING && !decoder->is_inferred &&
           tw_block_is_plain(place->at) && place->from_count < tw_etrace_block(stage)->count &&
           (place->done_count || place->is_first) && decoder->count <= 1 &&
           !decoder->predicted && !decoder->is_missed && !decoder->encoder_mode &&
           !decoder->tie.is_on && !decoder->loop.is_wanted &&
           decoder->codec.shape.has_usual_flow && transport->is_synced &&
           !transport->block_size;
}

/* What is counted is of the kind that most traces are: of the choices for each packet those that are the same all
   through are made once. */
static bool is_bare(const struct tw_stage *stage)
{
    const struct tw_etrace_reader *codec = &tw_etrace_of(stage)->codec;

    return codec->transport.encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 &&
           !(codec->options & (TW_ETRACE_IMPLICIT_RETURN | TW_ETRACE_SIJUMP)) &&
           !stage->output->marks.marks;
}

void tw_etrace_pass_plain(struct tw_stage *stage)
{
    const bool predicts = tw_etrace_of(stage)->codec.options & TW_ETRACE_BRANCH_PREDICTION;

    if (stage->limit - stage->out <= ROOM + TW_ETRACE_MOST || !is_usual(stage))
        return;
    if (!stage->follow->sums && predicts)
        go(stage, false, false, true);
    else if (!stage->follow->sums)
        go(stage, false, false, false);
    else if (is_bare(stage) && !predicts)
        go(stage, true, true, false);
    else if (!predicts) /* what is counted learns nothing */
        go(stage, true, false, false);
}
