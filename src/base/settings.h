/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations as text: `key=value`, in lines or divided by commas. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <trackway/status.h>

/* Takes one setting; the texts do not end with a zero.  The fault need not say where it stands. */
typedef enum tw_status tw_setting_fn(void *context, const char *name, size_t name_size,
                                     const char *value, size_t value_size,
                                     struct tw_fault *fault);

/* Gives every setting to `set`, in order, up to the end or to a line that begins with `<`, where *text
   is then.  `#` begins a comment, as does `;` at the start of a line; lines with `[` are headings.  What is
   under [device], [regs] and [dump...] is passed over, so that the device file of a snapshot
   serves.  Faults name the line. */
enum tw_status tw_settings_read(const char **text, tw_setting_fn *set, void *context,
                                struct tw_fault *fault);

static inline bool tw_setting_is(const char *text, size_t size, const char *want)
{
    /* Most of a table's names begin otherwise. */
    if (size && text[0] != want[0])
        return false;
    return strlen(want) == size && !memcmp(text, want, size);
}

/* A whole number; 0x and 'h mean hexadecimal whatever the base asked for. */
bool tw_setting_number(const char *text, size_t size, unsigned base, uint64_t *value);
/* true, false, 0 or 1. */
bool tw_setting_bool(const char *text, size_t size, uint64_t *value);

#endif
