/* SPDX-License-Identifier: BSD-2-Clause */
/* From what was counted to what is wrong, why, and what to do. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"

#include "base/percent.h"

void tw_doctor_at(struct tw_finding *finding, uint64_t count, uint64_t offset)
{
    finding->count = count;
    finding->has_offset = true;
    finding->offset = offset;
}

const char *tw_doctor_name(const struct tw_doctor *doctor, const struct tw_patient *patient)
{
    return tw_capture_source(doctor->capture, patient->source)->name;
}

static void judge_empty(struct tw_doctor *doctor)
{
    struct tw_finding *finding;

    if (doctor->total)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "empty", 100);
    finding->text = "the capture holds no trace bytes";
    finding->remedy =
        "look whether tracing was switched on, and whether the sink was read after it was "
        "stopped and flushed";
}

static void judge_sources(struct tw_doctor *doctor)
{
    bool is_any = false;

    for (size_t i = 0; i < doctor->patient_count; i++)
        is_any = is_any || !doctor->patients[i].is_left_out;
    if (!doctor->patient_count && doctor->total) {
        struct tw_finding *finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "no-source", 90);

        finding->text = "nothing says which trace source made these bytes";
        finding->remedy =
            "\"trackway identify\" tries to find out; --protocol or --source say it";
    }
    for (size_t i = 0; i < doctor->patient_count; i++) {
        const struct tw_patient *patient = &doctor->patients[i];
        struct tw_finding *finding;

        if (!patient->is_left_out)
            continue;
        finding = tw_doctor_find(
            doctor, is_any ? TW_FINDING_ERROR : TW_FINDING_FATAL,
            strstr(patient->why, "missing") ? "missing-registers" : "source-left-out", 95);
        finding->count = 1;
        finding->text = tw_doctor_text(doctor, "source %s is not decoded: %s",
                                       tw_doctor_name(doctor, patient), patient->why);
        finding->remedy =
            "add the registers that a debugger reads from the trace unit to its description, "
            "or "
            "give them with --config; \"trackway identify\" finds values that fit";
    }
}

static void judge_sync(struct tw_doctor *doctor, struct tw_patient *patient)
{
    struct tw_finding *finding;
    const double share =
        patient->bytes ? (double)patient->unsynced / (double)patient->bytes : 0;
    bool is_any = false; /* some source was decoded */

    if (!patient->bytes || !patient->unsynced)
        return;
    for (size_t i = 0; i < doctor->patient_count; i++)
        is_any = is_any || doctor->patients[i].elements;
    if (patient->unsynced >= patient->bytes) {
        /* A few bytes may be another's, whose ID was damaged. */
        finding = tw_doctor_find(
            doctor, patient->bytes * 20 > doctor->total ? TW_FINDING_FATAL : TW_FINDING_WARNING,
            "no-sync", 50);
        finding->text = tw_doctor_text(
            doctor, "source %s: no synchronization in any of its %" PRIu64 " bytes",
            tw_doctor_name(doctor, patient), patient->bytes);
        finding->remedy =
            "the sync period is longer than the buffer (make it shorter: TRCSYNCPR, "
            "ETMSYNCFR), or "
            "the bytes are no trace of this protocol (\"trackway identify\" tells)";
    } else {
        finding = tw_doctor_find(doctor, share > 0.25 ? TW_FINDING_WARNING : TW_FINDING_NOTE,
                                 share > 0.25 ? "sync-period" : "unsynced-head", 10 * share);
        finding->text =
            tw_doctor_text(doctor,
                           "source %s: %" PRIu64 " of %" PRIu64
                           " bytes (%s %%) lie before a synchronization and are not decoded",
                           tw_doctor_name(doctor, patient), patient->unsynced, patient->bytes,
                           tw_percent(share, 1, 1).text);
        finding->remedy =
            share > 0.25
                ? "the sync period is too long for this buffer: make it shorter (TRCSYNCPR, "
                  "ETMSYNCFR), or the buffer larger"
                : "nothing: a ring buffer begins in the middle of trace";
    }
    tw_doctor_at(finding, patient->unsynced, 0);
}

/* A frame of four syncs: a sink was stopped there, and started again. */
static uint64_t barriers_of(const struct tw_doctor *doctor, size_t buffer)
{
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    const uint8_t *bytes;
    uint64_t offset = 0, count = 0;
    size_t size;

    if (tw_capture_buffer(doctor->capture, buffer)->framing != TW_FRAMING_MEMORY)
        return 0;
    while (tw_capture_read(doctor->capture, &bytes, &size, buffer, offset) == TW_OK && size) {
        for (size_t i = (size_t)(-offset & 15); i + 16 <= size; i += 16)
            count += memcmp(bytes + i, barrier, sizeof barrier) == 0;
        offset += size;
    }
    return count;
}

/* Packets that fit no rule, and the offset of the first. */
uint64_t tw_doctor_damage(const struct tw_patient *patient, uint64_t *first)
{
    static const uint8_t codes[] = { TW_ERROR_RESERVED_HEADER, TW_ERROR_RESERVED_CONFIG,
                                     TW_ERROR_BAD_SEQUENCE, TW_ERROR_COMMIT };
    uint64_t count = 0;

    *first = UINT64_MAX;
    for (size_t i = 0; i < TW_LENGTH(codes); i++)
        if (patient->errors[codes[i]]) {
            count += patient->errors[codes[i]];
            if (patient->first_error[codes[i]] < *first)
                *first = patient->first_error[codes[i]];
        }
    return count;
}

static void judge_gaps(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    struct tw_finding *finding;
    uint64_t barriers = 0;

    if (!patient->gaps)
        return;
    for (size_t i = 0; i < tw_capture_buffer_count(doctor->capture); i++)
        barriers += barriers_of(doctor, i);
    /* Where a barrier stands, the trace unit was told: it begins anew, with all that it needs. */
    if (patient->gaps <= barriers) {
        finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "barrier", 1);
        finding->text = tw_doctor_text(
            doctor,
            "source %s: barrier frames at %" PRIu64 " places, the first at offset 0x%" PRIx64
            ": the sink was stopped there",
            tw_doctor_name(doctor, patient), patient->gaps, patient->first_gap);
        finding->remedy = "nothing: the trace begins anew behind each; what ran between was "
                          "not traced";
    } else {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "gap", 25);
        finding->text =
            tw_doctor_text(doctor,
                           "source %s: bytes are missing at %" PRIu64
                           " places, the first at offset 0x%" PRIx64,
                           tw_doctor_name(doctor, patient), patient->gaps, patient->first_gap);
        finding->remedy = "frames were damaged or a buffer was cut: read the sink without "
                          "stopping it in between";
    }
    tw_doctor_at(finding, patient->gaps, patient->first_gap);
}

static void judge_damage(struct tw_doctor *doctor, struct tw_patient *patient)
{
    struct tw_finding *finding;
    uint64_t first;
    const uint64_t count = tw_doctor_damage(patient, &first);

    if (count) {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "damaged-trace", 30);
        finding->text = tw_doctor_text(doctor,
                                       "source %s: %" PRIu64
                                       " packets fit no rule, the first at offset 0x%" PRIx64,
                                       tw_doctor_name(doctor, patient), count, first);
        finding->remedy =
            "bytes were changed or lost between the trace unit and the file: check the port's "
            "clock and width, how the sink was read, and that the file was not edited";
        tw_doctor_at(finding, count, first);
    }
    judge_gaps(doctor, patient);
    if (patient->errors[TW_ERROR_TRUNCATED]) {
        finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "cut-end", 1);
        finding->text = tw_doctor_text(doctor, "source %s: the trace ends inside a packet",
                                       tw_doctor_name(doctor, patient));
        finding->remedy = "flush the trace unit and the formatter before the sink is read";
        tw_doctor_at(finding, 1, patient->first_error[TW_ERROR_TRUNCATED]);
    }
}

static void judge_perf(struct tw_doctor *doctor)
{
    const struct tw_perf *perf = tw_capture_perf(doctor->capture);
    struct tw_finding *finding;
    uint64_t truncated = 0;
    enum { LOST = 2 };

    if (!perf)
        return;
    for (size_t i = 0; i < tw_perf_loss_count(perf); i++)
        truncated +=
            (tw_perf_loss(perf, i)->flags & (TW_PERF_TRUNCATED | TW_PERF_PARTIAL)) != 0;
    if (truncated) {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "aux-truncated", 40);
        finding->text = tw_doctor_text(
            doctor, "%" PRIu64 " blocks of trace were cut because the AUX buffer was full",
            truncated);
        finding->remedy = "a larger AUX buffer: perf record -m ,64M";
        tw_doctor_at(finding, truncated, tw_perf_loss(perf, 0)->record);
    }
    if (!tw_perf_mapping_count(perf)) {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "no-mmap", 80);
        finding->text = "the file has no mmap records: no one knows which program lies where";
        finding->remedy = "record again without --no-buildid-mmap and with the program started "
                          "by perf, or as root";
    }
    if (tw_perf_record_count(perf, LOST)) {
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "lost-records", 45);
        finding->count = tw_perf_record_count(perf, LOST);
        finding->text = tw_doctor_text(
            doctor, "%" PRIu64 " times perf lost records: mappings and threads may be missing",
            finding->count);
        finding->remedy = "a larger buffer for records: perf record -m 4M";
    }
}

/* Heaviest first; those of one weight stay as they came. */
static void order(struct tw_doctor *doctor)
{
    for (size_t i = 1; i < doctor->finding_count; i++)
        for (size_t k = i; k > 0; k--) {
            const struct tw_finding *a = &doctor->findings[k - 1], *b = &doctor->findings[k];
            const struct tw_finding one = *a;
            const double weight = doctor->weights[k - 1];

            if (a->severity > b->severity ||
                (a->severity == b->severity && doctor->weights[k - 1] >= doctor->weights[k]))
                break;
            doctor->findings[k - 1] = doctor->findings[k];
            doctor->findings[k] = one;
            doctor->weights[k - 1] = doctor->weights[k];
            doctor->weights[k] = weight;
        }
}

static void summarize(struct tw_doctor *doctor)
{
    uint64_t instructions = 0, severe = 0, warnings = 0;

    for (size_t i = 0; i < doctor->patient_count; i++)
        instructions += doctor->patients[i].instructions;
    for (size_t i = 0; i < doctor->finding_count; i++) {
        severe += doctor->findings[i].severity >= TW_FINDING_ERROR;
        warnings += doctor->findings[i].severity == TW_FINDING_WARNING;
    }
    if (!severe && !warnings)
        doctor->summary = tw_doctor_text(doctor,
                                         "nothing is wrong: %" PRIu64
                                         " bytes of %zu source%s, %" PRIu64 " instructions",
                                         doctor->total, doctor->patient_count,
                                         doctor->patient_count == 1 ? "" : "s", instructions);
    else
        doctor->summary = tw_doctor_text(
            doctor,
            "%s%" PRIu64 " error%s, %" PRIu64 " warning%s; %" PRIu64 " instructions are known",
            severe ? "not whole: " : "whole, but see below: ", severe, severe == 1 ? "" : "s",
            warnings, warnings == 1 ? "" : "s", instructions);
}

void tw_doctor_conclude(struct tw_doctor *doctor)
{
    judge_empty(doctor);
    judge_sources(doctor);
    judge_perf(doctor);
    tw_doctor_judge_programs(doctor);
    for (size_t i = 0; i < doctor->patient_count; i++) {
        struct tw_patient *patient = &doctor->patients[i];

        if (patient->is_left_out)
            continue;
        judge_sync(doctor, patient);
        judge_damage(doctor, patient);
        tw_doctor_judge_overflow(doctor, patient);
        tw_doctor_judge_code(doctor, patient);
        tw_doctor_judge_cores(doctor, patient);
    }
    tw_doctor_judge_faults(doctor);
    tw_doctor_judge_times(doctor);
    tw_doctor_judge_untold(doctor);
    tw_doctor_judge_symbols(doctor);
    tw_doctor_compare(doctor);
    order(doctor);
    summarize(doctor);
}
