/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of elements made on several threads, written in order. */
#ifndef PRESS_H
#define PRESS_H

#include "formats/lines.h"

struct press;

/* `lines` says how lines look and where they go; it is borrowed.  NULL: there are no threads for it
   to be had, and lines are to be made as they come. */
struct press *press_new(const struct lines *lines, unsigned threads);
/* Writes the rest, unless no one reads any more. */
void press_free(struct press *press);
/* Makes a line of the element, in its turn.  It is copied. */
void press_element(struct press *press, const struct tw_element *element, uint8_t id);

#endif
