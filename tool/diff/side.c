/* SPDX-License-Identifier: BSD-2-Clause */
/* What one side of a comparison executed. */
#define _XOPEN_SOURCE 700 /* sysconf */
#include "diff/side.h"

#include <inttypes.h>
#include <string.h>

#include <trackway/capture.h>

#include "base/platform.h"

enum { LARGE = 4 << 20 }; /* bytes of trace from which on several threads pay */

static bool is_log_file(const char *path)
{
    struct tw_log *log;
    struct tw_capture *capture = NULL;
    bool is_log;

    if (tw_log_open(&log, path, NULL, NULL) != TW_OK)
        return false;
    tw_log_free(log);
    /* What can be opened without being told its protocol is a capture. */
    is_log = !(tw_capture_open(&capture, path, NULL, NULL) == TW_OK &&
               tw_capture_kind(capture) != TW_CAPTURE_RAW);
    tw_capture_free(capture);
    return is_log;
}

int side_open(struct side *side, const struct options *options, const char *path,
              const struct ignored *ignored)
{
    int status;

    side->path = path;
    side->ignored = ignored;
    side->options = *options;
    side->options.arguments = (struct list){ &side->path, 1 };
    side->is_log = is_log_file(path);
    if (side->is_log)
        return DONE;
    status = session_open(&side->session, &side->options);
    if (status == DONE)
        status = session_wish(&side->session, &side->wish);
    side->wish.config.on_bytes = NULL;
    return status;
}

size_t side_sources(const struct side *side, const char **names, size_t room)
{
    const struct tw_capture *capture = side->session.capture;
    size_t count = 0;

    for (size_t i = 0; !side->is_log && !side->session.perf &&
                       i < tw_capture_source_count(capture) && count < room;
         i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const char *protocol = source->protocol;

        if (protocol && strcmp(protocol, "itm") != 0 && strcmp(protocol, "stm") != 0 &&
            strcmp(protocol, "etraced") != 0 && session_wants_source(&side->session, i))
            names[count++] = source->name;
    }
    return count;
}

static void end_run(struct side *side)
{
    tw_run_free(side->run);
    tw_log_free(side->log);
    side->run = NULL;
    side->log = NULL;
}

/* Both sides decode at the same time: each has half of the cores, where several threads pay.  0: the default. */
static uint32_t threads_of_side(const struct side *side)
{
    const struct tw_capture *capture = side->session.capture;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool is_large = false;

    if (side->options.threads.is_given)
        return side->wish.config.threads;
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
        is_large |= tw_capture_buffer(capture, i)->size >= LARGE;
    if (!is_large)
        return 0;
    return cores > 3 ? (uint32_t)cores / 2 : 1;
}

bool side_start(struct side *side, const char *source)
{
    const uint32_t threads = side->wish.config.threads;
    struct tw_fault fault;

    end_run(side);
    side->source = source;
    side->part = (struct tw_part){ .size = sizeof side->part };
    side->element = 0;
    side->repeats = side->number = 0;
    side->instruction_count = side->done = 0;
    side->skips = side->has_gap = side->is_failed = false;
    if (side->is_log) {
        if (tw_log_open(&side->log, side->path, NULL, &fault) == TW_OK)
            return true;
        say("%s: %s", side->path, fault.text);
        return false;
    }
    if (source) {
        side->wish.filter.sources = &side->source;
        side->wish.filter.source_count = 1;
    }
    side->wish.config.order = side->session.perf ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
    side->wish.config.threads = threads_of_side(side);
    side->wish.config.leaves_stats = true;
    side->run = session_run_new(&side->session, &side->wish);
    side->wish.config.threads = threads;
    return side->run != NULL;
}

void side_close(struct side *side)
{
    end_run(side);
    tw_map_free(&side->sizes);
    tw_map_free(&side->seen);
    if (side->is_log || !side->path)
        return;
    session_wish_free(&side->wish);
    session_close(&side->session);
}

/* ---- captures ---- */

/* Whether an exception came from outside, by whoever's numbers. */
static bool is_interrupt(const struct tw_element *element)
{
    if (element->flags & TW_EXCEPTION_RISCV)
        return (element->flags & TW_EXCEPTION_INTERRUPT) != 0;
    switch (element->kind) {
    case TW_NUMBERS_ARMV8_M:
    case TW_NUMBERS_ARMV7_M:
        /* NMI, PendSV, SysTick, and those from outside */
        return element->architectural == 2 || element->architectural >= 14;
    default: /* IRQ, FIQ, and system errors: the same numbers in all */
        return element->number == 14 || element->number == 15 || element->number == 4;
    }
}

static void see_element(struct side *side, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        if (side->ignored->interrupts && !side->skips && is_interrupt(element) &&
            element->flags & TW_EXCEPTION_HAS_RETURN) {
            side->skips = true;
            side->resume = element->return_address;
        }
        break;
    case TW_ELEMENT_NO_SYNC:
        side->has_gap |= element->reason != TW_REASON_INIT;
        break;
    case TW_ELEMENT_ERROR:
        side->has_gap |=
            element->error != TW_ERROR_UNSYNCED && element->error != TW_ERROR_UNPLACED;
        break;
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_I_RANGE_NOPATH:
        side->has_gap = true;
        break;
    default:
        break;
    }
}

/* The next range of a capture; NULL: there is none. */
static const struct tw_element *next_range(struct side *side)
{
    for (;;) {
        enum tw_status status;

        if (side->repeats) {
            const struct tw_element *again = &side->part.batch.elements[side->repeat_at++];

            if (side->repeat_at == side->element - 1) {
                side->repeat_at = side->repeat_first;
                side->repeats--;
            }
            return again;
        }
        while (side->part.kind == TW_PART_ELEMENTS && side->element < side->part.batch.count) {
            const struct tw_element *element = &side->part.batch.elements[side->element++];

            if (element->type == TW_ELEMENT_INSTR_RANGE && element->count)
                return element;
            if (element->type == TW_ELEMENT_REPEAT) {
                side->repeat_first =
                    side->element - 1 -
                    tw_repeat_reach(side->part.batch.elements, side->element - 1);
                side->repeat_at = side->repeat_first;
                side->repeats = side->repeat_first < side->element - 1 ? element->times : 0;
                break;
            }
            see_element(side, element);
        }
        if (side->repeats)
            continue;
        side->part.size = sizeof side->part;
        status = tw_run_next(side->run, &side->part);
        side->element = 0;
        if (status != TW_OK) {
            side->is_failed = status != TW_END;
            if (side->is_failed)
                say("%s: %s", side->path, tw_run_fault(side->run));
            return NULL;
        }
        if (side->part.kind == TW_PART_ELEMENTS && side->part.source)
            side->named = side->part;
        else if (side->part.kind == TW_PART_ELEMENTS)
            side->element = side->part.batch.count;
    }
}

/* ---- logs ---- */

static void see_step(struct side *side, const struct tw_step *step)
{
    switch (step->kind) {
    case TW_STEP_INSTRUCTIONS:
        side->instructions = step->instructions;
        side->instruction_count = step->count;
        side->done = 0;
        break;
    case TW_STEP_EXCEPTION:
        if (side->ignored->interrupts && !side->skips &&
            (step->is_interrupt || step->exception == TW_EXCEPTION_IRQ ||
             step->exception == TW_EXCEPTION_FIQ ||
             step->exception == TW_EXCEPTION_SYSTEM_ERROR)) {
            side->skips = true;
            side->resume = step->return_address;
        }
        break;
    default:
        break;
    }
}

/* A log has its code alone where it is executed: sizes of instructions are kept. */
static void keep_sizes(struct side *side, const struct tw_retired *first, size_t count)
{
    uint64_t *seen = NULL, *size;

    if (first->isa == TW_ISA_A64 || first->isa == TW_ISA_A32)
        return;
    seen = tw_map_put(&side->seen, tw_hash64(first->address) ^ count);
    if (!seen || *seen)
        return;
    *seen = 1;
    for (size_t i = 0; i < count; i++)
        if ((size = tw_map_put(&side->sizes, first[i].address)) != NULL)
            *size = first[i].size;
}

static void set_log_stretch(struct side *side, struct stretch *stretch,
                            const struct tw_retired *first, const struct tw_retired *last,
                            size_t count)
{
    keep_sizes(side, first, count);
    *stretch = (struct stretch){ .start = first->address,
                                 .length = last->address + last->size - first->address,
                                 .count = (uint32_t)count,
                                 .isa = first->isa };
}

/* The next stretch of a log; false: there is none. */
static bool next_logged(struct side *side, struct stretch *stretch)
{
    for (;;) {
        struct tw_step step;
        enum tw_status status;

        if (side->done < side->instruction_count) {
            const struct tw_retired *first = &side->instructions[side->done], *last = first;

            for (side->done++; side->done < side->instruction_count; side->done++) {
                const struct tw_retired *next = &side->instructions[side->done];

                if (next->address != last->address + last->size || next->isa != first->isa)
                    break;
                last = next;
            }
            set_log_stretch(side, stretch, first, last, (size_t)(last - first) + 1);
            return true;
        }
        side->instruction_count = side->done = 0;
        status = tw_log_next(side->log, &step);
        if (status != TW_OK) {
            side->is_failed = status != TW_END;
            if (side->is_failed)
                say("%s: %s", side->path, tw_log_fault(side->log));
            return false;
        }
        see_step(side, &step);
    }
}

/* ---- both ---- */

static bool is_ignored(const struct side *side, const struct stretch *stretch)
{
    for (size_t i = 0; i < side->ignored->range_count; i++)
        if (stretch->start - side->ignored->ranges[i].first <
            side->ignored->ranges[i].end - side->ignored->ranges[i].first)
            return true;
    return false;
}

bool side_next(struct side *side, struct stretch *stretch)
{
    for (;;) {
        if (side->is_log) {
            if (!next_logged(side, stretch))
                return false;
        } else {
            const struct tw_element *range = next_range(side);

            if (!range)
                return false;
            *stretch = (struct stretch){ .start = range->start,
                                         .length = range->length,
                                         .index = range->index,
                                         .count = range->count,
                                         .isa = range->isa };
        }
        if (side->skips && stretch->start == side->resume)
            side->skips = false;
        if (side->skips || is_ignored(side, stretch))
            continue;
        stretch->number = side->number;
        stretch->after_gap = side->has_gap;
        side->has_gap = false;
        side->number += stretch->count;
        return true;
    }
}

static bool is_quick(const struct side *side)
{
    return !side->is_log && !side->repeats && !side->has_gap && !side->ignored->interrupts &&
           !side->ignored->range_count && side->part.kind == TW_PART_ELEMENTS;
}

/* The members of an element behind its length, at once. */
static uint64_t tail_of(const struct tw_element *element)
{
    uint64_t tail;

    memcpy(&tail, &element->count, sizeof tail);
    return tail;
}

void side_pass_alike(struct side *a, struct side *b, uint64_t *end)
{
    const struct tw_element compared = { .count = UINT32_MAX, .isa = UINT8_MAX };
    const struct tw_element types = { .type = UINT8_MAX };
    const struct tw_element range = { .type = TW_ELEMENT_INSTR_RANGE };
    const uint64_t members = tail_of(&compared), type = tail_of(&types), is = tail_of(&range);
    const struct tw_element *x, *y;
    size_t count, i;
    uint64_t sum = 0;

    if (!is_quick(a) || !is_quick(b) || a->element >= a->part.batch.count ||
        b->element >= b->part.batch.count)
        return;
    x = a->part.batch.elements + a->element;
    y = b->part.batch.elements + b->element;
    count = a->part.batch.count - a->element;
    if (count > b->part.batch.count - b->element)
        count = b->part.batch.count - b->element;
    for (i = 0; i < count; i++) {
        /* one test for all: no branch of it is ever taken but the last */
        const uint64_t one = tail_of(&x[i]), other = tail_of(&y[i]);
        const uint64_t differs = (x[i].start ^ y[i].start) | (x[i].length ^ y[i].length) |
                                 ((one ^ other) & (members | type)) | ((one & type) ^ is);

        if (differs)
            break;
        sum += x[i].count;
    }
    if (i)
        *end = tw_element_end(&x[i - 1]);
    a->element += i;
    b->element += i;
    a->number += sum;
    b->number += sum;
}

void side_put_code(struct side *side, struct output *out, uint64_t address)
{
    struct tw_name name = { .size = sizeof name };

    output_format(out, "0x%" PRIx64, address);
    if (side->is_log || !side->run || !tw_run_name(side->run, &name, &side->named, address))
        return;
    if (name.has_symbol)
        output_format(out, " <%.200s+%" PRIu64 ">", name.symbol.name,
                      address - name.symbol.address);
    if (name.has_line)
        output_format(out, " at %.300s:%" PRIu32, name.line.file, name.line.line);
}

const char *side_function(struct side *side, uint64_t address, uint64_t *first)
{
    struct tw_name name = { .size = sizeof name };

    *first = address;
    if (side->is_log || !side->run || !tw_run_name(side->run, &name, &side->named, address) ||
        !name.has_symbol)
        return "";
    *first = name.symbol.address;
    return name.symbol.name;
}
