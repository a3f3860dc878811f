/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: packets as structs, written and read. */
#include "check.h"

#include <trackway/ntrace.h>

#include "every_struct.h"

#define SAME(member, most)  STRUCT_SAME(struct tw_ntrace_packet, member, most)
#define ASKED(member, most) STRUCT_ASKED(struct tw_ntrace_packet, member, most)
#define ADDRESS             (UINT64_MAX >> 1)
#define SOURCE              SAME(src, 0xffff)

/* The flags say what is there: a source, where the configuration has some. */
static void with_time(void *any)
{
    struct tw_ntrace_packet *packet = any;

    packet->has = packet->tstamp & 1 ? TW_NTRACE_HAS_TSTAMP : 0;
    if (!packet->has)
        packet->tstamp = 0;
}

/* With CDF 0 there is no history. */
static void with_history(void *any)
{
    struct tw_ntrace_packet *packet = any;

    with_time(packet);
    if (!packet->cdf)
        packet->hist = 0;
}

static void some_idle(void *any)
{
    struct tw_ntrace_packet *packet = any;

    packet->base.size += packet->base.size == 0;
}

static struct struct_type types[] = {
    { TW_NTRACE_OWNERSHIP,
      with_time,
      { SAME(process, UINT64_MAX), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_DIRECT_BRANCH,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_INDIRECT_BRANCH,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(btype, 4),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_ERROR,
      with_time,
      { SAME(ecode, UINT64_MAX), SAME(code, 16), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_PROG_TRACE_SYNC,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(sync, 16),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_DIRECT_BRANCH_SYNC,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(sync, 16),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_INDIRECT_BRANCH_SYNC,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(sync, 16), SAME(btype, 4),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_RESOURCE_FULL,
      with_time,
      { SAME(rdata, UINT64_MAX), SAME(code, 16), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_INDIRECT_BRANCH_HIST,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(hist, UINT64_MAX), SAME(btype, 4),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC,
      with_time,
      { SAME(icnt, UINT64_MAX), SAME(address, ADDRESS), SAME(hist, UINT64_MAX), SAME(sync, 16),
        SAME(btype, 4), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_REPEAT_BRANCH,
      with_time,
      { SAME(bcnt, UINT64_MAX), SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_PROG_TRACE_CORRELATION,
      with_history,
      { SAME(icnt, UINT64_MAX), SAME(hist, UINT64_MAX), SAME(code, 16), SAME(cdf, 2),
        SAME(tstamp, UINT64_MAX), SOURCE },
      0 },
    { TW_NTRACE_IDLE, some_idle, { SAME(base.size, TW_NTRACE_PACKET_MAX) }, 0 },
};

static void structs_are_refused_or_read_as_they_were(void **state)
{
    static const struct every_setup setups[] = {
        { "plain", .protocol = "ntrace", .start = "", .text = "src_bits=0\n" },
        { "sources of five bits", .protocol = "ntrace", .start = "", .text = "src_bits=5\n" },
    };

    (void)state;
    struct_check_all(setups, LENGTH(setups), types, LENGTH(types), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("ntrace structs", tests, NULL, NULL);
}
