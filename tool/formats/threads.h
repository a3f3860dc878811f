/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of elements and packets made on several threads, written in order. */
#ifndef THREADS_H
#define THREADS_H

#include "formats/lines.h"

struct line_threads;

/* `lines` says how lines look and where they go; it is borrowed.  NULL: there are no threads for it
   to be had, and lines are to be made as they come. */
struct line_threads *line_threads_new(const struct lines *lines, unsigned count);
/* Writes the rest, unless no one reads any more. */
void line_threads_free(struct line_threads *threads);
/* Makes a line of the element of a batch, in its turn.  It is copied. */
void line_threads_element(struct line_threads *threads, const struct tw_element *element,
                          const struct tw_batch *of);
/* The same of a packet. */
void line_threads_packet(struct line_threads *threads, const struct tw_packet_view *packet);

#endif
