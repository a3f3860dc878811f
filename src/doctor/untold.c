/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trace unit was not asked to tell: which process ran, and when. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"

/* ---- contexts */

static void find_untold_threads(struct tw_doctor *doctor, const struct tw_perf *perf)
{
    struct tw_finding *finding;
    uint64_t told = 0, missing = 0;

    for (size_t i = 0; i < doctor->patient_count; i++) {
        told += doctor->patients[i].parts - doctor->patients[i].unattributed;
        missing += doctor->patients[i].missing - doctor->patients[i].kernel_missing;
    }
    if (told || !tw_perf_block(perf, 0) || tw_perf_block(perf, 0)->cpu == TW_NONE)
        return;
    if (missing) { /* heavier than the images, which no one can look up */
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "no-context", 75);
        finding->count = missing;
        finding->text = "the trace names no context IDs: which process ran is not known, and "
                        "with it none of the programs' code";
    } else if (doctor->patient_count > 1) {
        finding = tw_doctor_find(doctor, TW_FINDING_WARNING, "no-context", 6);
        finding->text =
            "the trace names no context IDs: threads of one CPU cannot be told apart";
    } else {
        return;
    }
    finding->remedy = "record with contextid: perf record -e cs_etm/contextid/, kernel "
                      "with CONFIG_PID_IN_CONTEXTIDR; or one thread with --per-thread";
}

bool tw_doctor_has_processes(const struct tw_patient *patient)
{
    enum { PROGRAM = 1 << 0, KERNEL = 1 << 1 };
    const struct tw_patient_contexts *contexts = &patient->contexts;

    if (contexts->is_m)
        return false;
    if (contexts->levels)
        return (contexts->levels & PROGRAM) && (contexts->levels & KERNEL);
    /* PTM and ETMv3 tell no level: there is code on both sides of where Linux divides addresses. */
    return patient->exceptions && patient->low_code && patient->kernel_code;
}

/* How a unit is told to name contexts. */
static const struct {
    const char *protocol, *words;
} context_settings[] = {
    { "etmv4", "TRCCONFIGR.CID (bit 6)" },
    { "ete", "TRCCONFIGR.CID (bit 6)" },
    { "ptm", "ETMCR.ContextIDSize (bits 15:14)" },
    { "etmv3", "ETMCR.ContextIDSize (bits 15:14)" },
    { "etrace", "nocontext_p=0, with scontext written by the kernel" },
    { "ntrace", "trTeContext, with scontext written by the kernel" },
};

static const char *words_of(const struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const char *protocol = tw_capture_source(doctor->capture, patient->source)->protocol;

    for (size_t i = 0; protocol && i < TW_LENGTH(context_settings); i++)
        if (strcmp(context_settings[i].protocol, protocol) == 0)
            return context_settings[i].words;
    return "the trace unit's context IDs";
}

static void find_untold_contexts(struct tw_doctor *doctor)
{
    const struct tw_patient *first = NULL;
    struct tw_finding *finding;
    uint64_t count = 0;

    for (size_t i = 0; i < doctor->patient_count; i++) {
        const struct tw_patient *patient = &doctor->patients[i];

        if (patient->is_left_out || patient->contexts.is_named ||
            !tw_doctor_has_processes(patient))
            continue;
        first = first ? first : patient;
        count++;
    }
    if (!first)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "no-context", 6);
    finding->count = count;
    /* Context IDs that are all 0 come from a kernel that does not write them. */
    finding->text = tw_doctor_text(
        doctor, "source %s: a kernel and programs ran, and %s: processes cannot be told apart",
        tw_doctor_name(doctor, first),
        first->contexts.has_id ? "all context IDs are 0" : "the trace names no context IDs");
    finding->remedy =
        first->contexts.has_id
            ? "build the kernel with CONFIG_PID_IN_CONTEXTIDR (RISC-V: write scontext)"
            : tw_doctor_text(doctor,
                             "let the trace unit tell them: %s; and build the kernel with "
                             "CONFIG_PID_IN_CONTEXTIDR",
                             words_of(doctor, first));
}

/* ---- times */

static const char *time_remedy(const struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const char *protocol = tw_capture_source(doctor->capture, patient->source)->protocol;

    if (tw_capture_perf(doctor->capture))
        return "record with timestamps: perf record -e cs_etm/timestamp/";
    if (!protocol)
        return "switch the trace unit's timestamps on";
    if (strcmp(protocol, "etmv4") == 0 || strcmp(protocol, "ete") == 0)
        return "switch timestamps on: TRCCONFIGR.TS (bit 11), how often: TRCTSCTLR; and the "
               "system's timestamp generator";
    if (strcmp(protocol, "ptm") == 0 || strcmp(protocol, "etmv3") == 0)
        return "switch timestamps on: ETMCR bit 28; and the system's timestamp generator";
    if (strcmp(protocol, "etrace") == 0)
        return "an encoder with time in its packets (notime_p=0); or switch trTsControl on";
    return "switch timestamps on: trTsControl.trTsActive and trTsEnable";
}

static bool is_flow(const struct tw_patient *patient)
{
    return !patient->is_left_out && patient->ranges + patient->missing > 0;
}

/* A counter that does not run gives one time for all. */
static void find_still_times(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_patient_times *times = &patient->times;
    struct tw_finding *finding;

    if (times->count < 4 || times->least != times->most)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_WARNING, "no-timestamps", 4);
    finding->count = times->count;
    finding->text = tw_doctor_text(doctor,
                                   "source %s: all %" PRIu64 " timestamps are 0x%" PRIx64
                                   ": the counter that they come from does not run",
                                   tw_doctor_name(doctor, patient), times->count, times->least);
    finding->remedy = "switch the timestamp generator on before the trace units (its CNTCR), "
                      "and look whether its output reaches them";
}

static void find_untold_times(struct tw_doctor *doctor)
{
    const struct tw_patient *first = NULL;
    uint64_t timed = 0, counted = 0, untimed = 0;
    struct tw_finding *finding;

    for (size_t i = 0; i < doctor->patient_count; i++) {
        const struct tw_patient *patient = &doctor->patients[i];

        if (!is_flow(patient))
            continue;
        find_still_times(doctor, patient);
        timed += patient->times.count > 0;
        counted += patient->rate.ticks > 0;
        untimed += !patient->times.count;
        first = first || patient->times.count ? first : patient;
    }
    /* With one source, cycle counts tell how long things took. */
    if (!first || (untimed == 1 && !timed && counted))
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "no-timestamps",
                             timed         ? 2
                             : untimed > 1 ? 1
                                           : 0);
    finding->count = untimed;
    finding->text =
        timed         ? tw_doctor_text(doctor,
                                       "source %s has no timestamps, and others have: what ran at the "
                                               "same time as it is not known",
                                       tw_doctor_name(doctor, first))
        : untimed > 1 ? "the trace has no timestamps: what ran at the same time on two CPUs is "
                        "not known"
                      : "the trace has no timestamps: when things ran, and how long they took, "
                        "is not known";
    finding->remedy = time_remedy(doctor, first);
}

void tw_doctor_judge_untold(struct tw_doctor *doctor)
{
    const struct tw_perf *perf = tw_capture_perf(doctor->capture);

    if (perf)
        find_untold_threads(doctor, perf);
    else
        find_untold_contexts(doctor);
    find_untold_times(doctor);
}
