/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran, element by element, of a capture's first buffer: decode CAPTURE. */
#include <stdio.h>

#include <trackway/capture.h>
#include <trackway/tree.h>

/* All that there is now.  TW_MORE: feed more bytes; TW_END: that was all. */
static enum tw_status print_all(struct tw_tree *tree)
{
    enum tw_status status;
    struct tw_batch batch = { .size = sizeof batch };
    char line[512];

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            (void)tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
            puts(line);
        }
    return status;
}

int main(int argc, char **argv)
{
    struct tw_capture *capture = NULL;
    struct tw_tree *tree = NULL;
    struct tw_fault fault = { TW_OK, "usage: decode CAPTURE" };
    enum tw_status status = TW_E_ARGUMENT;
    const uint8_t *bytes;
    uint64_t at = 0;
    size_t size;

    if (argc == 2)
        status = tw_capture_open(&capture, argv[1], NULL, &fault);
    if (status == TW_OK)
        status = tw_capture_tree(&tree, capture, 0, NULL, &fault);
    while (status == TW_OK && tw_capture_read(capture, &bytes, &size, 0, at) == TW_OK) {
        status = tw_tree_feed(tree, bytes, size);
        if (status == TW_OK && print_all(tree) != TW_MORE)
            status = TW_E_MEMORY;
        at += size;
    }
    if (status == TW_OK)
        status = tw_tree_finish(tree);
    if (status == TW_OK)
        status = print_all(tree);
    if (status != TW_END)
        (void)fprintf(stderr, "decode: %s\n", tree ? tw_tree_fault(tree) : fault.text);
    tw_tree_free(tree);
    tw_capture_free(capture);
    return status == TW_END ? 0 : 3;
}
