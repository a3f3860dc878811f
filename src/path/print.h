/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements as words, for other parts of the library. */
#ifndef PATH_PRINT_H
#define PATH_PRINT_H

#include <trackway/types.h>

#include "base/members.h"
#include "base/text.h"

/* What an ERROR element has to say, "reserved header 0x20". */
void tw_element_message(struct tw_text *out, const struct tw_element *e);

/* words.c: `reason` and `kind` of elements; "?": there is no such one. */
const char *tw_trace_on_word(unsigned value);
const char *tw_event_word(unsigned value);
const char *tw_transaction_word(unsigned value);
const char *tw_itm_word(unsigned value);
const char *tw_data_word(unsigned value);

/* names.c: the words of tw_element_type_name, tw_isa_name ... with their lengths. */
const struct tw_word *tw_element_type_word(unsigned type);
const struct tw_word *tw_isa_word(unsigned isa);
const struct tw_word *tw_last_kind_word(unsigned kind);
const struct tw_word *tw_last_sub_word(unsigned sub);

#endif
