/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace from bytes to elements through the decode tree, over code that the input brings: ends, stays
   within bounds, and gives the same however the bytes are cut and on however many threads. */
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "ntrace_config.h"

enum { ELEMENTS_MOST = 20000, TEXT_ROOM = 4096, CODE_ADDRESS = 0x1000 };

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
            if (outcome->count < 200) {
                (void)tw_element_json(line, sizeof line, element, batch.id);
                (void)tw_element_text(line, sizeof line, element, batch.id);
            }
            memcpy(words, element, sizeof words);
            for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
                outcome->hash = (outcome->hash ^ words[k] ^ words[k] >> 29) * 1099511628211u;
        }
        outcome->count += batch.count;
    }
    require(outcome->count >= ELEMENTS_MOST || status == TW_MORE || status == TW_END);
}

static struct tw_tree *new_tree(const char *text, struct tw_image *image)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "ntrace", .text = text, .image = image
    };
    struct tw_tree *tree;

    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    require(tw_tree_add_source(tree, NULL, &source) == TW_OK);
    return tree;
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
    static char text[TEXT_ROOM];
    struct tw_ntrace_config config;
    struct tw_region region = { .size = sizeof region, .address = CODE_ADDRESS };
    struct tw_image *image;
    struct tw_tree *tree;
    struct outcome whole, pieces;

    if (size < NTRACE_CONFIG_BYTES + 2)
        return 0;
    config = ntrace_config(data);
    require(tw_ntrace_config_text(text, sizeof text, &config) < sizeof text);
    region.length = data[NTRACE_CONFIG_BYTES];
    data += NTRACE_CONFIG_BYTES + 1;
    size -= NTRACE_CONFIG_BYTES + 1;
    if (region.length > size)
        region.length = size;
    require(tw_image_new(&image, NULL, NULL) == TW_OK);
    if (region.length)
        require(tw_image_add(image, &region, data) == TW_OK);
    data += region.length;
    size -= (size_t)region.length;
    tree = new_tree(text, image);
    whole = decode(tree, data, size, size + 1);
    if (whole.count < ELEMENTS_MOST && size < 300) {
        tw_tree_reset(tree, 0);
        pieces = decode(tree, data, size, 1);
        require(pieces.hash == whole.hash && pieces.count == whole.count);
    }
    tw_tree_free(tree);
    tw_image_free(image);
    return 0;
}
