/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of elements that were written before: programs run in loops, and what comes again differs in its index alone. */
#ifndef PATH_KEPT_H
#define PATH_KEPT_H

#include <trackway/types.h>

struct tw_kept_lines;

/* For one thread.  NULL: no memory. */
struct tw_kept_lines *tw_kept_lines_new(const struct tw_allocator *allocator);
void tw_kept_lines_free(struct tw_kept_lines *kept);

enum { TW_KEPT_ROOM = 4096 };
/* What tw_element_text gives, perhaps without the zero behind it; `out` has room for at least TW_KEPT_ROOM characters.  kept NULL: nothing is kept. */
size_t tw_kept_text(struct tw_kept_lines *kept, char *out, const struct tw_element *element,
                    uint8_t id);

#endif
