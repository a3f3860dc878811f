/* SPDX-License-Identifier: BSD-2-Clause */
/* Times and contexts: of one core they have an order.  Where they have none, two cores share a stream, or
   their clocks have nothing in common. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"

static void count_time(struct tw_patient_times *times, const struct tw_element *element,
                       uint64_t at)
{
    const uint64_t time = element->timestamp;

    if (times->count++ == 0) {
        times->least = times->most = time;
        times->first_at = at;
    } else if (time < times->last && times->backward++ == 0) {
        times->first_back = element->index;
    }
    times->least = time < times->least ? time : times->least;
    times->most = time > times->most ? time : times->most;
    times->last = time;
    times->last_at = at;
}

static void count_context(struct tw_patient_contexts *contexts,
                          const struct tw_element *element)
{
    const bool is_riscv = (element->flags & TW_CONTEXT_HAS_PRIV) != 0;
    const uint8_t level = is_riscv ? element->privilege : element->el;
    /* Only what has more rights than a program can bring another context. */
    const bool is_told = contexts->is_told || level || level != contexts->level;

    contexts->count++;
    contexts->level = level;
    contexts->is_m = contexts->is_m || (element->flags & TW_CONTEXT_M);
    if (element->flags & (TW_CONTEXT_HAS_EL | TW_CONTEXT_HAS_PRIV))
        contexts->levels |= 1u << level;
    contexts->is_named = contexts->is_named ||
                         ((element->flags & TW_CONTEXT_HAS_CID) && element->context_id) ||
                         ((element->flags & TW_CONTEXT_HAS_VMID) && element->vmid);
    if (!(element->flags & TW_CONTEXT_HAS_CID))
        return;
    if (contexts->has_id && element->context_id != contexts->id) {
        if (!is_told && contexts->before == element->context_id && contexts->sudden++ == 0)
            contexts->first_sudden = element->index;
        contexts->before = contexts->id;
    }
    contexts->id = element->context_id;
    contexts->has_id = true;
    contexts->is_told = false;
}

void tw_doctor_time(struct tw_patient *patient, const struct tw_element *element, uint64_t at)
{
    switch (element->type) {
    case TW_ELEMENT_TIMESTAMP:
        count_time(&patient->times, element, at);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        count_context(&patient->contexts, element);
        break;
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_EXCEPTION_RET:
    case TW_ELEMENT_TRACE_ON:
        patient->contexts.is_told = true;
        break;
    default:
        break;
    }
}

void tw_doctor_judge_cores(struct tw_doctor *doctor, struct tw_patient *patient)
{
    const struct tw_patient_times *times = &patient->times;
    uint64_t first;
    const bool is_torn =
        (times->backward >= 4 && times->backward * 8 >= times->count) ||
        (times->backward >= 8 && times->backward > 2 * tw_doctor_damage(patient, &first));
    struct tw_finding *finding;

    if (is_torn || patient->contexts.sudden >= 4) {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "two-harts", 72);
        finding->text =
            is_torn
                ? tw_doctor_text(doctor,
                                 "source %s: time goes back %" PRIu64 " times in %" PRIu64
                                 " timestamps: two cores or harts are in one stream",
                                 tw_doctor_name(doctor, patient), times->backward, times->count)
                : tw_doctor_text(doctor,
                                 "source %s: %" PRIu64
                                 " times the context changes back and forth between 0x%" PRIx32
                                 " and 0x%" PRIx32
                                 " with nothing between: two cores or harts are in one stream",
                                 tw_doctor_name(doctor, patient), patient->contexts.sudden,
                                 patient->contexts.id, patient->contexts.before);
        finding->remedy =
            "give each trace unit a trace ID (TRCTRACEIDR, ETMTRACEIDR) or source "
            "number (trTeInstSrcID, srcid) of its own; if the stream has source "
            "numbers, say how wide they are: --config src_bits=N";
        tw_doctor_at(finding, is_torn ? times->backward : patient->contexts.sudden,
                     is_torn ? times->first_back : patient->contexts.first_sudden);
    } else if (times->backward) {
        finding = tw_doctor_find(doctor, TW_FINDING_WARNING, "time-backward", 3);
        finding->text = tw_doctor_text(doctor, "source %s: time goes back %" PRIu64 " times",
                                       tw_doctor_name(doctor, patient), times->backward);
        finding->remedy =
            "the buffer may be a ring whose oldest byte is elsewhere: --wrapped-at";
        tw_doctor_at(finding, times->backward, times->first_back);
    }
}

/* When a source was recorded, by the recorder's clock: first and last; false: not known. */
static bool recorded(const struct tw_doctor *doctor, const struct tw_patient *patient,
                     uint64_t *first, uint64_t *last)
{
    const struct tw_perf *perf = tw_capture_perf(doctor->capture);
    bool is_any = false;

    for (uint32_t i = 0; i < tw_capture_buffer_count(doctor->capture); i++) {
        const struct tw_perf_block *block = tw_perf_block(perf, i);

        if (!block || !block->time ||
            !tw_capture_source_is_in(doctor->capture, patient->source, 0, i))
            continue;
        if (!is_any || block->time < *first)
            *first = block->time;
        if (!is_any || block->time > *last)
            *last = block->time;
        is_any = true;
    }
    return is_any;
}

/* Whether both were traced at the same time, whatever their timestamps say. */
static bool is_together(const struct tw_doctor *doctor, const struct tw_patient *a,
                        const struct tw_patient *b)
{
    uint64_t from_a = a->times.first_at, to_a = a->times.last_at;
    uint64_t from_b = b->times.first_at, to_b = b->times.last_at;

    if (tw_capture_perf(doctor->capture)) {
        if (!recorded(doctor, a, &from_a, &to_a) || !recorded(doctor, b, &from_b, &to_b))
            return false;
    } else if (tw_capture_source_buffer(doctor->capture, a->source, 0) !=
               tw_capture_source_buffer(doctor->capture, b->source, 0)) {
        return false;
    }
    return from_a <= to_b && from_b <= to_a;
}

/* How far the times of one are from those of the other; 0: they meet. */
static uint64_t distance(const struct tw_patient_times *a, const struct tw_patient_times *b)
{
    return a->least > b->most   ? a->least - b->most
           : b->least > a->most ? b->least - a->most
                                : 0;
}

static bool is_foreign(const struct tw_doctor *doctor, const struct tw_patient *a,
                       const struct tw_patient *b)
{
    const uint64_t long_a = a->times.most - a->times.least,
                   long_b = b->times.most - b->times.least;
    const uint64_t longer = long_a > long_b ? long_a : long_b;

    if (a->is_left_out || b->is_left_out || a->times.count < 3 || b->times.count < 3)
        return false;
    return distance(&a->times, &b->times) / 8 > longer && is_together(doctor, a, b);
}

void tw_doctor_judge_times(struct tw_doctor *doctor)
{
    for (size_t i = 0; i < doctor->patient_count; i++)
        for (size_t k = i + 1; k < doctor->patient_count; k++) {
            const struct tw_patient *a = &doctor->patients[i], *b = &doctor->patients[k];
            struct tw_finding *finding;

            if (!is_foreign(doctor, a, b))
                continue;
            finding = tw_doctor_find(doctor, TW_FINDING_WARNING, "foreign-clocks", 7);
            finding->text = tw_doctor_text(
                doctor,
                "the timestamps of %s (%" PRIu64 " to %" PRIu64 ") and %s (%" PRIu64
                " to %" PRIu64 ") are of different clocks, though both were traced together: "
                "what ran at the same time is not known",
                tw_doctor_name(doctor, a), a->times.least, a->times.most,
                tw_doctor_name(doctor, b), b->times.least, b->times.most);
            finding->remedy =
                "let one counter feed all trace units (the system's timestamp generator, "
                "running before tracing begins; TRFCR.TS and virtual offsets the same on all "
                "CPUs); until then look at each CPU alone: --cpu, --source";
            return; /* one pair shows it */
        }
}
