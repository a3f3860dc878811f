/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units step by step. */
#include "unit/unit.h"

enum tw_status tw_unit_begin(struct tw_unit *unit, bool is_m, unsigned xlen)
{
    enum tw_status status;

    if (unit->has_failed)
        return TW_E_ARGUMENT;
    if (unit->has_begun)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "tracing has begun");
    unit->is_m = is_m;
    unit->xlen = xlen;
    unit->takes_steps = true;
    status = tw_unit_begin_once(unit);
    unit->has_failed = status != TW_OK;
    return status;
}

enum tw_status tw_unit_step(struct tw_unit *unit, const struct tw_step *step)
{
    enum tw_status status;

    if (!unit->takes_steps || unit->has_finished || unit->has_failed)
        return TW_E_ARGUMENT;
    status = unit->kind->step(unit, step);
    unit->has_failed = status != TW_OK;
    return status;
}

const uint8_t *tw_unit_output(const struct tw_unit *unit, size_t *size)
{
    *size = 0;
    return unit->takes_steps && unit->model && !unit->has_failed
               ? unit->kind->output(unit, size)
               : NULL;
}

void tw_unit_take(struct tw_unit *unit)
{
    if (!unit->takes_steps || !unit->model || unit->has_failed)
        return;
    unit->kind->take(unit);
    unit->trace.size = unit->trace.data_size = 0;
}
