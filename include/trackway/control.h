/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dump of the RISC-V Trace Control Interface's registers tells: which components there are,
   how they are set up, and what a decoder of their trace has to know.  Experimental. */
#ifndef TRACKWAY_CONTROL_H
#define TRACKWAY_CONTROL_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_control;

/* A component of the dump.  What it points to lives as long as the dump. */
struct tw_control_component {
    size_t size;      /* sizeof(struct tw_control_component) */
    const char *name; /* as the dump has it, or by its type */
    const char *type; /* "trace encoder", "RAM sink" ... */
    bool has_base, has_impl;
    uint64_t base;
    uint32_t impl;                       /* tr??Impl */
    uint8_t major, minor;                /* of its version */
    const struct tw_register *registers; /* in the order of the dump */
    size_t register_count;
    const char *note; /* what is to be said of its version; or NULL */
    bool is_refused;  /* ... because of which nothing is taken from it */
};

/* Whether a text names registers of the interface, one a line with its value. */
TW_API bool tw_control_is_dump(const char *text, size_t size);
/* Reads `NAME = VALUE` lines under headings `[NAME 0xBASE]`, or words of memory `0xADDRESS: VALUE...`
   (docs/formats.md).  Says which line is wrong. */
TW_API TW_MUST_USE enum tw_status tw_control_read(struct tw_control **control, const char *text,
                                                  size_t size,
                                                  const struct tw_allocator *allocator,
                                                  struct tw_fault *fault);
TW_API void tw_control_free(struct tw_control *control);

TW_API size_t tw_control_count(const struct tw_control *control);
/* TW_END: there are not so many. */
TW_API TW_MUST_USE enum tw_status tw_control_component(const struct tw_control *control,
                                                       struct tw_control_component *component,
                                                       size_t number);
/* A field of a component's register, as a line for people: "trTeInstMode = 6"; the number of its
   characters, 0: there are not so many.  Never writes more than `room` bytes. */
TW_API size_t tw_control_field(char *out, size_t room, const struct tw_control *control,
                               size_t component, size_t number);

/* The protocol of its encoders' trace, "ntrace" or "etrace"; NULL: there is none, or they differ. */
TW_API const char *tw_control_protocol(const struct tw_control *control);
/* The configuration for a decoder of it, as lines; TW_E_CONFIG: the registers contradict each other, and
   `fault` says how.  16 KiB hold it; *size: the room in, the text's length out. */
TW_API TW_MUST_USE enum tw_status tw_control_config(const struct tw_control *control, char *out,
                                                    size_t *size, struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
