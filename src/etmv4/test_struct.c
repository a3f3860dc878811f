/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: packets as structs, written and read. */
#include "check.h"

#include <trackway/etmv4.h>

#include "every_struct.h"

#define SAME(member, most)     STRUCT_SAME(struct tw_etmv4_packet, member, most)
#define ASKED(member, most)    STRUCT_ASKED(struct tw_etmv4_packet, member, most)
#define IF(member, most, told) STRUCT_IF(struct tw_etmv4_packet, member, most, told)
#define CONTEXT                                                                                \
    SAME(el, 3), SAME(sf, 1), SAME(ns, 1), SAME(has_cid, 1), SAME(has_vmid, 1),                \
        IF(cid, UINT32_MAX, has_cid), IF(vmid, UINT32_MAX, has_vmid)
#define ATOMS(type)                                                                            \
    {                                                                                          \
        type, no_more_atoms, { SAME(atoms, 0xffffff), SAME(atom_count, 25) }, 0                \
    }

/* Bits that no address of the form has are 0. */
static void words(void *packet)
{
    ((struct tw_etmv4_packet *)packet)->address &= ~(uint64_t)3;
}

static void halfwords(void *packet)
{
    ((struct tw_etmv4_packet *)packet)->address &= ~(uint64_t)1;
}

/* Above 32 bits the address is that of the packet before: here 0. */
static void low_words(void *packet)
{
    ((struct tw_etmv4_packet *)packet)->address &= 0xfffffffc;
}

static void low_halfwords(void *packet)
{
    ((struct tw_etmv4_packet *)packet)->address &= 0xfffffffe;
}

/* The same context again says nothing of it. */
static void no_context(void *any)
{
    struct tw_etmv4_packet *packet = any;

    if (packet->has_context)
        return;
    packet->el = 0;
    packet->sf = packet->ns = packet->has_cid = packet->has_vmid = false;
}

static void no_more_atoms(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->atoms &= ((uint32_t)1 << packet->atom_count) - 1;
}

/* What is absent is 0. */
static void sections(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->info = packet->sections & TW_ETMV4_INFO ? packet->info : 0;
    packet->key = packet->sections & TW_ETMV4_KEY ? packet->key : 0;
    packet->spec = packet->sections & TW_ETMV4_SPEC ? packet->spec : 0;
    packet->threshold = packet->sections & TW_ETMV4_CYCT ? packet->threshold : 0;
    packet->window = packet->sections & TW_ETMV4_WNDW ? packet->window : 0;
}

static void whole_time(void *any)
{
    struct tw_etmv4_packet *packet = any;

    packet->timestamp_bits = 64;
    packet->timestamp_has_count = false;
}

static struct struct_type types[] = {
    { TW_ETMV4_ASYNC, NULL, { ASKED(base.size, 70) }, 0 },
    { TW_ETMV4_TRACE_INFO,
      sections,
      { SAME(sections, 0x1f), SAME(info, UINT32_MAX), SAME(key, UINT32_MAX),
        SAME(spec, UINT32_MAX), SAME(threshold, 0x1fff), SAME(window, UINT32_MAX),
        ASKED(info_size, 6), ASKED(key_size, 6) },
      0 },
    { TW_ETMV4_TIMESTAMP, whole_time, { SAME(timestamp, UINT64_MAX) }, 0 },
    { TW_ETMV4_TRACE_ON, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV4_COMMIT, NULL, { SAME(commit, UINT32_MAX), ASKED(commit_size, 6) }, 0 },
    { TW_ETMV4_CANCEL_F1, NULL, { SAME(cancel, UINT32_MAX), ASKED(commit_size, 6) }, 0 },
    { TW_ETMV4_CTXT, no_context, { SAME(has_context, 1), CONTEXT }, 0 },
    { TW_ETMV4_ADDR_CTXT_L_64IS0, words, { SAME(address, UINT64_MAX), CONTEXT }, 0 },
    { TW_ETMV4_ADDR_CTXT_L_64IS1, halfwords, { SAME(address, UINT64_MAX), CONTEXT }, 0 },
    { TW_ETMV4_ADDR_CTXT_L_32IS0, low_words, { SAME(address, UINT64_MAX), CONTEXT }, 0 },
    { TW_ETMV4_ADDR_L_64IS0, words, { SAME(address, UINT64_MAX) }, 0 },
    { TW_ETMV4_ADDR_L_64IS1, halfwords, { SAME(address, UINT64_MAX) }, 0 },
    { TW_ETMV4_ADDR_L_32IS0, low_words, { SAME(address, UINT64_MAX) }, 0 },
    { TW_ETMV4_ADDR_L_32IS1, low_halfwords, { SAME(address, UINT64_MAX) }, 0 },
    { TW_ETMV4_EVENT, NULL, { SAME(number, 0x1f) }, 0 },
    ATOMS(TW_ETMV4_ATOM_F1),
    ATOMS(TW_ETMV4_ATOM_F2),
    ATOMS(TW_ETMV4_ATOM_F3),
    ATOMS(TW_ETMV4_ATOM_F4),
    ATOMS(TW_ETMV4_ATOM_F5),
    ATOMS(TW_ETMV4_ATOM_F6),
    /* Not for ETE, which has no such packet, and reads the second together with what follows. */
    { TW_ETMV4_EXCEPT_RTN, NULL, { { .bytes = 0 } }, 0 },
    { TW_ETMV4_EXCEPT, NULL, { SAME(exception, 0x7ff), SAME(interpretation, 2) }, 0 },
};

#define ASYNC "0 0 0 0 0 0 0 0 0 0 0 80 "
#define START ASYNC "01 00 04 82 00 10 00 00 31"

static void structs_are_refused_or_read_as_they_were(void **state)
{
    static const struct every_setup setups[] = {
        { "ETMv4.0", .protocol = "etmv4", .core = "Cortex-A57", .start = START,
          .registers = "TRCCONFIGR=0x811 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f443 TRCIDR2=0x488 "
                       "TRCIDR8=6" },
        { "context IDs", .protocol = "etmv4", .core = "Cortex-A57",
          .start = ASYNC "01 00 04 82 00 10 00 00 f1 44 78 56 34 12",
          .registers = "TRCCONFIGR=0xc1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x488" },
    };
    static const struct every_setup ete[] = {
        { "ETE", .protocol = "ete", .core = "Cortex-A710", .start = START,
          .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100fff3 TRCIDR2=0x488 "
                       "TRCDEVARCH=0x47705a13" },
    };

    (void)state;
    struct_check_all(setups, LENGTH(setups), types, LENGTH(types), NULL);
    struct_check_all(ete, LENGTH(ete), types, LENGTH(types) - 2, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("etmv4 structs", tests, NULL, NULL);
}
