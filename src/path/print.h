/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements as words, for other parts of the library. */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include <trackway/types.h>

#include "base/text.h"

/* What an ERROR element has to say, "reserved header 0x20". */
void tw_element_message(struct tw_text *out, const struct tw_element *e);

/* words.c: `reason` and `kind` of elements; "?": there is no such one. */
const char *tw_trace_on_word(unsigned value);
const char *tw_event_word(unsigned value);
const char *tw_transaction_word(unsigned value);
const char *tw_itm_word(unsigned value);
const char *tw_data_word(unsigned value);

#endif
