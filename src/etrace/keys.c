/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of configuration keys, and how each is set and printed. */
#include "etrace/config.h"

#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/settings.h"

#define AT(member) offsetof(struct tw_etrace_config, member)
#define NO_ATTRIBUTE                                                                           \
    {                                                                                          \
        NULL, 0, 0, 0, 0                                                                       \
    }

enum { IGNORED, U8, U16, BOOL, OPTION, OTHER }; /* enum tw_etrace_key_kind, short */

/* clang-format off */
const struct tw_etrace_key tw_etrace_keys[] = {
    { "preset",             NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "layout",             NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "encapsulation",      NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "kind",               NULL, OTHER, 0, 0, NO_ATTRIBUTE },

    /* Required attributes. */
    { "arch_p",             NULL, U8, AT(arch), 255,              { "arch", 0, 8, 4, 0 } },
    { "bpred_size_p",       NULL, U8, AT(bpred_size), 15,         { "bpred_size", 0, 12, 4, 0 } },
    { "cache_size_p",       NULL, U8, AT(cache_size), 15,         { "cache_size", 0, 16, 4, 0 } },
    { "call_counter_size_p", NULL, U8, AT(call_counter_size), 15, { "call_counter_size", 0, 20, 3, 0 } },
    { "context_width_p",    NULL, U8, AT(context_width), 64,      { "context_width", 0, 31, 5, 1 } },
    { "time_width_p",       NULL, U8, AT(time_width), 64,         { "time_width", 2, 0, 0, 1 } },
    { "ecause_width_p",     NULL, U8, AT(ecause_width), 64,       { "ecause_width", 0, 39, 4, 1 } },
    { "f0s_width_p",        NULL, U8, AT(f0s_width), 4,           { "f0s_width", 0, 55, 2, 0 } },
    { "iaddress_lsb_p",     NULL, U8, AT(iaddress_lsb), 2,        { "iaddress_lsb", 0, 57, 2, 1 } },
    { "iaddress_width_p",   NULL, U8, AT(iaddress_width), 64,     { "iaddress_width", 1, 0, 7, 1 } },
    { "nocontext_p",        NULL, BOOL, AT(nocontext), 1,         { "nocontext", 1, 28, 1, 0 } },
    { "notime_p",           NULL, BOOL, AT(notime), 1,            { "notime", 2, 0, 0, 0 } },
    { "privilege_width_p",  NULL, U8, AT(privilege_width), 8,     { "privilege_width", 1, 29, 2, 1 } },
    { "return_stack_size_p", NULL, U8, AT(return_stack_size), 15, { "return_stack_size", 1, 34, 4, 0 } },
    { "sijump_p",           NULL, BOOL, AT(sijump), 1,            { "sijump", 1, 38, 1, 0 } },

    /* The support packet. */
    { "encoder_mode_bits",  NULL, U8, AT(encoder_mode_bits), 32, NO_ATTRIBUTE },
    { "ioptions_bits",      NULL, U8, AT(ioptions_bits), TW_ETRACE_OPTION_BITS, NO_ATTRIBUTE },
    { "doptions_bits",      NULL, U8, AT(doptions_bits), TW_ETRACE_OPTION_BITS, NO_ATTRIBUTE },
    { "ioptions",           NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "doptions",           NULL, OTHER, 0, 0, NO_ATTRIBUTE },

    /* How the unit is set up. */
    { "resync_packets",     NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "sijump",             "si-jump", OTHER, 0, 0, NO_ATTRIBUTE },
    { "full_address",       "full-address", OPTION, 0, TW_ETRACE_FULL_ADDRESS, NO_ATTRIBUTE },
    { "implicit_return",    "implicit-return", OPTION, 0, TW_ETRACE_IMPLICIT_RETURN, NO_ATTRIBUTE },
    { "implicit_exception", "implicit-except", OPTION, 0, TW_ETRACE_IMPLICIT_EXCEPTION, NO_ATTRIBUTE },
    { "branch_prediction",  "branch-prediction", OPTION, 0, TW_ETRACE_BRANCH_PREDICTION, NO_ATTRIBUTE },
    { "jump_target_cache",  "jump-target-cache", OPTION, 0, TW_ETRACE_JUMP_TARGET_CACHE, NO_ATTRIBUTE },
    { "no_address",         "no-address", OPTION, 0, TW_ETRACE_NO_ADDRESS, NO_ATTRIBUTE },
    { "no_data",            "no-data", OPTION, 0, TW_ETRACE_NO_DATA, NO_ATTRIBUTE },
    { "full_daddress",      "full-daddress", OPTION, 0, TW_ETRACE_FULL_DADDRESS, NO_ATTRIBUTE },
    { "full_data",          "full-data", OPTION, 0, TW_ETRACE_FULL_DATA, NO_ATTRIBUTE },
    { "link_registers",     NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "ecall_retires",      NULL, BOOL, AT(ecall_retires), 1, NO_ATTRIBUTE },
    { "bpred_reset_on_sync", NULL, BOOL, AT(bpred_reset_on_sync), 1, NO_ATTRIBUTE },
    { "compresses_addresses", NULL, BOOL, AT(compresses_addresses), 1, NO_ATTRIBUTE },
    { "tval_of_interrupts", NULL, BOOL, AT(tval_of_interrupts), 1, NO_ATTRIBUTE },
    { "short_support",      NULL, BOOL, AT(short_support), 1, NO_ATTRIBUTE },
    { "filters_data",       NULL, BOOL, AT(filters_data), 1, NO_ATTRIBUTE },
    { "never_notifies",     NULL, BOOL, AT(never_notifies), 1, NO_ATTRIBUTE },
    { "zcmp_zcmt",          NULL, BOOL, AT(has_zcmp_zcmt), 1, NO_ATTRIBUTE },
    { "jvt",                NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "tvec",               NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "use-rv32-isa",       NULL, OTHER, 0, 0, NO_ATTRIBUTE },

    /* Data trace. */
    { "data_width_p",       NULL, U8, AT(data_width), 128,     { "data_width", 2, 0, 0, 1 } },
    { "daddress_width_p",   NULL, U8, AT(daddress_width), 64,  { "daddress_width", 2, 0, 0, 1 } },
    { "format_bits",        NULL, U8, AT(format_bits), 3, NO_ATTRIBUTE },
    { "lrid_width_p",       NULL, U8, AT(lrid_width), 32,      { "lrid_width", 2, 0, 0, 1 } },
    { "diff_bits",          NULL, U8, AT(diff_bits), 2, NO_ATTRIBUTE },
    { "csr_width",          NULL, U8, AT(csr_width), 64, NO_ATTRIBUTE },
    { "csr_diff_bits",      NULL, U8, AT(csr_diff_bits), 1, NO_ATTRIBUTE },
    { "data_compress",      NULL, U8, AT(data_compress), 3, NO_ATTRIBUTE },

    /* Encapsulation. */
    { "srcid_bits",         NULL, U8, AT(srcid_bits), 16, NO_ATTRIBUTE },
    { "srcid",              NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "type_bits",          NULL, U8, AT(type_bits), 8, NO_ATTRIBUTE },
    { "timestamp_bytes",    NULL, U8, AT(timestamp_bytes), 8, NO_ATTRIBUTE },
    { "block_size",         NULL, U16, AT(block_size), 32768, NO_ATTRIBUTE },
    { "starts_inside",      NULL, BOOL, AT(starts_inside), 1, NO_ATTRIBUTE },
    { "id",                 NULL, U8, AT(id), 0x6f, NO_ATTRIBUTE },

    /* Discovery that decoding does not need. */
    { "version_p",          NULL, U8, AT(version), 255,        { "version", 0, 0, 4, 0 } },
    { "minor_revision_p",   NULL, U8, AT(minor_revision), 255, { "minor_revision", 0, 4, 4, 0 } },
    { "itype_width_p",      NULL, U8, AT(itype_width), 128,    { "itype_width", 1, 14, 7, 1 } },
    { "ctype_width_p",      NULL, U8, AT(ctype_width), 32,     { "context_type_width", 0, 26, 5, 1 } },
    { "ilastsize_width_p",  NULL, U8, AT(ilastsize_width), 128, { "ilastsize_width", 1, 7, 7, 1 } },
    { "iretire_width_p",    NULL, U8, AT(iretire_width), 128,  { "iretire_width", 1, 21, 7, 1 } },
    { "impdef_width_p",     NULL, U8, AT(impdef_width), 128,   { "impdef_width", 1, 43, 5, 1 } },
    { "retires_p",          NULL, U8, AT(retires), 255,        { "retires", 1, 31, 3, 1 } },
    { "taken_branches_p",   "blocks_p", U8, AT(taken_branches), 255, { "taken_branches", 1, 39, 4, 1 } },
    { "comparators_p",      NULL, U8, AT(comparators), 255,    { "comparators", 0, 23, 3, 1 } },
    { "filters_p",          NULL, U8, AT(filters), 255,        { "filters", 0, 43, 4, 1 } },
    { "ecause_choice_p",    NULL, U8, AT(ecause_choice), 255,  { "ecause_choice", 0, 36, 3, 0 } },
    { "filter_context_p",   NULL, U8, AT(filter_context), 1,   { "filter_context", 0, 47, 1, 0 } },
    { "filter_excint_p",    NULL, U8, AT(filter_excint), 255,  { "filter_excint", 0, 48, 4, 0 } },
    { "filter_privilege_p", NULL, U8, AT(filter_privilege), 1, { "filter_privilege", 0, 52, 1, 0 } },
    { "filter_tval_p",      NULL, U8, AT(filter_tval), 1,      { "filter_tval", 0, 53, 1, 0 } },
    { "filter_impdef_p",    NULL, U8, AT(filter_impdef), 1,    { "filter_impdef", 0, 54, 1, 0 } },
    { "filter_time_p",      NULL, U8, AT(filter_time), 1,      { "filter_time", 2, 0, 0, 0 } },
    { "dblock_width_p",     NULL, U8, AT(dblock_width), 128,   { "dblock_width", 2, 0, 0, 1 } },
    { "dsize_width_p",      NULL, U8, AT(dsize_width), 128,    { "dsize_width", 2, 0, 0, 1 } },
    { "dtype_width_p",      NULL, U8, AT(dtype_width), 128,    { "dtype_width", 2, 0, 0, 1 } },
    { "iaddr_lsbs_width_p", NULL, U8, AT(iaddr_lsbs_width), 128, { "iaddr_lsbs_width", 2, 0, 0, 1 } },
    { "lresp_width_p",      NULL, U8, AT(lresp_width), 128,    { "lresp_width", 2, 0, 0, 1 } },
    { "ldata_width_p",      NULL, U8, AT(ldata_width), 128,    { "ldata_width", 2, 0, 0, 1 } },
    { "sdata_width_p",      NULL, U8, AT(sdata_width), 128,    { "sdata_width", 2, 0, 0, 1 } },

    /* Bookkeeping. */
    { "program",            NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "producer",           NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "expected",           NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "instructions",       NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "pc_fnv64",           NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "packets",            NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "bytes",              NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "accesses",           NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "sync_packets",       NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "verified_by",        NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "grade",              NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "file-stem",          NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "object-files",       NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "ip-version",         NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "resync-max",         NULL, OTHER, 0, 0, NO_ATTRIBUTE },
    { "data-compress",      NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
    { "print-set-pc",       NULL, IGNORED, 0, 0, NO_ATTRIBUTE },
};

static const struct { const char *name; uint8_t value; } layouts[] = {
    { "seed", TW_ETRACE_LAYOUT_SEED },
    { "v2", TW_ETRACE_LAYOUT_V2 },
    { "v2-refpy-quirks", TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS },
}, encapsulations[] = {
    { "len5-type2", TW_ETRACE_ENCAP_LEN5_TYPE2 },
    { "riscv", TW_ETRACE_ENCAP_RISCV },
    { "smi", TW_ETRACE_ENCAP_SMI },
    { "atb", TW_ETRACE_ENCAP_ATB },
    { "esp32", TW_ETRACE_ENCAP_ESP32 },
    { "siemens", TW_ETRACE_ENCAP_SIEMENS },
    { "pulp", TW_ETRACE_ENCAP_PULP },
};

/* Encoders whose form is public, as settings that later ones may change. */
static const struct { const char *name, *text; } presets[] = {
    /* The reference flow's encoder in Python, and its data trace. */
    { "reference", "layout=v2,encapsulation=len5-type2,iaddress_width_p=64,iaddress_lsb_p=1,"
                   "privilege_width_p=2,nocontext_p=0,context_width_p=32,notime_p=1,ecause_width_p=5,"
                   "encoder_mode_bits=1,ioptions_bits=5,doptions_bits=4,ecall_retires=1" },
    { "reference-data", "layout=v2-refpy-quirks,encapsulation=len5-type2,kind=data,data_width_p=64,"
                        "daddress_width_p=64,encoder_mode_bits=1,ioptions_bits=5,doptions_bits=4" },
    /* The reference encoder of the draft, in C. */
    { "te_codec", "layout=seed,encapsulation=len5-type2,iaddress_width_p=64,iaddress_lsb_p=1,"
                  "privilege_width_p=2,nocontext_p=0,context_width_p=32,ecause_width_p=5,"
                  "encoder_mode_bits=1,ioptions_bits=5,sijump_p=1,link_registers=x1,"
                  "bpred_reset_on_sync=0" },
    /* Siemens (UltraSoC) messaging infrastructure: srcid_bits are the system's. */
    { "siemens", "layout=v2,encapsulation=siemens,timestamp_bytes=2,srcid_bits=0,iaddress_width_p=64,"
                 "iaddress_lsb_p=1,privilege_width_p=2,nocontext_p=0,context_width_p=32,notime_p=1,"
                 "ecause_width_p=5,encoder_mode_bits=1,ioptions_bits=5,doptions_bits=4" },
    /* PULP rv_tracer. */
    { "pulp", "layout=v2,encapsulation=pulp,iaddress_width_p=64,iaddress_lsb_p=0,privilege_width_p=2,"
              "nocontext_p=1,notime_p=1,ecause_width_p=64,encoder_mode_bits=1,ioptions_bits=7,"
              "ioptions=jump_target_cache,branch_prediction,implicit_return,sijump,implicit_exception,"
              "full_address,delta_address,doptions_bits=0,short_support=1,tval_of_interrupts=1,"
              "compresses_addresses=1,never_notifies=1" },
    /* ESP32-C6 and relatives, by their reference manuals. */
    { "esp32", "layout=seed,encapsulation=esp32,iaddress_width_p=32,iaddress_lsb_p=1,"
               "privilege_width_p=1,nocontext_p=1,ecause_width_p=5,encoder_mode_bits=0,"
               "ioptions_bits=0,full_address=1" },
};

static const struct { const char *name; uint16_t option; } option_names[] = {
    { "implicit_return", TW_ETRACE_IMPLICIT_RETURN },
    { "implicit_exception", TW_ETRACE_IMPLICIT_EXCEPTION },
    { "full_address", TW_ETRACE_FULL_ADDRESS },
    { "jump_target_cache", TW_ETRACE_JUMP_TARGET_CACHE },
    { "branch_prediction", TW_ETRACE_BRANCH_PREDICTION },
    { "sijump", TW_ETRACE_SIJUMP },
    { "delta_address", TW_ETRACE_DELTA_ADDRESS },
    { "no_address", TW_ETRACE_NO_ADDRESS },
    { "no_data", TW_ETRACE_NO_DATA },
    { "full_daddress", TW_ETRACE_FULL_DADDRESS },
    { "full_data", TW_ETRACE_FULL_DATA },
    { "none", 0 },
};
/* clang-format on */

const size_t tw_etrace_key_count = TW_LENGTH(tw_etrace_keys);

const struct tw_etrace_key *tw_etrace_key_find(const char *name, size_t size)
{
    for (size_t i = 0; i < TW_LENGTH(tw_etrace_keys); i++) {
        const struct tw_etrace_key *key = &tw_etrace_keys[i];

        if (tw_setting_is(name, size, key->name) ||
            (key->alias && tw_setting_is(name, size, key->alias)))
            return key;
    }
    return NULL;
}

/* Takes the next piece of a list off the front. */
static size_t next_piece(const char **text, size_t *size)
{
    size_t length = 0;

    while (length < *size && (*text)[length] != ',')
        length++;
    *size -= length < *size ? length + 1 : length;
    return length;
}

static bool read_order(uint16_t order[TW_ETRACE_OPTION_BITS], const char *text, size_t size)
{
    memset(order, 0, TW_ETRACE_OPTION_BITS * sizeof *order);
    for (unsigned bit = 0; size > 0; bit++) {
        const char *piece = text;
        const size_t length = next_piece(&text, &size);
        bool is_known = false;

        text += length + 1;
        for (size_t i = 0; i < TW_LENGTH(option_names) && !is_known; i++)
            if (tw_setting_is(piece, length, option_names[i].name)) {
                if (bit >= TW_ETRACE_OPTION_BITS)
                    return false;
                order[bit] = option_names[i].option;
                is_known = true;
            }
        if (!is_known)
            return false;
    }
    return true;
}

/* "3:8000038c", and more of them after commas. */
static bool read_tvec(struct tw_etrace_config *config, const char *text, size_t size)
{
    while (size > 0) {
        const char *piece = text;
        const size_t length = next_piece(&text, &size);
        const char *colon = memchr(piece, ':', length);
        uint64_t privilege, address;

        text += length + 1;
        if (!colon || !tw_setting_number(piece, (size_t)(colon - piece), 10, &privilege) ||
            privilege >= TW_ETRACE_PRIVILEGES ||
            !tw_setting_number(colon + 1, length - (size_t)(colon + 1 - piece), 16, &address))
            return false;
        config->tvec[privilege] = address;
        config->tvec_mask = (uint8_t)(config->tvec_mask | 1u << privilege);
    }
    return true;
}

static bool set_choice(struct tw_etrace_config *config, const char *name, const char *value,
                       size_t size)
{
    if (!strcmp(name, "layout")) {
        for (size_t i = 0; i < TW_LENGTH(layouts); i++)
            if (tw_setting_is(value, size, layouts[i].name)) {
                config->layout = layouts[i].value;
                return true;
            }
    } else if (!strcmp(name, "encapsulation")) {
        for (size_t i = 0; i < TW_LENGTH(encapsulations); i++)
            if (tw_setting_is(value, size, encapsulations[i].name)) {
                config->encapsulation = encapsulations[i].value;
                return true;
            }
    } else if (!strcmp(name, "kind")) {
        config->is_data = tw_setting_is(value, size, "data");
        return config->is_data || tw_setting_is(value, size, "instruction");
    } else if (!strcmp(name, "link_registers")) {
        config->x1_links_only = tw_setting_is(value, size, "x1");
        return config->x1_links_only || tw_setting_is(value, size, "x1,x5");
    }
    return false;
}

const char *tw_etrace_preset(size_t number)
{
    return number < TW_LENGTH(presets) ? presets[number].name : NULL;
}

static bool set_preset(struct tw_etrace_config *config, const char *value, size_t size)
{
    for (size_t i = 0; i < TW_LENGTH(presets); i++)
        if (strlen(presets[i].name) == size && !memcmp(presets[i].name, value, size))
            return tw_etrace_config_read(config, presets[i].text, NULL) == TW_OK;
    return false;
}

static bool set_other(struct tw_etrace_config *config, const char *name, const char *value,
                      size_t size)
{
    uint64_t number;

    if (!strcmp(name, "preset"))
        return set_preset(config, value, size);

    if (!strcmp(name, "ioptions"))
        return read_order(config->ioption_order, value, size);
    if (!strcmp(name, "doptions"))
        return read_order(config->doption_order, value, size);
    if (!strcmp(name, "tvec"))
        return read_tvec(config, value, size);
    if (!strcmp(name, "jvt"))
        return tw_setting_number(value, size, 16, &config->jvt);
    if (!strcmp(name, "sijump")) {
        if (!tw_setting_bool(value, size, &number))
            return false;
        config->has_sijump_mode = true;
        config->options = number ? config->options | TW_ETRACE_SIJUMP
                                 : config->options & ~(uint32_t)TW_ETRACE_SIJUMP;
        return true;
    }
    if (!strcmp(name, "use-rv32-isa")) {
        if (!tw_setting_bool(value, size, &number))
            return false;
        config->xlen = number ? 32 : 0;
        return true;
    }
    if (!strcmp(name, "resync-max")) { /* 2^(n + 4) packets */
        if (!tw_setting_number(value, size, 10, &number) || number > 27)
            return false;
        config->resync_packets = (uint32_t)1 << (number + 4);
        return true;
    }
    if (!strcmp(name, "resync_packets")) {
        number = 0;
        if (!tw_setting_is(value, size, "off") &&
            (!tw_setting_number(value, size, 10, &number) || number > UINT32_MAX))
            return false;
        config->resync_packets = (uint32_t)number;
        return true;
    }
    if (!strcmp(name, "srcid")) {
        if (!tw_setting_number(value, size, 10, &number) || number > UINT16_MAX)
            return false;
        config->srcid = (uint16_t)number;
        config->has_srcid = true;
        return true;
    }
    return set_choice(config, name, value, size);
}

static void store(struct tw_etrace_config *config, const struct tw_etrace_key *key,
                  uint64_t value)
{
    uint8_t *at = (uint8_t *)config + key->offset;
    const uint8_t byte = (uint8_t)value;
    const uint16_t half = (uint16_t)value;
    const bool is_set = value != 0;

    switch (key->kind) {
    case TW_ETRACE_KEY_U8:
        memcpy(at, &byte, sizeof byte);
        break;
    case TW_ETRACE_KEY_U16:
        memcpy(at, &half, sizeof half);
        break;
    case TW_ETRACE_KEY_BOOL:
        memcpy(at, &is_set, sizeof is_set);
        break;
    default:
        config->options =
            value ? config->options | key->detail : config->options & ~key->detail;
    }
}

enum tw_status tw_etrace_key_set(struct tw_etrace_config *config,
                                 const struct tw_etrace_key *key, const char *value,
                                 size_t size, struct tw_fault *fault)
{
    const bool is_bit = key->kind == TW_ETRACE_KEY_BOOL || key->kind == TW_ETRACE_KEY_OPTION;
    const int shown = size < 80 ? (int)size : 80;
    uint64_t number;

    if (key->kind == TW_ETRACE_KEY_IGNORED)
        return TW_OK;
    if (key->kind == TW_ETRACE_KEY_OTHER) {
        if (!set_other(config, key->name, value, size))
            return tw_fail(fault, TW_E_CONFIG, "%s: \"%.*s\" is no value it can have",
                           key->name, shown, value);
        return TW_OK;
    }
    if (is_bit ? !tw_setting_bool(value, size, &number)
               : !tw_setting_number(value, size, 10, &number) || number > key->detail)
        return tw_fail(fault, TW_E_CONFIG, "%s: \"%.*s\" is no number from 0 to %" PRIu32,
                       key->name, shown, value, is_bit ? 1 : key->detail);
    store(config, key, number);
    return TW_OK;
}

enum tw_status tw_etrace_key_set_named(struct tw_etrace_config *config, const char *name,
                                       size_t name_size, const char *value, size_t size,
                                       struct tw_fault *fault)
{
    const struct tw_etrace_key *key = tw_etrace_key_find(name, name_size);

    if (key)
        return tw_etrace_key_set(config, key, value, size, fault);
    if (name_size >= 2 && name[0] == 'x' && name[1] == '_')
        return TW_OK;
    return tw_fail(fault, TW_E_CONFIG, "unknown key \"%.*s\"",
                   name_size < 80 ? (int)name_size : 80, name);
}

uint64_t tw_etrace_key_value(const struct tw_etrace_config *config,
                             const struct tw_etrace_key *key)
{
    const uint8_t *at = (const uint8_t *)config + key->offset;
    uint16_t half;
    bool is_set;

    switch (key->kind) {
    case TW_ETRACE_KEY_U8:
        return *at;
    case TW_ETRACE_KEY_U16:
        memcpy(&half, at, sizeof half);
        return half;
    case TW_ETRACE_KEY_BOOL:
        memcpy(&is_set, at, sizeof is_set);
        return is_set;
    case TW_ETRACE_KEY_OPTION:
        return (config->options & key->detail) != 0;
    default:
        return 0;
    }
}

static void print_order(struct tw_text *out, const uint16_t order[TW_ETRACE_OPTION_BITS],
                        unsigned bits)
{
    for (unsigned bit = 0; bit < bits; bit++) {
        if (bit)
            tw_text_char(out, ',');
        for (size_t i = 0; i < TW_LENGTH(option_names); i++)
            if (option_names[i].option == order[bit])
                tw_text_add(out, option_names[i].name);
    }
}

static bool print_tvec(struct tw_text *out, const struct tw_etrace_config *config)
{
    bool is_first = true;

    for (unsigned i = 0; i < TW_ETRACE_PRIVILEGES; i++) {
        if (!(config->tvec_mask >> i & 1))
            continue;
        tw_text_format(out, "%s%u:%" PRIx64, is_first ? "" : ",", i, config->tvec[i]);
        is_first = false;
    }
    return !is_first;
}

static bool print_other(struct tw_text *out, const struct tw_etrace_config *config,
                        const char *name)
{
    if (!strcmp(name, "layout")) {
        for (size_t i = 0; i < TW_LENGTH(layouts); i++)
            if (layouts[i].value == config->layout)
                tw_text_add(out, layouts[i].name);
        return config->layout != TW_ETRACE_LAYOUT_NONE;
    }
    if (!strcmp(name, "encapsulation"))
        tw_text_add(out, encapsulations[config->encapsulation].name);
    else if (!strcmp(name, "kind"))
        tw_text_add(out, config->is_data ? "data" : "instruction");
    else if (!strcmp(name, "link_registers"))
        tw_text_add(out, config->x1_links_only ? "x1" : "x1,x5");
    else if (!strcmp(name, "ioptions"))
        print_order(out, config->ioption_order, config->ioptions_bits);
    else if (!strcmp(name, "doptions"))
        print_order(out, config->doption_order, config->doptions_bits);
    else if (!strcmp(name, "tvec"))
        return print_tvec(out, config);
    else if (!strcmp(name, "sijump"))
        tw_text_decimal(out, (tw_etrace_config_options(config) & TW_ETRACE_SIJUMP) != 0);
    else if (!strcmp(name, "jvt"))
        tw_text_format(out, "%" PRIx64, config->jvt);
    else if (!strcmp(name, "use-rv32-isa") && config->xlen == 32)
        tw_text_add(out, "true");
    else if (!strcmp(name, "resync_packets") && config->resync_packets)
        tw_text_decimal(out, config->resync_packets);
    else if (!strcmp(name, "srcid") && config->has_srcid)
        tw_text_decimal(out, config->srcid);
    else
        return false;
    return true;
}

bool tw_etrace_key_print(struct tw_text *out, const struct tw_etrace_config *config,
                         const struct tw_etrace_key *key)
{
    if (key->kind == TW_ETRACE_KEY_IGNORED)
        return false;
    if (key->kind == TW_ETRACE_KEY_OTHER)
        return print_other(out, config, key->name);
    tw_text_decimal(out, tw_etrace_key_value(config, key));
    return true;
}
