/* SPDX-License-Identifier: BSD-2-Clause */
/* The E-Trace encoder as its users see it: what the hart retires, cycle by cycle. */
#include "etrace/unit.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

#include <inttypes.h>

/* What cannot be encoded although it could be decoded. */
static enum tw_status check(const struct tw_etrace_config *config, struct tw_fault *fault)
{
    const uint32_t both = TW_ETRACE_BRANCH_PREDICTION | TW_ETRACE_JUMP_TARGET_CACHE;
    const uint32_t options = tw_etrace_config_options(config);

    TW_TRY(tw_etrace_config_check(config, fault));
    if (config->itype_width < 3)
        return tw_fail(fault, TW_E_CONFIG, "itype_width_p is %u; it must be 3 or 4",
                       config->itype_width);
    if (config->comparators > TW_INGRESS_COMPARATORS || config->filters > TW_INGRESS_FILTERS)
        return tw_fail(fault, TW_E_CONFIG, "there can be %d filters and %d comparators at most",
                       TW_INGRESS_FILTERS, TW_INGRESS_COMPARATORS);
    if (options & TW_ETRACE_BRANCH_PREDICTION && !config->bpred_size)
        return tw_fail(fault, TW_E_CONFIG, "branch_prediction wants a bpred_size_p");
    if (options & TW_ETRACE_JUMP_TARGET_CACHE && !config->cache_size)
        return tw_fail(fault, TW_E_CONFIG, "jump_target_cache wants a cache_size_p");
    if ((options & both) == both && !config->f0s_width)
        return tw_fail(fault, TW_E_CONFIG,
                       "branch_prediction and jump_target_cache together want an f0s_width_p");
    if (options & TW_ETRACE_IMPLICIT_RETURN) {
        if (!config->call_counter_size == !config->return_stack_size)
            return tw_fail(fault, TW_E_CONFIG,
                           "implicit_return wants either call_counter_size_p or "
                           "return_stack_size_p");
        if (config->itype_width == 3)
            return tw_fail(fault, TW_E_CONFIG, "implicit_return wants an itype_width_p of 4");
    }
    if (options & TW_ETRACE_SIJUMP && !config->sijump) /* 4.2 */
        return tw_fail(fault, TW_E_CONFIG,
                       "sijump wants a hart that detects such jumps: sijump_p=1");
    return TW_OK;
}

/* The largest te_inst packet must fit what the encapsulation can say of its length. */
static enum tw_status check_length(const struct tw_etrace_unit *unit, struct tw_fault *fault)
{
    const struct tw_etrace_shape *shape = &unit->shape;
    const struct tw_etrace_config *config = &unit->config;
    const bool is_packed = config->encapsulation == TW_ETRACE_ENCAP_RISCV ||
                           config->encapsulation == TW_ETRACE_ENCAP_SMI;
    const unsigned head = is_packed ? config->srcid_bits % 8u + config->type_bits : 0;
    const unsigned room = config->encapsulation == TW_ETRACE_ENCAP_ESP32 ? 28 : 31;
    const unsigned sync = 5u + shape->privilege + shape->time + shape->context;
    const unsigned trap =
        sync + shape->ecause + 2u + shape->address_bits + shape->address_width;
    const unsigned jump = 38u + shape->address_bits + 3u + shape->irdepth;
    const unsigned most = ((trap > jump ? trap : jump) + head + 7) / 8;

    if (most > room)
        return tw_fail(fault, TW_E_CONFIG, "packets of up to %u bytes do not fit in %u", most,
                       room);
    return TW_OK;
}

static bool take_tables(struct tw_etrace_unit *unit)
{
    const struct tw_etrace_config *config = &unit->config;
    const struct tw_allocator *allocator = unit->user.allocator;
    const unsigned bits =
        config->return_stack_size ? config->return_stack_size : config->call_counter_size;

    unit->depth_max = bits ? 1u << bits : 0;
    unit->calls_max = bits ? 1u << bits : 1;
    unit->calls = tw_take(allocator, unit->calls_max * sizeof *unit->calls);
    unit->returned = tw_take(allocator, (unit->calls_max + 1) * sizeof *unit->returned);
    unit->cache = tw_take(allocator, sizeof *unit->cache << config->cache_size);
    unit->predictor = tw_take(allocator, (size_t)1 << config->bpred_size);
    return unit->calls && unit->returned && unit->cache && unit->predictor;
}

static uint64_t bits_above(unsigned width)
{
    return width < 64 ? ~(uint64_t)0 << width : 0;
}

static void init_usual(struct tw_etrace_unit *unit)
{
    enum { NARROW = 0x79, WIDE = 0xff39 }; /* itypes but those of traps */
    const struct tw_etrace_config *config = &unit->config;

    unit->usual = (struct tw_etrace_usual){
        .iaddr = (((uint64_t)1 << unit->shape.lsb) - 1) | bits_above(config->iaddress_width),
        .context = config->nocontext ? 0 : bits_above(config->context_width),
        .half_words = unit->is_single ? 0 : 2u * config->retires - 2,
        .iretire = unit->is_single ? 1 : UINT32_MAX,
        .itypes = config->itype_width == 3 ? NARROW : WIDE,
        .priv = (uint8_t)bits_above(unit->shape.privilege),
        .ctype = config->ctype_width == 1 ? 1 : 3,
    };
}

static void init(struct tw_etrace_unit *unit)
{
    const struct tw_etrace_config *config = &unit->config;
    const unsigned encapsulation = config->encapsulation;

    tw_etrace_shape_init(&unit->shape, config);
    tw_etraced_shape_init(&unit->data_shape, config);
    tw_etrace_transport_init(&unit->transport, config);
    unit->is_v2 = config->layout != TW_ETRACE_LAYOUT_SEED;
    unit->is_single = config->retires <= 1;
    init_usual(unit);
    unit->one_stream =
        encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 ||
        encapsulation == TW_ETRACE_ENCAP_SIEMENS ||
        ((encapsulation == TW_ETRACE_ENCAP_RISCV || encapsulation == TW_ETRACE_ENCAP_SMI) &&
         config->type_bits);
    unit->ingress.nesting_bits = config->filter_excint;
    unit->options = tw_etrace_config_options(config);
    tw_etrace_show_data_modes(unit, unit->options);
    unit->data_compress = config->data_compress;
    unit->is_active = true;
    unit->resync_mode = config->resync_packets ? 1 : 0;
    unit->resync_limit = config->resync_packets;
    while (unit->resync_max < 15 && 16u << unit->resync_max < unit->resync_limit)
        unit->resync_max++;
    unit->stretch = 1;
    unit->fifo.size = unit->user.fifo_size;
    unit->fifo.cycles_per_byte = unit->user.cycles_per_byte ? unit->user.cycles_per_byte : 1;
}

enum tw_status tw_etrace_unit_new(struct tw_etrace_unit **unit,
                                  const struct tw_etrace_unit_config *config,
                                  struct tw_fault *fault)
{
    struct tw_etrace_unit_config copy;
    struct tw_etrace_config trace;
    struct tw_etrace_unit *made;
    enum tw_status status;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etrace_unit_config", fault));
    config = &copy;
    if (!config->trace)
        return tw_fail(fault, TW_E_ARGUMENT,
                       "tw_etrace_unit_config has no trace configuration");
    TW_TRY(TW_SIZED_TAKE(&trace, config->trace, "tw_etrace_config", fault));
    TW_TRY(check(&trace, fault));
    if (config->fifo_size && config->fifo_size < 64)
        return tw_fail(fault, TW_E_CONFIG, "a buffer of %" PRIu32 " bytes holds no packet",
                       config->fifo_size);
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an encoder");
    made->user = *config;
    made->user.trace = NULL;
    made->config = trace;
    init(made);
    status = check_length(made, fault);
    if (status == TW_OK && !take_tables(made))
        status = tw_fail(fault, TW_E_MEMORY, "no memory for an encoder");
    if (status != TW_OK) {
        tw_etrace_unit_free(made);
        return status;
    }
    tw_etrace_forget_prediction(made);
    *unit = made;
    return TW_OK;
}

void tw_etrace_unit_free(struct tw_etrace_unit *unit)
{
    const struct tw_allocator *allocator;

    if (!unit)
        return;
    allocator = unit->user.allocator;
    tw_give(allocator, unit->calls);
    tw_give(allocator, unit->returned);
    tw_give(allocator, unit->cache);
    tw_give(allocator, unit->predictor);
    tw_give(allocator, unit);
}

const char *tw_etrace_unit_fault(const struct tw_etrace_unit *unit)
{
    return unit->fault.text;
}

/* ---- blocks ---- */

static TW_NOINLINE enum tw_status bad(struct tw_etrace_unit *unit,
                                      const struct tw_etrace_block *block, const char *what)
{
    return tw_fail(&unit->fault, TW_E_ARGUMENT, "block at 0x%" PRIx64 ": %s", block->iaddr,
                   what);
}

/* A bus of so many bits holds the value, which may be sign-extended from there. */
static bool fits(uint64_t value, unsigned width)
{
    return width >= 64 || !(value >> width) || tw_sign_extend(value, width) == value;
}

/* The widths of tables 4.1, 4.2 and 4.5. */
static enum tw_status check_widths(struct tw_etrace_unit *unit,
                                   const struct tw_etrace_block *block, uint32_t half_words,
                                   bool is_trap)
{
    const struct tw_etrace_config *config = &unit->config;
    const unsigned width = config->iaddress_width, impdef = config->impdef_width;

    if (!unit->is_single && half_words > 2u * config->retires)
        return bad(unit, block, "iretire is more than retires_p instructions have");
    if (!fits(block->iaddr, width))
        return bad(unit, block, "iaddr does not fit iaddress_width_p");
    if (block->priv >> unit->shape.privilege)
        return bad(unit, block, "its privilege does not fit privilege_width_p");
    if (!config->nocontext && config->context_width < 64 &&
        block->context >> config->context_width)
        return bad(unit, block, "context does not fit context_width_p");
    if (impdef < 64 ? block->impdef >> impdef || block->impdef_high
                    : impdef < 128 && block->impdef_high >> (impdef - 64))
        return bad(unit, block, "impdef does not fit impdef_width_p");
    if (is_trap && config->ecause_width < 64 && block->cause >> config->ecause_width)
        return bad(unit, block, "cause does not fit ecause_width_p");
    if (is_trap && !fits(block->tval, width))
        return bad(unit, block, "tval does not fit iaddress_width_p");
    return TW_OK;
}

static TW_NOINLINE enum tw_status check_block(struct tw_etrace_unit *unit,
                                              const struct tw_etrace_block *block,
                                              uint32_t half_words)
{
    const bool is_trap =
        block->itype == TW_ETRACE_ITYPE_EXCEPTION || block->itype == TW_ETRACE_ITYPE_INTERRUPT;
    const bool is_narrow = unit->config.itype_width == 3;

    if (block->itype > TW_ETRACE_ITYPE_INFERABLE_OTHER ||
        (is_narrow
             ? block->itype > TW_ETRACE_ITYPE_UNINFERABLE
             : block->itype > TW_ETRACE_ITYPE_TAKEN && block->itype < TW_ETRACE_ITYPE_CALL))
        return bad(unit, block, "there is no such itype");
    if (block->iretire == 0 && !is_trap)
        return bad(unit, block, "nothing retired, but its itype says so");
    if (block->ilastsize > 1 || (block->iretire && half_words < 1u << block->ilastsize))
        return bad(unit, block, "the last instruction is larger than the block");
    if (unit->is_single && block->iretire > 1)
        return bad(unit, block, "iretire is more than 1, but so is not retires_p");
    if (block->iaddr & (((uint64_t)1 << unit->shape.lsb) - 1))
        return bad(unit, block, "its address is not aligned");
    if (block->ctype > 3 || (unit->config.ctype_width == 1 && block->ctype > 1))
        return bad(unit, block, "there is no such ctype");
    return check_widths(unit, block, half_words, is_trap);
}

const uint16_t tw_etrace_slot_flags[16] = {
    [TW_ETRACE_ITYPE_NONE] = TW_SLOT_RETIRES,
    [TW_ETRACE_ITYPE_EXCEPTION] = TW_SLOT_RETIRES | TW_SLOT_TRAPS,
    [TW_ETRACE_ITYPE_INTERRUPT] = TW_SLOT_RETIRES | TW_SLOT_TRAPS | TW_SLOT_INTERRUPT,
    [TW_ETRACE_ITYPE_TRAP_RETURN] = TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_NOT_TAKEN] = TW_SLOT_RETIRES | TW_SLOT_BRANCH | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_TAKEN] = TW_SLOT_RETIRES | TW_SLOT_BRANCH | TW_SLOT_TAKEN | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_UNINFERABLE] = TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_CALL] =
        TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_CALL | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_INFERABLE_CALL] = TW_SLOT_RETIRES | TW_SLOT_CALL | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_JUMP] = TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_INFERABLE_JUMP] = TW_SLOT_RETIRES | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_SWAP] = TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_RETURN] =
        TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_RETURN | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_OTHER] = TW_SLOT_RETIRES | TW_SLOT_UNINFERABLE | TW_SLOT_ENDS,
    [TW_ETRACE_ITYPE_INFERABLE_OTHER] = TW_SLOT_RETIRES | TW_SLOT_ENDS,
};

/* How privilege and context differ from before. */
static uint32_t changes(struct tw_etrace_unit *unit, const struct tw_etrace_block *block)
{
    const bool is_other = block->context != unit->last_context;
    uint32_t flags = 0;

    if (block->priv != unit->last_priv)
        flags = TW_SLOT_CHANGED;
    if (is_other && block->ctype)
        flags |= block->ctype == 1   ? TW_SLOT_IMPRECISE
                 : block->ctype == 2 ? TW_SLOT_CHANGED
                                     : TW_SLOT_CHANGED | TW_SLOT_SWITCHED;
    unit->last_priv = block->priv;
    unit->last_context = block->context;
    return flags;
}

static void push_block(struct tw_etrace_unit *unit, const struct tw_etrace_block *block,
                       const struct tw_ingress_stretch *stretch, uint32_t half_words,
                       uint32_t common)
{
    struct tw_etrace_slot slot;
    uint32_t flags = tw_etrace_slot_flags[block->itype] | (common & TW_SLOT_QUALIFIED);

    slot.priv = block->priv;
    slot.address = slot.from = block->iaddr;
    slot.context = block->context;
    slot.time = block->time;
    slot.size = (uint8_t)(2u << block->ilastsize);
    slot.half_words_before = slot.half_words = 0;
    slot.cause = slot.tval = 0;
    if (half_words == 0)
        flags &= ~(uint32_t)TW_SLOT_RETIRES;
    else if (unit->slot.address + unit->slot.size != block->iaddr)
        unit->slot.flags |= TW_SLOT_ENDS; /* a jump that has no itype of its own */
    if (stretch->first != stretch->last) {
        slot.flags = (common & ~(uint32_t)TW_SLOT_NOTIFY) | TW_SLOT_RETIRES;
        tw_etrace_unit_push(unit, &slot);
        common &= TW_SLOT_NOTIFY;
        slot.from = block->iaddr + 2;
        slot.half_words_before = half_words - (1u << block->ilastsize);
    }
    slot.flags = flags | common;
    slot.address = stretch->last;
    slot.half_words = half_words - slot.half_words_before;
    slot.tval = block->tval;
    slot.cause = block->cause;
    if (block->sijump && slot.flags & TW_SLOT_UNINFERABLE)
        slot.flags |= TW_SLOT_SIJUMP;
    tw_etrace_unit_push(unit, &slot);
}

static void trigger_on(struct tw_etrace_unit *unit)
{
    if (unit->trigger_enabled && !unit->is_enabled)
        tw_etrace_unit_enable(unit, true);
    if (unit->data_trigger_enabled && !unit->data_enabled)
        tw_etrace_unit_enable_data(unit, true);
}

static void trigger_off(struct tw_etrace_unit *unit)
{
    if (unit->trigger_enabled && unit->is_enabled)
        tw_etrace_unit_enable(unit, false);
    if (unit->data_trigger_enabled && unit->data_enabled)
        tw_etrace_unit_enable_data(unit, false);
}

enum tw_status tw_etrace_unit_take_block(struct tw_etrace_unit *unit,
                                         const struct tw_etrace_block *block)
{
    const uint32_t half_words =
        unit->is_single ? block->iretire << block->ilastsize : block->iretire;
    struct tw_ingress_stretch stretch = { block->iaddr, block->iaddr };
    uint32_t common;
    bool notify = block->trigger & TW_ETRACE_TRIGGER_NOTIFY;

    if (block->iretire == 0 && block->itype == TW_ETRACE_ITYPE_NONE && !block->trigger)
        return TW_OK;
    if (TW_UNLIKELY(!tw_etrace_is_usual(unit, block, half_words)))
        TW_TRY(check_block(unit, block, half_words));
    if (half_words)
        stretch.last += 2 * (uint64_t)half_words - (2u << block->ilastsize);
    if (TW_UNLIKELY(block->trigger & TW_ETRACE_TRIGGER_ON))
        trigger_on(unit);
    unit->counts.blocks++;
    unit->counts.half_words += half_words;
    common = changes(unit, block);
    if (TW_LIKELY(tw_ingress_is_idle(&unit->ingress))) {
        if (unit->is_running)
            common |= TW_SLOT_QUALIFIED;
    } else if (tw_ingress_qualify(&unit->ingress, block, &stretch, &notify) &&
               unit->is_running) {
        common |= TW_SLOT_QUALIFIED;
    }
    if (notify && common & TW_SLOT_QUALIFIED)
        common |= TW_SLOT_NOTIFY;
    push_block(unit, block, &stretch, half_words, common);
    if (TW_UNLIKELY(block->trigger & TW_ETRACE_TRIGGER_OFF))
        trigger_off(unit);
    return TW_OK;
}

/* A data packet that is too long for its encapsulation is not sent, but said. */
static enum tw_status done(struct tw_etrace_unit *unit)
{
    if (!unit->is_too_long)
        return TW_OK;
    unit->is_too_long = false;
    return tw_fail(&unit->fault, TW_E_ARGUMENT, "the access needs a packet that is too long");
}

static enum tw_status take_accesses(struct tw_etrace_unit *unit,
                                    const struct tw_etrace_cycle *cycle)
{
    static const struct tw_etrace_block none = { .iaddr = 0 };

    for (size_t i = 0; i < cycle->access_count; i++) {
        const struct tw_etrace_access *access = &cycle->accesses[i];
        const bool has_block = access->dblock < cycle->block_count;
        const struct tw_etrace_block *block =
            has_block ? &cycle->blocks[access->dblock] : &none;
        const uint64_t mask = ((uint64_t)1 << unit->config.iaddr_lsbs_width) - 1;
        uint64_t iaddr = (block->iaddr & ~mask) | (access->iaddr_lsbs & mask);

        if (cycle->block_count && !has_block)
            return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no block %u in the cycle",
                           access->dblock);
        if (unit->is_single)
            iaddr = block->iaddr;
        else if (iaddr < block->iaddr)
            iaddr += mask + 1;
        if (!unit->data_enabled ||
            !tw_ingress_qualify_data(&unit->ingress, access, block, iaddr))
            continue;
        TW_TRY(tw_etrace_take_access(unit, access));
    }
    return done(unit);
}

enum tw_status tw_etrace_unit_cycle(struct tw_etrace_unit *unit,
                                    const struct tw_etrace_cycle *cycle)
{
    if (unit->config.taken_branches > 1 && cycle->block_count > unit->config.taken_branches)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "more blocks than taken_branches_p");
    for (size_t i = 0; i + 1 < cycle->block_count; i++)
        if (cycle->blocks[i].itype == TW_ETRACE_ITYPE_EXCEPTION ||
            cycle->blocks[i].itype == TW_ETRACE_ITYPE_INTERRUPT)
            return bad(unit, &cycle->blocks[i], "a trap, but not in the newest block");
    tw_etrace_pass_cycles(unit, 1);
    for (size_t i = 0; i < cycle->block_count; i++)
        TW_TRY(tw_etrace_unit_take_block(unit, &cycle->blocks[i]));
    return take_accesses(unit, cycle);
}

void tw_etrace_unit_idle(struct tw_etrace_unit *unit, uint32_t cycles)
{
    tw_etrace_pass_cycles(unit, cycles);
}

/* As if an unqualified instruction came. */
static void signal(struct tw_etrace_unit *unit, bool *level, bool value)
{
    *level = value;
    unit->is_running = unit->is_enabled && !unit->is_halted && !unit->is_reset;
    if (value)
        tw_etrace_unit_end(unit);
}

void tw_etrace_unit_halted(struct tw_etrace_unit *unit, bool is_halted)
{
    signal(unit, &unit->is_halted, is_halted);
}

void tw_etrace_unit_reset(struct tw_etrace_unit *unit, bool is_reset)
{
    signal(unit, &unit->is_reset, is_reset);
}

uint64_t tw_etrace_unit_stalled(struct tw_etrace_unit *unit)
{
    const uint64_t cycles = unit->fifo.stalled;

    unit->fifo.stalled = 0;
    return cycles;
}

void tw_etrace_unit_flush(struct tw_etrace_unit *unit)
{
    tw_etrace_sink_flush(unit);
}

void tw_etrace_unit_trace(const struct tw_etrace_unit *unit, struct tw_etrace_config *config)
{
    *config = unit->config;
    config->options = unit->has_begun ? unit->first_options : unit->options;
    config->has_sijump_mode = true;
    if (config->diff_bits > 1) /* one bit means the one kind that there is, used or not */
        config->data_compress = unit->data_compress;
    config->filters_data |= unit->ingress.data_filters_used != 0;
}

void tw_etrace_unit_counts(const struct tw_etrace_unit *unit, struct tw_etrace_unit_counts *out)
{
    *out = unit->counts;
}
