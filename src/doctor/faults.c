/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions that hint at a fault of the program.  On the M profile a fault is one.  Elsewhere most aborts and
   traps are the system's daily work: a page is brought in, an instruction done by software, and the program
   goes on where it was.  So they count only when it does not: when it goes on elsewhere (a signal), when
   nothing comes back from them, or when they are taken again and again on the same spot. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/exceptions.h"
#include "doctor/doctor.h"

enum {
    AGAIN_LEAST = 8,        /* times on one spot: no instruction touches so many pages */
    SILENCE_LEAST = 100000, /* instructions, where a program may wait for a page */
    INSTRUCTION_MOST = 4    /* bytes: an instruction that was done by software is passed over */
};

enum fault_kind { NO_FAULT, SURE, SUSPECT };

static enum fault_kind kind_of(const struct tw_element *exception)
{
    const uint32_t number = exception->number;

    if (exception->flags & TW_EXCEPTION_RISCV) /* not breakpoints and calls of the system */
        return !(exception->flags & TW_EXCEPTION_INTERRUPT) &&
                       ((number <= 7 && number != 3) || number == 12 || number == 13 ||
                        number == 15)
                   ? SUSPECT
                   : NO_FAULT;
    switch (exception->kind) {
    case TW_NUMBERS_ARMV8_M:
    case TW_NUMBERS_ARMV7_M:
        return exception->architectural >= 3 && exception->architectural <= 7 ? SURE : NO_FAULT;
    case TW_NUMBERS_ARMV8: /* system error; trap, alignment, instruction and data fault */
        return number == 4                                                   ? SURE
               : number == 3 || number == 10 || number == 11 || number == 12 ? SUSPECT
                                                                             : NO_FAULT;
    case TW_NUMBERS_ARMV7: /* asynchronous abort; undefined, prefetch and data abort */
        return number == 4                                   ? SURE
               : number == 9 || number == 11 || number == 12 ? SUSPECT
                                                             : NO_FAULT;
    default:
        return NO_FAULT;
    }
}

/* ---- while the trace is read */

/* Who executes: a thread, or a context; TW_NONE: not known. */
static uint32_t who_of(const struct tw_part *part)
{
    if (part->who.tid != TW_NONE)
        return part->who.tid;
    return part->who.known & TW_WHO_CONTEXT && part->who.context_id ? part->who.context_id
                                                                    : TW_NONE;
}

static uint8_t level_of(const struct tw_part *part)
{
    return part->who.known & TW_WHO_LEVEL ? part->who.level : TW_LEVEL_UNKNOWN;
}

static void forget(struct tw_doctor *doctor, size_t number)
{
    doctor->abort_count--;
    for (size_t i = number; i < doctor->abort_count; i++)
        doctor->aborts[i] = doctor->aborts[i + 1];
}

static void suspect(struct tw_doctor *doctor, const struct tw_patient *patient,
                    const struct tw_part *part, const struct tw_element *exception)
{
    const struct tw_abort made = { .source = patient->source,
                                   .who = who_of(part),
                                   .level = level_of(part),
                                   .number = exception->number,
                                   .address = exception->return_address,
                                   .offset = exception->index,
                                   .since = patient->instructions,
                                   .times = 1 };

    if (!(exception->flags & TW_EXCEPTION_HAS_RETURN))
        return;
    for (size_t i = 0; i < doctor->abort_count; i++) {
        struct tw_abort *known = &doctor->aborts[i];

        if (known->address != made.address || known->who != made.who ||
            known->source != made.source || known->is_elsewhere)
            continue;
        known->times++;
        known->offset = made.offset;
        known->since = made.since;
        return;
    }
    if (doctor->abort_count == TW_ABORTS_KEPT)
        forget(doctor, 0);
    doctor->aborts[doctor->abort_count++] = made;
}

/* A program executes at this address, or would, if its code were there. */
static void resume(struct tw_doctor *doctor, const struct tw_part *part, uint64_t address)
{
    const uint32_t who = who_of(part);
    const uint8_t level = level_of(part);

    for (size_t i = doctor->abort_count; i-- > 0;) {
        struct tw_abort *known = &doctor->aborts[i];

        if (known->who != who)
            continue;
        if (address - known->address <= INSTRUCTION_MOST)
            forget(doctor, i);
        else if (who != TW_NONE && level == 0 && known->level == 0)
            known->is_elsewhere = true;
    }
}

static void forget_source(struct tw_doctor *doctor, uint32_t source)
{
    for (size_t i = doctor->abort_count; i-- > 0;)
        if (doctor->aborts[i].source == source)
            forget(doctor, i);
}

static void add_fault(struct tw_patient *patient, const struct tw_abort *found, const char *why)
{
    struct tw_patient_faults *faults = &patient->faults;

    if (faults->count++ == 0 || found->offset < faults->first_at)
        faults->first_at = found->offset;
    if (faults->count == 1 || found->offset >= faults->last.offset) {
        faults->last = *found;
        faults->why = why;
    }
}

void tw_doctor_exception(struct tw_doctor *doctor, struct tw_patient *patient,
                         const struct tw_part *part, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        switch (kind_of(element)) {
        case SURE:
            add_fault(patient,
                      &(struct tw_abort){ .number = element->number,
                                          .address = element->return_address,
                                          .has_no_address =
                                              !(element->flags & TW_EXCEPTION_HAS_RETURN),
                                          .offset = element->index },
                      "");
            break;
        case SUSPECT:
            suspect(doctor, patient, part, element);
            break;
        default:
            break;
        }
        break;
    case TW_ELEMENT_INSTR_RANGE:
        if (doctor->abort_count)
            resume(doctor, part, element->start);
        break;
    case TW_ELEMENT_ADDR_NACC:
        resume(doctor, part, element->address);
        break;
    case TW_ELEMENT_NO_SYNC: /* what was lost may have been the way back */
        forget_source(doctor, patient->source);
        break;
    default:
        break;
    }
}

/* ---- at the end */

/* Programs run under a system here, so that one may have to wait for a page. */
static bool has_system(const struct tw_doctor *doctor)
{
    for (size_t i = 0; i < doctor->patient_count; i++)
        if (tw_doctor_has_processes(&doctor->patients[i]))
            return true;
    return tw_capture_perf(doctor->capture) != NULL;
}

static const char *why_suspect(struct tw_doctor *doctor, const struct tw_patient *patient,
                               const struct tw_abort *found)
{
    const uint64_t after = patient->instructions - found->since;

    if (found->times >= AGAIN_LEAST)
        return tw_doctor_text(doctor,
                              ", taken %" PRIu64 " times on this spot without a step forward",
                              found->times);
    if (found->is_elsewhere)
        return ": the program went on elsewhere, not where it was (a signal?)";
    if (after >= (has_system(doctor) ? SILENCE_LEAST : 1))
        return tw_doctor_text(
            doctor, ": nothing goes on there in the %" PRIu64 " instructions that follow",
            after);
    return NULL;
}

static void settle_aborts(struct tw_doctor *doctor)
{
    for (size_t i = 0; i < doctor->abort_count; i++) {
        const struct tw_abort *found = &doctor->aborts[i];

        for (size_t k = 0; k < doctor->patient_count; k++) {
            struct tw_patient *patient = &doctor->patients[k];
            const char *why =
                patient->source == found->source ? why_suspect(doctor, patient, found) : NULL;

            if (why)
                add_fault(patient, found, why);
        }
    }
}

static void judge(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_patient_faults *faults = &patient->faults;
    const struct tw_source *source = tw_capture_source(doctor->capture, patient->source);
    const enum tw_exception_form form = tw_exception_form(
        source, doctor->how.core_type ? doctor->how.core_type : source->core_type);
    struct tw_finding *finding;
    char name[64], place[40] = "";

    tw_exception_name(
        name, sizeof name, form,
        tw_exception_number(form, &(struct tw_element){ .number = faults->last.number }));
    if (!faults->last.has_no_address)
        (void)snprintf(place, sizeof place, " at 0x%" PRIx64, faults->last.address);
    finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "faults", 5);
    finding->text = tw_doctor_text(
        doctor,
        "source %s: %" PRIu64
        " exception%s of a kind that hints at a fault of the program; the "
        "last is %s%s (offset 0x%" PRIx64 ")%s",
        tw_doctor_name(doctor, patient), faults->count, faults->count == 1 ? "" : "s", name,
        place, faults->last.offset, faults->why);
    finding->remedy = tw_doctor_text(doctor,
                                     "\"trackway calls CAPTURE --before 0x%" PRIx64
                                     "\" shows how the program came there",
                                     faults->last.offset + 1); /* behind what ran before it */
    tw_doctor_at(finding, faults->count, faults->first_at);
}

void tw_doctor_judge_faults(struct tw_doctor *doctor)
{
    settle_aborts(doctor);
    for (size_t i = 0; i < doctor->patient_count; i++)
        if (doctor->patients[i].faults.count)
            judge(doctor, &doctor->patients[i]);
}
