/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instruction made which data access (4.4).  Accesses are traced in the order of their instructions, but
   nothing binds the packets of the one to those of the other: whichever is known first waits for the
   other.  Where the two do not fit, or something was lost, accesses are told without an instruction. */
#include "etrace/decode.h"

/* Instructions from an access to the next one, behind the end of the path. */
enum { STEPS = 4096 };
/* Instructions of a range that are looked at one by one.  A packet of a few bytes may tell of a longer one; what it
   accesses is then told without an instruction. */
enum { RANGE_MAX = 16384 };

static struct tw_etrace_waiting *waiting_at(struct tw_etrace_tie *tie, uint32_t n)
{
    return &tie->waiting[(tie->first + n) % TW_ETRACE_WAITING];
}

void tw_etrace_untie(struct tw_etrace_decoder *decoder)
{
    decoder->tie.is_on = false;
    decoder->tie.ready = decoder->tie.count;
    decoder->tie.passed = 0;
}

void tw_etrace_tie_begin(struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_config *config = &decoder->codec.config;

    decoder->tie.passed = 0;
    decoder->tie.is_on = !config->is_data && !config->filters_data;
}

/* The whole address where there is room for it. */
static void set_pc(struct tw_element *element, uint64_t pc)
{
    if (pc >> 32 == 0) {
        element->pc = (uint32_t)pc;
        element->flags |= TW_DATA_HAS_PC;
    } else if (element->type == TW_ELEMENT_DATA_ADDR) {
        element->data_value = pc;
        element->flags |= TW_DATA_HAS_PC | TW_DATA_WIDE_PC;
    } else if (!(element->flags & TW_DATA_HAS_ADDRESS)) {
        element->data_address = pc;
        element->flags |= TW_DATA_HAS_PC | TW_DATA_WIDE_PC;
    }
}

static bool is_csr(unsigned access)
{
    return access >= TW_RV_CSR_RW && access <= TW_RV_CSR_RC;
}

/* An instruction's access is one that the trace tells of. */
static bool fits(const struct tw_etrace_passed *passed, const struct tw_etrace_waiting *access)
{
    const struct tw_element *element = &access->elements[0];
    const unsigned kind = element->kind;

    if (is_csr(passed->access))
        return kind >= TW_DATA_CSR_RW && kind <= TW_DATA_CSR_RC;
    if (passed->size != access->size)
        return false;
    switch (passed->access) {
    case TW_RV_LOAD:
        return kind == TW_DATA_LOAD;
    case TW_RV_STORE:
        return kind == TW_DATA_STORE;
    case TW_RV_STORE_CONDITIONAL:
        return kind == TW_DATA_STORE || kind == TW_DATA_SC_FAIL;
    default:
        return kind == (unsigned)TW_DATA_SWAP + passed->access - TW_RV_SWAP;
    }
}

/* Not every encoder traces CSRs and atomics. */
static bool is_optional(const struct tw_etrace_passed *passed)
{
    return passed->access != TW_RV_LOAD && passed->access != TW_RV_STORE;
}

static void match(struct tw_etrace_decoder *decoder)
{
    struct tw_etrace_tie *tie = &decoder->tie;

    while (tie->passed && tie->ready < tie->count) {
        const struct tw_etrace_passed *passed = &tie->pcs[tie->passed_first];
        struct tw_etrace_waiting *access = waiting_at(tie, tie->ready);
        const bool is_it = fits(passed, access);

        if (!is_it && !is_optional(passed)) {
            tw_etrace_untie(decoder);
            return;
        }
        if (is_it) {
            for (unsigned i = 0; i < access->count; i++)
                set_pc(&access->elements[i], passed->pc);
            if (access->is_split)
                tie->split[access->lrid % TW_ETRACE_SPLIT] =
                    (struct tw_etrace_split_pc){ access->lrid, true, passed->pc };
            tie->ready++;
        }
        tie->passed_first = (tie->passed_first + 1) % TW_ETRACE_PASSED;
        tie->passed--;
    }
}

static void pass_instruction(struct tw_stage *stage, const struct tw_rv_instruction *about,
                             uint64_t pc)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_tie *tie = &decoder->tie;

    if (about->access == TW_RV_NO_ACCESS)
        return;
    /* How many a vector makes is not known. */
    if (!about->access_count || tie->passed + about->access_count > TW_ETRACE_PASSED) {
        tw_etrace_untie(decoder);
        return;
    }
    for (unsigned i = 0; i < about->access_count; i++)
        tie->pcs[(tie->passed_first + tie->passed++) % TW_ETRACE_PASSED] =
            (struct tw_etrace_passed){ pc, about->access, about->access_size };
    match(decoder);
}

/* The instruction at pc.  False: it is not there. */
static bool look(struct tw_stage *stage, struct tw_rv_instruction *about, uint64_t pc)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    uint32_t opcode;
    uint8_t size;

    if (!tw_code_opcode(stage->follow->blocks, &opcode, &size, pc, decoder->isa))
        return false;
    tw_rv_classify(about, opcode, pc, decoder->isa, &stage->follow->code->config.rv);
    return true;
}

void tw_etrace_tie_range(struct tw_stage *stage, const struct tw_element *range)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;
    const uint64_t end = range->start + range->length;
    struct tw_rv_instruction about;

    if (range->count > RANGE_MAX) {
        tw_etrace_untie(stage->decoder);
        return;
    }
    for (uint64_t pc = range->start; pc < end && decoder->tie.is_on; pc += about.flow.size) {
        if (!look(stage, &about, pc))
            return;
        pass_instruction(stage, &about, pc);
    }
}

/* The path ends, but accesses are left: they are of the instructions that certainly follow.  (A loop without
   branches is left by its first visit to the address that is reported.) */
static void infer(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_rv_instruction about;
    unsigned ready = decoder->tie.ready, steps = 0;
    uint64_t pc;

    if (!tw_etrace_successor(stage, &pc))
        return;
    while (decoder->tie.is_on && decoder->tie.ready < decoder->tie.count && steps++ < STEPS &&
           look(stage, &about, pc)) {
        pass_instruction(stage, &about, pc);
        if (decoder->tie.ready != ready)
            steps = 0;
        ready = decoder->tie.ready;
        if (about.is_branch || about.is_uninferable || about.is_trapping || about.is_table_jump)
            return;
        pc = about.is_inferable ? about.flow.target : pc + about.flow.size;
    }
}

void tw_etrace_tie_end(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    if (decoder->tie.is_on && decoder->state == TW_ETRACE_TRACING)
        infer(stage);
    decoder->tie.ready = decoder->tie.count;
    decoder->tie.passed = 0;
}

bool tw_etrace_tie_drain(struct tw_stage *stage)
{
    struct tw_etrace_tie *tie = &tw_etrace_of(stage)->tie;

    while (tie->ready) {
        const struct tw_etrace_waiting *access = waiting_at(tie, 0);

        if (stage->limit - stage->out < TW_ETRACE_MOST)
            return false;
        for (unsigned i = 0; i < access->count; i++)
            *stage->out++ = access->elements[i];
        tie->first = (tie->first + 1) % TW_ETRACE_WAITING;
        tie->count--;
        tie->ready--;
    }
    return true;
}

void tw_etrace_tie_access(struct tw_stage *stage, const struct tw_etrace_waiting *access)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_tie *tie = &decoder->tie;

    if (!tie->is_on) {
        for (unsigned i = 0; i < access->count; i++)
            *stage->out++ = access->elements[i];
        return;
    }
    if (access->is_response) { /* of a split load: whose address came before it */
        struct tw_etrace_waiting *out = waiting_at(tie, tie->count);
        const struct tw_etrace_split_pc *of = &tie->split[access->lrid % TW_ETRACE_SPLIT];

        if (tie->count == 0 || tie->ready == tie->count) {
            *out = *access;
            for (unsigned i = 0; of->is_there && of->lrid == access->lrid && i < out->count;
                 i++)
                set_pc(&out->elements[i], of->pc);
            tie->count++;
            tie->ready++;
            return;
        }
        for (unsigned i = 0; i < access->count; i++)
            *stage->out++ = access->elements[i];
        return;
    }
    *waiting_at(tie, tie->count++) = *access;
    match(decoder);
    if (tie->count == TW_ETRACE_WAITING)
        tw_etrace_untie(decoder);
}

void tw_etrace_tie_state(struct tw_etrace_tie *tie, struct tw_state *state)
{
    TW_STATE(state, tie->is_on);
    TW_STATE(state, tie->count);
    TW_STATE(state, tie->ready);
    TW_STATE(state, tie->passed);
    if (state->loads) {
        tie->first = tie->passed_first = 0;
        if (tie->count > TW_ETRACE_WAITING || tie->ready > tie->count ||
            tie->passed > TW_ETRACE_PASSED)
            tie->count = tie->ready = tie->passed = 0;
    }
    for (uint32_t i = 0; i < tie->count; i++)
        TW_STATE(state, *waiting_at(tie, i));
    for (uint32_t i = 0; i < tie->passed; i++)
        TW_STATE(state, tie->pcs[(tie->passed_first + i) % TW_ETRACE_PASSED]);
    TW_STATE(state, tie->split);
}
