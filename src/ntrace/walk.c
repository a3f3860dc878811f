/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves along the program from message to message, block by block. */
#include "ntrace/decode.h"

/* More than any message can be meant to tell: what ends the walk of a hostile one. */
#define WALK_MAX ((uint64_t)1 << 33)

static const struct tw_block *block_of(const struct tw_stage *stage, uint32_t at)
{
    return &stage->follow->blocks->blocks[at & ~TW_BLOCK_BROKEN];
}

static struct tw_block_more *more_of(const struct tw_stage *stage, uint32_t at)
{
    return &stage->follow->blocks->more[at & ~TW_BLOCK_BROKEN];
}

TW_INLINE bool is_conditional(const struct tw_block *block)
{
    return block->flags & TW_RANGE_CONDITIONAL;
}

/* ---- outcomes ---- */

void tw_ntrace_set_bits(struct tw_ntrace_way *way, uint64_t hist)
{
    const unsigned count = tw_highest_bit(hist);

    way->bits = count ? hist << (64 - count) : 0;
    way->count = count;
    way->refills = 0;
}

void tw_ntrace_set_pattern(struct tw_ntrace_way *way, uint64_t hist, uint64_t times)
{
    uint64_t copies, first;

    tw_ntrace_set_bits(way, hist);
    if (way->count == 0 || TW_LIKELY(times == 1))
        return;
    copies = 64 / way->count;
    way->pattern = way->bits;
    way->pattern_count = way->count;
    for (uint64_t i = 1; i < copies; i++) {
        way->pattern |= way->bits >> way->pattern_count;
        way->pattern_count += way->count;
    }
    first = times % copies;
    way->refills = times / copies;
    way->count = (uint32_t)first * way->count;
    way->bits = way->count ? way->pattern & UINT64_MAX << (64 - way->count) : 0;
}

/* False: there are no more. */
static bool refill(struct tw_ntrace_way *way)
{
    if (way->refills == 0)
        return false;
    way->refills--;
    way->bits = way->pattern;
    way->count = way->pattern_count;
    return true;
}

static bool take_bit(struct tw_ntrace_way *way)
{
    const bool is_taken = way->bits >> 63;

    way->bits <<= 1;
    way->count -= way->count != 0; /* those behind the last are not taken */
    return is_taken;
}

/* ---- calls and returns ---- */

static bool pop(struct tw_ntrace_decoder *decoder, uint64_t *address)
{
    if (decoder->return_depth == 0)
        return false;
    *address = decoder->returns[decoder->return_top];
    decoder->return_top = (decoder->return_top - 1) & (TW_NTRACE_RETURNS_MAX - 1);
    decoder->return_depth--;
    return true;
}

/* ---- places ---- */

/* The block at an address; 0: memory is out.  Finding it may throw all others away. */
static uint32_t find(struct tw_stage *stage, uint64_t address)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint32_t at = tw_blocks_find(stage->follow->blocks, address, decoder->isa, 0);

    if (TW_UNLIKELY(decoder->epoch != stage->follow->code->epoch)) {
        decoder->epoch = stage->follow->code->epoch;
        decoder->at = decoder->last = 0;
    }
    return at;
}

void tw_ntrace_go(struct tw_stage *stage, uint64_t address)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint32_t last = decoder->last;
    struct tw_block_more *more = more_of(stage, last);

    decoder->has_pc = true;
    decoder->pc = address;
    decoder->last = 0;
    if (!last || !more->is_indirect || more->is_sequential) {
        decoder->at = 0;
        return;
    }
    /* The block remembers where its jump went the last time. */
    if (!more->taken || block_of(stage, more->taken)->start != address) {
        const uint64_t epoch = decoder->epoch;
        const uint32_t found = find(stage, address);

        if (epoch != decoder->epoch || !found) {
            decoder->at = 0;
            return;
        }
        more = more_of(stage, last);
        more->taken = found;
    }
    decoder->at = more->taken;
}

static enum tw_ntrace_walk wrong(struct tw_ntrace_decoder *decoder, uint8_t code,
                                 uint64_t detail)
{
    decoder->error = code;
    decoder->error_detail = detail;
    return TW_NTRACE_WALK_ERROR;
}

static void emit_missing(struct tw_stage *stage, uint64_t address)
{
    struct tw_element *out = tw_stage_add(stage, TW_ELEMENT_ADDR_NACC, stage->index);

    out->address = address;
    out->space = TW_SPACE_ANY;
}

/* ---- parts of blocks ---- */

/* The first `units` half-words of the block, or as many whole instructions as lie in them.  Returns
   how many were left over. */
static uint64_t emit_part(struct tw_stage *stage, const struct tw_block *block, uint64_t units)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint64_t start = block->start;
    uint64_t at = start, left = units;
    struct tw_element *out;
    uint32_t opcode, count = 0;
    uint8_t size = 0, last = 0;

    for (; left; count++) {
        if (!tw_code_opcode(stage->follow->blocks, &opcode, &size, at, decoder->isa) ||
            size / 2u > left)
            break;
        at += size;
        left -= size / 2u;
        last = size;
    }
    if (count) {
        out = tw_stage_add(stage, TW_ELEMENT_INSTR_RANGE, stage->index);
        out->isa = decoder->isa;
        out->flags = TW_RANGE_EXECUTED;
        out->start = start;
        out->length = (uint32_t)(at - start);
        out->count = count;
        out->last_size = last / 2u & 3u;
    }
    return left;
}

/* A walk that ends inside of an instruction: a synchronizing message says where the program is, and what
   lies behind that comes later.  Cores have been seen to send such counts. */
static uint64_t units_before_sync(const struct tw_ntrace_decoder *decoder,
                                  const struct tw_block *block, uint64_t units)
{
    const uint64_t into = (decoder->packet.address << 1) - block->start;

    return tw_ntrace_is_sync(decoder->packet.base.type) && into < 2 * units ? into / 2 : units;
}

/* Bytes of the whole instructions in the first `units` half-words of the block. */
static uint64_t whole_part(struct tw_stage *stage, const struct tw_block *block, uint64_t units)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;
    uint64_t at = 0;
    uint32_t opcode;
    uint8_t size;

    while (at < 2 * units &&
           tw_code_opcode(stage->follow->blocks, &opcode, &size, block->start + at,
                          decoder->isa) &&
           at + size <= 2 * units)
        at += size;
    return at;
}

/* The walk ends inside of a block. */
static enum tw_ntrace_walk end_inside(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_block *block = block_of(stage, decoder->at);
    const uint64_t units = decoder->way.left;
    const bool is_whole = whole_part(stage, block, units) == 2 * units;
    const uint64_t told = is_whole ? units : units_before_sync(decoder, block, units);
    const uint64_t left = emit_part(stage, block, told);

    decoder->way.left = 0;
    decoder->way.walked += units;
    decoder->pc = tw_code_wrap(block->start + 2 * (told - left), decoder->isa);
    decoder->at = 0;
    /* A branch taken would have been the end of a block. */
    if (!is_whole || decoder->packet.base.type == TW_NTRACE_DIRECT_BRANCH)
        return wrong(decoder, TW_ERROR_IMAGE_MISMATCH, decoder->pc);
    return TW_NTRACE_WALK_DONE;
}

void tw_ntrace_walk_certain(struct tw_stage *stage, uint64_t units)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_block *block;
    struct tw_element shape;
    uint64_t whole;

    decoder->at = decoder->at ? decoder->at : find(stage, decoder->pc);
    if (!decoder->at)
        return;
    block = block_of(stage, decoder->at);
    shape.last = block->last;
    whole = block->length / 2;
    if (!(decoder->at & TW_BLOCK_BROKEN))
        whole -= shape.last_size;
    (void)emit_part(stage, block, units < whole ? units : whole);
}

/* ---- from block to block ---- */

/* The code ends here, or is none. */
static enum tw_ntrace_walk leave_broken(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_block *block = block_of(stage, decoder->at);
    const uint64_t end = tw_ntrace_block_end(block);
    const unsigned how = more_of(stage, decoder->at)->end;

    if (block->count) {
        tw_follow_emit(stage->out++, block, TW_RANGE_EXECUTED, stage->index);
        decoder->way.walked += block->length / 2;
    }
    if (decoder->phase == TW_NTRACE_BY_COUNT) {
        decoder->way.left -= block->length / 2;
        decoder->pc = end;
        decoder->at = 0;
        if (decoder->way.left == 0)
            return TW_NTRACE_WALK_DONE;
    }
    if (how == TW_BLOCK_RUNAWAY)
        return wrong(decoder, TW_ERROR_RANGE_LIMIT, end);
    if (how == TW_BLOCK_NO_CODE)
        return wrong(decoder, TW_ERROR_BAD_OPCODE, end);
    emit_missing(stage, end);
    return TW_NTRACE_WALK_MISSING;
}

/* Follows a jump for the first time.  Both its links are set: see run_plain. */
static uint32_t link_jump(struct tw_stage *stage, uint32_t from)
{
    struct tw_blocks *blocks = stage->follow->blocks;
    const uint64_t epoch = stage->follow->code->epoch;
    const uint32_t next = tw_blocks_link(blocks, from, 1);

    if (epoch == stage->follow->code->epoch && next)
        blocks->links[2 * from] = next;
    return next;
}

/* Where an indirect jump leads as far as the code and the calls before tell. */
static void leave_indirect(struct tw_stage *stage, const struct tw_block *block,
                           const struct tw_block_more *more)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint64_t link = tw_ntrace_block_end(block);
    uint64_t address = 0;
    /* The dialect: jalr x1, x5 is a call and no return. */
    const bool returns = more->is_return && !(decoder->is_dialect && more->is_link);

    decoder->has_pc = returns && pop(decoder, &address);
    if (more->is_sequential) {
        decoder->has_pc = true;
        address = more->target;
    }
    if (more->is_link)
        tw_ntrace_push(decoder, link);
    decoder->pc = address;
    decoder->last = decoder->at;
    decoder->at = 0;
}

/* The block's last instruction was executed; *is_taken tells of a branch. */
static void leave(struct tw_stage *stage, bool is_taken)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint32_t from = decoder->at;
    const struct tw_block *block = block_of(stage, from);
    const struct tw_block_more *more = more_of(stage, from);
    uint32_t next;

    tw_follow_emit(stage->out++, block, is_taken, stage->index);
    decoder->way.walked += block->length / 2;
    decoder->last = 0;
    if (!is_conditional(block) && more->is_indirect) {
        leave_indirect(stage, block, more);
        return;
    }
    if (tw_block_is_link(block))
        tw_ntrace_push(decoder, tw_ntrace_block_end(block));
    decoder->has_pc = true;
    decoder->pc =
        is_taken ? more->target : tw_code_wrap(tw_ntrace_block_end(block), decoder->isa);
    next = stage->follow->blocks->links[2 * from + is_taken];
    if (next < TW_BLOCK_FIRST)
        next = is_conditional(block) ? tw_blocks_link(stage->follow->blocks, from, is_taken)
                                     : link_jump(stage, from);
    decoder->epoch = stage->follow->code->epoch;
    decoder->at = next;
}

/* Whether a bit of HIST tells of the block's last instruction. */
static bool has_outcome(const struct tw_ntrace_decoder *decoder, const struct tw_block *block,
                        const struct tw_block_more *more)
{
    return is_conditional(block) || (decoder->codec.config.all_jumps && !more->is_indirect);
}

/* The block that ends the walk. */
static enum tw_ntrace_walk leave_last(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const struct tw_block *block = block_of(stage, decoder->at);
    const struct tw_block_more *more = more_of(stage, decoder->at);
    const unsigned type = packet->base.type;
    bool is_taken = true;

    if (has_outcome(decoder, block, more) && decoder->way.count)
        is_taken = take_bit(&decoder->way);
    else if (is_conditional(block) && tw_ntrace_is_sync(type) &&
             type != TW_NTRACE_DIRECT_BRANCH_SYNC && !packet->btype)
        is_taken = packet->address << 1 == more->target &&
                   more->target != tw_code_wrap(tw_ntrace_block_end(block), decoder->isa);
    else if (is_conditional(block))
        is_taken = type == TW_NTRACE_DIRECT_BRANCH || type == TW_NTRACE_DIRECT_BRANCH_SYNC;
    decoder->way.left = 0;
    leave(stage, is_taken || !is_conditional(block));
    return TW_NTRACE_WALK_DONE;
}

/* A block in the middle of the walk, or the last of BY_HISTORY. */
static enum tw_ntrace_walk leave_middle(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_ntrace_way *way = &decoder->way;
    const struct tw_block *block = block_of(stage, decoder->at);
    const struct tw_block_more *more = more_of(stage, decoder->at);
    const uint64_t at = tw_ntrace_block_end(block);
    bool is_taken = true;

    if (has_outcome(decoder, block, more)) {
        is_taken = take_bit(way);
        way->hops = 0;
    } else if (decoder->phase == TW_NTRACE_BY_HISTORY && ++way->hops > TW_NTRACE_HOPS_MAX) {
        return wrong(decoder, TW_ERROR_RANGE_LIMIT, at);
    }
    way->left -= block->length / 2;
    leave(stage, is_taken || !is_conditional(block));
    if (!decoder->has_pc)
        return wrong(decoder, TW_ERROR_RETURN_STACK, at);
    return TW_NTRACE_WALK_DONE;
}

static enum tw_ntrace_walk walk_units(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const bool is_plain = !decoder->codec.config.all_jumps;

    while (decoder->way.left) {
        enum tw_ntrace_walk how;
        uint64_t units;

        if (!decoder->at)
            decoder->at = find(stage, decoder->pc);
        if (!decoder->at)
            return wrong(decoder, TW_ERROR_UNSUPPORTED, decoder->pc); /* memory is out */
        if (is_plain && tw_block_is_plain(decoder->at))
            tw_ntrace_run(stage, true);
        if (stage->limit - stage->out <= TW_NTRACE_MOST)
            return TW_NTRACE_WALK_FULL;
        units = block_of(stage, decoder->at)->length / 2;
        if (decoder->way.left < units)
            return end_inside(stage);
        if (decoder->at & TW_BLOCK_BROKEN)
            return leave_broken(stage);
        if (decoder->way.left == units)
            return leave_last(stage);
        how = leave_middle(stage);
        if (how != TW_NTRACE_WALK_DONE)
            return how;
    }
    return TW_NTRACE_WALK_DONE;
}

static enum tw_ntrace_walk walk_history(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const bool is_plain = !decoder->codec.config.all_jumps;

    while (decoder->way.count || refill(&decoder->way)) {
        enum tw_ntrace_walk how;

        if (decoder->way.walked > WALK_MAX)
            return wrong(decoder, TW_ERROR_RANGE_LIMIT, decoder->pc);
        if (!decoder->at)
            decoder->at = find(stage, decoder->pc);
        if (!decoder->at)
            return wrong(decoder, TW_ERROR_UNSUPPORTED, decoder->pc); /* memory is out */
        if (is_plain && tw_block_is_plain(decoder->at)) {
            tw_ntrace_run(stage, false);
            if (decoder->way.count == 0)
                continue;
        }
        if (stage->limit - stage->out <= TW_NTRACE_MOST)
            return TW_NTRACE_WALK_FULL;
        if (decoder->at & TW_BLOCK_BROKEN)
            return leave_broken(stage);
        how = leave_middle(stage);
        if (how != TW_NTRACE_WALK_DONE)
            return how;
    }
    return TW_NTRACE_WALK_DONE;
}

enum tw_ntrace_walk tw_ntrace_walk(struct tw_stage *stage)
{
    return tw_ntrace_of(stage)->phase == TW_NTRACE_BY_COUNT ? walk_units(stage)
                                                            : walk_history(stage);
}
