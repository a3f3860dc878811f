/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of Trackway as elements of OpenCSD. */
#ifndef OPENCSD_ELEMENT_H
#define OPENCSD_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <trackway/types.h>

#include "opencsd/c_api/opencsd_c_api.h"

/* What 1.7.1 has where 1.3.3 has eight bytes. */
union oc_payload_1_7 {
    struct {
        uint8_t el;
        uint64_t value;
    } instrumentation;
    struct {
        uint32_t kind;
        uint8_t source, size;
        uint32_t value;
        uint8_t overflow;
    } itm;
};

/* Both forms: they differ from the payload on. */
union oc_element {
    ocsd_generic_trace_elem plain;
    struct {
        uint8_t head[offsetof(ocsd_generic_trace_elem, exception_number)];
        union oc_payload_1_7 payload;
        const void *extended;
    } later;
};

/* Numbers that depend on the version. */
enum {
    OC_ELEM_INSTRUMENTATION_1_7 = 17,
    OC_ELEM_ITMTRACE_1_7 = 18,
    OC_ELEM_CUSTOM_1_7 = 19,
    OC_UNSYNC_BAD_IMAGE_1_7 = 6,
    OC_UNSYNC_EOT_1_7 = 7
};

/* The last element of a decoder: what one element does not say stays as the last one had it. */
struct oc_shape {
    union oc_element element;
    bool is_1_7;
    bool has_time_flag; /* timestamps say that there is one (ETMv3) */
    bool is_raw_time;   /* timestamps in Gray code as they are; see TRACKWAY_OPENCSD_STRICT */
    uint64_t payload;   /* software trace, in the order of memory */
};

void oc_shape_init(struct oc_shape *shape);

/* All types but INSTR_RANGE.  False: OpenCSD has no such element. */
bool oc_shape_other(struct oc_shape *shape, const struct tw_element *element);

static inline void oc_shape_range(ocsd_generic_trace_elem *out,
                                  const struct tw_element *element)
{
    out->elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    out->isa = (ocsd_isa)element->isa;
    out->st_addr = element->start;
    out->en_addr = tw_element_end(element);
    out->last_i_type = (ocsd_instr_type)element->last_kind;
    out->last_i_subtype = (ocsd_instr_subtype)element->last_sub;
    /* last_instr_exec, last_instr_sz, last_instr_cond */
    out->flag_bits = (element->flags & TW_RANGE_EXECUTED) | (uint32_t)element->last_size << 2 |
                     (uint32_t)(element->flags & TW_RANGE_CONDITIONAL) << 9;
    out->num_instr_range = element->count;
    if (element->flags & TW_FLAG_HAS_CYCLES) {
        out->cycle_count = element->range_cycles;
        out->has_cc = 1;
    }
}

/* As text, without the end of a line. */
struct oc_text;
void oc_element_text(struct oc_text *text, const union oc_element *element);

#endif
