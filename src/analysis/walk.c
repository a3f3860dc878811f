/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes through the instructions of a range.  Where all have one size nothing but their bytes is read. */
#include <trackway/walk.h>

#include "base/fault.h"
#include "base/memory.h"

enum { AHEAD = 256, LONGEST = 4 };

struct tw_walk {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    const struct tw_part *part;
    const struct tw_element *range;
    uint32_t left;
    uint64_t next, loaded; /* addresses: of the next instruction, of bytes[0] */
    size_t there;          /* bytes that were read */
    uint8_t bytes[AHEAD];
};

enum tw_status tw_walk_new(struct tw_walk **walk, const struct tw_allocator *allocator,
                           struct tw_fault *fault)
{
    struct tw_walk *made = tw_take(allocator, sizeof *made);

    *walk = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a walk");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    return TW_OK;
}

void tw_walk_free(struct tw_walk *walk)
{
    struct tw_allocator allocator;

    if (!walk)
        return;
    allocator = walk->allocator_copy;
    tw_give(walk->allocator ? &allocator : NULL, walk);
}

void tw_walk_start(struct tw_walk *walk, const struct tw_part *part,
                   const struct tw_element *range)
{
    walk->part = part;
    walk->range = range;
    walk->left = range->count;
    walk->next = walk->loaded = range->start;
    walk->there = 0;
}

static size_t read_code(struct tw_walk *walk, size_t size)
{
    const struct tw_view any = tw_element_view(NULL);
    struct tw_image *image = walk->part->image;
    size_t there;

    if (!image)
        return 0;
    there = tw_image_read(image, walk->bytes, &walk->part->who.view, walk->next, size);
    /* Where a trace tells less of the place than the image knows, decoding looks wider too. */
    return there ? there : tw_image_read(image, walk->bytes, &any, walk->next, size);
}

/* The size where the code cannot tell: that of all of them, if they are alike. */
static size_t usual_size(const struct tw_element *range)
{
    return range->length == (uint64_t)range->count * 2 ? 2 : 4;
}

bool tw_walk_next(struct tw_walk *walk, struct tw_code_bytes *code, size_t *size)
{
    const uint64_t done = walk->next - walk->range->start;
    const size_t ahead = (size_t)(walk->next - walk->loaded);

    if (!walk->left || done >= walk->range->length)
        return false;
    walk->left--;
    code->isa = walk->range->isa;
    code->address = walk->next;
    code->bytes = walk->bytes + ahead;
    code->size = ahead < walk->there ? walk->there - ahead : 0;
    if (code->size < LONGEST) {
        const uint64_t rest = walk->range->length - done;

        walk->there = read_code(walk, rest < AHEAD ? (size_t)rest : AHEAD);
        walk->loaded = walk->next;
        code->bytes = walk->bytes;
        code->size = walk->there;
    }
    *size = tw_instruction_size(code);
    if (!*size) {
        code->size = 0;
        *size = usual_size(walk->range);
    }
    walk->next += *size;
    return true;
}
