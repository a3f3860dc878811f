/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: programs that are not those which ran, code that was made at run time. */
#include <inttypes.h>
#include <string.h>

#include "doctor/doctor.h"

static void judge_builds(struct tw_doctor *doctor, const struct tw_perf *perf)
{
    const struct tw_perf_file *first = NULL;
    struct tw_finding *finding;
    uint64_t count = 0;

    for (size_t i = 0; i < tw_perf_file_count(perf); i++) {
        const struct tw_perf_file *file = tw_perf_file(perf, i);

        if (file->state != TW_PERF_FILE_WRONG)
            continue;
        first = first ? first : file;
        count++;
    }
    if (!first)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "wrong-build", 68);
    finding->count = count;
    finding->text = tw_doctor_text(
        doctor,
        "%" PRIu64 " files are another build, or for another machine, than what ran: %s", count,
        first->name);
    finding->remedy =
        "give the files of the traced machine as they were then: --sysroot DIR, or "
        "the cache that perf keeps by build ID: --build-ids DIR";
}

/* Memory of no file, executable: code that a program made itself. */
static bool is_made_at(const struct tw_perf *perf, uint64_t address)
{
    for (size_t i = 0; i < tw_perf_mapping_count(perf); i++) {
        const struct tw_perf_mapping *mapping = tw_perf_mapping(perf, i);
        const struct tw_perf_file *file =
            mapping->file == TW_NONE ? NULL : tw_perf_file(perf, mapping->file);

        if (!file || address < mapping->address ||
            address - mapping->address >= mapping->length)
            continue;
        if (strncmp(file->name, "//anon", 6) == 0 || strncmp(file->name, "/memfd:", 7) == 0 ||
            strncmp(file->name, "[anon", 5) == 0 || strncmp(file->name, "/dev/zero", 9) == 0)
            return true;
    }
    return false;
}

static void judge_made_code(struct tw_doctor *doctor, const struct tw_perf *perf)
{
    struct tw_finding *finding;
    uint64_t count = 0, first = 0;

    for (size_t i = 0; i < doctor->patient_count; i++) {
        const struct tw_patient *patient = &doctor->patients[i];

        for (size_t k = 0; k < patient->address_count; k++)
            if (is_made_at(perf, patient->addresses[k])) {
                first = count ? first : patient->addresses[k];
                count++;
            }
    }
    if (!count)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "jit-without-map", 67);
    finding->count = count;
    finding->text = tw_doctor_text(
        doctor,
        "the program ran code that it made itself (a JIT), the first at 0x%" PRIx64
        "; no file holds it",
        first);
    finding->remedy =
        "let the JIT write its code (jitdump), record with -k mono and add it: perf "
        "inject --jit; then open what that made";
}

void tw_doctor_judge_symbols(struct tw_doctor *doctor)
{
    const struct tw_object_names *first = NULL;
    struct tw_finding *finding;
    uint64_t count = 0;

    for (size_t i = 0; i < doctor->object_count; i++) {
        const struct tw_object_names *object = &doctor->objects[i];

        if (object->named || !object->unnamed)
            continue;
        first = first ? first : object;
        count++;
    }
    if (!first)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_NOTE, "no-symbols", 4);
    finding->count = count;
    finding->text =
        first->name ? tw_doctor_text(doctor,
                                     "%" PRIu64
                                     " files that ran have no symbols for their code: %s, at "
                                     "0x%" PRIx64,
                                     count, first->name, first->address)
                    : tw_doctor_text(doctor,
                                     "the code at 0x%" PRIx64
                                     " has no symbols: functions and lines are not known",
                                     first->address);
    finding->remedy =
        tw_capture_perf(doctor->capture)
            ? "put the files before they were stripped under --sysroot DIR, or their debug "
              "files (--build-ids DIR); or name the program: --symbols FILE"
            : "give the program with its symbols: --symbols FILE.elf";
}

void tw_doctor_judge_programs(struct tw_doctor *doctor)
{
    const struct tw_perf *perf = tw_capture_perf(doctor->capture);

    if (!perf)
        return;
    judge_builds(doctor, perf);
    judge_made_code(doctor, perf);
}
