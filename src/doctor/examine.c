/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass over the whole capture. */
#include <string.h>

#include "base/core.h"
#include "base/fault.h"
#include "base/memory.h"
#include "doctor/doctor.h"

static struct tw_patient *patient_of(struct tw_doctor *doctor, uint32_t source, uint8_t id)
{
    struct tw_patient *made;

    for (size_t i = 0; i < doctor->patient_count; i++)
        if (doctor->patients[i].source == source)
            return &doctor->patients[i];
    if (doctor->patient_count == TW_PATIENTS_MOST ||
        !TW_GROW(doctor->allocator, &doctor->patients, &doctor->patient_room,
                 doctor->patient_count + 1)) {
        doctor->no_memory = doctor->no_memory || doctor->patient_count < TW_PATIENTS_MOST;
        return NULL;
    }
    made = &doctor->patients[doctor->patient_count++];
    *made = (struct tw_patient){ .source = source, .id = id };
    return made;
}

static void on_source(void *context, const struct tw_run_source *source)
{
    struct tw_doctor *doctor = context;
    struct tw_patient *patient = patient_of(doctor, source->source, source->id);

    if (patient && source->left_out) {
        patient->is_left_out = true;
        patient->why = tw_doctor_text(doctor, "%s", source->left_out);
    }
}

static void on_bytes(void *context, uint64_t bytes)
{
    const struct tw_doctor *doctor = context;

    if (doctor->options.on_bytes)
        doctor->options.on_bytes(doctor->options.context, bytes);
}

/* Heavier states hide lighter ones of the same stretch. */
static void mark(struct tw_doctor *doctor, struct tw_patient *patient, uint64_t at,
                 enum tw_strip_state state, bool is_begin)
{
    const uint64_t column = doctor->total ? at * TW_STRIP_COLUMNS / doctor->total : 0;

    if (column >= TW_STRIP_COLUMNS)
        return;
    /* Trace that begins with a synchronization has no gap before it. */
    if (patient->states[column] < state ||
        (state == TW_STRIP_SYNCED && patient->has_begin && patient->begin == column))
        patient->states[column] = (uint8_t)state;
    patient->has_begin = is_begin || (patient->has_begin && patient->begin != column);
    if (is_begin)
        patient->begin = column;
}

static bool is_contradiction(unsigned code)
{
    return code == TW_ERROR_IMAGE_MISMATCH || code == TW_ERROR_BAD_ATOM ||
           code == TW_ERROR_BAD_OPCODE || code == TW_ERROR_NOT_CONTINUOUS ||
           code == TW_ERROR_RANGE_LIMIT || code == TW_ERROR_RETURN_STACK;
}

static void count_error(struct tw_patient *patient, const struct tw_element *element)
{
    const unsigned code = element->error < TW_ERROR_CODES ? element->error : TW_ERROR_NONE;

    if (patient->errors[code]++ == 0)
        patient->first_error[code] = element->index;
    if (is_contradiction(code))
        tw_doctor_contradiction(patient, element);
    if (code == TW_ERROR_DISCONTINUITY && patient->gaps++ == 0)
        patient->first_gap = element->index;
}

/* Where Linux has its kernel in 32 bits, below the vectors. */
static bool is_kernel32(uint64_t address)
{
    return address >= 0xc0000000u && address < 0xffff0000u;
}

static void count_missing(struct tw_patient *patient, const struct tw_element *element)
{
    patient->kernel_code += is_kernel32(element->address);
    patient->low_code += element->address < 0xc0000000u;
    if (patient->missing++ == 0)
        patient->first_missing = element->index;
    patient->kernel_missing += element->address >> 63;
    if (patient->address_count < TW_MISSING_KEPT) {
        patient->spaces[patient->address_count] = element->space;
        patient->addresses[patient->address_count++] = element->address;
    }
}

static void count_range(struct tw_patient *patient, const struct tw_element *range,
                        uint64_t times)
{
    patient->ranges += times;
    patient->instructions += range->count * times;
    patient->kernel_code += is_kernel32(range->start);
    patient->low_code += range->start < 0xc0000000u;
}

/* The elements before it, again. */
static void count_repeat(struct tw_patient *patient, const struct tw_element *elements,
                         size_t at)
{
    for (size_t i = at - tw_repeat_reach(elements, at); i < at; i++)
        if (elements[i].type == TW_ELEMENT_INSTR_RANGE)
            count_range(patient, &elements[i], elements[at].times);
}

static void count_element(struct tw_doctor *doctor, struct tw_patient *patient, uint64_t at,
                          const struct tw_element *element)
{
    enum tw_strip_state state = TW_STRIP_SYNCED;

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        count_range(patient, element, 1);
        break;
    case TW_ELEMENT_ADDR_NACC:
        count_missing(patient, element);
        state = TW_STRIP_MISSING;
        break;
    case TW_ELEMENT_ERROR:
        count_error(patient, element);
        state = element->error == TW_ERROR_OVERFLOW   ? TW_STRIP_OVERFLOW
                : is_contradiction(element->error)    ? TW_STRIP_MISSING
                : element->error == TW_ERROR_UNPLACED ? TW_STRIP_SYNCED
                                                      : TW_STRIP_GAP;
        break;
    case TW_ELEMENT_NO_SYNC:
        state = element->reason == TW_REASON_OVERFLOW ? TW_STRIP_OVERFLOW : TW_STRIP_GAP;
        break;
    case TW_ELEMENT_TRACE_ON:
        if (element->reason == TW_TRACE_ON_OVERFLOW)
            state = TW_STRIP_OVERFLOW;
        break;
    case TW_ELEMENT_EXCEPTION:
        patient->exceptions++;
        break;
    default:
        break;
    }
    patient->elements += element->type != TW_ELEMENT_EO_TRACE &&
                         element->type != TW_ELEMENT_NO_SYNC &&
                         element->type != TW_ELEMENT_ERROR;
    if (element->type != TW_ELEMENT_EO_TRACE)
        mark(doctor, patient, at, state,
             element->type == TW_ELEMENT_NO_SYNC && element->reason == TW_REASON_INIT);
}

/* Whether the code of a part has names, by the first of its ranges. */
static void count_names(struct tw_doctor *doctor, struct tw_run *run,
                        const struct tw_part *part)
{
    const struct tw_element *range = part->batch.elements;
    const struct tw_element *end = range + part->batch.count;
    struct tw_object_names *object = doctor->objects;
    struct tw_symbols *symbols;
    struct tw_symbol symbol;
    const char *name;
    uint64_t link;

    while (range < end && range->type != TW_ELEMENT_INSTR_RANGE)
        range++;
    if (range == end)
        return;
    name = tw_run_object(run, NULL, part, range->start);
    while (object < doctor->objects + doctor->object_count && object->name != name)
        object++;
    if (object == doctor->objects + TW_OBJECTS_KEPT || object->named)
        return;
    if (object == doctor->objects + doctor->object_count)
        doctor->objects[doctor->object_count++] = (struct tw_object_names){ .name = name };
    symbols = tw_run_symbols(run, &link, part, range->start);
    if (symbols && tw_symbols_find(symbols, &symbol, link))
        object->named++;
    else if (object->unnamed++ == 0)
        object->address = range->start;
}

/* Offsets count through all buffers. */
static uint64_t place_of(const struct tw_doctor *doctor, uint32_t buffer, uint64_t index)
{
    const uint64_t first = tw_capture_buffer(doctor->capture, buffer)->offset;

    return doctor->starts[buffer] + (index > first ? index - first : 0);
}

/* Most elements are ranges that lie close to the one before, in `at`, and change nothing but sums: how many there are behind it.  Up
   to the end of its column in the strip, and of the bytes that a rate is taken of. */
static size_t count_more(const struct tw_doctor *doctor, struct tw_patient *patient,
                         const struct tw_part *part, size_t number, uint64_t at)
{
    const struct tw_element *const first = &part->batch.elements[number];
    const struct tw_element *const last = part->batch.elements + part->batch.count;
    const struct tw_element *range = first + 1;
    const uint64_t column = at * TW_STRIP_COLUMNS / doctor->total;
    const uint64_t next =
        ((column + 1) * doctor->total + TW_STRIP_COLUMNS - 1) / TW_STRIP_COLUMNS;
    const uint64_t window = patient->rate.begin.offset + 2 * TW_RATE_WINDOW;
    const uint64_t room = (next < window ? next : window) - at;

    if (doctor->abort_count || first->type != TW_ELEMENT_INSTR_RANGE)
        return 0;
    for (; range < last && range->type == TW_ELEMENT_INSTR_RANGE &&
           range->index - first->index < room;
         range++)
        count_range(patient, range, 1);
    patient->lost.last = range[-1];
    patient->elements += (size_t)(range - first) - 1;
    return (size_t)(range - first) - 1;
}

static void count_part(struct tw_doctor *doctor, struct tw_run *run, const struct tw_part *part)
{
    struct tw_patient *patient;
    bool is_same;

    if (!part->source)
        return;
    patient = patient_of(doctor, part->source_number, part->batch.id);
    if (!patient)
        return;
    patient->id = part->batch.id;
    if (!patient->has_src) {
        patient->src = part->batch.src;
        patient->has_src = true;
    }
    is_same = patient->src == part->batch.src;
    patient->parts++;
    patient->unattributed += part->who.tid == TW_NONE;
    count_names(doctor, run, part);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];
        const uint64_t at = place_of(doctor, part->buffer, element->index);

        const bool is_overflow = is_same && tw_doctor_lost(doctor, patient, part, element);

        if (is_overflow && patient->overflows++ == 0)
            patient->first_overflow = element->index;
        if (is_same) {
            tw_doctor_time(patient, element, at);
            tw_doctor_exception(doctor, patient, part, element);
        }
        if (element->type == TW_ELEMENT_REPEAT)
            count_repeat(patient, part->batch.elements, i);
        tw_doctor_rate(patient, element, at, is_overflow);
        count_element(doctor, patient, at, element);
        if (is_same && doctor->total)
            i += count_more(doctor, patient, part, i, at);
    }
}

/* A buffer is at its end: what the decoders of its IDs counted. */
static void count_stats(struct tw_doctor *doctor, const struct tw_run *run)
{
    for (size_t i = 0; i < doctor->patient_count; i++) {
        struct tw_patient *patient = &doctor->patients[i];
        const struct tw_source_stats *stats =
            patient->is_left_out ? NULL : tw_run_source_stats(run, patient->id);

        if (!stats)
            continue;
        patient->bytes += stats->bytes;
        patient->unsynced += stats->unsynced_bytes;
        patient->discards += stats->discards;
        if (stats->overflows > patient->overflows)
            patient->overflows = stats->overflows;
    }
}

/* The A profile's atoms check the code; ETMv3 tells of every instruction, and there addresses do. */
static bool has_source(const struct tw_capture *capture, const char *protocol,
                       enum tw_profile profile)
{
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (protocol && source->protocol && strcmp(source->protocol, protocol) == 0)
            return true;
        if (!protocol && tw_core_profile(source->core_type) == profile)
            return true;
    }
    return false;
}

static enum tw_status place_buffers(struct tw_doctor *doctor)
{
    const size_t count = tw_capture_buffer_count(doctor->capture);

    doctor->starts = tw_take(doctor->allocator, (count + 1) * sizeof *doctor->starts);
    if (!doctor->starts)
        return TW_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        doctor->starts[i] = doctor->total;
        doctor->total += tw_capture_buffer(doctor->capture, i)->size;
    }
    return TW_OK;
}

/* Where nothing was read, nothing was synchronized either. */
static void settle_unsynced(struct tw_patient *patient)
{
    if (!patient->elements)
        patient->unsynced = patient->bytes;
}

static void choose_checks(struct tw_doctor *doctor)
{
    const char *core_type = doctor->how.core_type;
    const bool is_v3 = has_source(doctor->capture, "etmv3", TW_PROFILE_A);
    const bool is_m = core_type ? tw_core_profile(core_type) == TW_PROFILE_M
                                : has_source(doctor->capture, NULL, TW_PROFILE_M);

    doctor->checks_atoms = !is_v3 && !is_m;
    doctor->checks_continuity = is_v3;
}

enum tw_status tw_doctor_examine(struct tw_doctor *doctor, struct tw_fault *fault)
{
    const struct tw_run_config *how = &doctor->how;
    struct tw_run_config config = { .size = sizeof config,
                                    .threads = 1,
                                    .core_type = how->core_type,
                                    .waits_on_error = how->waits_on_error,
                                    .resumes_on_error = how->resumes_on_error,
                                    .assumes_sync = how->assumes_sync,
                                    .range_limit = how->range_limit,
                                    .source_address_n = how->source_address_n,
                                    .loads_names = how->symbol_count > 0,
                                    .symbols = how->symbols,
                                    .symbol_count = how->symbol_count,
                                    .on_source = on_source,
                                    .on_bytes = on_bytes,
                                    .context = doctor,
                                    .allocator = doctor->allocator };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    enum tw_status status;

    choose_checks(doctor);
    config.check_atoms = doctor->checks_atoms;
    config.check_continuity = doctor->checks_continuity;
    TW_TRY(place_buffers(doctor));
    TW_TRY(tw_run_new(&run, doctor->capture, &config, fault));
    while ((status = tw_run_next(run, &part)) == TW_OK) {
        if (part.kind == TW_PART_ELEMENTS)
            count_part(doctor, run, &part);
        else if (part.kind == TW_PART_END)
            count_stats(doctor, run);
    }
    for (size_t i = 0; i < doctor->patient_count; i++)
        settle_unsynced(&doctor->patients[i]);
    doctor->losses.size = sizeof doctor->losses;
    (void)tw_run_losses(run, &doctor->losses);
    if (status != TW_END)
        (void)tw_fail(fault, status, "%s", tw_run_fault(run));
    tw_run_free(run);
    if (doctor->no_memory)
        return tw_fail(fault, TW_E_MEMORY, "no memory to examine the capture");
    return status == TW_END ? TW_OK : status;
}
