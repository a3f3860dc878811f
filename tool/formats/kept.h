/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of elements that were written before: programs run in loops, and what comes again differs in its index alone. */
#ifndef KEPT_H
#define KEPT_H

#include <trackway/types.h>

struct kept_lines;

/* For one thread.  NULL: no memory. */
struct kept_lines *kept_lines_new(void);
void kept_lines_free(struct kept_lines *kept);

enum { KEPT_ROOM = 4096 };
/* What tw_element_text gives, perhaps without the zero behind it; `out` has room for at least KEPT_ROOM characters.  kept NULL: nothing is kept. */
size_t kept_text(struct kept_lines *kept, char *out, const struct tw_element *element,
                 uint8_t id);

#endif
