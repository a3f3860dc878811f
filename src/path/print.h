/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements as words, for other parts of the library. */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include <trackway/types.h>

#include "base/text.h"

/* What an ERROR element has to say, "reserved header 0x20". */
void tw_element_message(struct tw_text *out, const struct tw_element *e);

#endif
