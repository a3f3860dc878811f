/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: configurations as text, and what cannot be decoded. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <trackway/ntrace.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/text.h"
#include "trctl/table.h"

enum kind {
    IGNORED, /* bookkeeping of those who made the file */
    U8,
    U32,
    U64,
    HEX, /* U64, written without 0x */
    BOOL,
    OTHER /* has a reader and a printer of its own */
};

#define AT(member) offsetof(struct tw_ntrace_config, member)

/* clang-format off */
static const struct key {
    const char *name;
    uint8_t kind;
    uint16_t offset; /* in struct tw_ntrace_config */
    uint64_t most;
} keys[] = {
    { "dialect",               OTHER, 0, 0 },
    { "src_bits",              U8,    AT(src_bits), TW_NTRACE_SRC_BITS_MAX },
    { "inhibit_src",           BOOL,  AT(inhibit_src), 1 },
    { "src",                   OTHER, 0, 0 },
    { "extend_addr_msb",       BOOL,  AT(extend_addr), 1 },
    { "all_jumps",             BOOL,  AT(all_jumps), 1 },
    { "xlen",                  U8,    AT(xlen), 64 },
    { "zcmp_zcmt",             BOOL,  AT(has_zcmp_zcmt), 1 },
    { "jvt",                   HEX,   AT(jvt), UINT64_MAX },
    { "time_width",            U8,    AT(time_width), 64 },
    { "start",                 OTHER, 0, 0 },
    { "starts_inside",         BOOL,  AT(starts_inside), 1 },
    { "id",                    U8,    AT(id), 0x6f },
    { "ram_start",             U64,   AT(ram_start), UINT64_MAX },
    { "ram_limit",             OTHER, 0, 0 },
    { "ram_wp",                U64,   AT(ram_wp), UINT64_MAX },
    { "ram_wrap",              BOOL,  AT(ram_wrapped), 1 },
    { "pib_bits",              U8,    AT(pib_bits), 16 },

    /* How the unit is set up. */
    { "mode",                  OTHER, 0, 0 },
    { "timestamps",            BOOL,  AT(timestamps), 1 },
    { "ownership",             BOOL,  AT(ownership), 1 },
    { "implicit_return_mode",  U8,    AT(return_mode), 3 },
    { "implicit_return_depth", U8,    AT(return_depth), 255 },
    { "repeat_history",        BOOL,  AT(repeat_history), 1 },
    { "repeat_branch",         BOOL,  AT(repeat_branch), 1 },
    { "sequential_jump",       BOOL,  AT(sequential_jump), 1 },
    { "btype",                 U8,    AT(btype), 23 },
    { "sync_messages",         U32,   AT(sync_messages), UINT32_MAX },
    { "sync_style",            OTHER, 0, 0 },
    { "icnt_max",              U32,   AT(icnt_max), UINT32_MAX },
    { "hist_max_bits",         U8,    AT(hist_max), 32 },

    { "bytes",                 IGNORED, 0, 0 },
    { "expected",              IGNORED, 0, 0 },
    { "framing",               IGNORED, 0, 0 },
    { "grade",                 IGNORED, 0, 0 },
    { "harts",                 IGNORED, 0, 0 },
    { "hist_lengths",          IGNORED, 0, 0 },
    { "ids",                   IGNORED, 0, 0 },
    { "instructions",          IGNORED, 0, 0 },
    { "messages",              IGNORED, 0, 0 },
    { "messages_read_by",      IGNORED, 0, 0 },
    { "nexrv_decoder",         IGNORED, 0, 0 },
    { "nexrv_options",         IGNORED, 0, 0 },
    { "pc_fnv64",              IGNORED, 0, 0 },
    { "producer",              IGNORED, 0, 0 },
    { "program",               IGNORED, 0, 0 },
    { "protocol",              IGNORED, 0, 0 },
    { "verified_by",           IGNORED, 0, 0 },
};

static const struct { const char *name; uint8_t value; } dialects[] = {
    { "auto", TW_NTRACE_AUTO },
    { "1.0", TW_NTRACE_1_0 },
    { "sifive", TW_NTRACE_SIFIVE },
}, modes[] = {
    { "btm", TW_NTRACE_MODE_BTM },
    { "htm", TW_NTRACE_MODE_HTM },
}, styles[] = {
    { "upgrade", TW_NTRACE_SYNC_MERGED },
    { "exact", TW_NTRACE_SYNC_AT_ONCE },
    { "hist", TW_NTRACE_SYNC_HIST },
};
/* clang-format on */

void tw_ntrace_config_init(struct tw_ntrace_config *config)
{
    *config = (struct tw_ntrace_config){
        .size = sizeof *config,
        .xlen = 64,
    };
}

static bool set_other(struct tw_ntrace_config *config, const char *name, const char *value,
                      size_t size)
{
    uint64_t number;

    if (!strcmp(name, "dialect")) {
        for (size_t i = 0; i < TW_LENGTH(dialects); i++)
            if (tw_setting_is(value, size, dialects[i].name)) {
                config->dialect = dialects[i].value;
                return true;
            }
    } else if (!strcmp(name, "mode")) {
        for (size_t i = 0; i < TW_LENGTH(modes); i++)
            if (tw_setting_is(value, size, modes[i].name)) {
                config->mode = modes[i].value;
                return true;
            }
    } else if (!strcmp(name, "sync_style")) {
        for (size_t i = 0; i < TW_LENGTH(styles); i++)
            if (tw_setting_is(value, size, styles[i].name)) {
                config->sync_style = styles[i].value;
                return true;
            }
    } else if (!strcmp(name, "src")) {
        if (!tw_setting_number(value, size, 10, &number) ||
            number >> TW_NTRACE_SRC_BITS_MAX != 0)
            return false;
        config->src = (uint16_t)number;
        return config->has_src = true;
    } else if (!strcmp(name, "ram_limit")) {
        return config->has_ram = tw_setting_number(value, size, 10, &config->ram_limit);
    } else if (!strcmp(name, "start")) { /* "middle of a message", "message" */
        config->starts_inside = size > 6 && !memcmp(value, "middle", 6);
        return config->starts_inside || tw_setting_is(value, size, "message");
    }
    return false;
}

static void store(struct tw_ntrace_config *config, const struct key *key, uint64_t value)
{
    uint8_t *at = (uint8_t *)config + key->offset;
    const uint8_t byte = (uint8_t)value;
    const uint32_t word = (uint32_t)value;
    const bool is_set = value != 0;

    switch (key->kind) {
    case U8:
        memcpy(at, &byte, sizeof byte);
        break;
    case U32:
        memcpy(at, &word, sizeof word);
        break;
    case BOOL:
        memcpy(at, &is_set, sizeof is_set);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

static uint64_t load(const struct tw_ntrace_config *config, const struct key *key)
{
    const uint8_t *at = (const uint8_t *)config + key->offset;
    uint32_t word;
    uint64_t value;
    bool is_set;

    switch (key->kind) {
    case U8:
        return *at;
    case U32:
        memcpy(&word, at, sizeof word);
        return word;
    case BOOL:
        memcpy(&is_set, at, sizeof is_set);
        return is_set;
    default:
        memcpy(&value, at, sizeof value);
        return value;
    }
}

static enum tw_status set_key(struct tw_ntrace_config *config, const struct key *key,
                              const char *value, size_t size, struct tw_fault *fault)
{
    const int shown = size < 80 ? (int)size : 80;
    uint64_t number;

    if (key->kind == IGNORED)
        return TW_OK;
    if (key->kind == OTHER) {
        if (set_other(config, key->name, value, size))
            return TW_OK;
        return tw_fail(fault, TW_E_CONFIG, "%s: \"%.*s\" is no value it can have", key->name,
                       shown, value);
    }
    if (key->kind == BOOL
            ? !tw_setting_bool(value, size, &number)
            : !tw_setting_number(value, size, key->kind == HEX ? 16 : 10, &number) ||
                  number > key->most)
        return tw_fail(fault, TW_E_CONFIG, "%s: \"%.*s\" is no number from 0 to %" PRIu64,
                       key->name, shown, value, key->most);
    store(config, key, number);
    return TW_OK;
}

/* ---- registers of the control interface ---- */

/* Fields whose value is that of a key. */
static const struct {
    const char *field, *key;
} same[] = {
    { "trTeSrcBits", "src_bits" },
    { "trTeInhibitSrc", "inhibit_src" },
    { "trTeInstExtendAddrMSB", "extend_addr_msb" },
    { "trTeInstEnAllJumps", "all_jumps" },
    { "trTeInstEnSequentialJump", "sequential_jump" },
    { "trTeInstImplicitReturnMode", "implicit_return_mode" },
    { "trTeInstEnRepeatedHistory", "repeat_history" },
    { "trTeContext", "ownership" },
    { "trTsEnable", "timestamps" },
    { "trTsWidth", "time_width" },
    { "trRamWrap", "ram_wrap" },
    { "teSrcBits", "src_bits" },
    { "teInhibitSrc", "inhibit_src" },
    { "tsEnable", "timestamps" },
    { "tsWidth", "time_width" },
    { "teSinkWrapped", "ram_wrap" },
};

static const struct key *find_key(const char *name, size_t size)
{
    for (size_t i = 0; i < TW_LENGTH(keys); i++)
        if (tw_setting_is(name, size, keys[i].name))
            return &keys[i];
    return NULL;
}

static void set_low(uint64_t *to, uint32_t value)
{
    *to = (*to & ~(uint64_t)UINT32_MAX) | value;
}

static void set_high(uint64_t *to, uint32_t value)
{
    *to = (uint32_t)*to | (uint64_t)value << 32;
}

/* The halves of a sink's addresses; false: it is none of them. */
static bool set_address(struct tw_ntrace_config *config, unsigned component, uint32_t offset,
                        uint32_t value)
{
    enum { START = 0x10, START_HIGH = 0x14, OLD_LIMIT = 0x18, OLD_WP = 0x1c };
    enum { LIMIT = 0x18, LIMIT_HIGH = 0x1c, WP = 0x20, WP_HIGH = 0x24 };
    const bool is_old = component == TW_TRCTL_VERSION_0;

    if (component != TW_TRCTL_RAM_SINK && !is_old)
        return false;
    if (offset == START) {
        set_low(&config->ram_start, value & ~3u);
    } else if (offset == START_HIGH) {
        set_high(&config->ram_start, value);
        if (is_old) { /* one for all three */
            set_high(&config->ram_limit, value);
            set_high(&config->ram_wp, value);
        }
    } else if (offset == LIMIT) {
        set_low(&config->ram_limit, value & ~3u);
        config->has_ram = true;
    } else if (offset == (is_old ? OLD_WP : WP)) {
        set_low(&config->ram_wp, value & ~3u);
        config->ram_wrapped = value & 1;
    } else if (!is_old && offset == LIMIT_HIGH) {
        set_high(&config->ram_limit, value);
    } else if (!is_old && offset == WP_HIGH) {
        set_high(&config->ram_wp, value);
    } else {
        return false;
    }
    return true;
}

static enum tw_status set_field(struct tw_ntrace_config *config,
                                const struct tw_trctl_field *field, uint32_t value,
                                struct tw_fault *fault)
{
    enum { FORMAT_NTRACE = 1, PIB_PARALLEL = 8 }; /* and four more, each twice as wide */

    if (!strcmp(field->name, "trTeFormat") && value != FORMAT_NTRACE)
        return tw_fail(fault, TW_E_CONFIG, "trTeFormat is %" PRIu32 ": %s", value,
                       value ? "a vendor's own trace" : "the trace is E-Trace");
    if (field->component == TW_TRCTL_VERSION_0 ||
        (!strcmp(field->name, "trTeVerMajor") && value == 0))
        config->dialect = TW_NTRACE_SIFIVE;
    if (!strcmp(field->name, "trPibMode") && value >= PIB_PARALLEL && value <= PIB_PARALLEL + 4)
        config->pib_bits = (uint8_t)(1u << (value - PIB_PARALLEL));
    if (!strcmp(field->name, "trTeSrcID"))
        config->src = (uint16_t)value; /* others may share the stream */
    if (!strcmp(field->name, "trTeInstMode") &&
        (value == TW_NTRACE_MODE_BTM || value == TW_NTRACE_MODE_HTM))
        config->mode = (uint8_t)value;
    for (size_t i = 0; i < TW_LENGTH(same); i++)
        if (!strcmp(field->name, same[i].field)) {
            const struct key *key = find_key(same[i].key, strlen(same[i].key));

            if (value > key->most)
                return tw_fail(fault, TW_E_CONFIG, "%s is %" PRIu32 "; %" PRIu64 " is the most",
                               field->name, value, key->most);
            store(config, key, value);
        }
    return TW_OK;
}

/* A register, or a single field of one, by name.  *is_known: it is there. */
static enum tw_status set_register(struct tw_ntrace_config *config, const char *name,
                                   size_t name_size, uint32_t value, bool *is_known,
                                   struct tw_fault *fault)
{
    uint16_t offset;
    const struct tw_trctl_register *row = tw_trctl_find(name, name_size, &offset);
    const struct tw_trctl_field *field = tw_trctl_find_field(name, name_size, &offset);

    *is_known = row || field;
    if (!row)
        return field ? set_field(config, field, value, fault) : TW_OK;
    if (set_address(config, row->component, offset, value))
        return TW_OK;
    for (size_t i = 0; i < tw_trctl_field_count; i++)
        if (tw_trctl_fields[i].component == row->component &&
            tw_trctl_fields[i].offset == offset)
            TW_TRY(set_field(config, &tw_trctl_fields[i],
                             tw_trctl_get(&tw_trctl_fields[i], value), fault));
    return TW_OK;
}

/* "src3_mode", "id10_program": of one of several harts, which the stream itself names. */
static bool is_of_one(const char *name, size_t size)
{
    const size_t word = size > 3 && !memcmp(name, "src", 3)  ? 3
                        : size > 2 && !memcmp(name, "id", 2) ? 2
                                                             : 0;

    return word && name[word] >= '0' && name[word] <= '9' && memchr(name, '_', size);
}

static enum tw_status set_named(void *config, const char *name, size_t name_size,
                                const char *value, size_t size, struct tw_fault *fault)
{
    const struct key *key = find_key(name, name_size);
    uint64_t number = 0;
    bool is_known;

    if (key)
        return set_key(config, key, value, size, fault);
    if (is_of_one(name, name_size) || (name_size >= 2 && name[0] == 'x' && name[1] == '_'))
        return TW_OK;
    if (tw_setting_number(value, size, 10, &number) && number <= UINT32_MAX) {
        TW_TRY(set_register(config, name, name_size, (uint32_t)number, &is_known, fault));
        if (is_known)
            return TW_OK;
    }
    return tw_fail(fault, TW_E_CONFIG, "unknown key \"%.*s\"",
                   name_size < 80 ? (int)name_size : 80, name);
}

enum tw_status tw_ntrace_config_read(struct tw_ntrace_config *config, const char *text,
                                     struct tw_fault *fault)
{
    TW_TRY(tw_settings_read(&text, set_named, config, fault));
    return *text ? tw_fail(fault, TW_E_CONFIG, "\"%.20s\" is no key=value", text) : TW_OK;
}

static enum tw_status check(const struct tw_ntrace_config *config, struct tw_fault *fault)
{
    if (config->pib_bits & (config->pib_bits - 1))
        return tw_fail(fault, TW_E_CONFIG, "pib_bits is %u; it must be 1, 2, 4, 8 or 16",
                       config->pib_bits);
    if (config->dialect > TW_NTRACE_SIFIVE)
        return tw_fail(fault, TW_E_CONFIG, "there is no such dialect");
    if (config->xlen != 32 && config->xlen != 64)
        return tw_fail(fault, TW_E_CONFIG, "xlen is %u; it must be 32 or 64", config->xlen);
    if (config->src_bits > TW_NTRACE_SRC_BITS_MAX)
        return tw_fail(fault, TW_E_CONFIG, "src_bits is %u; it must be from 0 to %d",
                       config->src_bits, TW_NTRACE_SRC_BITS_MAX);
    if (config->time_width > 64)
        return tw_fail(fault, TW_E_CONFIG, "time_width is %u; it must be from 0 to 64",
                       config->time_width);
    if (config->has_src && config->src >> config->src_bits != 0 && config->src_bits)
        return tw_fail(fault, TW_E_CONFIG, "src is %u, which src_bits=%u cannot hold",
                       config->src, config->src_bits);
    if (config->has_ram &&
        (config->ram_limit < config->ram_start || config->ram_wp < config->ram_start ||
         config->ram_wp > config->ram_limit))
        return tw_fail(fault, TW_E_CONFIG,
                       "ram_wp 0x%" PRIx64 " does not lie in 0x%" PRIx64 " to 0x%" PRIx64,
                       config->ram_wp, config->ram_start, config->ram_limit);
    return TW_OK;
}

enum tw_status tw_ntrace_config_check(const struct tw_ntrace_config *config,
                                      struct tw_fault *fault)
{
    struct tw_ntrace_config copy;

    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_ntrace_config", fault));
    return check(&copy, fault);
}

static bool print_other(struct tw_text *out, const struct tw_ntrace_config *config,
                        const char *name)
{
    if (!strcmp(name, "dialect"))
        tw_text_add(out, dialects[config->dialect].name);
    else if (!strcmp(name, "mode") && config->mode)
        tw_text_add(out, modes[config->mode == TW_NTRACE_MODE_HTM].name);
    else if (!strcmp(name, "sync_style"))
        tw_text_add(out, styles[config->sync_style].name);
    else if (!strcmp(name, "src") && config->has_src)
        tw_text_decimal(out, config->src);
    else if (!strcmp(name, "ram_limit") && config->has_ram)
        tw_text_hex(out, config->ram_limit);
    else
        return false;
    return true;
}

static bool print_key(struct tw_text *out, const struct tw_ntrace_config *config,
                      const struct key *key)
{
    const uint64_t value = key->kind == OTHER || key->kind == IGNORED ? 0 : load(config, key);

    switch (key->kind) {
    case IGNORED:
        return false;
    case OTHER:
        return print_other(out, config, key->name);
    case U64:
        if (!config->has_ram)
            return false;
        tw_text_hex(out, value);
        return true;
    case HEX:
        tw_text_format(out, "%" PRIx64, value);
        return true;
    default:
        tw_text_decimal(out, value);
        return true;
    }
}

size_t tw_ntrace_config_text(char *out, size_t room, const struct tw_ntrace_config *theirs)
{
    struct tw_text text = tw_text_in(out, room);
    struct tw_ntrace_config copy;
    const struct tw_ntrace_config *config = &copy;

    if (TW_SIZED_TAKE(&copy, theirs, "tw_ntrace_config", NULL) != TW_OK)
        return 0;
    for (size_t i = 0; i < TW_LENGTH(keys); i++) {
        char buffer[80];
        struct tw_text value = tw_text_in(buffer, sizeof buffer);

        if (!print_key(&value, config, &keys[i]))
            continue;
        tw_text_add(&text, keys[i].name);
        tw_text_char(&text, '=');
        tw_text_add_size(&text, buffer, value.size);
        tw_text_char(&text, '\n');
    }
    return text.size;
}
