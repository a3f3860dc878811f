/* SPDX-License-Identifier: BSD-2-Clause */
/* The handle: findings and their texts. */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

const char *tw_doctor_text(struct tw_doctor *doctor, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int size;

    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    if (size >= 0 &&
        TW_GROW(doctor->allocator, &doctor->texts, &doctor->text_room, doctor->text_count + 1))
        text = tw_take_raw(doctor->allocator, (size_t)size + 1);
    if (!text) {
        doctor->no_memory = true;
        return "";
    }
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)size + 1, format, arguments);
    va_end(arguments);
    doctor->texts[doctor->text_count++] = text;
    return text;
}

struct tw_finding *tw_doctor_find(struct tw_doctor *doctor, enum tw_finding_severity severity,
                                  const char *code, double weight)
{
    static struct tw_finding nowhere; /* nobody reads what is written here */
    struct tw_finding *finding;

    if (!TW_GROW(doctor->allocator, &doctor->findings, &doctor->finding_room,
                 doctor->finding_count + 1) ||
        !TW_GROW(doctor->allocator, &doctor->weights, &doctor->weight_room,
                 doctor->finding_count + 1)) {
        doctor->no_memory = true;
        return &nowhere;
    }
    doctor->weights[doctor->finding_count] = weight;
    finding = &doctor->findings[doctor->finding_count++];
    *finding = (struct tw_finding){
        .severity = (uint8_t)severity, .code = code, .count = 1, .text = "", .remedy = ""
    };
    return finding;
}

/* Whether a buffer that may hold trace of the source reaches into a column. */
static bool is_in_column(const struct tw_doctor *doctor, const struct tw_patient *patient,
                         size_t column)
{
    const size_t count = tw_capture_buffer_count(doctor->capture);

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = doctor->starts[i];
        const uint64_t to = i + 1 < count ? doctor->starts[i + 1] : doctor->total;

        if (from * TW_STRIP_COLUMNS < doctor->total * (column + 1) &&
            to * TW_STRIP_COLUMNS > doctor->total * column &&
            tw_capture_source_is_in(doctor->capture, patient->source, 0, i))
            return true;
    }
    return false;
}

static void make_strips(struct tw_doctor *doctor)
{
    for (size_t i = 0; i < doctor->patient_count; i++) {
        struct tw_patient *patient = &doctor->patients[i];
        uint8_t last = TW_STRIP_NOTHING;

        if (patient->is_left_out)
            continue;
        /* Long packets and ranges leave stretches without an element of their own. */
        for (size_t k = 0; k < TW_STRIP_COLUMNS; k++) {
            if (patient->states[k] == TW_STRIP_NOTHING && patient->bytes &&
                is_in_column(doctor, patient, k))
                patient->states[k] = last == TW_STRIP_OVERFLOW ? TW_STRIP_SYNCED : last;
            else if (patient->states[k])
                last = patient->states[k];
        }
        patient->strip =
            (struct tw_strip){ .name =
                                   tw_capture_source(doctor->capture, patient->source)->name,
                               .id = patient->id,
                               .bytes = doctor->total,
                               .states = patient->states };
    }
}

enum tw_status tw_doctor_new(struct tw_doctor **doctor, struct tw_capture *capture,
                             const struct tw_doctor_options *options, struct tw_fault *fault)
{
    struct tw_doctor_options copy = { .size = sizeof copy };
    struct tw_run_config how = { .size = sizeof how };
    struct tw_doctor *made;
    enum tw_status status;

    *doctor = NULL;
    if (options)
        TW_TRY(TW_SIZED_TAKE(&copy, options, "tw_doctor_options", fault));
    if (copy.run)
        TW_TRY(TW_SIZED_TAKE(&how, copy.run, "tw_run_config", fault));
    made = tw_take(copy.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory to examine the capture");
    if (copy.allocator) {
        made->allocator_copy = *copy.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->capture = capture;
    made->options = copy;
    made->how = how;
    status = tw_doctor_examine(made, fault);
    if (status == TW_OK) {
        tw_doctor_conclude(made);
        make_strips(made);
        if (made->no_memory)
            status = tw_fail(fault, TW_E_MEMORY, "no memory to examine the capture");
    }
    if (status != TW_OK) {
        tw_doctor_free(made);
        return status;
    }
    *doctor = made;
    return TW_OK;
}

void tw_doctor_free(struct tw_doctor *doctor)
{
    struct tw_allocator allocator;
    bool has_allocator;

    if (!doctor)
        return;
    for (size_t i = 0; i < doctor->text_count; i++)
        tw_give(doctor->allocator, doctor->texts[i]);
    tw_give(doctor->allocator, doctor->texts);
    tw_give(doctor->allocator, doctor->findings);
    tw_give(doctor->allocator, doctor->weights);
    tw_give(doctor->allocator, doctor->patients);
    tw_give(doctor->allocator, doctor->starts);
    tw_give(doctor->allocator, doctor->search);
    has_allocator = doctor->allocator != NULL;
    allocator = doctor->allocator_copy;
    tw_give(has_allocator ? &allocator : NULL, doctor);
}

const struct tw_finding *tw_doctor_finding(const struct tw_doctor *doctor, size_t number)
{
    return number < doctor->finding_count ? &doctor->findings[number] : NULL;
}

bool tw_doctor_is_whole(const struct tw_doctor *doctor)
{
    for (size_t i = 0; i < doctor->finding_count; i++)
        if (doctor->findings[i].severity >= TW_FINDING_ERROR)
            return false;
    return true;
}

const char *tw_doctor_summary(const struct tw_doctor *doctor)
{
    return doctor->summary;
}

const char *tw_finding_severity_name(unsigned severity)
{
    static const char *const names[] = { "note", "warning", "error", "fatal" };

    return severity < TW_LENGTH(names) ? names[severity] : "unknown";
}
