/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a dump of the RISC-V Trace Control Interface: it is read, or the line that is wrong is told; what it says
   of an encoder is a configuration that a decoder takes. */
#include <stdlib.h>
#include <string.h>

#include <trackway/control.h>
#include <trackway/tree.h>

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_config(const struct tw_control *control)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const char *protocol = tw_control_protocol(control);
    struct tw_fault fault = { .text = "" };
    char text[1 << 14];
    size_t size = sizeof text;
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = protocol, .text = text, .id = 1
    };
    struct tw_tree *tree;

    if (!protocol)
        return;
    if (tw_control_config(control, text, &size, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        return;
    }
    require(size == strlen(text));
    require(tw_tree_new(&tree, &config, NULL) == TW_OK);
    (void)!tw_tree_add_source(tree, NULL, &source);
    tw_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_control_component component = { .size = sizeof component };
    struct tw_fault fault = { .text = "" };
    struct tw_control *control;
    char line[200];

    (void)tw_control_is_dump((const char *)data, size);
    if (tw_control_read(&control, (const char *)data, size, NULL, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        return 0;
    }
    for (size_t i = 0; i < tw_control_count(control); i++) {
        require(tw_control_component(control, &component, i) == TW_OK);
        for (size_t k = 0; tw_control_field(line, sizeof line, control, i, k); k++)
            require(strlen(line) < sizeof line);
    }
    try_config(control);
    tw_control_free(control);
    return 0;
}
