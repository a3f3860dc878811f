/* SPDX-License-Identifier: BSD-2-Clause */
/* The distance by which an image is off: the code that is missing must be in it when it is moved, and the
   path must go on there. */
#include <string.h>

#include <trackway/tree.h>

#include "base/memory.h"
#include "capture/sources.h"
#include "doctor/doctor.h"
#include "image/image.h"

enum { PAGE = 4096, CANDIDATES_MOST = 400, SEEN_MOST = 8 << 10 };

struct attempt {
    const struct tw_doctor *doctor;
    const struct tw_patient *patient;
    struct tw_image *image;
    uint32_t buffer;
    const uint8_t *bytes;
    size_t size;
};

static double merit(struct tw_tree *tree, bool *is_clean)
{
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t instructions = 0, wrong = 0, ranges = 0;

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            ranges += element->type == TW_ELEMENT_INSTR_RANGE;
            instructions += element->type == TW_ELEMENT_INSTR_RANGE ? element->count : 0;
            wrong +=
                element->type == TW_ELEMENT_ADDR_NACC ||
                (element->type == TW_ELEMENT_ERROR && element->error != TW_ERROR_TRUNCATED);
        }
    *is_clean = wrong * 50 <= ranges && ranges > 3;
    return (double)instructions / (1 + 20 * (double)wrong);
}

/* An image of the same bytes, moved. */
static struct tw_image *moved(const struct attempt *attempt, int64_t bias)
{
    struct tw_image *image;

    if (tw_image_new(&image, attempt->doctor->allocator, NULL) != TW_OK)
        return NULL;
    for (size_t i = 0; i < tw_image_region_count(attempt->image); i++) {
        const struct tw_region *old = tw_image_region(attempt->image, i);
        struct tw_region region = { .size = sizeof region,
                                    .address = old->address + (uint64_t)bias,
                                    .length = old->length };
        const struct tw_view view = { .space = TW_SPACE_ANY,
                                      .context = old->context,
                                      .time = old->from };
        const uint8_t *bytes;
        const size_t size = tw_image_find(attempt->image, &bytes, &view, old->address);

        region.length = size < old->length ? size : old->length;
        if (region.length && tw_image_add(image, &region, bytes) != TW_OK)
            break;
    }
    return image;
}

static bool wants(void *context, uint32_t source)
{
    return source == ((const struct attempt *)context)->patient->source;
}

static double try_bias(struct attempt *attempt, int64_t bias, bool *is_clean)
{
    const struct tw_doctor *doctor = attempt->doctor;
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(doctor->capture, attempt->buffer)->framing,
        .check_atoms = doctor->checks_atoms,
        .check_continuity = doctor->checks_continuity,
        .allocator = doctor->allocator
    };
    struct tw_source_setup setup = { .capture = doctor->capture,
                                     .buffer = attempt->buffer,
                                     .core_type = doctor->how.core_type,
                                     .image = moved(attempt, bias),
                                     .wants = wants,
                                     .context = attempt };
    double found = 0;

    *is_clean = false;
    if (setup.image && tw_tree_new(&setup.tree, &config, NULL) == TW_OK &&
        tw_add_sources(&setup) - 1 < SIZE_MAX - 1 &&
        tw_tree_feed(setup.tree, attempt->bytes, attempt->size) == TW_OK)
        found = merit(setup.tree, is_clean);
    tw_tree_free(setup.tree);
    tw_image_free(setup.image);
    return found;
}

/* Moves by whole pages under which the first address that is missing lies in a region. */
static void search(struct attempt *attempt, int64_t *best, double *best_merit)
{
    const struct tw_patient *patient = attempt->patient;
    const uint64_t first =
        patient->address_count ? patient->addresses[0] : patient->spots.address;
    unsigned tried = 0;

    for (size_t i = 0; i < tw_image_region_count(attempt->image); i++) {
        const struct tw_region *region = tw_image_region(attempt->image, i);
        uint64_t at = (region->address & ~(uint64_t)(PAGE - 1)) + (first & (PAGE - 1));

        for (; at < region->address + region->length && tried < CANDIDATES_MOST; at += PAGE) {
            const int64_t bias = (int64_t)(first - at);
            bool is_clean;
            double found;

            if (!bias || at < region->address)
                continue;
            found = try_bias(attempt, bias, &is_clean);
            tried++;
            if (is_clean && found > *best_merit) {
                *best_merit = found;
                *best = bias;
            }
        }
    }
}

bool tw_doctor_find_bias(const struct tw_doctor *doctor, const struct tw_patient *patient,
                         int64_t *bias)
{
    const struct tw_source *source = tw_capture_source(doctor->capture, patient->source);
    struct attempt attempt = { .doctor = doctor,
                               .patient = patient,
                               .buffer = tw_capture_source_buffer(doctor->capture,
                                                                  patient->source, 0) };
    double here, best;
    bool is_clean;

    *bias = 0;
    if (tw_capture_perf(doctor->capture) || attempt.buffer == TW_NONE ||
        source->image == TW_NONE)
        return false;
    attempt.image = tw_capture_image(doctor->capture, source->image);
    if (!attempt.image || tw_capture_read(doctor->capture, &attempt.bytes, &attempt.size,
                                          attempt.buffer, 0) != TW_OK)
        return false;
    attempt.size = attempt.size < SEEN_MOST ? attempt.size : SEEN_MOST;
    here = best = try_bias(&attempt, 0, &is_clean);
    search(&attempt, bias, &best);
    return *bias != 0 && best > 3 * here + 20;
}
