/* SPDX-License-Identifier: BSD-2-Clause */
/* How many instructions an overflow lost at least: the shortest way through the code from where the trace
   broke off to where it goes on.  Direct branches lead to their targets; what a register holds may lead
   anywhere; a return leads behind a call.  An exception may cut any way short, so none is looked for. */
#include <inttypes.h>
#include <string.h>

#include <trackway/instruction.h>

#include "base/core.h"
#include "base/memory.h"
#include "doctor/doctor.h"

enum {
    STEPS_MOST = 1024,    /* instructions that one search looks at */
    SLOTS = 4096,         /* of the table of those that were seen: a power of two */
    SEARCHED_MOST = 4096, /* overflows that are looked at */
    ANYWHERE = STEPS_MOST + 1
};

/* A place in the code, and how many instructions lead there. */
struct lost_step {
    uint64_t address;
    uint32_t distance;
    uint8_t isa;
};

struct tw_lost_search {
    struct tw_image *image;
    const struct tw_view *view;
    uint8_t profile;
    uint64_t goal;
    bool is_behind_call; /* the goal is */
    struct lost_step steps[STEPS_MOST];
    size_t count;
    uint16_t seen[SLOTS]; /* numbers of steps, from 1 */
    uint32_t best;
};

static bool classify(const struct tw_lost_search *search, uint64_t address, uint8_t isa,
                     struct tw_instruction_answer *answer)
{
    uint8_t bytes[4];
    struct tw_instruction_query query = { .size = sizeof query,
                                          .address = address,
                                          .bytes = bytes,
                                          .isa = isa,
                                          .profile = search->profile };

    *answer = (struct tw_instruction_answer){ .size = sizeof *answer };
    query.count =
        search->image ? tw_image_read(search->image, bytes, search->view, address, 4) : 0;
    return query.count && tw_instruction_classify(answer, &query) == TW_OK && answer->info.size;
}

static void add_step(struct tw_lost_search *search, uint64_t address, uint8_t isa,
                     uint32_t distance)
{
    size_t slot = (size_t)((address * 0x9e3779b97f4a7c15u) >> 52) % SLOTS;

    if (address == search->goal) {
        search->best = distance < search->best ? distance : search->best;
        return;
    }
    for (; search->seen[slot]; slot = (slot + 1) % SLOTS)
        if (search->steps[search->seen[slot] - 1].address == address)
            return;
    if (search->count == STEPS_MOST)
        return;
    search->steps[search->count] = (struct lost_step){ address, distance, isa };
    search->seen[slot] = (uint16_t)++search->count;
}

/* Where an instruction leads when it was executed: `taken` and `passed` say how it may have gone. */
static void leave(struct tw_lost_search *search, const struct lost_step *from,
                  const struct tw_instruction_answer *is, bool taken, bool passed)
{
    const struct tw_instruction_info *info = &is->info;
    const uint32_t distance = from->distance;

    if (passed)
        add_step(search, from->address + info->size, from->isa, distance);
    if (!taken)
        return;
    if (info->kind == TW_LAST_BR) {
        add_step(search, info->target, is->target_isa, distance);
    } else {
        /* A return ends behind a call; from there to somewhere else there is at least one. */
        const uint32_t more = info->is_return && !search->is_behind_call ? 1 : 0;

        if (distance + more < search->best)
            search->best = distance + more;
    }
}

static bool is_branch(const struct tw_instruction_info *info)
{
    return info->kind == TW_LAST_BR || info->kind == TW_LAST_IBR;
}

/* Whether a call may stand right before an address. */
static bool is_behind_call(const struct tw_lost_search *search, uint64_t address, uint8_t isa)
{
    struct tw_instruction_answer is;

    for (unsigned back = 2; back <= 4; back += 2)
        if (classify(search, address - back, isa, &is) && is.info.size == back &&
            is.info.is_link)
            return true;
    return false;
}

/* Breadth first: no way that is not yet looked at is shorter than the one that is. */
static uint32_t shortest(struct tw_lost_search *search)
{
    size_t i;

    for (i = 0; i < search->count && search->steps[i].distance < search->best; i++) {
        struct lost_step step = search->steps[i];
        struct tw_instruction_answer is;

        if (search->count + 2 > STEPS_MOST)
            return step.distance;
        step.distance++;
        if (!classify(search, step.address, step.isa, &is)) {
            /* Nobody knows where it goes on from here. */
            search->best = step.distance - 1;
            continue;
        }
        /* A T32 branch may be in an IT block, which is not known here. */
        leave(search, &step, &is, is_branch(&is.info),
              !is_branch(&is.info) || is.info.is_conditional || step.isa == TW_ISA_T32);
    }
    return search->best < ANYWHERE ? search->best : 0;
}

/* From behind the range that was the last to the range that comes next. */
static uint32_t measure(struct tw_lost_search *search, const struct tw_element *last,
                        const struct tw_element *next)
{
    const uint32_t size = 2u * last->last_size;
    const struct lost_step from = { last->start + last->length - size, 0, last->isa };
    struct tw_instruction_answer is;
    const bool is_taken = (last->flags & TW_RANGE_EXECUTED) != 0;

    search->goal = next->start;
    search->best = ANYWHERE;
    search->is_behind_call = is_behind_call(search, next->start, next->isa);
    if (!size || !classify(search, from.address, from.isa, &is))
        return 0;
    leave(search, &from, &is, is_branch(&is.info) && is_taken,
          !is_branch(&is.info) || !is_taken);
    return shortest(search);
}

static void end_gap(struct tw_doctor *doctor, struct tw_patient *patient,
                    const struct tw_part *part, const struct tw_element *next)
{
    struct tw_patient_lost *lost = &patient->lost;
    struct tw_lost_search *search;
    uint32_t found;

    if (!lost->has_last || lost->searched == SEARCHED_MOST)
        return;
    if (!doctor->search)
        doctor->search = tw_take_raw(doctor->allocator, sizeof *doctor->search);
    search = doctor->search;
    if (!search) {
        doctor->no_memory = true;
        return;
    }
    search->image = part->image;
    search->view = &part->who.view;
    search->profile = (uint8_t)tw_core_profile(part->source->core_type);
    search->count = 0;
    memset(search->seen, 0, sizeof search->seen);
    found = measure(search, &lost->last, next);
    lost->least += found;
    lost->searched++;
    if (found > lost->most) {
        lost->most = found;
        lost->most_after = tw_element_end(&lost->last);
    }
}

bool tw_doctor_lost(struct tw_doctor *doctor, struct tw_patient *patient,
                    const struct tw_part *part, const struct tw_element *element)
{
    struct tw_patient_lost *lost = &patient->lost;
    const bool is_told =
        (element->type == TW_ELEMENT_NO_SYNC && element->reason == TW_REASON_OVERFLOW) ||
        (element->type == TW_ELEMENT_TRACE_ON && element->reason == TW_TRACE_ON_OVERFLOW);
    const bool is_new = is_told && (!lost->is_open || element->type == TW_ELEMENT_NO_SYNC);

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        if (lost->is_open)
            end_gap(doctor, patient, part, element);
        lost->is_open = false;
        lost->has_last = true;
        lost->last = *element;
        break;
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_ERROR:
        lost->is_open = lost->is_open && element->type == TW_ELEMENT_ERROR;
        lost->has_last = false;
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
        lost->has_last = lost->has_last && (is_told || lost->is_open);
        lost->is_open = lost->is_open || is_told;
        break;
    default:
        break;
    }
    return is_new;
}

const char *tw_doctor_lost_text(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_patient_lost *lost = &patient->lost;

    if (!patient->ranges && !patient->missing)
        return "";
    if (!lost->least)
        return "; how many instructions are missing is not known";
    return tw_doctor_text(doctor,
                          "; at least %" PRIu64
                          " instructions are missing, by the shortest ways through the code "
                          "(%" PRIu64 " in the longest, behind 0x%" PRIx64
                          "; fewer only where an exception came between)",
                          lost->least, lost->most, lost->most_after);
}
