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

/* The same memory for another thread: its own memory of the last answer and of what the callback
   gave, regions shared with `parent`, which must outlive it and not change while it is asked.  The
   callback is asked by one thread at a time.  NULL: no memory. */
struct tw_image *tw_image_alias_new(struct tw_image *parent,
                                    const struct tw_allocator *allocator);
void tw_image_alias_free(struct tw_image *alias);
/* Takes over what has changed in the parent. */
void tw_image_alias_refresh(struct tw_image *alias);

/* Whether what lies at an address depends on who looks, or when. */
bool tw_image_has_spaces(const struct tw_image *image);

/* Moves on with every change of the image; caches compare it. */
uint64_t tw_image_generation(const struct tw_image *image);

#endif
