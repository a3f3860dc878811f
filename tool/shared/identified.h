/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw files of which the options say nothing: they are opened as what they are found to be. */
#ifndef IDENTIFIED_H
#define IDENTIFIED_H

#include <trackway/identify.h>

#include "shared/options.h"

struct identified {
    struct tw_identified *found; /* NULL: it was not looked for */
    struct tw_capture_source_option *sources;
};

/* Looks at the file unless the options say what it is, and fills them in when the answer is certain.
   False: it is no capture at all, or cannot be read; said why. */
bool identified_fill(struct identified *identified, struct tw_capture_options *to,
                     const struct options *options, const char *path);
/* "; most likely ETMv4 ... (0.62): trackway decode ..." for a message; "" when nothing is likely. */
void identified_guess(char *out, size_t room, const struct identified *identified);
void identified_free(struct identified *identified);

#endif
