/* SPDX-License-Identifier: BSD-2-Clause */
/* The snapshot reader on files that all come from the input: each begins with a line "@@ NAME".
   Opened again, it holds the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

struct bundle {
    const char *at, *end;
};

/* The end of the line that begins at `at`; `end` if nothing ends it. */
static const char *line_end(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));

    return found ? found : end;
}

static enum tw_status load(void *context, const uint8_t **bytes, size_t *size, const char *path,
                           struct tw_fault *fault)
{
    const struct bundle *bundle = context;
    const size_t length = strlen(path);
    const char *at = bundle->at, *start = NULL;
    uint8_t *copy;

    (void)memcpy(fault->text, "not there", sizeof "not there");
    while (at != bundle->end) {
        const char *stop = line_end(at, bundle->end);
        const bool is_head = stop - at > 3 && memcmp(at, "@@ ", 3) == 0;

        if (is_head && start)
            break;
        if (is_head && (size_t)(stop - at - 3) == length && memcmp(at + 3, path, length) == 0)
            start = stop == bundle->end ? stop : stop + 1;
        at = stop == bundle->end ? stop : stop + 1;
    }
    if (!start)
        return TW_E_FILE;
    /* A block of exactly that size: ASan sees a read of one byte too far. */
    *size = (size_t)(at - start);
    copy = malloc(*size ? *size : 1);
    if (!copy)
        return TW_E_FILE;
    memcpy(copy, start, *size);
    *bytes = copy;
    return TW_OK;
}

static void drop(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)bytes);
}

/* Everything that the capture hands out is touched. */
static uint64_t look(struct tw_capture *capture)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
        const struct tw_device *device = tw_capture_device(capture, i);

        sum += strlen(device->name);
        for (size_t k = 0; k < device->register_count; k++)
            sum += strlen(device->registers[k].name) + device->details[k].id;
        for (size_t k = 0; k < device->dump_count; k++)
            if (device->dumps[k].length)
                sum += device->dumps[k].bytes[device->dumps[k].length - 1];
    }
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        const uint8_t *bytes;
        size_t size;

        for (uint64_t at = 0; tw_capture_read(capture, &bytes, &size, i, at) == TW_OK;
             at += size)
            sum += bytes[0] + (uint64_t)bytes[size - 1];
    }
    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        sum += tw_capture_source_buffer(capture, i, (uint32_t)(i & 1));
    for (size_t i = 0; i < tw_capture_image_count(capture); i++) {
        struct tw_image *image = tw_capture_image(capture, i);

        for (size_t k = 0; k < tw_image_region_count(image); k++) {
            const struct tw_region *region = tw_image_region(image, k);
            const struct tw_view view = { region->spaces, region->context, region->from };
            uint8_t out[64];

            sum += tw_image_read(image, out, &view, region->address, sizeof out);
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle bundle = { (const char *)data, (const char *)data + size };
    const struct tw_files files = { load, drop, &bundle };
    struct tw_capture_options options = { .size = sizeof options };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    uint64_t sums[2] = { 0, 0 };

    /* The first byte chooses options where it is not the usual '@'. */
    if (size && data[0] != '@') {
        options.allow_outside = data[0] & 1;
        options.strip_stop = data[0] & 2;
        options.has_wrapped = data[0] & 4;
        options.wrapped_at = data[0] >> 4;
        bundle.at++;
    }
    for (unsigned time = 0; time < 2; time++) {
        if (tw_capture_open_files(&capture, "", &options, &files, &fault) == TW_OK)
            sums[time] = 1 + look(capture);
        else if (!memchr(fault.text, 0, sizeof fault.text) || !fault.text[0])
            abort(); /* a refusal says why */
        tw_capture_free(capture);
    }
    if (sums[0] != sums[1])
        abort();
    return 0;
}
