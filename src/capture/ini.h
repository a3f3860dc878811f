/* SPDX-License-Identifier: BSD-2-Clause */
/* INI files as snapshots use them: sections repeat, keys hold ':' and parentheses. */
#ifndef CAPTURE_INI_H
#define CAPTURE_INI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#include "base/map.h"

struct tw_ini_entry {
    char *key;
    char *value; /* NULL: the line has no '=' */
    unsigned line;
};

struct tw_ini_section {
    char *name; /* "" for what stands before the first header */
    unsigned line;
    size_t first, count; /* of its entries */
};

struct tw_ini {
    const char *path; /* for messages; borrowed */
    struct tw_ini_entry *entries;
    size_t entry_count, entry_room;
    struct tw_ini_section *sections;
    size_t section_count, section_room;
    struct tw_map section_by_name; /* hash to the first + 1, or to the next free key */
    const struct tw_allocator *allocator;
};

/* Cuts `text` (size bytes, and one more that may be written) into sections and entries, which
   point into it.  The caller has set path and allocator and zeroed the rest; tw_ini_free in any
   case. */
enum tw_status tw_ini_parse(struct tw_ini *ini, char *text, size_t size,
                            struct tw_fault *fault);
void tw_ini_free(struct tw_ini *ini);

/* The first section of this name at or after `from`, as a number; section_count: there is none. */
size_t tw_ini_section(const struct tw_ini *ini, const char *name, size_t from);
/* A key of a section that may be given once; NULL: it is not there. */
const struct tw_ini_entry *tw_ini_key(const struct tw_ini *ini, size_t section,
                                      const char *key);
/* Fails on the first line of the section that is no "key=value". */
enum tw_status tw_ini_check(const struct tw_ini *ini, size_t section, struct tw_fault *fault);

/* Names without regard to case; a space is as good as an underscore. */
bool tw_name_equal(const char *a, const char *b);
/* Same, but only the first strlen(start) characters of `name`. */
bool tw_name_begins(const char *name, const char *start);

/* Cuts the next item off a comma-separated list, spaces around it left out; NULL at the end.
   Empty items are passed over. */
char *tw_list_next(char **list);

/* A whole number, decimal or with 0x.  `wide`: hexadecimal digits beyond 64 bits are dropped
   instead of refused. */
bool tw_number_parse(uint64_t *value, const char *text, bool wide);

#endif
