/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: what each packet means, once it is read. */
#include "base/m_profile.h"
#include "etmv3/decode.h"

static void add_cycles(struct tw_stage *stage, uint32_t cycles, uint64_t index)
{
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_CYCLE_COUNT, index);

    element->cycles = cycles;
    element->flags = TW_FLAG_HAS_CYCLES;
}

static void forget(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    tw_etmv3_release(decoder);
    tw_follow_lose(stage->follow);
    stage->follow->error = TW_ERROR_NONE;
    decoder->context.has_context_id = decoder->context.has_vmid = false;
    decoder->half_is_done = decoder->unknown_is_said = false;
    tw_etmv3_data_forget(decoder);
}

/* The packets contradict the image or each other; bytes are still in step. */
void tw_etmv3_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                   uint64_t detail)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    forget(stage);
    tw_stage_damage(stage, code, packet, detail);
    decoder->sync = TW_ETMV3_SYNC_ISYNC;
    tw_armv7_add_no_sync(
        stage, code == TW_ERROR_BAD_OPCODE ? TW_REASON_BAD_IMAGE : TW_REASON_BAD_PACKET,
        packet->index);
}

/* Takes over security state and Hyp mode; true when they are new. */
static bool take_state(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    return tw_armv7_take_state(stage, &decoder->context, packet->ns,
                               packet->hyp && decoder->reader.setup.has_hyp);
}

/* The program goes on there, unless that is code that cannot be followed. */
static void jump(struct tw_stage *stage, uint32_t address, uint8_t isa, uint64_t index)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    decoder->unknown_is_said = decoder->half_is_done = decoder->is_returning = false;
    tw_armv7_jump(stage, address, isa, index);
}

void tw_etmv3_settle(struct tw_stage *stage, const struct tw_etmv3_atoms *atoms,
                     struct tw_element *first, uint64_t index)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const bool has_cycles = decoder->reader.setup.cycle_accurate;
    unsigned done = 0, cycles = 0;

    while (first + done < stage->out && first[done].type == TW_ELEMENT_INSTR_RANGE)
        done++;
    if (has_cycles)
        tw_etmv3_set_cycles(first, atoms, done);
    if (done) {
        decoder->waiting = first + done - 1;
        decoder->has_instruction = true;
    }
    if (done == atoms->count || stage->follow->error)
        return;
    if (first + done < stage->out) { /* not accessible */
        decoder->unknown_is_said = false;
    } else if (!decoder->unknown_is_said) {
        tw_stage_add(stage, TW_ELEMENT_ADDR_UNKNOWN, index);
        decoder->unknown_is_said = true;
    }
    for (; done < atoms->count; done++)
        cycles += tw_etmv3_cycles_of(atoms, done);
    if (has_cycles && cycles)
        add_cycles(stage, cycles, index);
}

void tw_etmv3_go_on(struct tw_stage *stage, const struct tw_etmv3_atoms *atoms, unsigned done,
                    uint64_t index)
{
    const struct tw_etmv3_atoms rest = {
        .bits = (uint16_t)(atoms->bits >> done),
        .count = (uint8_t)(atoms->count - done),
        .first_cycles = done ? atoms->other_cycles : atoms->first_cycles,
        .other_cycles = atoms->other_cycles,
    };
    struct tw_element *first = stage->out;

    if (rest.count)
        stage->out = tw_follow_atoms(stage->follow, stage->out, rest.bits, rest.count, index);
    tw_etmv3_settle(stage, &rest, first, index);
}

/* The second half of a 32-bit Thumb instruction, whose range is there already. */
static void take_half(struct tw_stage *stage, unsigned cycles, uint64_t index)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    decoder->half_is_done = false;
    if (!cycles)
        return;
    if (decoder->waiting && decoder->has_instruction)
        decoder->waiting->range_cycles += cycles;
    else
        add_cycles(stage, cycles, index);
}

/* One atom after the other, where more than a range may come of each. */
static void take_atoms_singly(struct tw_stage *stage, const struct tw_etmv3_atoms *atoms,
                              uint64_t index)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_setup *setup = &decoder->reader.setup;
    const bool is_wide = setup->wide_is_two;

    for (unsigned i = 0; i < atoms->count && !stage->follow->error; i++) {
        const unsigned taken = atoms->bits >> i & 1;
        const unsigned cycles = tw_etmv3_cycles_of(atoms, i);
        const struct tw_etmv3_atoms one = { .bits = (uint16_t)taken,
                                            .count = 1,
                                            .first_cycles = (uint8_t)cycles };
        struct tw_element *first = stage->out;

        if (decoder->half_is_done) {
            take_half(stage, cycles, index);
            continue;
        }
        stage->out = tw_follow_atoms(stage->follow, stage->out, taken, 1, index);
        tw_etmv3_settle(stage, &one, first, index);
        if (first == stage->out || first->type != TW_ELEMENT_INSTR_RANGE)
            continue;
        decoder->half_is_done = is_wide && first->isa == TW_ISA_T32 && first->last_size == 2;
        decoder->data.is_last = false;
        if (taken && tw_etmv3_has_data(setup))
            tw_etmv3_data_instruction(decoder, stage->follow, first);
    }
}

static void take_p_header(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_setup *setup = &decoder->reader.setup;
    const struct tw_etmv3_atoms *atoms = &decoder->reader.atoms[packet->header];

    if (!atoms->count) {
        if (atoms->cycles)
            add_cycles(stage, atoms->cycles, packet->base.index);
    } else if (setup->wide_is_two || tw_etmv3_has_data(setup)) {
        take_atoms_singly(stage, atoms, packet->base.index);
    } else {
        tw_etmv3_go_on(stage, atoms, 0, packet->base.index);
    }
}

/* A load or store was in progress when tracing began: it is executed. */
static void take_in_progress(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_element *first = stage->out;

    if (!tw_follow_is_placed(stage->follow))
        return;
    stage->out = tw_follow_atoms(stage->follow, stage->out, 1, 1, packet->base.index);
    if (first != stage->out && first->type == TW_ELEMENT_INSTR_RANGE) {
        decoder->waiting = first;
        decoder->has_instruction = true;
        if (tw_etmv3_has_data(&decoder->reader.setup))
            tw_etmv3_data_instruction(decoder, stage->follow, first);
    }
    tw_follow_lose(stage->follow);
    jump(stage, packet->next_address, packet->isa, packet->base.index);
}

static void take_isync(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const bool is_first = decoder->sync != TW_ETMV3_SYNC_DONE;
    struct tw_element *context;

    if (is_first)
        tw_stage_report(stage, packet->base.offset);
    decoder->sync = TW_ETMV3_SYNC_DONE;
    if (is_first || packet->reason != TW_ETMV3_PERIODIC) {
        tw_etmv3_release(decoder);
        tw_stage_add(stage, TW_ELEMENT_TRACE_ON, packet->base.index)->reason =
            tw_armv7_trace_on[packet->reason & 3];
        tw_etmv3_data_forget(decoder);
        tw_follow_lose(stage->follow);
    }
    if (packet->has_context_id) {
        decoder->context.has_context_id = true;
        decoder->context.context_id = packet->context_id;
    }
    (void)take_state(stage, packet);
    context = tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    if (packet->base.type == TW_ETMV3_I_SYNC_CYCLE) {
        context->context_cycles = packet->cycles;
        context->flags |= TW_FLAG_HAS_CYCLES;
    }
    if (!packet->has_address)
        return;
    jump(stage, packet->address, packet->isa, packet->base.index);
    if (packet->is_in_progress)
        take_in_progress(stage, packet);
}

/* The last instruction was not executed after all: its range, its data, and that an exception was
   returned from with it, are taken back.  What else came stays.  Returns whether its address is
   in *address. */
static bool cancel(struct tw_stage *stage, uint32_t *address)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_element *const range = decoder->waiting;
    struct tw_element *to = range;
    const bool is_m = decoder->reader.setup.profile == TW_PROFILE_M;
    bool keeps_range = false;

    if (!range || !decoder->has_instruction || stage->out - range > TW_ETMV3_HELD_MAX)
        return false;
    for (const struct tw_element *from = range + 1; from < stage->out; from++)
        if (is_m && from->type == TW_ELEMENT_EXCEPTION_RET)
            keeps_range = true; /* the return was executed, its effect is void */
    *address = (uint32_t)range->start;
    if (keeps_range) {
        to++;
    } else if (range->flags & TW_FLAG_HAS_CYCLES && range->range_cycles) {
        const struct tw_element time = { .type = TW_ELEMENT_CYCLE_COUNT,
                                         .index = range->index,
                                         .cycles = range->range_cycles,
                                         .flags = TW_FLAG_HAS_CYCLES };

        *to++ = time;
    }
    for (const struct tw_element *from = range + 1; from < stage->out; from++) {
        const bool is_data =
            from->type == TW_ELEMENT_DATA_ADDR || from->type == TW_ELEMENT_DATA_VALUE;

        if (from->type == TW_ELEMENT_EXCEPTION_RET)
            continue;
        if (is_data && !keeps_range && decoder->data.is_last &&
            (from->flags & TW_DATA_HAS_PC) && from->pc == *address)
            continue;
        *to++ = *from;
    }
    stage->out = to;
    if (decoder->data.is_last && !keeps_range) {
        for (unsigned tag = 0; tag < TW_ETMV3_TAGS; tag++)
            if (decoder->data.slots[tag].serial == decoder->data.serial)
                decoder->data.slots[tag].is_open = false;
        decoder->data.is_known = false;
    }
    return !keeps_range;
}

static void take_exception(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const unsigned reset = packet->is_m_profile ? 17 : 8;
    struct tw_element *element;
    uint32_t address = 0;
    bool has_return = packet->cancels && cancel(stage, &address);

    tw_etmv3_release(decoder);
    if (!has_return && tw_follow_is_placed(stage->follow)) {
        has_return = true;
        address = (uint32_t)tw_follow_address(stage->follow);
    }
    if (packet->has_state && take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    if (!packet->exception)
        return;
    element = tw_stage_add(stage, TW_ELEMENT_EXCEPTION, packet->base.index);
    element->number = packet->is_m_profile ? packet->exception : packet->exception & 15u;
    element->kind = packet->is_m_profile ? TW_NUMBERS_ARMV7_M : TW_NUMBERS_ARMV7;
    if (has_return && element->number != reset) {
        element->flags |= TW_EXCEPTION_HAS_RETURN;
        element->return_address = address;
    }
    if (packet->is_m_profile) {
        element->architectural = tw_m_from_etmv3(element->number);
        if (!has_return && decoder->is_returning)
            element->flags |= TW_EXCEPTION_TAIL_CHAIN;
    }
    tw_follow_lose(stage->follow);
}

static void take_branch(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const bool is_exception = packet->has_info && (packet->exception || packet->cancels);

    if (is_exception)
        take_exception(stage, packet);
    else if (packet->has_state && take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    jump(stage, packet->address, packet->isa, packet->base.index);
}

static void take_number(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (packet->base.type == TW_ETMV3_CONTEXT_ID) {
        decoder->context.has_context_id = true;
        decoder->context.context_id = packet->value;
    } else {
        decoder->context.has_vmid = true;
        decoder->context.vmid = packet->value;
    }
    (void)tw_armv7_add_context(stage, &decoder->context, tw_follow_isa(stage->follow),
                               packet->base.index);
}

static void take_timestamp(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_element *element =
        tw_armv7_add_time(stage, packet->time, packet->freq_changed, packet->base.index);

    tw_follow_time(stage->follow, element);
}

static void take_synced(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    switch (packet->base.type) {
    case TW_ETMV3_P_HDR:
        take_p_header(stage, packet);
        break;
    case TW_ETMV3_BRANCH_ADDRESS:
        take_branch(stage, packet);
        break;
    case TW_ETMV3_CONTEXT_ID:
    case TW_ETMV3_VMID:
        take_number(stage, packet);
        break;
    case TW_ETMV3_TIMESTAMP:
        take_timestamp(stage, packet);
        break;
    case TW_ETMV3_CYCLE_COUNT:
        add_cycles(stage, packet->count, packet->base.index);
        break;
    case TW_ETMV3_TRIGGER:
        tw_stage_add(stage, TW_ELEMENT_EVENT, packet->base.index)->kind = TW_EVENT_TRIGGER;
        break;
    case TW_ETMV3_EXCEPTION_EXIT:
        tw_stage_add(stage, TW_ELEMENT_EXCEPTION_RET, packet->base.index);
        if (decoder->reader.setup.profile == TW_PROFILE_M) {
            decoder->data.is_known = false; /* what comes is the unstacking's */
            decoder->is_returning = true;
        }
        break;
    case TW_ETMV3_EXCEPTION_ENTRY:
        tw_stage_add(stage, TW_ELEMENT_EXCEPTION, packet->base.index)->flags =
            TW_EXCEPTION_DATA_MARKER;
        decoder->data.is_known = false; /* what comes is the stacking's */
        break;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
    case TW_ETMV3_STORE_FAIL:
    case TW_ETMV3_DATA_SUPPRESSED:
        tw_etmv3_take_data(stage, packet);
        break;
    default: /* A-sync, Ignore */
        break;
    }
}

/* Between A-sync and I-sync: time, but no path. */
static void take_unsynced(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (packet->base.type == TW_ETMV3_A_SYNC)
        decoder->sync = TW_ETMV3_SYNC_ISYNC;
    else if (packet->base.type == TW_ETMV3_TIMESTAMP)
        take_timestamp(stage, packet);
    else if (packet->base.type == TW_ETMV3_CYCLE_COUNT)
        add_cycles(stage, packet->count, packet->base.index);
    else if (packet->base.type == TW_ETMV3_P_HDR && packet->header_cycles)
        add_cycles(stage, packet->header_cycles, packet->base.index);
    else if (packet->base.type == TW_ETMV3_NOT_SYNC)
        tw_stage_unsynced(stage, packet->base.size);
}

static void take_bad(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    static const uint8_t codes[] = { [TW_ETMV3_INCOMPLETE_EOT] = TW_ERROR_TRUNCATED,
                                     [TW_ETMV3_BAD_SEQUENCE] = TW_ERROR_BAD_SEQUENCE,
                                     [TW_ETMV3_BAD_TRACEMODE] = TW_ERROR_RESERVED_CONFIG,
                                     [TW_ETMV3_RESERVED] = TW_ERROR_RESERVED_HEADER };
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const uint8_t code = codes[packet->base.type];

    tw_stage_damage(stage, code, &packet->base, packet->value);
    if (code == TW_ERROR_TRUNCATED)
        return;
    forget(stage);
    if (decoder->sync == TW_ETMV3_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_BAD_PACKET, packet->base.index);
    decoder->sync = TW_ETMV3_SYNC_ASYNC;
}

void tw_etmv3_take(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (decoder->sync == TW_ETMV3_SYNC_START) {
        decoder->sync = TW_ETMV3_SYNC_ASYNC;
        tw_armv7_add_no_sync(stage, decoder->lost_reason, packet->base.index);
    }
    /* A data value waits for one packet: the store may have failed. */
    if (!decoder->has_instruction && packet->base.type != TW_ETMV3_STORE_FAIL)
        decoder->waiting = NULL;
    if (tw_etmv3_type_is_bad(packet->base.type))
        take_bad(stage, packet);
    else if (packet->base.type == TW_ETMV3_I_SYNC || packet->base.type == TW_ETMV3_I_SYNC_CYCLE)
        take_isync(stage, packet);
    else if (decoder->sync == TW_ETMV3_SYNC_DONE)
        take_synced(stage, packet);
    else
        take_unsynced(stage, packet);
}

void tw_etmv3_take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    forget(stage);
    tw_etmv3_reader_lost(&decoder->reader);
    if (decoder->sync == TW_ETMV3_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_RESET, at->index);
    if (decoder->sync != TW_ETMV3_SYNC_START)
        decoder->sync = TW_ETMV3_SYNC_ASYNC;
}
