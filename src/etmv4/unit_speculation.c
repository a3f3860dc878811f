/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: what is not certain yet, and how it is taken back. */
#include "etmv4/unit.h"

enum { RECORDS_MOST = 1 << 16 };

static struct tw_etmv4_unit_record *record_at(struct tw_etmv4_unit *unit, size_t number)
{
    return &unit->records[unit->record_first + number];
}

struct tw_etmv4_unit_record *tw_etmv4_unit_begin_record(struct tw_etmv4_unit *unit,
                                                        bool is_instruction)
{
    struct tw_etmv4_unit_record *record;

    if (unit->record_first && unit->record_first + unit->record_count == unit->record_room) {
        memmove(unit->records, unit->records + unit->record_first,
                unit->record_count * sizeof *unit->records);
        unit->record_first = 0;
    }
    if (unit->record_count == RECORDS_MOST) {
        unit->failed = tw_fail(&unit->fault, TW_E_ARGUMENT,
                               "more than %u instructions are not certain", RECORDS_MOST);
        return NULL;
    }
    if (!TW_GROW(unit->config.allocator, &unit->records, &unit->record_room,
                 unit->record_first + unit->record_count + 1)) {
        unit->failed = TW_E_MEMORY;
        return NULL;
    }
    if (unit->record_count == 0)
        unit->base = unit->flow;
    record = record_at(unit, unit->record_count++);
    *record = (struct tw_etmv4_unit_record){ .is_instruction = is_instruction };
    unit->record_is_open = true;
    return record;
}

void tw_etmv4_unit_end_record(struct tw_etmv4_unit *unit)
{
    if (!unit->record_is_open)
        return;
    record_at(unit, unit->record_count - 1)->flow = unit->flow;
    unit->record_is_open = false;
}

void tw_etmv4_unit_forget_records(struct tw_etmv4_unit *unit)
{
    unit->record_first = unit->record_count = 0;
    unit->record_is_open = false;
    unit->depth = unit->resolved = 0;
}

void tw_etmv4_unit_count_p0(struct tw_etmv4_unit *unit)
{
    if (unit->setup.max_spec == 0)
        return;
    unit->depth++;
    if (unit->record_is_open) {
        struct tw_etmv4_unit_record *record = record_at(unit, unit->record_count - 1);

        if (record->p0_count++ == 0) {
            record->placed_before = unit->flow.placed;
            record->context_before = unit->flow.context;
            record->had_context = unit->flow.has_context;
        }
    } else {
        unit->resolved++;
    }
    if (unit->depth <= unit->setup.max_spec)
        return;
    /* The analyzer takes the oldest as committed. */
    unit->depth--;
    if (unit->resolved == 0)
        unit->failed =
            tw_fail(&unit->fault, TW_E_ARGUMENT,
                    "more than TRCIDR8 (%u) P0 elements are not certain", unit->setup.max_spec);
    else
        unit->resolved--;
}

void tw_etmv4_unit_send_commits(struct tw_etmv4_unit *unit)
{
    tw_etmv4_unit_release_buffered(unit); /* they are certain, too */
    if (!unit->resolved)
        return;
    tw_etmv4_unit_emit_commit(unit, unit->resolved);
    unit->depth -= unit->resolved;
    unit->resolved = 0;
}

enum tw_status tw_etmv4_unit_commit(struct tw_etmv4_unit *unit, uint64_t except)
{
    size_t left = unit->record_count;
    uint64_t kept = 0;
    uint32_t p0_count = 0;

    while (left && kept < except)
        kept += record_at(unit, --left)->is_instruction;
    if (left == 0)
        return unit->failed;
    for (size_t i = 0; i < left; i++) {
        p0_count += record_at(unit, i)->p0_count;
        if (record_at(unit, i)->shots)
            tw_etmv4_unit_fire(unit, record_at(unit, i)->shots);
    }
    unit->base = record_at(unit, left - 1)->flow;
    unit->record_first += left;
    unit->record_count -= left;
    if (unit->record_count == 0)
        unit->record_first = 0;
    unit->resolved += p0_count;
    if (unit->setup.cycles && unit->resolved && !unit->is_overflowing)
        tw_etmv4_unit_emit_cycles(unit);
    return unit->failed;
}

/* What stays, what goes, and what of the stream stays although its instruction goes. */
struct cut {
    size_t left;       /* records */
    uint32_t p0_count; /* cancelled */
    uint32_t placed;   /* elements of place that the analyzer keeps */
    bool has_context;
    struct tw_step_context context;
};

static bool find_cut(struct tw_etmv4_unit *unit, struct cut *cut, uint64_t count)
{
    *cut = (struct cut){ .left = unit->record_count,
                         .placed = unit->flow.placed,
                         .has_context = unit->flow.has_context,
                         .context = unit->flow.context };
    while (count) {
        const struct tw_etmv4_unit_record *record;

        if (cut->left == 0)
            return false;
        record = record_at(unit, --cut->left);
        cut->p0_count += record->p0_count;
        if (record->p0_count) {
            cut->placed = record->placed_before;
            cut->has_context = record->had_context;
            cut->context = record->context_before;
        }
        count -= record->is_instruction;
    }
    return true;
}

/* The newest branch that stays went the other way. */
static void flip(struct tw_etmv4_unit_record *record, struct tw_etmv4_unit_flow *flow)
{
    record->is_taken = !record->is_taken;
    flow->last_is_taken = record->is_taken;
    flow->target = 0;
    flow->pending = record->is_taken && (record->is_indirect || record->is_broadcast)
                        ? TW_PENDING_BROADCAST
                        : TW_PENDING_NOTHING;
}

enum tw_status tw_etmv4_unit_do_cancel(struct tw_etmv4_unit *unit, uint64_t count,
                                       enum tw_cancel how)
{
    struct tw_etmv4_unit_record *newest;
    struct tw_etmv4_unit_flow flow;
    struct cut cut;

    if (!find_cut(unit, &cut, count))
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "cancels instructions that are certain already");
    newest = cut.left ? record_at(unit, cut.left - 1) : NULL;
    if (how != TW_CANCEL_ONLY && (!newest || !newest->is_branch))
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "the newest instruction that stays is no branch, or is certain");
    if (how != TW_CANCEL_ONLY && !newest->is_atom)
        how = TW_CANCEL_ONLY; /* it was not traced */
    tw_etmv4_unit_emit_cancel(unit, cut.p0_count, how == TW_CANCEL_DIRECTION);
    unit->depth -= cut.p0_count;
    flow = newest ? newest->flow : unit->base;
    if (how == TW_CANCEL_DIRECTION)
        flip(newest, &flow);
    if (how == TW_CANCEL_TARGET)
        flow.pending = TW_PENDING_BROADCAST;
    /* Addresses, contexts and Trace On behind the newest P0 that stays are not taken back: say
       again where we are.  So it is after a Trace Info, whose place went. */
    if (flow.placed != cut.placed || flow.infos != unit->flow.infos) {
        flow.pending = TW_PENDING_BROADCAST;
        flow.context = cut.context;
        flow.has_context = cut.has_context && flow.infos == unit->flow.infos;
    }
    flow.placed = unit->flow.placed;
    flow.infos = unit->flow.infos;
    unit->flow = flow;
    unit->is_changed = true;
    unit->return_count = 0;
    unit->record_count = cut.left;
    if (newest)
        newest->flow = flow;
    else
        unit->base = flow;
    return unit->failed;
}

enum tw_status tw_etmv4_unit_cancel(struct tw_etmv4_unit *unit, uint64_t count,
                                    enum tw_cancel how)
{
    if (count == 0 && how == TW_CANCEL_ONLY)
        return unit->failed;
    if (unit->is_overflowing || !unit->is_enabled)
        return unit->failed;
    return tw_etmv4_unit_do_cancel(unit, count, how);
}

enum tw_status tw_etmv4_unit_speculate(struct tw_etmv4_unit *unit, bool is_on)
{
    if (is_on && unit->is_enabled && unit->setup.max_spec == 0)
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "TRCIDR8 is 0: the unit does not speculate");
    if (!is_on)
        TW_TRY(tw_etmv4_unit_commit(unit, 0));
    unit->is_speculating = is_on;
    return unit->failed;
}
