/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the images of a capture: one for each set of dumps that some core sees. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/capture.h"

/* Adds a file of the caller's, whatever it is. */
static enum tw_status add_option(struct tw_capture *capture, struct tw_image *image,
                                 const struct tw_capture_image_option *option)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = option->address,
                                      .spaces = option->spaces };
    enum tw_status status;

    if (!option->path)
        return tw_fail(capture->fault, TW_E_ARGUMENT, "an image has no path");
    status = tw_image_add_any(image, &region, option->path);
    if (status != TW_OK)
        return tw_fail(capture->fault, status, "%s", tw_image_fault(image));
    return TW_OK;
}

enum tw_status tw_capture_add_images(struct tw_capture *capture, struct tw_image *image,
                                     uint32_t src)
{
    for (size_t i = 0; i < capture->options.image_count; i++)
        if (!capture->options.images[i].has_src || capture->options.images[i].src == src)
            TW_TRY(add_option(capture, image, &capture->options.images[i]));
    return TW_OK;
}

static enum tw_status add_dumps(struct tw_capture *capture, struct tw_image *image,
                                const struct tw_device *device)
{
    for (size_t i = 0; i < device->dump_count; i++) {
        const struct tw_dump *dump = &device->dumps[i];
        const struct tw_region region = { .size = sizeof region,
                                          .address = dump->address,
                                          .length = dump->length,
                                          .spaces = dump->spaces,
                                          .name = dump->file };
        enum tw_status status;

        if (!dump->length)
            continue;
        status = tw_image_add(image, &region, dump->bytes);
        if (status != TW_OK)
            return tw_fail(capture->fault, status, "%s%s: %s", capture->folder, device->file,
                           tw_image_fault(image));
    }
    return TW_OK;
}

static bool is_memory_space(const struct tw_device *device)
{
    return device->class_name && tw_name_equal(device->class_name, "memory_space");
}

/* An image with the dumps of a device (TW_NONE: of all memory spaces) and the caller's files. */
static enum tw_status fill_image(struct tw_capture *capture, struct tw_image *image,
                                 uint32_t device, uint32_t src)
{
    if (device != TW_NONE)
        TW_TRY(add_dumps(capture, image, &capture->devices[device]));
    for (size_t i = 0; i < capture->device_count && device == TW_NONE; i++)
        if (is_memory_space(&capture->devices[i]))
            TW_TRY(add_dumps(capture, image, &capture->devices[i]));
    return tw_capture_add_images(capture, image, src);
}

static bool same_dumps(const struct tw_device *a, const struct tw_device *b)
{
    if (a->dump_count != b->dump_count)
        return false;
    for (size_t i = 0; i < a->dump_count; i++) {
        const struct tw_dump *x = &a->dumps[i], *y = &b->dumps[i];

        if (x->bytes != y->bytes || x->address != y->address || x->length != y->length ||
            x->spaces != y->spaces)
            return false;
    }
    return true;
}

static uint64_t hash_dumps(const struct tw_device *device)
{
    uint64_t hash = device->dump_count;

    for (size_t i = 0; i < device->dump_count; i++) {
        hash = tw_hash64(hash ^ device->dumps[i].address);
        hash =
            tw_hash64(hash ^ device->dumps[i].length ^ (uint64_t)device->dumps[i].spaces << 48);
    }
    return hash;
}

/* The image for a device's dumps, made if there is none like it. */
static enum tw_status image_for(struct tw_capture *capture, uint32_t *number, uint32_t device,
                                uint32_t src)
{
    const uint64_t hash = device == TW_NONE ? 0 : hash_dumps(&capture->devices[device]);
    struct capture_image *made;

    for (size_t i = 0; i < capture->image_count; i++) {
        const struct capture_image *other = &capture->images[i];

        if (other->src != src)
            continue;
        if (other->device == device ||
            (other->hash == hash && other->device != TW_NONE && device != TW_NONE &&
             same_dumps(&capture->devices[other->device], &capture->devices[device]))) {
            *number = (uint32_t)i;
            return TW_OK;
        }
    }
    if (!TW_GROW(capture->allocator, &capture->images, &capture->image_room,
                 capture->image_count + 1))
        return tw_capture_no_memory(capture);
    made = &capture->images[capture->image_count];
    *made = (struct capture_image){ .hash = hash, .device = device, .src = src };
    if (tw_image_new(&made->image, capture->allocator, NULL) != TW_OK)
        return tw_capture_no_memory(capture);
    tw_image_copy_files(made->image, capture->options.copies);
    *number = (uint32_t)capture->image_count++;
    return fill_image(capture, made->image, device, src);
}

/* Those of single sources that share a stream: the core's memory, and files of their own. */
static enum tw_status make_src_images(struct tw_capture *capture, uint32_t device)
{
    for (size_t i = 0; i < capture->options.image_count; i++) {
        const struct tw_capture_image_option *option = &capture->options.images[i];
        uint32_t number;

        if (option->has_src)
            TW_TRY(image_for(capture, &number, device, option->src));
    }
    return TW_OK;
}

/* The program says of what kind a RISC-V core is when nothing else does. */
static void name_core(const struct tw_capture *capture, struct tw_source *source)
{
    unsigned xlen = 0;

    if (source->core_type)
        return;
    if (source->image != TW_NONE)
        xlen = tw_image_xlen(capture->images[source->image].image);
    for (size_t i = 0; i < capture->image_count && !xlen; i++)
        if (capture->images[i].src != TW_NO_SRC)
            xlen = tw_image_xlen(capture->images[i].image);
    if (xlen)
        source->core_type = xlen == 32 ? "RV32" : "RV64";
}

static const char *device_name(const void *context, uint32_t number)
{
    const struct tw_capture *capture = context;

    return capture->devices[number].name;
}

enum tw_status tw_capture_make_images(struct tw_capture *capture)
{
    struct capture_names names = { { .allocator = capture->allocator }, device_name, capture };
    bool has_common = capture->options.image_count != 0;
    enum tw_status status = TW_OK;

    for (size_t i = 0; i < capture->device_count && status == TW_OK; i++) {
        has_common |= is_memory_space(&capture->devices[i]) && capture->devices[i].dump_count;
        if (tw_names_put(&names, capture->devices[i].name, (uint32_t)i) == TW_NONE)
            status = tw_capture_no_memory(capture);
    }
    for (size_t i = 0; i < capture->source_count && status == TW_OK; i++) {
        struct tw_source *source = &capture->sources[i];
        uint32_t core = source->core ? tw_names_find(&names, source->core) : TW_NONE;

        if (core != TW_NONE && !capture->devices[core].dump_count)
            core = TW_NONE;
        source->image = TW_NONE;
        if (core != TW_NONE || has_common)
            status = image_for(capture, &source->image, core, TW_NO_SRC);
        if (status == TW_OK)
            status = make_src_images(capture, core);
        if (status == TW_OK)
            name_core(capture, source);
    }
    tw_map_free(&names.map);
    return status;
}
