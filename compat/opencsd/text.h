/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that is put together piece by piece, cut where its room ends. */
#ifndef OPENCSD_TEXT_H
#define OPENCSD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The longest line: an unsynchronized packet's bytes, a path. */
enum { OC_TEXT_MAX = 4096 };

struct oc_text {
    size_t length;
    char text[OC_TEXT_MAX];
};

void oc_text_start(struct oc_text *text);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void oc_text_add(struct oc_text *text, const char *format, ...);
/* Into the caller's buffer of `size` bytes, with a zero at the end. */
void oc_text_copy(const struct oc_text *text, char *out, int size);

/* A value of which only the low `valid` of `total` bits are known, and `updated` are new:
   "0x????0000ABCD (15:0) ~[0xCD]". */
void oc_text_value(struct oc_text *text, unsigned total, unsigned valid, uint64_t value,
                   unsigned updated);

/* Memory spaces by name: "EL1N", "Any S", "EL1S,EL3,". */
void oc_text_spaces(struct oc_text *text, unsigned spaces);

#endif
