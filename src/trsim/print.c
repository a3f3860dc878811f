/* SPDX-License-Identifier: BSD-2-Clause */
/* What a script for the Trace Control Interface prints: registers, events, bytes; as text or as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "script/lines.h"
#include "trsim/sim.h"

void tw_trsim_begin(struct tw_trsim *sim, const char *type)
{
    tw_script_begin(&sim->text, sim->config, sim->number, type);
}

void tw_trsim_end(struct tw_trsim *sim)
{
    tw_script_end(&sim->text, sim->config);
}

void tw_trsim_event(struct tw_trsim *sim, const struct tw_trsim_part *part, const char *name,
                    const char *text)
{
    const char *of = tw_trsim_known(sim, part)->name;

    tw_trsim_begin(sim, "EVENT");
    if (sim->config->is_json) {
        tw_json_text(&sim->text, "name", name);
        tw_json_text(&sim->text, "component", of);
        tw_json_u64(&sim->text, "now", sim->now);
        if (text)
            tw_json_text(&sim->text, "msg", text);
    } else {
        tw_text_format(&sim->text, "event %s of %s at %" PRIu64 "%s%s", name, of, sim->now,
                       text ? ": " : "", text ? text : "");
    }
    tw_trsim_end(sim);
}

void tw_trsim_misuse(void *context, uint32_t line, uint32_t cause,
                     const struct tw_sequence_rule *rule, const char *what)
{
    struct tw_trsim *sim = context;

    (void)line;
    (void)cause;
    sim->result->misuses++;
    tw_trsim_begin(sim, "EVENT");
    if (sim->config->is_json) {
        tw_json_text(&sim->text, "name", "MISUSE");
        tw_json_text(&sim->text, "rule", rule->name);
        tw_json_u64(&sim->text, "now", sim->now);
        tw_json_text(&sim->text, "msg", what);
    } else {
        tw_text_format(&sim->text, "event MISUSE at %" PRIu64 ": %s: %s", sim->now, rule->name,
                       what);
    }
    tw_trsim_end(sim);
}

/* A name of the table, its % as the number that an offset has. */
static void put_name(struct tw_text *text, const char *name, uint32_t number)
{
    char room[64];
    const char *mark = strchr(name, '%');

    if (mark)
        (void)snprintf(room, sizeof room, "%.*s%" PRIu32 "%s", (int)(mark - name), name, number,
                       mark + 1);
    else
        (void)snprintf(room, sizeof room, "%s", name);
    tw_text_add(text, room);
}

void tw_trsim_register(struct tw_trsim *sim, const struct tw_trsim_part *part, uint32_t offset,
                       uint32_t value)
{
    const struct tw_trctl_part *known = tw_trsim_known(sim, part);
    const struct tw_trctl_register *row = tw_trctl_at(known->type, offset);
    const uint32_t number = row ? (offset - row->offset) / TW_TRCTL_STRIDE : 0;
    char room[80] = "";
    struct tw_text name = tw_text_in(room, sizeof room);

    put_name(&name, row ? row->name : "?", number);
    tw_trsim_begin(sim, "REGISTER");
    if (sim->config->is_json) {
        tw_json_text(&sim->text, "component", known->name);
        tw_json_text(&sim->text, "name", room);
        tw_json_hex(&sim->text, "value", value);
        tw_trsim_end(sim);
        return;
    }
    tw_text_format(&sim->text, "%s.%s 0x%" PRIx32, known->name, room, value);
    for (size_t i = 0; row && i < tw_trctl_field_count; i++) {
        const struct tw_trctl_field *field = &tw_trctl_fields[i];

        if (field->component != known->type || field->offset != row->offset ||
            !tw_trctl_get(field, value) || strcmp(field->name, row->name) == 0)
            continue;
        tw_text_char(&sim->text, ' ');
        put_name(&sim->text, field->name, number);
        tw_text_format(&sim->text, "=0x%" PRIx32, tw_trctl_get(field, value));
    }
    tw_trsim_end(sim);
}

void tw_trsim_show(struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    const struct tw_trctl_part *known = tw_trsim_known(sim, part);

    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];

        for (uint32_t n = 0; row->component == known->type && n < row->count; n++) {
            const uint32_t offset = row->offset + n * TW_TRCTL_STRIDE;
            const uint32_t value = tw_trsim_peek(sim, part, offset);

            if (value)
                tw_trsim_register(sim, part, offset, value);
        }
    }
    tw_trsim_begin(sim, "COUNTS");
    if (sim->config->is_json) {
        tw_json_text(&sim->text, "component", known->name);
        tw_json_u64(&sim->text, "messages", part->messages);
        tw_json_u64(&sim->text, "bytes", part->bytes);
        tw_json_u64(&sim->text, "lost", part->lost);
    } else {
        tw_text_format(&sim->text,
                       "%s: %" PRIu64 " messages, %" PRIu64 " bytes, %" PRIu64 " bytes dropped",
                       known->name, part->messages, part->bytes, part->lost);
    }
    tw_trsim_end(sim);
}

void tw_trsim_expected(struct tw_trsim *sim, const char *what, uint64_t got, uint64_t want)
{
    sim->result->expected++;
    if (got == want)
        return;
    sim->result->failed++;
    tw_trsim_begin(sim, "FAILED");
    tw_script_failed(&sim->text, sim->config, what, got, want);
    tw_trsim_end(sim);
}

void tw_trsim_drained(struct tw_trsim *sim, const uint8_t *bytes, size_t size, const char *name)
{
    tw_trsim_begin(sim, "DRAINED");
    tw_script_drained(&sim->text, sim->config, bytes, size, name);
    tw_trsim_end(sim);
}

void tw_trsim_ran(struct tw_trsim *sim, uint64_t instructions, uint64_t cycles, bool is_end)
{
    tw_trsim_begin(sim, "RAN");
    if (sim->config->is_json) {
        tw_json_u64(&sim->text, "n", instructions);
        tw_json_u64(&sim->text, "cycles", cycles);
        tw_json_u64(&sim->text, "end", is_end);
    } else {
        tw_text_format(&sim->text, "ran %" PRIu64 " instructions in %" PRIu64 " cycles%s",
                       instructions, cycles, is_end ? ", to the end of the logs" : "");
    }
    tw_trsim_end(sim);
}
