/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that change no call stack, which decoders need not write: control stays in the function that it is in. */
#include "analysis/calls.h"

#include "base/memory.h"

/* What is asked may be asked on any thread: it has code and functions of its own, under the lock of the calls. */
struct tw_call_quiet {
    struct tw_run *run;
    struct tw_functions functions;
    struct tw_flow_ranges ranges;
    struct tw_code_places places;
};

/* Quiet is what goes from one range to the next inside a function, by no more than a direct branch: what
   tw_call_take_quietly passes of ranges that were written.  A direct call tells whom it calls. */
static enum tw_quiet_kind kind_of(struct tw_flow_ranges *ranges, const struct tw_element *two,
                                  const struct tw_code_place *place)
{
    const struct tw_flow_range *known = tw_flow_ranges_of(ranges, &two[0], place);
    struct tw_flow_range from;

    if (!known || known->function != known->last_function)
        return TW_QUIET_NOT;
    from = *known; /* the next may move it */
    if (from.transfer > TW_TRANSFER_JUMP && two[0].flags & TW_RANGE_EXECUTED)
        return from.leap &&
                       tw_element_end(&two[0]) + (uint64_t)(int64_t)from.leap == two[1].start
                   ? TW_QUIET_TOLD
                   : TW_QUIET_NOT;
    known = tw_flow_ranges_of(ranges, &two[1], place);
    return known && from.function == known->function && known->function == known->last_function
               ? TW_QUIET
               : TW_QUIET_NOT;
}

/* On any thread.  The one that takes parts has an image of its own, too: what it looks up is used there again. */
static enum tw_quiet_kind ask(void *context, const struct tw_part *two, struct tw_image *image)
{
    struct tw_calls *calls = context;
    struct tw_call_quiet *quiet = calls->quiet;
    const bool is_apart = image != two->image;
    struct tw_code_places *places = is_apart ? &quiet->places : &calls->places;
    struct tw_flow_ranges *ranges = is_apart ? &quiet->ranges : &calls->machine.ranges;
    struct tw_code_place place;
    enum tw_quiet_kind kind = TW_QUIET_NOT;
    bool has_place;

    if (is_apart)
        (void)pthread_mutex_lock(&calls->lock);
    has_place = tw_code_places_of(places, &place, quiet->run, two);
    place.image = image;
    if (has_place)
        kind = kind_of(ranges, two->batch.elements, &place);
    places->part = NULL;
    if (is_apart)
        (void)pthread_mutex_unlock(&calls->lock);
    return kind;
}

static bool init(struct tw_call_quiet *quiet, const struct tw_allocator *allocator)
{
    tw_code_places_init(&quiet->places, allocator);
    return tw_functions_init(&quiet->functions, allocator) &&
           tw_flow_ranges_init(&quiet->ranges, &quiet->functions, allocator);
}

void tw_call_quiet_free(struct tw_call_quiet *quiet, const struct tw_allocator *allocator)
{
    if (!quiet)
        return;
    tw_code_places_release(&quiet->places);
    tw_flow_ranges_release(&quiet->ranges);
    tw_functions_release(&quiet->functions);
    tw_give(allocator, quiet);
}

void tw_calls_take_alone(struct tw_calls *calls, struct tw_run *run)
{
    const struct tw_call_machine *machine = &calls->machine;

    if (machine->event || machine->notice || machine->with_inlined)
        return;
    if (!calls->quiet) {
        calls->quiet = tw_take(calls->allocator, sizeof *calls->quiet);
        if (!calls->quiet || !init(calls->quiet, calls->allocator)) {
            calls->machine.is_out = true;
            return;
        }
    }
    calls->quiet->run = run;
    calls->places.lock = &calls->lock; /* threads may ask while parts are taken */
    tw_run_leave_out(run, ask, calls);
}
