/* SPDX-License-Identifier: BSD-2-Clause */
/* The only file that names every protocol. */
#include <ctype.h>
#include <string.h>

#include <trackway/tree.h>

#include "base/fault.h"
#include "base/text.h"
#include "protocol.h"

/* One line for each. */
/* clang-format off */
#define PROTOCOLS(USE) \
    USE(tw_etmv3)      \
    USE(tw_ptm)        \
    USE(tw_etmv4)      \
    USE(tw_etmv4d)     \
    USE(tw_ete)        \
    USE(tw_itm)        \
    USE(tw_stm)        \
    USE(tw_etrace)     \
    USE(tw_etraced)    \
    USE(tw_ntrace)
/* clang-format on */

#define DECLARE(protocol)  extern const struct tw_protocol protocol;
#define POINT_TO(protocol) &protocol,
PROTOCOLS(DECLARE)
const struct tw_protocol *const tw_protocols[] = { PROTOCOLS(POINT_TO) NULL };

const struct tw_protocol *tw_protocol_by_name(const char *name)
{
    for (size_t i = 0; tw_protocols[i]; i++)
        if (strcmp(tw_protocols[i]->name, name) == 0)
            return tw_protocols[i];
    return NULL;
}

const char *tw_protocol_name(size_t number)
{
    for (size_t i = 0; tw_protocols[i]; i++)
        if (i == number)
            return tw_protocols[i]->name;
    return NULL;
}

const char *tw_protocol_title(const char *name)
{
    const struct tw_protocol *protocol = tw_protocol_by_name(name);

    return protocol ? protocol->title : NULL;
}

static bool same_name(const char *a, const char *b)
{
    const size_t size = strlen(a);

    /* Names of registers mostly differ in their last character, or in their length. */
    if (strlen(b) != size)
        return false;
    for (size_t i = size; i-- > 0;)
        if (a[i] != b[i] && tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]))
            return false;
    return true;
}

bool tw_source_register(const struct tw_source_info *source, uint64_t *value, const char *name)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (same_name(source->registers[i].name, name)) {
            *value = source->registers[i].value;
            return true;
        }
    return false;
}

enum tw_status tw_source_need(const struct tw_source_info *source, uint64_t *value,
                              const char *name, struct tw_fault *fault)
{
    if (tw_source_register(source, value, name))
        return TW_OK;
    return tw_fail(fault, TW_E_CONFIG, "register %s is missing", name);
}

/* "TRCIDR3 to TRCIDR13 count as 0, ...": those that need not be given, and are not. */
static void print_defaults(struct tw_text *text, const struct tw_source_info *source,
                           const struct tw_register_use *uses)
{
    const char *before = "; ";
    uint64_t value;

    while (uses->name) {
        const struct tw_register_use *first = uses++, *last = first;

        if (!first->otherwise || tw_source_register(source, &value, first->name))
            continue;
        while (uses->name && uses->otherwise &&
               strcmp(uses->otherwise, first->otherwise) == 0 &&
               !tw_source_register(source, &value, uses->name))
            last = uses++;
        tw_text_format(text, "%s%s", before, first->name);
        if (last != first)
            tw_text_format(text, " to %s", last->name);
        tw_text_format(text, " may be left out (%s)", first->otherwise);
        before = ", ";
    }
}

enum tw_status tw_source_need_all(const struct tw_source_info *source,
                                  const struct tw_register_use *uses, struct tw_fault *fault)
{
    char list[sizeof fault->text / 2], others[sizeof fault->text / 2];
    struct tw_text text = tw_text_in(list, sizeof list);
    struct tw_text defaults = tw_text_in(others, sizeof others);
    unsigned missing = 0;
    uint64_t value;

    list[0] = others[0] = 0;
    for (const struct tw_register_use *use = uses; use->name; use++)
        if (!use->otherwise && !tw_source_register(source, &value, use->name))
            tw_text_format(&text, "%s%s", missing++ ? ", " : "", use->name);
    if (!missing)
        return TW_OK;
    print_defaults(&defaults, source, uses);
    if (missing == 1)
        return tw_fail(fault, TW_E_CONFIG, "register %s is missing%s", list, others);
    return tw_fail(fault, TW_E_CONFIG, "registers %s are missing%s", list, others);
}
