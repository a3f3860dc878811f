/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings that show only when the program is followed: the trace is decoded with the image under each of
   them, and the one under which trace and code contradict each other least is taken. */
#include <string.h>

#include <trackway/tree.h>

#include "base/compiler.h"
#include "identify/identify.h"

enum { FOLLOWED_MOST = 48 << 10, TEXT_MOST = 1024 };

struct outcome {
    uint64_t instructions, errors, missing;
};

static void count_elements(struct outcome *outcome, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            outcome->instructions += element->count;
        else if (element->type == TW_ELEMENT_ERROR)
            outcome->errors++;
        else if (element->type == TW_ELEMENT_ADDR_NACC)
            outcome->missing++;
    }
}

static enum tw_status decode(struct tw_tree *tree, struct outcome *outcome)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        count_elements(outcome, &batch);
    return status;
}

/* False: it cannot be decoded so. */
static bool follow(struct outcome *outcome, const struct tw_trial *trial,
                   const struct tw_sampled *sampled, struct tw_image *image,
                   const struct tw_allocator *allocator)
{
    const struct tw_tree_config config = { .size = sizeof config, .allocator = allocator };
    struct tw_register registers[TW_SETTINGS_MOST];
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = trial->suspect->protocol,
                                     .registers = registers,
                                     .text = lines,
                                     .image = image };
    struct tw_tree *tree;
    size_t size = sampled->cut_count ? sampled->cuts[0] : sampled->size;
    uint8_t id;
    bool is_good;

    *outcome = (struct outcome){ 0 };
    lines[0] = 0;
    tw_settings_print(&text, &trial->settings);
    for (char *at = lines; *at; at++)
        if (*at == ',')
            *at = '\n';
    for (size_t i = 0; i < trial->settings.count; i++)
        if (!trial->settings.items[i].word)
            registers[source.register_count++] =
                (struct tw_register){ trial->settings.items[i].name,
                                      trial->settings.items[i].value };
    if (tw_tree_new(&tree, &config, NULL) != TW_OK)
        return false;
    size = size < FOLLOWED_MOST ? size : FOLLOWED_MOST;
    is_good = tw_tree_add_source(tree, &id, &source) == TW_OK &&
              tw_tree_feed(tree, sampled->bytes, size) == TW_OK &&
              decode(tree, outcome) == TW_MORE;
    tw_tree_free(tree);
    return is_good;
}

/* The more the better. */
static double merit(const struct outcome *outcome)
{
    return (double)outcome->instructions /
           (1 + 40 * (double)outcome->errors + 4 * (double)outcome->missing);
}

struct tuning {
    const struct tw_sampled *sampled;
    struct tw_image *image;
    const struct tw_allocator *allocator;
    double best;
};

static void tune(struct tuning *tuning, struct tw_trial *trial, const struct tw_dial *dials,
                 unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct tw_settings best = trial->settings;

        for (unsigned choice = 0; choice < dials[i].count; choice++) {
            struct outcome outcome;

            tw_settings_set(&trial->settings, &dials[i], choice);
            if (!follow(&outcome, trial, tuning->sampled, tuning->image, tuning->allocator) ||
                merit(&outcome) <= tuning->best * 1.02)
                continue;
            tuning->best = merit(&outcome);
            best = trial->settings;
        }
        trial->settings = best;
    }
}

void tw_follow_tune(struct tw_trial *trial, const struct tw_sampled *sampled,
                    struct tw_image *image, const struct tw_allocator *allocator)
{
    const struct tw_suspect *suspect = trial->suspect;
    struct tuning tuning = { sampled, image, allocator, 0 };
    struct outcome outcome;

    if (!follow(&outcome, trial, sampled, image, allocator))
        return;
    tuning.best = merit(&outcome);
    tune(&tuning, trial, suspect->followed, suspect->followed_count);
    /* Where settings are keys, those that were guessed from packets alone may be wrong too. */
    if (suspect->is_text && follow(&outcome, trial, sampled, image, allocator) &&
        (outcome.errors || !outcome.instructions)) {
        tune(&tuning, trial, suspect->dials, suspect->dial_count);
        tune(&tuning, trial, suspect->more, suspect->more_count);
        tune(&tuning, trial, suspect->followed, suspect->followed_count);
    }
}
