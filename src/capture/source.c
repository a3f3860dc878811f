/* SPDX-License-Identifier: BSD-2-Clause */
/* What the words of a snapshot mean: types, registers, memory spaces, formats. */
#include <string.h>

#include <trackway/protocol.h>

#include "base/fault.h"
#include "capture/capture.h"

/* Types of trace sources by how they begin; what follows must not be a letter, so that "ETRACED"
   is no "ETRACE".  The trace ID is in the first of the registers that is there. */
static const struct kind {
    const char *type, *protocol;
    const char *id_registers[2];
    unsigned id_shift;
} kinds[] = {
    /* clang-format off */
    { "ETM4",    "etmv4",   { "TRCTRACEIDR" },                0 },
    { "ETMv4",   "etmv4",   { "TRCTRACEIDR" },                0 },
    { "ETE",     "ete",     { "TRCTRACEIDR" },                0 },
    { "ETM3",    "etmv3",   { "ETMTRACEIDR" },                0 },
    { "ETMv3",   "etmv3",   { "ETMTRACEIDR" },                0 },
    { "PTM",     "ptm",     { "ETMTRACEIDR" },                0 },
    { "PFT",     "ptm",     { "ETMTRACEIDR" },                0 },
    { "ITM",     "itm",     { "ITMTCR", "CONTROL_REGISTER" }, 16 },
    { "STM",     "stm",     { "STMTCSR" },                    16 },
    { "ETRACED", "etraced", { "TRACEID" },                    0 },
    { "ETRACE",  "etrace",  { "TRACEID" },                    0 },
    { "NTRACE",  "ntrace",  { "TRACEID" },                    0 },
    /* clang-format on */
};

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static const struct kind *kind_of_type(const char *type)
{
    for (size_t i = 0; i < TW_LENGTH(kinds); i++) {
        const char *end = type + strlen(kinds[i].type);

        /* "PTMv1.1" is as good as "PTM1.1". */
        if (tw_name_begins(type, kinds[i].type) &&
            (!is_letter(*end) || ((*end == 'v' || *end == 'V') && !is_letter(end[1]))))
            return &kinds[i];
    }
    return NULL;
}

static const struct kind *kind_of_protocol(const char *protocol)
{
    for (size_t i = 0; i < TW_LENGTH(kinds); i++)
        if (strcmp(protocol, kinds[i].protocol) == 0)
            return &kinds[i];
    return NULL;
}

static bool find_register(const struct tw_source *source, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (tw_name_equal(source->registers[i].name, name)) {
            *value = source->registers[i].value;
            return true;
        }
    return false;
}

bool tw_type_is_known(const struct tw_capture *capture, const char *type)
{
    for (size_t i = 0; i < capture->options.protocol_count; i++)
        if (tw_name_equal(type, capture->options.protocols[i]->name))
            return true;
    return kind_of_type(type) != NULL;
}

const char *tw_id_register(const char *protocol)
{
    const struct kind *kind = protocol ? kind_of_protocol(protocol) : NULL;

    return kind ? kind->id_registers[0] : NULL;
}

void tw_source_identify(struct tw_source *source)
{
    const struct kind *kind = NULL;
    uint64_t value;

    if (source->protocol)
        kind = kind_of_protocol(source->protocol);
    else if (source->type)
        kind = kind_of_type(source->type);
    if (!kind)
        return;
    source->protocol = kind->protocol;
    for (size_t i = 0; i < TW_LENGTH(kind->id_registers) && !source->has_id; i++)
        if (kind->id_registers[i] && find_register(source, kind->id_registers[i], &value)) {
            source->id = (uint8_t)(value >> kind->id_shift & 0x7f);
            source->has_id = true;
        }
}

/* One item of what stands in parentheses: "id:N", "size:N", or N alone, which is the ID. */
static bool read_detail(struct tw_register_detail *detail, const char *item)
{
    const char *colon = strchr(item, ':');
    uint64_t value;

    if (!colon || tw_name_begins(item, "id:")) {
        if (!tw_number_parse(&value, colon ? colon + 1 : item, false) || value >= TW_NONE)
            return false;
        detail->id = (uint32_t)value;
    } else if (tw_name_begins(item, "size:")) {
        if (!tw_number_parse(&value, colon + 1, false) || value == 0 || value > 65536)
            return false;
        detail->bits = (uint32_t)value;
    }
    return true; /* keys that only others know do not matter */
}

enum tw_status tw_register_read(struct tw_capture *capture, struct tw_register *out,
                                struct tw_register_detail *detail, const struct tw_ini *ini,
                                const struct tw_ini_entry *entry)
{
    char *open = strchr(entry->key, '(');
    char *close = open ? strrchr(open, ')') : NULL;

    *detail = (struct tw_register_detail){ TW_NONE, 32 };
    if (close) {
        char *rest = open + 1, *item, *end = open;

        *close = 0;
        while (end != entry->key && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = 0;
        while ((item = tw_list_next(&rest)))
            if (!read_detail(detail, item))
                return tw_fail(capture->fault, TW_E_CONFIG,
                               "%s:%u: %s(%s): want id:NUMBER or size:BITS", ini->path,
                               entry->line, entry->key, item);
    }
    /* Vector registers are wider than a value: the low 64 bits are kept. */
    if (!*entry->key || !tw_number_parse(&out->value, entry->value, detail->bits > 64))
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: %s=%s: not a number", ini->path,
                       entry->line, entry->key, entry->value);
    out->name = entry->key;
    return TW_OK;
}

static const struct {
    const char *name;
    uint32_t spaces;
} spaces_by_name[] = {
    /* clang-format off */
    { "N",    TW_SPACE_ANY_N },
    { "S",    TW_SPACE_ANY_S },
    { "R",    TW_SPACE_ANY_R },
    { "H",    TW_SPACE_EL2 },
    { "EL1N", TW_SPACE_EL1N },
    { "EL1S", TW_SPACE_EL1S },
    { "EL1R", TW_SPACE_EL1R },
    { "EL2",  TW_SPACE_EL2 },
    { "EL2N", TW_SPACE_EL2 },
    { "EL2S", TW_SPACE_EL2S },
    { "EL2R", TW_SPACE_EL2R },
    { "EL3",  TW_SPACE_EL3 },
    { "ROOT", TW_SPACE_ROOT },
    { "ANY",  TW_SPACE_ANY },
    /* Older names: privileged, in the Non-secure or Secure state. */
    { "P",    TW_SPACE_EL1N },
    { "NP",   TW_SPACE_EL1N },
    { "SP",   TW_SPACE_EL1S },
    /* clang-format on */
};

bool tw_space_by_name(uint32_t *spaces, const char *name)
{
    for (size_t i = 0; i < TW_LENGTH(spaces_by_name); i++)
        if (tw_name_equal(spaces_by_name[i].name, name)) {
            *spaces = spaces_by_name[i].spaces;
            return true;
        }
    return false;
}

static const char *const framings[] = {
    [TW_FRAMING_NONE] = "none",       [TW_FRAMING_MEMORY] = "memory",
    [TW_FRAMING_TPIU] = "tpiu",       [TW_FRAMING_TPIU_HSYNC] = "tpiu-hsync",
    [TW_FRAMING_DSTREAM] = "dstream",
};

bool tw_framing_by_name(enum tw_framing *framing, const char *name)
{
    for (size_t i = 0; i < TW_LENGTH(framings); i++)
        if (strcmp(framings[i], name) == 0) {
            *framing = (enum tw_framing)i;
            return true;
        }
    return false;
}

const char *tw_framing_name(enum tw_framing framing)
{
    return (size_t)framing < TW_LENGTH(framings) ? framings[framing] : "unknown";
}
