/* SPDX-License-Identifier: BSD-2-Clause */
/* The protocols as they may be met, and the fields of their configuration that decide how packets are
   read.  A field's usual value stands first: where nothing speaks for another it is the answer. */
#include "base/compiler.h"
#include "identify/identify.h"

/* clang-format off */
#define DIAL(name, mask, ...) { name, mask, { __VA_ARGS__ }, { NULL }, TW_LENGTH(((const uint64_t[]){ __VA_ARGS__ })) }
#define WORDS(name, ...) { name, 0, { 0 }, { __VA_ARGS__ }, TW_LENGTH(((const char *const[]){ __VA_ARGS__ })) }

static const struct tw_dial etmv4_dials[] = {
    DIAL("TRCIDR2", 0x7c00, 0x400, 0x1000, 0x800),        /* VMIDSIZE */
    DIAL("TRCIDR0", 0x20000000, 0x20000000, 0),           /* COMMOPT */
};
static const struct tw_dial etmv4_followed[] = {
    DIAL("TRCCONFIGR", 0x1000, 0, 0x1000),                /* RS */
    DIAL("TRCCONFIGR", 0x6, 0, 0x2, 0x4, 0x6),            /* INSTP0 */
};
static const struct tw_dial ete_dials[] = {
    DIAL("TRCIDR2", 0x7c00, 0x1000, 0x400, 0x800),
    DIAL("TRCIDR0", 0x20000000, 0x20000000, 0),
};
static const struct tw_dial ete_followed[] = {
    DIAL("TRCCONFIGR", 0x1000, 0, 0x1000),
};
static const struct tw_dial ptm_dials[] = {
    DIAL("ETMCR", 0x1000, 0, 0x1000),                     /* cycle-accurate */
    DIAL("ETMCR", 0xc000, 0, 0xc000, 0x8000, 0x4000),     /* ContextIDSize */
};
static const struct tw_dial ptm_more[] = {
    DIAL("ETMIDR", 0xf0, 0x10, 0),                        /* 1.1, 1.0 */
};
static const struct tw_dial ptm_followed[] = {
    DIAL("ETMCR", 0x20000000, 0, 0x20000000),             /* return stack */
};
static const struct tw_dial etmv3_dials[] = {
    DIAL("ETMCR", 0x1000, 0, 0x1000),
    DIAL("ETMCR", 0xc000, 0, 0xc000, 0x8000, 0x4000),
    DIAL("ETMIDR", 0x100000, 0, 0x100000),                /* alternative branch encoding */
};
static const struct tw_dial etmv3_more[] = {
    DIAL("ETMCR", 0xc, 0, 0x4, 0x8, 0xc),                 /* data values, data addresses */
    DIAL("ETMCR", 0x100000, 0, 0x100000),                 /* data only */
};
static const struct tw_dial etmv3_followed[] = {
    DIAL("ETMCR", 0x1000, 0, 0x1000),
    DIAL("ETMCR", 0xc000, 0, 0xc000, 0x8000, 0x4000),
    DIAL("ETMIDR", 0x100000, 0, 0x100000),
};
static const struct tw_dial etrace_dials[] = {
    DIAL("iaddress_width_p", 0, 64, 32),
    WORDS("layout", "v2", "seed"),
    DIAL("nocontext_p", 0, 0, 1),
    DIAL("context_width_p", 0, 32, 16, 8),
    DIAL("privilege_width_p", 0, 2, 3),
    DIAL("iaddress_lsb_p", 0, 1, 0),
};
static const struct tw_dial etrace_more[] = {
    DIAL("notime_p", 0, 1, 0),
    DIAL("time_width_p", 0, 40, 64, 32, 16),
    DIAL("f0s_width_p", 0, 0, 1),
    DIAL("ecause_width_p", 0, 5, 6, 4),
    DIAL("cache_size_p", 0, 0, 7, 4, 5, 2),
    DIAL("bpred_size_p", 0, 0, 7, 4, 6, 5),
    DIAL("return_stack_size_p", 0, 0, 2, 3, 7),
    DIAL("call_counter_size_p", 0, 0, 9, 6, 7),
    DIAL("doptions_bits", 0, 4, 0),
};
static const struct tw_dial etrace_followed[] = {
    DIAL("full_address", 0, 0, 1),
    DIAL("implicit_exception", 0, 0, 1),
    DIAL("sijump_p", 0, 0, 1),
    DIAL("implicit_return", 0, 0, 1),
    DIAL("branch_prediction", 0, 0, 1),
    DIAL("jump_target_cache", 0, 0, 1),
    DIAL("ecall_retires", 0, 1, 0),
};
/* The first encoders had other widths, and one that models of v2 still have. */
static const struct tw_setting etrace_seed[] = {
    { "layout", 0, "seed" }, { "privilege_width_p", 3, NULL }, { "doptions_bits", 0, NULL },
    { "call_counter_size_p", 9, NULL }, { "sijump_p", 1, NULL }, { "bpred_size_p", 7, NULL },
    { "cache_size_p", 7, NULL },
};
static const struct tw_preset etrace_presets[] = {
    { etrace_seed, TW_LENGTH(etrace_seed) },
};
static const struct tw_dial etrace_data_dials[] = {
    WORDS("layout", "v2-refpy-quirks", "v2", "seed"),
    DIAL("format_bits", 0, 3, 2),
    DIAL("data_width_p", 0, 64, 32),
    DIAL("daddress_width_p", 0, 64, 32),
    DIAL("no_address", 0, 0, 1),
    DIAL("no_data", 0, 0, 1),
};
static const struct tw_dial etrace_data_more[] = {
    DIAL("full_daddress", 0, 0, 1),
    DIAL("full_data", 0, 0, 1),
};
static const struct tw_dial ntrace_dials[] = {
    WORDS("dialect", "1.0", "sifive"),
    DIAL("src_bits", 0, 0, 4, 6, 1, 2, 3),
};
static const struct tw_dial ntrace_more[] = {
    DIAL("src_bits", 0, 0, 5, 8, 10, 12),
};
static const struct tw_dial ntrace_followed[] = {
    DIAL("xlen", 0, 64, 32),
};

#define ETRACE \
    { "nocontext_p", 0, NULL }, \
    { "context_width_p", 32, NULL }, \
    { "iaddress_width_p", 64, NULL }, \
    { "iaddress_lsb_p", 1, NULL }, \
    { "privilege_width_p", 2, NULL }, \
    { "ecause_width_p", 5, NULL }, \
    { "notime_p", 1, NULL }, \
    { "encoder_mode_bits", 1, NULL }, \
    { "ioptions_bits", 5, NULL }, \
    { "ecall_retires", 1, NULL }
#define BASE(...) \
    .base = (const struct tw_setting[]){ __VA_ARGS__ }, \
    .base_count = TW_LENGTH(((const struct tw_setting[]){ __VA_ARGS__ }))
#define DIALS(list) .dials = list, .dial_count = TW_LENGTH(list)
#define MORE(list) .more = list, .more_count = TW_LENGTH(list)
#define FOLLOWED(list) .followed = list, .followed_count = TW_LENGTH(list)

/* Of two that explain a stream alike the first is taken: the one whose grammar allows less. */
const struct tw_suspect tw_suspects[] = {
    { .protocol = "etmv4", .has_sync = true, .greeting = 0.8, .sync_bits = 40, .packet_bits = 0.15, .most = 0.99,
      BASE({ "TRCIDR0", 0x28000ea1, NULL }, { "TRCIDR1", 0x4100f403, NULL }, { "TRCIDR2", 0x488, NULL }, { "TRCIDR8", 0, NULL }, { "TRCCONFIGR", 0xd1, NULL }),
      DIALS(etmv4_dials), FOLLOWED(etmv4_followed) },
    { .protocol = "ete", .has_sync = true, .greeting = 0.8, .sync_bits = 40, .packet_bits = 0.15, .most = 0.99,
      BASE({ "TRCIDR0", 0x28c1cea1, NULL }, { "TRCIDR1", 0x4100fff0, NULL }, { "TRCIDR2", 0xd0001088, NULL }, { "TRCIDR8", 0, NULL }, { "TRCCONFIGR", 0xd1, NULL }, { "TRCDEVARCH", 0x47735a13, NULL }),
      DIALS(ete_dials), FOLLOWED(ete_followed) },
    { .protocol = "etmv3", .has_sync = true, .greeting = 0.1, .sync_bits = 12, .packet_bits = 0.3, .most = 0.99,
      BASE({ "ETMCR", 0x10000000, NULL }, { "ETMIDR", 0x410cf250, NULL }, { "ETMCCER", 0x344008f2, NULL }),
      DIALS(etmv3_dials), MORE(etmv3_more), FOLLOWED(etmv3_followed) },
    { .protocol = "ptm", .has_sync = true, .greeting = 0.8, .sync_bits = 12, .packet_bits = 0.1, .most = 0.99,
      BASE({ "ETMCR", 0x10000000, NULL }, { "ETMIDR", 0x411cf312, NULL }, { "ETMCCER", 0x34c01ac2, NULL }),
      DIALS(ptm_dials), MORE(ptm_more), FOLLOWED(ptm_followed) },
    { .protocol = "itm", .has_sync = true, .is_data = true, .sync_bits = 8, .packet_bits = 0.12, .most = 0.99,
      BASE({ "ASSUME_SYNC", 0, NULL }) },
    { .protocol = "itm", .is_data = true, .packet_bits = 0.12, .most = 0.6,
      BASE({ "ASSUME_SYNC", 1, NULL }) },
    { .protocol = "stm", .has_sync = true, .greeting = 0.8, .is_data = true, .sync_bits = 60, .packet_bits = 0.1, .most = 0.99,
      BASE({ "STMTCSR", 0, NULL }) },
    { .protocol = "ntrace", .is_text = true, .packet_bits = 2, .most = 0.99,
      BASE({ "dialect", 0, "1.0" }), DIALS(ntrace_dials), MORE(ntrace_more), FOLLOWED(ntrace_followed) },
    { .protocol = "etrace", .is_text = true, .packet_bits = 2.5, .is_chained = true, .most = 0.99,
      BASE({ "layout", 0, "v2" }, { "encapsulation", 0, "len5-type2" }, ETRACE),
      DIALS(etrace_dials), MORE(etrace_more), FOLLOWED(etrace_followed),
      .presets = etrace_presets, .preset_count = TW_LENGTH(etrace_presets) },
    { .protocol = "etrace", .is_text = true, .is_data = true, .packet_bits = 2.5, .is_chained = true, .most = 0.99,
      BASE({ "kind", 0, "data" }, { "layout", 0, "v2" }, { "encapsulation", 0, "len5-type2" }, { "daddress_width_p", 64, NULL }, { "data_width_p", 64, NULL }, { "format_bits", 3, NULL }),
      DIALS(etrace_data_dials), MORE(etrace_data_more) },
    { .protocol = "etrace", .is_text = true, .packet_bits = 0.3, .most = 0.9,
      BASE({ "layout", 0, "v2" }, { "encapsulation", 0, "riscv" }, ETRACE),
      DIALS(etrace_dials), MORE(etrace_more), FOLLOWED(etrace_followed),
      .presets = etrace_presets, .preset_count = TW_LENGTH(etrace_presets) },
};
const size_t tw_suspect_count = TW_LENGTH(tw_suspects);
/* clang-format on */
