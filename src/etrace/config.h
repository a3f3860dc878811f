/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of a configuration: one table for the two forms in which it is read and printed. */
#ifndef ETRACE_CONFIG_H
#define ETRACE_CONFIG_H

#include <trackway/etrace.h>

#include "base/text.h"

enum tw_etrace_key_kind {
    TW_ETRACE_KEY_IGNORED, /* bookkeeping of those who made the file */
    TW_ETRACE_KEY_U8,
    TW_ETRACE_KEY_U16,
    TW_ETRACE_KEY_BOOL,
    TW_ETRACE_KEY_OPTION, /* a bit of `options` */
    TW_ETRACE_KEY_OTHER   /* has a reader and a printer of its own */
};

/* Where an attribute lies in the discovery registers of the specification's example. */
struct tw_etrace_attribute {
    const char *name; /* NULL: in none */
    uint8_t reg, offset, width;
    uint8_t minus; /* the attribute is the parameter less this */
};

struct tw_etrace_key {
    const char *name;
    const char *alias; /* as the reference flow's user file calls it; or NULL */
    uint8_t kind;
    uint16_t offset; /* in struct tw_etrace_config */
    uint32_t detail; /* OPTION: the bit; numbers: the largest value */
    struct tw_etrace_attribute attribute;
};

extern const struct tw_etrace_key tw_etrace_keys[];
extern const size_t tw_etrace_key_count;

const struct tw_etrace_key *tw_etrace_key_find(const char *name, size_t size);

/* Sets a key from its value's text; the fault does not say where the key stands. */
enum tw_status tw_etrace_key_set(struct tw_etrace_config *config,
                                 const struct tw_etrace_key *key, const char *value,
                                 size_t size, struct tw_fault *fault);
/* A key by its name, unknown ones refused unless they begin with "x_". */
enum tw_status tw_etrace_key_set_named(struct tw_etrace_config *config, const char *name,
                                       size_t name_size, const char *value, size_t size,
                                       struct tw_fault *fault);
/* The value as text.  False: nothing to print (an OTHER key that is not given). */
bool tw_etrace_key_print(struct tw_text *out, const struct tw_etrace_config *config,
                         const struct tw_etrace_key *key);
/* The value of a numeric key. */
uint64_t tw_etrace_key_value(const struct tw_etrace_config *config,
                             const struct tw_etrace_key *key);

/* Reads a component in ipxact form. */
enum tw_status tw_etrace_ipxact_read(struct tw_etrace_config *config, const char *text,
                                     struct tw_fault *fault);

#endif
