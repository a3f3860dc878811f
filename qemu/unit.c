/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of one thread. */
#include "qemu/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/unit_kind.h"

struct unit {
    const struct unit_kind *kind;
    void *state;
};

/* A new kind of trace unit is one line here. */
static const struct unit_kind *const kinds[] = { &unit_kind_ete,    &unit_kind_etmv4,
                                                 &unit_kind_ptm,    &unit_kind_etmv3,
                                                 &unit_kind_etrace, &unit_kind_ntrace };

bool unit_split(const char *text, char *name, size_t room, uint64_t *value)
{
    const char *equals = strchr(text, '=');
    char *end;

    if (!equals || (size_t)(equals - text) >= room)
        return false;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = 0;
    *value = strtoull(equals + 1, &end, 0);
    return end != equals + 1 && !*end;
}

bool unit_bad(struct tw_fault *fault, const char *what, const char *text)
{
    fault->status = TW_E_CONFIG;
    (void)snprintf(fault->text, sizeof fault->text, "%s \"%.200s\" is not understood", what,
                   text);
    return false;
}

struct unit *unit_new(const struct unit_options *options, struct tw_fault *fault)
{
    struct unit *unit = calloc(1, sizeof *unit);

    *fault = (struct tw_fault){ TW_OK, "" };
    for (size_t i = 0; unit && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->protocol, options->protocol) == 0)
            unit->kind = kinds[i];
    if (unit && !unit->kind)
        (void)unit_bad(fault, "protocol", options->protocol);
    if (unit && unit->kind)
        unit->state = calloc(1, unit->kind->size);
    if (!unit || !unit->state || !unit->kind->begin(unit->state, options, fault)) {
        unit_free(unit);
        return NULL;
    }
    return unit;
}

void unit_free(struct unit *unit)
{
    if (!unit)
        return;
    if (unit->state)
        unit->kind->free(unit->state);
    free(unit->state);
    free(unit);
}

bool unit_step(struct unit *unit, const struct tw_step *step)
{
    return unit->kind->step(unit->state, step) == TW_OK;
}

bool unit_end(struct unit *unit)
{
    return unit->kind->end(unit->state) == TW_OK;
}

const uint8_t *unit_output(struct unit *unit, size_t *size)
{
    return unit->kind->output(unit->state, size);
}

void unit_take(struct unit *unit)
{
    unit->kind->take(unit->state);
}

bool unit_register(const struct unit *unit, struct tw_register *out, size_t number)
{
    return unit->kind->get(unit->state, out, number) == TW_OK;
}

const char *unit_text(struct unit *unit)
{
    return unit->kind->text ? unit->kind->text(unit->state) : NULL;
}
