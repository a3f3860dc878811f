/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's sample profile as text, which clang -fprofile-sample-use and llvm-profdata merge --sample read.  By the
   rules of llvm-profgen: a place in the source has the greatest count of its instructions, or as many as calls
   went out from there; a function the sum over its bytes; functions with counts tell of all of their code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "export/export.h"
#include "export/feedback.h"

enum { FRAMES = 32 };

/* A function, or one that was inlined at a place of `parent`. */
struct sample_function {
    const char *name;
    uint32_t parent; /* 0: none */
    uint32_t line, discriminator;
    uint64_t total, head;
    uint32_t same; /* another with the same hash; 0: none */
};

/* A place in a function, or the target of a call there. */
struct sample_place {
    uint32_t function;
    uint32_t line, discriminator;
    const char *target; /* NULL: the place itself */
    uint64_t count;
    uint32_t same;
};

struct sample_profile {
    const struct tw_feedback *feedback;
    struct sample_function *functions; /* from 1 on */
    struct sample_place *places;       /* from 1 on */
    size_t function_count, function_room, place_count, place_room;
    struct tw_map by_function, by_place;
    bool is_out;
    const struct tw_allocator *allocator;
};

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;

    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static uint64_t hash_of(uint32_t function, uint32_t line, uint32_t discriminator,
                        const char *name)
{
    return tw_hash64(hash_text(name) ^ tw_hash64((uint64_t)function << 32 ^ line) ^
                     (uint64_t)discriminator << 20);
}

static bool is_same(const char *one, const char *other)
{
    return one == other || (one && other && strcmp(one, other) == 0);
}

/* The function, made when it is new; 0: no memory. */
static uint32_t function_of(struct sample_profile *profile, uint32_t parent,
                            const struct tw_sample_frame *call, const char *name)
{
    const uint32_t line = call ? call->line : 0;
    const uint32_t discriminator = call ? call->discriminator : 0;
    uint64_t *first =
        tw_map_put(&profile->by_function, hash_of(parent, line, discriminator, name));
    uint32_t at = first ? (uint32_t)*first : 0;

    for (; at; at = profile->functions[at].same) {
        const struct sample_function *one = &profile->functions[at];

        if (one->parent == parent && one->line == line && one->discriminator == discriminator &&
            is_same(one->name, name))
            return at;
    }
    if (!first || profile->function_count >= UINT32_MAX - 2 ||
        !TW_GROW(profile->allocator, &profile->functions, &profile->function_room,
                 profile->function_count + 2)) {
        profile->is_out = true;
        return 0;
    }
    at = (uint32_t)++profile->function_count;
    profile->functions[at] = (struct sample_function){ .name = name,
                                                       .parent = parent,
                                                       .line = line,
                                                       .discriminator = discriminator,
                                                       .same = (uint32_t)*first };
    *first = at;
    return at;
}

static struct sample_place *place_of(struct sample_profile *profile, uint32_t function,
                                     const struct tw_sample_frame *frame, const char *target)
{
    uint64_t *first = tw_map_put(&profile->by_place,
                                 hash_of(function, frame->line, frame->discriminator, target));
    uint32_t at = first ? (uint32_t)*first : 0;

    for (; at; at = profile->places[at].same) {
        struct sample_place *one = &profile->places[at];

        if (one->function == function && one->line == frame->line &&
            one->discriminator == frame->discriminator && is_same(one->target, target))
            return one;
    }
    if (!first || profile->place_count >= UINT32_MAX - 2 ||
        !TW_GROW(profile->allocator, &profile->places, &profile->place_room,
                 profile->place_count + 2)) {
        profile->is_out = true;
        return NULL;
    }
    at = (uint32_t)++profile->place_count;
    profile->places[at] = (struct sample_place){ .function = function,
                                                 .line = frame->line,
                                                 .discriminator = frame->discriminator,
                                                 .target = target,
                                                 .same = (uint32_t)*first };
    *first = at;
    return &profile->places[at];
}

/* The innermost function at an address, `total` added to it and those around it; 0: none is known. */
static uint32_t leaf_of(struct sample_profile *profile, struct tw_sample_frame *leaf,
                        uint64_t address, uint64_t total)
{
    const struct tw_feedback *feedback = profile->feedback;
    struct tw_sample_frame frames[FRAMES];
    size_t count =
        tw_symbols_sample_frames(feedback->symbols, frames, FRAMES, address + feedback->bias);
    uint32_t function = 0;

    if (!count || count > FRAMES)
        return 0;
    *leaf = frames[0];
    for (size_t i = count; i-- > 0 && !profile->is_out;) {
        function = function_of(profile, function, i + 1 < count ? &frames[i + 1] : NULL,
                               frames[i].function);
        if (function)
            profile->functions[function].total += total;
    }
    return function;
}

static void add_bytes(struct sample_profile *profile, uint64_t address, uint64_t size,
                      uint64_t count)
{
    struct tw_sample_frame leaf;
    const uint32_t function = leaf_of(profile, &leaf, address, size * count);
    struct sample_place *place =
        function && leaf.has_line ? place_of(profile, function, &leaf, NULL) : NULL;

    if (place && place->count < count * leaf.copies)
        place->count = count * leaf.copies;
}

/* All code of functions that were executed. */
static void add_code(struct sample_profile *profile)
{
    const struct tw_feedback *feedback = profile->feedback;
    const struct tw_function_count *function, *next;
    const struct tw_code_count *code;
    size_t at = 0;

    function = tw_coverage_function(feedback->coverage, feedback->object, at);
    for (size_t i = 0;
         (code = tw_coverage_code(feedback->coverage, feedback->object, i)) != NULL; i++) {
        const unsigned step = code->isa == TW_ISA_A64 || code->isa == TW_ISA_A32 ? 4 : 2;

        for (uint64_t pc = code->first; pc < code->end && !profile->is_out; pc += step) {
            const uint64_t link = pc - feedback->bias;

            while ((next = tw_coverage_function(feedback->coverage, feedback->object,
                                                at + 1)) != NULL &&
                   next->address <= pc) {
                function = next;
                at++;
            }
            if (link >= feedback->first && link < feedback->end && function &&
                (function->covered || code->count))
                add_bytes(profile, link, step, code->count);
        }
    }
}

/* Branches that lead to the beginning of a function are calls of it. */
static void add_calls(struct sample_profile *profile)
{
    const struct tw_feedback *feedback = profile->feedback;
    struct tw_jump_count jump;

    for (size_t at = 0; tw_feedback_jump(feedback, &jump, &at) && !profile->is_out;) {
        struct tw_symbol symbol;
        struct tw_sample_frame frame, callee;
        uint32_t from, to;

        if (jump.to == UINT64_MAX ||
            !tw_symbols_find(feedback->symbols, &symbol, jump.to + feedback->bias) ||
            symbol.address != jump.to + feedback->bias)
            continue;
        to = leaf_of(profile, &callee, jump.to, 0);
        while (to && profile->functions[to].parent)
            to = profile->functions[to].parent;
        if (!to)
            continue;
        profile->functions[to].head += jump.count;
        from = jump.from == UINT64_MAX ? 0 : leaf_of(profile, &frame, jump.from, 0);
        if (from && frame.has_line) {
            struct sample_place *place =
                place_of(profile, from, &frame, profile->functions[to].name);

            if (place)
                place->count += jump.count;
        }
    }
}

/* ---- writing ---- */

static int by_place(const void *left, const void *right)
{
    const struct sample_place *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->discriminator != b->discriminator)
        return a->discriminator < b->discriminator ? -1 : 1;
    if (!a->target || !b->target)
        return a->target ? 1 : b->target ? -1 : 0;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->target, b->target);
}

/* A function and its number: the table itself must stay as it is, for `parent`. */
struct sample_order {
    const struct sample_function *function;
    uint32_t number;
};

/* Functions by total, inlined ones by parent and place. */
static int by_order(const void *left, const void *right)
{
    const struct sample_function *a = ((const struct sample_order *)left)->function;
    const struct sample_function *b = ((const struct sample_order *)right)->function;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (!a->parent && a->total != b->total)
        return a->total > b->total ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->discriminator != b->discriminator)
        return a->discriminator < b->discriminator ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void put_key(struct tw_sink *sink, unsigned depth, uint32_t line, uint32_t discriminator)
{
    for (unsigned i = 0; i < depth; i++)
        tw_sink_text(sink, " ");
    tw_sink_format(sink, "%" PRIu32, line);
    if (discriminator)
        tw_sink_format(sink, ".%" PRIu32, discriminator);
}

/* The places of one function; `places` are sorted. */
static void put_places(struct tw_sink *sink, const struct sample_profile *profile,
                       uint32_t function, unsigned depth)
{
    size_t low = 1, high = profile->place_count + 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (profile->places[middle].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low <= profile->place_count && profile->places[low].function == function; low++) {
        const struct sample_place *place = &profile->places[low];

        if (!place->target) {
            uint64_t called = 0;

            for (size_t i = low + 1;
                 i <= profile->place_count && profile->places[i].function == function &&
                 profile->places[i].target;
                 i++)
                called += profile->places[i].count;
            if (low > 1 && profile->places[low - 1].function == function)
                tw_sink_text(sink, "\n");
            put_key(sink, depth, place->line, place->discriminator);
            tw_sink_format(sink, ": %" PRIu64, called > place->count ? called : place->count);
        } else {
            tw_sink_text(sink, " ");
            tw_sink_text(sink, place->target);
            tw_sink_format(sink, ":%" PRIu64, place->count);
        }
        if (low == profile->place_count || profile->places[low + 1].function != function)
            tw_sink_text(sink, "\n");
    }
}

/* What was inlined into a function, level by level. */
static void put_function(struct tw_sink *sink, const struct sample_profile *profile,
                         const struct sample_order *order, size_t at, unsigned depth)
{
    const struct sample_function *function = order[at].function;
    const uint32_t number = order[at].number;
    size_t low = 0, high = profile->function_count;

    if (depth > 1) {
        put_key(sink, depth - 1, function->line, function->discriminator);
        tw_sink_text(sink, ": ");
    }
    tw_sink_text(sink, function->name);
    tw_sink_format(sink, ":%" PRIu64, function->total);
    if (depth == 1)
        tw_sink_format(sink, ":%" PRIu64, function->head);
    tw_sink_text(sink, "\n");
    put_places(sink, profile, number, depth);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (order[middle].function->parent < number)
            low = middle + 1;
        else
            high = middle;
    }
    /* No deeper than FRAMES: each was found so. */
    for (; low < profile->function_count && order[low].function->parent == number; low++)
        put_function(sink, profile, order, low, depth + 1);
}

static void put_profile(struct tw_sink *sink, struct sample_profile *profile)
{
    struct sample_order *order =
        tw_take_raw(profile->allocator, (profile->function_count + 1) * sizeof *order);

    if (!order) {
        profile->is_out = true;
        return;
    }
    for (size_t i = 0; i < profile->function_count; i++)
        order[i] = (struct sample_order){ &profile->functions[i + 1], (uint32_t)(i + 1) };
    qsort(order, profile->function_count, sizeof *order, by_order);
    qsort(profile->places + 1, profile->place_count, sizeof *profile->places, by_place);
    for (size_t i = 0; i < profile->function_count && !order[i].function->parent; i++)
        if (!sink->is_over && (order[i].function->total || order[i].function->head))
            put_function(sink, profile, order, i, 1);
    tw_give(profile->allocator, order);
}

void tw_write_sample_profile(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct tw_feedback feedback;
    struct sample_profile profile = { .feedback = &feedback, .allocator = subject->allocator };

    if (!tw_feedback_choose(&feedback, subject) || !feedback.symbols)
        return;
    profile.by_function.allocator = profile.by_place.allocator = profile.allocator;
    add_code(&profile);
    add_calls(&profile);
    if (!profile.is_out && profile.function_count && profile.place_count)
        put_profile(sink, &profile);
    sink->lacks_memory |= profile.is_out;
    tw_map_free(&profile.by_function);
    tw_map_free(&profile.by_place);
    tw_give(profile.allocator, profile.functions);
    tw_give(profile.allocator, profile.places);
}
