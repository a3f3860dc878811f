/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: packets as structs, written and read. */
#include "check.h"

#include <trackway/etmv4.h>

#include "every_struct.h"

#define SAME(member, most)     STRUCT_SAME(struct tw_etmv4_packet, member, most)
#define ASKED(member, most)    STRUCT_ASKED(struct tw_etmv4_packet, member, most)
#define IF(member, most, told) STRUCT_IF(struct tw_etmv4_packet, member, most, told)
#define CONTEXT                                                                                \
    SAME(el, 4), SAME(sf, 1), SAME(ns, 1), SAME(nse, 1), SAME(has_cid, 1), SAME(has_vmid, 1),  \
        IF(cid, UINT32_MAX, has_cid), IF(vmid, UINT32_MAX, has_vmid)
#define CCNT                                                                                   \
    SAME(has_commit, 1), SAME(is_from_maximum, 1), SAME(commit, 0x1f), SAME(count, 0x1f)
#define RESULT(i)                                                                              \
    SAME(result_key[i], UINT32_MAX), SAME(result[i], 0x1f), SAME(result_ci[i], 2),             \
        ASKED(result_size[i], 7)
/* clang-format off */
#define ONLY(type)                { type, NULL, { { .bytes = 0 } }, 0 }
#define ATOMS(type, settle)       { type, settle, { SAME(atoms, 0xffffff), SAME(atom_count, 25) }, 0 }
#define MISPREDICTED(type)        { type, few_atoms, { SAME(atoms, 3), SAME(atom_count, 3), SAME(cancel, 7) }, 0 }
#define CANCELLED(type)           { type, NULL, { SAME(cancel, UINT32_MAX), ASKED(commit_size, 6) }, 0 }
#define NUMBERED(type)            { type, NULL, { SAME(number, 0x1f) }, 0 }
#define ADDRESS(type, settle)     { type, settle, { SAME(address, UINT64_MAX) }, 0 }
#define IN_CONTEXT(type, settle)  { type, settle, { SAME(address, UINT64_MAX), CONTEXT }, 0 }
#define SHORT(type)               { type, near, { SAME(address, UINT64_MAX), SAME(address_bits, 18) }, 0 }
#define MATCHED(type)             { type, matched, { SAME(match, 3), SAME(address, 0) }, 0 }
#define EXCEPTION(type, settle)   \
    { type, settle, { SAME(exception, 0x7ff), SAME(interpretation, 4), SAME(fault_pending, 1), \
                      ASKED(is_extended, 1), SAME(is_unknown_address, 1) }, 0 }
/* clang-format on */

/* A writer remembers no packets, so what a form does not carry has to be what went before: all setups have sent
   one address, this one, and no timestamp. */
static const uint64_t last = 0x2000;

static uint64_t address_near(uint64_t address, unsigned bits)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;

    return (last & ~mask) | (address & mask);
}

static void near(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->address = address_near(packet->address, packet->address_bits);
}

static void low_half(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->address = address_near(packet->address, 32);
}

static void matched(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->address = packet->match == 0 ? last : 0;
}

/* What is not sent is 0. */
static void q(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->q_type == 0xf)
        packet->q_count = 0;
    switch (packet->q_type) {
    case 0x5:
    case 0x6:
        packet->address_bits = packet->address_bits < 8 ? 9 : packet->address_bits;
        near(packet);
        break;
    case 0xa:
    case 0xb:
        low_half(packet);
        break;
    default:
        packet->address = packet->q_type == 0 ? last : 0;
        break;
    }
}

/* The same context again says nothing of it. */
static void no_context(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->has_context)
        return;
    packet->el = 0;
    packet->sf = packet->ns = packet->nse = packet->has_cid = packet->has_vmid = false;
}

static void no_more_atoms(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->atoms &= ((uint32_t)1 << packet->atom_count) - 1;
}

/* Rather often what can be. */
static void few_atoms(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->cancel >= 4)
        packet->cancel = packet->base.type == TW_ETMV4_CANCEL_F2;
}

static void sections(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->info = packet->sections & TW_ETMV4_INFO ? packet->info : 0;
    packet->key = packet->sections & TW_ETMV4_KEY ? packet->key : 0;
    packet->spec = packet->sections & TW_ETMV4_SPEC ? packet->spec : 0;
    packet->threshold = packet->sections & TW_ETMV4_CYCT ? packet->threshold : 0;
    packet->window = packet->sections & TW_ETMV4_WNDW ? packet->window : 0;
}

static void low_time(void *any)
{
    struct tw_etmv4_packet *packet = any;
    unsigned bytes = packet->timestamp_size;

    if (!bytes)
        bytes = packet->timestamp_bits ? (packet->timestamp_bits + 6u) / 7 : 9;
    if (bytes < 9)
        packet->timestamp &= ((uint64_t)1 << 7 * bytes) - 1;
}

static void no_count(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->commit = packet->has_commit ? packet->commit : 0;
    packet->count = packet->is_unknown ? 0 : packet->count;
}

static void one_result(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->result_count != 1)
        return;
    packet->result_key[1] = 0;
    packet->result[1] = packet->result_ci[1] = 0;
}

/* The numbers that have a type of their own, and sometimes others.  With an address behind it a reader of ETE waits
   for that (test_ete has these). */
static void named(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->is_unknown_address = true;
    if (packet->exception & 0x20)
        packet->exception &= 0x18;
}

static void often_short(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->fault_pending)
        packet->exception &= 0x1f;
    packet->is_unknown_address &= packet->fault_pending;
}

/* All types that are no damage, in their order. */
static struct struct_type types[] = {
    { TW_ETMV4_ASYNC, NULL, { ASKED(base.size, 70) }, 0 },
    ONLY(TW_ETMV4_DISCARD),
    ONLY(TW_ETMV4_OVERFLOW),
    ONLY(TW_ETMV4_BF_FLUSH),
    { TW_ETMV4_TRACE_INFO,
      sections,
      { SAME(sections, 0x3f), SAME(info, UINT32_MAX), SAME(key, UINT32_MAX),
        SAME(spec, UINT32_MAX), SAME(threshold, 0x1fff), SAME(window, UINT32_MAX),
        ASKED(info_size, 6), ASKED(key_size, 6), ASKED(spec_size, 6), ASKED(threshold_size, 3),
        ASKED(window_size, 6) },
      0 },
    { TW_ETMV4_TIMESTAMP,
      low_time,
      { SAME(timestamp, UINT64_MAX), ASKED(timestamp_bits, 70), ASKED(timestamp_size, 10),
        SAME(timestamp_has_count, 1), IF(timestamp_count, 0x1fffff, timestamp_has_count),
        ASKED(timestamp_count_size, 4) },
      0 },
    ONLY(TW_ETMV4_TRACE_ON),
    ONLY(TW_ETMV4_FUNC_RET),
    EXCEPTION(TW_ETMV4_EXCEPT, often_short),
    ONLY(TW_ETMV4_EXCEPT_RTN),
    ONLY(TW_ETMV4_RESYNC),
    { TW_ETMV4_ITE, NULL, { SAME(value, UINT64_MAX), SAME(value_el, 4) }, 0 },
    ONLY(TW_ETMV4_TRANS_ST),
    ONLY(TW_ETMV4_TRANS_COMMIT),
    EXCEPTION(TW_ETMV4_TRANS_FAIL, named),
    EXCEPTION(TW_ETMV4_PE_RESET, named),
    { TW_ETMV4_CCNT_F2, NULL, { CCNT }, 0 },
    { TW_ETMV4_CCNT_F1,
      no_count,
      { SAME(has_commit, 1), SAME(is_unknown, 1), SAME(commit, UINT32_MAX),
        SAME(count, 0x1fffff), ASKED(commit_size, 6), ASKED(count_size, 4) },
      0 },
    { TW_ETMV4_CCNT_F3,
      NULL,
      { SAME(has_commit, 1), ASKED(is_from_maximum, 1), SAME(commit, 7), SAME(count, 7) },
      0 },
    NUMBERED(TW_ETMV4_NUM_DS_MKR),
    NUMBERED(TW_ETMV4_UNNUM_DS_MKR),
    { TW_ETMV4_COMMIT, NULL, { SAME(commit, UINT32_MAX), ASKED(commit_size, 6) }, 0 },
    CANCELLED(TW_ETMV4_CANCEL_F1),
    CANCELLED(TW_ETMV4_CANCEL_F1_MISPRED),
    MISPREDICTED(TW_ETMV4_MISPREDICT),
    MISPREDICTED(TW_ETMV4_CANCEL_F2),
    MISPREDICTED(TW_ETMV4_CANCEL_F3),
    { TW_ETMV4_COND_I_F2, NULL, { SAME(cond_count, 3), SAME(cond_increment, 1) }, 0 },
    ONLY(TW_ETMV4_COND_FLUSH),
    { TW_ETMV4_COND_RES_F4, NULL, { SAME(token, 4) }, 0 },
    { TW_ETMV4_COND_RES_F2, NULL, { SAME(token, 4), SAME(result_increment, 3) }, 0 },
    { TW_ETMV4_COND_RES_F3, NULL, { SAME(tokens, 0x1fff) }, 0 },
    { TW_ETMV4_COND_RES_F1, one_result, { SAME(result_count, 3), RESULT(0), RESULT(1) }, 0 },
    { TW_ETMV4_COND_I_F1,
      NULL,
      { SAME(cond_count, 2), SAME(cond_key, UINT32_MAX), ASKED(cond_key_size, 6) },
      0 },
    { TW_ETMV4_COND_I_F3, NULL, { SAME(cond_count, 0x7f), SAME(cond_final, 1) }, 0 },
    ONLY(TW_ETMV4_IGNORE),
    NUMBERED(TW_ETMV4_EVENT),
    { TW_ETMV4_CTXT, no_context, { SAME(has_context, 1), CONTEXT }, 0 },
    IN_CONTEXT(TW_ETMV4_ADDR_CTXT_L_32IS0, low_half),
    IN_CONTEXT(TW_ETMV4_ADDR_CTXT_L_32IS1, low_half),
    IN_CONTEXT(TW_ETMV4_ADDR_CTXT_L_64IS0, NULL),
    IN_CONTEXT(TW_ETMV4_ADDR_CTXT_L_64IS1, NULL),
    ONLY(TW_ETMV4_TS_MARKER),
    MATCHED(TW_ETMV4_ADDR_MATCH),
    SHORT(TW_ETMV4_ADDR_S_IS0),
    SHORT(TW_ETMV4_ADDR_S_IS1),
    ADDRESS(TW_ETMV4_ADDR_L_32IS0, low_half),
    ADDRESS(TW_ETMV4_ADDR_L_32IS1, low_half),
    ADDRESS(TW_ETMV4_ADDR_L_64IS0, NULL),
    ADDRESS(TW_ETMV4_ADDR_L_64IS1, NULL),
    { TW_ETMV4_Q,
      q,
      { SAME(q_type, 0x1f), SAME(address, UINT64_MAX), ASKED(address_bits, 18),
        SAME(q_count, UINT32_MAX), ASKED(q_count_size, 6) },
      0 },
    MATCHED(TW_ETMV4_SRC_ADDR_MATCH),
    SHORT(TW_ETMV4_SRC_ADDR_S_IS0),
    SHORT(TW_ETMV4_SRC_ADDR_S_IS1),
    ADDRESS(TW_ETMV4_SRC_ADDR_L_32IS0, low_half),
    ADDRESS(TW_ETMV4_SRC_ADDR_L_32IS1, low_half),
    ADDRESS(TW_ETMV4_SRC_ADDR_L_64IS0, NULL),
    ADDRESS(TW_ETMV4_SRC_ADDR_L_64IS1, NULL),
    ATOMS(TW_ETMV4_ATOM_F1, no_more_atoms),
    ATOMS(TW_ETMV4_ATOM_F2, no_more_atoms),
    ATOMS(TW_ETMV4_ATOM_F3, no_more_atoms),
    ATOMS(TW_ETMV4_ATOM_F4, no_more_atoms),
    ATOMS(TW_ETMV4_ATOM_F5, no_more_atoms),
    ATOMS(TW_ETMV4_ATOM_F6, no_more_atoms),
};

#define ASYNC "0 0 0 0 0 0 0 0 0 0 0 80 "
#define START ASYNC "01 00 04 82 00 10 00 00 31"
#define A     .protocol = "etmv4", .core = "Cortex-A57"
#define M     .protocol = "etmv4", .core = "Cortex-M55"
#define E     .protocol = "ete", .core = "Cortex-A710"

/* What a setup has that not all have. */
enum {
    HAS_Q = 1,
    HAS_COND = 2, /* and data */
    HAS_M = 4,    /* Armv8.1-M, ETMv4.5 */
    HAS_ETM = 8,
    HAS_ETE = 0x10,
    HAS_ITE = 0x20,
    HAS_IGNORE = 0x40, /* ETMv4.3 */
    HAS_MARKER = 0x80, /* ETMv4.6 */
    HAS_ANY = 0x100    /* all but the data stream */
};

static const struct {
    struct every_setup setup;
    unsigned has;
} setups[] = {
    { { "ETMv4.0, COMMOPT 1", A, .start = START,
        .registers = "TRCCONFIGR=0x811 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f403 TRCIDR2=0x488 "
                     "TRCIDR8=6" },
      HAS_ANY | HAS_ETM },
    { { "ETMv4.3, COMMOPT 0", A, .start = START,
        .registers = "TRCCONFIGR=0x811 TRCIDR0=0x8000ea1 TRCIDR1=0x4100f433 TRCIDR2=0x488 "
                     "TRCIDR8=20" },
      HAS_ANY | HAS_ETM | HAS_IGNORE },
    { { "context IDs, a VMID of a byte", A,
        .start = ASYNC "01 00 04 82 00 10 00 00 f1 44 78 56 34 12",
        .registers = "TRCCONFIGR=0xc1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x488" },
      HAS_ANY | HAS_ETM },
    { { "no context IDs", A, .start = START,
        .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x8" },
      HAS_ANY | HAS_ETM },
    { { "Q elements", A, .start = START,
        .registers = "TRCCONFIGR=0x6001 TRCIDR0=0x28018ea1 TRCIDR1=0x4100f423 TRCIDR2=0x488" },
      HAS_ANY | HAS_ETM | HAS_Q },
    { { "conditional instructions and data", A, .start = START,
        .registers = "TRCCONFIGR=0x30707 TRCIDR0=0x28003efd TRCIDR1=0x4100f423 TRCIDR2=0x488 "
                     "TRCIDR9=4 TRCIDR12=5 TRCIDR13=3" },
      HAS_ANY | HAS_ETM | HAS_COND },
    { { "M profile, ETMv4.6", M, .start = START,
        .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f460 TRCIDR2=0x4" },
      HAS_ANY | HAS_ETM | HAS_M | HAS_IGNORE | HAS_MARKER },
    { { "ETE 1.0", E, .start = START,
        .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100fff3 TRCIDR2=0x488 "
                     "TRCDEVARCH=0x47705a13" },
      HAS_ANY | HAS_ETE | HAS_IGNORE | HAS_MARKER },
    { { "ETE 1.3, Q elements, a VMID of four bytes", E, .start = START,
        .registers = "TRCCONFIGR=0x60c1 TRCIDR0=0x8018ea1 TRCIDR1=0x4100fff3 TRCIDR2=0x1088 "
                     "TRCIDR8=8 TRCDEVARCH=0x47735a13" },
      HAS_ANY | HAS_ETE | HAS_IGNORE | HAS_MARKER | HAS_ITE | HAS_Q },
    { { "data stream", .protocol = "etmv4d", .core = "Cortex-R7", .start = ASYNC,
        .registers = "TRCCONFIGR=0x30003 TRCIDR0=0x28000ebd TRCIDR1=0x4100f403 TRCIDR2=0x488" },
      0 },
};

static unsigned needs(unsigned type)
{
    static const struct {
        uint8_t first, last;
        unsigned needs;
    } rows[] = {
        { TW_ETMV4_BF_FLUSH, TW_ETMV4_BF_FLUSH, HAS_M },
        { TW_ETMV4_FUNC_RET, TW_ETMV4_FUNC_RET, HAS_M },
        { TW_ETMV4_EXCEPT_RTN, TW_ETMV4_EXCEPT_RTN, HAS_ETM },
        { TW_ETMV4_RESYNC, TW_ETMV4_RESYNC, HAS_M },
        { TW_ETMV4_ITE, TW_ETMV4_ITE, HAS_ITE },
        { TW_ETMV4_TRANS_ST, TW_ETMV4_PE_RESET, HAS_ETE },
        { TW_ETMV4_NUM_DS_MKR, TW_ETMV4_UNNUM_DS_MKR, HAS_COND },
        { TW_ETMV4_COND_I_F2, TW_ETMV4_COND_I_F3, HAS_COND },
        { TW_ETMV4_IGNORE, TW_ETMV4_IGNORE, HAS_IGNORE },
        { TW_ETMV4_TS_MARKER, TW_ETMV4_TS_MARKER, HAS_MARKER },
        { TW_ETMV4_Q, TW_ETMV4_Q, HAS_Q },
        { TW_ETMV4_SRC_ADDR_MATCH, TW_ETMV4_SRC_ADDR_L_64IS1, HAS_ETE },
    };

    if (type == TW_ETMV4_ASYNC)
        return 0;
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (type >= rows[i].first && type <= rows[i].last)
            return rows[i].needs | HAS_ANY;
    return HAS_ANY;
}

static void structs_are_refused_or_read_as_they_were(void **state)
{
    uint64_t written = 0;

    (void)state;
    for (size_t i = 0; i < LENGTH(setups); i++) {
        for (size_t j = 0; j < LENGTH(types); j++)
            types[j].written = 0;
        struct_check(&setups[i].setup, types, LENGTH(types), NULL);
        for (size_t j = 0; j < LENGTH(types); j++) {
            check_case("%s, %s", setups[i].setup.name, tw_etmv4_type_name(types[j].type));
            CHECK_EQ(types[j].written > 0, (needs(types[j].type) & ~setups[i].has) == 0);
            written += types[j].written;
        }
    }
    if (getenv("TW_PROOF_BYTES"))
        print_message("etmv4, ete: %zu types of structs, seed 0x%x, %llu written and read\n",
                      LENGTH(types), STRUCT_SEED, (unsigned long long)written);
}

static void all_types_are_tried(void **state)
{
    size_t at = 0;

    (void)state;
    for (unsigned type = 0; type < TW_ETMV4_TYPES; type++) {
        check_case("%s", tw_etmv4_type_name(type));
        if (tw_etmv4_type_is_bad(type) || type == TW_ETMV4_NOT_SYNC ||
            type == TW_ETMV4_EXTENSION || type == TW_ETMV4_DATA)
            continue;
        CHECK(at < LENGTH(types));
        CHECK_EQ(types[at++].type, type);
    }
    CHECK_EQ(at, LENGTH(types));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_are_tried),
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("etmv4 structs", tests, NULL, NULL);
}
