/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that is given against the code that ran: not there, elsewhere, in another address space, another
   build, or changed while the program ran. */
#include <inttypes.h>

#include "doctor/doctor.h"

#include "base/percent.h"

enum {
    FITS_LEAST = 24,  /* ranges that show that code fits */
    CHANGES_LEAST = 2 /* contradictions late in the trace that show that it was changed */
};

void tw_doctor_contradiction(struct tw_patient *patient, const struct tw_element *element)
{
    struct tw_patient_spots *spots = &patient->spots;
    const uint64_t address = element->error_detail;
    size_t i = 0;

    if (spots->count++ == 0) {
        spots->first_at = element->index;
        spots->address = address;
        spots->ranges_before = patient->ranges;
    }
    spots->ranges_until = patient->ranges;
    while (i < spots->kept && spots->addresses[i] != address)
        i++;
    if (i < spots->kept)
        return;
    spots->is_many = spots->kept == TW_SPOTS_KEPT;
    if (!spots->is_many) {
        spots->addresses[spots->kept++] = address;
        spots->kernel += (size_t)(address >> 63);
    }
}

/* Spaces in which the image has the code that is missing in the one where it was looked for; 0: none. */
static uint32_t other_spaces(const struct tw_doctor *doctor, const struct tw_patient *patient,
                             uint64_t *address)
{
    const uint32_t number = tw_capture_source(doctor->capture, patient->source)->image;
    const struct tw_image *image =
        number == TW_NONE ? NULL : tw_capture_image(doctor->capture, number);
    uint32_t spaces = 0;

    for (size_t k = 0; image && k < patient->address_count; k++)
        for (size_t i = 0; i < tw_image_region_count(image); i++) {
            const struct tw_region *region = tw_image_region(image, i);
            const uint64_t into = patient->addresses[k] - region->address;

            if (into >= region->length || !region->spaces ||
                (region->spaces & patient->spaces[k]))
                continue;
            if (!spaces)
                *address = patient->addresses[k];
            spaces |= region->spaces;
        }
    return spaces;
}

/* The code is there, but for another Exception level or security state. */
static bool judge_space(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    struct tw_finding *finding;
    uint64_t address = 0;
    const uint32_t spaces = other_spaces(doctor, patient, &address);

    if (!spaces)
        return false;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "wrong-space", 69);
    finding->text =
        tw_doctor_text(doctor,
                       "source %s: the image has the code at 0x%" PRIx64
                       ", but not in the address space in which it ran (spaces 0x%" PRIx32
                       " are given, 0x%" PRIx32 " is wanted)",
                       tw_doctor_name(doctor, patient), address, spaces, patient->spaces[0]);
    finding->remedy = "correct the space of the dump (space= in the snapshot, --image "
                      "FILE,space=S: EL1N, EL2N, EL1S, EL3 ...), or leave it out";
    tw_doctor_at(finding, patient->missing, patient->first_missing);
    return true;
}

/* No image holds the code. */
static void judge_missing(struct tw_doctor *doctor, const struct tw_patient *patient,
                          double missing)
{
    struct tw_finding *finding;

    if (patient->missing) {
        const bool is_all = patient->instructions == 0 || missing > 0.95;
        const bool is_kernel = patient->kernel_missing * 2 > patient->missing;

        finding = tw_doctor_find(doctor,
                                 is_all           ? TW_FINDING_ERROR
                                 : missing > 0.02 ? TW_FINDING_WARNING
                                                  : TW_FINDING_NOTE,
                                 is_kernel ? "missing-kernel"
                                 : is_all  ? "missing-image"
                                           : "missing-code",
                                 is_all ? 65 : 5 + missing);
        finding->text = tw_doctor_text(
            doctor,
            "source %s: %s code at %" PRIu64
            " places (%s %% of the path), the first 0x%" PRIx64,
            tw_doctor_name(doctor, patient),
            is_all ? "no image holds any of the" : "no image holds the", patient->missing,
            tw_percent(missing, 1, 1).text, patient->addresses[0]);
        finding->remedy =
            is_kernel ? "give the kernel: --kernel vmlinux, or kcore of the traced machine"
            : tw_capture_perf(doctor->capture)
                ? "give the traced machine's files: --sysroot DIR, --build-ids DIR; code of a "
                  "JIT needs its map "
                  "(perf inject --jit)"
                : "give the program: --image FILE[@ADDRESS], or a dump in the snapshot";
        tw_doctor_at(finding, patient->missing, patient->first_missing);
    }
}

/* When the code was another one than is given: "" it cannot be told. */
static const char *when_changed(const struct tw_patient *patient)
{
    const struct tw_patient_spots *spots = &patient->spots;
    const uint64_t after = patient->ranges - spots->ranges_until;
    uint64_t first;

    /* Trace of which much could not be placed in the code never fitted it. */
    if (tw_doctor_damage(patient, &first) || patient->errors[TW_ERROR_UNPLACED] > spots->count)
        return "";
    if (after >= FITS_LEAST && after * 2 >= patient->ranges &&
        spots->ranges_before * 10 <= patient->ranges)
        return "at first, and fits later";
    if (spots->count >= CHANGES_LEAST && spots->ranges_before >= FITS_LEAST &&
        spots->ranges_before * 2 >= patient->ranges && after * 10 <= patient->ranges)
        return "later, and fits at first";
    return "";
}

static void judge_contradictions(struct tw_doctor *doctor, const struct tw_patient *patient,
                                 double share)
{
    const struct tw_patient_spots *spots = &patient->spots;
    const char *when = when_changed(patient);
    /* A kernel changes a few of its branches while it runs: alternatives, jump labels, probes. */
    const bool is_kernel = !spots->is_many && spots->kernel == spots->kept;
    const bool is_changed = is_kernel || *when;
    const bool is_atom = patient->errors[TW_ERROR_BAD_ATOM] == spots->count;
    const bool is_wrong =
        !is_kernel && (*when || (is_atom ? share > 0.05 : spots->count > 2 || share > 0.01));
    struct tw_finding *finding;

    finding = tw_doctor_find(doctor, is_wrong ? TW_FINDING_ERROR : TW_FINDING_WARNING,
                             is_changed ? "modified-code" : "wrong-image", 60);
    finding->text = tw_doctor_text(
        doctor,
        "source %s: the trace contradicts the %s %" PRIu64 " times, at %s%zu places%s%s, the "
        "first at offset 0x%" PRIx64 " (code at 0x%" PRIx64 ")%s",
        tw_doctor_name(doctor, patient), is_kernel ? "kernel" : "image", spots->count,
        spots->is_many ? "more than " : "", spots->kept, *when ? ", " : "", when,
        spots->first_at, spots->address, is_changed ? ": code was changed while it ran" : "");
    finding->remedy =
        is_kernel
            ? "a kernel changes its branches when it runs (alternatives, jump labels): take "
              "its code from its memory (perf record --kcore), and give that: --kernel "
              "kcore"
        : is_changed
            ? "dump the code from memory at both times, or let the one who changes it write "
              "what it made (jitdump); until then look only at the part that fits: --from, --to"
            : "give the very build that ran (compare build IDs: file, readelf -n); code that "
              "was changed at run time must be dumped from memory";
    tw_doctor_at(finding, spots->count, spots->first_at);
}

static bool judge_bias(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    struct tw_finding *finding;
    int64_t bias;

    if (!tw_doctor_find_bias(doctor, patient, &bias))
        return false;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "wrong-bias", 70);
    finding->text = tw_doctor_text(
        doctor,
        "source %s: the image does not lie where the program ran; moved by %s0x%" PRIx64
        " it fits the trace",
        tw_doctor_name(doctor, patient), bias < 0 ? "-" : "",
        (uint64_t)(bias < 0 ? -bias : bias));
    finding->remedy = tw_doctor_text(
        doctor,
        "add %s0x%" PRIx64
        " to the image's address: --image FILE@ADDRESS, or its address in the snapshot",
        bias < 0 ? "-" : "", (uint64_t)(bias < 0 ? -bias : bias));
    tw_doctor_at(finding, patient->missing + patient->spots.count,
                 patient->missing ? patient->first_missing : patient->spots.first_at);
    return true;
}

void tw_doctor_judge_code(struct tw_doctor *doctor, struct tw_patient *patient)
{
    const uint64_t seen = patient->ranges + patient->missing + patient->spots.count;
    const double wrong = seen ? (double)patient->spots.count / (double)seen : 0;
    const double missing = seen ? (double)patient->missing / (double)seen : 0;

    if (patient->missing && judge_space(doctor, patient))
        return;
    if (((patient->missing > 3 && missing > 0.3) ||
         (patient->spots.count > 3 && wrong > 0.02)) &&
        judge_bias(doctor, patient))
        return;
    if (patient->spots.count)
        judge_contradictions(doctor, patient, wrong);
    judge_missing(doctor, patient, missing);
}
