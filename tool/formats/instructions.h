/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --instructions: each executed instruction, with text, symbol and source line. */
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include "formats/lines.h"

struct instructions;

/* NULL: out of memory, said so.  Lines are as in `lines`, which is borrowed. */
struct instructions *instructions_new(struct lines *lines, struct session *session);
void instructions_free(struct instructions *list);

/* The instructions of part->batch.elements[at], if it is a range; other elements as `lines` has them.  What failed transactions undid is
   left out. */
void instructions_element(struct instructions *list, const struct tw_part *part, size_t at);

#endif
