/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rest of the library asks of target memory. */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <trackway/image.h>

/* The readable bytes from `address` on in this view, as far as they lie together in the host's
   memory: 0 = not accessible.  The pointer stays valid until the image changes; bytes that came
   from the callback only until many other pages were asked for. */
size_t tw_image_find(struct tw_image *image, const uint8_t **bytes, const struct tw_view *view,
                     uint64_t address);

/* Moves on with every change of the image; caches compare it. */
uint64_t tw_image_generation(const struct tw_image *image);

#endif
