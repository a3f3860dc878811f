/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway diff: where two runs part, how they join again, and what differs in all. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/calls.h>
#include <trackway/symbols.h>

#include "base/map.h"
#include "commands/commands.h"
#include "diff/counts.h"
#include "diff/lines.h"
#include "diff/packets.h"

enum {
    ALIKE = 6,            /* lines in a row that have to be the same for a join */
    AHEAD_FIRST = 64,     /* lines that are looked at for a join, at first ... */
    AHEAD_MOST = 1 << 18, /* ... and at most: bounds memory */
    SHOWN = 10,           /* differences that are shown */
    FRAMES = 64,
    SOURCES = 256
};

struct diff {
    struct side sides[2];
    struct line_queue queues[2];
    struct side *names; /* the side that knows names */
    struct ignored ignored;
    struct output out;
    uint64_t count; /* differences */
    uint64_t last;  /* the last instruction that both executed; UINT64_MAX: none */
    const char *sources[2];
    bool is_over; /* they do not join again */
};

/* ---- going on together ---- */

/* Goes on as long as both execute the same.  True: they part, with what comes next put back; false: both are at their
   end, or failed. */
static bool go_together(struct diff *diff)
{
    struct stretch now[2];
    uint64_t done[2] = { 0, 0 };
    bool has[2] = { false, false };

    for (;;) {
        uint64_t left, bytes;

        if (!has[0] && !has[1] && queue_is_idle(&diff->queues[0]) &&
            queue_is_idle(&diff->queues[1]))
            side_pass_alike(&diff->sides[0], &diff->sides[1], &diff->last);
        for (unsigned i = 0; i < 2; i++)
            if (!has[i]) {
                has[i] = queue_next(&diff->queues[i], &now[i]);
                done[i] = 0;
            }
        if (!has[0] && !has[1])
            return false;
        if (!has[0] || !has[1] || now[0].start + done[0] != now[1].start + done[1] ||
            now[0].isa != now[1].isa)
            break;
        left = now[0].length - done[0];
        bytes = now[1].length - done[1];
        bytes = bytes < left ? bytes : left;
        for (unsigned i = 0; i < 2; i++) {
            done[i] += bytes;
            has[i] = done[i] < now[i].length;
        }
        if (!has[0] || !has[1])
            diff->last = has[0] ? now[0].start + done[0] : stretch_end(&now[0]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!has[i])
            continue;
        now[i] = stretch_after(diff->queues[i].side, &now[i], done[i]);
        if (!queue_put_back(&diff->queues[i], &now[i]))
            return false;
    }
    return !diff->sides[0].is_failed && !diff->sides[1].is_failed;
}

/* ---- joining ---- */

static bool is_alike(const struct stretch *a, const struct stretch *b)
{
    return a->start == b->start && a->length == b->length && a->isa == b->isa;
}

/* Whether lines from `a` and `b` on are alike: behind the first, whose ends have to be. */
static bool joins(const struct diff *diff, size_t a, size_t b)
{
    const struct line_queue *x = &diff->queues[0], *y = &diff->queues[1];

    if (stretch_end(queue_at(x, a)) != stretch_end(queue_at(y, b)) ||
        queue_at(x, a)->isa != queue_at(y, b)->isa)
        return false;
    for (size_t i = 1; i <= ALIKE; i++) {
        const bool has_x = a + i < queue_size(x), has_y = b + i < queue_size(y);

        if (has_x != has_y)
            return false;
        if (!has_x)
            return x->is_ended && y->is_ended;
        if (!is_alike(queue_at(x, a + i), queue_at(y, b + i)))
            return false;
    }
    return true;
}

/* The nearest place where both go on alike, among the lines that were read ahead: the least sum of lines.  Lines of A
   by their end are in a map, with the lines of the same end in a list. */
static bool find_join(const struct diff *diff, size_t *a, size_t *b)
{
    const struct line_queue *x = &diff->queues[0], *y = &diff->queues[1];
    struct tw_map by_end = { .slots = NULL };
    uint32_t *next = calloc(queue_size(x) + 1, sizeof *next);
    size_t best = SIZE_MAX;

    for (size_t i = queue_size(x); next && i-- > 0;) {
        uint64_t *first = tw_map_put(&by_end, stretch_end(queue_at(x, i)));

        if (!first)
            break;
        next[i] = (uint32_t)*first;
        *first = i + 1;
    }
    for (size_t j = 0; next && j < queue_size(y) && j < best; j++) {
        const uint64_t *first = tw_map_find(&by_end, stretch_end(queue_at(y, j)));
        unsigned tries = 0;

        for (uint32_t i = first ? (uint32_t)*first : 0; i && i - 1 + j < best && tries < 1024;
             i = next[i - 1], tries++)
            if (joins(diff, i - 1, j)) {
                best = i - 1 + j;
                *a = i - 1;
                *b = j;
            }
    }
    tw_map_free(&by_end);
    free(next);
    return best != SIZE_MAX;
}

/* Instructions on a side before a line, and of that before an address. */
static uint64_t executed_before(const struct line_queue *queue, size_t line, uint64_t address)
{
    uint64_t count = 0;

    for (size_t i = 0; i < line; i++)
        count += queue_at(queue, i)->count;
    if (line < queue_size(queue)) {
        const struct stretch *at = queue_at(queue, line);

        if (address - at->start < at->length)
            count += stretch_after(queue->side, at, address - at->start).number - at->number;
    }
    return count;
}

/* Looks further and further ahead.  False: they do not join again, as far as is looked, or at all. */
static bool join(struct diff *diff, bool is_shown)
{
    size_t a = 0, b = 0;

    for (size_t ahead = AHEAD_FIRST;; ahead *= 4) {
        if (!queue_fill(&diff->queues[0], ahead) || !queue_fill(&diff->queues[1], ahead))
            return false;
        if (find_join(diff, &a, &b))
            break;
        if (ahead >= AHEAD_MOST ||
            (queue_size(&diff->queues[0]) < ahead && queue_size(&diff->queues[1]) < ahead))
            return false;
    }
    {
        const uint64_t one = queue_at(&diff->queues[0], a)->start;
        const uint64_t two = queue_at(&diff->queues[1], b)->start;
        const uint64_t address = one > two ? one : two;

        if (is_shown) {
            output_text(&diff->out, "  they join again at ");
            side_put_code(diff->names, &diff->out, address);
            output_format(&diff->out,
                          ", after %" PRIu64 " instructions in A and %" PRIu64 " in B\n",
                          executed_before(&diff->queues[0], a, address),
                          executed_before(&diff->queues[1], b, address));
        }
        queue_drop(&diff->queues[0], a, address);
        queue_drop(&diff->queues[1], b, address);
    }
    return true;
}

/* ---- showing ---- */

/* The call stack of a side where it parted: it is gone through again, with calls, up to there. */
static void print_stack(struct diff *diff, unsigned which, uint64_t number)
{
    const struct tw_calls_config config = { .size = sizeof config };
    struct side *side = &diff->sides[which];
    struct tw_call_place frames[FRAMES];
    struct tw_calls *calls = NULL;
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    uint32_t thread = UINT32_MAX;
    uint64_t done = 0;

    if (side->is_log)
        return;
    side->source = diff->sources[which];
    run = session_run_new(&side->session, &side->wish);
    if (run && tw_calls_new(&calls, &config, NULL) == TW_OK)
        while (done < number && tw_run_next(run, &part) == TW_OK) {
            size_t i = 0;

            if (part.kind != TW_PART_ELEMENTS || !part.source)
                continue;
            while (i < part.batch.count && done < number)
                done += part.batch.elements[i].type == TW_ELEMENT_INSTR_RANGE
                            ? part.batch.elements[i].count
                            : 0,
                    i++;
            part.batch.count = i;
            if (tw_calls_take(calls, run, &part) != TW_OK)
                break;
            thread = tw_calls_thread_number(calls, &part);
        }
    if (thread != UINT32_MAX) {
        const size_t count = tw_calls_stack_now(calls, frames, FRAMES, thread);

        output_format(&diff->out, "  stack in %c:", 'A' + (int)which);
        for (size_t i = 0; i < count && i < FRAMES; i++) {
            output_text(&diff->out, i ? " < " : " ");
            output_name(&diff->out,
                        tw_functions_get(tw_calls_functions(calls), frames[i].function)->name);
        }
        output_text(&diff->out, "\n");
    }
    tw_calls_free(calls);
    tw_run_free(run);
}

static void print_next(struct diff *diff, unsigned which)
{
    struct line_queue *queue = &diff->queues[which];

    output_format(&diff->out, "  %c: ", 'A' + (int)which);
    if (!queue_fill(queue, 1))
        return;
    if (!queue_size(queue)) {
        output_text(&diff->out, "ends\n");
        return;
    }
    side_put_code(diff->names, &diff->out, queue_at(queue, 0)->start);
    if (!diff->sides[which].is_log)
        output_format(&diff->out, " (packet at 0x%" PRIx64 ")", queue_at(queue, 0)->index);
    if (queue_at(queue, 0)->after_gap)
        output_text(&diff->out, ": trace or code is missing before it");
    output_text(&diff->out, "\n");
}

static uint64_t number_of(struct diff *diff)
{
    for (unsigned i = 0; i < 2; i++)
        if (queue_fill(&diff->queues[i], 1) && queue_size(&diff->queues[i]))
            return queue_at(&diff->queues[i], 0)->number;
    return 0;
}

static void print_parting(struct diff *diff)
{
    const uint64_t number = number_of(diff);

    if (diff->count == 1)
        output_format(&diff->out, "they part after %" PRIu64 " instructions", number);
    else
        output_format(&diff->out, "and again after %" PRIu64 " instructions in A", number);
    if (diff->last != UINT64_MAX && number) {
        output_text(&diff->out, ", before ");
        side_put_code(diff->names, &diff->out, diff->last);
    }
    output_text(&diff->out, "\n");
    print_next(diff, 0);
    print_next(diff, 1);
    if (diff->count == 1 && !diff->ignored.interrupts && !diff->ignored.range_count) {
        print_stack(diff, 0, number + 1);
        print_stack(diff, 1, number + 1);
    }
}

/* ---- comparing ---- */

static int compare(struct diff *diff, const char *a, const char *b)
{
    const char *both[2] = { a, b };

    diff->last = UINT64_MAX;
    diff->count = 0;
    for (unsigned i = 0; i < 2; i++) {
        diff->sources[i] = both[i];
        free(diff->queues[i].lines);
        diff->queues[i] = (struct line_queue){ .side = &diff->sides[i] };
        if (!side_start(&diff->sides[i], both[i]))
            return NOT_DONE;
    }
    while (go_together(diff)) {
        const bool is_shown = ++diff->count <= SHOWN;

        if (is_shown)
            print_parting(diff);
        if (!join(diff, is_shown)) {
            if (is_shown)
                output_text(&diff->out, "  they do not join again\n");
            break;
        }
    }
    if (diff->sides[0].is_failed || diff->sides[1].is_failed)
        return NOT_DONE;
    if (diff->count > SHOWN)
        output_format(&diff->out, "... and %" PRIu64 " times more\n", diff->count - SHOWN);
    return diff->count ? 1 : DONE;
}

static bool compare_all(struct diff *diff, int *status)
{
    const char *names[2][SOURCES];
    size_t counts[2];
    bool is_equal = true;

    for (unsigned i = 0; i < 2; i++)
        counts[i] = side_sources(&diff->sides[i], names[i], SOURCES);
    if (counts[0] <= 1 || counts[1] <= 1)
        counts[0] = counts[1] = 1, names[0][0] = names[1][0] = NULL;
    for (size_t i = 0; i < counts[0] && i < counts[1]; i++) {
        if (names[0][i])
            output_format(&diff->out, "%s and %s:\n", names[0][i], names[1][i]);
        *status = compare(diff, names[0][i], names[1][i]);
        if (*status != DONE && *status != 1)
            return false;
        if (*status == 1) {
            is_equal = false;
            if (!counts_compare(diff->sides, diff->names,
                                (const char *const[]){ names[0][i], names[1][i] }, &diff->out))
                return false;
        } else {
            output_format(&diff->out, "equal: %" PRIu64 " instructions\n",
                          diff->sides[0].number);
        }
    }
    if (counts[0] != counts[1]) {
        output_format(&diff->out, "A has %zu sources, B %zu\n", counts[0], counts[1]);
        is_equal = false;
    }
    *status = is_equal ? DONE : 1;
    return true;
}

/* ---- what is left out ---- */

static bool add_function(struct diff *diff, const struct options *options, const char *name)
{
    struct tw_symbols *symbols;
    struct tw_symbol symbol;
    size_t count = 0;

    if (tw_symbols_new(&symbols, NULL, NULL) != TW_OK)
        return false;
    for (size_t i = 0; i < options->symbols.count; i++)
        if (tw_symbols_add_elf(symbols, options->symbols.items[i], 0) != TW_OK)
            say("--symbols: %s", tw_symbols_fault(symbols));
    while (diff->ignored.range_count < SIDE_IGNORED &&
           tw_symbols_by_name(symbols, &symbol, name, count)) {
        diff->ignored.ranges[diff->ignored.range_count++] =
            (struct tw_address_range){ symbol.address & ~(uint64_t)1,
                                       symbol.address + symbol.size };
        count++;
    }
    tw_symbols_free(symbols);
    return count ||
           options_wrong(
               options,
               "--ignore: no function is named \"%s\"; give --symbols FILE with an ELF file",
               name);
}

static bool take_ignored(struct diff *diff, const struct options *options)
{
    for (size_t i = 0; i < options->ignore.count; i++) {
        const char *word = options->ignore.items[i];
        const char *dash = strchr(word, '-');
        struct tw_address_range range;

        if (strcmp(word, "interrupts") == 0) {
            diff->ignored.interrupts = true;
        } else if (strncmp(word, "function:", 9) == 0) {
            if (!add_function(diff, options, word + 9))
                return false;
        } else if (strncmp(word, "range:", 6) == 0 && dash &&
                   parse_number_size(&range.first, word + 6, (size_t)(dash - word - 6)) &&
                   parse_number(&range.end, dash + 1) && range.end > range.first &&
                   diff->ignored.range_count < SIDE_IGNORED) {
            diff->ignored.ranges[diff->ignored.range_count++] = range;
        } else {
            return options_wrong(
                options,
                "--ignore: \"%s\"; there is interrupts, function:NAME and range:FIRST-END",
                word);
        }
    }
    return true;
}

static int run(const struct options *options)
{
    struct diff *diff = calloc(1, sizeof *diff);
    int status = NOT_DONE;

    if (!diff) {
        say("out of memory");
        return NOT_DONE;
    }
    if (!take_ignored(diff, options)) {
        free(diff);
        return BAD_USAGE;
    }
    for (unsigned i = 0; i < 2; i++) {
        status =
            side_open(&diff->sides[i], options, options->arguments.items[i], &diff->ignored);
        if (status != DONE)
            break;
    }
    diff->names = diff->sides[0].is_log ? &diff->sides[1] : &diff->sides[0];
    if (status == DONE && !output_open(&diff->out, options->output, options->color))
        status = NOT_DONE;
    else if (status == DONE) {
        bool is_good;

        if (options->packets)
            is_good = packets_compare(diff->sides, &diff->out, &status);
        else
            is_good = compare_all(diff, &status);
        if (!output_close(&diff->out, is_good))
            status = NOT_DONE;
        if (!is_good)
            status = NOT_DONE;
    }
    for (unsigned i = 0; i < 2; i++) {
        free(diff->queues[i].lines);
        side_close(&diff->sides[i]);
    }
    free(diff);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART, G_DECODER, G_EXECUTED, O_INDEX, O_PACKETS, O_IGNORE, G_OUTPUT, O_END,
};

const struct command command_diff = {
    .name = "diff",
    .arguments = "A B [OPTION...]",
    .summary = "where two runs part, how they join again, and what differs in all",
    .details =
        "A and B are captures, or execution logs: the same run through two trace units may be\n"
        "compared, too. The exit status is 0 when they are equal and 1 when they are not.\n"
        "\n"
        "examples:\n"
        "  trackway diff yesterday/ today/ --symbols program.elf\n"
        "  trackway diff capture/ run.exlog.gz --ignore interrupts\n"
        "  trackway diff unit/ model/ --packets",
    .options = takes,
    .least = 2,
    .most = 2,
    .run = run,
};
