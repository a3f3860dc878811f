/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from port 0 of an ITM, by push: push <FILE.  The consumer asks for a pause when full. */
#include <stdio.h>

#include <trackway/push.h>

struct screen {
    char line[8];
    size_t used;
};

static enum tw_response take(void *context, const struct tw_batch *batch,
                             const struct tw_element *e)
{
    struct screen *screen = context;
    (void)batch;
    if (e->type == TW_ELEMENT_ITMTRACE && e->kind == TW_ITM_SWIT && e->source == 0)
        screen->line[screen->used++] = (char)e->itm_value;
    return screen->used == sizeof screen->line ? TW_RESPONSE_WAIT : TW_RESPONSE_CONT;
}

/* One operation, then flushes until nothing waits; returns how many bytes were taken. */
static size_t operate(struct tw_push *push, struct screen *screen, enum tw_operation operation,
                      uint64_t index, const uint8_t *bytes, size_t size)
{
    size_t used;
    enum tw_response response = tw_push_operation(push, &used, operation, index, bytes, size);

    for (;;) {
        (void)fwrite(screen->line, 1, screen->used, stdout);
        screen->used = 0;
        if (!tw_response_is_wait(response))
            return tw_response_is_fatal(response) ? size : used;
        response = tw_push_operation(push, NULL, TW_OP_FLUSH, 0, NULL, 0);
    }
}

int main(void)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_tree_source itm = { .size = sizeof itm, .protocol = "itm", .id = 1 };
    struct screen screen = { .used = 0 };
    struct tw_push_config consumer = { .size = sizeof consumer, .element = take };
    struct tw_tree *tree;
    struct tw_push *push;
    static uint8_t bytes[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, stdin);

    consumer.element_context = &screen;
    if (tw_tree_new(&tree, &config, NULL) != TW_OK ||
        tw_tree_add_source(tree, NULL, &itm) != TW_OK ||
        tw_push_new(&push, tree, &consumer, NULL) != TW_OK)
        return 3;
    for (size_t at = 0; at < size;)
        at += operate(push, &screen, TW_OP_DATA, at, bytes + at, size - at);
    (void)operate(push, &screen, TW_OP_EOT, 0, NULL, 0);
    tw_push_free(push);
    tw_tree_free(tree);
    return 0;
}
