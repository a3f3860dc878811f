/* SPDX-License-Identifier: BSD-2-Clause */
/* Decode trees and their handles.  A handle is no address: it names a slot and how often that was
   used, so that a wrong one is found out. */
#include "opencsd/tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROW_BITS = 10, ROW = 1 << ROW_BITS, ROWS = 1 << ROW_BITS };

struct slot {
    _Atomic(struct oc_tree *) tree;
    atomic_uint uses; /* odd while it is used */
};

static _Atomic(struct slot *) rows[ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for taking and freeing slots */

static struct slot *slot_at(uintptr_t number)
{
    struct slot *row;

    if (number >= (uintptr_t)ROWS * ROW)
        return NULL;
    row = atomic_load(&rows[number >> ROW_BITS]);
    return row ? &row[number & (ROW - 1)] : NULL;
}

/* Low bits: the slot and 1, so that no handle is 0; above: its uses. */
static dcd_tree_handle_t handle_of(uintptr_t number, unsigned uses)
{
    return (dcd_tree_handle_t)((number + 1) | (uintptr_t)uses << (2 * ROW_BITS + 1));
}

static uintptr_t number_of(dcd_tree_handle_t handle)
{
    return ((uintptr_t)handle & (((uintptr_t)1 << (2 * ROW_BITS + 1)) - 1)) - 1;
}

static dcd_tree_handle_t keep(struct oc_tree *tree)
{
    for (uintptr_t number = 0; number < (uintptr_t)ROWS * ROW; number++) {
        struct slot *slot = slot_at(number);

        if (!slot) {
            struct slot *row = calloc(ROW, sizeof *row);

            if (!row)
                return NULL;
            atomic_store(&rows[number >> ROW_BITS], row);
            slot = row;
        }
        if (!(atomic_load(&slot->uses) & 1)) {
            atomic_store(&slot->tree, tree);
            return handle_of(number, atomic_fetch_add(&slot->uses, 1) + 1);
        }
    }
    return NULL;
}

struct oc_tree *oc_tree_of(dcd_tree_handle_t handle)
{
    const uintptr_t number = number_of(handle);
    struct slot *slot = handle ? slot_at(number) : NULL;

    if (!slot || handle_of(number, atomic_load(&slot->uses)) != handle)
        return NULL;
    return atomic_load(&slot->tree);
}

dcd_tree_handle_t oc_tree_new(ocsd_dcd_tree_src_t source, uint32_t flags)
{
    struct oc_tree *tree = calloc(1, sizeof *tree);
    dcd_tree_handle_t handle = NULL;

    if (!tree)
        return NULL;
    tree->is_framed = source == OCSD_TRC_SRC_FRAME_FORMATTED;
    oc_source_start(&tree->memory.log, "Gen_Info", -1);
    oc_source_start(&tree->frames.log, "DFMT_CSFRAMES", -1);
    oc_frames_reset(&tree->frames);
    if (!tree->is_framed || oc_frames_configure(&tree->frames, flags) == OCSD_OK) {
        (void)pthread_mutex_lock(&lock);
        handle = keep(tree);
        (void)pthread_mutex_unlock(&lock);
    }
    if (!handle)
        free(tree);
    return handle;
}

void oc_tree_free(dcd_tree_handle_t handle)
{
    struct oc_tree *tree;

    (void)pthread_mutex_lock(&lock);
    tree = oc_tree_of(handle);
    if (tree) {
        struct slot *slot = slot_at(number_of(handle));

        atomic_fetch_add(&slot->uses, 1);
        atomic_store(&slot->tree, NULL);
    }
    (void)pthread_mutex_unlock(&lock);
    if (!tree)
        return;
    oc_output_forget(tree);
    oc_output_drop(tree->element_output);
    oc_output_drop(tree->frames.output);
    for (unsigned id = 0; id < OC_IDS; id++)
        oc_tree_remove(tree, id);
    oc_memory_free(&tree->memory);
    free(tree);
}

unsigned oc_tree_slot(const struct oc_tree *tree, uint8_t id)
{
    return tree->is_framed && OCSD_IS_VALID_CS_SRC_ID(id) ? id : 0;
}

bool oc_tree_has(const struct oc_tree *tree, unsigned slot)
{
    return tree->channels[slot] || tree->customs[slot];
}

void oc_tree_remove(struct oc_tree *tree, unsigned slot)
{
    oc_channel_free(tree->channels[slot]);
    oc_custom_free(tree->customs[slot]);
    tree->channels[slot] = NULL;
    tree->customs[slot] = NULL;
}

ocsd_datapath_resp_t oc_tree_data(struct oc_tree *tree, unsigned slot, ocsd_trc_index_t index,
                                  uint32_t size, const uint8_t *data, uint32_t *used)
{
    const struct oc_custom *custom = tree->customs[slot];
    ocsd_datapath_resp_t answer;

    if (!custom)
        return oc_channel_data(tree->channels[slot], index, size, data, used);
    *used = 0;
    answer = custom->instance.fn_data_in(custom->instance.decoder_handle, OCSD_OP_DATA, index,
                                         size, data, used);
    if (*used > size)
        *used = size;
    return answer;
}

ocsd_datapath_resp_t oc_tree_operation(struct oc_tree *tree, unsigned slot,
                                       ocsd_datapath_op_t op, ocsd_trc_index_t index)
{
    const struct oc_custom *custom = tree->customs[slot];

    return custom ? custom->instance.fn_data_in(custom->instance.decoder_handle, op, index, 0,
                                                NULL, NULL)
                  : oc_channel_operation(tree->channels[slot], op, index);
}
