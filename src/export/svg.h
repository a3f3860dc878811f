/* SPDX-License-Identifier: BSD-2-Clause */
/* What pictures have in common. */
#ifndef EXPORT_SVG_H
#define EXPORT_SVG_H

#include "export/sink.h"

/* As wide as a letter is taken to be. */
enum { TW_SVG_CHARACTER = 7 };

/* The head of a picture, open for attributes of its own.  Styles hold for what is inside it alone, so that
   a page may have several. */
void tw_svg_begin(struct tw_sink *sink, unsigned width, unsigned height);
/* A colour, warm and even, the same for the same name. */
void tw_svg_color(struct tw_sink *sink, const char *name);
/* What fits into a box, cut at a character's end. */
void tw_svg_label(struct tw_sink *sink, const char *name, double width);

#endif
