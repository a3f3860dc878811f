/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --instructions: each executed instruction, with text, symbol and source line. */
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include "formats/lines.h"

struct instructions;

/* NULL: out of memory, said so.  Lines are as in `lines`, which is borrowed. */
struct instructions *instructions_new(struct lines *lines, struct session *session);
void instructions_free(struct instructions *list);

/* The instructions of the ranges of a part; other elements as `lines` has them, errors only if they are listed.  What failed
   transactions undid is left out. */
void instructions_part(struct instructions *list, const struct tw_part *part,
                       bool lists_errors);

#endif
