/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace sources of a capture: sources CAPTURE. */
#include <stdio.h>

#include <trackway/trackway.h>

int main(int argc, char **argv)
{
    struct tw_capture *capture;
    struct tw_fault fault = { .text = "usage: sources CAPTURE" };

    if (argc != 2 || tw_capture_open(&capture, argv[1], NULL, &fault) != TW_OK)
        return fprintf(stderr, "%s\n", fault.text), 3;
    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        puts(tw_capture_source(capture, i)->name);
    tw_capture_free(capture);
    return 0;
}
