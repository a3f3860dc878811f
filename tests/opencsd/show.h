/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs of the OpenCSD interface as text: every member that the type of an element or packet gives a
   meaning. */
#ifndef OPENCSD_TESTS_SHOW_H
#define OPENCSD_TESTS_SHOW_H

#include "library.h"

struct show {
    char *at;
    size_t left;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void show_put(struct show *text, const char *format, ...);

void show_element(char *out, size_t room, const ocsd_generic_trace_elem *element);
/* With the text that the library itself makes of it. */
void show_packet(char *out, size_t room, const struct library *library,
                 ocsd_trace_protocol_t protocol, const void *packet);

#endif
