/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace from bytes to elements through the decode tree, over code that the input brings: ends, stays
   within bounds, and gives the same however the bytes are cut. */
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "etrace_config.h"
#include "kept.h"

enum { ELEMENTS_MOST = 20000, TEXT_ROOM = 16384, CODE_ADDRESS = 0x1000 };

struct outcome {
    uint64_t hash;
    size_t count;
};

static void take(struct tw_tree *tree, struct outcome *outcome)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status = TW_OK;

    while (outcome->count < ELEMENTS_MOST && (status = tw_tree_next(tree, &batch)) == TW_OK) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];
            uint64_t words[sizeof *element / 8];
            char line[512];

            require(element->type < TW_ELEMENT_TYPES);
            require(element->type != TW_ELEMENT_INSTR_RANGE ||
                    (element->count > 0 && element->length >= 2 * element->count));
            if (outcome->count < 200)
                (void)tw_element_json(line, sizeof line, element, batch.id);
            memcpy(words, element, sizeof words);
            for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
                outcome->hash = (outcome->hash ^ words[k] ^ words[k] >> 29) * 1099511628211u;
        }
        outcome->count += batch.count;
    }
    require(outcome->count >= ELEMENTS_MOST || status == TW_MORE || status == TW_END);
}

/* A tree of a configuration, and the code that it reads. */
struct subject {
    struct tw_image *image;
    struct tw_tree *tree;
};

static void make(void *made, const void *bytes)
{
    static char text[TEXT_ROOM];
    const struct tw_etrace_config about = etrace_config(bytes);
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = text };
    struct subject *subject = made;

    tw_tree_free(subject->tree);
    tw_image_free(subject->image);
    require(tw_etrace_config_text(text, sizeof text, &about) > 100);
    require(tw_image_new(&subject->image, NULL, NULL) == TW_OK);
    source.image = subject->image;
    require(tw_tree_new(&subject->tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(subject->tree, NULL, &source) == TW_OK);
}

static struct outcome decode(struct tw_tree *tree, const uint8_t *data, size_t size,
                             size_t piece)
{
    struct outcome outcome = { 14695981039346656037u, 0 };

    for (size_t at = 0; at < size && outcome.count < ELEMENTS_MOST; at += piece) {
        require(tw_tree_feed(tree, data + at, size - at < piece ? size - at : piece) == TW_OK);
        take(tree, &outcome);
    }
    if (outcome.count < ELEMENTS_MOST) {
        require(tw_tree_finish(tree) == TW_OK);
        take(tree, &outcome);
    }
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kept kept;
    struct tw_region region = { .size = sizeof region, .address = CODE_ADDRESS };
    const struct subject *subject;
    struct outcome whole, pieces;

    if (size < ETRACE_CONFIG_BYTES + 2)
        return 0;
    subject = kept_made(&kept, make, sizeof *subject, data, ETRACE_CONFIG_BYTES);
    region.length = data[ETRACE_CONFIG_BYTES];
    data += ETRACE_CONFIG_BYTES + 1;
    size -= ETRACE_CONFIG_BYTES + 1;
    if (region.length > size)
        region.length = size;
    tw_image_remove(subject->image, CODE_ADDRESS, 0);
    if (region.length)
        require(tw_image_add(subject->image, &region, data) == TW_OK);
    data += region.length;
    size -= (size_t)region.length;
    tw_tree_reset(subject->tree, 0);
    whole = decode(subject->tree, data, size, size + 1);
    if (whole.count < ELEMENTS_MOST && size < 300) {
        tw_tree_reset(subject->tree, 0);
        pieces = decode(subject->tree, data, size, 1);
        require(pieces.hash == whole.hash && pieces.count == whole.count);
    }
    return 0;
}
