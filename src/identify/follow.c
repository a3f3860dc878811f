/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings that show only when the program is followed: the trace is decoded with the image under each of
   them, and the one under which trace and code contradict each other least is taken. */
#include <string.h>

#include <trackway/tree.h>

#include "base/compiler.h"
#include "identify/identify.h"

enum {
    FOLLOWED_MOST = 48 << 10,
    SHORT_MOST = 16 << 10,
    TEXT_MOST = 1024,
    DIALS_MOST = 32,
    CLIMB_ROUNDS = 8,
    CLIMB_TRIES = 4000
};

struct outcome {
    uint64_t instructions, errors, missing;
    uint64_t reach; /* offset of the first contradiction; UINT64_MAX: there is none */
};

static void count_elements(struct outcome *outcome, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE) {
            outcome->instructions += element->count;
            continue;
        }
        if (element->type == TW_ELEMENT_ADDR_NACC)
            outcome->missing++;
        else if (element->type == TW_ELEMENT_ERROR && element->error != TW_ERROR_TRUNCATED)
            outcome->errors++; /* and not that the sample ends */
        else
            continue;
        outcome->reach = element->index < outcome->reach ? element->index : outcome->reach;
    }
}

static enum tw_status decode(struct tw_tree *tree, struct outcome *outcome, bool is_short)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK) {
        count_elements(outcome, &batch);
        if (is_short && (outcome->errors || outcome->missing))
            return TW_END;
    }
    return status;
}

struct tuning {
    const struct tw_suspect *suspect;
    const struct tw_sampled *sampled;
    struct tw_image *image;
    const struct tw_allocator *allocator;
    struct outcome best;
    const struct tw_dial *dials[DIALS_MOST];
    unsigned dial_count;
    unsigned left; /* tries */
};

/* False: it cannot be decoded so.  Short: up to the first contradiction. */
static bool follow(struct outcome *outcome, const struct tw_settings *settings,
                   const struct tuning *tuning, bool is_short)
{
    const struct tw_allocator *allocator = tuning->allocator;
    const struct tw_sampled *sampled = tuning->sampled;
    const struct tw_tree_config config = { .size = sizeof config, .allocator = allocator };
    struct tw_register registers[TW_SETTINGS_MOST];
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = tuning->suspect->protocol,
                                     .registers = registers,
                                     .text = lines,
                                     .image = tuning->image };
    struct tw_tree *tree;
    size_t size = sampled->cut_count ? sampled->cuts[0] : sampled->size;
    uint8_t id;
    bool is_good;

    *outcome = (struct outcome){ .reach = UINT64_MAX };
    lines[0] = 0;
    tw_settings_print(&text, settings, "\n");
    for (size_t i = 0; i < settings->count; i++)
        if (!settings->items[i].word)
            registers[source.register_count++] =
                (struct tw_register){ settings->items[i].name, settings->items[i].value };
    if (tw_tree_new(&tree, &config, NULL) != TW_OK)
        return false;
    size = size < FOLLOWED_MOST ? size : FOLLOWED_MOST;
    if (is_short)
        size = size < SHORT_MOST ? size : SHORT_MOST;
    is_good = tw_tree_add_source(tree, &id, &source) == TW_OK &&
              tw_tree_feed(tree, sampled->bytes, size) == TW_OK &&
              tw_tree_finish(tree) == TW_OK && decode(tree, outcome, is_short) == TW_END;
    tw_tree_free(tree);
    return is_good;
}

/* The more the better. */
static double merit(const struct outcome *outcome)
{
    return (double)outcome->instructions /
           (1 + 40 * (double)outcome->errors + 4 * (double)outcome->missing);
}

/* A value that is not the usual one has to explain more than chance does: where nothing speaks against the
   usual one (a return stack that is not used is not seen), it stays. */
static bool is_worth(const struct outcome *outcome, const struct outcome *usual)
{
    const uint64_t wrong = outcome->errors + outcome->missing;
    const uint64_t usual_wrong = usual->errors + usual->missing;

    return merit(outcome) > 1.02 * merit(usual) &&
           (outcome->instructions * 4 > usual->instructions * 5 || wrong * 2 < usual_wrong);
}

/* ---- registers: one field after the other */

static void tune(struct tuning *tuning, struct tw_settings *settings,
                 const struct tw_dial *dials, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct tw_settings best = *settings;

        for (unsigned choice = 0; choice < dials[i].count; choice++) {
            struct outcome outcome;

            if (tw_settings_is(settings, &dials[i], choice))
                continue;
            tw_settings_set(settings, &dials[i], choice);
            if (!follow(&outcome, settings, tuning, false) ||
                !is_worth(&outcome, &tuning->best))
                continue;
            tuning->best = outcome;
            best = *settings;
        }
        *settings = best;
    }
}

/* ---- keys: the farther the program is followed before a contradiction, the better */

static bool is_whole(const struct outcome *outcome)
{
    return outcome->reach == UINT64_MAX && outcome->instructions;
}

/* Keeps the settings in `best` if they lead farther. */
static void try_settings(struct tuning *tuning, struct tw_settings *best,
                         struct outcome *farthest, const struct tw_settings *settings)
{
    struct outcome outcome;

    if (!tuning->left)
        return;
    tuning->left--;
    if (!follow(&outcome, settings, tuning, true))
        return;
    if (outcome.instructions && outcome.reach > farthest->reach) {
        *farthest = outcome;
        *best = *settings;
    }
}

/* Changes of one key, and of two where none leads farther. */
static bool climb(struct tuning *tuning, struct tw_settings *settings, struct outcome *farthest)
{
    const uint64_t before = farthest->reach;
    struct tw_settings best = *settings;

    for (unsigned i = 0; i < tuning->dial_count; i++)
        for (unsigned a = 0; a < tuning->dials[i]->count; a++) {
            struct tw_settings one = *settings;

            tw_settings_set(&one, tuning->dials[i], a);
            try_settings(tuning, &best, farthest, &one);
        }
    for (unsigned i = 0; farthest->reach == before && i < tuning->dial_count; i++)
        for (unsigned n = 0; n < tuning->dials[i]->count * tuning->dial_count; n++) {
            const unsigned k = n / tuning->dials[i]->count;
            struct tw_settings one = *settings;

            tw_settings_set(&one, tuning->dials[i], n % tuning->dials[i]->count);
            for (unsigned b = 0; k > i && b < tuning->dials[k]->count; b++) {
                struct tw_settings two = one;

                tw_settings_set(&two, tuning->dials[k], b);
                try_settings(tuning, &best, farthest, &two);
            }
        }
    *settings = best;
    return farthest->reach > before;
}

static void add_dials(struct tuning *tuning, const struct tw_dial *dials, unsigned count)
{
    for (unsigned i = 0; i < count && tuning->dial_count < DIALS_MOST; i++)
        tuning->dials[tuning->dial_count++] = &dials[i];
}

/* From one beginning as far as it goes. */
static void climb_from(struct tuning *tuning, struct tw_settings *best,
                       struct outcome *farthest, const struct tw_settings *from)
{
    struct tw_settings settings = *from;
    struct outcome outcome;

    tuning->left = CLIMB_TRIES;
    if (!follow(&outcome, &settings, tuning, true))
        return;
    for (unsigned round = 0; round < CLIMB_ROUNDS && !is_whole(&outcome); round++)
        if (!climb(tuning, &settings, &outcome))
            break;
    if (!farthest->instructions || outcome.reach > farthest->reach) {
        *farthest = outcome;
        *best = settings;
    }
}

/* The usual values come first, then presets, then what the packets alone made likely. */
static void tune_keys(struct tuning *tuning, struct tw_settings *settings)
{
    const struct tw_suspect *suspect = tuning->suspect;
    const unsigned xlen = tw_image_xlen(tuning->image);
    struct outcome farthest = { 0 };
    struct tw_settings best = *settings;

    add_dials(tuning, suspect->dials, suspect->dial_count);
    add_dials(tuning, suspect->more, suspect->more_count);
    add_dials(tuning, suspect->followed, suspect->followed_count);
    for (size_t i = 0; i <= suspect->preset_count && !is_whole(&farthest); i++) {
        struct tw_settings from = { .is_text = true, .count = suspect->base_count };

        memcpy(from.items, suspect->base, suspect->base_count * sizeof *suspect->base);
        if (i) {
            const struct tw_preset *preset = &suspect->presets[i - 1];

            for (size_t k = 0; k < preset->count; k++)
                tw_settings_put_item(&from, &preset->items[k]);
        }
        if (xlen && tw_settings_find(&from, "iaddress_width_p"))
            tw_settings_put(&from, "iaddress_width_p", xlen);
        climb_from(tuning, &best, &farthest, &from);
    }
    if (!is_whole(&farthest))
        climb_from(tuning, &best, &farthest, settings);
    /* What packets told of options stays. */
    for (size_t i = 0; i < settings->count; i++)
        if (!tw_settings_find(&best, settings->items[i].name))
            tw_settings_put_item(&best, &settings->items[i]);
    *settings = best;
}

void tw_follow_tune(struct tw_trial *trial, const struct tw_sampled *sampled,
                    struct tw_image *image, const struct tw_allocator *allocator)
{
    const struct tw_suspect *suspect = trial->suspect;
    struct tuning tuning = {
        .suspect = suspect, .sampled = sampled, .image = image, .allocator = allocator
    };

    if (suspect->is_text && !suspect->is_data && suspect->is_chained)
        tune_keys(&tuning, &trial->settings);
    if (!follow(&tuning.best, &trial->settings, &tuning, false))
        return;
    tune(&tuning, &trial->settings, suspect->followed, suspect->followed_count);
}
