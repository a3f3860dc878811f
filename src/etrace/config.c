/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations: defaults, key=value lines, and what cannot be decoded. */
#include "etrace/config.h"

#include <string.h>

#include "base/fault.h"
#include "base/settings.h"
#include "base/sized.h"

void tw_etrace_config_init(struct tw_etrace_config *config, enum tw_etrace_layout layout)
{
    const bool is_seed = layout == TW_ETRACE_LAYOUT_SEED;
    static const uint16_t iorder[] = { TW_ETRACE_IMPLICIT_RETURN, TW_ETRACE_IMPLICIT_EXCEPTION,
                                       TW_ETRACE_FULL_ADDRESS, TW_ETRACE_JUMP_TARGET_CACHE,
                                       TW_ETRACE_BRANCH_PREDICTION };
    static const uint16_t dorder[] = { TW_ETRACE_NO_ADDRESS, TW_ETRACE_NO_DATA,
                                       TW_ETRACE_FULL_DADDRESS, TW_ETRACE_FULL_DATA };

    /* Table 9.2 and its successors. */
    *config = (struct tw_etrace_config){
        .size = sizeof *config,
        .layout = (uint8_t)layout,
        .iaddress_width = 32,
        .iaddress_lsb = 1,
        .privilege_width = is_seed ? 3 : 2,
        .context_width = 1,
        .nocontext = !is_seed,
        .time_width = 1,
        .notime = true,
        .ecause_width = 4,
        .encoder_mode_bits = 1,
        .ioptions_bits = TW_LENGTH(iorder),
        .doptions_bits = is_seed ? 0 : TW_LENGTH(dorder),
        .data_width = 32,
        .daddress_width = 32,
        .format_bits = 3,
        .diff_bits = 2,
        .csr_diff_bits = 1,
        .data_compress = 1,
        .bpred_reset_on_sync = true,
        .timestamp_bytes = 2,
        .ctype_width = is_seed ? 2 : 1,
        .itype_width = is_seed ? 5 : 4,
        .iretire_width = is_seed ? 3 : 2,
        .ilastsize_width = 1,
        .impdef_width = 1,
        .retires = 1,
        .taken_branches = 1,
        .comparators = 1,
        .filters = 1,
        .ecause_choice = 5,
        .filter_context = 1,
        .filter_excint = 1,
        .filter_privilege = 1,
        .filter_tval = 1,
        .filter_time = 1,
        .dblock_width = 1,
        .dsize_width = 3,
        .dtype_width = 1,
        .iaddr_lsbs_width = 1,
        .lresp_width = 1,
        .ldata_width = 32,
        .sdata_width = 32,
    };
    memcpy(config->ioption_order, iorder, sizeof iorder);
    memcpy(config->doption_order, dorder, sizeof dorder);
}

uint32_t tw_etrace_config_options(const struct tw_etrace_config *config)
{
    const bool is_implied = config->sijump && !config->has_sijump_mode;

    return config->options | (is_implied ? (uint32_t)TW_ETRACE_SIJUMP : 0);
}

static enum tw_status set_key(void *config, const char *name, size_t name_size,
                              const char *value, size_t size, struct tw_fault *fault)
{
    return tw_etrace_key_set_named(config, name, name_size, value, size, fault);
}

static enum tw_status read_text(struct tw_etrace_config *config, const char *text,
                                tw_setting_fn *set, struct tw_fault *fault)
{
    TW_TRY(tw_settings_read(&text, set, config, fault));
    return *text ? tw_etrace_ipxact_read(config, text, fault) : TW_OK;
}

enum tw_status tw_etrace_config_read(struct tw_etrace_config *config, const char *text,
                                     struct tw_fault *fault)
{
    return read_text(config, text, set_key, fault);
}

static enum tw_status set_layout(void *config, const char *name, size_t name_size,
                                 const char *value, size_t size, struct tw_fault *fault)
{
    return tw_setting_is(name, name_size, "layout") || tw_setting_is(name, name_size, "preset")
               ? set_key(config, name, name_size, value, size, fault)
               : TW_OK;
}

/* The defaults that a program decides. */
static void init_for(struct tw_etrace_config *config, unsigned layout, unsigned xlen)
{
    tw_etrace_config_init(config, (enum tw_etrace_layout)layout);
    if (xlen != 64)
        return;
    config->iaddress_width = config->daddress_width = 64;
    config->data_width = config->ldata_width = config->sdata_width = 64;
}

enum tw_status tw_etrace_config_make(struct tw_etrace_config *config, const char *text,
                                     enum tw_etrace_layout layout, unsigned xlen,
                                     struct tw_fault *fault)
{
    /* Once to see the layout, whose defaults the rest is then read upon. */
    init_for(config, layout, xlen);
    if (text)
        TW_TRY(read_text(config, text, set_layout, fault));
    init_for(config, config->layout ? config->layout : TW_ETRACE_LAYOUT_V2, xlen);
    if (text)
        TW_TRY(tw_etrace_config_read(config, text, fault));
    if (!config->xlen)
        config->xlen = (uint8_t)xlen;
    return TW_OK;
}

/* A field's width, or another number that must lie in bounds. */
struct bound {
    const char *name;
    unsigned value, least, most;
};

static enum tw_status check_bounds(const struct bound *bounds, size_t count,
                                   struct tw_fault *fault)
{
    for (size_t i = 0; i < count; i++)
        if (bounds[i].value < bounds[i].least || bounds[i].value > bounds[i].most)
            return tw_fail(fault, TW_E_CONFIG, "%s is %u; it must be from %u to %u",
                           bounds[i].name, bounds[i].value, bounds[i].least, bounds[i].most);
    return TW_OK;
}

static enum tw_status check(const struct tw_etrace_config *config, struct tw_fault *fault)
{
    const struct bound bounds[] = {
        { "iaddress_width_p", config->iaddress_width, 8, 64 },
        { "iaddress_lsb_p", config->iaddress_lsb, 0, 2 },
        { "privilege_width_p", config->privilege_width, 1, 8 },
        { "context_width_p", config->context_width, config->nocontext ? 0 : 1, 64 },
        { "time_width_p", config->time_width, config->notime ? 0 : 1, 64 },
        { "ecause_width_p", config->ecause_width, 1, 64 },
        { "f0s_width_p", config->f0s_width, 0, 4 },
        { "bpred_size_p", config->bpred_size, 0, 15 },
        { "cache_size_p", config->cache_size, 0, 15 },
        { "call_counter_size_p", config->call_counter_size, 0, 15 },
        { "return_stack_size_p", config->return_stack_size, 0, 15 },
        { "encoder_mode_bits", config->encoder_mode_bits, 0, 32 },
        { "ioptions_bits", config->ioptions_bits, 0, TW_ETRACE_OPTION_BITS },
        { "doptions_bits", config->doptions_bits, 0, TW_ETRACE_OPTION_BITS },
        { "data_width_p", config->data_width, 8, 128 },
        { "daddress_width_p", config->daddress_width, 8, 64 },
        { "format_bits", config->format_bits, 2, 3 },
        { "lrid_width_p", config->lrid_width, 0, 32 },
        { "diff_bits", config->diff_bits, 1, 2 },
        { "csr_diff_bits", config->csr_diff_bits, 0, 1 },
        { "encapsulation", config->encapsulation, 0, TW_ETRACE_ENCAP_PULP },
        { "srcid_bits", config->srcid_bits, 0, 16 },
        { "type_bits", config->type_bits, 0, 8 },
        { "timestamp_bytes", config->timestamp_bytes, 0, 8 },
    };

    if (config->layout == TW_ETRACE_LAYOUT_NONE ||
        config->layout > TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS)
        return tw_fail(fault, TW_E_CONFIG,
                       "no layout: say layout=seed, layout=v2 or layout=v2-refpy-quirks");
    TW_TRY(check_bounds(bounds, TW_LENGTH(bounds), fault));
    if (config->data_width & (config->data_width - 1))
        return tw_fail(fault, TW_E_CONFIG, "data_width_p is %u; it must be a power of two",
                       config->data_width);
    if (config->xlen != 0 && config->xlen != 32 && config->xlen != 64)
        return tw_fail(fault, TW_E_CONFIG, "xlen is %u; it must be 32 or 64", config->xlen);
    if (config->csr_width != 0 && config->csr_width != 32 && config->csr_width != 64)
        return tw_fail(fault, TW_E_CONFIG, "csr_width is %u; it must be 32 or 64",
                       config->csr_width);
    if (config->diff_bits == 1 && config->data_compress > 2) /* 7.1.3 */
        return tw_fail(fault, TW_E_CONFIG,
                       "diff_bits of 1 are for one kind of compression: data_compress=1 or 2");
    if (config->block_size != 0 && config->block_size < 32)
        return tw_fail(fault, TW_E_CONFIG, "block_size is %u; it must be at least 32",
                       config->block_size);
    return TW_OK;
}

enum tw_status tw_etrace_config_check(const struct tw_etrace_config *config,
                                      struct tw_fault *fault)
{
    struct tw_etrace_config copy;

    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etrace_config", fault));
    return check(&copy, fault);
}

size_t tw_etrace_config_text(char *out, size_t room, const struct tw_etrace_config *theirs)
{
    struct tw_text text = tw_text_in(out, room);
    struct tw_etrace_config copy;
    const struct tw_etrace_config *config = &copy;

    if (TW_SIZED_TAKE(&copy, theirs, "tw_etrace_config", NULL) != TW_OK)
        return 0;
    for (size_t i = 0; i < tw_etrace_key_count; i++) {
        const struct tw_etrace_key *key = &tw_etrace_keys[i];
        char buffer[800];
        struct tw_text value = tw_text_in(buffer, sizeof buffer);

        if (!tw_etrace_key_print(&value, config, key))
            continue;
        tw_text_add(&text, key->name);
        tw_text_char(&text, '=');
        tw_text_add_size(&text, buffer, value.size);
        tw_text_char(&text, '\n');
    }
    return text.size;
}
