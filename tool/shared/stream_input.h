/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that come while we wait: standard input, a growing file, a server of a debug probe, a serial
   port. */
#ifndef STREAM_INPUT_H
#define STREAM_INPUT_H

#include <stdbool.h>

struct stream_input {
    int fd;
    bool is_growing; /* its end is not the end */
};

/* Whether a name is no file: "-", "tcp:HOST:PORT", "serial:PATH[:BAUD]". */
bool stream_input_is_live(const char *name);
/* False: said why. */
bool stream_input_open(struct stream_input *input, const char *name);
void stream_input_close(struct stream_input *input);

#endif
