/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the code that was executed. */
#include "formats/code.h"

void code_start(struct code *code, const struct session *session)
{
    code->session = session;
    attribution_start(&code->attribution, session);
    for (size_t id = 0; id < 128; id++)
        code->views[id] = tw_element_view(NULL);
}

void code_context(struct code *code, const struct tw_element *element, uint8_t id)
{
    if (element->type == TW_ELEMENT_PE_CONTEXT)
        code->views[id & 0x7f] = tw_element_view(element);
    if (attribution_see(&code->attribution, element, id))
        code->views[id & 0x7f] = code->attribution.views[id & 0x7f];
}

uint32_t code_image(const struct session *session, uint8_t id)
{
    const uint32_t number = session->source_of[id & 0x7f];

    return number == TW_NONE ? TW_NONE : tw_capture_source(session->capture, number)->image;
}

static size_t code_read(const struct code *code, uint8_t *out, uint8_t id, uint64_t address,
                        size_t size)
{
    const struct tw_view any = tw_element_view(NULL);
    const uint32_t number = code_image(code->session, id);
    struct tw_image *image;
    size_t there;

    if (number == TW_NONE)
        return 0;
    image = tw_capture_image(code->session->capture, number);
    there = tw_image_read(image, out, &code->views[id & 0x7f], address, size);
    /* Where a trace tells less of the place than the image knows, decoding looks wider too. */
    return there ? there : tw_image_read(image, out, &any, address, size);
}

void walk_start(struct walk *walk, const struct code *code, const struct tw_element *range,
                uint8_t id)
{
    walk->code = code;
    walk->range = range;
    walk->id = id;
    walk->left = range->count;
    walk->next = walk->loaded = range->start;
    walk->there = 0;
    walk->at = (struct tw_code_bytes){ .isa = range->isa };
}

/* The size where the code cannot tell: that of all of them, if they are alike. */
static size_t usual_size(const struct tw_element *range)
{
    return range->length == (uint64_t)range->count * 2 ? 2 : 4;
}

bool walk_next(struct walk *walk)
{
    const uint64_t done = walk->next - walk->range->start;
    const size_t ahead = (size_t)(walk->next - walk->loaded);

    if (!walk->left || done >= walk->range->length)
        return false;
    walk->left--;
    walk->at.address = walk->next;
    walk->at.bytes = walk->bytes + ahead;
    walk->at.size = ahead < walk->there ? walk->there - ahead : 0;
    if (walk->at.size < 4) {
        const uint64_t rest = walk->range->length - done;
        const size_t wanted = rest < sizeof walk->bytes ? (size_t)rest : sizeof walk->bytes;

        walk->there = code_read(walk->code, walk->bytes, walk->id, walk->next, wanted);
        walk->loaded = walk->next;
        walk->at.bytes = walk->bytes;
        walk->at.size = walk->there;
    }
    walk->size = tw_instruction_size(&walk->at);
    if (!walk->size) {
        walk->at.size = 0;
        walk->size = usual_size(walk->range);
    }
    walk->next += walk->size;
    return true;
}
