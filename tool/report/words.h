/* SPDX-License-Identifier: BSD-2-Clause */
/* The words with which other commands look at a capture as this one did. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include "base/text.h"
#include "shared/options.h"

/* The capture with this number and the options that say how to read it, as a shell takes them. */
void report_words(struct tw_text *text, const struct options *options, size_t number);

#endif
