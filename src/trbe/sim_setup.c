/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of a script that set up the unit, its memory, translation and faults. */
#include <ctype.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trbe/sim.h"

bool tw_sim_is_word(const char *word, const char *name)
{
    while (*name && tolower((unsigned char)*word) == *name) {
        word++;
        name++;
    }
    return !*word && !*name;
}

bool tw_sim_number(uint64_t *value, const char *text)
{
    const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = is_hex ? 16 : 10;
    uint64_t sum = 0;

    text += is_hex ? 2 : 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)tolower((unsigned char)*text);
        const unsigned digit = isdigit(c)             ? c - '0' + 0u
                               : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                                                      : 99;

        if (digit >= base || sum > (~(uint64_t)0 - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

static const struct {
    const char *name;
    uint8_t value;
} value_names[] = {
    { "fill", TW_TRBE_FILL },          { "wrap", TW_TRBE_WRAP },
    { "circular", TW_TRBE_CIRCULAR },  { "stop", TW_TRBE_STOP_ON_TRIGGER },
    { "irq", TW_TRBE_IRQ_ON_TRIGGER }, { "ignore", TW_TRBE_IGNORE_TRIGGER },
};

enum tw_status tw_sim_number_at(struct sim *sim, size_t index, uint64_t *value)
{
    if (index >= sim->count)
        return tw_sim_wrong(sim, "%s wants more than that", sim->word[0]);
    for (size_t i = 0; i < TW_LENGTH(value_names); i++) {
        if (tw_sim_is_word(sim->word[index], value_names[i].name)) {
            *value = value_names[i].value;
            return TW_OK;
        }
    }
    if (!tw_sim_number(value, sim->word[index]))
        return tw_sim_wrong(sim, "\"%s\" is no number", sim->word[index]);
    return TW_OK;
}

static const struct feature {
    const char *name;
    unsigned bit;
} features[] = {
    { "el2", TW_TRBE_EL2 },       { "el3", TW_TRBE_EL3 },   { "secure", TW_TRBE_SECURE },
    { "sel2", TW_TRBE_SEL2 },     { "rme", TW_TRBE_RME },   { "ext", TW_TRBE_EXT },
    { "mpam", TW_TRBE_MPAM_EXT }, { "exc", TW_TRBE_EXC },   { "v9.3", TW_TRBE_V9_3 },
    { "lpa", TW_TRBE_LPA },       { "d128", TW_TRBE_D128 },
};

static enum tw_status set_features(struct sim *sim, char *list)
{
    while (*list) {
        char *end = strchr(list, ',');
        size_t i = 0;

        if (end)
            *end = 0;
        while (i < TW_LENGTH(features) && !tw_sim_is_word(list, features[i].name))
            i++;
        if (i == TW_LENGTH(features))
            return tw_sim_wrong(sim, "there is no feature \"%s\"", list);
        sim->pe->unit_config.features |= features[i].bit;
        if (!end)
            return TW_OK;
        list = end + 1;
    }
    return TW_OK;
}

static bool set_choice(struct tw_trbe_config *config, const char *key, const char *value)
{
    const bool is_yes = tw_sim_is_word(value, "yes");

    if (tw_sim_is_word(key, "aborts") &&
        (tw_sim_is_word(value, "reported") || tw_sim_is_word(value, "ignored") ||
         tw_sim_is_word(value, "serror")))
        config->aborts = (uint8_t)(tw_sim_is_word(value, "ignored")  ? 1
                                   : tw_sim_is_word(value, "serror") ? 2
                                                                     : 0);
    else if (tw_sim_is_word(key, "timing") &&
             (tw_sim_is_word(value, "sequential") || tw_sim_is_word(value, "late")))
        config->timing = tw_sim_is_word(value, "late");
    else if (tw_sim_is_word(key, "order") &&
             (tw_sim_is_word(value, "pointer-first") || tw_sim_is_word(value, "trigger-first")))
        config->is_trigger_first = tw_sim_is_word(value, "trigger-first");
    else if (tw_sim_is_word(key, "manages-flags"))
        config->manages_flags = is_yes;
    else if (tw_sim_is_word(key, "whole-units"))
        config->counts_whole_units = is_yes;
    else if (tw_sim_is_word(key, "low-bits-zero"))
        config->low_bits_are_zero = is_yes;
    else if (tw_sim_is_word(key, "aborts-set-ea"))
        config->aborts_set_ea = is_yes;
    else
        return false;
    return true;
}

/* config KEY=VALUE ... */
enum tw_status tw_sim_config(struct sim *sim)
{
    if (sim->pe->unit)
        return tw_sim_wrong(sim, "config comes before all other commands");
    for (size_t i = 1; i < sim->count; i += 3) {
        const char *key = sim->word[i];
        uint64_t value;

        if (i + 2 >= sim->count || strcmp(sim->word[i + 1], "=") != 0)
            return tw_sim_wrong(sim, "config wants KEY=VALUE");
        if (tw_sim_is_word(key, "features")) {
            TW_TRY(set_features(sim, sim->word[i + 2]));
            continue;
        }
        if (set_choice(&sim->pe->unit_config, key, sim->word[i + 2]))
            continue;
        TW_TRY(tw_sim_number_at(sim, i + 2, &value));
        if (tw_sim_is_word(key, "align") && value <= 11)
            sim->pe->unit_config.align = (uint8_t)value;
        else if (tw_sim_is_word(key, "address-bits") && value <= 56)
            sim->pe->unit_config.address_bits = (uint8_t)value;
        else if (tw_sim_is_word(key, "queue") && value >= 1 && value <= 1u << 20)
            sim->pe->unit_config.queue = (uint32_t)value;
        else if (tw_sim_is_word(key, "unknown"))
            sim->pe->unit_config.unknown = value;
        else
            return tw_sim_wrong(sim, "config has no %s=%s", key, sim->word[i + 2]);
    }
    return TW_OK;
}

/* memory BASE SIZE */
enum tw_status tw_sim_memory(struct sim *sim)
{
    struct sim_region region = { 0 };

    TW_TRY(tw_sim_number_at(sim, 1, &region.base));
    TW_TRY(tw_sim_number_at(sim, 2, &region.size));
    if (sim->region_count == SIM_REGIONS || region.size == 0 ||
        region.base + region.size - 1 < region.base)
        return tw_sim_wrong(sim, "no such memory, or too many of them");
    if (!tw_sim_spend(sim, region.size))
        return TW_E_ARGUMENT;
    region.bytes = tw_take(sim->config->allocator, (size_t)region.size);
    if (!region.bytes)
        return tw_fail(sim->fault, TW_E_MEMORY, "out of memory");
    sim->regions[sim->region_count++] = region;
    return TW_OK;
}

/* map ADDRESS PHYSICAL SIZE */
enum tw_status tw_sim_map(struct sim *sim)
{
    struct sim_map map;

    TW_TRY(tw_sim_number_at(sim, 1, &map.from));
    TW_TRY(tw_sim_number_at(sim, 2, &map.to));
    TW_TRY(tw_sim_number_at(sim, 3, &map.size));
    if (sim->map_count == SIM_MAPS || map.size == 0 || map.from + map.size - 1 < map.from ||
        map.to + map.size - 1 < map.to)
        return tw_sim_wrong(sim, "no such mapping, or too many of them");
    sim->maps[sim->map_count++] = map;
    return TW_OK;
}

/* fault ADDRESS CLASS STATUS [MORE], abort ADDRESS [STATUS], fault none, busy ADDRESS|none */
enum tw_status tw_sim_fault(struct sim *sim)
{
    uint64_t address, class_code = TW_TRBE_EC_STAGE1, status = 0x10, more = 0;
    const bool is_abort = tw_sim_is_word(sim->word[0], "abort");

    sim->has_fault = false;
    if (sim->count == 2 && tw_sim_is_word(sim->word[1], "none"))
        return TW_OK;
    TW_TRY(tw_sim_number_at(sim, 1, &address));
    if (!is_abort) {
        TW_TRY(tw_sim_number_at(sim, 2, &class_code));
        TW_TRY(tw_sim_number_at(sim, 3, &status));
        if (sim->count > 4)
            TW_TRY(tw_sim_number_at(sim, 4, &more));
    }
    sim->has_fault = true;
    sim->is_abort = is_abort;
    sim->fault_at = address;
    sim->kind = (struct tw_trbe_fault){ (uint8_t)(class_code & 0x3f), (uint8_t)(status & 0x3f),
                                        (uint32_t)(more & 0xffffff) };
    return TW_OK;
}

enum tw_status tw_sim_busy(struct sim *sim)
{
    sim->busy_at = 0;
    if (sim->count == 2 && tw_sim_is_word(sim->word[1], "none"))
        return TW_OK;
    return tw_sim_number_at(sim, 1, &sim->busy_at);
}
